/*
 * What a comparison says in sentences: what was compared, what differs but the volume, which
 * differences are shown, which gates hold.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "out/compare_part.h"
#include "out/text.h"

#define LINE_MAX  2048
#define NAMED_MAX 8 /* tests in a line; of others how many */

struct writer {
	FILE *out;
	const struct compare *compare;
	const struct compare_style *style;
};

static void line(const struct writer *w, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void line(const struct writer *w, const char *fmt, ...)
{
	char text[LINE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	compare_clean(text);
	fputs(w->style->bullet, w->out);
	if (w->style->markdown)
		compare_write_escaped(w->out, text);
	else
		fputs(text, w->out);
	fputc('\n', w->out);
}

/* ---- before the table ---- */

static void append_site(const struct compare_result *r, char *out, size_t size)
{
	for (unsigned i = 0; i < COMPARE_SITE_ROWS; i++) {
		char value[COMPARE_VALUE_MAX];

		if (r->site[i].number || r->site[i].text[0])
			text_append(out, size, ", %s %s", compare_site[i].name,
			            compare_value_text(&compare_site[i], &r->site[i], value));
	}
}

static void write_result(const struct writer *w, unsigned i)
{
	const struct compare_result *r = w->compare->results[i];
	char text[LINE_MAX] = "";

	text_append(text, sizeof(text), "'%s'%s: run %s", r->label,
	            i == w->compare->baseline ? " (baseline)" : "", r->id[0] ? r->id : "unknown");
	if (r->started[0])
		text_append(text, sizeof(text), " of %s", r->started);
	if (r->node[0])
		text_append(text, sizeof(text), ", node %s", r->node);
	append_site(r, text, sizeof(text));
	if (r->limits[0])
		text_append(text, sizeof(text), "; published: %s", r->limits);
	line(w, "%s", text);
}

/* Which tests it is true of. */
static void append_tests(const struct compare *c, const struct compare_difference *d, char *out,
                         size_t size)
{
	unsigned alike = 0, n = 0;

	for (unsigned t = 0; t < c->n_tests; t++) {
		n += c->results[d->result]->entries[t] != NULL;
		if (!compare_differs_alike(c, d, t))
			continue;
		if (alike++ < NAMED_MAX)
			text_append(out, size, "%s%s", alike > 1 ? ", " : "", c->tests[t]);
	}
	if (alike > 1 && alike == n)
		snprintf(out, size, "all its tests");
	else if (alike > NAMED_MAX)
		text_append(out, size, " and %u more", alike - NAMED_MAX);
}

static void write_difference(void *arg, const struct compare_difference *d)
{
	const struct writer *w = arg;
	const struct compare *c = w->compare;
	char here[COMPARE_VALUE_MAX], there[COMPARE_VALUE_MAX], tests[LINE_MAX / 2] = "";

	if (d->test < COMPARE_TESTS_MAX)
		append_tests(c, d, tests, sizeof(tests));
	line(w, "DIFFERS: %s: %s in '%s', %s in '%s'%s%s%s", d->condition->name,
	     compare_value_text(d->condition, d->here, here), c->results[d->result]->label,
	     compare_value_text(d->condition, d->there, there), c->results[c->baseline]->label,
	     *tests ? " (" : "", tests, *tests ? ")" : "");
}

void compare_write_head(FILE *out, const struct compare *c, const struct compare_style *style)
{
	struct writer w = {out, c, style};

	for (unsigned i = 0; i < c->n_results; i++)
		write_result(&w, i);
	compare_each_difference(c, write_difference, &w);
	for (unsigned i = 0; i < c->n_notes; i++)
		line(&w, "note: %s", c->notes[i]);
}

/* ---- behind the table ---- */

static const char *const claim_words[] = {
        [CLAIM_NO_DIFFERENCE] = "no difference shown",
        [CLAIM_HIGHER] = "higher",
        [CLAIM_LOWER] = "lower",
};

static void write_claims(void *arg, const struct compare_row *row)
{
	const struct writer *w = arg;
	const struct compare *c = w->compare;

	for (unsigned f = 0; row->op && f < COMPARE_FIGURES; f++) {
		const struct compare_cell *cell = &row->op->cell[f];
		char ratio[UNITS_TEXT_MAX], low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];

		if (cell->claim < CLAIM_NO_DIFFERENCE)
			continue;
		line(w, "  %s.%s.%s: '%s': %s: %s times (%s to %s)", c->tests[row->test],
		     stats_op_name[row->which], compare_figure_names[f],
		     c->results[row->result]->label, claim_words[cell->claim],
		     compare_ratio_text(cell->ratio, ratio), compare_ratio_text(cell->low, low),
		     compare_ratio_text(cell->high, high));
	}
}

static void write_differences(struct writer *w)
{
	const struct compare *c = w->compare;

	if (c->n_intervals) {
		line(w,
		     "differences to '%s' of more than %.0f %%, by Fieller's interval of the ratio "
		     "of means, %.0f %% sure for all %u together:",
		     c->results[c->baseline]->label, 100 * COMPARE_DIFFERENCE,
		     100 * COMPARE_CONFIDENCE, c->n_intervals);
		compare_each_row(c, write_claims, w);
	}
	if (c->n_too_few)
		line(w,
		     "differences: none is claimed of %u pair%s of figures with fewer than %u runs "
		     "on a side (repeat: %u): chance may explain them",
		     c->n_too_few, c->n_too_few > 1 ? "s" : "", COMPARE_RUNS_MIN, COMPARE_RUNS_MIN);
}

static void gate_value(const struct expect *expect, double value, char *out)
{
	if (isnan(value) || isinf(value))
		snprintf(out, UNITS_TEXT_MAX, "unknown");
	else if (expect->metric == METRIC_COUNT)
		snprintf(out, UNITS_TEXT_MAX, "%.6g", value);
	else if (expect->metric == METRIC_IOPS)
		compare_figure_text(COMPARE_IOPS, value, out);
	else if (expect->metric == METRIC_BW)
		compare_figure_text(COMPARE_BW, value, out);
	else
		compare_figure_text(COMPARE_P50, value, out);
}

static void write_gate(const struct writer *w, const struct compare_gate *gate)
{
	const struct compare *c = w->compare;
	bool any = false;

	for (unsigned i = 0; i < c->n_results; i++) {
		char value[UNITS_TEXT_MAX], base[UNITS_TEXT_MAX];

		if (!gate->of[i].judged)
			continue;
		any = true;
		gate_value(&gate->beside.expect, gate->of[i].outcome.value, value);
		gate_value(&gate->beside.expect,
		           gate->of[c->baseline].low.n ? gate->of[c->baseline].low.mean : NAN,
		           base);
		line(w, "fail-if: %s: %s in '%s' (%s%s%s)", gate->text,
		     compare_gate_words[gate->of[i].outcome.result], c->results[i]->label, value,
		     gate->beside.factor > 0 ? ", baseline " : "",
		     gate->beside.factor > 0 ? base : "");
	}
	if (!any)
		line(w, "fail-if: %s: %s", gate->text, compare_gate_words[EXPECT_NOT_JUDGED]);
}

void compare_write_tail(FILE *out, const struct compare *c, const struct compare_style *style)
{
	struct writer w = {out, c, style};

	line(&w,
	     "*: the best of its test, which need not be a difference. ratio: to the baseline's; "
	     "of latencies less is better.");
	line(&w, "of limit: of what is published for the class. -: not measured, or fewer than 10 "
	         "samples beyond it.");
	write_differences(&w);
	for (unsigned i = 0; i < c->n_gates; i++)
		write_gate(&w, &c->gates[i]);
}
