/* The histogram against what it stands for: the sorted samples themselves. */
/* links: measure/hist.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "measure/hist.h"

#define SAMPLES 50000

static uint64_t state = 88172645463325252ull;

/* xorshift64; the same numbers in every run */
static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static uint64_t draw_uniform(void)
{
	return (uint64_t)(uniform() * 1e6);
}

static uint64_t draw_exponential(void)
{
	return (uint64_t)(-log(uniform()) * 530000);
}

static uint64_t draw_lognormal(void)
{
	double normal = sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());

	return (uint64_t)exp(12 + 2 * normal);
}

static uint64_t draw_bimodal(void)
{
	return uniform() < 0.9 ? 80000 + (uint64_t)(uniform() * 5000)
	                       : 31000000 + (uint64_t)(uniform() * 1e6);
}

static uint64_t draw_tiny(void)
{
	return (uint64_t)(uniform() * 300);
}

static uint64_t draw_constant(void)
{
	return 7210000;
}

static uint64_t draw_wide(void)
{
	return (uint64_t)exp2(uniform() * 42);
}

/* A bucket's lowest value lies the farthest from its middle; of a power of two it is 1/256. */
static uint64_t draw_powers(void)
{
	return 1ull << (unsigned)(uniform() * 42);
}

static uint64_t draw_bucket_ends(void)
{
	unsigned index = (unsigned)(uniform() * HIST_BUCKETS);

	return hist_bucket_low(index) + (uniform() < 0.5 ? 0 : hist_bucket_width(index) - 1);
}

/* The ranks of p50, p90 and p99 lie where it jumps from one value to another. */
static uint64_t draw_steps(void)
{
	static const uint64_t value[] = {1, 130, 65535, 65536, 999999999999};
	static const unsigned of_hundred[] = {50, 90, 95, 99, 100};
	static unsigned n;
	unsigned place = n++ % 100, i = 0;

	while (place >= of_hundred[i])
		i++;
	return value[i];
}

static uint64_t (*const draws[])(void) = {
        draw_uniform,  draw_exponential, draw_lognormal, draw_bimodal,     draw_tiny,
        draw_constant, draw_wide,        draw_powers,    draw_bucket_ends, draw_steps,
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t sample[SAMPLES];
static struct hist h, part[3];

static void test_buckets_tile_the_range(void **unused)
{
	uint64_t next = 0;

	(void)unused;
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		uint64_t low = hist_bucket_low(i), width = hist_bucket_width(i);

		assert_int_equal(low, next);
		assert_int_equal(hist_index(low), i);
		assert_int_equal(hist_index(low + width - 1), i);
		assert_true(width == 1 || width * HIST_SUB <= low);
		next = low + width;
	}
	assert_int_equal(next, 1ull << HIST_MAX_BITS);
}

static void check_percentiles(unsigned distribution, unsigned n)
{
	static const double percents[] = {0.001, 1, 10, 50, 90, 95, 99, 99.9, 99.99, 100};

	memset(&h, 0, sizeof(h));
	for (unsigned i = 0; i < n; i++) {
		sample[i] = draws[distribution]();
		hist_record(&h, sample[i]);
	}
	qsort(sample, n, sizeof(sample[0]), compare);
	assert_int_equal(h.min, sample[0]);
	assert_int_equal(h.max, sample[n - 1]);
	for (unsigned p = 0; p < ARRAY_SIZE(percents); p++) {
		unsigned rank = (unsigned)ceil(percents[p] * (n / 100.) - 1e-6);
		double exact = (double)sample[(rank ? rank : 1) - 1];
		double got = (double)hist_percentile(&h, percents[p]);

		if (fabs(got - exact) > exact / 256 + 0.5)
			fail_msg("distribution %u, %u samples, p%g: %.0f, exact %.0f", distribution,
			         n, percents[p], got, exact);
	}
}

static void test_percentiles_against_sorted_samples(void **unused)
{
	static const unsigned sizes[] = {SAMPLES, 1, 2, 10, 11, 100, 999, 1000, 1001, 10000};

	(void)unused;
	for (unsigned d = 0; d < ARRAY_SIZE(draws); d++)
		for (unsigned s = 0; s < ARRAY_SIZE(sizes); s++)
			check_percentiles(d, sizes[s]);
}

static void test_mean_and_deviation(void **unused)
{
	(void)unused;
	for (unsigned d = 0; d < ARRAY_SIZE(draws); d++) {
		long double sum = 0, squares = 0;

		memset(&h, 0, sizeof(h));
		for (unsigned i = 0; i < SAMPLES; i++) {
			sample[i] = draws[d]();
			sum += sample[i];
			hist_record(&h, sample[i]);
		}
		for (unsigned i = 0; i < SAMPLES; i++)
			squares += (sample[i] - sum / SAMPLES) * (sample[i] - sum / SAMPLES);

		double deviation = (double)sqrtl(squares / (SAMPLES - 1));

		assert_true(fabs(hist_mean(&h) - (double)(sum / SAMPLES)) <= 1e-9 * hist_mean(&h));
		/* a constant's deviation is 0; the bucket's middle is up to 1/256 off */
		assert_true(fabs(hist_stddev(&h) - deviation) <=
		            deviation * 0.005 + hist_mean(&h) / 256);
	}
}

static void test_few_samples(void **unused)
{
	(void)unused;
	memset(&h, 0, sizeof(h));
	assert_int_equal(hist_percentile(&h, 50), 0);
	assert_true(hist_mean(&h) == 0);
	assert_true(hist_stddev(&h) == 0);
	assert_false(hist_percentile_carried(&h, 50));
	hist_record(&h, 1000003);
	assert_int_equal(hist_percentile(&h, 0.0000001), 1000003);
	assert_int_equal(hist_percentile(&h, 50), 1000003);
	assert_int_equal(hist_percentile(&h, 100), 1000003);
	assert_true(hist_stddev(&h) == 0);
	assert_int_equal(h.min, 1000003);
}

