/*
 * A threshold is judged only by a figure that may be relied on. What was cut short, measured
 * under a concession or a suspension, or given by a cache is not-judged, with one exception: a
 * count or a pause that only grows has failed for good once it is too large.
 */
#include "result/verdict_part.h"

#include <math.h>

static const struct measured unknown;

static struct measured exactly(double value)
{
	return (struct measured){.known = true, .low = value, .high = value};
}

/* Whether something was conceded that changes what reads and writes cost. */
static bool conceded(const struct test_result *tr, const struct test *test)
{
	bool buffered = test->direct != PLAN_DIRECT_FALSE && !tr->direct;
	/* what class.yaml takes off is a part of what was asked for */
	bool smaller = tr->size < (tr->size_class ? tr->size_class : tr->size_asked);
	bool shallower = tr->iodepth < test->iodepth;

	return buffered || smaller || shallower || tr->figures_conceded;
}

/* O_DIRECT was asked for and given, and yet a cache made the figure. */
static bool was_cached(const struct test_result *tr, enum stats_op op)
{
	return (tr->direct && tr->usage.in_memory) || verdict_from_memory(tr, op) ||
	       (op == STATS_READ && verdict_from_cache(tr));
}

static struct measured percentile_figure(const struct hist *latency, double percent)
{
	if (percent >= 100)
		return exactly((double)latency->max);
	if (!hist_percentile_carried(latency, percent))
		return unknown;
	return exactly((double)hist_percentile(latency, percent));
}

static struct measured latency_figure(const struct hist *latency, const struct expect *expect)
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

static struct measured op_figure(const struct test_result *tr, enum stats_op op,
                                 const struct expect *expect)
{
	if (tr->status != STATUS_OK || !test_result_measured(tr, op) || verdict_was_suspended(tr) ||
	    was_cached(tr, op) || search_failed(&tr->search))
		return unknown;
	if (expect->metric == METRIC_IOPS)
		return exactly(test_result_iops(tr, op));
	if (expect->metric == METRIC_BW)
		return exactly(test_result_bw(tr, op));

	struct measured figure = latency_figure(&tr->stats->op[op].latency, expect);

	if (verdict_lacks_the_longest(tr) && expect->metric != METRIC_MIN)
		figure.high = INFINITY;
	return figure;
}

static struct measured errors_figure(const struct test_result *tr)
{
	if (!tr->stats)
		return unknown;

	struct measured figure = exactly((double)stats_errors(tr->stats));

	if (tr->status != STATUS_OK)
		figure.high = INFINITY;
	return figure;
}

static struct measured stall_figure(const struct test_result *tr)
{
	const struct gap *gap = &tr->longest_gap;
	struct measured figure = {
	        .known = true,
	        .low = (double)gap->at_least_ns,
	        .high = (double)gap->at_most_ns,
	};

	if (!gap->at_most_ns || verdict_was_suspended(tr) || was_cached(tr, STATS_READ) ||
	    was_cached(tr, STATS_WRITE))
		return unknown;
	if (tr->status != STATUS_OK)
		figure.high = INFINITY;
	return figure;
}

struct measured verdict_measured(const struct test_result *tr, const struct expect *expect)
{
	switch (expect->subject) {
	case EXPECT_READ:
		return op_figure(tr, STATS_READ, expect);
	case EXPECT_WRITE:
		return op_figure(tr, STATS_WRITE, expect);
	case EXPECT_SYNC:
		return op_figure(tr, STATS_SYNC, expect);
	case EXPECT_ERRORS:
		return errors_figure(tr);
	default:
		return stall_figure(tr);
	}
}

/* How many requests failed is told whatever was conceded. */
static struct measured measure(const struct test_result *tr, const struct test *test,
                               const struct expect *expect)
{
	if (expect->subject != EXPECT_ERRORS && conceded(tr, test))
		return unknown;
	return verdict_measured(tr, expect);
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
static bool low_decides(const struct expect *expect, struct measured figure, bool answer)
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
void verdict_hold(struct expectation *out, const struct expect *expect, struct measured figure)
{
	bool low = holds(expect->op, figure.low, expect->value);
	bool high = holds(expect->op, figure.high, expect->value);
	bool exact = figure.low == figure.high;
	bool between = figure.low <= expect->value && expect->value <= figure.high;

	snprintf(out->expr, sizeof(out->expr), "%s", expect->text);
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
	for (unsigned i = 0; i < test->n_expect; i++)
		verdict_hold(&tr->expect[i], &test->expect[i], measure(tr, test, &test->expect[i]));
}
