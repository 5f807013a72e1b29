/*
 * Telling a load's progress, phase by phase.
 */
#include "kinds/watch.h"

#include "base/units.h"

#define POLL_NS (100 * NSEC_PER_MSEC)
/* So much counts of the time between two looks: a process may have been suspended. */
#define POLL_MOST_NS (500 * NSEC_PER_MSEC)
/* A sync of what the page cache holds is granted the time that a slow volume takes for it. */
#define SYNC_LEAST_BW (4 * MIB)

/* The phase, and the load's counters when it began. */
struct watch {
	int phase;
	struct load_progress begin;
	uint64_t ios, last_ns; /* at the last look */
	uint64_t silent_ns;    /* without a completion, look by look */
	uint64_t limit_ns;     /* of that; 0: none */
	bool syncs_cached;     /* and longer while a sync may be under way */
	uint64_t suspended_ns; /* the longest oversleeping since the ramp */
};

static void enter(struct watch *watch, int phase, const struct load_progress *now)
{
	watch->phase = phase;
	watch->begin = *now;
}

static void follow(struct watch *watch, const struct load_params *params,
                   const struct load_progress *now)
{
	if (watch->phase == PHASE_RAMP && now->elapsed_ns >= params->ramp_ns)
		enter(watch, PHASE_RUN, now);
	if (watch->phase == PHASE_RUN && now->ended)
		enter(watch, PHASE_DRAIN, now);
}

static uint64_t expected_ns(const struct watch *watch, const struct load_params *params)
{
	if (watch->phase == PHASE_RAMP)
		return params->ramp_ns;
	if (watch->phase == PHASE_LAYOUT)
		return params->runtime_ns;
	if (watch->phase == PHASE_PROBE || watch->phase == PHASE_SEARCH)
		return params->ramp_ns + params->runtime_ns;
	return watch->phase == PHASE_RUN && !params->requests ? params->runtime_ns : 0;
}

static void tell(struct kind_env *env, const struct watch *watch, const struct load_params *params,
                 const struct load_progress *now, uint64_t total_bytes)
{
	const struct load_progress *begin = &watch->begin;
	struct progress progress = {
	        .phase = watch->phase,
	        .elapsed_ns = now->elapsed_ns - begin->elapsed_ns,
	        .expected_ns = expected_ns(watch, params),
	        .bytes = now->bytes - begin->bytes,
	        .total_bytes = total_bytes,
	        .ios = now->ios - begin->ios,
	        .latency_sum_ns = now->latency_sum_ns - begin->latency_sum_ns,
	        .stalled_ns = now->idle_ns,
	};

	env->progress(env->arg, &progress);
}

static int unanswered(const struct stats *stats, struct err *err)
{
	char age[UNITS_TEXT_MAX];

	return err_set(err, ERR_TEST,
	               "%llu requests did not come back, the oldest is %s old (the volume does not "
	               "answer)",
	               (unsigned long long)stats->unfinished,
	               units_format_time(stats->unfinished_age_ns, age));
}

static int silent(const struct watch *watch, struct err *err)
{
	char time[UNITS_TEXT_MAX];

	return err_set(err, ERR_TEST,
	               "the volume does not answer: no request came back for %s (answer_time)",
	               units_format_time(watch->silent_ns, time));
}

/*
 * How long all requests may stay unanswered. A time ends a load anyway. What pauses of its own
 * is granted its pauses.
 */
static uint64_t silence_limit(const struct kind_env *env, const struct load_params *params)
{
	uint64_t pause_ns = params->thinktime_ns;

	if (!env->answer_ns || (params->runtime_ns && !params->requests))
		return 0;
	if (params->period_num_ns)
		pause_ns += params->period_num_ns / params->period_den;
	return env->answer_ns + pause_ns;
}

/* Whether it is over with the volume. */
static bool falls_silent(struct watch *watch, const struct load_progress *now)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t passed_ns = min_u64(now_ns - watch->last_ns, POLL_MOST_NS);

	watch->silent_ns = now->ios == watch->ios ? watch->silent_ns + passed_ns : 0;
	watch->ios = now->ios;
	watch->last_ns = now_ns;
	return watch->limit_ns &&
	       watch->silent_ns >=
	               watch->limit_ns + (watch->syncs_cached
	                                          ? now->bytes * (NSEC_PER_SEC / SYNC_LEAST_BW)
	                                          : 0);
}

