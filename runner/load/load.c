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
#define LOOK_NS (100 * NSEC_PER_MSEC)
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

static int pass_gate(void *arg, struct err *err)
{
	struct load *load = arg;
	int ret = load->params.gate ? load->params.gate(load->params.gate_arg, err) : 0;

	load->start_ns = clock_now_ns();
	return ret;
}

int load_start(struct load **out, const struct load_params *params, struct err *err)
{
	struct load *load = calloc(1, sizeof(*load));
	struct workers_body body = {
	        .prepare = worker_prepare,
	        .run = worker_run,
	        .gate = pass_gate,
	        .gate_arg = load,
	};
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
	if (workers_start(&load->workers, &body, args, load->n_threads, err))
		goto failed;
	*out = load;
	return 0;
failed:
	load_free(load);
	return -1;
}

/* When a request last came back, or the start. */
static uint64_t last_completion_ns(struct load *load)
{
	uint64_t last = load->start_ns;

	for (unsigned i = 0; i < load->n_threads; i++)
		last = max_u64(last, atomic_load_explicit(&load->threads[i].live.last_ns,
		                                          memory_order_relaxed));
	return last;
}

void load_progress(struct load *load, struct load_progress *progress)
{
	uint64_t now = clock_now_ns(), last = last_completion_ns(load);

	*progress = (struct load_progress){
	        .elapsed_ns = now - load->start_ns,
	        .idle_ns = now > last ? now - last : 0,
	        .end_ns = atomic_load(&load->clock.end_ns),
	};
	progress->ended = now >= progress->end_ns;
	for (unsigned i = 0; i < load->n_threads; i++) {
		struct worker_counters *live = &load->threads[i].live;

		progress->ios += atomic_load_explicit(&live->ios, memory_order_relaxed);
		progress->bytes += atomic_load_explicit(&live->bytes, memory_order_relaxed);
		progress->latency_sum_ns +=
		        atomic_load_explicit(&live->latency_sum_ns, memory_order_relaxed);
	}
}

/*
 * A thread whose engine waits for completions may sleep on although the load has
 * ended; a signal wakes it. One inside a blocking request is left there: it may
 * complete, and a file system may take a signal for the end of the request.
 */
static void wake(struct load *load)
{
	if (load->params.engine->max_depth != 1)
		workers_kick(load->workers);
}

/* After the end: a volume that still answers is waited for, one that is silent is not. */
static void lose_patience(struct load *load, uint64_t now, uint64_t end)
{
	uint64_t patience = load->params.end_sync ? LOAD_DRAIN_MOST_NS : LOAD_DRAIN_NS;

	if (now > max_u64(end, last_completion_ns(load)) + patience)
		worker_clock_give_up(&load->clock, now);
}

bool load_wait(struct load *load, uint64_t timeout_ns)
{
	uint64_t now = clock_now_ns(), deadline = now + timeout_ns;

	for (;;) {
		uint64_t end = atomic_load(&load->clock.end_ns);
		uint64_t until = min_u64(deadline, now < end ? end : now + LOOK_NS);

		if (now >= end) {
			wake(load);
			lose_patience(load, now, end);
		}
		if (!workers_wait(load->workers, until > now ? until - now : 0))
			return true;
		now = clock_now_ns();
		if (now >= atomic_load(&load->clock.give_up_ns))
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

/* What was sent and did not come back, also of threads that the kernel still holds. */
static void count_unfinished(const struct load *load, struct load_outcome *outcome)
{
	uint64_t now = clock_now_ns();

	for (unsigned i = 0; i < load->n_threads; i++) {
		uint64_t age;

		outcome->stats->unfinished += worker_unfinished(&load->threads[i], now, &age);
		outcome->stats->unfinished_age_ns = max_u64(outcome->stats->unfinished_age_ns, age);
	}
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

/* How many threads the kernel does not give back. */
static unsigned bring_home(struct load *load)
{
	unsigned held;

	while (!load_wait(load, HOME_NS))
		;
	held = workers_wait(load->workers, 0);
	if (!held)
		return 0;
	workers_kick(load->workers);
	return workers_wait(load->workers, HOME_NS);
}

static void sum_up(const struct load *load, struct load_outcome *outcome)
{
	uint64_t start = load->threads[0].start_ns, end = atomic_load(&load->clock.end_ns);

	for (unsigned i = 0; i < load->n_threads; i++)
		stats_merge(outcome->stats, load->threads[i].stats);
	count_unfinished(load, outcome);
	outcome->window_ns = window(load, end);
	outcome->start_ns = load->threads[0].window_ns;
	if (load->params.period_num_ns)
		count_unsent(load, outcome->stats, start,
		             min_u64(end, start + load->params.ramp_ns + outcome->window_ns));
}

int load_finish(struct load *load, struct load_outcome *outcome, struct err *err)
{
	unsigned held = bring_home(load);
	int ret;

	*outcome = (struct load_outcome){.stats = stats_new(), .held = held > 0};
	if (!outcome->stats)
		return err_set(err, ERR_TARGET, "out of memory for the statistics");
	sum_up(load, outcome);
	ret = first_error(load, err);
	if (held) /* its threads still use all this */
		return ret;
	workers_join(load->workers);
	load_free(load);
	return ret;
}
