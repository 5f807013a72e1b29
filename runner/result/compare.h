/*
 * Results beside each other: what of them is compared, and which differences are shown. Pure.
 *
 * Of each result, which has been freed by then, there is left: per test and operation the figures
 * of its runs (one, or those of `repeat`), under which conditions they were got, and what of them
 * may be relied on.
 *
 * A difference to the baseline is claimed of IOPS, p50 and p99 (bandwidth is IOPS times a size),
 * where both have COMPARE_RUNS_MIN runs of which all gave the figure and may be relied on. It is
 * claimed when the interval of confidence of the ratio of both means (measure/student.h) does not
 * hold 1 and the ratio is further from 1 than COMPARE_DIFFERENCE. A table has many intervals: each
 * is so wide that all of them together hold with COMPARE_CONFIDENCE (Bonferroni's inequality).
 */
#ifndef PVCBENCH_COMPARE_H
#define PVCBENCH_COMPARE_H

#include "measure/student.h"
#include "result/result.h"

#define COMPARE_RESULTS_MAX 64
#define COMPARE_TESTS_MAX   4096  /* of different names */
#define COMPARE_ENTRIES_MAX 16384 /* tests of all results */
#define COMPARE_GATES_MAX   16
#define COMPARE_NOTES_MAX   32
#define COMPARE_LABEL_MAX   160
#define COMPARE_VALUE_MAX   80
#define COMPARE_RUNS_MIN    5u
#define COMPARE_DIFFERENCE  0.05
#define COMPARE_CONFIDENCE  0.95

enum compare_figure { COMPARE_IOPS, COMPARE_BW, COMPARE_P50, COMPARE_P99, COMPARE_FIGURES };

extern const char *const compare_figure_names[]; /* "iops", "bw", ... as in expressions */

enum compare_claim {
	CLAIM_NOT_COMPARED, /* the baseline itself; one of both has no figure to rely on */
	CLAIM_TOO_FEW,      /* fewer than COMPARE_RUNS_MIN runs: nothing is claimed */
	CLAIM_NO_DIFFERENCE,
	CLAIM_HIGHER,
	CLAIM_LOWER
};

struct compare_cell {
	struct sample runs; /* a second, bytes a second, ns */
	bool best;          /* of the test's results; only where two or more have the figure */
	double ratio;       /* of the means, to the baseline's; NAN: none */
	double low, high;   /* its interval; NAN: none */
	int claim;          /* enum compare_claim */
};

struct compare_op {
	unsigned n;  /* runs that measured it */
	bool relied; /* none of them was made by a cache, a suspension or a fallback to buffers */
	struct sample limit_share; /* of the published limit; n is 0 where none is stated */
	struct compare_cell cell[COMPARE_FIGURES];
};

/* Under which conditions, row for row of a table. */
struct compare_value {
	uint64_t number;
	char text[COMPARE_VALUE_MAX];
};

enum compare_type {
	VALUE_TEXT,
	VALUE_RW,
	VALUE_UINT,
	VALUE_SIZE,
	VALUE_TIME,
	VALUE_BOOL,
	VALUE_MILLI /* thousandths */
};

struct compare_condition {
	const char *name;
	int type; /* enum compare_type */
	size_t offset, size;
};

#define COMPARE_SITE_ROWS 6
#define COMPARE_LOAD_ROWS 22
extern const struct compare_condition compare_site[COMPARE_SITE_ROWS]; /* of struct result */
extern const struct compare_condition compare_load[COMPARE_LOAD_ROWS]; /* of struct test_result */

/* What the row of n says of that object. */
void compare_take_values(const struct compare_condition *rows, unsigned n, const void *object,
                         struct compare_value *values);
bool compare_same_value(const struct compare_value *a, const struct compare_value *b);

/* A test in a result. */
struct compare_entry {
	unsigned n_ok, n_failed, n_interrupted; /* runs, by how they ended */
	uint64_t planned;                       /* runs; 1 where it was not repeated */
	bool persists;                          /* of kind persist: it has no figures */
	uint64_t seen[PLAN_REPEATS_MAX / 64 + 1];
	char limit[32]; /* the first verdict's code of its runs; "": none */
	bool opened;    /* load is known */
	struct compare_value load[COMPARE_LOAD_ROWS];
	struct compare_op op[STATS_OPS];
};

