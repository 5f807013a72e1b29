/* links: builtin.c base/err.c base/units.c plan/expect.c measure/hist.c measure/stats.c
 * plan/plan.c result/hops.c result/result.c result/search.c */
/*
 * The search against volumes that are formulas: what it asks for, in what time, and what it says
 * in the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "sample.h"

#define S  NSEC_PER_SEC
#define MS NSEC_PER_MSEC

/* A queue: at a share r of what it can the latency is alone / (1 - r). */
struct volume {
	double most;      /* requests a second */
	double alone_ms;  /* latency of a request that meets no other */
	double depth;     /* of the closed loop */
	double write_x;   /* so much longer take writes; 0: there are none */
	unsigned suspend; /* this step, from 1 on, is one in which pvcbench was suspended */
	unsigned slow;    /* this one, and all later ones, take ten times as long */
};

static struct test searching(uint64_t target_ns, double percentile)
{
	struct test test = sample_test("t", RW_RANDREAD);

	test.latency_target_ns = target_ns;
	test.latency_percentile = percentile;
	return test;
}

/* n requests of this latency. */
static void add(struct stats *stats, enum stats_op op, double n, double latency_ms)
{
	for (uint64_t i = 0; i < (uint64_t)n; i++)
		hist_record(&stats->op[op].latency, (uint64_t)(latency_ms * 1e6));
}

static void load(const struct volume *v, struct search *search, const struct search_ask *ask)
{
	double seconds = (double)(ask->length_ns - ask->length_ns / SEARCH_RAMP_SHARE) / S;
	double rate = ask->rate_iops ? fmin((double)ask->rate_iops, v->most) : v->most;
	double latency_ms = ask->rate_iops ? v->alone_ms / (1.0001 - rate / v->most)
	                                   : 1000 * v->depth / v->most;
	struct stats *stats = stats_new();
	unsigned number = search->n_steps + 1;

	assert_non_null(stats);
	if (v->slow && number >= v->slow)
		latency_ms *= 10;
	add(stats, STATS_READ, v->write_x > 0 ? rate * seconds / 2 : rate * seconds, latency_ms);
	if (v->write_x > 0)
		add(stats, STATS_WRITE, rate * seconds / 2, latency_ms * v->write_x);
	stats->suspended_max_ns = number == v->suspend ? S : 0;
	search_add(search, ask, stats, (uint64_t)(seconds * S), true);
	stats_free(stats);
}

/* The whole of it; returns the time that it took. */
static uint64_t find(const struct volume *v, const struct test *test, struct search *search)
{
	uint64_t elapsed_ns = 0;
	struct search_ask ask;
	struct err err;

	search_init(search, test);
	for (;;) {
		if (search_next(search, elapsed_ns, &ask, &err))
			fail_msg("%s", err.text);
		if (ask.what == SEARCH_OVER)
			break;
		assert_true(ask.length_ns >= search->step_ns &&
		            ask.length_ns <= search->confirm_ns);
		elapsed_ns += ask.length_ns;
		load(v, search, &ask);
	}
	search_conclude(search);
	return elapsed_ns;
}

/* Whatever the volume, the rate is found within the resolution and the time. */
static void test_the_rate_is_found(void **unused)
{
	static const double most[] = {400, 5000, 123456}, share[] = {0.1, 0.5, 0.9, 0.97};

	(void)unused;
	for (unsigned i = 0; i < ARRAY_SIZE(most) * ARRAY_SIZE(share); i++) {
		double at = share[i % ARRAY_SIZE(share)], is = most[i / ARRAY_SIZE(share)];
		struct volume v = {.most = is, .alone_ms = 5 * (1.0001 - at), .depth = 1e6};
		struct test test = searching(5 * MS, 90);
		struct search search;
		uint64_t took_ns = find(&v, &test, &search);
		double found = (double)search_found(&search);

		assert_int_equal(search.outcome, SEARCH_FOUND);
		assert_true(took_ns <= test.runtime_ns);
		if (found > is * at * 1.002 || found < fmin(is * at * 0.97, is * at - 1.01))
			fail_msg("%g of %g: found %g", at, is, found);
		assert_true(search.steps[search.n_steps - 1].confirms);
		assert_false(search_failed(&search));
	}
}

