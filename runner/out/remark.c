/*
 * Tests of a plan mostly have the same to say: each remark is a line once, at the first
 * test that says it, with the names of those that do (or, if fewer, of those that do not).
 */
#include <limits.h>
#include <string.h>

#include "out/summary.h"

#define NOWHERE UINT_MAX

/* The index-th remark into text; false where there is none. */
static bool get(const struct test_result *tr, remark_fn *remark, unsigned index,
                char text[REMARK_MAX])
{
	*text = '\0';
	remark(tr, index, text, REMARK_MAX);
	return *text;
}

/* The place at which a test says this. */
static unsigned find(const struct test_result *tr, remark_fn *remark, const char *text)
{
	char other[REMARK_MAX];

	for (unsigned index = 0; get(tr, remark, index, other); index++)
		if (!strcmp(other, text))
			return index;
	return NOWHERE;
}

static bool says(const struct test_result *tr, remark_fn *remark, const char *text)
{
	return find(tr, remark, text) != NOWHERE;
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

/* Whether the index-th remark of the i-th test is said here for the first time. */
static bool is_new(const struct result *result, remark_fn *remark, const char *text, unsigned i,
                   unsigned index)
{
	for (unsigned j = 0; j < i; j++)
		if (says(&result->tests[j], remark, text))
			return false;
	return find(&result->tests[i], remark, text) == index;
}

void remarks_write(FILE *out, const struct result *result, const char *title, remark_fn *remark)
{
	unsigned lines = 0;
	char text[REMARK_MAX];

	for (unsigned i = 0; i < result->n_tests; i++) {
		for (unsigned index = 0; get(&result->tests[i], remark, index, text); index++) {
			if (!is_new(result, remark, text, i, index))
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
