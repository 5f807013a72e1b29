/*
 * Starting the threads of a load, watching them, adding up what they counted.
 * A job has one thread where the engine holds many requests in flight, else one
 * for each.
 */
#include "load/load.h"

#include <assert.h>

#include "base/workers.h"
#include "load/worker.h"

/* How much longer than the drain a thread may take to come home. */
#define HOME_NS (500 * NSEC_PER_MSEC)

struct load {
	struct load_params params;
	struct worker_clock clock;
	struct worker_job *jobs;
	struct worker *threads;
	unsigned n_threads;
	struct workers *workers;
	uint64_t start_ns;
};

static void load_free(struct load *load)
{
	for (unsigned i = 0; i < load->n_threads; i++)
		worker_release(&load->threads[i]);
	free(load->threads);
	free(load->jobs);
	free(load);
}

static int set_up(struct load *load, struct err *err)
{
	const struct load_params *params = &load->params;
	bool blocks = params->engine->max_depth == 1;
	unsigned per_job = blocks ? params->depth : 1;

	load->jobs = calloc(params->numjobs, sizeof(*load->jobs));
	load->threads = calloc((size_t)params->numjobs * per_job, sizeof(*load->threads));
	if (!load->jobs || !load->threads)
		return err_set(err, ERR_TARGET, "out of memory for %u threads",
		               params->numjobs * per_job);
	load->n_threads = params->numjobs * per_job;
	for (unsigned j = 0; j < params->numjobs; j++) {
		load->jobs[j].fd = params->jobs[j].fd;
		load->jobs[j].index = j;
		pattern_init(&load->jobs[j].pattern, &params->jobs[j].pattern);
		atomic_init(&load->jobs[j].threads_left, per_job);
	}
	for (unsigned i = 0; i < load->n_threads; i++) {
		load->threads[i].params = params;
		load->threads[i].clock = &load->clock;
		load->threads[i].job = &load->jobs[i / per_job];
		load->threads[i].thread = i;
		load->threads[i].depth = blocks ? 1 : params->depth;
	}
	return 0;
}

int load_start(struct load **out, const struct load_params *params, struct err *err)
{
	static const struct workers_body body = {.prepare = worker_prepare, .run = worker_run};
	struct load *load = calloc(1, sizeof(*load));
	void *args[WORKERS_MAX];

	if (!load)
		return err_set(err, ERR_TARGET, "out of memory");
	load->params = *params;
	atomic_init(&load->clock.end_ns, UINT64_MAX);
	atomic_init(&load->clock.give_up_ns, UINT64_MAX);
	if (set_up(load, err))
		goto failed;
	assert(load->n_threads <= WORKERS_MAX);
	for (unsigned i = 0; i < load->n_threads; i++)
		args[i] = &load->threads[i];
	load->start_ns = clock_now_ns();
	if (workers_start(&load->workers, &body, args, load->n_threads, err))
		goto failed;
	*out = load;
	return 0;
failed:
	load_free(load);
	return -1;
}

void load_progress(struct load *load, struct load_progress *progress)
{
	uint64_t now = clock_now_ns(), last = load->start_ns;

	*progress = (struct load_progress){.elapsed_ns = now - load->start_ns};
	for (unsigned i = 0; i < load->n_threads; i++) {
		struct worker_counters *live = &load->threads[i].live;

		progress->ios += atomic_load_explicit(&live->ios, memory_order_relaxed);
		progress->bytes += atomic_load_explicit(&live->bytes, memory_order_relaxed);
		progress->latency_sum_ns +=
		        atomic_load_explicit(&live->latency_sum_ns, memory_order_relaxed);
		last = max_u64(last, atomic_load_explicit(&live->last_ns, memory_order_relaxed));
	}
	progress->idle_ns = now > last ? now - last : 0;
}