static void test_a_target_that_no_rate_meets(void **unused)
{
	struct volume v = {.most = 5000, .alone_ms = 9, .depth = 64};
	struct test test = searching(5 * MS, 99);
	struct search search;
	char text[SEARCH_TEXT_MAX];

	(void)unused;
	find(&v, &test, &search);
	assert_int_equal(search.outcome, SEARCH_NEVER_MET);
	assert_int_equal(search_found(&search), 0);
	assert_true(search_failed(&search));
	/* maximum, lowest, and that confirmed: 1250 requests in 9.6 s */
	assert_int_equal(search.n_steps, 3);
	assert_int_equal(search.steps[1].rate_iops, 131);
	assert_string_equal(search_text(&search, text),
	                    "no rate keeps p99 within 5ms: at the lowest that was tried, 131 IOPS, "
	                    "it was 9.24ms");
}

static void test_a_target_that_the_maximum_meets(void **unused)
{
	struct volume v = {.most = 5000, .alone_ms = 1, .depth = 20};
	struct test test = searching(5 * MS, 99);
	struct search search;
	char text[SEARCH_TEXT_MAX];

	(void)unused;
	find(&v, &test, &search);
	assert_int_equal(search.outcome, SEARCH_NOT_LIMITED);
	assert_int_equal(search.n_steps, 2);
	assert_true(search.steps[1].confirms && !search.steps[1].rate_iops);
	assert_string_equal(search_text(&search, text),
	                    "the target does not limit: at the maximum of the depth, 5000 IOPS, "
	                    "p99 is 4ms, within 5ms");
	/* what the longer step does not confirm is searched after all */
	v.slow = 2;
	find(&v, &test, &search);
	assert_int_equal(search.outcome, SEARCH_NEVER_MET);
}

static void test_a_rate_that_is_not_confirmed(void **unused)
{
	struct volume v = {.most = 5000, .alone_ms = 1, .depth = 64};
	struct test test = searching(5 * MS, 99);
	struct search search;
	unsigned n;

	(void)unused;
	find(&v, &test, &search);
	assert_int_equal(search.outcome, SEARCH_FOUND);
	n = search.n_steps;
	/* it gets slower just then: the search goes on below, as long as there is time */
	v.slow = n;
	assert_true(find(&v, &test, &search) <= test.runtime_ns);
	assert_true(search.n_steps > n);
	assert_true(search_failed(&search));
	for (unsigned i = n; i < search.n_steps; i++)
		assert_true(search.steps[i].rate_iops < search.steps[n - 1].rate_iops);
}

/* Such a step says nothing of the volume, so it is made again. */
static void test_a_suspended_step_is_made_again(void **unused)
{
	struct volume v = {.most = 5000, .alone_ms = 1, .depth = 64, .suspend = 3};
	struct test test = searching(5 * MS, 99);
	struct search search;

	(void)unused;
	find(&v, &test, &search);
	assert_int_equal(search.outcome, SEARCH_FOUND);
	assert_int_equal(search.steps[2].judgement, STEP_VOID);
	assert_int_equal(search.steps[3].rate_iops, search.steps[2].rate_iops);
	v.suspend = 1;
	find(&v, &test, &search);
	assert_int_equal(search.outcome, SEARCH_FOUND);
	assert_int_equal(search.steps[1].rate_iops, 0);
}

/* A rate that is not kept has missed, whatever came back in time. */
static void test_falling_behind_is_missing(void **unused)
{
	struct volume v = {.most = 1000, .alone_ms = 0.001, .depth = 64};
	struct test test = searching(20 * MS, 99);
	struct search search;
	struct search_ask ask = {SEARCH_STEP, 1100, 3 * S};

	(void)unused;
	search_init(&search, &test);
	v.alone_ms = 0;
	load(&v, &search, &ask);
	assert_int_equal(search.steps[0].judgement, STEP_BEHIND);
	ask.rate_iops = 1010; /* within what is granted */
	load(&v, &search, &ask);
	assert_int_equal(search.steps[1].judgement, STEP_MEETS);
}

