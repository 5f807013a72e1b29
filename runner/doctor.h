/*
 * What this pod and this volume can do, one line each:
 *
 *	ok|limited|missing: what (figure): remedy
 */
#ifndef PVCBENCH_DOCTOR_H
#define PVCBENCH_DOCTOR_H

#include "base/err.h"

enum doctor_status { DOCTOR_OK, DOCTOR_LIMITED, DOCTOR_MISSING };

/* A line; remedy may be NULL. Flushed, since the next check may wait for storage. */
void doctor_say(FILE *out, enum doctor_status status, const char *what, const char *remedy,
                const char *fmt, ...) PRINTF_LIKE(5, 6);

/*
 * Look, and print to out. With a path (a directory or block device) the volume
 * is looked at too: in a directory a directory of our own is made, one small
 * file in it tried, and both removed; a device is only read. Fails where the
 * path cannot be used, with its error; limits are no failure.
 */
int doctor_run(const char *path, FILE *out, struct err *err);

/*
 * What the plan that `run` would take here (mounted, or built in) would have to concede
 * on path, a line each. Touches nothing.
 */
void doctor_check_plan(const char *path, FILE *out);

#endif
