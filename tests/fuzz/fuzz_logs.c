/*
 * The reader of logs, and what becomes of the results in them: whatever the bytes, each is
 * merged or refused, and compared, and what is merged can be written and is within its bounds.
 */
/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c measure/student.c
 * measure/timeline.c out/compare.c out/compare_data.c out/compare_table.c out/compare_words.c
 * out/conditions.c out/curve.c out/dbench.c out/emit.c out/entities.c out/figures.c out/hops.c
 * out/json.c out/json_conditions.c out/json_derived.c out/json_hops.c out/json_table.c
 * out/json_test.c out/logs.c out/member.c out/persist.c out/remark.c out/repeats.c out/row.c
 * out/search.c out/table.c out/text.c plan/expect.c plan/plan.c plan/published.c result/compare.c
 * result/compare_conditions.c result/compare_judge.c result/entities.c result/hops.c result/knee.c
 * result/merge.c result/merge_codes.c result/merge_same.c result/merge_site.c result/merge_test.c
 * result/repeats.c result/result.c result/search.c result/verdict.c result/verdict_cache.c
 * result/verdict_expect.c result/verdict_host.c result/verdict_pause.c result/verdict_published.c
 * result/verdict_series.c result/verdict_table.c result/words.c */
#include <assert.h>
#include <string.h>

#include "out/compare.h"
#include "out/json.h"
#include "out/logs.h"
#include "out/text.h"
#include "result/merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sinks {
	struct merge *merge;
	struct compare *compare;
};

static int found(void *arg, struct result *result, const char *pod, const char *place,
                 struct err *err)
{
	struct sinks *sinks = arg;
	struct err refused;

	(void)err;
	assert(!strncmp(place, "log:", 4));
	assert(!pod || (*pod && !strchr(pod, '\033')));
	if (merge_add(sinks->merge, result, pod, &refused))
		assert(refused.class == ERR_PLAN);
	if (compare_add(sinks->compare, result, "log", pod, &refused))
		assert(refused.class == ERR_PLAN);
	return 0;
}

static void damaged(void *arg, const char *text)
{
	(void)arg;
	assert(!strchr(text, '\033') && !strncmp(text, "log:", 4));
}

static void write_out(const struct result *result)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct result again;
	struct err err;
	int ret;

	assert(out);
	json_write(out, result);
	fclose(out);
	ret = json_read(&again, text, size, &err);
	assert(!ret);
	result_destroy(&again);
	free(text);
	out = open_memstream(&text, &size);
	assert(out);
	text_write(out, result);
	fclose(out);
	free(text);
}

/* A line is a line, whatever the names in it. */
static void write_compared(struct compare *compare)
{
	for (unsigned form = 0; compare_form_names[form]; form++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		assert(out);
		compare_write(out, compare, (enum compare_form)form);
		fclose(out);
		assert(!strchr(text, '\033') && !strchr(text, '\a'));
		free(text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct merge *merge = merge_new();
	struct compare *compare = compare_new();
	struct sinks sinks = {merge, compare};
	const struct logs_reader reader = {.found = found, .damaged = damaged, .arg = &sinks};
	FILE *in = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	struct result result;
	struct err err;

	assert(merge && compare);
	if (compare_add_gate(compare, "read-iops.read.p99 > 2 * baseline", &err))
		abort();
	if (in) {
		int ret = logs_read(in, "log", &reader, &err);

		assert(!ret);
		fclose(in);
	}
	if (!merge_finish(merge, &result, &err)) {
		write_out(&result);
		result_destroy(&result);
	}
	merge_free(merge);
	if (!compare_finish(compare, NULL, &err))
		write_compared(compare);
	compare_free(compare);
	return 0;
}