/* The data of all write buffers is made before the first request. */
static void tell_start(struct kind_env *env, const struct load_params *params)
{
	kind_works(env, params->jobs[0].pattern.read_percent < 100 ? "making the data to write"
	                                                           : "preparing the requests");
}

/* Look for evidence; how long until the next look. */
static uint64_t gather(struct evidence *evidence, const struct load_params *params,
                       struct load *load)
{
	struct load_progress now;

	if (!evidence)
		return POLL_NS;
	load_progress(load, &now);
	return min_u64(evidence_gather(evidence, params, &now), POLL_NS);
}

/*
 * The load's end is awaited for timeout_ns. It sleeps and needs next to no CPU, whatever the
 * volume does: where that takes far longer, no thread of this process was let run.
 */
static bool await(struct watch *watch, const struct load_params *params, struct load *load,
                  uint64_t timeout_ns)
{
	uint64_t begin_ns = clock_now_ns();
	bool is_over = load_wait(load, timeout_ns);
	uint64_t took_ns = clock_now_ns() - begin_ns;
	uint64_t more_ns = took_ns > timeout_ns ? took_ns - timeout_ns : 0;
	struct load_progress now;

	load_progress(load, &now);
	if (now.elapsed_ns > params->ramp_ns) /* what of it was in the ramp is not counted */
		watch->suspended_ns = max_u64(watch->suspended_ns,
		                              min_u64(more_ns, now.elapsed_ns - params->ramp_ns));
	return is_over;
}

static void end_evidence(struct evidence *evidence, struct load *load)
{
	struct load_progress now;

	if (!evidence)
		return;
	load_progress(load, &now);
	evidence_end(evidence, &now);
}

struct beginning {
	const struct load_params *params; /* as the caller gave them */
	struct evidence *evidence;
};

static int begin(void *arg, struct err *err)
{
	const struct beginning *b = arg;

	if (b->params->gate && b->params->gate(b->params->gate_arg, err))
		return -1;
	if (b->evidence)
		evidence_begin(b->evidence, b->params);
	return 0;
}

int watch_load(struct kind_env *env, const struct load_params *params, int phase,
               uint64_t total_bytes, struct load_outcome *outcome, struct err *err)
{
	return watch_measured(env, params, phase, total_bytes, NULL, outcome, err);
}

int watch_measured(struct kind_env *env, const struct load_params *params, int phase,
                   uint64_t total_bytes, struct evidence *evidence, struct load_outcome *outcome,
                   struct err *err)
{
	bool ramps = params->ramp_ns && phase == PHASE_RUN;
	struct watch watch = {.phase = ramps ? PHASE_RAMP : phase,
	                      .limit_ns = silence_limit(env, params),
	                      .syncs_cached = params->align == 1 &&
	                                      (params->end_sync || params->sync_every)};
	struct beginning beginning = {.params = params, .evidence = evidence};
	struct load_params gated = *params;
	struct load_progress now;
	struct load *load;
	bool is_silent = false;
	int ret;

	gated.gate = begin;
	gated.gate_arg = &beginning;
	*outcome = (struct load_outcome){0};
	tell_start(env, params);
	if (load_start(&load, &gated, err))
		return -1;
	watch.last_ns = clock_now_ns();
	while (!await(&watch, params, load, gather(evidence, params, load))) {
		load_progress(load, &now);
		is_silent |= falls_silent(&watch, &now);
		if (is_silent || atomic_load(env->stop) ||
		    (params->verify && verify_is_broken(params->verify)))
			load_stop(load);
		follow(&watch, params, &now);
		tell(env, &watch, params, &now, total_bytes);
	}
	end_evidence(evidence, load);
	kind_asks(env, "the last requests");
	ret = load_finish(load, outcome, err);
	if (outcome->stats)
		outcome->stats->suspended_max_ns = watch.suspended_ns;
	if (ret)
		return ret;
	if (is_silent)
		return silent(&watch, err);
	if (!outcome->stats->unfinished || atomic_load(env->stop))
		return 0;
	return unanswered(outcome->stats, err);
}
