/*
 * A kind of test: a name and two functions in a file of its own, and a row in
 * kind.c. What it needs of the run comes in `struct kind_env`; what it found goes
 * into the result. It never prints.
 */
#ifndef PVCBENCH_KIND_H
#define PVCBENCH_KIND_H

#include <stdatomic.h>

#include "io/host.h"
#include "io/target.h"
#include "plan/plan.h"
#include "result/result.h"

struct verify;

/* Where in a file that several peers share they work, each in its own part of it. */
struct kind_extent {
	uint64_t size, offset, increment, file_bytes;
};

struct kind_env {
	const char *run_id;
	const struct host *host;
	struct target *target;  /* of this test, entered; NULL: its kind has none */
	struct verify **verify; /* what is known of the target's files; made when it is needed */
	const atomic_int *stop; /* a signal's number once one came, else 0 */
	uint64_t answer_ns;     /* a volume silent for longer does not answer; 0: no limit */
	/* May be called from any thread; several times a second while the test runs. */
	void (*progress)(void *arg, const struct progress *progress);
	void (*step)(void *arg, const char *what, bool of_volume); /* kind_asks, kind_works */
	void (*measured)(void *arg);                               /* kind_measured */
	void (*settle)(void *arg, int ret);                        /* kind_settle */
	void (*say)(void *arg, const char *line);                  /* kind_says */
	int (*share)(void *arg, struct kind_extent *extent, struct err *err); /* kind_shares */
	int (*start)(void *arg, struct err *err);                             /* kind_starts */
	void *arg;                                                            /* of these */
};

/*
 * Say what is asked of the volume next, before a call that may wait for it, in the words of
 * the log: "mkdir". A test that tells neither this nor progress for answer_ns is given up: its
 * thread is left where it is.
 */
static inline void kind_asks(struct kind_env *env, const char *what)
{
	env->step(env->arg, what, true);
}

/* The same of our own work, which may take its time: "making 4GiB of data". */
static inline void kind_works(struct kind_env *env, const char *what)
{
	env->step(env->arg, what, false);
}

/*
 * A line of its own in the log, such as what a part of the test gave. Never from the timed path:
 * it waits for nothing, but for a lock.
 */
static inline void kind_says(struct kind_env *env, const char *line)
{
	env->say(env->arg, line);
}

/*
 * All that the test measures was measured. A signal that comes later, in what is asked of the
 * volume beside it, does not interrupt the test.
 */
static inline void kind_measured(struct kind_env *env)
{
	env->measured(env->arg);
}

/*
 * Of a test whose file several peers share: peer 0 tells the others what it has laid out, they wait
 * for it and get it. An error is that of another peer, or none could be reached.
 */
static inline int kind_shares(struct kind_env *env, struct kind_extent *extent, struct err *err)
{
	return env->share ? env->share(env->arg, extent, err) : 0;
}

/*
 * The load that is measured is prepared, and starts when this returns 0: of several peers all
 * start at one time. An error as above. Neither waits on after a stop.
 */
static inline int kind_starts(struct kind_env *env, struct err *err)
{
	return env->start ? env->start(env->arg, err) : 0;
}

/*
 * The result (and err, if ret is -1) is complete and no longer touched: it counts although
 * what is still to do, closing files, may wait for ever.
 */
static inline void kind_settle(struct kind_env *env, int ret)
{
	env->settle(env->arg, ret);
}

/* What a test would do. */
struct preview {
	uint64_t duration_ns;  /* ramp, runtime and probe, at most; the layout's is not known */
	uint64_t layout_bytes; /* written before the test, at most */
	uint64_t write_bytes;  /* written by the test where an amount bounds it; 0: by time */
	uint64_t size_asked, size;
	char search[SEARCH_TEXT_MAX]; /* what it searches, and how; "": nothing */
	char concessions[RESULT_CONCESSIONS_MAX][RESULT_TEXT_MAX];
	unsigned n_concessions;
};

struct kind {
	const char *name;

	/* Whether it could run, before any test does. Touches nothing. preview may be NULL, as
	 * may target where the kind has none. */
	int (*check)(const struct test *test, const struct target *target, const struct host *host,
	             struct preview *preview, struct err *err);

	/*
	 * Run it. On failure err says why and tr holds what was measured before; an
	 * interruption (*env->stop set) is no failure.
	 */
	int (*run)(const struct test *test, struct kind_env *env, struct test_result *tr,
	           struct err *err);
};

extern const struct kind kind_block, kind_probe, kind_persist, kind_hops, kind_table;

/* By its name in the plan; NULL when there is none. */
const struct kind *kind_find(const char *name);

/* All kinds, ended by NULL; the first one is the default. */
extern const struct kind *const kinds[];

#endif
