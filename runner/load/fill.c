/*
 * Random data.
 */
#include "load/fill.h"

#include <string.h>

/* Any memory as vectors of words; compilers split it into what the CPU has. */
typedef uint64_t words __attribute__((vector_size(64), aligned(8), may_alias));

void fill_random(struct random *random, void *buf, size_t bytes)
{
	unsigned char *out = buf;

	for (; bytes; out += sizeof(uint64_t)) {
		uint64_t word = random_next(random);
		size_t n = bytes < sizeof(word) ? bytes : sizeof(word);

		memcpy(out, &word, n);
		bytes -= n;
	}
}

void fill_renew(void *buf, size_t bytes, uint64_t key, enum fill_share share)
{
	const words keys = {key, key, key, key, key, key, key, key};
	size_t whole = bytes / sizeof(words), step = FILL_ALL / share;
	unsigned char *tail = (unsigned char *)buf + whole * sizeof(words);
	words *out = buf;

	for (size_t i = 0; i < whole; i += step)
		out[i] ^= keys;
	for (size_t i = 0; i < bytes % sizeof(words); i++)
		tail[i] ^= (unsigned char)(key >> i % 8 * 8);
}
