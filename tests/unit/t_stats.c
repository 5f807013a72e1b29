/* links: measure/hist.c measure/stats.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "measure/stats.h"

#define S NSEC_PER_SEC

static struct stats *a, *b, *both;

static int set_up(void **unused)
{
	(void)unused;
	a = stats_new();
	b = stats_new();
	both = stats_new();
	return a && b && both ? 0 : -1;
}

static int tear_down(void **unused)
{
	(void)unused;
	stats_free(a);
	stats_free(b);
	stats_free(both);
	stats_free(NULL);
	return 0;
}

static const struct series *reads(const struct stats *stats)
{
	return &stats->op[STATS_READ].series;
}

static void test_slots(void **unused)
{
	(void)unused;
	assert_int_equal(reads(a)->used, 0);
	stats_record(a, STATS_READ, 4096, 100, 0);
	stats_record(a, STATS_READ, 4096, 300, S - 1);
	stats_record(a, STATS_READ, 512, 50, S);
	stats_record(a, STATS_READ, 4096, 70, 5 * S + 1);
	stats_record(a, STATS_READ, 4096, 200, 1); /* another thread's clock may lie before */
	assert_int_equal(reads(a)->used, 6);
	assert_int_equal(reads(a)->slot[0].ios, 3);
	assert_int_equal(reads(a)->slot[0].bytes, 3 * 4096);
	assert_int_equal(reads(a)->slot[0].lat_sum_ns, 600);
	assert_int_equal(reads(a)->slot[0].lat_max_ns, 300);
	assert_int_equal(reads(a)->slot[1].bytes, 512);
	assert_int_equal(reads(a)->slot[4].ios, 0);
	assert_int_equal(reads(a)->slot[5].lat_max_ns, 70);
	assert_int_equal(a->op[STATS_READ].latency.count, 5);
	assert_int_equal(a->op[STATS_READ].bytes, 4 * 4096 + 512);
	assert_int_equal(a->op[STATS_WRITE].latency.count, 0);
	assert_int_equal(a->op[STATS_WRITE].series.used, 0);
}

static void test_interval_doubles(void **unused)
{
	uint64_t ios = 0;

	(void)unused;
	for (uint64_t t = 0; t < SERIES_SLOTS; t++)
		stats_record(a, STATS_READ, 1, t, t * S);
	assert_int_equal(reads(a)->interval_ns, S);
	assert_int_equal(reads(a)->used, SERIES_SLOTS);
	stats_record(a, STATS_READ, 1, 7, SERIES_SLOTS * S);
	assert_int_equal(reads(a)->interval_ns, 2 * S);
	assert_int_equal(reads(a)->used, SERIES_SLOTS / 2 + 1);
	assert_int_equal(reads(a)->slot[0].ios, 2);
	assert_int_equal(reads(a)->slot[0].lat_max_ns, 1);
	assert_int_equal(reads(a)->slot[100].lat_sum_ns, 401);
	assert_int_equal(reads(a)->slot[SERIES_SLOTS / 2].ios, 1);
	for (unsigned i = 0; i < SERIES_SLOTS; i++)
		ios += reads(a)->slot[i].ios;
	assert_int_equal(ios, SERIES_SLOTS + 1);
	stats_record(a, STATS_READ, 1, 7, 20ull * SERIES_SLOTS * S);
	assert_int_equal(reads(a)->interval_ns, 32 * S);
	assert_int_equal(reads(a)->used, 20 * SERIES_SLOTS / 32 + 1);
	assert_int_equal(reads(a)->slot[0].ios, 32);
}

/* All but the gaps, of which one worker knows more than two. */
static void assert_same_slot(const struct series_slot *x, const struct series_slot *y)
{
	assert_int_equal(x->ios, y->ios);
	assert_int_equal(x->bytes, y->bytes);
	assert_int_equal(x->lat_sum_ns, y->lat_sum_ns);
	assert_int_equal(x->lat_max_ns, y->lat_max_ns);
	assert_int_equal(x->first_ns, y->first_ns);
	assert_int_equal(x->last_ns, y->last_ns);
}