/* 99.9 is no binary fraction: of 1000 samples the 999th must answer, of 10 the 10th. */
static void test_ranks_are_exact(void **unused)
{
	(void)unused;
	memset(&h, 0, sizeof(h));
	for (uint64_t i = 1; i <= 100; i++)
		hist_record(&h, i);
	for (unsigned p = 1; p <= 100; p++)
		assert_int_equal(hist_percentile(&h, p), p);
	assert_int_equal(hist_percentile(&h, 0.5), 1);
	assert_int_equal(hist_percentile(&h, 99.5), 100);
	memset(&h, 0, sizeof(h));
	h.bucket[10] = 999, h.bucket[20] = 1, h.count = 1000, h.min = 10, h.max = 20;
	assert_int_equal(hist_percentile(&h, 99.9), 10);
	assert_int_equal(hist_percentile(&h, 99.90001), 20);
}

static void test_ranks_of_huge_counts(void **unused)
{
	(void)unused;
	memset(&h, 0, sizeof(h));
	h.bucket[10] = UINT64_MAX / 2, h.bucket[20] = UINT64_MAX - UINT64_MAX / 2;
	h.count = UINT64_MAX, h.min = 10, h.max = 20;
	assert_int_equal(hist_percentile(&h, 49.9), 10);
	assert_int_equal(hist_percentile(&h, 50.1), 20);
	assert_int_equal(hist_percentile(&h, 100), 20);
}

static void test_count_below(void **unused)
{
	struct hist counted = {0};

	(void)unused;
	for (uint64_t value = 0; value < 1000; value++)
		hist_record(&counted, value);
	hist_record(&counted, 1ull << HIST_MAX_BITS); /* in no bucket */
	assert_int_equal(hist_count_below(&counted, 0), 0);
	assert_int_equal(hist_count_below(&counted, 100), 100);
	assert_int_equal(hist_count_below(&counted, 257), 256); /* with 256 in one bucket */
	assert_int_equal(hist_count_below(&counted, 258), 258);
	assert_int_equal(hist_count_below(&counted, UINT64_MAX), 1000);
}

static void test_carried_needs_ten_beyond(void **unused)
{
	static const struct {
		double percent;
		uint64_t first; /* count that carries it */
	} cases[] = {{50, 20}, {90, 100}, {95, 200}, {99, 1000}, {99.9, 10000}, {99.99, 100000}};

	(void)unused;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(&h, 0, sizeof(h));
		h.count = cases[i].first;
		assert_true(hist_percentile_carried(&h, cases[i].percent));
		h.count--;
		assert_false(hist_percentile_carried(&h, cases[i].percent));
	}
	h.count = UINT64_MAX;
	assert_false(hist_percentile_carried(&h, 100));
}

static void test_overflow_is_counted(void **unused)
{
	(void)unused;
	memset(&h, 0, sizeof(h));
	hist_record(&h, 5);
	hist_record(&h, (1ull << HIST_MAX_BITS) - 1);
	assert_int_equal(h.overflow, 0);
	hist_record(&h, 1ull << HIST_MAX_BITS);
	hist_record(&h, 1ull << 50);
	assert_int_equal(h.overflow, 2);
	assert_int_equal(h.count, 4);
	assert_int_equal(h.max, 1ull << 50);
	assert_int_equal(h.sum, 5 + (1ull << 43) - 1 + (1ull << 50));
	assert_int_equal(hist_percentile(&h, 25), 5);
	assert_int_equal(hist_percentile(&h, 75), 1ull << 50);
	assert_int_equal(hist_percentile(&h, 100), 1ull << 50);
	assert_true(hist_stddev(&h) > 0);
}

static void test_merge_is_the_whole(void **unused)
{
	(void)unused;
	memset(&h, 0, sizeof(h));
	memset(part, 0, sizeof(part));
	for (unsigned i = 0; i < SAMPLES; i++) {
		uint64_t value = draw_wide() << (i % 100 == 0 ? 4 : 0);

		hist_record(&h, value);
		hist_record(&part[i % 2], value);
	}
	hist_merge(&part[2], &part[1]);
	hist_merge(&part[2], &part[0]);
	assert_memory_equal(&part[2], &h, sizeof(h));
	hist_merge(&part[0], &part[1]);
	assert_memory_equal(&part[0], &h, sizeof(h));
}

static void test_merge_with_empty(void **unused)
{
	(void)unused;
	memset(part, 0, sizeof(part));
	hist_record(&part[0], 1000);
	part[2] = part[0];
	hist_merge(&part[0], &part[1]);
	assert_memory_equal(&part[0], &part[2], sizeof(h));
	hist_merge(&part[1], &part[0]);
	assert_memory_equal(&part[1], &part[2], sizeof(h));
	assert_int_equal(part[1].min, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_buckets_tile_the_range),
	        cmocka_unit_test(test_percentiles_against_sorted_samples),
	        cmocka_unit_test(test_mean_and_deviation),
	        cmocka_unit_test(test_few_samples),
	        cmocka_unit_test(test_ranks_are_exact),
	        cmocka_unit_test(test_ranks_of_huge_counts),
	        cmocka_unit_test(test_count_below),
	        cmocka_unit_test(test_carried_needs_ten_beyond),
	        cmocka_unit_test(test_overflow_is_counted),
	        cmocka_unit_test(test_merge_is_the_whole),
	        cmocka_unit_test(test_merge_with_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
