/*
 * The summary at the end of the log, block after block: under what conditions
 * (conditions.c), the table (table.c), what to know about its figures, and dbench's own
 * block (dbench.c) last. The same words serve the line at a test's end and the
 * termination message.
 */
#include "out/text.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/units.h"
#include "out/summary.h"

void text_append(char *out, size_t size, const char *fmt, ...)
{
	size_t used = strlen(out);
	va_list args;

	va_start(args, fmt);
	vsnprintf(out + used, size - used, fmt, args);
	va_end(args);
}

char *text_size(uint64_t bytes, char *out)
{
	uint64_t read = 0;
	struct err err;

	units_format_size(bytes, out);
	if (units_parse_size(out, &read, &err) || read != bytes)
		snprintf(out, UNITS_TEXT_MAX, "%lluB", (unsigned long long)bytes);
	return out;
}

char *text_rate(double iops, char *out)
{
	if (iops > 0 && iops < 9.95)
		snprintf(out, UNITS_TEXT_MAX, "%.2g", iops);
	else
		units_format_iops(iops, out);
	return out;
}

/* ---- what to know about the figures ---- */

static void errors_text(const struct test_result *tr, char *out, size_t size)
{
	for (unsigned i = 0; tr->stats && i < STATS_ERRORS_MAX && tr->stats->errors[i].n; i++) {
		const struct error_count *count = &tr->stats->errors[i];

		text_append(out, size, "%s%s %llu", i ? ", " : "", result_error_name(count->errnum),
		            (unsigned long long)count->n);
	}
}

static void write_problems(FILE *out, const struct test_result *tr)
{
	char errors[REMARK_MAX] = "";
	char ran[UNITS_TEXT_MAX];

	errors_text(tr, errors, sizeof(errors));
	if (tr->status == STATUS_FAILED)
		fprintf(out, "failed: %s: %s\n", tr->name, or_unknown(tr->error));
	if (tr->status == STATUS_INTERRUPTED && tr->runtime_ns)
		fprintf(out, "interrupted: %s: after %s of its window\n", tr->name,
		        units_format_time(tr->runtime_ns, ran));
	if (tr->status == STATUS_INTERRUPTED && !tr->runtime_ns)
		fprintf(out, "interrupted: %s: before its window began\n", tr->name);
	if (*errors)
		fprintf(out, "errors: %s: %s\n", tr->name, errors);
}

static void write_leftovers(FILE *out, const struct test_result *tr)
{
	const struct stats *stats = tr->stats;
	char age[UNITS_TEXT_MAX], mean[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX];

	if (!stats)
		return;
	if (stats->unfinished)
		fprintf(out, "unfinished: %s: %llu requests never came back, the oldest %s old\n",
		        tr->name, (unsigned long long)stats->unfinished,
		        units_format_time(stats->unfinished_age_ns, age));
	if (stats->unsent)
		fprintf(out, "unsent: %s: %llu requests were due and not sent, the first for %s\n",
		        tr->name, (unsigned long long)stats->unsent,
		        units_format_time(stats->unsent_age_ns, age));
	if (stats->late_count)
		fprintf(out,
		        "pacing: %s: requests were sent %s (mean), %s (max) after they were "
		        "due and could be\n",
		        tr->name, units_format_time(stats->late_sum_ns / stats->late_count, mean),
		        units_format_time(stats->late_max_ns, most));
}

/* A measured value in the unit of what its expression compares. */
static void value_text(const struct expectation *e, char *out)
{
	struct expect expect;
	struct err err;

	if (isnan(e->value))
		snprintf(out, UNITS_TEXT_MAX, "unknown");
	else if (expect_parse(&expect, e->expr, &err))
		snprintf(out, UNITS_TEXT_MAX, "%g", e->value);
	else if (expect.metric == METRIC_IOPS)
		units_format_iops(e->value, out);
	else if (expect.metric == METRIC_BW)
		units_format_bw(e->value, out);
	else if (expect.metric == METRIC_COUNT)
		snprintf(out, UNITS_TEXT_MAX, "%.0f", e->value);
	else
		units_format_time((uint64_t)llround(fmax(0, e->value)), out);
}

