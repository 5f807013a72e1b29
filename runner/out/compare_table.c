/*
 * The table as people read it: aligned, or as Markdown. A list of columns drives both; it is walked
 * twice, to measure and to print.
 */
#include <math.h>
#include <string.h>

#include "out/compare_part.h"
#include "out/text.h"

#define CELL_MAX (COMPARE_LABEL_MAX + 32)

static void cell_test(const struct compare_row *row, int unused, char *out)
{
	(void)unused;
	text_append(out, CELL_MAX, "%s", row->compare->tests[row->test]);
	compare_clean(out);
}

static void cell_op(const struct compare_row *row, int unused, char *out)
{
	(void)unused;
	text_append(out, CELL_MAX, "%s", row->which == STATS_OPS ? "-" : stats_op_name[row->which]);
}

static void cell_result(const struct compare_row *row, int unused, char *out)
{
	(void)unused;
	text_append(out, CELL_MAX, "%s", row->compare->results[row->result]->label);
}

static void cell_runs(const struct compare_row *row, int unused, char *out)
{
	(void)unused;
	text_append(out, CELL_MAX, "%u", row->op ? row->op->n : 0);
}

static void cell_figure(const struct compare_row *row, int figure, char *out)
{
	compare_figure_text((enum compare_figure)figure,
	                    compare_row_mean(row, (enum compare_figure)figure), out);
	if (row->op && row->op->cell[figure].best)
		text_append(out, CELL_MAX, "*");
}

static void cell_ratio(const struct compare_row *row, int figure, char *out)
{
	if (row->result == row->compare->baseline && row->op)
		text_append(out, CELL_MAX, "base");
	else
		compare_ratio_text(row->op ? row->op->cell[figure].ratio : NAN, out);
}

static void cell_limit(const struct compare_row *row, int unused, char *out)
{
	double percent = row->op ? 100 * row->op->limit_share.mean : NAN;

	(void)unused;
	if (row->op && row->op->limit_share.n)
		text_append(out, CELL_MAX, percent < 100 ? "%.3g %%" : "%.0f %%", percent);
	else
		text_append(out, CELL_MAX, "-");
}

static void cell_remark(const struct compare_row *row, int unused, char *out)
{
	(void)unused;
	compare_row_remark(row, out, CELL_MAX);
	compare_clean(out);
}

static const struct column {
	const char *title;
	bool right;
	void (*cell)(const struct compare_row *row, int figure, char *out);
	int figure; /* enum compare_figure, of those that need one */
} columns[] = {
        {"test", false, cell_test, 0},
        {"of", false, cell_op, 0},
        {"result", false, cell_result, 0},
        {"runs", true, cell_runs, 0},
        {"IOPS", true, cell_figure, COMPARE_IOPS},
        {"ratio", true, cell_ratio, COMPARE_IOPS},
        {"bandwidth", true, cell_figure, COMPARE_BW},
        {"p50", true, cell_figure, COMPARE_P50},
        {"ratio", true, cell_ratio, COMPARE_P50},
        {"p99", true, cell_figure, COMPARE_P99},
        {"ratio", true, cell_ratio, COMPARE_P99},
        {"of limit", true, cell_limit, 0},
        {"remark", false, cell_remark, 0},
};

struct grid {
	FILE *out;
	size_t width[ARRAY_SIZE(columns)];
};

static void measure_row(void *arg, const struct compare_row *row)
{
	struct grid *grid = arg;

	for (unsigned i = 0; i < ARRAY_SIZE(columns); i++) {
		char cell[CELL_MAX] = "";

		columns[i].cell(row, columns[i].figure, cell);
		grid->width[i] = max_u64(grid->width[i], strlen(cell));
	}
}

/* No spaces at the end of a line. */
static void write_cell(const struct grid *grid, unsigned i, const char *text)
{
	int width = (int)grid->width[i];

	if (i + 1 == ARRAY_SIZE(columns))
		fprintf(grid->out, "%s%s\n", *text ? "  " : "", text);
	else
		fprintf(grid->out, "%s%*s", i ? "  " : "", columns[i].right ? width : -width, text);
}

static void write_row(void *arg, const struct compare_row *row)
{
	for (unsigned i = 0; i < ARRAY_SIZE(columns); i++) {
		char cell[CELL_MAX] = "";

		columns[i].cell(row, columns[i].figure, cell);
		write_cell(arg, i, cell);
	}
}

static const struct compare_style plain = {.bullet = ""};

void compare_write_text(FILE *out, const struct compare *c)
{
	struct grid grid = {.out = out};

	for (unsigned i = 0; i < ARRAY_SIZE(columns); i++)
		grid.width[i] = strlen(columns[i].title);
	compare_each_row(c, measure_row, &grid);
	compare_write_head(out, c, &plain);
	for (unsigned i = 0; i < ARRAY_SIZE(columns); i++)
		write_cell(&grid, i, columns[i].title);
	compare_each_row(c, write_row, &grid);
	compare_write_tail(out, c, &plain);
}

/* ---- Markdown ---- */

static const struct compare_style markdown = {.bullet = "- ", .markdown = true};

/* What begins or ends something there is no part of a name. */
void compare_write_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("|*_`<>[]\\#", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void write_markdown_row(void *arg, const struct compare_row *row)
{
	FILE *out = arg;

	fputc('|', out);
	for (unsigned i = 0; i < ARRAY_SIZE(columns); i++) {
		char cell[CELL_MAX] = "";

		columns[i].cell(row, columns[i].figure, cell);
		fputc(' ', out);
		compare_write_escaped(out, cell);
		fputs(" |", out);
	}
	fputc('\n', out);
}

void compare_write_markdown(FILE *out, const struct compare *c)
{
	compare_write_head(out, c, &markdown);
	fputs("\n|", out);
	for (unsigned i = 0; i < ARRAY_SIZE(columns); i++)
		fprintf(out, " %s |", columns[i].title);
	fputs("\n|", out);
	for (unsigned i = 0; i < ARRAY_SIZE(columns); i++)
		fputs(columns[i].right ? " --: |" : " --- |", out);
	fputc('\n', out);
	compare_each_row(c, write_markdown_row, out);
	fputc('\n', out);
	compare_write_tail(out, c, &markdown);
}
