/*
 * An engine moves bytes between buffers and one open file. It never reads the
 * clock, counts or prints. It is four functions and a name in a file of its
 * own, and a row in engine.c.
 *
 * One engine state belongs to one thread: open, submit, reap and close are
 * called by the same one.
 */
#ifndef PVCBENCH_ENGINE_H
#define PVCBENCH_ENGINE_H

#include "base/err.h"

enum io_op { IO_READ, IO_WRITE, IO_FSYNC, IO_FDATASYNC };

#define ENGINE_DEPTH_MAX 4096
/*
 * Requests handed to the kernel in one call. From three on it holds them back from the
 * device until it has made the whole batch ready (a plug): of 16 small ones the first
 * waits some 40 us. So a device gets them by four.
 */
#define ENGINE_BATCH 4

/*
 * The next call's batch, from the last one's and whether that left nothing in flight. Then
 * the storage answers within the call, as a page cache does: no device waits behind a plug,
 * and a call less is time saved. The first call that leaves something ends it.
 */
static inline unsigned engine_batch(unsigned last, bool all_answered)
{
	return all_answered ? (unsigned)min_u64(2 * last, ENGINE_DEPTH_MAX) : ENGINE_BATCH;
}

/* One request. The caller owns it and keeps it unchanged until it is reaped. */
struct io {
	enum io_op op;
	uint32_t len;    /* bytes */
	uint64_t offset; /* in the file */
	void *buf;       /* within the arena given to open */
	int32_t res;     /* set when reaped: bytes moved, or -errno */
};

struct engine_params {
	int fd;
	unsigned depth; /* requests outstanding at most, 1 to max_depth */
	void *arena;    /* all buffers lie in here; page aligned */
	size_t arena_size;
};

struct engine {
	const char *name;   /* as in the plan: io_uring, libaio, psync, null */
	unsigned max_depth; /* 1: submit blocks until the request is done, depth comes from threads
	                     */

	int (*open)(void **state, const struct engine_params *params, struct err *err);

	/*
	 * Take n requests. Returns how many were taken (from the front), or -errno
	 * when not even one was. They may reach the kernel as late as the next reap.
	 */
	int (*submit)(void *state, struct io *const *ios, unsigned n);

	/*
	 * Collect finished requests into done: at least min (0: do not wait), at most
	 * max, waiting no longer than timeout_ns (UINT64_MAX: no limit). Returns how
	 * many; fewer than min when the time is up or a signal came; -errno when the
	 * engine is broken.
	 */
	int (*reap)(void *state, struct io **done, unsigned min, unsigned max, uint64_t timeout_ns);

	/* Requests still in flight are abandoned: their buffers must outlive the process's use. */
	void (*close)(void *state);
};

extern const struct engine engine_uring, engine_aio, engine_psync, engine_null;

/* By its name in the plan; NULL when there is none. */
const struct engine *engine_find(const char *name);

/* What usually is behind this errno from this engine, in a few words; NULL where not known. */
const char *engine_cause(const struct engine *engine, int errnum);

#define ENGINE_REASON_MAX 256

/* What an engine is to be chosen for. */
struct engine_wish {
	const char *name; /* "auto", or an engine's name: then it is a demand */
	int fd;
	bool direct;          /* opened with O_DIRECT */
	bool may_write;       /* a trial may write where the file holds nothing */
	uint64_t offset;      /* of a trial */
	uint32_t bytes;       /* of a trial */
	unsigned depth, jobs; /* what will be open at once: this many states of this depth */
	uint64_t timeout_ns;  /* how long a trial is waited for; 0: 10 s */
	/*
	 * Told what is next: a request to the volume, or what this kernel alone does, which for
	 * many states may take seconds. NULL: nobody wants to know.
	 */
	void (*step)(void *arg, bool of_volume);
	void *arg;
};

/* Which engine a file gets, and why. */
struct engine_choice {
	const struct engine *engine;
	bool refused; /* auto: a better engine was refused (not: would not suit this file) */
	char reason[ENGINE_REASON_MAX]; /* "psync: a trial request was served", before it why not
	                                   others */
};

/*
 * Choose for an open file by trying one real request on it, with as many states
 * open as there will be: a read of `bytes` at `offset` where the file holds them,
 * else a write there if may_write (a file that it made longer gets its size
 * back). A demand fails with ERR_TARGET where it is refused. auto takes io_uring,
 * else libaio (only when direct), else psync; where RWF_NOWAIT is refused the
 * kernel would serve io_uring by worker threads, so auto takes psync.
 */
int engine_choose(struct engine_choice *choice, const struct engine_wish *wish, struct err *err);

/*
 * One request through a fresh state of this engine, waited for at most 10 s.
 * Returns bytes moved or -errno; the reason in words goes to err on failure.
 */
int engine_try(const struct engine *engine, int fd, enum io_op op, uint64_t offset, uint32_t bytes,
               struct err *err);

#endif