struct compare_result {
	char label[COMPARE_LABEL_MAX];  /* unique after compare_finish, and clean */
	char source[COMPARE_LABEL_MAX]; /* the file; "-": standard input */
	char pod[COMPARE_LABEL_MAX];    /* as a log's prefix says; "": none */
	char id[RESULT_TEXT_MAX], host[RESULT_TEXT_MAX];
	struct peer peer;
	uint64_t pods; /* that were merged; 0: it is of one process */
	char class[RESULT_TEXT_MAX], node[RESULT_TEXT_MAX], started[RESULT_TEXT_MAX];
	char limits[PUBLISHED_TEXT_MAX]; /* what is published; "": nothing */
	struct compare_value site[COMPARE_SITE_ROWS];
	bool told_twice;
	struct compare_entry
	        *entries[COMPARE_TESTS_MAX]; /* by the test's number; NULL: it has none */
};

/* A condition that must not hold, of every result beside the baseline. */
struct compare_gate {
	char text[EXPECT_TEST_MAX + EXPECT_TEXT_MAX];
	struct expect_beside beside;
	struct {
		unsigned n, unknown;     /* runs; of these without a figure to rely on */
		struct sample low, high; /* bounds of what was measured */
		struct expectation outcome;
		bool judged; /* it has an outcome, be it not-judged; the baseline has none */
	} of[COMPARE_RESULTS_MAX];
};

struct compare {
	struct compare_result *results[COMPARE_RESULTS_MAX];
	unsigned n_results, baseline; /* the baseline's number */
	char (*tests)[PLAN_NAME_MAX]; /* their names, in the order in which they were seen */
	unsigned n_tests, n_entries;
	struct compare_gate gates[COMPARE_GATES_MAX];
	unsigned n_gates;
	unsigned n_intervals; /* that hold together; 0: nothing can be claimed */
	bool is_full;         /* it has been told */
	unsigned n_too_few;   /* comparisons that lack runs */
	char notes[COMPARE_NOTES_MAX][RESULT_STATUS_TEXT_MAX];
	unsigned n_notes; /* those beyond the limit are dropped, the last place says so */
};

/* NULL when out of memory. */
struct compare *compare_new(void);
void compare_free(struct compare *compare);

/* A foreign text as a part of one line: control characters become '?'. */
void compare_clean(char *text);

/* What a reader of the comparison has to know. */
void compare_note(struct compare *compare, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Before the first result. ERR_PLAN: it is no expression (with its column), or one too many. */
int compare_add_gate(struct compare *compare, const char *text, struct err *err);

/*
 * Add a result, or a part of one: the tests of one run belong together, whatever order they come
 * in. source: where it was read, pod: see struct compare_result, NULL: none. ERR_PLAN: something
 * of it was left out, without the place; the rest was added. What finds no room is told once for
 * all that follow.
 */
int compare_add(struct compare *compare, const struct result *part, const char *source,
                const char *pod, struct err *err);

/*
 * Give every result a label of its own, and judge. baseline: a label, class, source, pod or run of
 * one result; NULL: the first. ERR_PLAN: there is no such one, or there are several; or no result.
 */
int compare_finish(struct compare *compare, const char *baseline, struct err *err);

/* The mean of a figure; NAN where it is not that of every run. */
double compare_mean(const struct compare_op *op, enum compare_figure figure);

/* A condition that a result does not share with the baseline. */
struct compare_difference {
	const struct compare_condition *condition;
	unsigned result;
	unsigned test; /* the first that it is true of; COMPARE_TESTS_MAX: of the site */
	const struct compare_value *here, *there; /* there: at the baseline */
};

typedef void compare_difference_fn(void *arg, const struct compare_difference *difference);

/* Each pair of values once, however many tests of that result have it. */
void compare_each_difference(const struct compare *compare, compare_difference_fn *visit,
                             void *arg);

/* All of one test in one result, those of the site included. */
void compare_differences_of(const struct compare *compare, unsigned result, unsigned test,
                            compare_difference_fn *visit, void *arg);

/* Whether it is true of this test too. */
bool compare_differs_alike(const struct compare *compare,
                           const struct compare_difference *difference, unsigned test);

/* Whether any result has a figure of that operation. */
bool compare_has_op(const struct compare *compare, unsigned test, enum stats_op op);

/* Runs at least so many with all figures known: what a claim needs. */
bool compare_suffices(const struct compare_op *op, enum compare_figure figure);

/* EXIT_THRESHOLD where a gate's condition holds, or one could not be judged; else 0. */
int compare_exit_code(const struct compare *compare);

#endif
