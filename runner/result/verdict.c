/*
 * A verdict needs evidence, and each check below names its own:
 *
 *	cpu-quota, cpu, memory, page-cache
 *	            counters of the machine at both ends of the window (verdict_host.c)
 *	suspended   our own thread that only sleeps overslept by far: what was measured meanwhile
 *	            is not the volume's, and neither stalls nor a lost depth are
 *	errors      requests failed; rates count only those that succeeded
 *	latency-target
 *	            a search found the rate at which the latency is what the plan allows
 *	not-steady  fewer requests than iodepth waited on the average of the window, and
 *	            one in flight at its end took longer than any that is counted
 *	engine      the same without such a request: they were not sent in time
 *	server-cache
 *	            blocks read twice before the test, against the test's reads (verdict_cache.c)
 *	published-limit, burst, server-cache
 *	            the settled rate is about a limit that class.yaml states, or above it
 *	            (verdict.h); not of a load that paced itself, and not IOPS of a buffered
 *	            test, whose requests are not those that the volume gets
 *	io-limit    the settled rate is about what a control group allows (verdict_host.c)
 *	queue-depth twice the depth gave clearly more, in a step after the test (verdict_series.c)
 *	burst, not-steady, noisy
 *	            how the rate went over time (verdict_series.c)
 *	stalls      a second or more passed without a completion, far longer than the
 *	            test's own mean pace explains
 *
 * A check that finds nothing says nothing: no verdict means that none of these
 * was found, not that nothing limited the test.
 *
 * A threshold is judged only by a figure that may be relied on. What was cut short, measured
 * under a concession or a suspension, or given by a cache is not-judged, with one exception: a
 * count or a pause that only grows has failed for good once it is too large.
 */
#include "result/verdict_part.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/units.h"

/* A gap is a stall when it lasts this many times the mean time between the other completions. */
#define STALL_FACTOR 100
/* Of fewer that mean is no pace: requests that come back together leave long gaps. */
#define STALL_IOS_MIN 100
#define STALL_MIN_NS  NSEC_PER_SEC
/* The share of iodepth that must have been outstanding on the average. */
#define DEPTH_KEPT 0.9

/* ---- what the window's end cut off ---- */

static bool is_stalled(const struct test_result *tr)
{
	double ios = 0, length_ns = (double)tr->longest_gap.at_least_ns;

	for (unsigned op = 0; op < STATS_OPS; op++)
		ios += (double)tr->stats->op[op].latency.count;
	return length_ns >= STALL_MIN_NS && ios >= STALL_IOS_MIN &&
	       length_ns * ios >= STALL_FACTOR * ((double)tr->runtime_ns - length_ns);
}