bool load_wait(struct load *load, uint64_t timeout_ns)
{
	uint64_t now = clock_now_ns(), deadline = now + timeout_ns;

	for (;;) {
		uint64_t end = atomic_load(&load->clock.end_ns);
		uint64_t until = min_u64(deadline, max_u64(end, now + NSEC_PER_MSEC));

		if (!workers_wait(load->workers, until > now ? until - now : 0))
			return true;
		now = clock_now_ns();
		if (now >= end)
			return true;
		if (now >= deadline)
			return false;
	}
}

void load_stop(struct load *load)
{
	worker_clock_end(&load->clock, clock_now_ns(), LOAD_DRAIN_STOPPED_NS);
}

/* Open loop: what was due before the end and never sent. */
static void count_unsent(const struct load *load, struct stats *stats, uint64_t start, uint64_t end)
{
	const struct load_params *params = &load->params;
	unsigned per_job = load->n_threads / params->numjobs;

	for (unsigned j = 0; j < params->numjobs; j++) {
		uint64_t sent = 0, due, first;

		for (unsigned i = 0; i < per_job; i++)
			sent += load->threads[j * per_job + i].sent;
		due = (uint64_t)((uint128)(end - start) * params->period_den /
		                 params->period_num_ns);
		if (params->requests)
			due = min_u64(due, params->requests);
		if (due <= sent)
			continue;
		first = start + worker_due_ns(params, sent);
		stats->unsent += due - sent;
		stats->unsent_age_ns = max_u64(stats->unsent_age_ns, end > first ? end - first : 0);
	}
}

/* What a thread left in flight: one that ended without it, or that the kernel still holds. */
static void count_unfinished(struct load *load, struct load_outcome *outcome)
{
	uint64_t now = clock_now_ns();

	for (unsigned i = 0; i < load->n_threads; i++) {
		uint64_t age;
		unsigned n = worker_in_flight(&load->threads[i], now, &age);

		outcome->stats->unfinished += n;
		outcome->stats->unfinished_age_ns = max_u64(outcome->stats->unfinished_age_ns, age);
	}
	outcome->stuck = outcome->stats->unfinished > 0;
}

/* From the window's start to its end, or to the last completion where an amount ended it. */
static uint64_t window(const struct load *load, uint64_t end)
{
	uint64_t begin = load->threads[0].window_ns, last = begin;

	if (load->params.runtime_ns && !load->params.requests)
		return end > begin ? end - begin : 0;
	for (unsigned i = 0; i < load->n_threads; i++)
		last = max_u64(last, load->threads[i].last_ns);
	return last - begin;
}

static int first_error(const struct load *load, struct err *err)
{
	for (unsigned i = 0; i < load->n_threads; i++)
		if (load->threads[i].failed) {
			*err = load->threads[i].err;
			return -1;
		}
	return 0;
}

int load_finish(struct load *load, struct load_outcome *outcome, struct err *err)
{
	uint64_t now = clock_now_ns(), end = atomic_load(&load->clock.end_ns);
	uint64_t give_up = atomic_load(&load->clock.give_up_ns);
	unsigned held;
	int ret;

	workers_kick(load->workers);
	held = workers_wait(load->workers,
	                    give_up == UINT64_MAX ? 0 : max_u64(give_up, now) - now + HOME_NS);
	*outcome = (struct load_outcome){.stats = stats_new()};
	if (!outcome->stats)
		return err_set(err, ERR_TARGET, "out of memory for the statistics");
	for (unsigned i = 0; i < load->n_threads; i++)
		stats_merge(outcome->stats, load->threads[i].stats);
	count_unfinished(load, outcome);
	outcome->window_ns = window(load, end);
	if (load->params.period_num_ns)
		count_unsent(load, outcome->stats, load->threads[0].start_ns,
		             min_u64(end, load->threads[0].start_ns + outcome->window_ns +
		                                  load->params.ramp_ns));
	ret = first_error(load, err);
	if (held) { /* threads in the kernel still use all this */
		outcome->stuck = true;
		return ret;
	}
	workers_join(load->workers);
	load_free(load);
	return ret;
}
