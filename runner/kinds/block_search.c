/*
 * The highest rate that keeps a latency: load after load as result/search.c says, each with a part
 * at its beginning that is not counted.
 *
 *	| ramp_time | closed loop | lowest rate | rate | rate | ... | confirming step |
 *	                                                            | the figures     |
 *
 * Every load is at other offsets than those before it. What is in flight at the end of one has
 * come back before the next one starts; the backlog of a rate that the volume could not keep is
 * never sent.
 */
#include "kinds/block.h"
#include "kinds/watch.h"

/* The load that is asked for. */
static void make_load(const struct block *b, const struct search_ask *ask, struct load_job *jobs,
                      struct load_params *params)
{
	block_load(b, jobs, params);
	for (unsigned j = 0; j < b->test->numjobs; j++)
		jobs[j].pattern.seed =
		        random_mix(jobs[j].pattern.seed + b->tr->search.n_steps * PLAN_JOBS_MAX);
	if (ask->rate_iops) {
		params->period_num_ns = NSEC_PER_SEC * b->test->numjobs;
		params->period_den = ask->rate_iops;
	}
	params->ramp_ns = ask->length_ns / SEARCH_RAMP_SHARE;
	params->runtime_ns = ask->length_ns - params->ramp_ns;
	if (!b->tr->search.n_steps)
		params->ramp_ns += b->test->ramp_time_ns;
	params->end_sync &= ask->what == SEARCH_CONFIRM;
}

/* The figures of the test are those of this load, so it says how it was. */
static void describe(struct test_result *tr, const struct search_ask *ask,
                     const struct load_params *params)
{
	tr->rate_iops = ask->rate_iops;
	tr->ramp_time_ns = params->ramp_ns;
	tr->runtime_asked_ns = params->runtime_ns;
}

static int confirm(struct block *b, const struct search_ask *ask, const struct load_params *params,
                   struct err *err)
{
	struct test_result *tr = b->tr;
	int ret;

	describe(tr, ask, params);
	ret = block_measure(b, params, err);
	search_add(&tr->search, ask, tr->stats, tr->runtime_ns, !ret && !atomic_load(b->env->stop));
	return ret;
}

/* What a step that failed gave stays, with its errors. */
static int step(struct block *b, const struct search_ask *ask, const struct load_params *params,
                struct err *err)
{
	struct test_result *tr = b->tr;
	struct load_outcome outcome;
	int ret;

	ret = watch_load(b->env, params, PHASE_SEARCH, 0, &outcome, err);
	search_add(&tr->search, ask, outcome.stats, outcome.window_ns,
	           !ret && !atomic_load(b->env->stop));
	b->unanswered |= outcome.held || (outcome.stats && outcome.stats->unfinished);
	if (ret) {
		stats_free(tr->stats);
		describe(tr, ask, params);
		tr->stats = outcome.stats;
		tr->runtime_ns = outcome.window_ns;
	} else {
		stats_free(outcome.stats);
	}
	return ret;
}

static int run(struct block *b, const struct search_ask *ask, struct err *err)
{
	struct search *search = &b->tr->search;
	struct load_job jobs[PLAN_JOBS_MAX];
	struct load_params params;
	char text[SEARCH_TEXT_MAX];
	int ret;

	make_load(b, ask, jobs, &params);
	ret = ask->what == SEARCH_CONFIRM ? confirm(b, ask, &params, err)
	                                  : step(b, ask, &params, err);
	kind_says(b->env, search_step_text(search, search->n_steps - 1, text));
	return ret;
}

int block_search(struct block *b, struct err *err)
{
	struct search *search = &b->tr->search;
	uint64_t start_ns = clock_now_ns() + b->test->ramp_time_ns;
	char text[SEARCH_TEXT_MAX];

	kind_says(b->env, search_plan_text(search, text));
	while (!atomic_load(b->env->stop)) {
		uint64_t now_ns = max_u64(clock_now_ns(), start_ns);
		struct search_ask ask;

		if (search_next(search, now_ns - start_ns, &ask, err))
			return -1;
		if (ask.what == SEARCH_OVER) {
			search_conclude(search);
			kind_says(b->env, search_text(search, text));
			return 0;
		}
		if (run(b, &ask, err))
			return -1;
	}
	return 0;
}
