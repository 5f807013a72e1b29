/*
 * dbench's environment variables, so that its manifests run after swapping the
 * image: DBENCH_MOUNTPOINT, DBENCH_QUICK, FIO_SIZE, FIO_OFFSET_INCREMENT, FIO_DIRECT.
 */
#ifndef PVCBENCH_DBENCH_H
#define PVCBENCH_DBENCH_H

#include "plan/yaml.h"

#define DBENCH_OVERRIDES_MAX 5

struct dbench {
	bool asked;                                           /* one of the variables is set */
	bool quick;                                           /* only the first four tests */
	struct plan_override overrides[DBENCH_OVERRIDES_MAX]; /* point into the environment */
	unsigned n_overrides;
};

/* Read the environment. */
void dbench_read(struct dbench *dbench);

/* How many of the plan's tests DBENCH_QUICK leaves. */
#define DBENCH_QUICK_TESTS 4

#endif
