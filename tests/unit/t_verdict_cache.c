/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c plan/expect.c
 * plan/plan.c plan/published.c result/entities.c result/hops.c result/result.c result/search.c
 * result/verdict.c result/verdict_cache.c result/verdict_expect.c result/verdict_host.c
 * result/verdict_pause.c result/verdict_published.c result/verdict_series.c result/verdict_table.c
 * */
/* First against second touch: what is a cache, and whether it made the figure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "result/verdict.h"
#include "sample.h"

#define MS NSEC_PER_MSEC

static const struct conditions none;

/* 8 ms the first time, 1 ms the second, each within a fifth. */
static const struct cache_probe cache = {.blocks = 64,
                                         .first_ns = 8 * MS,
                                         .first_low_ns = 64 * MS / 10,
                                         .again_ns = 1 * MS,
                                         .again_high_ns = 12 * MS / 10};

/* Reads at these two latencies, so many of each; the expectation is any. */
static struct test_result made(const struct cache_probe *probe, unsigned slow, unsigned fast)
{
	struct test test = sample_test("t", RW_RANDREAD);
	struct test_result tr;

	test.thinktime_ns = 1; /* no depth is kept */
	sample_expect(&test, "read.iops >= 1");
	sample_result(&tr, &test);
	sample_record(&tr, STATS_READ, slow, 8 * MS);
	sample_record(&tr, STATS_READ, fast, 1 * MS);
	tr.cache_probe = *probe;
	sample_end(&tr);
	verdict_judge(&tr, &none);
	verdict_expect(&tr, &test);
	return tr;
}

static void assert_cache(struct test_result tr, bool told)
{
	assert_int_equal(tr.n_verdicts, told);
	if (told)
		assert_string_equal(tr.verdicts[0].code, "server-cache");
	assert_int_equal(tr.expect[0].result, told ? EXPECT_NOT_JUDGED : EXPECT_PASS);
	test_result_destroy(&tr);
}

static void test_a_cache_made_the_figure(void **unused)
{
	struct test_result tr = made(&cache, 750, 250);

	(void)unused;
	assert_true(tr.verdicts[0].figure == 8);
	assert_string_equal(tr.verdicts[0].text,
	                    "a block takes 8ms when it is read first and 1ms the second time; 25 % "
	                    "of the test's reads were as fast: a cache at the server, on the host "
	                    "or in the disk gave them (a larger size)");
	assert_cache(tr, true);
	assert_cache(made(&cache, 0, 1000), true);
}

/* The disk has a cache, and the file is so large that it hardly counts. */
static void test_few_reads_were_cached(void **unused)
{
	(void)unused;
	assert_cache(made(&cache, 850, 150), false);
	assert_cache(made(&cache, 1000, 0), false);
}

/* All reads are as fast as the second ones, and yet it is no evidence. */
static void test_no_cache_was_seen(void **unused)
{
	struct cache_probe probe = {0};

	(void)unused;
	assert_cache(made(&probe, 0, 1000), false);
	probe = cache;
	probe.blocks = VERDICT_PAIRS - 1; /* too few */
	assert_cache(made(&probe, 0, 1000), false);
	probe = cache;
	probe.again_high_ns = 4 * MS; /* noise: one in ten took long */
	assert_cache(made(&probe, 0, 1000), false);
	probe = cache;
	probe.first_low_ns = 2 * MS; /* some were fast at once: the layout left them there */
	assert_cache(made(&probe, 0, 1000), false);
	probe = (struct cache_probe){64, 1 * MS, 1 * MS, 8 * MS, 9 * MS}; /* slower again */
	assert_cache(made(&probe, 0, 1000), false);
}

/* What is above the class's limits by it is told once. */
static void test_one_cache_has_one_verdict(void **unused)
{
	struct conditions c = {.class_limits = {.iops = 1, .source = "s", .capacity_bytes = GIB}};
	struct test_result tr = made(&cache, 750, 250);

	(void)unused;
	c.class_limits.mib_per_s = c.class_limits.burst_iops = c.class_limits.burst_mib_per_s = 1e9;
	tr.thinktime_ns = 0;
	verdict_judge(&tr, &c);
	for (unsigned i = 0, n = 0; i < tr.n_verdicts; i++)
		assert_true(strcmp(tr.verdicts[i].code, "server-cache") != 0 || ++n == 1);
	test_result_destroy(&tr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_a_cache_made_the_figure),
	        cmocka_unit_test(test_few_reads_were_cached),
	        cmocka_unit_test(test_no_cache_was_seen),
	        cmocka_unit_test(test_one_cache_has_one_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
