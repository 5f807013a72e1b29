/*
 * A comparison for programs. One list drives the rows of CSV and of JSON; base units,
 * nothing rounded.
 */
#include <math.h>
#include <string.h>

#include "out/compare_part.h"
#include "out/emit.h"
#include "out/text.h"

#define TEXT_MAX 512

static const char *const claim_names[] = {
        [CLAIM_NOT_COMPARED] = "not-compared",
        [CLAIM_TOO_FEW] = "too-few-runs",
        [CLAIM_NO_DIFFERENCE] = "no-difference-shown",
        [CLAIM_HIGHER] = "higher",
        [CLAIM_LOWER] = "lower",
};

/* ---- what a row has ---- */

static void text_test(const struct compare_row *row, int unused, char *out)
{
	(void)unused;
	text_append(out, TEXT_MAX, "%s", row->compare->tests[row->test]);
}

static void text_op(const struct compare_row *row, int unused, char *out)
{
	(void)unused;
	text_append(out, TEXT_MAX, "%s", row->which == STATS_OPS ? "" : stats_op_name[row->which]);
}

static void text_result(const struct compare_row *row, int unused, char *out)
{
	(void)unused;
	text_append(out, TEXT_MAX, "%s", row->compare->results[row->result]->label);
}

static void text_baseline(const struct compare_row *row, int unused, char *out)
{
	const struct compare *c = row->compare;

	(void)unused;
	text_append(out, TEXT_MAX, "%s", c->results[c->baseline]->label);
}

static double number_runs(const struct compare_row *row, int unused)
{
	(void)unused;
	return row->op ? row->op->n : 0;
}

static double number_mean(const struct compare_row *row, int figure)
{
	return compare_row_mean(row, (enum compare_figure)figure);
}

static double number_limit(const struct compare_row *row, int unused)
{
	(void)unused;
	return row->op && row->op->limit_share.n ? row->op->limit_share.mean : NAN;
}

static double number_ratio(const struct compare_row *row, int figure)
{
	return row->op ? row->op->cell[figure].ratio : NAN;
}

static double number_low(const struct compare_row *row, int figure)
{
	return row->op ? row->op->cell[figure].low : NAN;
}

static double number_high(const struct compare_row *row, int figure)
{
	double high = row->op ? row->op->cell[figure].high : NAN;

	return isinf(high) ? NAN : high;
}

static void text_claim(const struct compare_row *row, int figure, char *out)
{
	text_append(out, TEXT_MAX, "%s",
	            claim_names[row->op ? row->op->cell[figure].claim : CLAIM_NOT_COMPARED]);
}

static void text_best(const struct compare_row *row, int unused, char *out)
{
	(void)unused;
	for (unsigned f = 0; row->op && f < COMPARE_FIGURES; f++)
		if (row->op->cell[f].best)
			text_append(out, TEXT_MAX, "%s%s", *out ? " " : "",
			            compare_figure_names[f]);
}

static void append_name(void *arg, const struct compare_difference *d)
{
	char *out = arg;

	text_append(out, TEXT_MAX, "%s%s", *out ? " " : "", d->condition->name);
}

static void text_differs(const struct compare_row *row, int unused, char *out)
{
	(void)unused;
	compare_differences_of(row->compare, row->result, row->test, append_name, out);
}

static void text_remark(const struct compare_row *row, int unused, char *out)
{
	(void)unused;
	compare_row_remark(row, out, TEXT_MAX);
}

#define CLAIMED(name, figure)                                    \
	{name "_ratio", NULL, number_ratio, figure},             \
	        {name "_ratio_low", NULL, number_low, figure},   \
	        {name "_ratio_high", NULL, number_high, figure}, \
	{                                                        \
		name "_difference", text_claim, NULL, figure     \
	}

static const struct datum {
	const char *name;
	void (*text)(const struct compare_row *row, int figure, char *out);
	double (*number)(const struct compare_row *row, int figure); /* where it is no text */
	int figure;                                                  /* enum compare_figure */
} data[] = {
        {"test", text_test, NULL, 0},
        {"op", text_op, NULL, 0},
        {"result", text_result, NULL, 0},
        {"baseline", text_baseline, NULL, 0},
        {"runs", NULL, number_runs, 0},
        {"iops", NULL, number_mean, COMPARE_IOPS},
        {"bw_bytes", NULL, number_mean, COMPARE_BW},
        {"p50_ns", NULL, number_mean, COMPARE_P50},
        {"p99_ns", NULL, number_mean, COMPARE_P99},
        {"published_share", NULL, number_limit, 0},
        CLAIMED("iops", COMPARE_IOPS),
        CLAIMED("p50", COMPARE_P50),
        CLAIMED("p99", COMPARE_P99),
        {"best", text_best, NULL, 0},
        {"differs", text_differs, NULL, 0},
        {"remark", text_remark, NULL, 0},
};

/* ---- CSV ---- */

/* RFC 4180. What a table calculator takes for a formula is marked as text. */
static void write_quoted(FILE *out, const char *text)
{
	bool quotes = strpbrk(text, ",\"") != NULL;

	if (quotes)
		fputc('"', out);
	if (*text && strchr("=+-@", *text))
		fputc('\'', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quotes)
		fputc('"', out);
}

static void write_csv_row(void *arg, const struct compare_row *row)
{
	FILE *out = arg;

	for (unsigned i = 0; i < ARRAY_SIZE(data); i++) {
		char text[TEXT_MAX] = "";
		double number = data[i].number ? data[i].number(row, data[i].figure) : NAN;

		if (data[i].text)
			data[i].text(row, data[i].figure, text);
		else if (!isnan(number))
			text_append(text, sizeof(text), "%.15g", number);
		compare_clean(text);
		fputs(i ? "," : "", out);
		write_quoted(out, text);
	}
	fputs("\r\n", out);
}

