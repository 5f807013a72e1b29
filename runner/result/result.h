/*
 * What a run gave, as plain data: the histogram and the series, never
 * percentiles. out/ prints it; run.c fills it.
 */
#ifndef PVCBENCH_RESULT_H
#define PVCBENCH_RESULT_H

#include "measure/stats.h"
#include "plan/class.h"
#include "plan/plan.h"
#include "result/hops.h"
#include "result/search.h"
#include "result/table.h"

#define RESULT_SCHEMA          "pvcbench.result/1"
#define RESULT_TEXT_MAX        256
#define RESULT_CONCESSIONS_MAX 16
#define RESULT_VERDICTS_MAX    8
#define RESULT_STATUS_TEXT_MAX 768
#define RESULT_NOTES_MAX       8

enum result_status { STATUS_OK, STATUS_FAILED, STATUS_INTERRUPTED };
enum expect_result { EXPECT_PASS, EXPECT_FAIL, EXPECT_NOT_JUDGED };
enum expect_bound { BOUND_NONE, BOUND_AT_MOST, BOUND_AT_LEAST };

struct expectation {
	char expr[EXPECT_TEXT_MAX];
	int result;   /* enum expect_result */
	double value; /* measured, in the expression's base unit (per second, ns, bytes/s); NAN when
	                 unknown */
	int bound;    /* enum expect_bound: what is known of it is only this */
};

/*
 * What the machine did in a part of a test's window, as near to all of it as the thread that
 * watches came: it sees the beginning late and looks a little before the end. Each is NAN
 * where it is not known.
 */
struct usage {
	uint64_t from_ns, span_ns; /* since the window's start, and how long; 0: nothing gathered */
	bool in_memory;            /* the file lies in a file system that is memory */
	double bytes;              /* that the test's requests moved */
	double cpu_user_ns, cpu_system_ns; /* of this process */
	double thread_cpu_ns,
	        thread_wait_ns; /* of its busiest thread: on a CPU, ready without one */
	/* Of the CPU quota that held up most; throttled_ns adds up CPUs. */
	double periods, throttled_periods, throttled_ns;
	/* Of the memory limit that was met most, see io/counters.h. */
	double limit_met, limit_kills, limit_stalled_ns;
	double read_bytes, write_bytes; /* this process made the volume move; writes: or dirtied */
	double device_read_bytes, device_write_bytes; /* it moved, for whomever */
};

struct verdict {
	char code[32]; /* page-cache, errors, ... none: see verdict.c */
	double figure; /* what the code is about, in base units; NAN when there is none */
	char text[RESULT_TEXT_MAX];
};

/* What was asked after a test, in no figure of it: see plan_limits_probe_ns. */
struct limits_probe {
	uint64_t iodepth;    /* twice the test's; 0: there was no probe */
	uint64_t ios;        /* reads and writes at that depth */
	uint64_t runtime_ns; /* in that time */
	uint64_t floor_ns;   /* median latency of one job at depth 1; 0: not known */
};

/*
 * What the pods that ran a test together gave, see result/merge.h. Rates are sums of the pods'
 * rates, each over its own window; the spread is that of a pod's reads and writes together.
 */
struct pods {
	uint64_t n;          /* whose figures these are; 0: one process gave them */
	uint64_t of;         /* that took part in the run */
	uint64_t apart_ns;   /* from the first start of a window to the last one */
	uint64_t longest_ns; /* the longest of their windows */
	double iops[STATS_OPS], bw[STATS_OPS];
	double iops_min, iops_median, iops_max;
	char slowest[RESULT_TEXT_MAX]; /* the pod of iops_min */
};

/*
 * Blocks that were read twice before the test, one at a time: see verdict.h. In no figure of it.
 */
struct cache_probe {
	uint64_t blocks;             /* 0: there was no probe */
	uint64_t first_ns, again_ns; /* medians */
	/* Of the fastest tenth of the first, the slowest tenth of the second. */
	uint64_t first_low_ns, again_high_ns;
};

/* Of kind persist: what was done with its file, and what was seen. */
struct persist_result {
	int step; /* enum plan_step */
	char key[PLAN_KEY_MAX];
	uint64_t took_ns;   /* to write and sync it, to read and check it, or to remove it */
	uint64_t waited_ns; /* for it to be seen, or that it was looked for in vain */
	bool found;         /* it was there, or is by now; then: */
	uint64_t bytes;     /* of its data */
	uint64_t age_ns;    /* since it was written, by the clocks of both hosts */
	char host[RESULT_TEXT_MAX];   /* who wrote it, in a cluster the pod's name */
	char run_id[RESULT_TEXT_MAX]; /* and in which run */
};

