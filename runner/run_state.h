/*
 * A run, between its own files: run_begin.c comes to know the targets, run.c runs the tests,
 * run_end.c removes what was made.
 */
#ifndef PVCBENCH_RUN_STATE_H
#define PVCBENCH_RUN_STATE_H

#include "agenda.h"
#include "body.h"
#include "run.h"

struct run {
	const struct run_options *options;
	struct agenda agenda;
	struct result result;
	struct progress_view view;
	struct verify **verify; /* of each target, see kind.h; owned */
	struct outputs outputs;
	/* By target: the test whose thread was left waiting in it, and its name. */
	struct {
		struct body *body;
		const char *test;
		bool in_flight; /* requests of its last test are, for too long to be waited for */
	} held[AGENDA_TARGETS_MAX + 1]; /* the place behind all targets: of tests without one */
	struct test again;              /* the first test, for the drift */
	struct peers_options peering;   /* complete; n at most 1: alone */
	struct peers *peers;            /* owned; NULL: alone */
	bool peers_held;                /* a thread that was left still uses them */
	struct result merged;           /* of all peers, if is_merged */
	bool is_merged;
	bool sweeps;    /* it is to run, not only to be checked */
	bool abandoned; /* a thread other than these was left */
};

/* Whether a thread that was left in this target is still there. */
bool run_is_held(struct run *run, unsigned target);

/* The longest that a test grants its volume, ns; 0: one sets no limit. */
uint64_t run_patience_ns(const struct plan *plan);

/*
 * Read the plan, look at the targets, check every test, describe all that in the result, and
 * sweep. On failure run_free is still to be called.
 */
int run_begin(struct run *run, struct err *err);

/*
 * Free what is known of the data of tests with verify. What a ledger tells of stays, for
 * pvcbench verify. Errors are printed; returns the exit code of the last one, else 0.
 */
int run_end_verify(struct run *run);

/*
 * Remove our files; patiently: for as long as a test grants its volume, else for 20 s at most.
 * What a volume that does not answer keeps is named on stderr.
 */
void run_clean_up(struct run *run, bool patiently);

/* Name the directories that a volume that does not answer keeps, on stderr. */
void run_name_leftovers(const struct run *run);

/* Free all, unless a thread that was left may still use it: then the process ends with it. */
void run_free(struct run *run);

#endif
