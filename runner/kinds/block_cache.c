/*
 * Whether a block comes faster the second time. It is asked before the test, while most blocks
 * were touched by nothing but the layout; afterwards nobody knows which ones were. In rounds:
 *
 *	| 8 blocks of the first slice | the same | 8 of the second slice | the same | ...
 *
 * at depth 1, so that no queue hides it. What drifts or disturbs meets first and second reads
 * alike. The slices cut up the file, so no block is of two rounds.
 *
 * What goes wrong here is no failure of the test: then nothing is known of caches.
 */
#include "kinds/block.h"
#include "kinds/watch.h"

#define ROUNDS       8
#define ROUND_BLOCKS 8
/* The probe touches no more than one block in so many. */
#define SPARED 8

struct touch {
	struct hist first, again;
	bool broken;
};

/* One job that reads a few blocks of a slice at random, none twice; the same for a seed. */
static void fill_load(const struct block *b, unsigned round, struct load_job *job,
                      struct load_params *params)
{
	uint64_t slice = b->geometry.size / b->test->bs / ROUNDS * b->test->bs;

	job->pattern = (struct pattern_params){
	        .offset = job->pattern.offset + round * slice,
	        .bytes = slice,
	        .block_bytes = (uint32_t)b->test->bs,
	        .random = true,
	        .every_block_once = true,
	        .read_percent = 100,
	        .seed = random_mix(~b->seed + round),
	};
	*params = (struct load_params){
	        .engine = b->choice.engine,
	        .jobs = job,
	        .numjobs = 1,
	        .depth = 1,
	        .align = b->files[0].align,
	        .requests = ROUND_BLOCKS,
	        .seed = b->seed,
	};
}

static void read_round(struct block *b, unsigned round, struct hist *latency, bool *broken)
{
	struct load_job jobs[PLAN_JOBS_MAX];
	struct load_params params;
	struct load_outcome outcome = {0};
	struct err err;

	if (*broken || atomic_load(b->env->stop))
		return;
	block_load(b, jobs, &params);
	fill_load(b, round, jobs, &params);
	*broken = watch_load(b->env, &params, PHASE_CACHE, 0, &outcome, &err) || !outcome.stats ||
	          stats_errors(outcome.stats);
	if (outcome.stats)
		hist_merge(latency, &outcome.stats->op[STATS_READ].latency);
	b->unanswered |= outcome.held || (outcome.stats && outcome.stats->unfinished);
	stats_free(outcome.stats);
}

static void tell(const struct touch *touch, struct cache_probe *probe)
{
	*probe = (struct cache_probe){
	        .blocks = touch->first.count,
	        .first_ns = hist_percentile(&touch->first, 50),
	        .first_low_ns = hist_percentile(&touch->first, 10),
	        .again_ns = hist_percentile(&touch->again, 50),
	        .again_high_ns = hist_percentile(&touch->again, 90),
	};
}

void block_probe_cache(struct block *b)
{
	uint64_t most_ns = plan_cache_probe_ns(b->test), begin_ns = clock_now_ns();
	uint64_t blocks = b->geometry.size / b->test->bs;
	struct touch *touch;

	if (!most_ns || !b->tr->direct || blocks < ROUNDS * ROUND_BLOCKS * SPARED ||
	    b->choice.engine == &engine_null)
		return;
	touch = calloc(1, sizeof(*touch));
	for (unsigned round = 0;
	     touch && round < ROUNDS && clock_now_ns() - begin_ns < most_ns && !touch->broken;
	     round++) {
		read_round(b, round, &touch->first, &touch->broken);
		read_round(b, round, &touch->again, &touch->broken);
	}
	if (touch && !touch->broken && !atomic_load(b->env->stop))
		tell(touch, &b->tr->cache_probe);
	free(touch);
}
