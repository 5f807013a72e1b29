/*
 * dbench's block: four lines that scripts know, so they keep their form whatever
 * happened. A line none of whose tests were run is left out, as DBENCH_QUICK does. A
 * half that could not be measured is "NaN", which has no digit and no slash in it
 * and which number parsers read as what it is.
 *
 * With several targets there is a block for each, in the plan's order, each
 * under a line that names its target.
 */
#include <ctype.h>
#include <string.h>

#include "base/units.h"
#include "out/text.h"

#define NO_FIGURE "NaN"

/* "/mnt/my.share/" -> "my_share", as a list of targets names its tests. */
static void target_word(const char *path, char *out, size_t size)
{
	size_t end = strlen(path);

	while (end && path[end - 1] == '/')
		end--;

	size_t start = end;

	while (start && path[start - 1] != '/')
		start--;
	snprintf(out, size, "%.*s", (int)(end - start), path + start);
	for (; *out; out++)
		if (!isalnum((unsigned char)*out) && *out != '-')
			*out = '_';
}

/* Whether the test is the one that dbench knows as `name`, alone or made by a list of targets. */
static bool is_named(const struct test_result *tr, const char *name)
{
	char word[PLAN_NAME_MAX];
	size_t length = strlen(name);

	if (!strcmp(tr->name, name))
		return true;
	target_word(tr->target, word, sizeof(word));
	return !strncmp(tr->name, name, length) && tr->name[length] == '-' &&
	       !strcmp(tr->name + length + 1, word);
}

static const struct test_result *find_test(const struct result *result, const char *target,
                                           const char *name)
{
	for (unsigned i = 0; i < result->n_tests; i++) {
		const struct test_result *tr = &result->tests[i];

		if (!strcmp(tr->target, target) && is_named(tr, name))
			return tr;
	}
	return NULL;
}

static char *figure_iops(const struct test_result *tr, enum stats_op op, char *out)
{
	return units_format_iops(test_result_iops(tr, op), out);
}

static char *figure_bw(const struct test_result *tr, enum stats_op op, char *out)
{
	return units_format_bw(test_result_bw(tr, op), out);
}

static char *figure_usec(const struct test_result *tr, enum stats_op op, char *out)
{
	const struct hist *h = &tr->stats->op[op].latency;

	if (h->count)
		snprintf(out, UNITS_TEXT_MAX, "%.2f", hist_mean(h) / NSEC_PER_USEC);
	else
		snprintf(out, UNITS_TEXT_MAX, NO_FIGURE);
	return out;
}

/* What two tests say (or one that reads and writes): prefix, reads, between, writes. */
struct part {
	const char *prefix, *read_test, *between, *write_test;
	char *(*figure)(const struct test_result *tr, enum stats_op op, char *out);
};

static const struct part lines[][2] = {
        {{"Random Read/Write IOPS: ", "read-iops", "/", "write-iops", figure_iops},
         {". BW: ", "read-bw", " / ", "write-bw", figure_bw}},
        {{"Average Latency (usec) Read/Write: ", "read-latency", "/", "write-latency",
          figure_usec}},
        {{"Sequential Read/Write: ", "read-seq", " / ", "write-seq", figure_bw}},
        {{"Mixed Random Read/Write IOPS: ", "mixed", "/", "mixed", figure_iops}},
};

static bool has_line(const struct result *result, const char *target, const struct part *parts)
{
	for (unsigned i = 0; i < ARRAY_SIZE(lines[0]) && parts[i].prefix; i++)
		if (find_test(result, target, parts[i].read_test) ||
		    find_test(result, target, parts[i].write_test))
			return true;
	return false;
}

static bool has_block(const struct result *result, const char *target)
{
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++)
		if (has_line(result, target, lines[i]))
			return true;
	return false;
}

static void write_half(FILE *out, const struct part *part, const struct test_result *tr,
                       enum stats_op op)
{
	char text[UNITS_TEXT_MAX];

	if (tr && tr->status != STATUS_FAILED && test_result_measured(tr, op))
		fputs(part->figure(tr, op, text), out);
	else
		fputs(NO_FIGURE, out);
}

static void write_line(FILE *out, const struct result *result, const char *target,
                       const struct part *parts)
{
	for (unsigned i = 0; i < ARRAY_SIZE(lines[0]) && parts[i].prefix; i++) {
		fputs(parts[i].prefix, out);
		write_half(out, &parts[i], find_test(result, target, parts[i].read_test),
		           STATS_READ);
		fputs(parts[i].between, out);
		write_half(out, &parts[i], find_test(result, target, parts[i].write_test),
		           STATS_WRITE);
	}
	fputc('\n', out);
}

static void write_block(FILE *out, const struct result *result, const char *target)
{
	fputs("==================\n= Dbench Summary =\n==================\n", out);
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++)
		if (has_line(result, target, lines[i]))
			write_line(out, result, target, lines[i]);
}

/* Whether test i is the first one of its target. */
static bool first_of_target(const struct result *result, unsigned i)
{
	for (unsigned j = 0; j < i; j++)
		if (!strcmp(result->tests[j].target, result->tests[i].target))
			return false;
	return true;
}

void text_write_dbench(FILE *out, const struct result *result)
{
	unsigned n = 0;

	for (unsigned i = 0; i < result->n_tests; i++)
		n += first_of_target(result, i) && has_block(result, result->tests[i].target);
	for (unsigned i = 0; i < result->n_tests; i++) {
		const char *target = result->tests[i].target;

		if (!first_of_target(result, i) || !has_block(result, target))
			continue;
		if (n > 1)
			fprintf(out, "target: %s\n", target);
		write_block(out, result, target);
	}
}
