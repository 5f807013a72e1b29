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

/*
 * Times are those of completions since the window's start; 0 without ios. Between the first
 * and the last of a slot lies no gap without a completion that is longer than gap_ns. One of
 * that length begins at gap_start_ns, unless that is GAP_SOMEWHERE: then all that is known
 * is that none is longer.
 */
struct series_slot {
	uint64_t ios;
	uint64_t bytes;
	uint64_t lat_sum_ns;
	uint64_t lat_max_ns;
	uint64_t first_ns, last_ns;
	uint64_t gap_ns, gap_start_ns;
};

#define GAP_SOMEWHERE UINT64_MAX

/*
 * Counts by time since the window's start, a slot a second. When time runs past
 * the last slot, pairs of slots are added up and the interval doubles.
 */
struct series {
	uint64_t interval_ns; /* 1 s, or 1 s times a power of two */
	unsigned used;        /* slots from the start up to the last one touched */

	/*
	 * The slot recorded into last, from its first completion to its end, so that finding it
	 * again takes no division.
	 */
	unsigned current;
	uint64_t current_start_ns;
	uint64_t current_span_ns; /* 0 until the first record */

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
	/* Ended by n == 0. Errors that find no row of their own are counted under errnum 0. */
	struct error_count errors[STATS_ERRORS_MAX];
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

	/* The longest stretch, from the window's start on, in which this process did not run. */
	uint64_t suspended_max_ns;
};

/* Zeroed heap (pages are touched only where used); NULL when out of memory. */
struct stats *stats_new(void);
void stats_free(struct stats *stats);

/* Make the slot that at_ns falls into the current one, doubling the interval where needed. */
void series_seek(struct series *series, uint64_t at_ns);

/*
 * A completion `at_ns` after the window's start. In the timed path: inline, no division.
 * Gaps are exact where completions are recorded in order of time.
 */
static inline void stats_record(struct stats *stats, enum stats_op op, uint32_t bytes,
                                uint64_t latency_ns, uint64_t at_ns)
{
	struct op_stats *o = &stats->op[op];
	struct series *series = &o->series;

	hist_record(&o->latency, latency_ns);
	o->bytes += bytes;
	if (at_ns - series->current_start_ns >= series->current_span_ns)
		series_seek(series, at_ns);

	struct series_slot *slot = &series->slot[series->current];

	slot->ios++;
	slot->bytes += bytes;
	slot->lat_sum_ns += latency_ns;
	if (latency_ns > slot->lat_max_ns)
		slot->lat_max_ns = latency_ns;
	if (at_ns > slot->last_ns) {
		if (at_ns - slot->last_ns > slot->gap_ns) {
			slot->gap_ns = at_ns - slot->last_ns;
			slot->gap_start_ns = slot->last_ns;
		}
		slot->last_ns = at_ns;
	}
}

/* n requests failed with errnum (0: several kinds, no longer told apart). */
void stats_error_add(struct stats *stats, int errnum, uint64_t n);
void stats_error(struct stats *stats, int errnum);
uint64_t stats_errors(const struct stats *stats);

/* dst becomes the sum of both: counts add, extremes stay extremes. */
void stats_merge(struct stats *dst, const struct stats *src);

/* Of two workers or operations, or of two slots side by side, in either order. */
void series_slot_add(struct series_slot *dst, const struct series_slot *src);

/* The slots that the window takes at a series' interval, untouched ones at its end included. */
uint64_t series_slots(const struct series *series, uint64_t window_ns);

/*
 * The longest time without a completion of any operation, from the window's start to its
 * first completion and from the last one to its end included. It is exact (both bounds are
 * equal) when one worker recorded one operation, and whenever it is as long as a series'
 * interval. All zero without a window.
 */
struct gap {
	uint64_t at_least_ns, at_most_ns;
	uint64_t start_ns; /* of the one that is at_least_ns long, since the window's start */
};

struct gap stats_longest_gap(const struct stats *stats, uint64_t window_ns);

#endif