static void test_of_a_mix_the_slower_counts(void **unused)
{
	struct volume v = {.most = 5000, .alone_ms = 1, .depth = 64, .write_x = 2};
	struct test test = searching(5 * MS, 90);
	struct search search;

	(void)unused;
	test.rw = RW_RANDRW;
	test.rwmixread = 50;
	find(&v, &test, &search);
	assert_int_equal(search.outcome, SEARCH_FOUND);
	/* 2 ms / (1 - r) is 5 ms at 0.6 */
	assert_true(search_found(&search) > 2900 && search_found(&search) <= 3005);
	test.rwmixread = 90;
	search_init(&search, &test);
	assert_int_equal(search.needed, 1250);
	test.rwmixread = 100;
	search_init(&search, &test);
	assert_int_equal(search.needed, 125);
	test.latency_percentile = 50;
	search_init(&search, &test);
	assert_int_equal(search.needed, 100);
	test.latency_percentile = 99.9;
	search_init(&search, &test);
	assert_int_equal(search.needed, 12500);
}

static void test_too_few_requests_for_the_percentile(void **unused)
{
	struct volume v = {.most = 100, .alone_ms = 1, .depth = 64};
	struct test test = searching(5 * MS, 99.9);
	struct search search;
	struct search_ask ask;
	struct err err;

	(void)unused;
	search_init(&search, &test);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(search_next(&search, 0, &ask, &err), 0);
		assert_true(ask.what == SEARCH_STEP && !ask.rate_iops);
		load(&v, &search, &ask);
	}
	assert_int_equal(search_next(&search, 0, &ask, &err), -1);
	assert_int_equal(err.class, ERR_TEST);
	assert_string_equal(err.text,
	                    "p99.9 needs 12500 requests a step, and the maximum of 100 IOPS gives "
	                    "fewer in the longest of 9.6s (a runtime of 14m19s or more, or a lower "
	                    "latency_percentile)");
}

/* Steps that need their time leave fewer of them; what was found by then is confirmed. */
static void test_the_time_ends_it(void **unused)
{
	struct volume v = {.most = 2000, .alone_ms = 1, .depth = 64};
	struct test test = searching(5 * MS, 99.9);
	struct search search;

	(void)unused;
	assert_true(find(&v, &test, &search) <= test.runtime_ns);
	assert_int_equal(search.outcome, SEARCH_FOUND);
	assert_true(search.n_steps < 8);
	assert_true(search_found(&search) >= 1000 && search_found(&search) <= 1600);
}

static void test_texts(void **unused)
{
	struct volume v = {.most = 5000, .alone_ms = 1, .depth = 64};
	struct test test = searching(5 * MS, 99);
	struct search search;
	char text[SEARCH_TEXT_MAX];

	(void)unused;
	search_init(&search, &test);
	assert_string_equal(
	        search_plan_text(&search, text),
	        "highest rate with p99 within 5ms: steps of 3s (longer where 1250 "
	        "requests take longer), then 12s at that rate; rates below 131 IOPS are "
	        "not tried");
	assert_string_equal(search_text(&search, text),
	                    "the search for p99 within 5ms did not come to its end");
	find(&v, &test, &search);
	assert_string_equal(search_step_text(&search, 0, text),
	                    "search step 1: closed loop: 5000 IOPS, p99 12.8ms, misses the target");
	assert_string_equal(search_step_text(&search, 1, text),
	                    "search step 2: 131 a second: 130 IOPS, p99 1.03ms, meets the target");
	assert_non_null(
	        strstr(search_text(&search, text),
	               " IOPS is the highest rate that keeps p99 within 5ms: confirmed at "));
	assert_non_null(strstr(text, " IOPS missed it"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_the_rate_is_found),
	        cmocka_unit_test(test_a_target_that_no_rate_meets),
	        cmocka_unit_test(test_a_target_that_the_maximum_meets),
	        cmocka_unit_test(test_a_rate_that_is_not_confirmed),
	        cmocka_unit_test(test_a_suspended_step_is_made_again),
	        cmocka_unit_test(test_falling_behind_is_missing),
	        cmocka_unit_test(test_of_a_mix_the_slower_counts),
	        cmocka_unit_test(test_too_few_requests_for_the_percentile),
	        cmocka_unit_test(test_the_time_ends_it),
	        cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
