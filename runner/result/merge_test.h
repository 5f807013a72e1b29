/*
 * One test of several pods, between merge.c and its parts.
 */
#ifndef PVCBENCH_MERGE_TEST_H
#define PVCBENCH_MERGE_TEST_H

#include "measure/timeline.h"
#include "result/words.h"

#define POD_NAME_MAX    192
#define MERGE_CODES_MAX 16

struct pod {
	char *key; /* what tells it from others; first, so that a tree finds it */
	char name[POD_NAME_MAX];
	struct peer peer;
	uint64_t seen[PLAN_TESTS_MAX / 64]; /* tests that it gave, a bit each, by merge's number */
	unsigned n_tests;
};

/* What a pod gave to a sum. */
struct share {
	const struct pod *pod;
	uint64_t started_ns, runtime_ns;
	uint64_t ios[STATS_OPS], bytes[STATS_OPS];
};

/* Of pods whose test ended in the same way. */
struct sum {
	struct stats *stats;
	struct timeline timeline[STATS_OPS];
	struct share *shares;
	size_t n, room;
	uint64_t layout_bytes, layout_ns;
	uint64_t verify_checked, verify_mismatches, verify_crossed;
};

/* What was said of how many pods, in the words of the one with the largest figure. */
struct code {
	struct verdict verdict;
	char pod[POD_NAME_MAX];
	uint64_t n;
};

struct codes {
	struct code code[MERGE_CODES_MAX]; /* sorted by verdict.code */
	unsigned n;
};

struct range {
	uint64_t min, max;
	bool known;
};

enum merge_number {
	NUMBER_SIZE,
	NUMBER_SIZE_ASKED,
	NUMBER_SIZE_CLASS,
	NUMBER_OFFSET,
	NUMBER_OFFSET_INCREMENT,
	NUMBER_RANDSEED,
	NUMBER_DATA_AGE,
	NUMBER_VERIFY_BLOCK,
	NUMBERS
};

enum merge_text {
	TEXT_ENGINE,
	TEXT_ENGINE_REASON,
	TEXT_DIRECT,
	TEXT_DIRECT_REASON,
	TEXT_FILENAME,
	TEXT_CONCESSION,
	TEXT_FAILED,
	TEXT_INTERRUPTED,
	TEXTS
};

struct test_sum {
	struct test_result plan;  /* of one of the pods, without its statistics */
	char first[POD_NAME_MAX]; /* that one */
	bool opened;              /* it came as far as to open its file */
	unsigned place;           /* the test's in the plan, as far as is seen */
	uint64_t first_start_ns;  /* of its windows; UINT64_MAX: none */
	struct sum ok, interrupted;
	uint64_t n_pods, n_failed;
	int exit_class;
	bool first_write, fits_memory;
	struct range number[NUMBERS];
	struct words text[TEXTS];
	struct codes codes;
	struct expectation expect[PLAN_EXPECT_MAX];
	struct persist_result persist;
};

/* Whether both are results of one test; the error says in what they differ. */
int merge_same(const struct test_sum *sum, const struct test_result *tr, struct err *err);

/* Whether the counts can be added and mean something; the error says what is wrong. */
int merge_fits(const struct test_sum *sum, const struct test_result *tr, struct err *err);

/* After these two. -1: out of memory. */
int merge_test_add(struct test_sum *sum, const struct test_result *tr, const struct pod *pod);

void merge_codes_add(struct codes *codes, const struct verdict *verdict, const char *pod);

/*
 * *tr, which is zero, becomes the sum of what `of` pods gave; conditions: of the volume that
 * they share, or NULL. The error: windows that have nothing in common.
 */
int merge_test_finish(struct test_sum *sum, uint64_t of, const struct conditions *conditions,
                      struct test_result *tr, struct err *err);

/* Put the verdicts of pods behind those that are there; held: these say how the sum stands. */
void merge_verdicts(const struct codes *codes, uint64_t of, bool held, struct verdict *verdicts,
                    unsigned *n);

void merge_test_destroy(struct test_sum *sum);

#endif
