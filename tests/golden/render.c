/* A result as the program shows it: render text|lines|message|metrics|json FILE */
/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c measure/student.c
 * out/conditions.c out/curve.c out/dbench.c out/emit.c out/entities.c out/figures.c out/hops.c
 * out/json.c out/json_conditions.c out/json_derived.c out/json_hops.c out/json_table.c
 * out/json_test.c out/member.c out/metrics.c out/persist.c out/remark.c out/repeats.c out/row.c
 * out/search.c out/table.c out/text.c plan/expect.c plan/plan.c plan/published.c result/entities.c
 * result/hops.c result/knee.c result/repeats.c result/result.c result/search.c */
#include <string.h>

#include "out/json.h"
#include "out/metrics.h"
#include "out/text.h"

static void write_lines(FILE *out, const struct result *result)
{
	for (unsigned i = 0; i < result->n_tests; i++)
		json_write_line(out, result, &result->tests[i]);
}

static const struct {
	const char *name;
	void (*write)(FILE *out, const struct result *result);
} faces[] = {
        {"text", text_write},       {"lines", write_lines}, {"message", text_write_termination},
        {"metrics", metrics_write}, {"json", json_write},
};

static char text[16 * MIB];

int main(int argc, char **argv)
{
	struct result result;
	struct err err;
	FILE *in = argc == 3 ? fopen(argv[2], "re") : NULL;
	size_t size = in ? fread(text, 1, sizeof(text), in) : 0;

	if (!in || json_read(&result, text, size, &err)) {
		fprintf(stderr, "%s\n", in ? err.text : "usage: render FACE FILE");
		return 2;
	}
	fclose(in);
	for (unsigned i = 0; i < ARRAY_SIZE(faces); i++)
		if (!strcmp(faces[i].name, argv[1]))
			faces[i].write(stdout, &result);
	result_destroy(&result);
	return 0;
}
