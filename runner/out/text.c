/*
 * The summary at the end of the log, block after block: under what conditions,
 * the table, what to know about its figures, and dbench's own block (dbench.c)
 * last. The table is driven by a list of columns; it is walked twice, to measure
 * and to print.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/units.h"
#include "out/text.h"

#define CELL_MAX     (PLAN_NAME_MAX + 32)
#define TARGET_WIDTH 24 /* of a target's path in the table, from its end */
#define REMARKS_MAX  64 /* different ones of a kind; no plan that a person wrote has more */
#define REMARK_MAX   (RESULT_STATUS_TEXT_MAX + PLAN_NAME_MAX)

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

/* As fio writes it, except that a slow rate is not cut down to a whole number, or to 0. */
static char *rate_text(double iops, char *out)
{
	if (iops > 0 && iops < 9.95)
		snprintf(out, UNITS_TEXT_MAX, "%.2g", iops);
	else
		units_format_iops(iops, out);
	return out;
}

static const char *or_unknown(const char *text)
{
	return *text ? text : "unknown";
}

static const char *size_or_unknown(uint64_t bytes, char *out)
{
	return bytes ? units_format_size(bytes, out) : "unknown";
}

/*
 * Remarks: what is said of tests, with one line for all that have the same to say.
 * A remark function writes the index-th thing that it has to say of a test,
 * nothing when there is no more.
 */
typedef void remark_fn(const struct test_result *tr, unsigned index, char *out, size_t size);

static bool says(const struct test_result *tr, remark_fn *remark, const char *text)
{
	for (unsigned index = 0;; index++) {
		char other[REMARK_MAX];

		*other = '\0';
		remark(tr, index, other, sizeof(other));
		if (!*other || !strcmp(other, text))
			return *other;
	}
}

/* " (read-iops, mixed)" or " (all but mixed)": who says this; nothing where all do. */
static void write_who(FILE *out, const struct result *result, remark_fn *remark, const char *text)
{
	unsigned n = 0, written = 0;

	for (unsigned i = 0; i < result->n_tests; i++)
		n += says(&result->tests[i], remark, text);
	if (n == result->n_tests)
		return;

	bool most = n > result->n_tests - n;

	for (unsigned i = 0; i < result->n_tests; i++)
		if (says(&result->tests[i], remark, text) != most)
			fprintf(out, "%s%s",
			        written++ ? ", "
			        : most    ? " (all but "
			                  : " (",
			        result->tests[i].name);
	fputc(')', out);
}

/* Whether one of the tests before the i-th says this, or the i-th itself before its index-th. */
static bool said_before(const struct result *result, remark_fn *remark, const char *text,
                        unsigned i, unsigned index)
{
	for (unsigned j = 0; j < i; j++)
		if (says(&result->tests[j], remark, text))
			return true;
	for (unsigned k = 0; k < index; k++) {
		char other[REMARK_MAX];

		*other = '\0';
		remark(&result->tests[i], k, other, sizeof(other));
		if (!strcmp(other, text))
			return true;
	}
	return false;
}

static void write_remarks(FILE *out, const struct result *result, const char *title,
                          remark_fn *remark)
{
	unsigned lines = 0;

	for (unsigned i = 0; i < result->n_tests; i++) {
		for (unsigned index = 0;; index++) {
			char text[REMARK_MAX];

			*text = '\0';
			remark(&result->tests[i], index, text, sizeof(text));
			if (!*text)
				break;
			if (said_before(result, remark, text, i, index))
				continue;
			if (lines++ == REMARKS_MAX) {
				fprintf(out, "%sand more: the JSON has all\n", title);
				return;
			}
			fprintf(out, "%s%s", title, text);
			write_who(out, result, remark, text);
			fputc('\n', out);
		}
	}
}

static void remark_size(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	char asked[UNITS_TEXT_MAX], used[UNITS_TEXT_MAX];

	if (index || !tr->size)
		return;
	text_append(out, size, "%s", units_format_size(tr->size, used));
	if (tr->size != tr->size_asked)
		text_append(out, size, " of %s asked", size_or_unknown(tr->size_asked, asked));
}

