/* links: builtin.c base/err.c base/units.c plan/expect.c measure/hist.c measure/stats.c
 * plan/plan.c result/hops.c result/result.c result/search.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sample.h"

static void test_init_takes_the_plan(void **unused)
{
	struct test test = sample_test("mixed", RW_RANDRW);
	struct test_result tr;

	(void)unused;
	test.numjobs = 4;
	test.rate_iops = 1000;
	test.fdatasync = 1;
	test_result_init(&tr, &test);
	assert_string_equal(tr.name, "mixed");
	assert_string_equal(tr.kind, "block");
	assert_string_equal(tr.target, "/data");
	assert_int_equal(tr.status, STATUS_OK);
	assert_int_equal(tr.rw, RW_RANDRW);
	assert_int_equal(tr.rate_iops, 4000);
	assert_int_equal(tr.fdatasync, 1);
	assert_int_equal(tr.runtime_ns, 0);
	assert_int_equal(tr.ramp_time_ns, 10 * NSEC_PER_SEC);
	assert_int_equal(tr.runtime_asked_ns, 60 * NSEC_PER_SEC);
	assert_null(tr.stats);
	test_result_destroy(&tr);
	test_result_destroy(&tr);
	test_result_destroy(NULL);
	test.loops = 1; /* an amount: neither ramp nor runtime */
	test_result_init(&tr, &test);
	assert_int_equal(tr.ramp_time_ns, 0);
	assert_int_equal(tr.runtime_asked_ns, 0);
}

/* Everything that a figure depends on and that is not at its default. */
static void test_init_takes_the_conditions(void **unused)
{
	struct test test = sample_test("t", RW_RANDWRITE);
	struct test_result tr;

	(void)unused;
	test.numjobs = 4;
	test.rate = 1000;
	test.thinktime_ns = 5;
	test.random_distribution = (struct plan_distribution){DISTRIBUTION_ZIPF, 0.9};
	test.randommap = test.end_fsync = test.file_per_job = true;
	test.buffer = BUFFER_ZERO;
	test.layout = LAYOUT_NONE;
	test.offset = 512, test.offset_increment = 1024;
	test.loops = 3, test.io_size = 7;
	test_result_init(&tr, &test);
	assert_int_equal(tr.rate, 4000);
	assert_int_equal(tr.thinktime_ns, 5);
	assert_string_equal(tr.random_distribution, "zipf:0.9");
	assert_true(tr.randommap && tr.end_fsync && tr.file_per_job);
	assert_int_equal(tr.buffer, BUFFER_ZERO);
	assert_int_equal(tr.layout, LAYOUT_NONE);
	assert_int_equal(tr.offset, 512);
	assert_int_equal(tr.offset_increment, 1024);
	assert_int_equal(tr.loops, 3);
	assert_int_equal(tr.io_size, 7);
	assert_int_equal(tr.rwmixread, 0);
	assert_false(tr.first_write);
}

/* What the plan's top says and this test has no use for is no condition of it. */
static void test_init_leaves_out_what_has_no_effect(void **unused)
{
	struct test test = sample_test("t", RW_READ);
	struct test_result tr;

	(void)unused;
	test.fsync = test.fdatasync = 1;
	test.end_fsync = true;
	snprintf(test.filename, sizeof(test.filename), "theirs");
	test_result_init(&tr, &test);
	assert_int_equal(tr.rwmixread, 0);
	assert_int_equal(tr.fsync, 0);
	assert_int_equal(tr.fdatasync, 0);
	assert_false(tr.end_fsync);
	assert_string_equal(tr.random_distribution, "");
	assert_string_equal(tr.filename, "theirs");
	assert_int_equal(tr.layout, LAYOUT_NONE); /* a user's file is never laid out */
	test.rw = RW_RANDRW;
	test_result_init(&tr, &test);
	assert_int_equal(tr.rwmixread, 75);
	assert_string_equal(tr.random_distribution, "uniform");
}

static void test_rates(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	test_result_init(&tr, &test);
	assert_true(test_result_iops(&tr, STATS_READ) == 0);
	assert_true(test_result_bw(&tr, STATS_READ) == 0);
	sample_result(&tr, &test);
	sample_record(&tr, STATS_READ, 600, 1000);
	assert_true(test_result_iops(&tr, STATS_READ) == 10);
	assert_true(test_result_bw(&tr, STATS_READ) == 40960);
	tr.runtime_ns = 0;
	assert_true(test_result_iops(&tr, STATS_READ) == 0);
	assert_true(test_result_bw(&tr, STATS_READ) == 0);
	test_result_destroy(&tr);
}