struct test_result {
	char name[PLAN_NAME_MAX];
	struct plan_repeat repeat;
	char kind[PLAN_NAME_MAX];
	char target[PLAN_PATH_MAX];
	int status; /* enum result_status */
	char error[RESULT_STATUS_TEXT_MAX];
	int exit_class; /* 0, or enum err_class of the error */

	/* As planned. */
	int rw; /* enum plan_rw */
	uint64_t bs, iodepth, numjobs;
	uint64_t rwmixread;           /* percent; of rw and randrw */
	uint64_t rate_iops, rate;     /* open loop: requests or bytes a second over all jobs */
	uint64_t thinktime_ns;        /* after each request of a job */
	char random_distribution[32]; /* "uniform", "zipf:1.2"; "": sequential */
	bool randommap;               /* every block once a pass */
	int buffer;                   /* enum plan_buffer */
	char filename[PLAN_PATH_MAX]; /* "": a file of our own, or the device */
	bool file_per_job;
	int sync;                  /* enum plan_sync */
	uint64_t fsync, fdatasync; /* after this many writes; 0: never */
	bool end_fsync;
	int layout;              /* enum plan_layout; none of a filename */
	uint64_t loops, io_size; /* the amount that bounds the test; 0: not this one */
	uint64_t ramp_time_ns, runtime_asked_ns; /* 0 where an amount bounds the test */

	/* As it was done. */
	char ioengine[32];
	char ioengine_reason[RESULT_TEXT_MAX];
	bool direct;
	char direct_reason[RESULT_TEXT_MAX];
	uint64_t size_asked, size; /* bytes per file */
	uint64_t size_class;       /* what class.yaml's size left of size_asked; 0: all of it */
	uint64_t offset, offset_increment;
	bool first_write;            /* to a file of our own that was not laid out */
	uint64_t runtime_ns;         /* the window that rates refer to */
	uint64_t released_within_ns; /* the peers of a run started no further apart; 0: one alone */
	uint64_t started_ns;         /* of that window, since 1970 (UTC); 0: not known */
	uint64_t randseed;           /* of offsets and data; 0: not drawn yet */
	uint64_t layout_bytes, layout_ns; /* shown, never counted */
	uint64_t data_age_ns; /* of what this run laid out, when the test began; 0: not known */
	bool fits_memory;     /* buffered, and memory may hold all that it touches */
	int verify;           /* enum plan_verify */
	uint64_t verify_block_bytes; /* of the blocks counted here */
	uint64_t verify_checked, verify_mismatches;
	uint64_t verify_crossed;    /* not judged: writes, or a read and a write, met there */
	char ledger[PLAN_PATH_MAX]; /* "": none */
	char concessions[RESULT_CONCESSIONS_MAX][RESULT_TEXT_MAX];
	unsigned n_concessions;
	/* One of these changes what requests cost, other than by direct, size and iodepth. */
	bool figures_conceded;

	struct stats *stats; /* owned; NULL when the test never started */
	struct usage usage;
	struct gap longest_gap; /* stats_longest_gap of these; all zero: not known */
	struct limits_probe limits_probe;
	struct pods pods;
	struct cache_probe cache_probe;
	struct search search; /* the figures are those of its last step */
	struct persist_result persist;
	struct hops_result hops; /* owned */
	struct table_result table;

	struct expectation expect[PLAN_EXPECT_MAX];
	unsigned n_expect;
	struct verdict verdicts[RESULT_VERDICTS_MAX];
	unsigned n_verdicts;
};

/* What control groups allow on the device, a second; 0: no limit that is shown. */
struct io_limits {
	uint64_t read_iops, write_iops, read_bytes, write_bytes;
};

struct conditions {
	char target[PLAN_PATH_MAX];
	char fs[RESULT_TEXT_MAX];
	char mount_options[1024];
	char mount_source[RESULT_TEXT_MAX];
	char device[RESULT_TEXT_MAX];
	char scheduler[RESULT_TEXT_MAX];
	char write_cache[32]; /* "write back" or "write through", as the device says */
	struct io_limits io_limits;
	uint64_t block_bytes;
	uint64_t capacity_bytes, free_bytes;
	char kernel[RESULT_TEXT_MAX];
	char machine[RESULT_TEXT_MAX];
	char node[RESULT_TEXT_MAX];
	double cpus;
	bool cpu_quota; /* cpus comes from a quota */
	uint64_t memory_bytes;
	uint64_t host_memory_bytes;  /* of the machine, where memory_bytes is a limit; else 0 */
	char class[RESULT_TEXT_MAX]; /* of class.yaml; "": none */
	char class_note[CLASS_NOTE_MAX];
	struct published class_limits;
};

