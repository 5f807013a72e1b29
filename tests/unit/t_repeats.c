/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c measure/student.c
 * plan/expect.c plan/plan.c result/hops.c result/repeats.c result/result.c result/search.c */
/* Which tests are repeats of one, and the spread of what they gave. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "result/repeats.h"
#include "sample.h"

#define N_MAX 16

static struct test_result tests[N_MAX];
static struct result result = {.tests = tests};
static struct repeats repeats;

static int tear_down(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < result.n_tests; i++)
		test_result_destroy(&tests[i]);
	result.n_tests = 0;
	return 0;
}

/* One run more; so many requests a second in its minute. */
static struct test_result *add(const char *of, uint64_t index, uint64_t iops)
{
	struct test test = sample_test("t", RW_RANDREAD);
	struct test_result *tr = &tests[result.n_tests++];

	test.nth = (struct plan_repeat){.index = index, .count = 5};
	snprintf(test.nth.of, sizeof(test.nth.of), "%s", of);
	sample_result(tr, &test);
	tr->stats->op[STATS_READ].latency.count = 60 * iops;
	return tr;
}

static const struct repeats_figure *figure(const char *name)
{
	for (const struct repeats_figure *row = repeats_figures; row->name; row++)
		if (!strcmp(row->name, name))
			return row;
	fail_msg("no figure %s", name);
	return NULL;
}

/* By hand: mean 30, squares 1000, deviation sqrt(1000 / 4), margin 2.7764 of these by root 5. */
static void test_mean_deviation_interval(void **unused)
{
	struct spread spread;

	(void)unused;
	for (uint64_t i = 1; i <= 5; i++)
		add("a", i, 10 * i);
	assert_true(repeats_at(&repeats, &result, 0));
	assert_int_equal(repeats.n, 5);
	assert_true(repeats_spread(&repeats, figure("read.iops"), &spread));
	assert_true(fabs(spread.mean - 30) < 1e-9);
	assert_true(fabs(spread.stddev - 15.8114) < 1e-4);
	assert_true(fabs(spread.margin - 19.632) < 1e-3);
	assert_false(repeats_spread(&repeats, figure("write.iops"), &spread));
	assert_false(repeats_spread(&repeats, figure("runtime"), &spread));
	for (unsigned i = 1; i < 5; i++)
		assert_false(repeats_at(&repeats, &result, i)); /* told with the first */
}

/* Student's t by its table: 12.706 and 2.2010 (12 runs), of values 0 and 1 by turns. */
static void test_student(void **unused)
{
	struct spread spread;

	(void)unused;
	add("a", 1, 0);
	add("a", 2, 1);
	assert_true(repeats_at(&repeats, &result, 0));
	assert_true(repeats_spread(&repeats, figure("read.iops"), &spread));
	assert_true(fabs(spread.margin - 12.7062 / 2) < 1e-3);
	for (uint64_t i = 0; i < 12; i++)
		add("b", i + 1, i % 2);
	assert_true(repeats_at(&repeats, &result, 2));
	assert_true(repeats_spread(&repeats, figure("read.iops"), &spread));
	assert_true(fabs(spread.stddev - 0.522233) < 1e-5);
	assert_true(fabs(spread.margin / spread.stddev * sqrt(12) - 2.2010) < 3e-4);
}

static void test_of_those_that_ended(void **unused)
{
	(void)unused;
	add("a", 1, 10)->status = STATUS_FAILED;
	add("a", 2, 10);
	add("b", 1, 10);
	add("a", 3, 10);
	add("c", 1, 10)->repeat.count = 0;
	assert_false(repeats_at(&repeats, &result, 0));
	assert_true(repeats_at(&repeats, &result, 1));
	assert_int_equal(repeats.n, 2);
	assert_ptr_equal(repeats.runs[1], &tests[3]);
	assert_false(repeats_at(&repeats, &result, 2)); /* one says nothing of a spread */
	assert_false(repeats_at(&repeats, &result, 4));
	tests[1].search.outcome = SEARCH_NEVER_MET; /* its figures answer nothing */
	assert_false(repeats_at(&repeats, &result, 3));
}

static void test_by_amount(void **unused)
{
	struct spread spread;

	(void)unused;
	for (uint64_t i = 1; i <= 3; i++) {
		struct test_result *tr = add("a", i, 10);

		tr->loops = 1;
		tr->runtime_ns = i * NSEC_PER_SEC;
	}
	assert_true(repeats_at(&repeats, &result, 0));
	assert_true(repeats_spread(&repeats, figure("runtime"), &spread));
	assert_true(fabs(spread.mean - 2e9) < 1);
	assert_true(fabs(spread.stddev - 1e9) < 1);
}

int main(void)
{
	const struct CMUnitTest all[] = {
	        cmocka_unit_test_teardown(test_mean_deviation_interval, tear_down),
	        cmocka_unit_test_teardown(test_student, tear_down),
	        cmocka_unit_test_teardown(test_of_those_that_ended, tear_down),
	        cmocka_unit_test_teardown(test_by_amount, tear_down),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