/* 0 is a figure only where a whole window passed and this operation was asked for. */
static void test_what_is_measured(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	test_result_init(&tr, &test);
	assert_false(test_result_measured(&tr, STATS_READ));
	sample_result(&tr, &test);
	assert_true(test_result_measured(&tr, STATS_READ));
	assert_false(test_result_measured(&tr, STATS_WRITE));
	assert_false(test_result_measured(&tr, STATS_SYNC));
	tr.status = STATUS_FAILED;
	assert_false(test_result_measured(&tr, STATS_READ));
	tr.status = STATUS_INTERRUPTED;
	assert_false(test_result_measured(&tr, STATS_READ));
	sample_record(&tr, STATS_READ, 1, 1);
	assert_true(test_result_measured(&tr, STATS_READ));
	sample_record(&tr, STATS_SYNC, 1, 1);
	assert_true(test_result_measured(&tr, STATS_SYNC));
	tr.runtime_ns = 0;
	assert_false(test_result_measured(&tr, STATS_READ));
	test_result_destroy(&tr);
}

static void test_concessions_have_a_limit(void **unused)
{
	struct test test = sample_test("read-iops", RW_RANDREAD);
	struct test_result tr;
	char longer[2 * RESULT_TEXT_MAX];

	(void)unused;
	test_result_init(&tr, &test);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	test_result_concede(&tr, "%s", longer);
	assert_int_equal(strlen(tr.concessions[0]), RESULT_TEXT_MAX - 1);
	for (unsigned i = 1; i < RESULT_CONCESSIONS_MAX; i++)
		test_result_concede(&tr, "concession %u", i);
	assert_string_equal(tr.concessions[RESULT_CONCESSIONS_MAX - 1], "concession 15");
	test_result_concede(&tr, "one too many");
	assert_int_equal(tr.n_concessions, RESULT_CONCESSIONS_MAX);
	assert_string_equal(tr.concessions[RESULT_CONCESSIONS_MAX - 1],
	                    "more concessions than are kept (15)");
	assert_string_equal(tr.concessions[RESULT_CONCESSIONS_MAX - 2], "concession 14");
}

static int exit_code(const int *classes, const int *statuses, const int *expects, unsigned n)
{
	struct test_result tests[4] = {0};
	struct result result = {.tests = tests, .n_tests = n};

	for (unsigned i = 0; i < n; i++) {
		tests[i].exit_class = classes[i];
		tests[i].status = statuses[i];
		tests[i].n_expect = expects[i] >= 0;
		tests[i].expect[0].result = expects[i];
	}
	return result_exit_code(&result);
}

static void test_exit_codes(void **unused)
{
	static const struct {
		int classes[4], statuses[4], expects[4], code;
	} cases[] = {
	        {{0}, {0}, {-1, -1, -1, -1}, 0},
	        {{0}, {0}, {EXPECT_PASS, -1, -1, -1}, 0},
	        {{0}, {0}, {EXPECT_PASS, EXPECT_FAIL, -1, -1}, 99},
	        {{0}, {0}, {EXPECT_PASS, -1, EXPECT_NOT_JUDGED, -1}, 99},
	        {{0}, {0, STATUS_FAILED}, {-1, -1, EXPECT_FAIL, -1}, 1},
	        {{ERR_TEST}, {STATUS_FAILED}, {EXPECT_FAIL, -1, -1, -1}, 1},
	        {{ERR_TEST, ERR_TARGET}, {STATUS_FAILED, STATUS_FAILED}, {-1, -1, -1, -1}, 3},
	        {{ERR_TARGET, ERR_REFUSED, ERR_TEST}, {1, 1, 1}, {-1, -1, -1, EXPECT_FAIL}, 4},
	        {{0}, {STATUS_INTERRUPTED}, {-1, -1, -1, -1}, 0},
	};

	(void)unused;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		int code = exit_code(cases[i].classes, cases[i].statuses, cases[i].expects, 4);

		if (code != cases[i].code)
			fail_msg("case %u: exit code %d, not %d", i, code, cases[i].code);
	}
}

static void test_conditions_are_of_the_tests_target(void **unused)
{
	struct conditions targets[2] = {{.target = "/a"}, {.target = "/b"}};
	struct test_result tr = {.target = "/b"};
	struct result result = {.conditions = targets[0], .targets = targets, .n_targets = 2};

	(void)unused;
	assert_ptr_equal(result_conditions(&result, &tr), &targets[1]);
	snprintf(tr.target, sizeof(tr.target), "/c");
	assert_ptr_equal(result_conditions(&result, &tr), &result.conditions);
	result.targets = NULL;
	result.n_targets = 0;
	result_destroy(&result);
	result_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_init_takes_the_plan),
	        cmocka_unit_test(test_init_takes_the_conditions),
	        cmocka_unit_test(test_init_leaves_out_what_has_no_effect),
	        cmocka_unit_test(test_rates),
	        cmocka_unit_test(test_what_is_measured),
	        cmocka_unit_test(test_concessions_have_a_limit),
	        cmocka_unit_test(test_exit_codes),
	        cmocka_unit_test(test_conditions_are_of_the_tests_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
