/* links: builtin.c base/err.c base/units.c expect.c measure/hist.c measure/stats.c plan.c result.c
 * verdict.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>

#include "sample.h"
#include "verdict.h"

#define S NSEC_PER_SEC

/* 100 reads a second of 1 ms each, except that one in ten takes 3 ms. */
static void steady(struct test_result *tr, const struct test *test)
{
	sample_result(tr, test);
	sample_record(tr, STATS_READ, 5400, NSEC_PER_MSEC);
	sample_record(tr, STATS_READ, 600, 3 * NSEC_PER_MSEC);
}

static void assert_judged(struct test_result *tr, struct test *test, const char *expr, int result,
                          double value)
{
	test->n_expect = 0;
	sample_expect(test, expr);
	sample_end(tr);
	verdict_expect(tr, test);
	assert_int_equal(tr->n_expect, 1);
	assert_string_equal(tr->expect[0].expr, expr);
	if (tr->expect[0].result != result)
		fail_msg("%s: result %d, not %d (value %g)", expr, tr->expect[0].result, result,
		         tr->expect[0].value);
	if (isnan(value) ? !isnan(tr->expect[0].value)
	                 : fabs(tr->expect[0].value - value) > value / 256)
		fail_msg("%s: value %g, not %g", expr, tr->expect[0].value, value);
}

static void test_figures(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	steady(&tr, &test);
	assert_judged(&tr, &test, "read.iops >= 100", EXPECT_PASS, 100);
	assert_judged(&tr, &test, "read.iops > 100", EXPECT_FAIL, 100);
	assert_judged(&tr, &test, "read.iops <= 100", EXPECT_PASS, 100);
	assert_judged(&tr, &test, "read.iops < 100", EXPECT_FAIL, 100);
	assert_judged(&tr, &test, "read.iops == 100", EXPECT_PASS, 100);
	assert_judged(&tr, &test, "read.bw >= 400KiB", EXPECT_PASS, 409600);
	assert_judged(&tr, &test, "read.bw > 400KiB", EXPECT_FAIL, 409600);
	assert_judged(&tr, &test, "read.mean <= 1.2ms", EXPECT_PASS, 1.2e6);
	assert_judged(&tr, &test, "read.min >= 1ms", EXPECT_PASS, 1e6);
	assert_judged(&tr, &test, "read.max <= 3ms", EXPECT_PASS, 3e6);
	assert_judged(&tr, &test, "read.max < 3ms", EXPECT_FAIL, 3e6);
	assert_judged(&tr, &test, "read.stddev <= 1ms", EXPECT_PASS, 0.6e6);
	assert_judged(&tr, &test, "read.p50 < 2ms", EXPECT_PASS, 1e6);
	assert_judged(&tr, &test, "read.p99 < 2ms", EXPECT_FAIL, 3e6);
	assert_judged(&tr, &test, "read.p100 <= 3ms", EXPECT_PASS, 3e6);
	assert_judged(&tr, &test, "errors == 0", EXPECT_PASS, 0);
	test_result_destroy(&tr);
}

static void test_what_is_not_carried_is_not_judged(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	steady(&tr, &test);
	assert_judged(&tr, &test, "read.p99.9 < 2s", EXPECT_NOT_JUDGED, NAN);
	assert_judged(&tr, &test, "write.iops >= 1", EXPECT_NOT_JUDGED, NAN);
	assert_judged(&tr, &test, "sync.p99 <= 10ms", EXPECT_NOT_JUDGED, NAN);
	test_result_destroy(&tr);
	/* a whole window without a completion: the rate is known, no latency is */
	sample_result(&tr, &test);
	assert_judged(&tr, &test, "read.iops >= 1", EXPECT_FAIL, 0);
	assert_judged(&tr, &test, "read.mean <= 1s", EXPECT_NOT_JUDGED, NAN);
	test_result_destroy(&tr);
	test_result_init(&tr, &test);
	assert_judged(&tr, &test, "errors == 0", EXPECT_NOT_JUDGED, NAN);
	assert_judged(&tr, &test, "stall <= 5s", EXPECT_NOT_JUDGED, NAN);
}

