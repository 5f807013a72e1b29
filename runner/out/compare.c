/*
 * What all forms of a comparison share.
 */
#include "out/compare.h"

#include <math.h>
#include <string.h>

#include "out/compare_part.h"
#include "out/text.h"

const char *const compare_form_names[] = {"text", "markdown", "csv", "json", NULL};
const char *const compare_gate_words[] = {"holds", "does not hold", "could not be judged"};

/* ---- rows ---- */

static void visit_op(const struct compare *c, unsigned test, unsigned op, compare_row_fn *visit,
                     void *arg)
{
	for (unsigned i = 0; i < c->n_results; i++) {
		struct compare_row row = {
		        .compare = c,
		        .test = test,
		        .result = i,
		        .which = (enum stats_op)op,
		        .entry = c->results[i]->entries[test],
		};

		if (row.entry && op < STATS_OPS && row.entry->op[op].n)
			row.op = &row.entry->op[op];
		visit(arg, &row);
	}
}

void compare_each_row(const struct compare *c, compare_row_fn *visit, void *arg)
{
	for (unsigned t = 0; t < c->n_tests; t++) {
		bool any = false;

		for (unsigned op = 0; op < STATS_OPS; op++) {
			if (!compare_has_op(c, t, (enum stats_op)op))
				continue;
			visit_op(c, t, op, visit, arg);
			any = true;
		}
		if (!any)
			visit_op(c, t, STATS_OPS, visit, arg);
	}
}

double compare_row_mean(const struct compare_row *row, enum compare_figure figure)
{
	return row->op ? compare_mean(row->op, figure) : NAN;
}

static void runs_remark(const struct compare_entry *e, char *out, size_t size)
{
	uint64_t lacking = e->planned > e->n_ok ? e->planned - e->n_ok : 0;

	if (!e->n_ok && e->n_failed)
		text_append(out, size, "FAILED");
	else if (!e->n_ok)
		text_append(out, size, "interrupted");
	else if (lacking)
		text_append(out, size, "%u of %llu runs", e->n_ok, (unsigned long long)e->planned);
}

void compare_row_remark(const struct compare_row *row, char *out, size_t size)
{
	const struct compare_entry *e = row->entry;

	if (!e) {
		text_append(out, size, "no such test");
		return;
	}
	if (e->persists) {
		text_append(out, size, "kind persist has no figures");
		return;
	}
	runs_remark(e, out, size);
	if (row->op && !row->op->relied)
		text_append(out, size, "%sNOT RELIED ON", *out ? ", " : "");
	if (e->limit[0])
		text_append(out, size, "%s%s", *out ? ", " : "", e->limit);
}

/* ---- values ---- */

char *compare_ratio_text(double ratio, char *out)
{
	if (isnan(ratio))
		snprintf(out, UNITS_TEXT_MAX, "-");
	else if (isinf(ratio))
		snprintf(out, UNITS_TEXT_MAX, "any");
	else
		snprintf(out, UNITS_TEXT_MAX,
		         ratio >= 100  ? "%.0f"
		         : ratio < 0.1 ? "%.2g"
		                       : "%.2f",
		         ratio);
	return out;
}

char *compare_figure_text(enum compare_figure figure, double value, char *out)
{
	if (isnan(value))
		snprintf(out, UNITS_TEXT_MAX, "-");
	else if (figure == COMPARE_IOPS)
		text_rate(value, out);
	else if (figure == COMPARE_BW)
		units_format_bw(value, out);
	else
		units_format_time((uint64_t)llround(value), out);
	return out;
}

/* Exact; of a large one that is no round number first what it is about. */
static void size_text(uint64_t bytes, char *out)
{
	char exact[UNITS_TEXT_MAX], about[UNITS_TEXT_MAX];

	text_size(bytes, exact);
	units_format_size(bytes, about);
	if (bytes < MIB || !strcmp(exact, about))
		snprintf(out, COMPARE_VALUE_MAX, "%s", exact);
	else
		snprintf(out, COMPARE_VALUE_MAX, "%s (%s)", about, exact);
}

char *compare_value_text(const struct compare_condition *condition,
                         const struct compare_value *value, char *out)
{
	unsigned long long number = value->number;

	switch (condition->type) {
	case VALUE_TEXT:
		snprintf(out, COMPARE_VALUE_MAX, "%s", value->text[0] ? value->text : "none");
		break;
	case VALUE_RW:
		snprintf(out, COMPARE_VALUE_MAX, "%s", plan_rw_name((int)number));
		break;
	case VALUE_SIZE:
		size_text(number, out);
		break;
	case VALUE_TIME:
		snprintf(out, COMPARE_VALUE_MAX, "%.12gs", (double)number / NSEC_PER_SEC);
		break;
	case VALUE_BOOL:
		snprintf(out, COMPARE_VALUE_MAX, "%s", number ? "yes" : "no");
		break;
	case VALUE_MILLI:
		snprintf(out, COMPARE_VALUE_MAX, "%.12g", (double)number / 1000);
		break;
	default:
		snprintf(out, COMPARE_VALUE_MAX, "%llu", number);
		break;
	}
	return out;
}

/* ---- forms ---- */

void compare_write(FILE *out, const struct compare *c, enum compare_form form)
{
	static void (*const writers[])(FILE * out, const struct compare *compare) = {
	        [COMPARE_TEXT] = compare_write_text,
	        [COMPARE_MARKDOWN] = compare_write_markdown,
	        [COMPARE_CSV] = compare_write_csv,
	        [COMPARE_JSON] = compare_write_json,
	};

	writers[form](out, c);
}