static void remark_engine(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	if (index || !tr->ioengine[0])
		return;
	text_append(out, size, "%s", tr->ioengine);
	if (tr->ioengine_reason[0])
		text_append(out, size, " (%s)", tr->ioengine_reason);
}

static void remark_direct(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	if (index || !tr->ioengine[0])
		return;
	text_append(out, size, "%s", tr->direct ? "yes" : "no, buffered");
	if (tr->direct_reason[0])
		text_append(out, size, " (%s)", tr->direct_reason);
}

static void remark_window(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	char window[UNITS_TEXT_MAX], ramp[UNITS_TEXT_MAX];

	if (index || !tr->runtime_ns || tr->status != STATUS_OK)
		return;
	text_append(out, size, "%s", units_format_time(tr->runtime_ns, window));
	if (tr->ramp_time_ns)
		text_append(out, size, " after a ramp of %s",
		            units_format_time(tr->ramp_time_ns, ramp));
}

static void remark_layout(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	char bytes[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];

	if (!index && tr->layout_bytes)
		text_append(out, size, "%s written in %s, not counted",
		            units_format_size(tr->layout_bytes, bytes),
		            units_format_time(tr->layout_ns, time));
}

/* What makes a test other than a closed loop of plain requests. */
static void remark_load(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	static const char *const opened[] = {[SYNC_SYNC] = "O_SYNC", [SYNC_DSYNC] = "O_DSYNC"};
	const struct {
		const char *name;
		uint64_t every;
	} syncs[] = {{"fsync", tr->fsync}, {"fdatasync", tr->fdatasync}};

	if (index)
		return;
	if (tr->rate_iops)
		text_append(out, size, "open loop at %llu requests/s, latency from the due time",
		            (unsigned long long)tr->rate_iops);
	if (tr->sync != SYNC_NONE)
		text_append(out, size, "%sfile opened %s", *out ? ", " : "", opened[tr->sync]);
	for (unsigned i = 0; i < ARRAY_SIZE(syncs); i++) {
		if (!syncs[i].every)
			continue;
		text_append(out, size, "%s%s after ", *out ? ", " : "", syncs[i].name);
		if (syncs[i].every == 1)
			text_append(out, size, "each write");
		else
			text_append(out, size, "every %llu writes",
			            (unsigned long long)syncs[i].every);
	}
}

static void remark_concession(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	if (index < tr->n_concessions)
		text_append(out, size, "%s", tr->concessions[index]);
}

static void remark_verdict(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	if (index < tr->n_verdicts)
		text_append(out, size, "%s: %s", tr->verdicts[index].code,
		            tr->verdicts[index].text);
}

/* Conditions */

static void write_target(FILE *out, const struct conditions *c)
{
	char block[UNITS_TEXT_MAX], capacity[UNITS_TEXT_MAX], free_text[UNITS_TEXT_MAX];

	fprintf(out, "  target         %s\n", or_unknown(c->target));
	fprintf(out, "  file system    %s on %s, %s blocks, capacity %s, free %s\n",
	        or_unknown(c->fs), or_unknown(c->mount_source),
	        size_or_unknown(c->block_bytes, block),
	        size_or_unknown(c->capacity_bytes, capacity),
	        size_or_unknown(c->free_bytes, free_text));
	fprintf(out, "  mount options  %s\n", or_unknown(c->mount_options));
	if (c->device[0])
		fprintf(out, "  device         %s, scheduler %s\n", c->device,
		        or_unknown(c->scheduler));
	else
		fputs("  device         none that the kernel shows\n", out);
	if (c->class[0])
		fprintf(out, "  class          %s\n", c->class);
}

static void write_conditions(FILE *out, const struct result *result)
{
	const struct conditions *c = &result->conditions;
	char memory[UNITS_TEXT_MAX];

	fputs("Conditions\n", out);
	fprintf(out, "  run            plan %s, pvcbench %s, %s, id %s\n", or_unknown(result->plan),
	        or_unknown(result->version), or_unknown(result->started), or_unknown(result->id));
	fprintf(out, "  node           %s, kernel %s, %s\n", or_unknown(c->node),
	        or_unknown(c->kernel), or_unknown(c->machine));
	if (c->cpus > 0)
		fprintf(out, "  limits         %.4g CPU, ", c->cpus);
	else
		fputs("  limits         CPU unknown, ", out);
	fprintf(out, "memory %s\n", size_or_unknown(c->memory_bytes, memory));
	if (!result->n_targets)
		write_target(out, c);
	for (unsigned i = 0; i < result->n_targets; i++)
		write_target(out, &result->targets[i]);
	write_remarks(out, result, "  size           ", remark_size);
	write_remarks(out, result, "  engine         ", remark_engine);
	write_remarks(out, result, "  O_DIRECT       ", remark_direct);
	write_remarks(out, result, "  load           ", remark_load);
	write_remarks(out, result, "  layout         ", remark_layout);
	write_remarks(out, result, "  window         ", remark_window);
	write_remarks(out, result, "  concession     ", remark_concession);
}

