/*
 * The log while tests run: a line at each test's start and end and at least every
 * 10 s (5 s as it is), flushed; on a terminal one live line instead. Never silent: a stall is
 * told while it lasts. Of a probe each request has a line.
 */
#ifndef PVCBENCH_PROGRESS_H
#define PVCBENCH_PROGRESS_H

#include "result/result.h"

struct progress_view {
	FILE *out;
	bool terminal;          /* one live line, redrawn; else plain lines */
	bool quiet;             /* no lines while a test runs; its start and end still */
	unsigned test, n_tests; /* 1-based number of the current one */
	uint64_t plan_left_ns;  /* of the tests after this one, for the ETA */
	unsigned columns;       /* of the terminal; 0: as it is, else 80 */

	/* private */
	char name[PLAN_NAME_MAX];
	bool by_amount;
	uint64_t time_left_ns;   /* of ramp, run and probe, where time bounds them */
	uint64_t search_ns;      /* of the search before it; 0: there is none */
	uint64_t search_end_ns;  /* by the clock, at most; 0: it has not begun */
	uint64_t probe_ns;       /* of the probe of limits; 0: it has none */
	uint64_t cache_probe_ns; /* the same of caches */
	uint64_t line_ns;        /* time of the line before */
	/* the counters then, or zero at the start of the phase since */
	uint64_t last_ns, last_ios, last_bytes, last_latency_ns;
	int last_phase;
	uint64_t each_left; /* of a probe: so many requests are still told one by one */
	uint64_t told_ios, told_latency_ns; /* of these, and the sum of their latencies */
	bool stall_told;                    /* the stall that lasts has had a line */
	bool live;                          /* an unfinished live line is on the screen */
};

void progress_begin(struct progress_view *view, const struct test *test);
void progress_tell(struct progress_view *view, const struct progress *progress, uint64_t now_ns);
void progress_end(struct progress_view *view, const struct test_result *tr);

/*
 * Nothing new for waited_ns: `what` ("mkdir"; "": not known) waits for the volume, or is
 * work of our own. Legal before the first test too.
 */
void progress_wait(struct progress_view *view, const char *what, bool of_volume, uint64_t waited_ns,
                   uint64_t now_ns);

/* A line about the running test; it has its name. */
void progress_say(struct progress_view *view, const char *text);

/* A line of its own in the log ("concession: ...", "signal ..."), whatever is on the screen. */
void progress_note(struct progress_view *view, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
