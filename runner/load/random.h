/*
 * Random numbers for offsets, directions and data: xoshiro256++ (Blackman and
 * Vigna, "Scrambled linear pseudorandom number generators", 2019), seeded by
 * splitmix64. Not for secrets.
 */
#ifndef PVCBENCH_RANDOM_H
#define PVCBENCH_RANDOM_H

#include "base/base.h"

struct random {
	uint64_t s[4];
};

/* Also a mixing function: a bijection of 64 bits. */
static inline uint64_t random_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* Streams of one seed are independent of each other. */
static inline void random_seed(struct random *r, uint64_t seed, uint64_t stream)
{
	uint64_t x = random_mix(seed) ^ random_mix(~stream);

	for (unsigned i = 0; i < 4; i++)
		r->s[i] = x = random_mix(x);
}

static inline uint64_t random_rotate(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static inline uint64_t random_next(struct random *r)
{
	uint64_t *s = r->s;
	uint64_t result = random_rotate(s[0] + s[3], 23) + s[0];
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = random_rotate(s[3], 45);
	return result;
}

/* Evenly in [0, n); the bias of at most n / 2^64 cannot be seen. */
static inline uint64_t random_below(struct random *r, uint64_t n)
{
	return (uint64_t)(((uint128)random_next(r) * n) >> 64);
}

/* Evenly in (0, 1). */
static inline double random_unit(struct random *r)
{
	return ((double)(random_next(r) >> 11) + 0.5) * 0x1.0p-53;
}

#endif
