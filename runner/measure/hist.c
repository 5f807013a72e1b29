/*
 * A bucket is found from its index alone: the index holds the power of two (its
 * upper part) and the place within it (its lower seven bits). So a histogram is
 * one flat array, merging is addition, and a percentile is one walk.
 *
 *	index = shift * 128 + (value >> shift),  128 <= value >> shift <= 255
 *	low   = ((index mod 128) + 128) << shift, shift = index / 128 - 1
 */
#include "measure/hist.h"

#include <assert.h>
#include <math.h>

static unsigned bucket_shift(unsigned index)
{
	return index < HIST_SUB ? 0 : (index >> HIST_SUB_BITS) - 1;
}

uint64_t hist_bucket_low(unsigned index)
{
	assert(index < HIST_BUCKETS);
	if (index < HIST_SUB)
		return index;
	return (uint64_t)((index & (HIST_SUB - 1)) + HIST_SUB) << bucket_shift(index);
}

uint64_t hist_bucket_width(unsigned index)
{
	assert(index < HIST_BUCKETS);
	return 1ull << bucket_shift(index);
}

static uint64_t bucket_middle(unsigned index)
{
	return hist_bucket_low(index) + hist_bucket_width(index) / 2;
}

void hist_merge(struct hist *dst, const struct hist *src)
{
	if (!src->count)
		return;
	if (!dst->count || src->min < dst->min)
		dst->min = src->min;
	dst->max = max_u64(dst->max, src->max);
	dst->count += src->count;
	dst->sum += src->sum;
	dst->overflow += src->overflow;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		dst->bucket[i] += src->bucket[i];
}

/*
 * The number, from 1, of the sample that answers a percentile: the smallest
 * rank that covers `percent` of all. In whole numbers of 10^-7 percent, since
 * 99.9 is no binary fraction and 99.9 % of 1000 must be sample 999, not 1000.
 */
static uint64_t percentile_rank(uint64_t count, double percent)
{
	const uint64_t whole = 1000000000;
	uint64_t part = (uint64_t)llround(percent * 1e7);
	/* count * part / whole, rounded up, without leaving 64 bits */
	uint64_t rank = count / whole * part + (count % whole * part + whole - 1) / whole;

	return rank ? rank : 1;
}

uint64_t hist_percentile(const struct hist *h, double percent)
{
	assert(percent > 0 && percent <= 100);
	if (!h->count)
		return 0;

	uint64_t rank = percentile_rank(h->count, percent);
	uint64_t seen = 0;

	if (rank >= h->count)
		return h->max;
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= rank)
			return max_u64(h->min, min_u64(h->max, bucket_middle(i)));
	}
	return h->max;
}

uint64_t hist_count_below(const struct hist *h, uint64_t value)
{
	unsigned end = value >> HIST_MAX_BITS ? HIST_BUCKETS : hist_index(value);
	uint64_t count = 0;

	for (unsigned i = 0; i < end; i++)
		count += h->bucket[i];
	return count;
}

bool hist_percentile_carried(const struct hist *h, double percent)
{
	assert(percent > 0 && percent <= 100);
	return h->count && h->count - percentile_rank(h->count, percent) >= HIST_BEYOND_MIN;
}

double hist_mean(const struct hist *h)
{
	return h->count ? (double)h->sum / (double)h->count : 0;
}

double hist_stddev(const struct hist *h)
{
	if (h->count < 2)
		return 0;

	double mean = hist_mean(h);
	double beyond = (double)h->max - mean;
	double squares = (double)h->overflow * beyond * beyond;

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		double off = (double)bucket_middle(i) - mean;

		if (h->bucket[i])
			squares += (double)h->bucket[i] * off * off;
	}
	return sqrt(squares / (double)(h->count - 1));
}
