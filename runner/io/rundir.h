/*
 * The directory of a run: its name, and how it is removed. All goes through descriptors of
 * the target and of the directory itself; no link is followed.
 */
#ifndef PVCBENCH_RUNDIR_H
#define PVCBENCH_RUNDIR_H

#include "base/err.h"

#define RUNDIR_PREFIX      "pvcbench-" /* before the run's id */
#define RUNDIR_FILE_FORMAT "data.%u"   /* a file N of the run in it, beside its claim */

struct rundir {
	const char *path; /* of the target, for messages */
	const char *name; /* of the directory in it */
	int parent, fd;
};

/* Whether a file of this name is one that runs make. */
bool rundir_has_name(const char *name);

/*
 * Remove it, its claim last. Only regular files are removed, and unless `all` only those of
 * a name that runs make. What stays is named in err; then the claim stays too.
 */
int rundir_remove(const struct rundir *dir, bool all, struct err *err);

/* Bytes that the files of such a name hold. */
uint64_t rundir_bytes(int fd);

#endif
