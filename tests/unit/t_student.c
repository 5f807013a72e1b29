/* links: measure/student.c */
/* Student's t by its tables, and intervals of ratios by how often they are right. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "load/random.h"
#include "measure/student.h"

static void assert_near(double got, double want)
{
	if (!(fabs(got - want) <= 5e-5 * fabs(want)))
		fail_msg("%.9g is not %.9g", got, want);
}

/* Abramowitz and Stegun, table 26.10, and beyond it by the distribution's closed forms. */
static void test_quantiles(void **unused)
{
	static const struct {
		double beyond, degrees, t;
	} rows[] = {
	        {0.05, 1, 12.7062},    {0.05, 2, 4.30265},      {0.05, 4, 2.77645},
	        {0.05, 9, 2.26216},    {0.05, 30, 2.04227},     {0.05, 120, 1.97993},
	        {0.01, 8, 3.35539},    {0.001, 4, 8.61030},     {0.001, 8, 5.04131},
	        {0.5, 1, 1},           {1e-6, 1, 636619.77},    {0.0001, 2, 99.9925},
	        {0.05, 1e9, 1.959964}, {0.0001, 4, 15.5441006},
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_near(student_quantile(rows[i].beyond, rows[i].degrees), rows[i].t);
		assert_near(student_beyond(rows[i].t, rows[i].degrees), rows[i].beyond);
	}
	assert_true(student_beyond(0, 3) == 1);
	/* degrees that are not whole lie between those that are */
	assert_true(student_quantile(0.05, 4.5) < student_quantile(0.05, 4));
	assert_true(student_quantile(0.05, 4.5) > student_quantile(0.05, 5));
}

static struct sample sample_of(const double *values, unsigned n)
{
	struct sample sample = {0};

	for (unsigned i = 0; i < n; i++)
		sample_add(&sample, values[i]);
	return sample;
}

static void test_samples(void **unused)
{
	const double values[] = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
	struct sample sample = sample_of(values, 4);

	(void)unused;
	assert_int_equal(sample.n, 4);
	assert_near(sample.mean, 1e9 + 10);
	assert_near(sample.squares, 90);
}

/*
 * By hand: means 20 and 10, squares 10 each of five runs, so that the variance of each mean is
 * 10/4/5 = 0.5. Of a - 2 b it is 0.5 + 4 * 0.5, with (2.5)^2 / ((0.25 + 4) / 4) = 5.8824 degrees;
 * t(0.05) = 2.45882. The bounds solve (20 - 10 r)^2 = 6.045814 (0.5 + 0.5 r^2).
 */
static void test_fieller_by_hand(void **unused)
{
	const double a[] = {18, 19, 20, 21, 22}, b[] = {8, 9, 10, 11, 12};
	struct sample x = sample_of(a, 5), y = sample_of(b, 5), none = {0};
	struct ratio ratio;

	(void)unused;
	assert_true(ratio_of_means(&x, &y, 0.05, &ratio));
	assert_true(ratio.value == 2);
	for (unsigned i = 0; i < 2; i++) {
		double r = i ? ratio.high : ratio.low;

		assert_near((20 - 10 * r) * (20 - 10 * r), 6.045814 * (0.5 + 0.5 * r * r));
	}
	assert_true(ratio.low < 2 && ratio.high > 2);
	assert_false(ratio_of_means(&x, &none, 0.05, &ratio));
	assert_false(ratio_of_means(&none, &x, 0.05, &ratio));
}

static void test_edges(void **unused)
{
	const double steady[] = {5, 5, 5}, wild[] = {0, 0, 0, 0, 1}, zero[] = {0, 0};
	struct sample s = sample_of(steady, 3), w = sample_of(wild, 5), z = sample_of(zero, 2);
	struct ratio ratio;

	(void)unused;
	assert_true(ratio_of_means(&s, &s, 0.05, &ratio));
	assert_true(ratio.value == 1 && ratio.low == 1 && ratio.high == 1);
	/* what may be divided by 0 */
	assert_true(ratio_of_means(&s, &w, 0.05, &ratio));
	assert_true(ratio.low == 0 && isinf(ratio.high));
	assert_false(ratio_of_means(&s, &z, 0.05, &ratio));
	assert_true(ratio_of_means(&z, &s, 0.05, &ratio));
	assert_true(ratio.value == 0 && ratio.low == 0 && ratio.high == 0);
}

/* Box and Muller. */
static double normal(struct random *random)
{
	double u = random_unit(random), v = random_unit(random);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static struct sample draw(struct random *random, double mean, double deviation, unsigned n)
{
	struct sample sample = {0};

	for (unsigned i = 0; i < n; i++)
		sample_add(&sample, mean + deviation * normal(random));
	return sample;
}

/* How often of 4,000 times the interval holds the true ratio; by chance +- 1 % of them. */
static void assert_coverage(double deviation_a, double deviation_b, double beyond)
{
	struct random random;
	unsigned held = 0, n = 4000;

	random_seed(&random, 1, 0);
	for (unsigned i = 0; i < n; i++) {
		struct sample a = draw(&random, 90, deviation_a, 5);
		struct sample b = draw(&random, 100, deviation_b, 5);
		struct ratio ratio;

		assert_true(ratio_of_means(&a, &b, beyond, &ratio));
		held += ratio.low <= 0.9 && 0.9 <= ratio.high;
	}
	if (fabs((double)held / n - (1 - beyond)) > 0.012)
		fail_msg("%u of %u", held, n);
}

static void test_coverage(void **unused)
{
	(void)unused;
	assert_coverage(3, 3, 0.05);
	assert_coverage(10, 10, 0.05);
	assert_coverage(1, 10, 0.05);
	assert_coverage(10, 1, 0.05);
	assert_coverage(5, 5, 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_quantiles),       cmocka_unit_test(test_samples),
	        cmocka_unit_test(test_fieller_by_hand), cmocka_unit_test(test_edges),
	        cmocka_unit_test(test_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
