/*
 * What is known of a rate comes from the steps alone, so that the next one is a function of them:
 *
 *	     met                             missed
 *	0 ----|---------------|----------------|------------- maximum
 *	   lowest         the next one      closed loop, at the beginning
 *
 * A rate that missed caps all above it, whatever these gave: volumes are noisy, and the claim is
 * that a rate keeps the target. A confirming step is longer than the others, so it overrules one
 * of the same rate.
 */
#include "result/search.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "result/verdict.h"

/* More than the least, since a mix is drawn. */
#define NEEDED_SPARE 1.25
#define NEEDED_LEAST 100
#define ROUNDING     1e-6 /* 0.1 % is not exact in a double */
/* How often the maximum is asked for until it can be judged. */
#define MAXIMUM_TRIES 3

const char *const search_judgements[] = {"meets", "misses", "behind", "void", NULL};
const char *const search_outcomes[] = {"",          "found",       "not-limited",
                                       "never-met", "unconfirmed", NULL};

/* ---- the plan ---- */

/* Of a mix, the share of the operation that has fewer requests. */
static double least_share(const struct test *test)
{
	double reads = (double)test->rwmixread / 100;

	if (!plan_rw_mixes(test->rw) || !test->rwmixread || test->rwmixread == 100)
		return 1;
	return fmin(reads, 1 - reads);
}

void search_init(struct search *search, const struct test *test)
{
	double beyond = 1 - test->latency_percentile / 100;

	*search = (struct search){0};
	if (!test->latency_target_ns)
		return;
	search->target_ns = test->latency_target_ns;
	search->percentile = test->latency_percentile;
	search->needed = (uint64_t)fmax(
	        ceil(NEEDED_SPARE * HIST_BEYOND_MIN / beyond / least_share(test) - ROUNDING),
	        NEEDED_LEAST);
	search->runtime_ns = test->runtime_ns;
	search->step_ns = test->runtime_ns / PLAN_SEARCH_STEP;
	search->confirm_ns = plan_search_confirm_ns(test);
}

static uint64_t counted(uint64_t length_ns)
{
	return length_ns - length_ns / SEARCH_RAMP_SHARE;
}

/* The least rate at which the longest step carries the percentile. */
static uint64_t least_rate(const struct search *search)
{
	double seconds = (double)counted(search->confirm_ns) / NSEC_PER_SEC;

	return (uint64_t)fmax(1, ceil((double)search->needed / seconds));
}

static uint64_t length_at(const struct search *search, double rate)
{
	double seconds = (double)search->needed / fmax(rate, 1);
	double length = seconds * SEARCH_RAMP_SHARE / (SEARCH_RAMP_SHARE - 1) * NSEC_PER_SEC;

	return (uint64_t)fmin(fmax(length, (double)search->step_ns), (double)search->confirm_ns);
}

/* ---- what the steps say ---- */

double search_step_iops(const struct search_step *step)
{
	return step->runtime_ns ? (double)step->ios * NSEC_PER_SEC / (double)step->runtime_ns : 0;
}

double search_maximum(const struct search *search)
{
	double most = 0;

	for (unsigned i = 0; i < search->n_steps; i++)
		if (!search->steps[i].rate_iops)
			most = fmax(most, search_step_iops(&search->steps[i]));
	return most;
}

static uint64_t lowest_rate(const struct search *search)
{
	return max_u64((uint64_t)search_maximum(search) / SEARCH_LOWEST, least_rate(search));
}

static bool misses(const struct search_step *step)
{
	return step->judgement == STEP_MISSES || step->judgement == STEP_BEHIND;
}

/* Whether a later confirming step says otherwise of the same rate. */
static bool is_overruled(const struct search *search, unsigned i)
{
	for (unsigned j = i + 1; j < search->n_steps; j++)
		if (search->steps[j].confirms && search->steps[j].judgement != STEP_VOID &&
		    search->steps[j].rate_iops == search->steps[i].rate_iops)
			return true;
	return false;
}

struct bracket {
	uint64_t meets;  /* the highest rate that did, below all that did not; 0: none */
	uint64_t misses; /* the lowest rate that did; the maximum where none did */
};

