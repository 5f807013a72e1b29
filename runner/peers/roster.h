/*
 * Who of the peers is where, as index 0 knows it. All functions may be called from any thread.
 *
 * A gate is a place in the plan that all peers reach before any of them goes on. Gates are
 * numbered in the order of the plan. Who could not start a test passes its other gates by: it
 * arrives at a later one, and says why.
 */
#ifndef PVCBENCH_ROSTER_H
#define PVCBENCH_ROSTER_H

#include "base/err.h"

#define ROSTER_PEERS_MAX 1024
#define ROSTER_TEXT_MAX  256
#define ROSTER_HOST_MAX  256
#define ROSTER_NOTE_MAX  128
#define ROSTER_LINES_MAX (256 * MIB) /* of all peers' results */

/* How long a peer may be without a connection before it counts as lost. */
#define ROSTER_GONE_NS (3 * NSEC_PER_SEC)

enum gate_state {
	GATE_WAIT,   /* for the peers that text names */
	GATE_OPEN,   /* go on */
	GATE_TIMED,  /* all are here: measure the clocks, then roster_ready */
	GATE_GO,     /* go on at start_ns */
	GATE_FAILED, /* a peer could not start this test: text */
	GATE_LOST,   /* a peer is lost, so that the run ends: text */
};

struct gate_news {
	int state; /* enum gate_state */
	char text[ROSTER_TEXT_MAX];
	char note[ROSTER_NOTE_MAX]; /* what index 0 gave with its last arrival that had one */
	uint64_t start_ns;          /* of index 0's clock */
	uint64_t within_ns;         /* no two peers start further apart, by the round trips */
};

struct roster;

/* For peers 0 to n - 1; index 0, called host, is there already. NULL: out of memory. */
struct roster *roster_new(unsigned n, const char *host);
void roster_free(struct roster *roster);

/*
 * A peer comes, for the first time or with a new connection: session tells it from another that
 * claims its index. False: it may not, and text says why.
 */
bool roster_join(struct roster *roster, unsigned index, const char *host, const char *session,
                 uint64_t connection, char text[ROSTER_TEXT_MAX]);

/* Why a peer was turned away, to be named where it is missed. */
void roster_refuse(struct roster *roster, unsigned index, const char *why);

/* Whether this is the peer that has joined; its connection is noted. */
bool roster_knows(struct roster *roster, unsigned index, const char *session, uint64_t connection);

/* A connection has ended. */
void roster_close(struct roster *roster, uint64_t connection);

/*
 * A peer is at a gate. skipped: why it passed earlier ones by; "": it did not. note: of index 0
 * only. Whether all go on together at a time is said by `timed`. limit_ns: how long index 0 waits
 * for the others, from its arrival on.
 */
struct arrival {
	uint64_t gate; /* from 1 */
	bool timed;
	const char *skipped, *note;
	uint64_t limit_ns;
};
void roster_arrive(struct roster *roster, unsigned index, const struct arrival *arrival);

/* A peer knows index 0's clock to half of this round trip. */
void roster_ready(struct roster *roster, unsigned index, uint64_t gate, uint64_t round_trip_ns);

/*
 * How a gate stands for a peer that is at it, as soon as it is not `known` (what the peer
 * was told before), or after most_ns at the latest.
 */
void roster_wait(struct roster *roster, unsigned index, uint64_t gate, int known, uint64_t most_ns,
                 struct gate_news *news);

/* Result lines of a peer. False: no memory, or more than ROSTER_LINES_MAX. */
bool roster_hand(struct roster *roster, unsigned index, const char *lines, size_t bytes);

/*
 * A peer ends: why "" at the plan's end, all of whose gates it then has passed (skipped: as of an
 * arrival), else why before it: the first to do so is lost.
 */
void roster_leave(struct roster *roster, unsigned index, const char *why, const char *skipped);

/*
 * Wait until all others have ended or are lost, most_ns at the most; those that have not are lost
 * then, if it is the last wait. Whether all have.
 */
bool roster_wait_ends(struct roster *roster, uint64_t most_ns, bool last);

/* No gate opens any more: whoever waits, or comes, is told why. */
void roster_end(struct roster *roster, const char *why);

/* What has been handed over by a peer; "" where nothing was. As valid as the roster. */
const char *roster_lines(struct roster *roster, unsigned index, size_t *bytes);

/* How many are lost, and in words which and why. */
unsigned roster_lost(struct roster *roster, char text[ROSTER_TEXT_MAX]);

#endif
