/*
 * A verdict needs evidence, and each check below names its own:
 *
 *	page-cache  the file was not opened O_DIRECT, so reads may have been answered
 *	            and writes taken by memory
 *	errors      requests failed; rates count only those that succeeded
 *	not-steady  fewer requests than iodepth waited on the average of the window, and
 *	            one in flight at its end took longer than any that is counted
 *	engine      the same without such a request: they were not sent in time
 *	stalls      a second or more passed without a completion, far longer than the
 *	            test's own mean pace explains
 *
 * A check that finds nothing says nothing: no verdict means that none of these
 * was found, not that nothing limited the test.
 *
 * A threshold is judged only by a figure that may be relied on. What was cut
 * short or measured under a concession is not-judged, with one exception: a
 * count or a pause that only grows has failed for good once it is too large.
 */
#include "verdict.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/units.h"

/* A gap is a stall when it lasts this many times the mean time between completions. */
#define STALL_FACTOR 100
#define STALL_MIN_NS NSEC_PER_SEC
/* The share of iodepth that must have been outstanding on the average. */
#define DEPTH_KEPT 0.9

/* What was measured: exactly `low`, or, where only bounds are known, in [low, high]. */
struct figure {
	bool known;
	double low, high;
};

static const struct figure unknown;

static struct figure exactly(double value)
{
	return (struct figure){.known = true, .low = value, .high = value};
}

/* Whether something was conceded that changes what reads and writes cost. */
static bool conceded(const struct test_result *tr, const struct test *test)
{
	bool buffered = test->direct != PLAN_DIRECT_FALSE && !tr->direct;
	bool smaller = tr->size < tr->size_asked;
	bool shallower = tr->iodepth < test->iodepth;

	return buffered || smaller || shallower;
}

static struct figure percentile_figure(const struct hist *latency, double percent)
{
	if (percent >= 100)
		return exactly((double)latency->max);
	if (!hist_percentile_carried(latency, percent))
		return unknown;
	return exactly((double)hist_percentile(latency, percent));
}

static struct figure latency_figure(const struct hist *latency, const struct expect *expect)
{
	if (!latency->count)
		return unknown;
	switch (expect->metric) {
	case METRIC_MEAN:
		return exactly(hist_mean(latency));
	case METRIC_MIN:
		return exactly((double)latency->min);
	case METRIC_MAX:
		return exactly((double)latency->max);
	case METRIC_STDDEV:
		return exactly(hist_stddev(latency));
	default:
		return percentile_figure(latency, expect->percentile);
	}
}

static struct figure op_figure(const struct test_result *tr, const struct test *test,
                               enum stats_op op, const struct expect *expect)
{
	if (tr->status != STATUS_OK || !test_result_measured(tr, op) || conceded(tr, test))
		return unknown;
	if (expect->metric == METRIC_IOPS)
		return exactly(test_result_iops(tr, op));
	if (expect->metric == METRIC_BW)
		return exactly(test_result_bw(tr, op));
	return latency_figure(&tr->stats->op[op].latency, expect);
}

static struct figure errors_figure(const struct test_result *tr)
{
	if (!tr->stats)
		return unknown;

	struct figure figure = exactly((double)stats_errors(tr->stats));

	if (tr->status != STATUS_OK)
		figure.high = INFINITY;
	return figure;
}

static struct figure stall_figure(const struct test_result *tr)
{
	const struct gap *gap = &tr->longest_gap;
	struct figure figure = {
	        .known = true,
	        .low = (double)gap->at_least_ns,
	        .high = (double)gap->at_most_ns,
	};

	if (!gap->at_most_ns)
		return unknown;

	if (tr->status != STATUS_OK)
		figure.high = INFINITY;
	return figure;
}

static struct figure measure(const struct test_result *tr, const struct test *test,
                             const struct expect *expect)
{
	switch (expect->subject) {
	case EXPECT_READ:
		return op_figure(tr, test, STATS_READ, expect);
	case EXPECT_WRITE:
		return op_figure(tr, test, STATS_WRITE, expect);
	case EXPECT_SYNC:
		return op_figure(tr, test, STATS_SYNC, expect);
	case EXPECT_ERRORS:
		return errors_figure(tr);
	default:
		return stall_figure(tr);
	}
}

static bool holds(int op, double measured, double value)
{
	switch (op) {
	case OP_GE:
		return measured >= value;
	case OP_LE:
		return measured <= value;
	case OP_GT:
		return measured > value;
	case OP_LT:
		return measured < value;
	default:
		return measured == value;
	}
}

/* Which bound gave the answer: "<=" holds for the higher one or fails for the lower one. */
static bool low_decides(const struct expect *expect, struct figure figure, bool answer)
{
	if (expect->op == OP_EQ)
		return figure.low > expect->value;

	bool at_least = expect->op == OP_GE || expect->op == OP_GT;

	return at_least == answer;
}

/*
 * Between two bounds the answer is known when it is the same at both: then every
 * value between them gives it too, unless the question is for one exact value.
 */
