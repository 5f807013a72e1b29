/*
 * The claim: a small file in a run's directory that says whose it is, and by its time
 * of change that the run is alive. It is lines of key=value; the first names the format
 * and the last ends it, so that a part of one is none.
 */
#ifndef PVCBENCH_CLAIM_H
#define PVCBENCH_CLAIM_H

#include "base/err.h"

#define CLAIM_FILE       "claim"
#define CLAIM_BYTES_MAX  4096 /* of the file; a larger one is none of ours */
#define CLAIM_RUN_ID_MAX 64
#define CLAIM_TEXT_MAX   256

struct claim {
	char run_id[CLAIM_RUN_ID_MAX];
	char job[CLAIM_TEXT_MAX]; /* PVCBENCH_JOB, _JOB_UID, the index in an Indexed Job; "": none
	                           */
	char job_uid[CLAIM_TEXT_MAX];
	char job_index[CLAIM_TEXT_MAX];
	uint64_t attempt;          /* of this Job (and index), from 1 */
	char node[CLAIM_TEXT_MAX]; /* PVCBENCH_NODE */
	char host[CLAIM_TEXT_MAX]; /* its name, in a cluster the pod's */
	char boot[CLAIM_TEXT_MAX]; /* the kernel's boot id; "": not known */
	uint64_t pid_namespace;    /* inode number; 0: not known */
	uint64_t pid;
	uint64_t pid_start; /* clock ticks since boot; 0: not known */
	char started[CLAIM_TEXT_MAX];
	char kept_for[CLAIM_TEXT_MAX]; /* the ledger that tells of its files; "": they are of no use
	                                */
};

/* Whether the run that made a claim still runs, as far as it can be told. */
enum claim_life { CLAIM_UNKNOWN, CLAIM_ALIVE, CLAIM_DEAD };

/* This process and its Job; attempt is 1. */
void claim_describe(struct claim *claim, const char *run_id);

/* Its files are kept for this ledger; NULL or "": they are not. */
void claim_keep(struct claim *claim, const char *ledger);

/* Write it, new, into the directory dirfd. 0 or an errno. */
int claim_write(int dirfd, const struct claim *claim);

/*
 * Read one: false where there is none of this format. Bounded whatever lies there, and
 * no link is followed. *beat_ns is the last heartbeat by the clock of the file system.
 */
bool claim_read(int dirfd, struct claim *claim, uint64_t *beat_ns);

/* Change the claim in dirfd so that the file system stamps it. 0 or an errno. */
int claim_beat(int dirfd);

/* Of the same Job (and index in it). */
bool claim_same_job(const struct claim *a, const struct claim *b);

/*
 * Alive or dead by its process, which can be known only where `own`, this process's claim, is
 * of the same boot and the same PID namespace.
 */
enum claim_life claim_life(const struct claim *claim, const struct claim *own);

#endif
