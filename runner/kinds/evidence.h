/*
 * Evidence of what limited a load: the kernel's counters at both ends of its window, and what
 * lies between them.
 */
#ifndef PVCBENCH_EVIDENCE_H
#define PVCBENCH_EVIDENCE_H

#include "io/counters.h"
#include "load/load.h"
#include "result/result.h"

/*
 * What is taken at the end is taken so long before it, while all threads are still there. Where
 * that comes too late, it is what was taken before, with at least half of the window over.
 */
#define EVIDENCE_EARLY_NS (2 * NSEC_PER_MSEC)

struct evidence {
	struct counters_source source;
	struct counters begin, end;
	uint64_t begin_bytes, end_bytes; /* that requests had moved by then */
	uint64_t window_ns;              /* when the window began */
	uint64_t left_ns;                /* of it at the last reading */
	bool in_memory, counts_io, counts_device;
	enum { EVIDENCE_OPEN, EVIDENCE_BEGUN, EVIDENCE_COMPLETE } stage;
};

/* For requests to this file. */
void evidence_open(struct evidence *evidence, int fd);

/*
 * All threads are prepared and none has begun: where an amount ends the load, its window begins
 * here, before the first request.
 */
void evidence_begin(struct evidence *evidence, const struct load_params *params);

/*
 * Called now and then while the load runs: takes what is due. Returns how long it is until
 * something is due, UINT64_MAX where that is not known.
 */
uint64_t evidence_gather(struct evidence *evidence, const struct load_params *params,
                         const struct load_progress *progress);

/* The load is over: what was not taken yet is taken now. */
void evidence_end(struct evidence *evidence, const struct load_progress *progress);

/* What both ends say; zero where one is missing. */
void evidence_sum(const struct evidence *evidence, struct usage *usage);

void evidence_close(struct evidence *evidence);

#endif
