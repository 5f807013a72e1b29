/*
 * Several processes, on several machines, that run one plan together: they begin each test at one
 * time, and index 0 gathers what they measured. It serves the others over HTTP; they trust the
 * token, which comes from the Job's UID.
 *
 * Waiting ends early, without an error, once *stop is set.
 */
#ifndef PVCBENCH_PEERS_H
#define PVCBENCH_PEERS_H

#include <stdatomic.h>

#include "peers/member.h"
#include "plan/plan.h"

#define PEERS_PORT 7411u

struct peers_options {
	unsigned n;              /* how many; 0 and 1: this one is alone */
	int index;               /* -1: not said */
	const char *coordinator; /* HOST:PORT of index 0; NULL: not said */
};

/*
 * What the environment says where the command line does not: PVCBENCH_PEERS,
 * JOB_COMPLETION_INDEX, and index 0's name from this host's, as an Indexed Job gives them.
 */
int peers_options_complete(struct peers_options *options, struct err *err);

struct peers_params {
	unsigned n, index;
	const char *coordinator, *run_id; /* borrowed */
	const struct plan *plan;          /* borrowed */
	const atomic_int *stop;
};

struct peers;

/* Index 0 listens from now on. *out is freed by peers_free. */
int peers_new(struct peers **out, const struct peers_params *params, struct err *err);

/* Whether anybody who reaches the port may take part, since there is no secret. */
bool peers_are_open(const struct peers *peers);

/* Index 0 of its own run id; the others join, and get its. Tells what it waits for. */
int peers_join(struct peers *peers, member_step *step, void *arg, struct err *err);

/* The run id of index 0. */
const char *peers_run_id(const struct peers *peers);

/*
 * The places in a test that all reach before any goes on: its begin; of a shared file, that index 0
 * has laid it out; that all are prepared, from where all start at one time. An error says which
 * peer could not start the test, or is lost: see peers_are_lost.
 */
enum peers_gate { PEERS_BEGIN, PEERS_LAID_OUT, PEERS_START, PEERS_GATES };

struct peers_meeting {
	char note[ROSTER_NOTE_MAX]; /* index 0 gives it, the others get it */
	uint64_t within_ns;         /* of PEERS_START: no two start further apart */
};

int peers_meet(struct peers *peers, unsigned test, enum peers_gate gate,
               struct peers_meeting *meeting, member_step *step, void *arg, struct err *err);

/* Why this peer did not come to all gates of a test, to be told at the next one. */
void peers_skip(struct peers *peers, const char *why);

/* No further test is to be run. */
bool peers_are_lost(const struct peers *peers);

/* Hand over the result lines of a test, as they stand in the log. */
int peers_hand(struct peers *peers, const char *lines, size_t bytes, struct err *err);

/*
 * The others end, and say why where it is before the plan's end ("": it is not). Index 0 waits for
 * them, limit_ns at most (0: no limit), and after a signal for seconds only.
 */
void peers_leave(struct peers *peers, const char *why, uint64_t limit_ns);

/* Of index 0: how many took part to the end, and in words who did not; "": all did. */
unsigned peers_present(const struct peers *peers, char lost[ROSTER_TEXT_MAX]);

/* Of index 0: what a peer has handed over. As valid as peers. */
const char *peers_lines(const struct peers *peers, unsigned index, size_t *bytes);

/* NULL is legal. */
void peers_free(struct peers *peers);

#endif
