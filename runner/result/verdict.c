/*
 * A verdict needs evidence, and each check below names its own:
 *
 *	cpu-quota, cpu, memory, page-cache
 *	            counters of the machine at both ends of the window (verdict_host.c)
 *	suspended   our own thread that only sleeps overslept by far: what was measured meanwhile
 *	            is not the volume's, and neither stalls nor a lost depth are (verdict_pause.c)
 *	errors      requests failed; rates count only those that succeeded
 *	latency-target
 *	            a search found the rate at which the latency is what the plan allows
 *	not-steady  fewer requests than iodepth waited on the average of the window, and
 *	            one in flight at its end took longer than any that is counted
 *	engine      the same without such a request: they were not sent in time (verdict_pause.c)
 *	server-cache
 *	            blocks read twice before the test, against the test's reads (verdict_cache.c)
 *	published-limit, burst, server-cache
 *	            the settled rate is about a limit that class.yaml states, or above it
 *	            (verdict.h); not of a load that paced itself, and not IOPS of a buffered
 *	            test, whose requests are not those that the volume gets (verdict_published.c)
 *	io-limit    the settled rate is about what a control group allows (verdict_host.c)
 *	queue-depth twice the depth gave clearly more, in a step after the test (verdict_series.c)
 *	burst, not-steady, noisy
 *	            how the rate went over time (verdict_series.c)
 *	stalls      a second or more passed without a completion, far longer than the
 *	            test's own mean pace explains (verdict_pause.c)
 *
 * A check that finds nothing says nothing: no verdict means that none of these
 * was found, not that nothing limited the test.
 */
#include "result/verdict_part.h"

#include <stdarg.h>
#include <string.h>

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

bool verdict_paces_itself(const struct test_result *tr)
{
	double iops = test_result_iops(tr, STATS_READ) + test_result_iops(tr, STATS_WRITE);
	double bw = test_result_bw(tr, STATS_READ) + test_result_bw(tr, STATS_WRITE);
	double kept = 0.98 * (double)max_u64(1, tr->pods.n); /* the pace is that of each pod */

	return tr->thinktime_ns || (tr->rate_iops && iops >= kept * (double)tr->rate_iops) ||
	       (tr->rate && bw >= kept * (double)tr->rate);
}

void verdict_judge_sum(struct test_result *tr, const struct conditions *conditions)
{
	tr->n_verdicts = 0;
	if (!tr->stats)
		return;
	judge_errors(tr);
	if (conditions)
		verdict_judge_published(tr, &conditions->class_limits);
}

void verdict_judge(struct test_result *tr, const struct conditions *conditions)
{
	tr->n_verdicts = 0;
	if (!tr->stats)
		return;
	if (result_is_table(tr)) {
		verdict_judge_table(tr, conditions);
		return;
	}
	verdict_judge_suspended(tr);
	judge_errors(tr);
	judge_search(tr);
	verdict_judge_quota(tr);
	if (!verdict_was_suspended(tr)) {
		verdict_judge_stalls(tr);
		verdict_judge_depth(tr);
	}
	verdict_judge_burst(tr, conditions);
	verdict_judge_cache(tr);
	verdict_judge_published(tr, &conditions->class_limits);
	verdict_judge_io_limit(tr, conditions);
	verdict_judge_page_cache(tr, conditions);
	verdict_judge_queue_depth(tr);
	verdict_judge_memory(tr, conditions);
	verdict_judge_cpu(tr, conditions);
	verdict_judge_steadiness(tr, conditions);
}