/* The table */

#define NO_OP STATS_OPS

/* A line of the table: one operation of a test, or (NO_OP) a test without figures. */
struct row {
	const struct test_result *tr;
	enum stats_op op;
};

static const struct hist *latency_of(const struct row *row)
{
	return row->op == NO_OP ? NULL : &row->tr->stats->op[row->op].latency;
}

static void cell_name(const struct row *row, char *out)
{
	text_append(out, CELL_MAX, "%s", row->tr->name);
}

static void cell_target(const struct row *row, char *out)
{
	const char *path = row->tr->target;
	size_t length = strlen(path);

	if (length > TARGET_WIDTH)
		text_append(out, CELL_MAX, "...%s", path + length - (TARGET_WIDTH - 3));
	else
		text_append(out, CELL_MAX, "%s", path);
}

/* A test with more than one row says in each which operation it shows. */
static void cell_rw(const struct row *row, char *out)
{
	const char *name = plan_rw_name(row->tr->rw);
	unsigned rows = 0;

	for (unsigned op = 0; op < STATS_OPS; op++)
		rows += test_result_measured(row->tr, (enum stats_op)op);
	text_append(out, CELL_MAX, "%s", name);
	if (rows > 1 && strcmp(name, stats_op_name[row->op]) != 0)
		text_append(out, CELL_MAX, " %s", stats_op_name[row->op]);
}

static void cell_bs(const struct row *row, char *out)
{
	if (row->op == STATS_SYNC)
		text_append(out, CELL_MAX, "-");
	else
		text_size(row->tr->bs, out);
}

static void cell_depth(const struct row *row, char *out)
{
	text_append(out, CELL_MAX, "%llu", (unsigned long long)row->tr->iodepth);
	if (row->tr->numjobs != 1)
		text_append(out, CELL_MAX, "x%llu", (unsigned long long)row->tr->numjobs);
}

static void cell_iops(const struct row *row, char *out)
{
	if (row->op == NO_OP)
		text_append(out, CELL_MAX, "-");
	else
		rate_text(test_result_iops(row->tr, row->op), out);
}

static void cell_bw(const struct row *row, char *out)
{
	if (row->op == NO_OP || row->op == STATS_SYNC)
		text_append(out, CELL_MAX, "-");
	else
		units_format_bw(test_result_bw(row->tr, row->op), out);
}

static void cell_mean(const struct row *row, char *out)
{
	const struct hist *h = latency_of(row);

	if (h && h->count)
		units_format_time((uint64_t)llround(hist_mean(h)), out);
	else
		text_append(out, CELL_MAX, "-");
}

static void percentile_text(const struct hist *h, double percent, char *out)
{
	if (h && hist_percentile_carried(h, percent))
		units_format_time(hist_percentile(h, percent), out);
	else
		text_append(out, CELL_MAX, "-");
}

static void cell_p50(const struct row *row, char *out)
{
	percentile_text(latency_of(row), 50, out);
}

static void cell_p99(const struct row *row, char *out)
{
	percentile_text(latency_of(row), 99, out);
}

static void cell_p999(const struct row *row, char *out)
{
	percentile_text(latency_of(row), 99.9, out);
}

static void cell_max(const struct row *row, char *out)
{
	const struct hist *h = latency_of(row);

	if (h && h->count)
		units_format_time(h->max, out);
	else
		text_append(out, CELL_MAX, "-");
}