/* A process that runs beside others that do the same. */
struct peer {
	uint64_t index; /* from 0 */
	uint64_t count; /* of them all; 0: there are no others */
};

/* Of a result that was merged. */
struct merged {
	uint64_t pods;                 /* that gave it; 0: it was not merged */
	uint64_t of;                   /* that there should be; 0: not known */
	char missing[RESULT_TEXT_MAX]; /* the indices of the others: "1, 4-6"; "": none */
};

struct result {
	char id[RESULT_TEXT_MAX];   /* of the run */
	char host[RESULT_TEXT_MAX]; /* as the pod or machine calls itself */
	struct peer peer;
	struct merged merged;
	char started[RESULT_TEXT_MAX]; /* RFC 3339, UTC */
	char version[RESULT_TEXT_MAX];
	char plan[PLAN_PATH_MAX];
	uint64_t peak_rss_bytes; /* the most memory that this process held so far; 0: not known */
	uint64_t attempt;        /* of the same Job, where an earlier one left files; else 0 */
	char notes[RESULT_NOTES_MAX][RESULT_TEXT_MAX]; /* on the run, such as leftovers of others */
	unsigned n_notes;
	struct conditions conditions; /* of the first target */
	struct conditions *targets;   /* of every target, the first included; owned */
	unsigned n_targets;
	bool interrupted;
	struct verdict verdicts[RESULT_VERDICTS_MAX]; /* of the run as a whole */
	unsigned n_verdicts;
	struct test_result *tests; /* owned */
	unsigned n_tests;          /* tests that were begun, in the plan's order */
};

enum progress_phase {
	PHASE_LAYOUT,
	PHASE_SEARCH,
	PHASE_RAMP,
	PHASE_RUN,
	PHASE_DRAIN,
	PHASE_VERIFY,
	PHASE_PROBE,
	PHASE_CACHE,
	PHASE_LOOK,
	PHASE_WARMUP,
	PHASE_REQUESTS
};

/* How a running test stands; told several times a second while it runs. */
struct progress {
	int phase;               /* enum progress_phase */
	uint64_t elapsed_ns;     /* in this phase */
	uint64_t expected_ns;    /* of this phase; 0 when not known (a phase by amount) */
	uint64_t bytes;          /* done in this phase; of hops it is requests */
	uint64_t total_bytes;    /* of this phase; 0 when it is bound by time */
	uint64_t ios;            /* completions in this phase, all operations */
	uint64_t latency_sum_ns; /* of these */
	uint64_t stalled_ns;     /* time since the last completion */
};

/* Whether it is of kind persist: then it has no load, and no figures of one. */
bool result_is_persist(const struct test_result *tr);

/* The same of kind hops, which has no target either. */
bool result_is_hops(const struct test_result *tr);
/* Whether it is of kind table: then its reads are queries and its writes are deletions. */
bool result_is_table(const struct test_result *tr);

/* None of them: blocks are read or written. */
bool result_has_load(const struct test_result *tr);

/* Everything that the plan says; nothing measured yet, status STATUS_OK. */
void test_result_init(struct test_result *tr, const struct test *test);

/* Add one concession, in words; those beyond the limit are dropped (the last place says so). */
void test_result_concede(struct test_result *tr, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Add a note on the run; those beyond the limit are dropped (the last place says so). */
void result_note(struct result *result, const char *text);

/*
 * Whether there is a figure for this operation: a completion was counted, or the
 * test ran to its end and this operation was its job (then none is a measured 0).
 */
bool test_result_measured(const struct test_result *tr, enum stats_op op);

/* Completions per second, bytes per second; 0 without a window. Of pods: the sum of theirs. */
double test_result_iops(const struct test_result *tr, enum stats_op op);
double test_result_bw(const struct test_result *tr, enum stats_op op);

/* "EIO"; RESULT_OTHER_ERRORS for 0, which stands for several kinds. */
#define RESULT_OTHER_ERRORS "others"
const char *result_error_name(int errnum);

void test_result_destroy(struct test_result *tr);
void result_destroy(struct result *result);

/* The conditions of the target that this test ran on. */
const struct conditions *result_conditions(const struct result *result,
                                           const struct test_result *tr);

#define EXIT_THRESHOLD 99 /* a threshold was not met, or could not be judged */

/* Where several hold: 4, 3, 1, 99, 0. */
int result_exit_code(const struct result *result);

#endif