void compare_write_csv(FILE *out, const struct compare *c)
{
	for (unsigned i = 0; i < ARRAY_SIZE(data); i++)
		fprintf(out, "%s%s", i ? "," : "", data[i].name);
	fputs("\r\n", out);
	compare_each_row(c, write_csv_row, out);
}

/* ---- JSON ---- */

struct json {
	struct emit emit;
	const struct compare *compare;
};

static void emit_known(struct emit *emit, const char *key, const char *text)
{
	if (*text)
		emit_text(emit, key, text);
	else
		emit_null(emit, key);
}

static void write_json_row(void *arg, const struct compare_row *row)
{
	struct json *json = arg;

	emit_open(&json->emit, NULL, '{');
	for (unsigned i = 0; i < ARRAY_SIZE(data); i++) {
		char text[TEXT_MAX] = "";

		if (data[i].number) {
			emit_double(&json->emit, data[i].name, data[i].number(row, data[i].figure));
			continue;
		}
		data[i].text(row, data[i].figure, text);
		emit_known(&json->emit, data[i].name, text);
	}
	emit_close(&json->emit, '}');
}

static void write_results(struct json *json)
{
	const struct compare *c = json->compare;

	emit_open(&json->emit, "results", '[');
	for (unsigned i = 0; i < c->n_results; i++) {
		const struct compare_result *r = c->results[i];

		emit_open(&json->emit, NULL, '{');
		emit_text(&json->emit, "label", r->label);
		emit_known(&json->emit, "source", r->source);
		emit_known(&json->emit, "pod", r->pod);
		emit_known(&json->emit, "run", r->id);
		emit_known(&json->emit, "started", r->started);
		emit_known(&json->emit, "host", r->host);
		emit_known(&json->emit, "class", r->class);
		emit_known(&json->emit, "node", r->node);
		emit_known(&json->emit, "published", r->limits);
		for (unsigned s = 0; s < COMPARE_SITE_ROWS; s++) {
			char value[COMPARE_VALUE_MAX] = "";

			if (r->site[s].number || r->site[s].text[0])
				compare_value_text(&compare_site[s], &r->site[s], value);
			emit_known(&json->emit, compare_site[s].name, value);
		}
		emit_close(&json->emit, '}');
	}
	emit_close(&json->emit, ']');
}

static void write_json_difference(void *arg, const struct compare_difference *d)
{
	struct json *json = arg;
	const struct compare *c = json->compare;
	char here[COMPARE_VALUE_MAX], there[COMPARE_VALUE_MAX];

	emit_open(&json->emit, NULL, '{');
	emit_text(&json->emit, "condition", d->condition->name);
	emit_text(&json->emit, "result", c->results[d->result]->label);
	emit_text(&json->emit, "here", compare_value_text(d->condition, d->here, here));
	emit_text(&json->emit, "baseline", compare_value_text(d->condition, d->there, there));
	emit_open(&json->emit, "tests", '[');
	for (unsigned t = 0; d->test < COMPARE_TESTS_MAX && t < c->n_tests; t++)
		if (compare_differs_alike(c, d, t))
			emit_text(&json->emit, NULL, c->tests[t]);
	emit_close(&json->emit, ']');
	emit_close(&json->emit, '}');
}

static void write_json_gate(struct json *json, const struct compare_gate *gate)
{
	const struct compare *c = json->compare;

	for (unsigned i = 0; i < c->n_results; i++) {
		if (!gate->of[i].judged)
			continue;
		emit_open(&json->emit, NULL, '{');
		emit_text(&json->emit, "expr", gate->text);
		emit_text(&json->emit, "result", c->results[i]->label);
		emit_text(&json->emit, "condition", compare_gate_words[gate->of[i].outcome.result]);
		emit_double(&json->emit, "value", gate->of[i].outcome.value);
		emit_close(&json->emit, '}');
	}
}

static void write_method(struct json *json)
{
	emit_open(&json->emit, "method", '{');
	emit_text(&json->emit, "name", "Fieller's interval of the ratio of means");
	emit_double(&json->emit, "confidence", COMPARE_CONFIDENCE);
	emit_uint(&json->emit, "intervals", json->compare->n_intervals);
	emit_uint(&json->emit, "runs_min", COMPARE_RUNS_MIN);
	emit_double(&json->emit, "difference_min", COMPARE_DIFFERENCE);
	emit_uint(&json->emit, "too_few_runs", json->compare->n_too_few);
	emit_close(&json->emit, '}');
}

void compare_write_json(FILE *out, const struct compare *c)
{
	struct json json = {.emit = {.out = out, .indent = true}, .compare = c};

	emit_open(&json.emit, NULL, '{');
	emit_text(&json.emit, "schema", COMPARE_SCHEMA);
	emit_text(&json.emit, "baseline", c->results[c->baseline]->label);
	write_method(&json);
	write_results(&json);
	emit_open(&json.emit, "differs", '[');
	compare_each_difference(c, write_json_difference, &json);
	emit_close(&json.emit, ']');
	emit_open(&json.emit, "notes", '[');
	for (unsigned i = 0; i < c->n_notes; i++)
		emit_text(&json.emit, NULL, c->notes[i]);
	emit_close(&json.emit, ']');
	emit_open(&json.emit, "rows", '[');
	compare_each_row(c, write_json_row, &json);
	emit_close(&json.emit, ']');
	emit_open(&json.emit, "fail_if", '[');
	for (unsigned i = 0; i < c->n_gates; i++)
		write_json_gate(&json, &c->gates[i]);
	emit_close(&json.emit, ']');
	emit_close(&json.emit, '}');
	fputc('\n', out);
}
