/*
 * The plan as plain data: a run's settings and its tests, every default filled
 * in, every list multiplied out. Keys are fio's words wherever fio has one;
 * docs/plan.md is printed from the table in plan/keys.c.
 */
#ifndef PVCBENCH_PLAN_H
#define PVCBENCH_PLAN_H

#include "base/field.h"
#include "plan/expect.h"
#include "plan/table.h"

#define PLAN_TESTS_MAX     512
#define PLAN_FILE_MAX      (1024 * KIB)
#define PLAN_NAME_MAX      128
#define PLAN_PATH_MAX      1024
#define PLAN_KEY_MAX       64
#define PLAN_KEY_BYTES_MAX (1 * GIB)
#define PLAN_EXPECT_MAX    8
#define PLAN_REPEATS_MAX   100
#define PLAN_DEPTH_MAX     4096
#define PLAN_JOBS_MAX      256

enum plan_rw { RW_READ, RW_WRITE, RW_RANDREAD, RW_RANDWRITE, RW_RW, RW_RANDRW };
enum plan_direct { PLAN_DIRECT_AUTO, PLAN_DIRECT_TRUE, PLAN_DIRECT_FALSE };
enum plan_limits_probe { PROBE_AUTO, PROBE_TRUE, PROBE_FALSE };
enum plan_sync { SYNC_NONE, SYNC_SYNC, SYNC_DSYNC };
enum plan_buffer { BUFFER_RANDOM, BUFFER_ZERO };
enum plan_layout { LAYOUT_FULL, LAYOUT_NONE };
enum plan_destroy { DESTROY_NOTHING, DESTROY_NAMED, DESTROY_ANYTHING };
enum plan_verify { VERIFY_NONE, VERIFY_CRC32C };
enum plan_http { PLAN_HTTP_1_1, PLAN_HTTP_2 };
enum plan_step { STEP_WRITE, STEP_EXPECT, STEP_EXPECT_ABSENT, STEP_REMOVE };

/* A size that may depend on where it is used. */
struct plan_size {
	enum { SIZE_BYTES, SIZE_PERCENT_FREE, SIZE_X_MEMORY } unit;
	uint64_t value; /* bytes; percent of the free space, 1 to 100; times the memory */
};

struct plan_distribution {
	enum { DISTRIBUTION_UNIFORM, DISTRIBUTION_ZIPF } shape;
	double theta; /* of zipf */
};

/* One of the tests that `repeat` makes of one. */
struct plan_repeat {
	char of[PLAN_NAME_MAX]; /* the name without the number */
	uint64_t index;         /* from 1 */
	uint64_t count;         /* of them all; 0: it is none */
};

struct test {
	char name[PLAN_NAME_MAX]; /* [A-Za-z0-9_-]+, unique in the plan */
	char kind[PLAN_NAME_MAX];
	char target[PLAN_PATH_MAX];   /* "": its kind has none */
	char filename[PLAN_PATH_MAX]; /* an existing file; "": our own */
	int rw;                       /* enum plan_rw; "readwrite" reads as RW_RW */
	uint64_t rwmixread;           /* percent of requests that read, of rw and randrw */
	uint64_t bs;                  /* bytes */
	uint64_t iodepth;
	uint64_t numjobs;
	struct plan_size size;
	uint64_t offset,
	        offset_increment; /* bytes; job j starts at offset + j * offset_increment */
	bool file_per_job;
	bool shared;               /* one file for all peers of a run */
	uint64_t peers_timeout_ns; /* 0: no limit */
	uint64_t runtime_ns, ramp_time_ns;
	uint64_t loops;   /* passes over size in place of runtime; 0: runtime counts */
	uint64_t io_size; /* bytes per job in place of runtime; 0: runtime counts */
	char ioengine[PLAN_NAME_MAX];
	int direct;                /* enum plan_direct */
	uint64_t fsync, fdatasync; /* after this many writes; 0: never */
	bool end_fsync;
	int sync;           /* enum plan_sync: the file is opened O_SYNC or O_DSYNC */
	uint64_t rate_iops; /* open loop: requests a second per job; 0: closed loop */
	uint64_t rate;      /* the same as bytes a second per job */
	uint64_t thinktime_ns;
	uint64_t requests, interval_ns; /* of a probe, which turns them into the above */
	uint64_t latency_target_ns; /* the highest rate that keeps it is searched; 0: no search */
	double latency_percentile;  /* of the latency that is held against it */
	/* Of persist: what is done with the file of this key. */
	int step; /* enum plan_step */
	char key[PLAN_KEY_MAX];
	uint64_t key_bytes; /* "size" */
	uint64_t wait_ns;
	/* Of hops. */
	const struct plan_chains *chains; /* see plan/chains.h; the plan's */
	uint64_t pause_ns;                /* "interval" */
	uint64_t requests_rate;           /* "rate": due a second; 0: closed loop */
	uint64_t warmup;                  /* requests of each chain that are not measured */
	bool keepalive;
	int http_version;            /* enum plan_http */
	uint64_t timeout_ns;         /* of a request */
	char ca_file[PLAN_PATH_MAX]; /* "": see io/http.h */
	uint64_t body_bytes;         /* of a request, at least */
	struct plan_table table;     /* of kind table */
	struct plan_distribution random_distribution;
	bool randommap;
	uint64_t randseed;          /* 0: a new one each run */
	int buffer;                 /* enum plan_buffer */
	int layout;                 /* enum plan_layout */
	uint64_t layout_time_ns;    /* 0: no limit */
	uint64_t answer_time_ns;    /* 0: no limit */
	int verify;                 /* enum plan_verify */
	char ledger[PLAN_PATH_MAX]; /* kept of what is written; "": none */
	int limits_probe;           /* enum plan_limits_probe */
	uint64_t repeat;            /* as written; the repeats are tests of their own already */
	struct plan_repeat nth;     /* no key: which of them this is */
	bool strict;
	int destroy; /* enum plan_destroy */
	bool clean;
	bool container_fs;
	struct expect expect[PLAN_EXPECT_MAX];
	unsigned n_expect;

