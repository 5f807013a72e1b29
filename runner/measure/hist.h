/*
 * Log-linear histogram of nanoseconds, after HdrHistogram and fio's stat.h.
 *
 * Values below 2^7 have a bucket each. Above, every power of two is cut into
 * 2^7 = 128 equal buckets, so a bucket is at most 1/128 of its value wide; a
 * percentile answers the bucket's middle, which is off by at most
 * 1/256 = 0.39 %. min, max, sum and count are exact. Values from 2^42 ns (73
 * minutes) on are counted in `overflow` and still enter count, sum and max.
 *
 *	value        0 .. 127 | 128 .. 255 | 256 .. 511 | ... | 2^41 .. 2^42-1
 *	bucket width 1        | 1          | 2          | ... | 2^34
 *	index        0 .. 127 | 128 .. 255 | 256 .. 383 | ... | .. HIST_BUCKETS-1
 */
#ifndef PVCBENCH_HIST_H
#define PVCBENCH_HIST_H

#include "base/base.h"

#define HIST_SUB_BITS 7
#define HIST_SUB      (1u << HIST_SUB_BITS)
#define HIST_MAX_BITS 42
#define HIST_BUCKETS  ((HIST_MAX_BITS - HIST_SUB_BITS + 1u) * HIST_SUB)

/* Samples that must lie beyond a percentile for it to be carried. */
#define HIST_BEYOND_MIN 10

/* All zero is an empty histogram. */
struct hist {
	uint64_t count;    /* all recorded values, overflow included */
	uint64_t sum;      /* ns */
	uint64_t min;      /* ns; meaningful when count > 0 */
	uint64_t max;      /* ns */
	uint64_t overflow; /* values of 2^42 ns and more */
	uint64_t bucket[HIST_BUCKETS];
};

static inline unsigned hist_index(uint64_t value)
{
	if (value < HIST_SUB)
		return (unsigned)value;
	unsigned shift = 63u - (unsigned)__builtin_clzll(value) - HIST_SUB_BITS;

	return (shift << HIST_SUB_BITS) + (unsigned)(value >> shift);
}

static inline void hist_record(struct hist *h, uint64_t value)
{
	if (value >> HIST_MAX_BITS)
		h->overflow++;
	else
		h->bucket[hist_index(value)]++;
	if (!h->count || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
	h->sum += value;
}

/* The smallest value that falls into this bucket, ns. */
uint64_t hist_bucket_low(unsigned index);

/* How many values fall into it. */
uint64_t hist_bucket_width(unsigned index);

/* dst becomes the histogram of both; the order of merges does not matter. */
void hist_merge(struct hist *dst, const struct hist *src);

/*
 * The value that `percent` (0 < percent <= 100) of the samples do not exceed (the
 * nearest rank), ns, kept within [min, max]. 0 when empty; max where it lies in
 * the overflow or is the last sample.
 */
uint64_t hist_percentile(const struct hist *h, double percent);

/* Whether at least HIST_BEYOND_MIN samples lie beyond this percentile: fewer do not carry it. */
bool hist_percentile_carried(const struct hist *h, double percent);

/* How many samples lie below `value`, ns; those in its own bucket are not counted. */
uint64_t hist_count_below(const struct hist *h, uint64_t value);

/*
 * ns; 0 when empty. The deviation (of a sample, n - 1) is derived from the buckets'
 * middles and the exact mean; values in the overflow count as max.
 */
double hist_mean(const struct hist *h);
double hist_stddev(const struct hist *h);

#endif
