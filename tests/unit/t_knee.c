/* links: builtin.c base/err.c base/units.c plan/expect.c measure/hist.c measure/stats.c
 * plan/plan.c result/hops.c result/knee.c result/result.c result/search.c */
/* Which tests make a curve, and where its knee is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "result/knee.h"
#include "sample.h"

#define N_MAX 8

static struct test_result tests[N_MAX];
static struct result result = {.tests = tests};
static struct curve curve;

static int tear_down(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < result.n_tests; i++)
		test_result_destroy(&tests[i]);
	result.n_tests = 0;
	return 0;
}

/* One test more; so many requests a second in its minute. */
static struct test_result *add(uint64_t iodepth, uint64_t iops)
{
	struct test test = sample_test("t", RW_RANDREAD);
	struct test_result *tr = &tests[result.n_tests++];

	test.iodepth = iodepth;
	sample_result(tr, &test);
	tr->stats->op[STATS_READ].latency.count = 60 * iops;
	return tr;
}

static void test_the_smallest_depth_with_95_percent(void **unused)
{
	(void)unused;
	add(1, 100);
	add(8, 949);
	add(16, 951);
	add(32, 1000);
	add(64, 970);
	assert_true(curve_at(&curve, &result, 0));
	assert_int_equal(curve.n_points, 5);
	assert_int_equal(curve.knee->iodepth, 16);
	assert_int_equal(curve.best->iodepth, 32);
	assert_false(curve.grows);
	for (unsigned i = 1; i < 5; i++)
		assert_false(curve_at(&curve, &result, i)); /* told with the first */
}

/* Whatever the order in the plan. */
static void test_points_are_sorted(void **unused)
{
	(void)unused;
	add(64, 1000);
	add(4, 990);
	add(1, 300);
	assert_true(curve_at(&curve, &result, 0));
	assert_int_equal(curve.points[0]->iodepth, 1);
	assert_int_equal(curve.points[2]->iodepth, 64);
	assert_int_equal(curve.knee->iodepth, 4);
}

static void test_a_rate_that_still_grows_has_no_knee(void **unused)
{
	(void)unused;
	add(1, 100);
	add(2, 200);
	add(4, 400);
	assert_true(curve_at(&curve, &result, 0));
	assert_true(curve.grows);
}

static void test_tests_of_one_depth_are_averaged(void **unused)
{
	(void)unused;
	add(1, 100);
	add(2, 900); /* 950 in the mean */
	add(2, 1000);
	add(4, 1020); /* 1000 in the mean */
	add(4, 980);
	assert_true(curve_at(&curve, &result, 0));
	assert_int_equal(curve.n_points, 5);
	assert_int_equal(curve.knee->iodepth, 2);
	assert_true(curve.knee_iops > 949.9 && curve.knee_iops < 950.1);
	assert_true(curve.best_iops > 999.9 && curve.best_iops < 1000.1);
}

static void test_what_makes_no_curve(void **unused)
{
	(void)unused;
	add(1, 100);
	add(2, 200);
	assert_false(curve_at(&curve, &result, 0)); /* two depths */
	add(4, 400)->bs = 8192;
	add(8, 400)->rate_iops = 400;
	add(16, 400)->status = STATUS_FAILED;
	add(32, 400)->search.target_ns = 1;
	assert_false(curve_at(&curve, &result, 0));
	add(64, 400)->direct = false;
	assert_false(curve_at(&curve, &result, 0));
	add(128, 400);
	assert_true(curve_at(&curve, &result, 0));
	assert_int_equal(curve.n_points, 3);
	assert_int_equal(curve.points[2]->iodepth, 128);
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
	const struct CMUnitTest all[] = {
	        TEST(test_the_smallest_depth_with_95_percent),
	        TEST(test_points_are_sorted),
	        TEST(test_a_rate_that_still_grows_has_no_knee),
	        TEST(test_tests_of_one_depth_are_averaged),
	        TEST(test_what_makes_no_curve),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