static void judge(struct expectation *out, const struct expect *expect, struct figure figure)
{
	bool low = holds(expect->op, figure.low, expect->value);
	bool high = holds(expect->op, figure.high, expect->value);
	bool exact = figure.low == figure.high;
	bool between = figure.low <= expect->value && expect->value <= figure.high;

	out->result = EXPECT_NOT_JUDGED;
	out->value = NAN;
	out->bound = BOUND_NONE;
	if (!figure.known || low != high || (!exact && expect->op == OP_EQ && between))
		return;
	out->result = low ? EXPECT_PASS : EXPECT_FAIL;
	out->value = low_decides(expect, figure, low) ? figure.low : figure.high;
	if (!exact)
		out->bound = low_decides(expect, figure, low) ? BOUND_AT_LEAST : BOUND_AT_MOST;
}

void verdict_expect(struct test_result *tr, const struct test *test)
{
	tr->n_expect = test->n_expect;
	for (unsigned i = 0; i < test->n_expect; i++) {
		const struct expect *expect = &test->expect[i];

		snprintf(tr->expect[i].expr, sizeof(tr->expect[i].expr), "%s", expect->text);
		judge(&tr->expect[i], expect, measure(tr, test, expect));
	}
}

static void PRINTF_LIKE(4, 5)
        add(struct test_result *tr, const char *code, double figure, const char *fmt, ...)
{
	if (tr->n_verdicts == RESULT_VERDICTS_MAX)
		return;

	struct verdict *verdict = &tr->verdicts[tr->n_verdicts++];
	va_list args;

	snprintf(verdict->code, sizeof(verdict->code), "%s", code);
	verdict->figure = figure;
	va_start(args, fmt);
	vsnprintf(verdict->text, sizeof(verdict->text), fmt, args);
	va_end(args);
}

static void judge_errors(struct test_result *tr)
{
	uint64_t errors = stats_errors(tr->stats);

	if (errors)
		add(tr, "errors", (double)errors,
		    "%llu requests failed; the figures count only those that succeeded",
		    (unsigned long long)errors);
}

static void judge_stalls(struct test_result *tr)
{
	const struct gap *gap = &tr->longest_gap;
	double ios = 0, length_ns = (double)gap->at_least_ns;
	char pause[UNITS_TEXT_MAX], start[UNITS_TEXT_MAX];

	for (unsigned op = 0; op < STATS_OPS; op++)
		ios += (double)tr->stats->op[op].latency.count;
	if (gap->at_least_ns < STALL_MIN_NS ||
	    length_ns * ios < STALL_FACTOR * (double)tr->runtime_ns)
		return;
	add(tr, "stalls", length_ns, "no completion for %s%s, from %s on",
	    gap->at_least_ns < gap->at_most_ns ? "at least " : "",
	    units_format_time(gap->at_least_ns, pause), units_format_time(gap->start_ns, start));
}

static void judge_page_cache(struct test_result *tr)
{
	bool reads = tr->stats->op[STATS_READ].latency.count;
	bool writes = tr->stats->op[STATS_WRITE].latency.count && tr->sync == SYNC_NONE;

	if (tr->direct || !tr->ioengine[0] || !strcmp(tr->ioengine, "null"))
		return;
	if (reads)
		add(tr, "page-cache", NAN, "not O_DIRECT: reads may have been answered by memory");
	else if (writes)
		add(tr, "page-cache", NAN, "not O_DIRECT: writes were taken by memory first%s",
		    tr->fsync || tr->fdatasync ? ", only the syncs waited for the volume" : "");
}

/* Whether iodepth requests are outstanding all the time unless something keeps them from it. */
static bool keeps_depth(const struct test_result *tr)
{
	bool paced = tr->rate_iops || tr->rate || tr->thinktime_ns;
	bool syncs = tr->fsync || tr->fdatasync;
	bool by_amount = tr->loops || tr->io_size; /* ends with fewer and fewer */

	return tr->status == STATUS_OK && tr->runtime_ns && !paced && !syncs && !by_amount;
}

/*
 * Little's law: the sum of all latencies over the window is the mean number of requests
 * that were outstanding. What is missing is not in the mean latency either.
 */
static void judge_depth(struct test_result *tr)
{
	double asked = (double)(tr->iodepth * tr->numjobs), sum_ns = 0, outstanding;
	uint64_t longest_ns = 0;
	char longest[UNITS_TEXT_MAX];

	for (unsigned op = 0; op < STATS_SYNC; op++) {
		sum_ns += (double)tr->stats->op[op].latency.sum;
		longest_ns = max_u64(longest_ns, tr->stats->op[op].latency.max);
	}
	outstanding = sum_ns / (double)tr->runtime_ns;
	if (!keeps_depth(tr) || outstanding >= DEPTH_KEPT * asked)
		return;
	if (tr->stats->drained_max_ns > longest_ns)
		add(tr, "not-steady", outstanding,
		    "latencies are too low: one in flight at the end took %s, longer than any that "
		    "is "
		    "counted (a longer runtime counts them)",
		    units_format_time(tr->stats->drained_max_ns, longest));
	else
		add(tr, "engine", outstanding,
		    "%.3g of %.0f requests were outstanding on the average: pvcbench could not "
		    "send "
		    "them in time (more CPU, or fewer jobs)",
		    outstanding, asked);
}

void verdict_judge(struct test_result *tr)
{
	tr->n_verdicts = 0;
	if (!tr->stats)
		return;
	judge_errors(tr);
	judge_depth(tr);
	judge_stalls(tr);
	judge_page_cache(tr);
}
