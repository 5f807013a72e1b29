/*
 * Student's t, for means of few values, and the ratio of two such means. Pure functions.
 */
#ifndef PVCBENCH_STUDENT_H
#define PVCBENCH_STUDENT_H

#include "base/base.h"

/* How likely |t| is larger than this one; degrees of freedom need not be whole. */
double student_beyond(double t, double degrees);

/* The t that |t| exceeds with this probability, 0 < beyond < 1. */
double student_quantile(double beyond, double degrees);

/* Values that came one by one (Welford, "Note on a method for calculating corrected sums", 1962);
 * all zero: none. */
struct sample {
	unsigned n;
	double mean;
	double squares; /* of the distances from it */
};

void sample_add(struct sample *sample, double value);

/* Of mean a / mean b; low to high holds that of the populations but for the probability beyond. */
struct ratio {
	double value;
	double low, high;
};

/*
 * By Fieller's theorem ("Some problems in interval estimation", Journal of the Royal Statistical
 * Society B 16, 1954), for two variances, with the degrees of freedom of Welch and Satterthwaite.
 * False where a sample has fewer than two values or b's mean is not above 0. high is INFINITY,
 * low 0, where b's mean may be 0.
 */
bool ratio_of_means(const struct sample *a, const struct sample *b, double beyond,
                    struct ratio *ratio);

#endif
