/*
 * Thresholds, as in `expect: ["read.iops >= 20000", "read.p99 <= 5ms"]`: what is
 * measured, a comparison, a value. result/verdict.c compares.
 *
 *	expression = measure op value
 *	measure    = ("read" | "write" | "sync") "." ("iops" | "bw" | "mean" | "min" | "max"
 *	             | "stddev" | "p" NUMBER) | "errors" | "stall"
 *	op         = ">=" | "<=" | ">" | "<" | "=="
 */
#ifndef PVCBENCH_EXPECT_H
#define PVCBENCH_EXPECT_H

#include "base/err.h"

#define EXPECT_TEXT_MAX 96
#define EXPECT_TEST_MAX 128 /* of a test's name */

enum expect_subject { EXPECT_READ, EXPECT_WRITE, EXPECT_SYNC, EXPECT_ERRORS, EXPECT_STALL };
enum expect_metric {
	METRIC_IOPS,
	METRIC_BW,
	METRIC_MEAN,
	METRIC_MIN,
	METRIC_MAX,
	METRIC_STDDEV,
	METRIC_PERCENTILE,
	METRIC_COUNT
};
enum expect_op { OP_GE, OP_LE, OP_GT, OP_LT, OP_EQ };

struct expect {
	char text[EXPECT_TEXT_MAX];
	int subject;       /* enum expect_subject */
	int metric;        /* enum expect_metric; METRIC_COUNT of errors, METRIC_MAX of stall */
	double percentile; /* of METRIC_PERCENTILE: 0 < p <= 100 */
	int op;            /* enum expect_op */
	double value;      /* per second, bytes per second, ns, or a count */
};

int expect_parse(struct expect *expect, const char *text, struct err *err);

/*
 * The same of a named test, also beside another result of it:
 *
 *	beside = test "." measure op (value | [NUMBER "*"] "baseline")
 */
struct expect_beside {
	char test[EXPECT_TEST_MAX];
	struct expect expect; /* its text is what stands behind the test's name */
	double factor;        /* of what the baseline measured; 0: compare with expect.value */
};

/* *column, from 1, is where it is wrong. */
int expect_parse_beside(struct expect_beside *beside, const char *text, unsigned *column,
                        struct err *err);

#endif
