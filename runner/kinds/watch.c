/*
 * Telling a load's progress, phase by phase.
 */
#include "kinds/watch.h"

#include "base/units.h"

#define POLL_NS (100 * NSEC_PER_MSEC)

/* The phase, and the load's counters when it began. */
struct watch {
	int phase;
	struct load_progress begin;
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

	env->progress(env->progress_arg, &progress);
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

int watch_load(struct kind_env *env, const struct load_params *params, int phase,
               uint64_t total_bytes, struct load_outcome *outcome, struct err *err)
{
	struct watch watch = {.phase = params->ramp_ns ? PHASE_RAMP : phase};
	struct load_progress now;
	struct load *load;

	*outcome = (struct load_outcome){0};
	if (load_start(&load, params, err))
		return -1;
	while (!load_wait(load, POLL_NS)) {
		if (atomic_load(env->stop) ||
		    (params->verify && verify_is_broken(params->verify)))
			load_stop(load);
		load_progress(load, &now);
		follow(&watch, params, &now);
		tell(env, &watch, params, &now, total_bytes);
	}
	if (load_finish(load, outcome, err))
		return -1;
	if (!outcome->stats->unfinished || atomic_load(env->stop))
		return 0;
	return unanswered(outcome->stats, err);
}