static void test_concessions_touch_figures(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	steady(&tr, &test);
	tr.direct = false;
	assert_judged(&tr, &test, "read.iops >= 1", EXPECT_NOT_JUDGED, NAN);
	assert_judged(&tr, &test, "errors == 0", EXPECT_PASS, 0);
	test.direct = PLAN_DIRECT_FALSE; /* what was asked for is no concession */
	assert_judged(&tr, &test, "read.iops >= 1", EXPECT_PASS, 100);
	tr.size = tr.size_asked - 4096;
	assert_judged(&tr, &test, "read.iops >= 1", EXPECT_NOT_JUDGED, NAN);
	tr.size = tr.size_asked;
	tr.iodepth = 8;
	assert_judged(&tr, &test, "read.iops >= 1", EXPECT_NOT_JUDGED, NAN);
	test_result_destroy(&tr);
}

static void test_unfinished_tests_are_not_judged(void **unused)
{
	static const int statuses[] = {STATUS_FAILED, STATUS_INTERRUPTED};
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	for (unsigned i = 0; i < ARRAY_SIZE(statuses); i++) {
		steady(&tr, &test);
		tr.status = statuses[i];
		assert_judged(&tr, &test, "read.iops >= 1", EXPECT_NOT_JUDGED, NAN);
		assert_judged(&tr, &test, "errors == 0", EXPECT_NOT_JUDGED, NAN);
		assert_judged(&tr, &test, "stall <= 5s", EXPECT_NOT_JUDGED, NAN);
		/* but what went wrong already stays wrong */
		stats_error(tr.stats, EIO);
		assert_judged(&tr, &test, "errors == 0", EXPECT_FAIL, 1);
		assert_judged(&tr, &test, "errors <= 1", EXPECT_NOT_JUDGED, NAN);
		tr.runtime_ns = 100 * S;
		assert_judged(&tr, &test, "stall <= 5s", EXPECT_FAIL, 40e9);
		test_result_destroy(&tr);
	}
}

static void test_stalls_are_exact(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	steady(&tr, &test); /* 90 a second, and the other ten together with some of these */
	assert_judged(&tr, &test, "stall <= 1s", EXPECT_PASS, S / 90.0);
	assert_judged(&tr, &test, "stall <= 11.2ms", EXPECT_PASS, S / 90.0);
	assert_judged(&tr, &test, "stall < 11.1ms", EXPECT_FAIL, S / 90.0);
	assert_int_equal(tr.expect[0].bound, BOUND_NONE);
	test_result_destroy(&tr);

	sample_result(&tr, &test);
	for (unsigned second = 0; second <= 60; second++)
		if (second < 20 || second >= 30)
			stats_record(tr.stats, STATS_READ, 4096, 1, second * S);
	assert_judged(&tr, &test, "stall <= 11s", EXPECT_PASS, 11e9);
	assert_judged(&tr, &test, "stall < 11s", EXPECT_FAIL, 11e9);
	assert_judged(&tr, &test, "stall == 11s", EXPECT_PASS, 11e9);
	assert_judged(&tr, &test, "stall > 10.999999999s", EXPECT_PASS, 11e9);
	test_result_destroy(&tr);

	sample_result(&tr, &test); /* none at all */
	assert_judged(&tr, &test, "stall <= 59s", EXPECT_FAIL, 60e9);
	assert_judged(&tr, &test, "stall <= 60s", EXPECT_PASS, 60e9);
	stats_record(tr.stats, STATS_READ, 4096, 1, 50 * S);
	assert_judged(&tr, &test, "stall <= 49s", EXPECT_FAIL, 50e9); /* before the first */
	stats_record(tr.stats, STATS_READ, 4096, 1, 10 * S);
	assert_judged(&tr, &test, "stall <= 39s", EXPECT_FAIL, 40e9);
	test_result_destroy(&tr);
}

/* Of several threads only bounds are known where the gap is short: here 1 s to 3 s. */
static void test_stalls_have_bounds(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr = {.runtime_ns = 60 * S, .longest_gap = {1 * S, 3 * S, 0}};
	static const struct {
		const char *expr;
		int result, bound;
		double value;
	} cases[] = {
	        {"stall <= 3s", EXPECT_PASS, BOUND_AT_MOST, 3e9},
	        {"stall < 3s", EXPECT_NOT_JUDGED, BOUND_NONE, NAN},
	        {"stall <= 2s", EXPECT_NOT_JUDGED, BOUND_NONE, NAN},
	        {"stall < 1s", EXPECT_FAIL, BOUND_AT_LEAST, 1e9},
	        {"stall >= 1s", EXPECT_PASS, BOUND_AT_LEAST, 1e9},
	        {"stall > 3s", EXPECT_FAIL, BOUND_AT_MOST, 3e9},
	        {"stall == 2s", EXPECT_NOT_JUDGED, BOUND_NONE, NAN},
	        {"stall == 20s", EXPECT_FAIL, BOUND_AT_MOST, 3e9},
	};

	(void)unused;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_judged(&tr, &test, cases[i].expr, cases[i].result, cases[i].value);
		assert_int_equal(tr.expect[0].bound, cases[i].bound);
	}
}

