/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c plan/expect.c
 * plan/plan.c plan/published.c result/entities.c result/hops.c result/result.c result/search.c
 * result/verdict.c result/verdict_cache.c result/verdict_expect.c result/verdict_host.c
 * result/verdict_pause.c result/verdict_published.c result/verdict_series.c result/verdict_table.c
 * */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>

#include "result/verdict.h"
#include "sample.h"

#define S NSEC_PER_SEC

static struct conditions conditions; /* of a volume without a class */

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
	assert_judged(&tr, &test, "stall <= 5s", EXPECT_NOT_JUDGED, NAN);
	test.direct = PLAN_DIRECT_FALSE; /* what was asked for is no concession */
	assert_judged(&tr, &test, "stall <= 5s", EXPECT_PASS, S / 90.0);
	assert_judged(&tr, &test, "read.iops >= 1", EXPECT_PASS, 100);
	tr.usage.in_memory = true;
	assert_judged(&tr, &test, "read.iops >= 1", EXPECT_PASS, 100);
	tr.direct = true; /* and yet memory answered */
	assert_judged(&tr, &test, "read.iops >= 1", EXPECT_NOT_JUDGED, NAN);
	assert_judged(&tr, &test, "stall <= 5s", EXPECT_NOT_JUDGED, NAN);
	tr.usage.in_memory = false;
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
	struct test_result tr;
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
	sample_result(&tr, &test);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		test.n_expect = 0;
		sample_expect(&test, cases[i].expr);
		tr.longest_gap = (struct gap){1 * S, 3 * S, 0};
		verdict_expect(&tr, &test);
		assert_int_equal(tr.expect[0].result, cases[i].result);
		assert_true(isnan(cases[i].value) ? isnan(tr.expect[0].value)
		                                  : tr.expect[0].value == cases[i].value);
		assert_int_equal(tr.expect[0].bound, cases[i].bound);
	}
	test_result_destroy(&tr);
}

