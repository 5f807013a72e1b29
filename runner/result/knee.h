/*
 * Tests that differ only in iodepth are the points of a curve; its knee is the smallest depth that
 * gives KNEE_SHARE of the best rate: more depth only waits longer. Pure functions.
 */
#ifndef PVCBENCH_KNEE_H
#define PVCBENCH_KNEE_H

#include "result/result.h"

#define KNEE_SHARE  0.95
#define KNEE_POINTS 3 /* depths that make a curve */

/* A curve of a result: its tests by depth, those of the same depth as they were run. */
struct curve {
	const struct test_result *points[PLAN_TESTS_MAX];
	unsigned n_points;
	const struct test_result *best, *knee; /* of these; the first of their depth */
	double best_iops, knee_iops;           /* reads and writes; means over tests of one depth */
	bool grows; /* the knee is the greatest depth of the curve: there may be none */
};

/*
 * The curve whose first test is number i of the result; false where it is on one of an earlier
 * test, or on none: it failed, paces itself, or there are too few depths.
 */
bool curve_at(struct curve *curve, const struct result *result, unsigned i);

/* Requests a second of a test, reads and writes. */
double curve_iops(const struct test_result *tr);

#endif