/* Whoever records what, in whatever order it is merged: the sum is the same. */
static void test_merge_is_the_whole(void **unused)
{
	uint32_t state = 1;

	(void)unused;
	for (unsigned i = 0; i < 100000; i++) {
		state = state * 1664525 + 1013904223;
		enum stats_op op = (enum stats_op)(state >> 8) % STATS_OPS;
		uint64_t latency_ns = state >> 4;
		/* only b runs long enough to have its interval doubled */
		bool far = state >> 31;
		uint64_t at_ns = (uint64_t)(i % 997) * S * (far ? 9 : 1);

		stats_record(far ? b : a, op, 4096, latency_ns, at_ns);
		stats_record(both, op, 4096, latency_ns, at_ns);
	}
	stats_merge(a, b);
	for (unsigned op = 0; op < STATS_OPS; op++) {
		struct op_stats *x = &a->op[op], *y = &both->op[op];

		assert_memory_equal(&x->latency, &y->latency, sizeof(x->latency));
		assert_int_equal(x->bytes, y->bytes);
		assert_int_equal(x->series.interval_ns, y->series.interval_ns);
		assert_int_equal(x->series.used, y->series.used);
		for (unsigned i = 0; i < SERIES_SLOTS; i++)
			assert_same_slot(&x->series.slot[i], &y->series.slot[i]);
	}
	/* and it can still be recorded into */
	stats_record(a, STATS_READ, 1, 1, 0);
	assert_int_equal(reads(a)->slot[0].ios, reads(both)->slot[0].ios + 1);
}

static void test_merge_fine_into_coarse(void **unused)
{
	(void)unused;
	stats_record(a, STATS_READ, 1, 1, 5000 * S);
	stats_record(b, STATS_READ, 1, 1, 4001 * S);
	stats_merge(a, b);
	assert_int_equal(reads(a)->interval_ns, 2 * S);
	assert_int_equal(reads(a)->used, 2501);
	assert_int_equal(reads(a)->slot[2000].ios, 1);
}

static void test_merge_counters(void **unused)
{
	(void)unused;
	a->short_transfers = 1, b->short_transfers = 2;
	a->retries = 3, b->retries = 4;
	a->drained = 5, b->drained = 6, a->drained_max_ns = 70, b->drained_max_ns = 60;
	a->unfinished = 1, b->unfinished = 1, a->unfinished_age_ns = 8, b->unfinished_age_ns = 9;
	a->unsent = 2, b->unsent = 2, a->unsent_age_ns = 9, b->unsent_age_ns = 1;
	a->late_count = 1, b->late_count = 1, a->late_sum_ns = 10, b->late_sum_ns = 20;
	a->late_max_ns = 10, b->late_max_ns = 20;
	a->suspended_max_ns = 3, b->suspended_max_ns = 2;
	stats_merge(a, b);
	assert_int_equal(a->short_transfers, 3);
	assert_int_equal(a->retries, 7);
	assert_int_equal(a->drained, 11);
	assert_int_equal(a->drained_max_ns, 70);
	assert_int_equal(a->unfinished, 2);
	assert_int_equal(a->unfinished_age_ns, 9);
	assert_int_equal(a->unsent, 4);
	assert_int_equal(a->unsent_age_ns, 9);
	assert_int_equal(a->late_count, 2);
	assert_int_equal(a->late_sum_ns, 30);
	assert_int_equal(a->late_max_ns, 20);
	assert_int_equal(a->suspended_max_ns, 3);
}

static void test_errors(void **unused)
{
	(void)unused;
	assert_int_equal(stats_errors(a), 0);
	stats_error(a, EIO);
	stats_error(a, ENOSPC);
	stats_error(a, EIO);
	assert_int_equal(a->errors[0].errnum, EIO);
	assert_int_equal(a->errors[0].n, 2);
	assert_int_equal(a->errors[1].errnum, ENOSPC);
	assert_int_equal(a->errors[2].n, 0);
	stats_error(b, ENOSPC);
	stats_error(b, EPERM);
	stats_merge(a, b);
	assert_int_equal(a->errors[1].n, 2);
	assert_int_equal(a->errors[2].errnum, EPERM);
	assert_int_equal(stats_errors(a), 5);
}

/* More kinds than rows: what has no row is counted together, and nothing is lost. */
static void test_more_errors_than_rows(void **unused)
{
	unsigned zeros = 0;

	(void)unused;
	for (int errnum = 1; errnum <= 40; errnum++)
		stats_error(a, errnum);
	assert_int_equal(stats_errors(a), 40);
	assert_int_equal(a->errors[STATS_ERRORS_MAX - 1].errnum, 0);
	assert_int_equal(a->errors[STATS_ERRORS_MAX - 1].n, 40 - (STATS_ERRORS_MAX - 1));
	stats_error(b, 100);
	stats_merge(b, a);
	stats_merge(b, a);
	assert_int_equal(stats_errors(b), 81);
	for (unsigned i = 0; i < STATS_ERRORS_MAX; i++) {
		assert_int_not_equal(b->errors[i].n, 0);
		zeros += b->errors[i].errnum == 0;
	}
	assert_int_equal(zeros, 1);
}

