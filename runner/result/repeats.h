/*
 * The repeats of a test as a sample: their mean, how far they differ, and how well the mean is
 * known. Pure functions.
 */
#ifndef PVCBENCH_REPEATS_H
#define PVCBENCH_REPEATS_H

#include "result/result.h"

#define REPEATS_CONFIDENCE 0.95

/* The repeats of one test that came to their end (a search to its answer), in the order they ran.
 */
struct repeats {
	const struct test_result *runs[PLAN_REPEATS_MAX];
	unsigned n;
};

/*
 * Those whose first is test number i of the result; false where it is another of them or none, or
 * the only one.
 */
bool repeats_at(struct repeats *repeats, const struct result *result, unsigned i);

/* A figure that every run has: NAN where one does not. */
struct repeats_figure {
	const char *name; /* as in `expect`: read.iops; seconds: a run took, that an amount ends */
	enum { REPEATS_RATE, REPEATS_BW, REPEATS_TIME } unit; /* a second, bytes a second, ns */
	double (*of)(const struct test_result *tr, enum stats_op op);
	enum stats_op op;
};

extern const struct repeats_figure repeats_figures[]; /* ended by a name of NULL */

struct spread {
	double mean;
	double stddev; /* of the sample: by n - 1 */
	double margin; /* the mean lies within +- of it with REPEATS_CONFIDENCE, by Student's t */
};

/* False where a run has no such figure. */
bool repeats_spread(const struct repeats *repeats, const struct repeats_figure *figure,
                    struct spread *spread);

#endif
