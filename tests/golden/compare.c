/*
 * Results beside each other as the program shows them: compare FORM BASELINE GATE FILE...
 * ("": no such baseline, no such gate).
 */
/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c measure/student.c
 * out/compare.c out/compare_data.c out/compare_table.c out/compare_words.c out/conditions.c
 * out/curve.c out/dbench.c out/emit.c out/entities.c out/figures.c out/hops.c out/json.c
 * out/json_conditions.c out/json_derived.c out/json_hops.c out/json_table.c out/json_test.c
 * out/logs.c out/member.c out/persist.c out/remark.c out/repeats.c out/row.c out/search.c
 * out/table.c out/text.c plan/expect.c plan/plan.c plan/published.c result/compare.c
 * result/compare_conditions.c result/compare_judge.c result/entities.c result/hops.c result/knee.c
 * result/repeats.c result/result.c result/search.c result/verdict.c result/verdict_cache.c
 * result/verdict_expect.c result/verdict_host.c result/verdict_pause.c result/verdict_published.c
 * result/verdict_series.c result/verdict_table.c */
#include <string.h>

#include "out/compare.h"
#include "out/logs.h"

struct reading {
	struct compare *compare;
	const char *source;
};

static void damaged(void *arg, const char *text)
{
	compare_note(((struct reading *)arg)->compare, "%s", text);
}

static int found(void *arg, struct result *result, const char *pod, const char *place,
                 struct err *err)
{
	struct reading *reading = arg;

	if (compare_add(reading->compare, result, reading->source, pod, err)) {
		err_wrap(err, "%s", place);
		damaged(arg, err->text);
	}
	return 0;
}

static enum compare_form form_of(const char *name)
{
	unsigned form = 0;

	while (strcmp(compare_form_names[form], name) != 0)
		form++;
	return (enum compare_form)form;
}

int main(int argc, char **argv)
{
	struct reading reading = {.compare = compare_new()};
	const struct logs_reader reader = {.found = found, .damaged = damaged, .arg = &reading};
	struct err err;
	int ret = argc < 5 || !reading.compare;

	if (!ret && *argv[3])
		ret = compare_add_gate(reading.compare, argv[3], &err);
	for (int i = 4; !ret && i < argc; i++) {
		reading.source = argv[i];
		ret = logs_read_file(argv[i], &reader, &err);
	}
	if (!ret)
		ret = compare_finish(reading.compare, *argv[2] ? argv[2] : NULL, &err);
	if (ret)
		fprintf(stderr, "%s\n", argc < 5 ? "compare FORM BASELINE GATE FILE..." : err.text);
	else
		compare_write(stdout, reading.compare, form_of(argv[1]));
	compare_free(reading.compare);
	return ret ? 2 : 0;
}
