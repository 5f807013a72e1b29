/*
 * What became of files that outlive the run: a line for each test of kind persist.
 */
#include <string.h>

#include "base/units.h"
#include "out/summary.h"
#include "out/text.h"

void text_step(const struct test *test, char *out, size_t size)
{
	char text[UNITS_TEXT_MAX];

	text_append(out, size, "%s '%s'", plan_step_names[test->step], test->key);
	if (test->step == STEP_WRITE)
		text_append(out, size, ", %s", text_size(test->key_bytes, text));
	else if (test->wait_ns)
		text_append(out, size, ", at most %s", units_format_time(test->wait_ns, text));
}

/* Who wrote it, of one that was found. */
static void append_writer(const struct persist_result *p, char *out, size_t size)
{
	char bytes[UNITS_TEXT_MAX], age[UNITS_TEXT_MAX], took[UNITS_TEXT_MAX];

	text_append(out, size, "'%s' is there: %s as written %s before by %s, read in %s", p->key,
	            text_size(p->bytes, bytes), units_format_time(p->age_ns, age),
	            or_unknown(p->host), units_format_time(p->took_ns, took));
}

void persist_headline(const struct persist_result *p, char *out, size_t size)
{
	char bytes[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];

	switch (p->step) {
	case STEP_WRITE:
		text_append(out, size, "wrote '%s': %s and synced in %s", p->key,
		            text_size(p->bytes, bytes), units_format_time(p->took_ns, time));
		break;
	case STEP_EXPECT:
		append_writer(p, out, size);
		break;
	case STEP_EXPECT_ABSENT:
		text_append(out, size, "'%s' is not there, in %s", p->key,
		            units_format_time(p->waited_ns, time));
		break;
	default:
		text_append(out, size, "removed '%s': %s in %s", p->key, text_size(p->bytes, bytes),
		            units_format_time(p->took_ns, time));
	}
}

static int name_width(const struct result *result)
{
	size_t width = 0;

	for (unsigned i = 0; i < result->n_tests; i++)
		if (result_is_persist(&result->tests[i]))
			width = max_u64(width, strlen(result->tests[i].name));
	return (int)width;
}

void persists_write(FILE *out, const struct result *result)
{
	int width = name_width(result);

	if (width)
		fputs("persistence:\n", out);
	for (unsigned i = 0; i < result->n_tests; i++) {
		const struct test_result *tr = &result->tests[i];
		char headline[REMARK_MAX];

		if (!result_is_persist(tr))
			continue;
		text_headline(tr, headline, sizeof(headline));
		fprintf(out, "  %-*s  %s  %s\n", width, tr->name, tr->target, headline);
	}
}