static void assert_codes(struct test_result *tr, const char *codes)
{
	char found[256] = "";

	sample_end(tr);
	verdict_judge(tr, &conditions);
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
	assert_string_equal(tr.verdicts[1].text,
	                    "no completion for 30s, from 1m00s on: the volume or "
	                    "the way to it stood still (look into its log of that time)");
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

/* Slow it is by its pace when it does not stall, so that a stall does not hide itself. */
static void test_stalls_at_a_slow_pace(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	test.thinktime_ns = 1;
	test.runtime_ns = 4 * S;
	sample_result(&tr, &test);
	for (unsigned i = 1; i <= 200; i++) /* 10 ms each, and 2 s without one */
		stats_record(tr.stats, STATS_READ, 4096, 10 * NSEC_PER_MSEC,
		             i * 10 * NSEC_PER_MSEC + (i > 100 ? 2 * S : 0));
	assert_codes(&tr, "stalls");
	assert_true(fabs(tr.verdicts[0].figure - 2.01e9) < 2);
	test_result_destroy(&tr);

	sample_result(&tr, &test); /* 64 that come back together */
	for (unsigned i = 0; i < 64; i++)
		stats_record(tr.stats, STATS_READ, 4096, 39 * S / 10, 39 * S / 10);
	assert_codes(&tr, "");
	test_result_destroy(&tr);
}

/* A stall and a lost depth of a process that was stopped are not the volume's. */
static void test_suspended_explains_stalls(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	steady(&tr, &test);
	tr.stats->suspended_max_ns = 10 * S; /* of a thread that was woken late, no more */
	assert_codes(&tr, "engine");
	assert_judged(&tr, &test, "read.iops >= 1", EXPECT_PASS, 100);
	tr.runtime_ns = 100 * S;
	tr.stats->drained_max_ns = 50 * S;
	tr.stats->suspended_max_ns = VERDICT_SUSPENDED_NS - 1;
	assert_codes(&tr, "stalls");
	assert_judged(&tr, &test, "stall <= 5s", EXPECT_FAIL, 40e9);
	tr.stats->suspended_max_ns = 40 * S;
	assert_codes(&tr, "suspended");
	assert_true(tr.verdicts[0].figure == 40e9);
	assert_judged(&tr, &test, "stall <= 5s", EXPECT_NOT_JUDGED, NAN);
	assert_judged(&tr, &test, "read.iops >= 1", EXPECT_NOT_JUDGED, NAN);
	assert_judged(&tr, &test, "errors == 0", EXPECT_PASS, 0);
	test_result_destroy(&tr);
}

/* A hang at the window's end is one cause, and is named once. */
static void test_a_stall_to_the_end(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	sample_result(&tr, &test);
	tr.runtime_ns = 40 * S;
	sample_record(&tr, STATS_READ, 40000, 15 * S / 1000);
	tr.runtime_ns = 60 * S;
	tr.stats->drained_max_ns = 21 * S;
	assert_codes(&tr, "stalls");
	assert_true(tr.verdicts[0].figure > 20e9 - 2e6);
	assert_non_null(strstr(tr.verdicts[0].text, "the window's end cut it off"));
	assert_judged(&tr, &test, "read.max <= 1s", EXPECT_NOT_JUDGED, NAN);
	assert_judged(&tr, &test, "read.p99 <= 1s", EXPECT_NOT_JUDGED, NAN);
	assert_judged(&tr, &test, "read.p99 <= 1ms", EXPECT_FAIL, 15e6);
	assert_judged(&tr, &test, "read.min <= 1s", EXPECT_PASS, 15e6);
	assert_judged(&tr, &test, "read.iops >= 600", EXPECT_PASS, 40000 / 60.0);
	stats_record(tr.stats, STATS_READ, 4096, S,
	             60 * S - 1); /* it ended, another hang did not */
	assert_codes(&tr, "stalls not-steady");
	assert_null(strstr(tr.verdicts[0].text, "cut it off"));
	assert_judged(&tr, &test, "read.max <= 2s", EXPECT_NOT_JUDGED, NAN);
	tr.stats->drained_max_ns = S / 2; /* and this one is none of the longest */
	assert_judged(&tr, &test, "read.max <= 2s", EXPECT_PASS, 1e9);
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

/* ---- published limits ---- */

static struct conditions of_class(double iops, double mib_per_s)
{
	struct conditions c = {.class = "a-class"};

	c.class_limits = (struct published){
	        .iops = iops,
	        .mib_per_s = mib_per_s,
	        .burst_iops = NAN,
	        .burst_mib_per_s = NAN,
	        .burst_credit = NAN,
	        .source = "the provider",
	};
	return c;
}

/* A test of 60 s without a depth to keep: `early` requests a second in its first half, then `late`.
 */
static struct test_result halves(int rw, uint64_t bs, uint64_t early, uint64_t late)
{
	struct test test = sample_test("halves", rw);
	struct test_result tr;

	test.bs = bs;
	sample_result(&tr, &test);
	tr.io_size = GIB;
	for (uint64_t second = 0; second < 60; second++)
		for (uint64_t i = 0; i < (second < 30 ? early : late); i++)
			stats_record(tr.stats, plan_rw_reads(rw) ? STATS_READ : STATS_WRITE,
			             (uint32_t)bs, NSEC_PER_MSEC, second * S + i);
	return tr;
}

/* Judge a rate and compare the one verdict, as "CODE: TEXT"; "": none. */
static void assert_published(const struct conditions *c, struct test_result tr,
                             const char *expected)
{
	char found[RESULT_TEXT_MAX + 64] = "";

	sample_end(&tr);
	verdict_judge(&tr, c);
	for (unsigned i = 0; i < tr.n_verdicts; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s: %s",
		         i ? "\n" : "", tr.verdicts[i].code, tr.verdicts[i].text);
	assert_string_equal(found, expected);
	test_result_destroy(&tr);
}

static void test_at_a_published_limit(void **unused)
{
	struct conditions c = of_class(50000, 350), none = {.class = "a-class"};

	(void)unused;
	assert_published(&c, halves(RW_RANDREAD, 128 * KIB, 2792, 2792),
	                 "published-limit: 349MiB/s: 99.7 % of the class's 350 MiB/s "
	                 "(the provider)");
	assert_published(&c, halves(RW_WRITE, 1 * MIB, 316, 316),
	                 "published-limit: 316MiB/s: 90.3 % of the class's 350 MiB/s "
	                 "(the provider)");
	assert_published(&c, halves(RW_WRITE, 1 * MIB, 314, 314), "");
	c = of_class(2000, NAN);
	assert_published(&c, halves(RW_RANDREAD, 4 * KIB, 2010, 2010),
	                 "published-limit: 2010 IOPS: 100 % of the class's 2000 IOPS "
	                 "(the provider)");
	assert_published(&c, halves(RW_RANDREAD, 4 * KIB, 1000, 1000), "");
	assert_published(&none, halves(RW_RANDREAD, 4 * KIB, 2010, 2010), "");
}

/* The limit that is closest is the one that limits. */
static void test_the_closer_of_two_limits(void **unused)
{
	struct conditions c = of_class(350, 350);

	(void)unused;
	assert_published(&c, halves(RW_READ, 1 * MIB, 349, 349),
	                 "published-limit: 349 IOPS: 99.7 % of the class's 350 IOPS "
	                 "(the provider)");
	c = of_class(380, 350);
	assert_published(&c, halves(RW_READ, 1 * MIB, 349, 349),
	                 "published-limit: 349MiB/s: 99.7 % of the class's 350 MiB/s "
	                 "(the provider)");
}

static void test_large_requests_count_as_several(void **unused)
{
	struct conditions c = of_class(2000, NAN);

	(void)unused;
	c.class_limits.io_unit = 256 * KIB;
	assert_published(&c, halves(RW_READ, 1 * MIB, 499, 499),
	                 "published-limit: 499 IOPS (each counted as 4): 99.8 % of the class's "
	                 "2000 IOPS (the provider)");
	assert_published(&c, halves(RW_READ, 256 * KIB, 499, 499), "");
}

/* The mean of the window is 1.5 times the base; what lasts is the base. */
static void test_a_burst_that_ended(void **unused)
{
	struct conditions c = of_class(1000, NAN);

	(void)unused;
	assert_published(&c, halves(RW_RANDREAD, 4 * KIB, 2000, 999),
	                 "published-limit: 999 IOPS in the second half of the window: 99.9 % of "
	                 "the class's 1000 IOPS (the provider)");
	/* and the other way round: a start at the limit is no limit */
	c.class_limits.iops = 2000;
	assert_published(&c, halves(RW_RANDREAD, 4 * KIB, 2000, 1000), "");
}

static void test_base_and_burst(void **unused)
{
	struct conditions c = of_class(1000, NAN);

	(void)unused;
	c.class_limits.burst_iops = 2000;
	assert_published(&c, halves(RW_RANDREAD, 4 * KIB, 1001, 1001),
	                 "published-limit: 1001 IOPS: 100 % of the class's 1000 IOPS "
	                 "(the provider)");
	assert_published(
	        &c, halves(RW_RANDREAD, 4 * KIB, 1500, 1500),
	        "burst: 1500 IOPS: 1.5 times the class's 1000 IOPS, within its burst limit "
	        "of 2000 IOPS (the provider): it does not last");
	assert_published(&c, halves(RW_RANDREAD, 4 * KIB, 1990, 1990),
	                 "published-limit: 1990 IOPS: 99.5 % of the class's burst limit of 2000 "
	                 "IOPS, its base is 1000 IOPS (the provider)");
	c.class_limits.burst_credit = 1800000;
	assert_published(&c, halves(RW_RANDREAD, 4 * KIB, 1990, 1990),
	                 "published-limit: 1990 IOPS: 99.5 % of the class's burst limit of 2000 "
	                 "IOPS, its base is 1000 IOPS, a full bucket lasts 30m00s (the provider)");
	assert_published(&c, halves(RW_RANDREAD, 4 * KIB, 3000, 3000),
	                 "server-cache: 3000 IOPS: 1.5 times the class's burst limit of 2000 IOPS "
	                 "(the provider): a cache, or a volume that class.yaml does not describe");
	c.class_limits.burst_iops = 900; /* below the base it is no burst */
	assert_published(&c, halves(RW_RANDREAD, 4 * KIB, 3000, 3000),
	                 "server-cache: 3000 IOPS: 3 times the class's 1000 IOPS (the provider): a "
	                 "cache, or a volume that class.yaml does not describe");
}

static void test_reads_and_writes(void **unused)
{
	struct conditions c = of_class(1000, NAN);
	struct test_result tr = halves(RW_RANDRW, 4 * KIB, 600, 600);

	(void)unused;
	sample_record(&tr, STATS_WRITE, 400 * 60, NSEC_PER_MSEC);
	assert_published(&c, tr,
	                 "published-limit: read + write 1000 IOPS: 100 % of the class's 1000 IOPS "
	                 "(the provider)");
	c.class_limits.scope = SCOPE_EACH;
	tr = halves(RW_RANDRW, 4 * KIB, 600, 600);
	sample_record(&tr, STATS_WRITE, 400 * 60, NSEC_PER_MSEC);
	assert_published(&c, tr, "");
	tr = halves(RW_RANDRW, 4 * KIB, 600, 600);
	sample_record(&tr, STATS_WRITE, 990 * 60, NSEC_PER_MSEC);
	assert_published(&c, tr,
	                 "published-limit: write 990 IOPS: 99 % of the class's 1000 IOPS "
	                 "(the provider)");
	assert_published(&c, halves(RW_RANDWRITE, 4 * KIB, 990, 990),
	                 "published-limit: 990 IOPS: 99 % of the class's 1000 IOPS (the provider)");
	/* which of a mix write is drawn: few are by chance a tenth more, many are not */
	tr = halves(RW_RANDRW, 4 * KIB, 800, 800);
	sample_record(&tr, STATS_WRITE, 1100 * 60, NSEC_PER_MSEC);
	assert_published(&c, tr,
	                 "server-cache: write 1100 IOPS: 1.1 times the class's 1000 IOPS (the "
	                 "provider): a cache, or a volume that class.yaml does not describe");
	c = of_class(10, NAN);
	c.class_limits.scope = SCOPE_EACH;
	tr = halves(RW_RANDRW, 4 * KIB, 8, 8);
	sample_record(&tr, STATS_WRITE, 11 * 60, NSEC_PER_MSEC);
	assert_published(&c, tr,
	                 "published-limit: write 11 IOPS: 110 % of the class's 10 IOPS (the "
	                 "provider)");
}

/* What it was paced to is not what the class allows; a pace that it could not keep shows it. */
static void test_a_paced_load_shows_no_limit(void **unused)
{
	struct conditions c = of_class(1000, NAN);
	struct test_result tr = halves(RW_RANDREAD, 4 * KIB, 990, 990);

	(void)unused;
	tr.rate_iops = 990;
	assert_published(&c, tr, "");
	tr = halves(RW_RANDREAD, 4 * KIB, 990, 990);
	tr.rate = 990 * 4 * KIB;
	assert_published(&c, tr, "");
	tr = halves(RW_RANDREAD, 4 * KIB, 990, 990);
	tr.thinktime_ns = 1;
	assert_published(&c, tr, "");
	tr = halves(RW_RANDREAD, 4 * KIB, 990, 990);
	tr.rate_iops = 5000;
	assert_published(&c, tr,
	                 "published-limit: 990 IOPS: 99 % of the class's 1000 IOPS (the provider)");
}

/* Its requests are not those that the volume gets; and what is above came from memory. */
static void test_a_buffered_test_is_held_against_bandwidth_only(void **unused)
{
	struct conditions c = of_class(2000, NAN);
	struct test_result tr = halves(RW_RANDREAD, 4 * KIB, 2000, 2000);
	static const char cached[] =
	        "page-cache: not O_DIRECT: reads may have been answered by memory";

	(void)unused;
	tr.direct = false;
	assert_published(&c, tr, cached);
	c = of_class(NAN, 100);
	tr = halves(RW_READ, 1 * MIB, 200, 200);
	tr.direct = false;
	assert_published(&c, tr, cached);
	tr = halves(RW_READ, 1 * MIB, 99, 99);
	tr.direct = false;
	assert_published(
	        &c, tr,
	        "published-limit: 99.0MiB/s: 99 % of the class's 100 MiB/s (the provider)\n"
	        "page-cache: not O_DIRECT: reads may have been answered by memory");
	tr = halves(RW_READ, 1 * MIB, 99, 99);
	snprintf(tr.ioengine, sizeof(tr.ioengine), "null");
	assert_published(&c, tr, "");
}

/* Too few seconds for halves: the mean is all there is. */
static void test_a_short_window(void **unused)
{
	struct conditions c = of_class(1000, NAN);
	struct test test = sample_test("short", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	test.runtime_ns = 1500 * NSEC_PER_MSEC;
	sample_result(&tr, &test);
	tr.io_size = GIB;
	sample_record(&tr, STATS_READ, 1470, NSEC_PER_MSEC);
	assert_published(&c, tr,
	                 "published-limit: 980 IOPS: 98 % of the class's 1000 IOPS (the provider)");
}

/* A class's working set is a part of what was asked for. */
static void test_the_size_of_a_class_is_no_concession(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	steady(&tr, &test);
	tr.size = tr.size_class = 2 * GIB;
	assert_judged(&tr, &test, "read.iops >= 1", EXPECT_PASS, 100);
	tr.size = GIB;
	assert_judged(&tr, &test, "read.iops >= 1", EXPECT_NOT_JUDGED, NAN);
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
	        cmocka_unit_test(test_stalls_at_a_slow_pace),
	        cmocka_unit_test(test_suspended_explains_stalls),
	        cmocka_unit_test(test_a_stall_to_the_end),
	        cmocka_unit_test(test_depth_that_was_not_kept),
	        cmocka_unit_test(test_buffered_writes),
	        cmocka_unit_test(test_at_a_published_limit),
	        cmocka_unit_test(test_the_closer_of_two_limits),
	        cmocka_unit_test(test_large_requests_count_as_several),
	        cmocka_unit_test(test_a_burst_that_ended),
	        cmocka_unit_test(test_base_and_burst),
	        cmocka_unit_test(test_reads_and_writes),
	        cmocka_unit_test(test_a_paced_load_shows_no_limit),
	        cmocka_unit_test(test_a_buffered_test_is_held_against_bandwidth_only),
	        cmocka_unit_test(test_a_short_window),
	        cmocka_unit_test(test_the_size_of_a_class_is_no_concession),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