static struct bracket bracket_of(const struct search *search)
{
	struct bracket b = {.misses = (uint64_t)ceil(search_maximum(search))};

	for (unsigned i = 0; i < search->n_steps; i++)
		if (search->steps[i].rate_iops && misses(&search->steps[i]) &&
		    !is_overruled(search, i))
			b.misses = min_u64(b.misses, search->steps[i].rate_iops);
	for (unsigned i = 0; i < search->n_steps; i++)
		if (search->steps[i].judgement == STEP_MEETS &&
		    search->steps[i].rate_iops < b.misses)
			b.meets = max_u64(b.meets, search->steps[i].rate_iops);
	return b;
}

/* Of the steps in a closed loop: whether one was judged, and all that were met the target. */
static bool maximum_is_judged(const struct search *search, bool *meets)
{
	bool judged = false;

	*meets = true;
	for (unsigned i = 0; i < search->n_steps; i++) {
		const struct search_step *step = &search->steps[i];

		if (step->rate_iops || step->judgement == STEP_VOID)
			continue;
		judged = true;
		*meets &= step->judgement == STEP_MEETS;
	}
	*meets &= judged;
	return judged;
}

/* ---- what comes next ---- */

/* Why the maximum is of no use. */
static int blame_maximum(const struct search *search, struct err *err)
{
	char longest[UNITS_TEXT_MAX], runtime[UNITS_TEXT_MAX];
	double most = search_maximum(search), wants = (double)search->needed / fmax(most, 1e-3);
	double part = (double)search->runtime_ns / (double)counted(search->confirm_ns);

	if ((double)least_rate(search) < most)
		return err_set(err, ERR_TEST,
		               "the maximum could not be judged in %d steps (pvcbench was "
		               "suspended, or the volume's rate varies: try again)",
		               MAXIMUM_TRIES);
	return err_set(err, ERR_TEST,
	               "p%g needs %llu requests a step, and the maximum of %.3g IOPS gives fewer "
	               "in the longest of %s (a runtime of %s or more, or a lower "
	               "latency_percentile)",
	               search->percentile, (unsigned long long)search->needed, most,
	               units_format_time(counted(search->confirm_ns), longest),
	               units_format_time((uint64_t)(wants * part * 1.1 * NSEC_PER_SEC), runtime));
}

/* The last step of all, of which the first is always made and others while there is time. */
static void ask_to_confirm(const struct search *search, uint64_t rate, uint64_t elapsed_ns,
                           struct search_ask *ask)
{
	bool again = false;

	for (unsigned i = 0; i < search->n_steps; i++)
		again |= search->steps[i].confirms;
	*ask = (struct search_ask){SEARCH_CONFIRM, rate, search->confirm_ns};
	if (again && elapsed_ns + search->confirm_ns > search->runtime_ns)
		ask->what = SEARCH_OVER;
}

/* The first step may have been too short; one of the longest tells whether all are. */
static bool wants_maximum(const struct search *search)
{
	return search->n_steps < 2 || (search->n_steps < MAXIMUM_TRIES &&
	                               (double)least_rate(search) < search_maximum(search));
}

static void ask_for_maximum(const struct search *search, struct search_ask *ask)
{
	*ask = (struct search_ask){SEARCH_STEP, 0, search->step_ns};
	if (search->n_steps)
		ask->length_ns = length_at(search, search_maximum(search));
}

static void ask_for_rate(const struct search *search, uint64_t elapsed_ns, struct search_ask *ask)
{
	const struct search_step *last = &search->steps[search->n_steps - 1];
	struct bracket b = bracket_of(search);
	uint64_t lowest = lowest_rate(search), rate = lowest;
	bool is_lowest = b.misses <= lowest, is_narrow = false;

	if (b.meets) {
		is_narrow = b.misses - b.meets <= max_u64(1, b.misses / SEARCH_RESOLUTION);
		rate = b.meets + (b.misses - b.meets) / 2;
	}
	*ask = (struct search_ask){SEARCH_STEP, rate, length_at(search, (double)rate)};
	if (!is_lowest && !is_narrow && search->n_steps + 1 < SEARCH_STEPS_MAX &&
	    elapsed_ns + ask->length_ns + search->confirm_ns <= search->runtime_ns)
		return;
	rate = b.meets ? b.meets : lowest;
	if (last->confirms && last->judgement != STEP_VOID && last->rate_iops == rate)
		ask->what = SEARCH_OVER;
	else
		ask_to_confirm(search, rate, elapsed_ns, ask);
}

