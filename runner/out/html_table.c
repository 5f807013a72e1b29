/*
 * The tables of the page. They say all that the charts show.
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "out/html_part.h"
#include "out/row.h"
#include "out/text.h"

/* ---- every test by result ---- */

static double value_iops(const struct test_result *tr, enum stats_op op)
{
	return test_result_iops(tr, op);
}

static double value_bw(const struct test_result *tr, enum stats_op op)
{
	return op == STATS_SYNC ? NAN : test_result_bw(tr, op);
}

static double percentile(const struct test_result *tr, enum stats_op op, double percent)
{
	const struct hist *h = &tr->stats->op[op].latency;

	return hist_percentile_carried(h, percent) ? (double)hist_percentile(h, percent) : NAN;
}

static double value_p50(const struct test_result *tr, enum stats_op op)
{
	return percentile(tr, op, 50);
}

static double value_p99(const struct test_result *tr, enum stats_op op)
{
	return percentile(tr, op, 99);
}

static char *time_text(double ns, char *out)
{
	return units_format_time((uint64_t)llround(ns), out);
}

static const struct figure {
	const char *title;
	bool more_is_better;
	double (*of)(const struct test_result *tr, enum stats_op op); /* NAN: there is none */
	char *(*text)(double value, char *out);
} figures[] = {
        {"IOPS", true, value_iops, text_rate},
        {"Bandwidth", true, value_bw, units_format_bw},
        {"Latency, p50", false, value_p50, time_text},
        {"Latency, p99", false, value_p99, time_text},
};

/* Of a section in a result, the mean over its repeats; NAN where nothing was measured. */
static double value_in(const struct html_page *page, unsigned section, const struct result *result,
                       enum stats_op op, const struct figure *figure)
{
	double sum = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < result->n_tests; i++) {
		const struct test_result *tr = &result->tests[i];

		if (!html_is_in(page, section, tr) || !result_has_load(tr) ||
		    !test_result_measured(tr, op))
			continue;
		sum += figure->of(tr, op);
		n++;
	}
	return n ? sum / n : NAN;
}

static void write_value(FILE *out, const struct figure *figure, double value, bool best)
{
	char text[UNITS_TEXT_MAX];

	if (isnan(value))
		fputs("<td>-</td>", out);
	else
		fprintf(out, "<td%s>%s</td>", best ? " class=\"best\"" : "",
		        figure->text(value, text));
}

/* A line, where any result has the figure. */
static void write_values(FILE *out, const struct html_page *page, unsigned section,
                         enum stats_op op, const struct figure *figure)
{
	double values[HTML_RESULTS_MAX], best = NAN;
	unsigned known = 0;

	for (unsigned i = 0; i < page->n; i++) {
		double value = value_in(page, section, page->results[i], op, figure);

		values[i] = value;
		if (isnan(value))
			continue;
		known++;
		if (isnan(best) || (figure->more_is_better ? value > best : value < best))
			best = value;
	}
	if (!known)
		return;
	fprintf(out, "<tr><th scope=\"row\"><a href=\"#test-%u\">", section);
	html_text(out, page->sections[section].name);
	fprintf(out, "</a> %s</th>", stats_op_name[op]);
	for (unsigned i = 0; i < page->n; i++)
		write_value(out, figure, values[i], known > 1 && values[i] == best);
	fputs("</tr>\n", out);
}

static void write_figure(FILE *out, const struct html_page *page, const struct figure *figure)
{
	fprintf(out,
	        "<div class=\"scroll figure\" tabindex=\"0\"><table>\n<caption>%s</caption>\n"
	        "<thead><tr><th scope=\"col\">Test</th>",
	        figure->title);
	for (unsigned i = 0; i < page->n; i++) {
		fputs("<th scope=\"col\">", out);
		html_text(out, page->labels[i]);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
	for (unsigned section = 0; section < page->n_sections; section++)
		for (unsigned op = 0; op < STATS_OPS; op++)
			write_values(out, page, section, (enum stats_op)op, figure);
	fputs("</tbody>\n</table></div>\n", out);
}

void html_write_overview(FILE *out, const struct html_page *page)
{
	for (unsigned i = 0; i < ARRAY_SIZE(figures); i++)
		write_figure(out, page, &figures[i]);
}

/* ---- one test, number by number ---- */

struct lines {
	FILE *out;
	const char *label;
};

static void write_line(void *arg, const struct row *row)
{
	const struct lines *lines = arg;

	fputs("<tr><th scope=\"row\">", lines->out);
	html_text(lines->out, lines->label);
	fputs("</th>", lines->out);
	for (unsigned i = 0; i < ROW_COLUMNS; i++) {
		char cell[ROW_CELL_MAX] = "";

		row_columns[i].cell(row, cell);
		fputs(row_columns[i].right ? "<td>" : "<td class=\"text\">", lines->out);
		html_text(lines->out, cell);
		fputs("</td>", lines->out);
	}
	fputs("</tr>\n", lines->out);
}

/* For each test of the section, with the name of its result. */
static void each_test(FILE *out, const struct html_page *page, unsigned section,
                      void (*visit)(FILE *out, const char *label, const struct test_result *tr))
{
	for (unsigned r = 0; r < page->n; r++)
		for (unsigned t = 0; t < page->results[r]->n_tests; t++)
			if (html_is_in(page, section, &page->results[r]->tests[t]))
				visit(out, page->labels[r], &page->results[r]->tests[t]);
}

static void write_lines(FILE *out, const char *label, const struct test_result *tr)
{
	struct lines lines = {out, label};

	row_each(tr, write_line, &lines);
}

static void write_note(FILE *out, const char *kind, const char *label, const char *test,
                       const char *what, const char *text)
{
	fprintf(out, "<li class=\"%s\"><strong>", kind);
	html_text(out, label);
	fputs("</strong>, ", out);
	html_text(out, test);
	fputs(": ", out);
	html_text(out, what);
	fputs(*text ? ": " : "", out);
	html_text(out, text);
	fputs("</li>\n", out);
}

static void write_notes(FILE *out, const char *label, const struct test_result *tr)
{
	if (tr->status == STATUS_FAILED)
		write_note(out, "failed", label, tr->name, "failed", tr->error);
	if (tr->status == STATUS_INTERRUPTED)
		write_note(out, "failed", label, tr->name, "interrupted", "");
	for (unsigned i = 0; i < tr->n_verdicts; i++)
		write_note(out, "verdict", label, tr->name, tr->verdicts[i].code,
		           tr->verdicts[i].text);
	for (unsigned i = 0; i < tr->n_expect; i++)
		write_note(out, tr->expect[i].result == EXPECT_PASS ? "passed" : "failed", label,
		           tr->name, tr->expect[i].expr, text_expect_words[tr->expect[i].result]);
}

void html_write_section(FILE *out, const struct html_page *page, unsigned section)
{
	fputs("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th "
	      "scope=\"col\">class</th>",
	      out);
	for (unsigned i = 0; i < ROW_COLUMNS; i++)
		fprintf(out, "<th scope=\"col\"%s>%s</th>",
		        row_columns[i].right ? "" : " class=\"text\"", row_columns[i].title);
	fputs("</tr></thead>\n<tbody>\n", out);
	each_test(out, page, section, write_lines);
	fputs("</tbody>\n</table></div>\n<ul class=\"notes\">\n", out);
	each_test(out, page, section, write_notes);
	fputs("</ul>\n", out);
}
