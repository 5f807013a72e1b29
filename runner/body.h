/*
 * One test at work in a thread of its own, so that a volume that does not answer holds
 * that thread and nothing else.
 */
#ifndef PVCBENCH_BODY_H
#define PVCBENCH_BODY_H

#include <stdatomic.h>

#include "kinds/kind.h"
#include "out/progress.h"
#include "peers/peers.h"

struct body_params {
	const struct test *test;
	const struct host *host;
	const char *run_id;
	struct target *target;
	struct verify **verify; /* of the target, see kind.h */
	struct progress_view *view;
	const atomic_int *stop; /* a signal's number once one came */
	struct peers *peers;    /* that run it together; NULL: alone */
	unsigned number;        /* of the test in the plan, for them */
};

struct body;

/*
 * Run the test from its begin to its end, its failure, a signal, or a call that the volume
 * does not answer in the test's answer_time. tr (after test_result_init) gets what was
 * measured, the status and the error. Returns NULL, or the body whose thread was left in
 * such a call: it still uses the target. params' pointers must outlive it.
 */
struct body *body_run(const struct body_params *params, struct test_result *tr);

/* Whether the thread has come back since; then the target is free again. */
bool body_returned(struct body *body);

/* Interrupt its call. */
void body_kick(struct body *body);

/* Only after it has returned. NULL is legal. */
void body_free(struct body *body);

#endif
