/*
 * Index 0 as the others see it: a roster behind HTTP.
 */
#ifndef PVCBENCH_COORDINATOR_H
#define PVCBENCH_COORDINATOR_H

#include "peers/roster.h"

/* The scheme of the header Authorization, and the headers by which a peer is known. */
#define PEER_SCHEME         "Pvcbench-Peer-1"
#define PEER_HEADER_INDEX   "Pvcbench-Index"
#define PEER_HEADER_SESSION "Pvcbench-Session"
/* How long an answer is held back while there is nothing to say. */
#define PEER_HOLD_NS (5 * NSEC_PER_SEC)

struct coordinator;

struct coordinator_params {
	const char *address; /* see io/serve.h */
	const char *token;   /* what the header Authorization has after the scheme */
	unsigned n;
	const char *plan;   /* as peers_describe has it; borrowed */
	const char *run_id; /* of index 0; borrowed */
	struct roster *roster;
};

int coordinator_start(struct coordinator **out, const struct coordinator_params *params,
                      struct err *err);

/* Nobody may wait in the roster by then: see roster_end. NULL is legal. */
void coordinator_stop(struct coordinator *coordinator);

#endif