static void assert_codes(struct test_result *tr, const char *codes)
{
	char found[256] = "";

	sample_end(tr);
	verdict_judge(tr);
	for (unsigned i = 0; i < tr->n_verdicts; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s", i ? " " : "",
		         tr->verdicts[i].code);
	assert_string_equal(found, codes);
}

static void test_verdicts(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	test.thinktime_ns = 1; /* no depth is kept */
	test_result_init(&tr, &test);
	assert_codes(&tr, "");
	steady(&tr, &test);
	assert_codes(&tr, "");
	tr.direct = false;
	assert_codes(&tr, "page-cache");
	assert_true(isnan(tr.verdicts[0].figure));
	stats_error(tr.stats, EIO);
	stats_error(tr.stats, ENOSPC);
	assert_codes(&tr, "errors page-cache");
	assert_true(tr.verdicts[0].figure == 2);
	tr.runtime_ns = 90 * S;
	assert_codes(&tr, "errors stalls page-cache");
	assert_true(fabs(tr.verdicts[1].figure - (30e9 + S / 90.0)) < 2);
	assert_string_equal(tr.verdicts[1].text, "no completion for 30s, from 1m00s on");
	snprintf(tr.ioengine, sizeof(tr.ioengine), "null");
	assert_codes(&tr, "errors stalls");
	test_result_destroy(&tr);
}

/* Seconds without a completion are no stall where completions are rare anyway. */
static void test_slow_is_not_stalled(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	test.thinktime_ns = 1;
	sample_result(&tr, &test);
	sample_record(&tr, STATS_READ, 6, 5 * S);
	assert_codes(&tr, "");
	test_result_destroy(&tr);
}

/* 16 asked: sum of latencies / 60 s is what was outstanding. */
static void test_depth_that_was_not_kept(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	sample_result(&tr, &test);
	sample_record(&tr, STATS_READ, 60000, 15 * S / 1000);
	assert_codes(&tr, "");
	tr.iodepth = 32;
	assert_codes(&tr, "engine");
	assert_true(fabs(tr.verdicts[0].figure - 15) < 0.01);
	assert_non_null(strstr(tr.verdicts[0].text, "15 of 32 requests"));
	tr.stats->drained_max_ns = 3 * S;
	assert_codes(&tr, "not-steady");
	assert_non_null(strstr(tr.verdicts[0].text, "took 3s"));
	tr.rate_iops = 1000; /* an open loop asks for no depth */
	assert_codes(&tr, "");
	tr.rate_iops = 0;
	tr.loops = 1;
	assert_codes(&tr, "");
	test_result_destroy(&tr);
}

static void test_buffered_writes(void **unused)
{
	struct test test = sample_test("etcd", RW_WRITE);
	struct test_result tr;

	(void)unused;
	test.fdatasync = 1;
	sample_result(&tr, &test);
	sample_record(&tr, STATS_WRITE, 600, 1000);
	sample_record(&tr, STATS_SYNC, 600, 1000000);
	tr.direct = false;
	assert_codes(&tr, "page-cache");
	assert_non_null(strstr(tr.verdicts[0].text, "syncs"));
	tr.sync = SYNC_DSYNC; /* each write waited for the volume */
	assert_codes(&tr, "");
	test_result_destroy(&tr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_figures),
	        cmocka_unit_test(test_what_is_not_carried_is_not_judged),
	        cmocka_unit_test(test_concessions_touch_figures),
	        cmocka_unit_test(test_unfinished_tests_are_not_judged),
	        cmocka_unit_test(test_stalls_are_exact),
	        cmocka_unit_test(test_stalls_have_bounds),
	        cmocka_unit_test(test_verdicts),
	        cmocka_unit_test(test_slow_is_not_stalled),
	        cmocka_unit_test(test_depth_that_was_not_kept),
	        cmocka_unit_test(test_buffered_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