static void test_slots_of_a_window(void **unused)
{
	(void)unused;
	assert_int_equal(series_slots(reads(a), 0), 0);
	assert_int_equal(series_slots(reads(a), 60 * S), 60);
	assert_int_equal(series_slots(reads(a), 60 * S + 1), 61);
	stats_record(a, STATS_READ, 1, 1, 62 * S);
	assert_int_equal(series_slots(reads(a), 60 * S), 63);
}

static void record_seconds(struct stats *stats, enum stats_op op, unsigned from, unsigned to)
{
	for (unsigned second = from; second < to; second++)
		stats_record(stats, op, 1, 1, second * S);
}

static void assert_gap(const struct stats *stats, uint64_t window_ns, uint64_t start_ns,
                       uint64_t at_least_ns, uint64_t at_most_ns)
{
	struct gap gap = stats_longest_gap(stats, window_ns);

	assert_int_equal(gap.at_least_ns, at_least_ns);
	assert_int_equal(gap.at_most_ns, at_most_ns);
	assert_int_equal(gap.start_ns, start_ns);
}

static void test_gaps_of_one_worker_are_exact(void **unused)
{
	(void)unused;
	assert_gap(a, 0, 0, 0, 0);
	assert_gap(a, 10 * S, 0, 10 * S, 10 * S); /* nothing at all */
	stats_record(a, STATS_READ, 1, 1, 7);
	assert_gap(a, 7, 0, 7, 7);
	assert_gap(a, 10, 0, 7, 7);   /* from the window's start */
	assert_gap(a, 30, 7, 23, 23); /* to its end */
	stats_record(a, STATS_READ, 1, 1, 100);
	stats_record(a, STATS_READ, 1, 1, 100);
	stats_record(a, STATS_READ, 1, 1, 150);
	assert_gap(a, 160, 7, 93, 93); /* within a slot */
	stats_record(a, STATS_READ, 1, 1, S - 1);
	stats_record(a, STATS_READ, 1, 1, 3 * S + 5);
	assert_gap(a, 3 * S + 5, S - 1, 2 * S + 6, 2 * S + 6); /* over borders */
	assert_gap(a, 10 * S, 3 * S + 5, 7 * S - 5, 7 * S - 5);
}

/* Times that go back, as no worker records them, leave the bounds right. */
static void test_gaps_out_of_order(void **unused)
{
	(void)unused;
	stats_record(a, STATS_READ, 1, 1, 500);
	stats_record(a, STATS_READ, 1, 1, 100);
	assert_int_equal(reads(a)->slot[0].first_ns, 100);
	assert_int_equal(reads(a)->slot[0].last_ns, 500);
	assert_gap(a, 500, 100, 400, 400);
	stats_record(a, STATS_READ, 1, 1, 2 * S);
	stats_record(a, STATS_READ, 1, 1, 50);
	stats_record(a, STATS_READ, 1, 1, 600);
	assert_int_equal(reads(a)->slot[0].first_ns, 50);
	assert_int_equal(reads(a)->slot[0].last_ns, 600);
	assert_gap(a, 2 * S, 600, 2 * S - 600, 2 * S - 600);
}

static void test_any_operation_ends_a_gap(void **unused)
{
	(void)unused;
	record_seconds(a, STATS_READ, 0, 10);
	record_seconds(a, STATS_READ, 20, 30);
	assert_gap(a, 30 * S, 9 * S, 11 * S, 11 * S);
	stats_record(a, STATS_WRITE, 1, 1, 12 * S);
	assert_gap(a, 30 * S, 12 * S, 8 * S, 8 * S);
	record_seconds(a, STATS_SYNC, 0, 30);
	assert_gap(a, 30 * S, 0, S, S);
}

