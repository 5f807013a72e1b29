/*
 * A load: jobs that keep requests outstanding on open files for a time or an
 * amount, and what came of it. The loop in worker.c is the one owner of the
 * clock: it stamps every request just before it is submitted (or with its due
 * time) and when it is reaped, in the same way for every engine.
 */
#ifndef PVCBENCH_LOAD_H
#define PVCBENCH_LOAD_H

#include "io/engine.h"
#include "load/pattern.h"
#include "load/verify.h"
#include "measure/stats.h"

/*
 * How long requests in flight are waited for after the end: until none came back for
 * LOAD_DRAIN_NS, or in all LOAD_DRAIN_MOST_NS; after an interruption or an error less.
 */
#define LOAD_DRAIN_NS         (10 * NSEC_PER_SEC)
#define LOAD_DRAIN_MOST_NS    (300 * NSEC_PER_SEC)
#define LOAD_DRAIN_STOPPED_NS (1200 * NSEC_PER_MSEC)

enum load_data { LOAD_DATA_RANDOM, LOAD_DATA_ZERO };

struct load_job {
	int fd;
	unsigned file; /* its number, for verify */
	struct pattern_params pattern;
};

struct load_params {
	const struct engine *engine;
	const struct load_job *jobs;
	unsigned numjobs;
	unsigned depth;   /* requests outstanding per job, by that many threads where they block */
	uint32_t align;   /* a continued request starts at a multiple of this */
	uint64_t ramp_ns; /* before the window */
	uint64_t runtime_ns; /* the window; with requests: a limit; 0: none */
	uint64_t requests;   /* per job, in place of time; 0: time counts */
	/* Open loop: request n of a job is due at n * num / den. num 0: closed loop. */
	uint64_t period_num_ns, period_den;
	uint64_t thinktime_ns; /* closed loop: rest after every request, nothing in flight */
	uint64_t sync_every;   /* writes of a thread between syncs; 0: never */
	enum io_op sync_op;    /* IO_FSYNC or IO_FDATASYNC */
	bool end_sync;         /* one fsync per job after its last request */
	enum load_data data;
	uint64_t seed;
	struct verify *verify; /* what is written gets headers, what is read is checked; NULL: no */
	bool read_back;        /* with verify: of the pattern only what the test wrote is sent */
	/* When every thread is prepared: they start when it returns 0. NULL: at once. */
	int (*gate)(void *arg, struct err *err);
	void *gate_arg;
};

/* How far it is, from counters that cost the workers nothing. */
struct load_progress {
	uint64_t ios, bytes, latency_sum_ns; /* reads and writes since the start */
	uint64_t elapsed_ns;                 /* since the start */
	uint64_t idle_ns;                    /* since the last completion (or the start) */
	uint64_t end_ns; /* of the window, by the monotonic clock; UINT64_MAX: not known yet */
	bool ended;      /* only what is in flight is still waited for */
};

struct load_outcome {
	struct stats *stats; /* sum over all workers; the caller frees it */
	/* What rates refer to; shorter than asked when stopped, 0 when it never began. */
	uint64_t window_ns;
	uint64_t start_ns; /* of the window, by the monotonic clock */
	bool held;         /* threads did not come back: the kernel may still use their files */
};

struct load;

/*
 * Set up every thread and release them together. params and what it points to must outlive
 * the load; *load is freed by load_finish.
 */
int load_start(struct load **load, const struct load_params *params, struct err *err);

void load_progress(struct load *load, struct load_progress *progress);

/*
 * Wait until the load is over or the time is up; true when it is over: all
 * requests came back, or were waited for long enough.
 */
bool load_wait(struct load *load, uint64_t timeout_ns);

/* End it now, before its time, and wait less for what is in flight. */
void load_stop(struct load *load);

/*
 * After load_wait said true, or after load_stop: sum up and free.
 * -1 when a request failed; *outcome is filled in either case.
 */
int load_finish(struct load *load, struct load_outcome *outcome, struct err *err);

#endif