/* The syncs of a buffered test do wait for the volume: the page cache is not their limit. */
static void cell_limit(const struct row *row, char *out)
{
	static const char *const status[] = {
	        [STATUS_FAILED] = "FAILED", [STATUS_INTERRUPTED] = "interrupted"};
	unsigned i = 0;

	if (row->tr->status != STATUS_OK) {
		text_append(out, CELL_MAX, "%s", status[row->tr->status]);
		return;
	}
	while (i < row->tr->n_verdicts && row->op == STATS_SYNC &&
	       !strcmp(row->tr->verdicts[i].code, "page-cache"))
		i++;
	text_append(out, CELL_MAX, "%s", i < row->tr->n_verdicts ? row->tr->verdicts[i].code : "-");
}

static const struct column {
	const char *title;
	bool right;
	void (*cell)(const struct row *row, char *out);
} columns[] = {
        {"test", false, cell_name},
        {"target", false, cell_target},
        {"rw", false, cell_rw},
        {"bs", true, cell_bs},
        {"depth", true, cell_depth},
        {"IOPS", true, cell_iops},
        {"bandwidth", true, cell_bw},
        {"mean", true, cell_mean},
        {"p50", true, cell_p50},
        {"p99", true, cell_p99},
        {"p99.9", true, cell_p999},
        {"max", true, cell_max},
        {"limited by", false, cell_limit},
};

typedef void row_fn(void *arg, const struct row *row);

static void each_row(const struct result *result, row_fn *visit, void *arg)
{
	for (unsigned i = 0; i < result->n_tests; i++) {
		struct row row = {.tr = &result->tests[i], .op = NO_OP};
		bool any = false;

		for (unsigned op = 0; op < STATS_OPS; op++) {
			if (!test_result_measured(row.tr, (enum stats_op)op))
				continue;
			row.op = (enum stats_op)op;
			visit(arg, &row);
			any = true;
		}
		if (!any)
			visit(arg, &row);
	}
}

struct table {
	FILE *out;
	size_t width[ARRAY_SIZE(columns)];
};

static void measure_row(void *arg, const struct row *row)
{
	struct table *table = arg;

	for (unsigned i = 0; i < ARRAY_SIZE(columns); i++) {
		char cell[CELL_MAX] = "";

		columns[i].cell(row, cell);
		table->width[i] = max_u64(table->width[i], strlen(cell));
	}
}

static void write_cell(const struct table *table, unsigned i, const char *text)
{
	int width = (int)table->width[i];

	if (i + 1 == ARRAY_SIZE(columns))
		fprintf(table->out, "%s\n", text);
	else
		fprintf(table->out, "%*s  ", columns[i].right ? width : -width, text);
}

static void write_row(void *arg, const struct row *row)
{
	for (unsigned i = 0; i < ARRAY_SIZE(columns); i++) {
		char cell[CELL_MAX] = "";

		columns[i].cell(row, cell);
		write_cell(arg, i, cell);
	}
}

static void write_table(FILE *out, const struct result *result)
{
	struct table table = {.out = out};

	if (!result->n_tests) {
		fputs("No test was run.\n", out);
		return;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(columns); i++)
		table.width[i] = strlen(columns[i].title);
	each_row(result, measure_row, &table);
	for (unsigned i = 0; i < ARRAY_SIZE(columns); i++)
		write_cell(&table, i, columns[i].title);
	each_row(result, write_row, &table);
	fputs("\"-\" as a latency: fewer than 10 samples lie beyond it. \"-\" as a limit: neither\n"
	      "page-cache nor errors nor stalls was seen; nothing else is looked for.\n",
	      out);
}

/* What to know about the figures */

