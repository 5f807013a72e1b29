/*
 * Whether a test's depth limited it cannot be read from the test: that depth, rate and
 * latency fit together is Little's law, and always true. So it is asked: the same load at
 * twice the depth, at once after the test, before the volume has rested; then one request
 * at a time, for the latency that no depth makes.
 *
 *	| ramp | window        | twice the depth    | depth 1      |
 *	                       | a fifth | counted  | a fifth | .. |
 *
 * None of it is in a figure of the test. What goes wrong here is no failure of it either:
 * then nothing is known of the depth.
 */
#include "base/workers.h"
#include "kinds/block.h"
#include "kinds/watch.h"

#define RAMP_SHARE 5
/* Of the probe, the part at twice the depth, in fifths. */
#define DEEP_FIFTHS 3

static bool fits(const struct block *b, uint64_t iodepth)
{
	bool by_threads = b->choice.engine->max_depth == 1;
	struct geometry geometry = b->geometry;
	struct err err;

	geometry.iodepth = iodepth;
	if (geometry_fit_memory(&geometry, b->test, b->env->host, by_threads, &err))
		return false;
	return geometry.iodepth == iodepth &&
	       (!by_threads || iodepth * b->test->numjobs <= WORKERS_MAX);
}

/* Other offsets than those of the test, which may be cached by now. */
static void start_elsewhere(struct load_job *jobs, unsigned n, uint64_t step)
{
	for (unsigned j = 0; j < n; j++)
		jobs[j].pattern.seed = random_mix(jobs[j].pattern.seed + step);
}

/* Whether it came to its end with nothing wrong. The caller frees the stats in every case. */
static bool run_step(struct block *b, unsigned numjobs, unsigned depth, uint64_t step_ns,
                     struct load_outcome *outcome)
{
	struct load_job jobs[PLAN_JOBS_MAX];
	struct load_params params;
	struct err err;
	int ret;

	*outcome = (struct load_outcome){0};
	if (atomic_load(b->env->stop) || b->unanswered)
		return false;
	block_load(b, jobs, &params);
	start_elsewhere(jobs, numjobs, depth);
	params.numjobs = numjobs;
	params.depth = depth;
	params.ramp_ns = step_ns / RAMP_SHARE;
	params.runtime_ns = step_ns - params.ramp_ns;
	ret = watch_load(b->env, &params, PHASE_PROBE, 0, outcome, &err);
	b->unanswered |= outcome->held || (outcome->stats && outcome->stats->unfinished);
	return !ret && !stats_errors(outcome->stats) && !atomic_load(b->env->stop);
}

static void probe_deep(struct block *b, uint64_t step_ns)
{
	struct limits_probe *probe = &b->tr->limits_probe;
	uint64_t iodepth = 2 * b->geometry.iodepth;
	struct load_outcome outcome;

	if (run_step(b, (unsigned)b->test->numjobs, (unsigned)iodepth, step_ns, &outcome))
		*probe = (struct limits_probe){
		        .iodepth = iodepth,
		        .ios = outcome.stats->op[STATS_READ].latency.count +
		               outcome.stats->op[STATS_WRITE].latency.count,
		        .runtime_ns = outcome.window_ns,
		};
	stats_free(outcome.stats);
}

static void probe_floor(struct block *b, uint64_t step_ns)
{
	struct load_outcome outcome;
	enum stats_op op = plan_reads(b->test) ? STATS_READ : STATS_WRITE;

	if (run_step(b, 1, 1, step_ns, &outcome) && outcome.stats->op[op].latency.count)
		b->tr->limits_probe.floor_ns = hist_percentile(&outcome.stats->op[op].latency, 50);
	stats_free(outcome.stats);
}

void block_probe_limits(struct block *b)
{
	uint64_t all_ns = plan_limits_probe_ns(b->test), deep_ns = all_ns / 5 * DEEP_FIFTHS;

	if (!all_ns || !b->tr->direct || b->tr->first_write || !fits(b, 2 * b->geometry.iodepth))
		return;
	probe_deep(b, deep_ns);
	if (b->tr->limits_probe.iodepth)
		probe_floor(b, all_ns - deep_ns);
}
