/*
 * One thread of a load. Between load.c and worker.c only.
 */
#ifndef PVCBENCH_WORKER_H
#define PVCBENCH_WORKER_H

#include "load/buffers.h"
#include "load/load.h"

/* When a load ends, for all threads; UINT64_MAX until known. */
struct worker_clock {
	_Atomic uint64_t end_ns;     /* nothing is sent and nothing counted from here on */
	_Atomic uint64_t give_up_ns; /* what is still in flight then is left */
};

/*
 * End at end_ns and wait drain_ns longer for what is in flight, where this is earlier than
 * known.
 */
void worker_clock_end(struct worker_clock *clock, uint64_t end_ns, uint64_t drain_ns);

/* Leave what is in flight at this time, where it is earlier than known. */
void worker_clock_give_up(struct worker_clock *clock, uint64_t at_ns);

/* Of the threads of one job. */
struct worker_job {
	int fd;
	unsigned index;
	struct pattern pattern;
	_Alignas(64) _Atomic uint64_t tickets; /* requests taken on, where they are numbered */
	_Atomic unsigned threads_left;
};

/* Written by the worker once a turn, read by anyone: plain values, not a sum under a lock. */
struct worker_counters {
	_Alignas(64) _Atomic uint64_t ios;
	_Atomic uint64_t bytes, latency_sum_ns, last_ns;
};

struct worker {
	const struct load_params *params;
	struct worker_clock *clock;
	struct worker_job *job;
	unsigned thread; /* number within the load, for its seeds */
	unsigned depth;
	struct stats *stats;
	uint64_t start_ns, window_ns; /* the common start, and where the window begins */
	uint64_t sent;
	uint64_t last_ns; /* of its last counted completion */
	bool failed;
	struct err err;
	struct worker_counters live;
	struct worker_state *state; /* private to worker.c */
};

/* The two halves of a thread's life, for base/workers. */
int worker_prepare(void *worker, struct err *err);
void worker_run(void *worker, uint64_t start_ns);

/* Requests sent and not come back, and the age of the oldest; of a worker that ended or is held. */
unsigned worker_unfinished(const struct worker *worker, uint64_t now_ns, uint64_t *age_ns);

/* When request n of a job is due, from its start; open loop only. */
uint64_t worker_due_ns(const struct load_params *params, uint64_t n);

/* Free all of it; of one that is prepared or not, and not of one that is held. */
void worker_release(struct worker *worker);

#endif
