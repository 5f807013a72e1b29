/*
 * The reader of results: whatever the bytes, it says an error or gives a result
 * that can be written, and what was written reads back as the same bytes.
 */
/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c measure/student.c
 * out/conditions.c out/curve.c out/dbench.c out/emit.c out/entities.c out/figures.c out/hops.c
 * out/json.c out/json_conditions.c out/json_derived.c out/json_hops.c out/json_table.c
 * out/json_test.c out/member.c out/persist.c out/remark.c out/repeats.c out/row.c out/search.c
 * out/table.c out/text.c plan/expect.c plan/plan.c plan/published.c result/entities.c result/hops.c
 * result/knee.c result/repeats.c result/result.c result/search.c result/verdict.c
 * result/verdict_cache.c result/verdict_expect.c result/verdict_host.c result/verdict_pause.c
 * result/verdict_published.c result/verdict_series.c result/verdict_table.c */
#include <assert.h>
#include <string.h>

#include "out/json.h"
#include "out/text.h"
#include "result/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
	char *bytes;
	size_t size;
};

static struct text written(void (*write)(FILE *out, const struct result *result),
                           const struct result *result)
{
	struct text text = {0};
	FILE *out = open_memstream(&text.bytes, &text.size);

	assert(out);
	write(out, result);
	fclose(out);
	return text;
}

static void write_lines(FILE *out, const struct result *result)
{
	for (unsigned i = 0; i < result->n_tests; i++)
		json_write_line(out, result, &result->tests[i]);
}

/* Every line is within its bound and stays one line. */
static void check_lines(const struct result *result)
{
	struct text lines = written(write_lines, result);

	for (char *line = lines.bytes; *line; line = strchr(line, '\n') + 1) {
		assert(!strncmp(line, RESULT_LINE_PREFIX, strlen(RESULT_LINE_PREFIX)));
		assert((size_t)(strchr(line, '\n') + 1 - line) <= RESULT_LINE_MAX);
	}
	free(lines.bytes);
}

static void check_round_trip(const struct result *result)
{
	struct text first = written(json_write, result);
	struct text second;
	struct result again;
	struct err err;
	int ret = json_read(&again, first.bytes, first.size, &err);

	assert(!ret);
	second = written(json_write, &again);
	assert(!strcmp(first.bytes, second.bytes));
	result_destroy(&again);
	free(first.bytes);
	free(second.bytes);
}

static void check_texts(struct result *result)
{
	struct text text = written(text_write, result);
	struct text message = written(text_write_termination, result);

	assert(message.size <= TERMINATION_MAX);
	assert(!strchr(text.bytes, '\033'));
	free(text.bytes);
	free(message.bytes);
	for (unsigned i = 0; i < result->n_tests; i++)
		verdict_judge(&result->tests[i], result_conditions(result, &result->tests[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct result result;
	struct err err;

	if (json_read(&result, (const char *)data, size, &err)) {
		assert(!result.tests);
		assert(memchr(err.text, '\0', sizeof(err.text)));
		return 0;
	}
	check_round_trip(&result);
	check_lines(&result);
	check_texts(&result);
	assert(result_exit_code(&result) >= 0);
	result_destroy(&result);
	return 0;
}
