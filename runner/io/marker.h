/*
 * A file that outlives its run, by a key: who looks for it later, or elsewhere, sees whether it
 * is there, whole, and by whom it was written. The file is a head of lines key=value, filled up
 * with newlines, then data; the head holds a crc32c of its other lines and of the data.
 */
#ifndef PVCBENCH_MARKER_H
#define PVCBENCH_MARKER_H

#include "base/err.h"

#define MARKER_PREFIX    "pvcbench-persist-" /* before the key: its name in the target */
#define MARKER_NAME_MAX  128
#define MARKER_TEXT_MAX  256
#define MARKER_BYTES_MAX (1 * GIB) /* of data; a head that says more is broken */

struct marker {
	char run_id[MARKER_TEXT_MAX];
	char host[MARKER_TEXT_MAX]; /* of who wrote it, in a cluster the pod's name */
	uint64_t written_ns;        /* since 1970, by that host's clock */
	uint64_t bytes;             /* of data */
};

enum marker_state {
	MARKER_ABSENT,
	MARKER_INTACT,
	MARKER_BROKEN,  /* not what was written: cut, empty, zeros, or other bytes */
	MARKER_FOREIGN, /* a file of that name that is none of ours */
};

/* Called before every part of the data; false ends the work, with ECANCELED. */
typedef bool marker_step(void *arg);

/* MARKER_PREFIX with this key. Returns out. */
const char *marker_name(const char *key, char out[MARKER_NAME_MAX]);

/* By whom, as this process: its host and the time; bytes stay. */
void marker_describe(struct marker *marker, const char *run_id);

/* How long ago it was written, as far as the clocks of both hosts agree; 0 by one that is ahead. */
uint64_t marker_age_ns(const struct marker *marker);

/*
 * Write it as a new file in from_dirfd, synced, then give it its name in dirfd, in the place of
 * an earlier one. 0 or an errno; EEXIST: there is a foreign file of that name, and stays.
 */
int marker_write(int from_dirfd, int dirfd, const char *key, const struct marker *marker,
                 marker_step *step, void *arg);

/*
 * Look for it and read all of it. *state is what there is, and *marker what its head says, all
 * zero where there is none. 0 or an errno: then nothing is known.
 */
int marker_read(int dirfd, const char *key, enum marker_state *state, struct marker *marker,
                marker_step *step, void *arg);

/* Look only: absent, foreign, or intact as far as its head tells. Otherwise as marker_read. */
int marker_look(int dirfd, const char *key, enum marker_state *state, struct marker *marker);

/* 0 or an errno: ENOENT where there is none, EEXIST where it is a foreign one, which stays. */
int marker_remove(int dirfd, const char *key);

#endif