/* Two in one slot: a gap of both is a gap of each. */
static void test_gaps_of_two_have_bounds(void **unused)
{
	(void)unused;
	stats_record(a, STATS_READ, 1, 1, 0);
	stats_record(a, STATS_READ, 1, 1, 400);
	stats_record(a, STATS_READ, 1, 1, 1000);
	stats_record(b, STATS_READ, 1, 1, 50);
	stats_record(b, STATS_READ, 1, 1, 500);
	stats_record(b, STATS_READ, 1, 1, 900);
	stats_merge(a, b);
	assert_gap(a, 1000, 0, 0, 450);
	assert_gap(a, 1300, 1000, 300, 450);
	assert_gap(a, 2000, 1000, 1000, 1000);
}

/* As long as an interval it is exact, whatever the series were added up to. */
static void test_gaps_of_unequal_series(void **unused)
{
	(void)unused;
	record_seconds(a, STATS_READ, 0, 5000); /* interval 2 s */
	record_seconds(b, STATS_WRITE, 0, 10);
	stats_merge(b, a);
	assert_gap(b, 5000 * S, 1 * S, S, S);
	record_seconds(a, STATS_READ, 5100, 5102);
	assert_gap(a, 5102 * S, 4999 * S, 101 * S, 101 * S);
	/* behind the last slot that any series has */
	assert_gap(a, (1ull << 30) * S, 5101 * S, ((1ull << 30) - 5101) * S,
	           ((1ull << 30) - 5101) * S);
}

static int compare_times(const void *x, const void *y)
{
	uint64_t a_ns = *(const uint64_t *)x, b_ns = *(const uint64_t *)y;

	return (a_ns > b_ns) - (a_ns < b_ns);
}

#define TIMES 300

/* The longest gap of n sorted times, by looking at each. */
static uint64_t true_gap(const uint64_t *times, unsigned n, uint64_t window_ns)
{
	uint64_t longest = 0, last = 0;

	for (unsigned i = 0; i < n; i++) {
		longest = times[i] - last > longest ? times[i] - last : longest;
		last = times[i];
	}
	return window_ns - last > longest ? window_ns - last : longest;
}

/* n completions of some threads, at random times of a window of which stretches are left out. */
static void check_random_gaps(uint32_t *state, unsigned threads, unsigned n, uint64_t window_ns)
{
	static uint64_t times[TIMES];
	struct stats *sum = stats_new();
	uint64_t expected;
	struct gap gap;

	for (unsigned i = 0; i < n; i++) {
		*state = *state * 1664525 + 1013904223;
		times[i] = (uint64_t)((double)(*state >> 8) / (1 << 24) * (double)window_ns);
		if (*state & 0x100) /* crowd */
			times[i] -= times[i] % (window_ns / 7 + 1);
	}
	qsort(times, n, sizeof(times[0]), compare_times);
	for (unsigned t = 0; t < threads; t++) {
		struct stats *one = stats_new();

		for (unsigned i = t; i < n; i += threads)
			stats_record(one, (enum stats_op)(t % STATS_OPS), 1, 1, times[i]);
		stats_merge(sum, one);
		stats_free(one);
	}
	expected = true_gap(times, n, window_ns);
	gap = stats_longest_gap(sum, window_ns);
	if (gap.at_least_ns > expected || gap.at_most_ns < expected)
		fail_msg("%u threads, %u times: %lu is not in [%lu, %lu]", threads, n, expected,
		         gap.at_least_ns, gap.at_most_ns);
	if (threads == 1 || expected >= 2 * S)
		assert_int_equal(gap.at_least_ns, gap.at_most_ns);
	stats_free(sum);
}

static void test_bounds_hold_the_truth(void **unused)
{
	uint32_t state = 1;

	(void)unused;
	for (unsigned round = 0; round < 200; round++) {
		check_random_gaps(&state, 1 + round % 5, 1 + round * 3 % TIMES, S / 3);
		check_random_gaps(&state, 1 + round % 5, 1 + round * 7 % TIMES, 9 * S + round);
		check_random_gaps(&state, 1 + round % 5, 1 + round * 5 % TIMES, 6000 * S);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_slots, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_interval_doubles, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_merge_is_the_whole, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_merge_fine_into_coarse, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_merge_counters, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_errors, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_more_errors_than_rows, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_slots_of_a_window, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_gaps_of_one_worker_are_exact, set_up,
	                                        tear_down),
	        cmocka_unit_test_setup_teardown(test_gaps_out_of_order, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_any_operation_ends_a_gap, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_gaps_of_two_have_bounds, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_gaps_of_unequal_series, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_bounds_hold_the_truth, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