int search_next(const struct search *search, uint64_t elapsed_ns, struct search_ask *ask,
                struct err *err)
{
	bool meets, judged = maximum_is_judged(search, &meets);
	const struct search_step *last = &search->steps[max_u64(search->n_steps, 1) - 1];

	if (search->n_steps == SEARCH_STEPS_MAX)
		*ask = (struct search_ask){.what = SEARCH_OVER};
	else if (!judged && wants_maximum(search))
		ask_for_maximum(search, ask);
	else if (!judged || (double)least_rate(search) >= search_maximum(search))
		return blame_maximum(search, err);
	else if (meets && last->confirms)
		*ask = (struct search_ask){.what = SEARCH_OVER};
	else if (meets)
		ask_to_confirm(search, 0, elapsed_ns, ask);
	else
		ask_for_rate(search, elapsed_ns, ask);
	return 0;
}

/* ---- judging ---- */

/* The percentile of the slower operation; 0 where one with requests does not carry it. */
static uint64_t slower(const struct search *search, const struct stats *stats)
{
	uint64_t most = 0;

	for (unsigned op = STATS_READ; op <= STATS_WRITE; op++) {
		const struct hist *h = &stats->op[op].latency;

		if (!h->count)
			continue;
		if (!hist_percentile_carried(h, search->percentile))
			return 0;
		most = max_u64(most, max_u64(hist_percentile(h, search->percentile), 1));
	}
	return most;
}

static int judge(const struct search *search, const struct search_step *step)
{
	double due = (double)step->rate_iops * (double)step->runtime_ns / NSEC_PER_SEC;

	if ((double)step->ios + 2 < SEARCH_KEPT * due)
		return STEP_BEHIND;
	if (!step->latency_ns)
		return STEP_VOID;
	return step->latency_ns <= search->target_ns ? STEP_MEETS : STEP_MISSES;
}

void search_add(struct search *search, const struct search_ask *ask, const struct stats *stats,
                uint64_t window_ns, bool whole)
{
	struct search_step *step = &search->steps[search->n_steps++];

	*step = (struct search_step){
	        .rate_iops = ask->rate_iops,
	        .confirms = ask->what == SEARCH_CONFIRM,
	        .runtime_ns = window_ns,
	        .judgement = STEP_VOID,
	};
	if (!stats)
		return;
	step->ios = stats->op[STATS_READ].latency.count + stats->op[STATS_WRITE].latency.count;
	step->latency_ns = slower(search, stats);
	if (whole && window_ns && stats->suspended_max_ns < VERDICT_SUSPENDED_NS)
		step->judgement = judge(search, step);
}

void search_conclude(struct search *search)
{
	const struct search_step *last = &search->steps[max_u64(search->n_steps, 1) - 1];

	if (!last->confirms || last->judgement == STEP_VOID)
		search->outcome = SEARCH_UNCONFIRMED;
	else if (last->judgement == STEP_MEETS)
		search->outcome = last->rate_iops ? SEARCH_FOUND : SEARCH_NOT_LIMITED;
	else if (last->rate_iops && last->rate_iops <= lowest_rate(search))
		search->outcome = SEARCH_NEVER_MET;
	else
		search->outcome = SEARCH_UNCONFIRMED;
}

uint64_t search_found(const struct search *search)
{
	return search->outcome == SEARCH_FOUND ? search->steps[search->n_steps - 1].rate_iops : 0;
}

bool search_failed(const struct search *search)
{
	return search->target_ns && search->outcome != SEARCH_FOUND &&
	       search->outcome != SEARCH_NOT_LIMITED;
}

/* ---- words ---- */

