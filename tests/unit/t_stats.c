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
		assert_memory_equal(x->series.slot, y->series.slot, sizeof(x->series.slot));
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

static void assert_idle(const struct stats *stats, uint64_t window_s, uint64_t start_s,
                        uint64_t length_s, uint64_t interval_s)
{
	struct idle idle = stats_idle(stats, window_s * S);

	assert_int_equal(idle.ns, length_s * S);
	assert_int_equal(idle.start_ns, start_s * S);
	assert_int_equal(idle.bound_ns, (length_s + 2 * interval_s) * S);
}

static void test_idle(void **unused)
{
	(void)unused;
	assert_idle(a, 0, 0, 0, 1);
	assert_idle(a, 10, 0, 10, 1);
	record_seconds(a, STATS_READ, 0, 10);
	assert_idle(a, 10, 0, 0, 1);
	assert_idle(a, 14, 10, 4, 1); /* to the end of the window */
	record_seconds(a, STATS_READ, 20, 30);
	assert_idle(a, 30, 10, 10, 1);
	record_seconds(a, STATS_WRITE, 12, 13); /* any operation ends a pause */
	assert_idle(a, 30, 13, 7, 1);
	record_seconds(a, STATS_SYNC, 0, 30);
	assert_idle(a, 30, 0, 0, 1);
}

static void test_idle_of_unequal_series(void **unused)
{
	(void)unused;
	record_seconds(a, STATS_READ, 0, 5000); /* interval 2 s */
	record_seconds(b, STATS_WRITE, 0, 10);
	stats_merge(b, a);
	assert_idle(b, 5000, 0, 0, 2);
	record_seconds(a, STATS_READ, 5100, 5102);
	assert_idle(a, 5102, 5000, 100, 2);
	/* behind the last slot that any series has */
	assert_idle(a, 1ull << 30, 5102, (1ull << 30) - 5102, 2);
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
	        cmocka_unit_test_setup_teardown(test_idle, set_up, tear_down),
	        cmocka_unit_test_setup_teardown(test_idle_of_unequal_series, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
