/*
 * What this pod and this volume can do, one line each:
 *
 *	ok|limited|missing: what (figure): remedy
 */
#ifndef PVCBENCH_DOCTOR_H
#define PVCBENCH_DOCTOR_H

#include "base/err.h"

/*
 * Look, and print to out. With a path (a directory or block device) the volume
 * is looked at too: in a directory a directory of our own is made, one small
 * file in it tried, and both removed; a device is only read. Fails where the
 * path cannot be used, with its error; limits are no failure.
 */
int doctor_run(const char *path, FILE *out, struct err *err);

#endif
