/*
 * What earlier runs left in a target, and what other runs have there now: directories of
 * a run's name with a claim that says the same. Directories of such a name without one
 * are nobody's, and never touched.
 */
#ifndef PVCBENCH_LEFTOVER_H
#define PVCBENCH_LEFTOVER_H

#include "io/claim.h"
#include "io/target.h"

#define LEFTOVERS_MAX 64 /* of a target; how many more there are is counted */

/* A claim that is this old by the clock of its file system is that of a dead run; nodes whose
   clocks stamp it themselves (SMB, object stores) may be almost that far apart. */
#define LEFTOVER_SILENT_NS (600 * NSEC_PER_SEC)
/* One that did not change while it was watched for so long is dead by any clock. */
#define LEFTOVER_WATCH_NS (60 * NSEC_PER_SEC)

struct leftover {
	char name[sizeof(((struct target *)0)->run_dir)];
	struct claim claim;
	uint64_t beat_ns; /* last heartbeat, by the file system's clock */
	uint64_t bytes;   /* that its files hold */
	enum claim_life life;
	bool ours; /* of an earlier attempt of our Job */
	bool gone; /* it was removed since it was found */
};

struct leftovers {
	struct leftover *list; /* owned */
	unsigned n;
	unsigned unlisted;  /* more with a claim than LEFTOVERS_MAX */
	unsigned unclaimed; /* directories of such a name without a valid claim */
	bool partial; /* not all of the directory was looked at: too many names, or too slow */
};

/*
 * Whether it goes once it is dead: what an earlier attempt of our Job left, unless it is kept
 * for a ledger; with clean whatever it is.
 */
bool leftover_may_go(const struct leftover *leftover, bool clean);

/* Look, and touch nothing; what cannot be read is not there. own is of this process. */
void leftovers_find(struct leftovers *found, const struct target *target, const struct claim *own);

void leftovers_destroy(struct leftovers *found);

/* Of those whose life is unknown: dead where silent for long at now_ns by the file system's clock.
 */
void leftovers_age(struct leftovers *found, uint64_t now_ns);

/* Read the claims of those whose life is unknown again: one that changed is alive. */
void leftovers_look_again(struct leftovers *found, const struct target *target);

/*
 * Remove one that is dead. Refused (ERR_REFUSED) where its claim changed meanwhile; what
 * cannot be removed or is not a run's is named in err and stays.
 */
int leftover_remove(struct leftover *leftover, const struct target *target, struct err *err);

/*
 * The time by the clock that stamps claims: our own is made to beat. -1 where this file
 * system keeps no such time, and silence says nothing. After target_enter.
 */
int leftover_clock(const struct target *target, uint64_t *now_ns);

#endif
