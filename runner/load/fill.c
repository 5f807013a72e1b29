/*
 * Data that is new with every write: xorshift128+ (S. Vigna, "Further
 * scramblings of Marsaglia's xorshift generators", 2017), four lanes wide.
 */
#include "load/fill.h"

#include <string.h>

#include "load/random.h"

void fill_init(struct fill *fill, uint64_t seed, uint64_t stream)
{
	struct random random;

	random_seed(&random, seed, stream);
	for (unsigned i = 0; i < FILL_LANES; i++) {
		fill->s0[i] = random_next(&random);
		fill->s1[i] = random_next(&random) | 1; /* never all zero */
	}
}

static void fill_words(struct fill *f, uint64_t words[FILL_LANES])
{
	for (unsigned i = 0; i < FILL_LANES; i++) {
		uint64_t a = f->s0[i], b = f->s1[i];

		a ^= a << 23;
		f->s0[i] = b;
		f->s1[i] = a ^ b ^ (a >> 18) ^ (b >> 5);
		words[i] = f->s1[i] + b;
	}
}

void fill_random(struct fill *fill, void *buf, size_t bytes)
{
	struct fill f = *fill;
	uint64_t words[FILL_LANES];
	unsigned char *out = buf;

	for (; bytes >= sizeof(words); out += sizeof(words), bytes -= sizeof(words)) {
		fill_words(&f, words);
		memcpy(out, words, sizeof(words));
	}
	if (bytes) {
		fill_words(&f, words);
		memcpy(out, words, bytes);
	}
	*fill = f;
}
