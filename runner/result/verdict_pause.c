/*
 * What stood still: the program itself, the volume, or a part of the requests that should have
 * been outstanding.
 */
#include "result/verdict_part.h"

#include "base/units.h"

/* A gap is a stall when it lasts this many times the mean time between the other completions. */
#define STALL_FACTOR 100
/* Of fewer that mean is no pace: requests that come back together leave long gaps. */
#define STALL_IOS_MIN 100
#define STALL_MIN_NS  NSEC_PER_SEC
/* The share of iodepth that must have been outstanding on the average. */
#define DEPTH_KEPT 0.9

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

bool verdict_lacks_the_longest(const struct test_result *tr)
{
	return (is_stalled(tr) && lasts_to_the_end(tr)) || (lost_depth(tr) && outlasts_all(tr));
}

/* By two witnesses: our thread overslept, and nothing came back either, within the window or around
 * its end. */
bool verdict_was_suspended(const struct test_result *tr)
{
	uint64_t silent_ns;

	if (!tr->stats || tr->stats->suspended_max_ns < VERDICT_SUSPENDED_NS)
		return false;
	silent_ns = max_u64(tr->longest_gap.at_most_ns, tr->stats->drained_max_ns);
	return silent_ns >= tr->stats->suspended_max_ns / 2;
}

void verdict_judge_suspended(struct test_result *tr)
{
	char time[UNITS_TEXT_MAX];

	if (!verdict_was_suspended(tr))
		return;
	verdict_add(
	        tr, "suspended", (double)tr->stats->suspended_max_ns,
	        "pvcbench itself did not run for %s: it, its pod or its machine was stopped, or "
	        "had no CPU; the figures are not the volume's alone (repeat it)",
	        units_format_time(tr->stats->suspended_max_ns, time));
}

void verdict_judge_stalls(struct test_result *tr)
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

void verdict_judge_depth(struct test_result *tr)
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
