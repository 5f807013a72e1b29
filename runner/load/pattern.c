/*
 * Offsets.
 *
 * Sequential requests take a ticket from a cursor, so several threads of one
 * job make one stream. Reads and writes of a mixed sequential job are two
 * streams, as in fio. A random job that must touch every block once permutes
 * its ticket, with a new permutation every pass; nothing is remembered per
 * block.
 *
 * Zipf ranks come from rejection-inversion (W. Hörmann, G. Derflinger, 1996,
 * "Rejection-inversion to generate variates from monotone discrete
 * distributions"): constant time and no table, whatever the number of blocks.
 * A rank is scattered over the file by the same permutation, so that hot blocks
 * are not neighbours.
 */
#include "load/pattern.h"

#include <assert.h>
#include <math.h>

#define FEISTEL_ROUNDS 4

/* The integral of x^-theta, and its inverse; theta = 1 is the logarithm. */
static double zipf_h(double theta, double x)
{
	return theta == 1 ? log(x) : (pow(x, 1 - theta) - 1) / (1 - theta);
}

static double zipf_h_inverse(double theta, double y)
{
	return theta == 1 ? exp(y) : pow(1 + y * (1 - theta), 1 / (1 - theta));
}

static uint64_t zipf_rank(const struct pattern *p, struct random *random)
{
	double theta = p->params.zipf_theta;

	for (;;) {
		double u = p->zipf_h_high + random_unit(random) * (p->zipf_h_low - p->zipf_h_high);
		double x = zipf_h_inverse(theta, u);
		double k = floor(x + 0.5);

		if (k < 1)
			k = 1;
		if (k > (double)p->blocks)
			k = (double)p->blocks;
		if (k - x <= p->zipf_shift || u >= zipf_h(theta, k + 0.5) - pow(k, -theta))
			return (uint64_t)k - 1;
	}
}

static void zipf_init(struct pattern *p)
{
	double theta = p->params.zipf_theta;

	p->zipf_h_low = zipf_h(theta, 1.5) - 1;
	p->zipf_h_high = zipf_h(theta, (double)p->blocks + 0.5);
	p->zipf_shift = 2 - zipf_h_inverse(theta, zipf_h(theta, 2.5) - pow(2, -theta));
}

void pattern_init(struct pattern *pattern, const struct pattern_params *params)
{
	uint64_t rounding = params->short_tail ? params->block_bytes - 1 : 0;

	*pattern = (struct pattern){
	        .params = *params,
	        .blocks = (params->bytes + rounding) / params->block_bytes,
	};
	assert(pattern->blocks > 0);
	while (pattern->half_bits < 31 && pattern->blocks >> (2 * pattern->half_bits))
		pattern->half_bits++;
	if (params->zipf_theta > 0)
		zipf_init(pattern);
}

uint64_t pattern_permute(const struct pattern *p, uint64_t block, uint64_t key)
{
	uint64_t mask = (1ull << p->half_bits) - 1;

	do {
		uint64_t left = block >> p->half_bits, right = block & mask;

		for (unsigned round = 0; round < FEISTEL_ROUNDS; round++) {
			uint64_t next =
			        left ^ (random_mix(right ^ key ^ ((uint64_t)round << 56)) & mask);

			left = right;
			right = next;
		}
		block = left << p->half_bits | right;
	} while (block >= p->blocks);
	return block;
}

static uint64_t take_ticket(_Atomic uint64_t *cursor)
{
	return atomic_fetch_add_explicit(cursor, 1, memory_order_relaxed);
}

static uint64_t random_block(struct pattern *p, struct random *random)
{
	if (p->params.every_block_once) {
		uint64_t ticket = take_ticket(&p->cursor[0]);
		uint64_t pass = ticket / p->blocks;

		return pattern_permute(p, ticket % p->blocks, random_mix(p->params.seed + pass));
	}
	if (p->params.zipf_theta > 0)
		return pattern_permute(p, zipf_rank(p, random), p->params.seed);
	return random_below(random, p->blocks);
}

static bool next_reads(const struct pattern *p, struct random *random)
{
	unsigned percent = p->params.read_percent;

	if (percent == 0 || percent == 100)
		return percent;
	return random_below(random, 100) < percent;
}

struct pattern_place pattern_next(struct pattern *p, struct random *random)
{
	const struct pattern_params *params = &p->params;
	bool read = next_reads(p, random);
	uint64_t block = params->random ? random_block(p, random)
	                                : take_ticket(&p->cursor[read ? 0 : 1]) % p->blocks;
	uint64_t at = block * params->block_bytes;

	return (struct pattern_place){
	        .offset = params->offset + at,
	        .bytes = (uint32_t)min_u64(params->block_bytes, params->bytes - at),
	        .read = read,
	};
}
