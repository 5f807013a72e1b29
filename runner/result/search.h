/*
 * The search for the highest rate that keeps a latency: which load comes next, what one gave,
 * what all of them say. Pure functions; kinds/block_search.c does the loads.
 *
 * The latency is a percentile of the slower of reads and writes, in an open loop from the due
 * time. A closed loop at the test's depth gives the maximum; from there the rates between the
 * highest that met the target and the lowest that missed it are halved. At the end the rate that
 * was found is confirmed by a longer step, whose figures are those of the test.
 */
#ifndef PVCBENCH_SEARCH_H
#define PVCBENCH_SEARCH_H

#include "measure/stats.h"
#include "plan/plan.h"

#define SEARCH_STEPS_MAX 40

/* A rate is found when the lowest that missed is no further away than this part of it. */
#define SEARCH_RESOLUTION 40 /* 2.5 % (and 1 request a second at least) */
/* The lowest rate that is tried, as a part of the maximum. */
#define SEARCH_LOWEST 50
/* Of an asked rate so much is to be completed: what falls behind has no bounded latency. */
#define SEARCH_KEPT 0.98

enum search_judgement {
	STEP_MEETS,
	STEP_MISSES,
	STEP_BEHIND, /* the rate was not kept, so it misses too */
	STEP_VOID    /* not judged: too few requests, pvcbench was suspended, a signal came */
};

enum search_outcome {
	SEARCH_UNKNOWN,     /* it did not come to its end */
	SEARCH_FOUND,       /* a rate met the target, and was confirmed */
	SEARCH_NOT_LIMITED, /* the maximum met it */
	SEARCH_NEVER_MET,   /* the lowest rate missed it */
	SEARCH_UNCONFIRMED  /* the time was over */
};

struct search_step {
	uint64_t rate_iops; /* asked, over all jobs; 0: closed loop */
	bool confirms;
	uint64_t runtime_ns; /* its window */
	uint64_t ios;        /* completions in it */
	uint64_t latency_ns; /* 0: not carried by enough requests */
	int judgement;       /* enum search_judgement */
};

struct search {
	uint64_t target_ns; /* 0: there is no search */
	double percentile;
	uint64_t needed;              /* requests in a step that carry the percentile */
	uint64_t step_ns, confirm_ns; /* how long a step takes at least, the last one always */
	uint64_t runtime_ns;          /* what all of it may take */
	int outcome;                  /* enum search_outcome */
	unsigned n_steps;
	struct search_step steps[SEARCH_STEPS_MAX];
};

/* Of a test; all zero where it searches nothing. */
void search_init(struct search *search, const struct test *test);

/* The load that comes next; length_ns includes the part at its beginning that is not counted. */
struct search_ask {
	enum { SEARCH_STEP, SEARCH_CONFIRM, SEARCH_OVER } what;
	uint64_t rate_iops; /* 0: closed loop */
	uint64_t length_ns;
};

/*
 * elapsed_ns since the first step began. -1 where the percentile would need more requests than the
 * maximum rate gives in the longest step.
 */
int search_next(const struct search *search, uint64_t elapsed_ns, struct search_ask *ask,
                struct err *err);

/* Of each load's length, the first part is not counted. */
#define SEARCH_RAMP_SHARE 5

/* Judge what a load gave and add it; whole: it came to its end. stats may be NULL. */
void search_add(struct search *search, const struct search_ask *ask, const struct stats *stats,
                uint64_t window_ns, bool whole);

/* After SEARCH_OVER. */
void search_conclude(struct search *search);

/* Requests a second: the most that a closed loop gave; the confirmed rate, 0 where there is none.
 */
double search_maximum(const struct search *search);
uint64_t search_found(const struct search *search);

/* Whether it ended without an answer that its figures stand for. */
bool search_failed(const struct search *search);

/* Completions a second of a step. */
double search_step_iops(const struct search_step *step);

/* "meets", "misses", "behind", "void"; "found" and so on, "" for SEARCH_UNKNOWN; ended by NULL. */
extern const char *const search_judgements[], *const search_outcomes[];

#define SEARCH_TEXT_MAX 256

/* What came of it, in a sentence; a step for the log; what is known beforehand, for check. */
char *search_text(const struct search *search, char out[SEARCH_TEXT_MAX]);
char *search_step_text(const struct search *search, unsigned i, char out[SEARCH_TEXT_MAX]);
char *search_plan_text(const struct search *search, char out[SEARCH_TEXT_MAX]);

#endif