	unsigned line, column; /* where it stands in the plan */

	/* No key: the class's largest working set, in bytes; 0: any. */
	uint64_t class_size;
	/* No key: how many processes run this together (0 or 1: this one alone), and which this is.
	 */
	unsigned peers, peer;
};

struct plan {
	char name[PLAN_PATH_MAX]; /* "cce" of a built-in, else the file's path */
	struct test *tests;       /* owned */
	unsigned n_tests;
	struct plan_sink *sinks; /* where results are delivered, see plan/sink.h; owned */
	unsigned n_sinks;
	struct plan_chains *chains; /* that tests name, see plan/chains.h; owned */
};

/* The keys of a test (and, as defaults, of the plan). */
extern const struct field plan_fields[];
extern const size_t plan_n_fields;

/* The keys that only the plan's top has. */
enum plan_top { PLAN_TOP_VERSION, PLAN_TOP_TESTS, PLAN_TOP_DELIVER, PLAN_TOP_KEYS };
extern const struct field plan_top_fields[PLAN_TOP_KEYS];

/* By enum plan_rw, ended by NULL. */
extern const char *const plan_rw_names[];

/* "randread" for RW_RANDREAD. */
static inline const char *plan_rw_name(int rw)
{
	return plan_rw_names[rw];
}

static inline bool plan_rw_reads(int rw)
{
	return rw != RW_WRITE && rw != RW_RANDWRITE;
}

static inline bool plan_rw_writes(int rw)
{
	return rw != RW_READ && rw != RW_RANDREAD;
}

static inline bool plan_rw_mixes(int rw)
{
	return plan_rw_reads(rw) && plan_rw_writes(rw);
}

bool plan_reads(const struct test *test);  /* read, randread, rw, randrw */
bool plan_writes(const struct test *test); /* write, randwrite, rw, randrw */
bool plan_random(const struct test *test);

/* Peers that work on one file: how many; else 1. */
static inline unsigned plan_sharers(const struct test *test)
{
	return test->shared && test->peers ? test->peers : 1;
}

/* Whether an amount ends it, not time. */
static inline bool plan_by_amount(const struct test *test)
{
	return test->loops || test->io_size;
}

/* Asks for one block after the other, to tell each. */
#define PLAN_KIND_PROBE "probe"
bool plan_is_probe(const struct test *test);

/* A file that outlives the run: one writes it, others look for it. */
#define PLAN_KIND_PERSIST "persist"
bool plan_is_persist(const struct test *test);
extern const char *const plan_step_names[]; /* by enum plan_step, ended by NULL */

/* Requests through chains of services; touches no volume. */
#define PLAN_KIND_HOPS "hops"
#define PLAN_CHAINS    "chains" /* its key that is no plain value */
bool plan_is_hops(const struct test *test);
/* Deletes entities in Azure Table storage. */
bool plan_is_table(const struct test *test);

/* Whether it holds back by itself, so that its rate is not the volume's. */
static inline bool plan_paces(const struct test *test)
{
	return test->rate || test->rate_iops || test->thinktime_ns || test->latency_target_ns;
}

/*
 * A search for a rate (latency_target) takes ramp_time once, at its beginning, and runtime in all:
 * in steps of a PLAN_SEARCH_STEP-th of it, or longer, and the last one, which confirms the rate.
 */
#define PLAN_SEARCH_STEP     20
#define PLAN_SEARCH_CONFIRM  5
#define PLAN_SEARCH_LEAST_NS (5 * NSEC_PER_SEC) /* of runtime */
static inline uint64_t plan_search_confirm_ns(const struct test *test)
{
	return test->latency_target_ns ? test->runtime_ns / PLAN_SEARCH_CONFIRM : 0;
}

/*
 * How long the probe of limits after this test takes at most; 0: it has none. Half of it and more
 * is at twice the depth, the rest at depth 1.
 */
#define PLAN_PROBE_MOST_NS    (5 * NSEC_PER_SEC)
#define PLAN_PROBE_LEAST_NS   (1 * NSEC_PER_SEC)
#define PLAN_PROBE_SHARE      4                   /* of the runtime */
#define PLAN_PROBE_RUNTIME_NS (10 * NSEC_PER_SEC) /* shorter tests have it by `true` only */
uint64_t plan_limits_probe_ns(const struct test *test);

/* The same of the probe of caches, before the test: less where the volume is quick. */
#define PLAN_CACHE_PROBE_MOST_NS  (5 * NSEC_PER_SEC)
#define PLAN_CACHE_PROBE_LEAST_NS (1 * NSEC_PER_SEC)
#define PLAN_CACHE_PROBE_SHARE    20 /* of the runtime */
uint64_t plan_cache_probe_ns(const struct test *test);

/* A built-in plan. */
struct plan_builtin {
	const char *name;
	const char *text; /* YAML */
	size_t size;      /* bytes of text, without the final NUL */
};

extern const struct plan_builtin plan_builtins[]; /* sorted by name, ended by name == NULL */
const struct plan_builtin *plan_builtin_find(const char *name);

/* JSON Schemas of a plan and of a result document, compiled in beside the plans. */
extern const char plan_schema_json[], result_schema_json[];

/* Fill in what follows from a test's keys, before plan_check_test. */
void plan_complete(struct test *test);

/* What contradicts itself within one test: two keys that exclude each other. */
int plan_check_test(const struct test *test, struct err *err);

void plan_destroy(struct plan *plan);

#endif
