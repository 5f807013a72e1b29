/*
 * A sorted array. What falls out at its end is larger than all that stays, then and later, so
 * what is left in the end was never out, and its count is whole.
 */
#include "result/words.h"

#include <string.h>

void words_add(struct words *words, const char *text)
{
	char cut[RESULT_TEXT_MAX] = "";
	unsigned i = 0;

	snprintf(cut, sizeof(cut), "%s", text);
	while (i < words->n && strcmp(words->word[i].text, cut) < 0)
		i++;
	if (i < words->n && !strcmp(words->word[i].text, cut)) {
		words->word[i].n++;
		return;
	}
	words->more |= words->n == WORDS_MAX;
	if (i == WORDS_MAX)
		return;
	if (words->n < WORDS_MAX)
		words->n++;
	memmove(&words->word[i + 1], &words->word[i], (words->n - i - 1) * sizeof(words->word[0]));
	memcpy(words->word[i].text, cut, sizeof(cut));
	words->word[i].n = 1;
}

void words_join(const struct words *words, bool counts, char *out, size_t size)
{
	static const char rest[] = ", ...";
	bool more = words->more;
	size_t used = 0;

	*out = '\0';
	for (unsigned i = 0; i < words->n; i++) {
		char text[RESULT_TEXT_MAX + 32], count[32] = "";
		size_t length;

		if (counts)
			snprintf(count, sizeof(count), " (%llu)",
			         (unsigned long long)words->word[i].n);
		length = (size_t)snprintf(text, sizeof(text), "%s%s%s", i ? ", " : "",
		                          words->word[i].text, count);
		if (used + length + sizeof(rest) > size) {
			more = true;
			break;
		}
		memcpy(out + used, text, length + 1);
		used += length;
	}
	if (more)
		snprintf(out + used, size - used, "%s", used ? rest : rest + 2);
}
