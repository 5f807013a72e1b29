/*
 * What of a block test fits: the size of its files, the region of each job, the
 * depth that memory carries. Pure: it looks at nothing but its arguments.
 */
#ifndef PVCBENCH_GEOMETRY_H
#define PVCBENCH_GEOMETRY_H

#include "io/host.h"
#include "io/target.h"
#include "plan/plan.h"

#define GEOMETRY_NOTE_MAX 256

struct geometry {
	uint64_t size_asked, size; /* bytes of a job's region */
	uint64_t size_class;       /* what the class left of size_asked; 0: it took nothing */
	uint64_t offset;           /* of the region of job 0, and of each in a file of its own */
	uint64_t increment;        /* region of job j in a shared file: offset + j * increment */
	uint64_t first_job;        /* number of this process's job 0 among those that share it */
	uint64_t edge;             /* no work before this, nor so close to a device's end */
	unsigned files;            /* 1, or one per job */
	uint64_t file_bytes;       /* each file's length */
	uint64_t iodepth;
	char size_note[GEOMETRY_NOTE_MAX];  /* how the size was shrunk; "" when it was not */
	char depth_note[GEOMETRY_NOTE_MAX]; /* how the depth was lowered; "" when it was not */
};

/*
 * Fit the test to the class's working set, and to what the target can hold when nothing else of
 * this run lies there. ERR_TARGET when not even one block per job fits, or not one request per job
 * into memory.
 */
int geometry_fit(struct geometry *geometry, const struct test *test, const struct target *target,
                 const struct host *host, struct err *err);

/* The same for a user's file of this size, which stays as it is: a larger size means all of it. */
int geometry_fit_existing(struct geometry *geometry, const struct test *test, uint64_t file_bytes,
                          const struct host *host, struct err *err);

/*
 * Lower the depth to what half of the memory holds, by_threads where every request has
 * a thread. The other functions did it for one thread per job; depth_note is "" unless lowered.
 */
int geometry_fit_memory(struct geometry *geometry, const struct test *test, const struct host *host,
                        bool by_threads, struct err *err);

/* Where the region of a job starts in its file. */
uint64_t geometry_region(const struct geometry *geometry, unsigned job);

#endif
