/* A test and its result, made by hand. */
#ifndef PVCBENCH_SAMPLE_H
#define PVCBENCH_SAMPLE_H

#include <assert.h>
#include <string.h>

#include "result/result.h"

static inline struct test sample_test(const char *name, int rw)
{
	struct test test = {
	        .kind = "block",
	        .target = "/data",
	        .rw = rw,
	        .rwmixread = 75,
	        .bs = 4096,
	        .iodepth = 16,
	        .numjobs = 1,
	        .ramp_time_ns = 10 * NSEC_PER_SEC,
	        .runtime_ns = 60 * NSEC_PER_SEC,
	        .direct = PLAN_DIRECT_AUTO,
	};

	snprintf(test.name, sizeof(test.name), "%s", name);
	return test;
}

static inline void sample_expect(struct test *test, const char *expr)
{
	struct err err;
	int ret = expect_parse(&test->expect[test->n_expect++], expr, &err);

	assert(!ret);
}

/* A result as the test would give it: opened O_DIRECT, run for its 60 s, nothing completed. */
static inline void sample_result(struct test_result *tr, const struct test *test)
{
	test_result_init(tr, test);
	snprintf(tr->ioengine, sizeof(tr->ioengine), "io_uring");
	snprintf(tr->ioengine_reason, sizeof(tr->ioengine_reason), "works on this file");
	tr->direct = true;
	tr->size = tr->size_asked = 10 * GIB;
	tr->runtime_ns = test->runtime_ns;
	tr->stats = stats_new();
	assert(tr->stats);
}

/* n completions of 4 KiB, spread over the window, each of latency_ns. */
static inline void sample_record(struct test_result *tr, enum stats_op op, uint64_t n,
                                 uint64_t latency_ns)
{
	for (uint64_t i = 0; i < n; i++)
		stats_record(tr->stats, op, op == STATS_SYNC ? 0 : 4096, latency_ns,
		             (uint64_t)((double)tr->runtime_ns * (double)i / (double)n));
}

/* What is measured at the end of a test. */
static inline void sample_end(struct test_result *tr)
{
	if (tr->stats)
		tr->longest_gap = stats_longest_gap(tr->stats, tr->runtime_ns);
}

#endif
