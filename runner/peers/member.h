/*
 * A peer other than index 0: what it asks of index 0. All of this belongs to one thread at a time.
 */
#ifndef PVCBENCH_MEMBER_PEER_H
#define PVCBENCH_MEMBER_PEER_H

#include <stdatomic.h>

#include "peers/roster.h"

struct member;

struct member_params {
	const char *coordinator; /* HOST:PORT of index 0 */
	const char *token;
	unsigned n, index;
	const char *host, *plan;
	const atomic_int *stop; /* a signal's number once one came: then waiting ends */
};

int member_new(struct member **out, const struct member_params *params, struct err *err);
void member_free(struct member *member);

/* What a peer waits for is told while it waits: "index 0 at ...", "2 of 4 peers: ...". */
typedef void member_step(void *arg, const char *what);

/*
 * Join the run, for limit_ns at most; run_id gets that of index 0. ERR_PLAN: it was refused, and
 * why. 0 also after a signal.
 */
int member_join(struct member *member, uint64_t limit_ns, member_step *step, void *arg,
                char run_id[ROSTER_TEXT_MAX], struct err *err);

/*
 * Come to a gate and wait until it is something else than GATE_WAIT. Where it is timed, the start
 * is converted to this machine's clock. A failure to reach index 0 is GATE_LOST.
 */
void member_arrive(struct member *member, const struct arrival *arrival, member_step *step,
                   void *arg, struct gate_news *news);

int member_hand(struct member *member, const char *lines, size_t bytes, struct err *err);

/* Say that this peer ends, as of roster_leave; without insisting, for it may be in a hurry. */
void member_leave(struct member *member, const char *why, const char *skipped);

#endif
