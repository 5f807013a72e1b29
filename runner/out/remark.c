/*
 * Tests of a plan mostly have the same to say: each remark is a line once, at the first
 * test that says it, with the names of those that do (or, if fewer, of those that do not).
 */
#include <string.h>

#include "out/summary.h"

#define REMARKS_MAX 64 /* different ones of a kind; no plan that a person wrote has more */

static bool says(const struct test_result *tr, remark_fn *remark, const char *text)
{
	for (unsigned index = 0;; index++) {
		char other[REMARK_MAX];

		*other = '\0';
		remark(tr, index, other, sizeof(other));
		if (!*other || !strcmp(other, text))
			return *other;
	}
}

/* " (read-iops, mixed)" or " (all but mixed)": who says this; nothing where all do. */
static void write_who(FILE *out, const struct result *result, remark_fn *remark, const char *text)
{
	unsigned n = 0, written = 0;

	for (unsigned i = 0; i < result->n_tests; i++)
		n += says(&result->tests[i], remark, text);
	if (n == result->n_tests)
		return;

	bool most = n > result->n_tests - n;

	for (unsigned i = 0; i < result->n_tests; i++)
		if (says(&result->tests[i], remark, text) != most)
			fprintf(out, "%s%s",
			        written++ ? ", "
			        : most    ? " (all but "
			                  : " (",
			        result->tests[i].name);
	fputc(')', out);
}

/* Whether one of the tests before the i-th says this, or the i-th itself before its index-th. */
static bool said_before(const struct result *result, remark_fn *remark, const char *text,
                        unsigned i, unsigned index)
{
	for (unsigned j = 0; j < i; j++)
		if (says(&result->tests[j], remark, text))
			return true;
	for (unsigned k = 0; k < index; k++) {
		char other[REMARK_MAX];

		*other = '\0';
		remark(&result->tests[i], k, other, sizeof(other));
		if (!strcmp(other, text))
			return true;
	}
	return false;
}

void remarks_write(FILE *out, const struct result *result, const char *title, remark_fn *remark)
{
	unsigned lines = 0;

	for (unsigned i = 0; i < result->n_tests; i++) {
		for (unsigned index = 0;; index++) {
			char text[REMARK_MAX];

			*text = '\0';
			remark(&result->tests[i], index, text, sizeof(text));
			if (!*text)
				break;
			if (said_before(result, remark, text, i, index))
				continue;
			if (lines++ == REMARKS_MAX) {
				fprintf(out, "%sand more: the JSON has all\n", title);
				return;
			}
			fprintf(out, "%s%s", title, text);
			write_who(out, result, remark, text);
			fputc('\n', out);
		}
	}
}