static const char *latency_text(uint64_t latency_ns, char out[UNITS_TEXT_MAX])
{
	return latency_ns ? units_format_time(latency_ns, out) : "unknown";
}

static void found_text(const struct search *search, const struct search_step *last, char *out)
{
	struct bracket b = bracket_of(search);
	bool capped = (double)b.misses < search_maximum(search);
	char target[UNITS_TEXT_MAX], latency[UNITS_TEXT_MAX];

	snprintf(out, SEARCH_TEXT_MAX,
	         "%llu IOPS is the highest rate that keeps p%g within %s: confirmed at %s, %llu "
	         "IOPS %s",
	         (unsigned long long)last->rate_iops, search->percentile,
	         units_format_time(search->target_ns, target),
	         latency_text(last->latency_ns, latency), (unsigned long long)b.misses,
	         capped ? "missed it" : "is the maximum");
}

char *search_text(const struct search *search, char out[SEARCH_TEXT_MAX])
{
	const struct search_step *last = &search->steps[max_u64(search->n_steps, 1) - 1];
	char target[UNITS_TEXT_MAX], latency[UNITS_TEXT_MAX], iops[UNITS_TEXT_MAX];

	units_format_time(search->target_ns, target);
	units_format_iops(search_step_iops(last), iops);
	if (search->outcome == SEARCH_FOUND)
		found_text(search, last, out);
	else if (search->outcome == SEARCH_NOT_LIMITED)
		snprintf(out, SEARCH_TEXT_MAX,
		         "the target does not limit: at the maximum of the depth, %s IOPS, p%g is "
		         "%s, within %s",
		         iops, search->percentile, latency_text(last->latency_ns, latency), target);
	else if (search->outcome == SEARCH_NEVER_MET)
		snprintf(out, SEARCH_TEXT_MAX,
		         "no rate keeps p%g within %s: at the lowest that was tried, %llu IOPS, it "
		         "was %s",
		         search->percentile, target, (unsigned long long)last->rate_iops,
		         latency_text(last->latency_ns, latency));
	else if (search->outcome == SEARCH_UNCONFIRMED)
		snprintf(out, SEARCH_TEXT_MAX,
		         "no rate was confirmed to keep p%g within %s before the runtime was over: "
		         "the last, %s IOPS, gave %s (a longer runtime, or a steadier volume)",
		         search->percentile, target, iops, latency_text(last->latency_ns, latency));
	else
		snprintf(out, SEARCH_TEXT_MAX,
		         "the search for p%g within %s did not come to its end", search->percentile,
		         target);
	return out;
}

char *search_step_text(const struct search *search, unsigned i, char out[SEARCH_TEXT_MAX])
{
	static const char *const words[] = {"meets the target", "misses the target", "falls behind",
	                                    "not judged"};
	const struct search_step *step = &search->steps[i];
	char latency[UNITS_TEXT_MAX], iops[UNITS_TEXT_MAX], asked[UNITS_TEXT_MAX] = "closed loop";

	if (step->rate_iops)
		snprintf(asked, sizeof(asked), "%llu a second",
		         (unsigned long long)step->rate_iops);
	snprintf(out, SEARCH_TEXT_MAX, "%s %u: %s: %s IOPS, p%g %s, %s",
	         step->confirms ? "confirming step" : "search step", i + 1, asked,
	         units_format_iops(search_step_iops(step), iops), search->percentile,
	         latency_text(step->latency_ns, latency), words[step->judgement]);
	return out;
}

char *search_plan_text(const struct search *search, char out[SEARCH_TEXT_MAX])
{
	char target[UNITS_TEXT_MAX], step[UNITS_TEXT_MAX], confirm[UNITS_TEXT_MAX];

	snprintf(out, SEARCH_TEXT_MAX,
	         "highest rate with p%g within %s: steps of %s (longer where %llu requests take "
	         "longer), then %s at that rate; rates below %llu IOPS are not tried",
	         search->percentile, units_format_time(search->target_ns, target),
	         units_format_time(search->step_ns, step), (unsigned long long)search->needed,
	         units_format_time(search->confirm_ns, confirm),
	         (unsigned long long)least_rate(search));
	return out;
}