const char *const text_expect_words[] = {"pass", "FAIL", "not judged"};

static const char *const bound_words[] = {
        [BOUND_NONE] = "", [BOUND_AT_MOST] = "at most ", [BOUND_AT_LEAST] = "at least "};

static void write_thresholds(FILE *out, const struct test_result *tr)
{
	for (unsigned i = 0; i < tr->n_expect; i++) {
		const struct expectation *e = &tr->expect[i];
		char value[UNITS_TEXT_MAX];

		value_text(e, value);
		fprintf(out, "threshold: %s: %s: %s (measured: %s%s)\n", tr->name, e->expr,
		        text_expect_words[e->result], bound_words[e->bound], value);
	}
}

static void remark_verdict(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	if (index < tr->n_verdicts)
		text_append(out, size, "%s: %s", tr->verdicts[index].code,
		            tr->verdicts[index].text);
}

/* Of a merged test: who gave it, and how far they lie apart. */
static void write_pods(FILE *out, const struct test_result *tr)
{
	const struct pods *pods = &tr->pods;
	char min[UNITS_TEXT_MAX], median[UNITS_TEXT_MAX], max[UNITS_TEXT_MAX];
	char common[UNITS_TEXT_MAX], apart[UNITS_TEXT_MAX];

	if (!pods->n)
		return;
	fprintf(out,
	        "pods: %s: %llu of %llu, IOPS of each: min %s, median %s, max %s; slowest %s; ",
	        tr->name, (unsigned long long)pods->n, (unsigned long long)pods->of,
	        text_rate(pods->iops_min, min), text_rate(pods->iops_median, median),
	        text_rate(pods->iops_max, max), or_unknown(pods->slowest));
	fprintf(out, "%s in common, starts %s apart\n", units_format_time(tr->runtime_ns, common),
	        units_format_time(pods->apart_ns, apart));
}

static void write_notes(FILE *out, const struct result *result)
{
	for (unsigned i = 0; i < result->n_tests; i++)
		write_pods(out, &result->tests[i]);
	for (unsigned i = 0; i < result->n_tests; i++) {
		write_problems(out, &result->tests[i]);
		write_leftovers(out, &result->tests[i]);
	}
	for (unsigned i = 0; i < result->n_verdicts; i++)
		fprintf(out, "verdict: %s: %s\n", result->verdicts[i].code,
		        result->verdicts[i].text);
	remarks_write(out, result, "verdict: ", remark_verdict);
	for (unsigned i = 0; i < result->n_tests; i++)
		write_thresholds(out, &result->tests[i]);
	if (result->interrupted)
		fputs("interrupted: tests that are not in the table were not run\n", out);
}

void text_write(FILE *out, const struct result *result)
{
	fputc('\n', out);
	conditions_write(out, result);
	fputc('\n', out);
	table_write(out, result);
	curves_write(out, result);
	repeats_write(out, result);
	searches_write(out, result);
	persists_write(out, result);
	hops_write(out, result);
	entities_write(out, result);
	write_notes(out, result);
	fputc('\n', out);
	text_write_dbench(out, result);
}

/* ---- a test in a line ---- */

static void append_op(const struct test_result *tr, enum stats_op op, char *out, size_t size)
{
	const struct hist *h = &tr->stats->op[op].latency;
	char iops[UNITS_TEXT_MAX], bw[UNITS_TEXT_MAX], mean[UNITS_TEXT_MAX], p99[UNITS_TEXT_MAX];

	text_append(out, size, "%s%s %s IOPS", *out ? "; " : "", stats_op_name[op],
	            text_rate(test_result_iops(tr, op), iops));
	if (op != STATS_SYNC)
		text_append(out, size, ", %s", units_format_bw(test_result_bw(tr, op), bw));
	if (h->count)
		text_append(out, size, ", mean %s",
		            units_format_time((uint64_t)llround(hist_mean(h)), mean));
	if (hist_percentile_carried(h, 99))
		text_append(out, size, ", p99 %s", units_format_time(hist_percentile(h, 99), p99));
}

