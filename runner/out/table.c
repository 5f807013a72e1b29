/*
 * The table of the log: walked twice, to measure and to print.
 */
#include <string.h>

#include "out/row.h"
#include "out/summary.h"

static void each_row(const struct result *result, row_fn *visit, void *arg)
{
	for (unsigned i = 0; i < result->n_tests; i++)
		row_each(&result->tests[i], visit, arg);
}

struct table {
	FILE *out;
	unsigned n_rows;
	size_t width[ROW_COLUMNS];
};

static void measure_row(void *arg, const struct row *row)
{
	struct table *table = arg;

	table->n_rows++;
	for (unsigned i = 0; i < ROW_COLUMNS; i++) {
		char cell[ROW_CELL_MAX] = "";

		row_columns[i].cell(row, cell);
		table->width[i] = max_u64(table->width[i], strlen(cell));
	}
}

static void write_cell(const struct table *table, unsigned i, const char *text)
{
	int width = (int)table->width[i];

	if (i + 1 == ROW_COLUMNS)
		fprintf(table->out, "%s\n", text);
	else
		fprintf(table->out, "%*s  ", row_columns[i].right ? width : -width, text);
}

static void write_row(void *arg, const struct row *row)
{
	for (unsigned i = 0; i < ROW_COLUMNS; i++) {
		char cell[ROW_CELL_MAX] = "";

		row_columns[i].cell(row, cell);
		write_cell(arg, i, cell);
	}
}

void table_write(FILE *out, const struct result *result)
{
	struct table table = {.out = out};

	if (!result->n_tests) {
		fputs("No test was run.\n", out);
		return;
	}
	for (unsigned i = 0; i < ROW_COLUMNS; i++)
		table.width[i] = strlen(row_columns[i].title);
	each_row(result, measure_row, &table);
	if (!table.n_rows)
		return;
	for (unsigned i = 0; i < ROW_COLUMNS; i++)
		write_cell(&table, i, row_columns[i].title);
	each_row(result, write_row, &table);
	fputs("\"-\" as a latency: fewer than 10 samples lie beyond it. \"-\" as a limit: none "
	      "was\n"
	      "seen of those that can be (docs/measuring.md, Verdicts).\n",
	      out);
}
