/* links: measure/hist.c measure/stats.c measure/timeline.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "measure/timeline.h"

#define START (1733025600 * NSEC_PER_SEC)

static struct series *series_new(uint64_t interval_ns)
{
	struct series *series = calloc(1, sizeof(*series));

	assert_non_null(series);
	series->interval_ns = interval_ns;
	return series;
}

/* n intervals, the i-th of 10 * (i + 1) completions. */
static struct series *stairs(unsigned n, uint64_t interval_ns)
{
	struct series *series = series_new(interval_ns);

	for (unsigned i = 0; i < n; i++)
		series->slot[i] = (struct series_slot){
		        .ios = 10 * (i + 1), .bytes = 4096, .lat_sum_ns = 7, .lat_max_ns = i};
	series->used = n;
	return series;
}

static void add(struct timeline *timeline, struct series *series, uint64_t started_ns,
                uint64_t window_ns)
{
	assert_int_equal(timeline_add(timeline, series, started_ns, window_ns), 0);
	free(series);
}

/* What was put in comes out, also a last interval that is cut short. */
static void test_one(void **unused)
{
	static const uint64_t windows_ns[] = {3000000000, 2400000000, 2130000000};

	(void)unused;
	for (unsigned w = 0; w < ARRAY_SIZE(windows_ns); w++) {
		struct timeline timeline = {0};
		struct series *out = series_new(0), *in = stairs(3, NSEC_PER_SEC);
		uint64_t started_ns = START + 123456789 * (w + 1);

		assert_int_equal(timeline_add(&timeline, in, started_ns, windows_ns[w]), 0);
		timeline_cut(&timeline, started_ns, windows_ns[w], out);
		assert_int_equal(out->interval_ns, NSEC_PER_SEC);
		assert_int_equal(out->used, 3);
		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(out->slot[i].ios, in->slot[i].ios);
			assert_int_equal(out->slot[i].bytes, 4096);
			assert_int_equal(out->slot[i].lat_sum_ns, 7);
			assert_int_equal(out->slot[i].lat_max_ns, i);
		}
		free(in);
		free(out);
		timeline_destroy(&timeline);
	}
}

/* 300 ms are no second, 700 ms are one. */
static void test_nearest_second(void **unused)
{
	struct timeline timeline = {0};
	struct series *out = series_new(0);

	(void)unused;
	add(&timeline, stairs(4, NSEC_PER_SEC), START, 4 * NSEC_PER_SEC);
	add(&timeline, stairs(4, NSEC_PER_SEC), START - 300 * NSEC_PER_MSEC, 4 * NSEC_PER_SEC);
	add(&timeline, stairs(4, NSEC_PER_SEC), START - 700 * NSEC_PER_MSEC, 4 * NSEC_PER_SEC);
	timeline_cut(&timeline, START, 3300 * NSEC_PER_MSEC, out);
	assert_int_equal(out->slot[0].ios, 10 + 10 + 20);
	assert_int_equal(out->slot[1].ios, 20 + 20 + 30);
	assert_int_equal(out->slot[2].ios, 30 + 30 + 40);
	assert_int_equal(out->slot[3].ios, 40); /* of the second, whose middle is still within */
	assert_int_equal(out->used, 4);
	free(out);
	timeline_destroy(&timeline);
}

/* What a very short interval at the end holds is not lost. */
static void test_short_end(void **unused)
{
	struct timeline timeline = {0};
	struct series *out = series_new(0);

	(void)unused;
	add(&timeline, stairs(3, NSEC_PER_SEC), START + 1, 2 * NSEC_PER_SEC + 1);
	timeline_cut(&timeline, START + 1, 2 * NSEC_PER_SEC + 1, out);
	assert_int_equal(out->slot[0].ios, 10);
	assert_int_equal(out->slot[1].ios + out->slot[2].ios, 20 + 30);
	free(out);
	timeline_destroy(&timeline);
}

/* A series that was thinned is spread over nothing: the sum takes its interval. */
static void test_coarser(void **unused)
{
	struct timeline timeline = {0};
	struct series *out = series_new(0);

	(void)unused;
	add(&timeline, stairs(8, NSEC_PER_SEC), START, 8 * NSEC_PER_SEC);
	add(&timeline, stairs(2, 4 * NSEC_PER_SEC), START, 8 * NSEC_PER_SEC);
	timeline_cut(&timeline, START, 8 * NSEC_PER_SEC, out);
	assert_int_equal(out->interval_ns, 4 * NSEC_PER_SEC);
	assert_int_equal(out->used, 2);
	assert_int_equal(out->slot[0].ios, 10 + 20 + 30 + 40 + 10);
	assert_int_equal(out->slot[1].ios, 50 + 60 + 70 + 80 + 20);
	free(out);
	timeline_destroy(&timeline);
}

/* Days: cells become wider, and nothing is lost, in whatever order. */
static void test_long_spans(void **unused)
{
	static const uint64_t days[2][3] = {{0, 3, 9}, {9, 0, 3}};
	struct series *out[2];

	(void)unused;
	for (unsigned o = 0; o < 2; o++) {
		struct timeline timeline = {0};
		uint64_t ios = 0;

		for (unsigned i = 0; i < 3; i++)
			add(&timeline, stairs(4, NSEC_PER_SEC),
			    START + days[o][i] * 86400 * NSEC_PER_SEC, 4 * NSEC_PER_SEC);
		out[o] = series_new(0);
		timeline_cut(&timeline, START - 3600 * NSEC_PER_SEC, 10ull * 86400 * NSEC_PER_SEC,
		             out[o]);
		for (unsigned i = 0; i < out[o]->used; i++)
			ios += out[o]->slot[i].ios;
		assert_int_equal(ios, 3 * (10 + 20 + 30 + 40));
		assert_true(timeline.used <= TIMELINE_CELLS_MAX);
		timeline_destroy(&timeline);
	}
	assert_memory_equal(out[0], out[1], sizeof(*out[0]));
	free(out[0]);
	free(out[1]);
}

static void test_nothing(void **unused)
{
	struct timeline timeline = {0};
	struct series *out = series_new(NSEC_PER_SEC);

	(void)unused;
	timeline_cut(&timeline, START, NSEC_PER_SEC, out);
	add(&timeline, series_new(NSEC_PER_SEC), START, NSEC_PER_SEC);
	timeline_cut(&timeline, START, NSEC_PER_SEC, out);
	assert_int_equal(out->used, 0);
	assert_int_equal(out->interval_ns, NSEC_PER_SEC);
	free(out);
	timeline_destroy(&timeline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_one),        cmocka_unit_test(test_nearest_second),
	        cmocka_unit_test(test_short_end),  cmocka_unit_test(test_coarser),
	        cmocka_unit_test(test_long_spans), cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