static void errors_text(const struct test_result *tr, char *out, size_t size)
{
	for (unsigned i = 0; tr->stats && i < STATS_ERRORS_MAX && tr->stats->errors[i].n; i++) {
		const struct error_count *count = &tr->stats->errors[i];

		text_append(out, size, "%s%s %llu", i ? ", " : "",
		            count->errnum ? err_name(count->errnum) : "others",
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
		        "late: %s: pvcbench itself sent %llu requests late, by %s (mean), %s "
		        "(max)\n",
		        tr->name, (unsigned long long)stats->late_count,
		        units_format_time(stats->late_sum_ns / stats->late_count, mean),
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

static const char *const expect_words[] = {"pass", "FAIL", "not judged"};

static void write_thresholds(FILE *out, const struct test_result *tr)
{
	for (unsigned i = 0; i < tr->n_expect; i++) {
		const struct expectation *e = &tr->expect[i];
		char value[UNITS_TEXT_MAX];

		value_text(e, value);
		fprintf(out, "threshold: %s: %s: %s (measured: %s)\n", tr->name, e->expr,
		        expect_words[e->result], value);
	}
}

static void write_notes(FILE *out, const struct result *result)
{
	for (unsigned i = 0; i < result->n_tests; i++) {
		write_problems(out, &result->tests[i]);
		write_leftovers(out, &result->tests[i]);
	}
	for (unsigned i = 0; i < result->n_verdicts; i++)
		fprintf(out, "verdict: %s: %s\n", result->verdicts[i].code,
		        result->verdicts[i].text);
	write_remarks(out, result, "verdict: ", remark_verdict);
	for (unsigned i = 0; i < result->n_tests; i++)
		write_thresholds(out, &result->tests[i]);
	if (result->interrupted)
		fputs("interrupted: tests that are not in the table were not run\n", out);
}

void text_write(FILE *out, const struct result *result)
{
	fputc('\n', out);
	write_conditions(out, result);
	fputc('\n', out);
	write_table(out, result);
	write_notes(out, result);
	fputc('\n', out);
	text_write_dbench(out, result);
}

/* A test in a line */

static void append_op(const struct test_result *tr, enum stats_op op, char *out, size_t size)
{
	const struct hist *h = &tr->stats->op[op].latency;
	char iops[UNITS_TEXT_MAX], bw[UNITS_TEXT_MAX], mean[UNITS_TEXT_MAX], p99[UNITS_TEXT_MAX];

	text_append(out, size, "%s%s %s IOPS", *out ? "; " : "", stats_op_name[op],
	            rate_text(test_result_iops(tr, op), iops));
	if (op != STATS_SYNC)
		text_append(out, size, ", %s", units_format_bw(test_result_bw(tr, op), bw));
	if (h->count)
		text_append(out, size, ", mean %s",
		            units_format_time((uint64_t)llround(hist_mean(h)), mean));
	if (hist_percentile_carried(h, 99))
		text_append(out, size, ", p99 %s", units_format_time(hist_percentile(h, 99), p99));
}

void text_headline(const struct test_result *tr, char *out, size_t size)
{
	char errors[REMARK_MAX] = "";

	*out = '\0';
	if (tr->status == STATUS_FAILED)
		text_append(out, size, "FAILED: %s", or_unknown(tr->error));
	if (tr->status == STATUS_INTERRUPTED)
		text_append(out, size, "interrupted");
	for (unsigned op = 0; op < STATS_OPS; op++)
		if (test_result_measured(tr, (enum stats_op)op))
			append_op(tr, (enum stats_op)op, out, size);
	errors_text(tr, errors, sizeof(errors));
	if (*errors)
		text_append(out, size, "; errors: %s", errors);
	for (unsigned i = 0; i < tr->n_expect; i++)
		if (tr->expect[i].result != EXPECT_PASS)
			text_append(out, size, "; threshold %s: %s", tr->expect[i].expr,
			            expect_words[tr->expect[i].result]);
	if (!*out)
		text_append(out, size, "nothing was measured");
}

#define CUT_LINE     "(cut: the log has all tests)\n"
#define HEADLINE_MAX 2048

void text_write_termination(FILE *out, const struct result *result)
{
	char *text = NULL;
	size_t size = 0;
	FILE *whole = open_memstream(&text, &size);

	if (!whole)
		return;
	text_write_dbench(whole, result);
	for (unsigned i = 0; i < result->n_tests; i++) {
		char headline[HEADLINE_MAX];

		text_headline(&result->tests[i], headline, sizeof(headline));
		fprintf(whole, "%s: %s\n", result->tests[i].name, headline);
	}
	fclose(whole);
	if (size > TERMINATION_MAX) {
		size = TERMINATION_MAX - strlen(CUT_LINE);
		while (size && text[size - 1] != '\n')
			size--;
		memcpy(text + size, CUT_LINE, strlen(CUT_LINE));
		size += strlen(CUT_LINE);
	}
	fwrite(text, 1, size, out);
	free(text);
}
