/*
 * What one worker counts, and what the sum of all workers is. Each worker owns
 * one; nothing is shared and nothing allocated while time runs.
 */
#ifndef PVCBENCH_STATS_H
#define PVCBENCH_STATS_H

#include "measure/hist.h"

enum stats_op { STATS_READ, STATS_WRITE, STATS_SYNC, STATS_OPS };

/* "read", "write", "sync". */
extern const char *const stats_op_name[STATS_OPS];

#define SERIES_SLOTS     4096
#define STATS_ERRORS_MAX 16

struct series_slot {
	uint64_t ios;
	uint64_t bytes;
	uint64_t lat_sum_ns;
	uint64_t lat_max_ns;
};

/*
 * Counts by time since the window's start, a slot a second. When time runs past
 * the last slot, pairs of slots are added up and the interval doubles.
 */
struct series {
	uint64_t interval_ns; /* 1 s, or 1 s times a power of two */
	unsigned used;        /* slots from the start up to the last one touched */
	struct series_slot slot[SERIES_SLOTS];
};

/* Completions in the window: latency.count requests of `bytes` in all. */
struct op_stats {
	struct hist latency;
	uint64_t bytes;
	struct series series;
};

struct error_count {
	int errnum;
	uint64_t n;
};

struct stats {
	struct op_stats op[STATS_OPS];
	struct error_count
	        errors[STATS_ERRORS_MAX]; /* ended by n == 0; the last row takes the rest */
	uint64_t short_transfers; /* requests that came back incomplete and were continued */
	uint64_t retries;         /* requests that were sent again after EAGAIN or EINTR */

	/* At the end of the window: counted apart, in no rate and no percentile. */
	uint64_t drained;           /* in flight then, completed afterwards */
	uint64_t drained_max_ns;    /* the longest of their latencies */
	uint64_t unfinished;        /* still not completed when the wait was given up */
	uint64_t unfinished_age_ns; /* age of the oldest */
	uint64_t unsent;            /* open loop: due but never sent */
	uint64_t unsent_age_ns;     /* how long the first of them was due */

	/* Open loop: how late requests went out although a place was free (our own fault). */
	uint64_t late_count;
	uint64_t late_sum_ns;
	uint64_t late_max_ns;
};

/* Zeroed heap (pages are touched only where used); NULL when out of memory. */
struct stats *stats_new(void);
void stats_free(struct stats *stats);

/* A completion `at_ns` after the window's start. */
void stats_record(struct stats *stats, enum stats_op op, uint32_t bytes, uint64_t latency_ns,
                  uint64_t at_ns);

void stats_error(struct stats *stats, int errnum);
uint64_t stats_errors(const struct stats *stats);

/* dst becomes the sum of both: counts add, extremes stay extremes. */
void stats_merge(struct stats *dst, const struct stats *src);

#endif
