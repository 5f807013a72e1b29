/*
 * The distribution of t is an incomplete beta function, which the continued fraction 26.5.8 of
 * Abramowitz and Stegun, Handbook of Mathematical Functions, gives; its inverse is found by
 * halving.
 */
#include "measure/student.h"

#include <math.h>

#define TERMS_MAX   10000
#define HALVINGS    200
#define SMALL       1e-300 /* in place of 0, which nothing can be divided by */
#define AS_ONE      1e-15
#define T_DOUBLINGS 400

static double not_zero(double x)
{
	return fabs(x) < SMALL ? SMALL : x;
}

/* Number i, from 1, of 26.5.8: even ones and odd ones have a rule each. */
static double coefficient(unsigned i, double a, double b, double x)
{
	double m = i / 2;

	if (i % 2)
		return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
	return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
}

/* By Lentz' method, from the left. */
static double fraction(double a, double b, double x)
{
	double value = 1, c = 1, d = 0;

	for (unsigned i = 1; i < TERMS_MAX; i++) {
		double k = coefficient(i, a, b, x);

		d = 1 / not_zero(1 + k * d);
		c = not_zero(1 + k / c);
		value *= c * d;
		if (fabs(c * d - 1) < AS_ONE)
			break;
	}
	return 1 / value;
}

/* The fraction converges quickly only below the mean. */
static double incomplete_beta(double a, double b, double x)
{
	int sign;
	double scale;

	if (x <= 0 || x >= 1)
		return x > 0;
	if (x > (a + 1) / (a + b + 2))
		return 1 - incomplete_beta(b, a, 1 - x);
	scale = lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign);
	return exp(scale + a * log(x) + b * log1p(-x)) * fraction(a, b, x) / a;
}

double student_beyond(double t, double degrees)
{
	return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double student_quantile(double beyond, double degrees)
{
	double low = 0, high = 1;

	for (unsigned i = 0; i < T_DOUBLINGS && student_beyond(high, degrees) > beyond; i++)
		high *= 2;
	for (unsigned i = 0; i < HALVINGS && high - low > AS_ONE * high; i++) {
		double middle = (low + high) / 2;

		if (student_beyond(middle, degrees) > beyond)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/* ---- samples ---- */

void sample_add(struct sample *sample, double value)
{
	double off = value - sample->mean;

	sample->n++;
	sample->mean += off / sample->n;
	sample->squares += off * (value - sample->mean);
}

/* Of the mean. */
static double variance(const struct sample *sample)
{
	return sample->squares / (sample->n - 1) / sample->n;
}

/* Of a - ratio * b, whose mean is 0. */
static double degrees_of(const struct sample *a, const struct sample *b, double ratio)
{
	double va = variance(a), vb = ratio * ratio * variance(b);

	if (!(va + vb > 0))
		return a->n + b->n - 2;
	return (va + vb) * (va + vb) / (va * va / (a->n - 1) + vb * vb / (b->n - 1));
}

/*
 * All ratios r for which a - r b is not further from 0 than chance explains:
 * (a - r b)^2 <= t^2 (va + r^2 vb), a quadratic inequality in r.
 */
bool ratio_of_means(const struct sample *a, const struct sample *b, double beyond,
                    struct ratio *ratio)
{
	double t, va, vb, square, product, root;

	if (a->n < 2 || b->n < 2 || !(b->mean > 0))
		return false;
	ratio->value = a->mean / b->mean;
	t = student_quantile(beyond, degrees_of(a, b, ratio->value));
	va = t * t * variance(a);
	vb = t * t * variance(b);
	square = b->mean * b->mean - vb;
	product = a->mean * b->mean;
	root = product * product - square * (a->mean * a->mean - va);
	ratio->low = 0;
	ratio->high = INFINITY;
	if (!(square > 0))
		return true;
	root = sqrt(fmax(root, 0));
	ratio->low = fmax((product - root) / square, 0);
	ratio->high = (product + root) / square;
	return true;
}