/* A stall that the window's end cut off: what waited in it is in no latency. */
static bool lasts_to_the_end(const struct test_result *tr)
{
	return tr->longest_gap.start_ns + tr->longest_gap.at_least_ns >= tr->runtime_ns &&
	       tr->stats->drained_max_ns + tr->stats->unfinished_age_ns > 0;
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
static double outstanding(const struct test_result *tr)
{
	double sum_ns = 0;

	for (unsigned op = 0; op < STATS_SYNC; op++)
		sum_ns += (double)tr->stats->op[op].latency.sum;
	return sum_ns / (double)tr->runtime_ns;
}

static bool lost_depth(const struct test_result *tr)
{
	return keeps_depth(tr) &&
	       outstanding(tr) < DEPTH_KEPT * (double)(tr->iodepth * tr->numjobs);
}

/* One in flight at the window's end took longer than any that is counted. */
static bool outlasts_all(const struct test_result *tr)
{
	uint64_t longest_ns = 0;

	for (unsigned op = 0; op < STATS_SYNC; op++)
		longest_ns = max_u64(longest_ns, tr->stats->op[op].latency.max);
	return tr->stats->drained_max_ns > longest_ns;
}

/* What waited longest is in no latency, so that they are too low. */
static bool lacks_the_longest(const struct test_result *tr)
{
	return (is_stalled(tr) && lasts_to_the_end(tr)) || (lost_depth(tr) && outlasts_all(tr));
}

/* ---- thresholds ---- */

/* What was measured: exactly `low`, or, where only bounds are known, in [low, high]. */
struct figure {
	bool known;
	double low, high;
};

static const struct figure unknown;

/* By two witnesses: then nothing came back either, within the window or around its end. */
static bool was_suspended(const struct test_result *tr)
{
	uint64_t silent_ns;

	if (!tr->stats || tr->stats->suspended_max_ns < VERDICT_SUSPENDED_NS)
		return false;
	silent_ns = max_u64(tr->longest_gap.at_most_ns, tr->stats->drained_max_ns);
	return silent_ns >= tr->stats->suspended_max_ns / 2;
}

static struct figure exactly(double value)
{
	return (struct figure){.known = true, .low = value, .high = value};
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
	if (tr->status != STATUS_OK || !test_result_measured(tr, op) || conceded(tr, test) ||
	    was_suspended(tr) || was_cached(tr, op) || search_failed(&tr->search))
		return unknown;
	if (expect->metric == METRIC_IOPS)
		return exactly(test_result_iops(tr, op));
	if (expect->metric == METRIC_BW)
		return exactly(test_result_bw(tr, op));

	struct figure figure = latency_figure(&tr->stats->op[op].latency, expect);

	if (lacks_the_longest(tr) && expect->metric != METRIC_MIN)
		figure.high = INFINITY;
	return figure;
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

static struct figure stall_figure(const struct test_result *tr, const struct test *test)
{
	const struct gap *gap = &tr->longest_gap;
	struct figure figure = {
	        .known = true,
	        .low = (double)gap->at_least_ns,
	        .high = (double)gap->at_most_ns,
	};

	if (!gap->at_most_ns || conceded(tr, test) || was_suspended(tr) ||
	    was_cached(tr, STATS_READ) || was_cached(tr, STATS_WRITE))
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
		return stall_figure(tr, test);
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

void verdict_add(struct test_result *tr, const char *code, double figure, const char *fmt, ...)
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

bool verdict_has(const struct test_result *tr, const char *code)
{
	for (unsigned i = 0; i < tr->n_verdicts; i++)
		if (!strcmp(tr->verdicts[i].code, code))
			return true;
	return false;
}

static void judge_suspended(struct test_result *tr)
{
	char time[UNITS_TEXT_MAX];

	if (!was_suspended(tr))
		return;
	verdict_add(
	        tr, "suspended", (double)tr->stats->suspended_max_ns,
	        "pvcbench itself did not run for %s: it, its pod or its machine was stopped, or "
	        "had no CPU; the figures are not the volume's alone (repeat it)",
	        units_format_time(tr->stats->suspended_max_ns, time));
}

static void judge_errors(struct test_result *tr)
{
	uint64_t errors = stats_errors(tr->stats);

	if (errors)
		verdict_add(tr, "errors", (double)errors,
		            "%llu requests failed; the figures count only those that succeeded "
		            "(the kernel's log of the node often says why)",
		            (unsigned long long)errors);
}

/* A target that no rate met, or only the maximum, limits nothing. */
static void judge_search(struct test_result *tr)
{
	char text[SEARCH_TEXT_MAX];
	uint64_t found = search_found(&tr->search);

	if (found)
		verdict_add(tr, "latency-target", (double)found, "%s",
		            search_text(&tr->search, text));
}

static void judge_stalls(struct test_result *tr)
{
	const struct gap *gap = &tr->longest_gap;
	const char *cut_off = lasts_to_the_end(tr) ? "; the window's end cut it off, so latencies "
	                                             "are too low (a longer runtime counts them)"
	                                           : "";
	char pause[UNITS_TEXT_MAX], start[UNITS_TEXT_MAX];

	if (!is_stalled(tr))
		return;
	verdict_add(tr, "stalls", (double)gap->at_least_ns,
	            "no completion for %s%s, from %s on: the volume or the way to it stood still "
	            "(look into its log of that time)%s",
	            gap->at_least_ns < gap->at_most_ns ? "at least " : "",
	            units_format_time(gap->at_least_ns, pause),
	            units_format_time(gap->start_ns, start), cut_off);
}

static void judge_depth(struct test_result *tr)
{
	char longest[UNITS_TEXT_MAX];

	if (!lost_depth(tr) || (lasts_to_the_end(tr) && verdict_has(tr, "stalls")))
		return;
	if (outlasts_all(tr))
		verdict_add(tr, "not-steady", outstanding(tr),
		            "latencies are too low: one in flight at the end took %s, longer than "
		            "any that is counted (a longer runtime counts them)",
		            units_format_time(tr->stats->drained_max_ns, longest));
	else
		verdict_add(
		        tr, "engine", outstanding(tr),
		        "%.3g of %.0f requests were outstanding on the average: pvcbench could not "
		        "send them in time (more CPU, or fewer jobs)",
		        outstanding(tr), (double)(tr->iodepth * tr->numjobs));
}

/* ---- the published limits ---- */

/* A rate beside a limit: of one operation, or of reads and writes together. */
struct held {
	enum published_figure figure;
	const char *whose;
	double rate, mean; /* requests or bytes a second: settled, and over the whole window */
	struct published_limit limit;
};

enum standing { STANDS_BELOW, STANDS_AT_BASE, STANDS_IN_BURST, STANDS_AT_BURST, STANDS_ABOVE };

static double mean_rate(const struct test_result *tr, enum stats_op op,
                        enum published_figure figure)
{
	return figure == PUBLISHED_BW ? test_result_bw(tr, op) : test_result_iops(tr, op);
}

/*
 * By the series' whole intervals, behind a burst where one is seen; the mean where these are too
 * few for halves.
 */
double verdict_settled_rate(const struct test_result *tr, enum stats_op op,
                            enum published_figure figure)
{
	const struct series *series = &tr->stats->op[op].series;
	uint64_t end = tr->runtime_ns / series->interval_ns, first = (end + 1) / 2, sum = 0;

	if (end < 4)
		return mean_rate(tr, op, figure);
	first = max_u64(first, verdict_settles_at(tr) / series->interval_ns);
	for (uint64_t i = first; i < min_u64(end, SERIES_SLOTS); i++)
		sum += figure == PUBLISHED_BW ? series->slot[i].bytes : series->slot[i].ios;
	return (double)sum * NSEC_PER_SEC / ((double)(end - first) * (double)series->interval_ns);
}

static enum standing stand(const struct held *held)
{
	double base = held->rate / held->limit.base, burst = held->rate / held->limit.burst;

	if (!(base >= VERDICT_LIMITED))
		return STANDS_BELOW;
	if (base <= VERDICT_ABOVE)
		return STANDS_AT_BASE;
	if (isnan(held->limit.burst) || burst > VERDICT_ABOVE)
		return STANDS_ABOVE;
	return burst < VERDICT_LIMITED ? STANDS_IN_BURST : STANDS_AT_BURST;
}

/* Of the limit that its standing is about. */
static double share(const struct held *held)
{
	enum standing standing = stand(held);
	bool of_burst = standing == STANDS_AT_BURST ||
	                (standing == STANDS_ABOVE && !isnan(held->limit.burst));

	return held->rate / (of_burst ? held->limit.burst : held->limit.base);
}

/* Every rate of the test that there may be a limit for; returns how many. */
static unsigned hold(const struct test_result *tr, const struct published *p, struct held out[4])
{
	static const char *const whose[] = {[STATS_READ] = "read ", [STATS_WRITE] = "write "};
	bool mixed = plan_rw_mixes(tr->rw), apart = mixed && p->scope == SCOPE_EACH;
	unsigned n = 0;

	for (unsigned f = tr->direct ? PUBLISHED_IOPS : PUBLISHED_BW; f <= PUBLISHED_BW; f++) {
		enum published_figure figure = (enum published_figure)f;
		struct held held = {.figure = figure, .whose = mixed ? "read + write " : ""};

		held.limit = published_limit(p, figure, tr->bs);
		for (unsigned op = STATS_READ; op <= STATS_WRITE; op++) {
			struct held alone = {.figure = figure, .whose = whose[op]};

			alone.limit = held.limit;
			alone.rate = verdict_settled_rate(tr, (enum stats_op)op, figure);
			alone.mean = mean_rate(tr, (enum stats_op)op, figure);
			held.rate += alone.rate;
			held.mean += alone.mean;
			if (apart)
				out[n++] = alone;
		}
		if (!apart)
			out[n++] = held;
	}
	return n;
}

/* "349MiB/s", or "2000 IOPS (each counted as 4)": the rate in the words of the table. */
static void held_text(const struct held *held, const struct test_result *tr,
                      const struct published *p, char *out, size_t size)
{
	uint64_t count = published_count(p, tr->bs);
	bool differs = fabs(held->rate - held->mean) > 0.02 * held->mean;
	char rate[UNITS_TEXT_MAX], counted[2 * UNITS_TEXT_MAX] = "";

	if (held->figure == PUBLISHED_BW)
		units_format_bw(held->rate, rate);
	else
		units_format_iops(held->rate, rate);
	if (held->figure == PUBLISHED_IOPS && count > 1)
		snprintf(counted, sizeof(counted), " (each counted as %llu)",
		         (unsigned long long)count);
	snprintf(out, size, "%s%s%s%s%s", held->whose, rate,
	         held->figure == PUBLISHED_IOPS ? " IOPS" : "", counted,
	         differs ? " in the second half of the window" : "");
}

/* What the limits of the figure are in the words of class.yaml; "" where none is stated. */
static void limit_texts(const struct held *held, const struct published *p, char *base, char *burst)
{
	bool is_bw = held->figure == PUBLISHED_BW;

	*burst = '\0';
	published_format(held->figure, is_bw ? p->mib_per_s : p->iops, base);
	if (!isnan(held->limit.burst))
		published_format(held->figure, is_bw ? p->burst_mib_per_s : p->burst_iops, burst);
}

static void tell_held(struct test_result *tr, const struct held *held, const struct published *p)
{
	char rate[RESULT_TEXT_MAX], base[UNITS_TEXT_MAX], burst[UNITS_TEXT_MAX];
	char lasts[UNITS_TEXT_MAX] = "";
	uint64_t burst_ns = held->figure == PUBLISHED_IOPS ? published_burst_ns(p) : 0;
	double part = share(held);

	held_text(held, tr, p, rate, sizeof(rate));
	limit_texts(held, p, base, burst);
	if (burst_ns)
		units_format_time(burst_ns, lasts);
	switch (stand(held)) {
	case STANDS_AT_BASE:
		verdict_add(tr, "published-limit", part, "%s: %.3g %% of the class's %s (%s)", rate,
		            100 * part, base, p->source);
		break;
	case STANDS_AT_BURST:
		verdict_add(tr, "published-limit", part,
		            "%s: %.3g %% of the class's burst limit of %s, its base is %s%s%s (%s)",
		            rate, 100 * part, burst, base, burst_ns ? ", a full bucket lasts " : "",
		            lasts, p->source);
		break;
	case STANDS_IN_BURST:
		verdict_add(tr, "burst", part,
		            "%s: %.3g times the class's %s, within its burst limit of %s (%s): it "
		            "does not "
		            "last",
		            rate, part, base, burst, p->source);
		break;
	case STANDS_ABOVE:
		verdict_add(tr, "server-cache", part,
		            "%s: %.3g times the class's %s%s (%s): a cache, or a volume that "
		            "class.yaml "
		            "does not describe",
		            rate, part, *burst ? "burst limit of " : "", *burst ? burst : base,
		            p->source);
		break;
	case STANDS_BELOW:
		break;
	}
}

bool verdict_paces_itself(const struct test_result *tr)
{
	double iops = test_result_iops(tr, STATS_READ) + test_result_iops(tr, STATS_WRITE);
	double bw = test_result_bw(tr, STATS_READ) + test_result_bw(tr, STATS_WRITE);
	double kept = 0.98 * (double)max_u64(1, tr->pods.n); /* the pace is that of each pod */

	return tr->thinktime_ns || (tr->rate_iops && iops >= kept * (double)tr->rate_iops) ||
	       (tr->rate && bw >= kept * (double)tr->rate);
}

/* The rate that is closest to its limit, and the one that is furthest above. */
static void judge_published(struct test_result *tr, const struct published *p)
{
	const struct held *at = NULL, *above = NULL;
	struct held held[4];
	unsigned n;

	if (!p->source[0] || !tr->runtime_ns || !strcmp(tr->ioengine, "null") ||
	    verdict_paces_itself(tr))
		return;
	n = hold(tr, p, held);
	for (unsigned i = 0; i < n; i++) {
		enum standing standing = stand(&held[i]);

		if (standing == STANDS_AT_BASE || standing == STANDS_AT_BURST) {
			if (!at || share(&held[i]) > share(at))
				at = &held[i];
		} else if (standing != STANDS_BELOW && tr->direct) {
			if (!above || share(&held[i]) > share(above))
				above = &held[i];
		}
	}
	if (at)
		tell_held(tr, at, p);
	if (above && !verdict_has(tr, "server-cache"))
		tell_held(tr, above, p);
}

/* Whether a rate of it stands above the base, and no end of that was seen. */
static bool may_burst(const struct test_result *tr, const struct published *p)
{
	struct held held[4];
	unsigned n;

	if (!tr->runtime_ns || !tr->stats || !tr->direct || verdict_settles_at(tr))
		return false;
	n = hold(tr, p, held);
	for (unsigned i = 0; i < n; i++) {
		enum standing standing = stand(&held[i]);

		if (standing == STANDS_IN_BURST || standing == STANDS_AT_BURST)
			return true;
	}
	return false;
}

bool verdict_too_short(const struct result *result, char out[RESULT_TEXT_MAX])
{
	char lasts[UNITS_TEXT_MAX] = "";

	for (unsigned i = 0; i < result->n_tests; i++) {
		const struct test_result *tr = &result->tests[i];
		const struct published *p = &result_conditions(result, tr)->class_limits;
		uint64_t burst_ns = published_burst_ns(p);

		if (!may_burst(tr, p) || (burst_ns && burst_ns <= tr->runtime_ns))
			continue;
		if (burst_ns)
			units_format_time(burst_ns, lasts);
		snprintf(out, RESULT_TEXT_MAX,
		         "too short to know what lasts: '%.80s' stayed above the class's base, and "
		         "its burst credit may last %s",
		         tr->name, burst_ns ? lasts : "longer than the window");
		return true;
	}
	return false;
}

void verdict_judge_sum(struct test_result *tr, const struct conditions *conditions)
{
	tr->n_verdicts = 0;
	if (!tr->stats)
		return;
	judge_errors(tr);
	if (conditions)
		judge_published(tr, &conditions->class_limits);
}

void verdict_judge(struct test_result *tr, const struct conditions *conditions)
{
	tr->n_verdicts = 0;
	if (!tr->stats)
		return;
	judge_suspended(tr);
	judge_errors(tr);
	judge_search(tr);
	verdict_judge_quota(tr);
	if (!was_suspended(tr)) {
		judge_stalls(tr);
		judge_depth(tr);
	}
	verdict_judge_burst(tr, conditions);
	verdict_judge_cache(tr);
	judge_published(tr, &conditions->class_limits);
	verdict_judge_io_limit(tr, conditions);
	verdict_judge_page_cache(tr, conditions);
	verdict_judge_queue_depth(tr);
	verdict_judge_memory(tr, conditions);
	verdict_judge_cpu(tr, conditions);
	verdict_judge_steadiness(tr, conditions);
}
