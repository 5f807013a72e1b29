/*
 * A run as one of several peers: what run.c does besides. All of it is legal, and nothing, where
 * the run is alone.
 */
#ifndef PVCBENCH_RUN_PEERS_H
#define PVCBENCH_RUN_PEERS_H

#include "run_state.h"

/* After the plan is read: who the peers are, in the plan's tests too. */
int run_peers_open(struct run *run, struct err *err);

/*
 * After the targets were looked at, and before they are touched: peers share a directory; a device
 * they would lay out over each other.
 */
int run_peers_check(struct run *run, struct err *err);

/* Then: index 0 listens, the others join; where a shared file lies. */
int run_peers_join(struct run *run, struct err *err);

/*
 * All are ready for a test. False: it is not to be run, and tr says why; after a signal it says
 * nothing.
 */
bool run_peers_gather(struct run *run, unsigned test, struct test_result *tr);

/* Whether no further test is to be run. */
bool run_peers_lost(const struct run *run);

/* The result line of a test: to standard output where nobody looks at it, and to index 0. */
void run_peers_hand(struct run *run, const struct test_result *tr);

/*
 * After the last test. Index 0 waits for the others and merges what all gave into run->merged;
 * where that cannot be done, its own result remains. Returns an exit code.
 */
int run_peers_end(struct run *run);

/* What is to be summed up: that of all peers where it is known, else this one's. */
const struct result *run_peers_result(const struct run *run);

/* Whether what is to be delivered is delivered by another peer. */
bool run_peers_delivers_not(const struct run *run);

void run_peers_free(struct run *run);

#endif