/* Few requests with pauses between have no rate that means anything. */
static void append_probe(const struct test_result *tr, enum stats_op op, char *out, size_t size)
{
	const struct hist *h = &tr->stats->op[op].latency;
	const struct {
		const char *name;
		double ns;
	} figures[] = {
	        {"min", (double)h->min},
	        {"mean", hist_mean(h)},
	        {"max", (double)h->max},
	        {"stddev", hist_stddev(h)},
	};
	char text[UNITS_TEXT_MAX];

	text_append(out, size, "%s%s %llu request%s", *out ? "; " : "", stats_op_name[op],
	            (unsigned long long)h->count, h->count == 1 ? "" : "s");
	for (unsigned i = 0; h->count && i < ARRAY_SIZE(figures); i++)
		text_append(out, size, "%s %s %s", i ? "," : ":", figures[i].name,
		            units_format_time((uint64_t)llround(figures[i].ns), text));
}

void text_headline(const struct test_result *tr, char *out, size_t size)
{
	bool probes = !strcmp(tr->kind, PLAN_KIND_PROBE);
	char errors[REMARK_MAX] = "";

	*out = '\0';
	if (tr->status == STATUS_FAILED)
		text_append(out, size, "FAILED: %s", or_unknown(tr->error));
	if (tr->status == STATUS_INTERRUPTED)
		text_append(out, size, "interrupted");
	if (tr->status == STATUS_OK && result_is_persist(tr))
		persist_headline(&tr->persist, out, size);
	if (tr->status != STATUS_FAILED)
		hops_headline(&tr->hops, out, size);
	if (result_is_table(tr))
		entities_headline(tr, out, size);
	for (unsigned op = 0; !result_is_table(tr) && op < STATS_OPS; op++)
		if (test_result_measured(tr, (enum stats_op)op))
			(probes ? append_probe : append_op)(tr, (enum stats_op)op, out, size);
	if (tr->status == STATUS_OK && search_failed(&tr->search))
		text_append(out, size, "; latency_target is not met");
	errors_text(tr, errors, sizeof(errors));
	if (*errors)
		text_append(out, size, "; errors: %s", errors);
	for (unsigned i = 0; i < tr->n_expect; i++)
		if (tr->expect[i].result != EXPECT_PASS)
			text_append(out, size, "; threshold %s: %s", tr->expect[i].expr,
			            text_expect_words[tr->expect[i].result]);
	if (!*out)
		text_append(out, size, "nothing was measured");
}

#define CUT_LINE     "(cut: the log has all tests)\n"
#define HEADLINE_MAX 2048

/* At most what a kubelet takes, whole lines. */
static void write_cut(FILE *out, char *text, size_t size)
{
	if (size > TERMINATION_MAX) {
		size = TERMINATION_MAX - strlen(CUT_LINE);
		while (size && text[size - 1] != '\n')
			size--;
		memcpy(text + size, CUT_LINE, strlen(CUT_LINE));
		size += strlen(CUT_LINE);
	}
	fwrite(text, 1, size, out);
}

/* Of so many tests, where some have not ended. */
static void write_termination(FILE *out, const struct result *result, unsigned n_planned)
{
	char *text = NULL;
	size_t size = 0;
	FILE *whole = open_memstream(&text, &size);

	if (!whole)
		return;
	if (n_planned)
		fprintf(whole, "killed before its end: %u of %u tests had ended\n", result->n_tests,
		        n_planned);
	text_write_dbench(whole, result);
	for (unsigned i = 0; i < result->n_tests; i++) {
		char headline[HEADLINE_MAX];

		text_headline(&result->tests[i], headline, sizeof(headline));
		fprintf(whole, "%s: %s\n", result->tests[i].name, headline);
	}
	fclose(whole);
	write_cut(out, text, size);
	free(text);
}

void text_write_termination(FILE *out, const struct result *result)
{
	write_termination(out, result, 0);
}

void text_write_termination_if_killed(FILE *out, const struct result *result, unsigned n_planned)
{
	write_termination(out, result, n_planned);
}
