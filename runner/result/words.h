/*
 * Which texts were said, and how often: the same set in whatever order they came. Of more texts
 * than there are places for those that come first in the alphabet are kept.
 */
#ifndef PVCBENCH_WORDS_H
#define PVCBENCH_WORDS_H

#include "result/result.h"

#define WORDS_MAX RESULT_CONCESSIONS_MAX

struct word {
	char text[RESULT_TEXT_MAX];
	uint64_t n; /* times that it was said */
};

/* All zero is an empty set. */
struct words {
	struct word word[WORDS_MAX]; /* sorted by text */
	unsigned n;
	bool more; /* there were others */
};

/* One that is longer than a place is cut. */
void words_add(struct words *words, const char *text);

/* "a, b", or "a (3), b (1)"; "..." at its end where there is more or no room. */
void words_join(const struct words *words, bool counts, char *out, size_t size);

#endif
