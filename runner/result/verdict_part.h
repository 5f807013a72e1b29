/*
 * The verdict, between its own files: verdict.c asks each of them in turn, in the order in
 * which the first limit that is found stands in the table.
 */
#ifndef PVCBENCH_VERDICT_PART_H
#define PVCBENCH_VERDICT_PART_H

#include "result/verdict.h"

/*
 * Add a verdict, its figure in base units (NAN: none) and one sentence; those beyond
 * RESULT_VERDICTS_MAX are dropped.
 */
void verdict_add(struct test_result *tr, const char *code, double figure, const char *fmt, ...)
        PRINTF_LIKE(4, 5);

/* A load that keeps to a pace of its own shows no limit, unless it could not keep it. */
bool verdict_paces_itself(const struct test_result *tr);

/*
 * From here on in the window, in ns, the rate lasts: behind the interval in which it fell; 0: from
 * its start, as far as is seen.
 */
uint64_t verdict_settles_at(const struct test_result *tr);

/* The mean rate of what has settled, requests or bytes a second, as verdict.h says. */
double verdict_settled_rate(const struct test_result *tr, enum stats_op op,
                            enum published_figure figure);

/* published-limit, burst, server-cache: how the settled rates stand beside the class's limits. */
void verdict_judge_published(struct test_result *tr, const struct published *p);

/* What stood still: suspended, stalls, and of a lost depth not-steady or engine. */
void verdict_judge_suspended(struct test_result *tr);
void verdict_judge_stalls(struct test_result *tr);
void verdict_judge_depth(struct test_result *tr);
bool verdict_was_suspended(const struct test_result *tr);

/* Whether what waited longest is in no latency, so that they are too low. */
bool verdict_lacks_the_longest(const struct test_result *tr);

/* queue-depth, by the probe of limits. */
void verdict_judge_queue_depth(struct test_result *tr);

/* Of kind table: what the header says of it. */
void verdict_judge_table(struct test_result *tr, const struct conditions *conditions);

/* What the machine did meanwhile: what the header says of cpu-quota, cpu, memory, io-limit,
 * page-cache. */
void verdict_judge_quota(struct test_result *tr);
void verdict_judge_cpu(struct test_result *tr, const struct conditions *conditions);
void verdict_judge_memory(struct test_result *tr, const struct conditions *conditions);
void verdict_judge_io_limit(struct test_result *tr, const struct conditions *conditions);
void verdict_judge_page_cache(struct test_result *tr, const struct conditions *conditions);

/*
 * Of a file opened O_DIRECT: whether memory answered this operation in the volume's place.
 */
bool verdict_from_memory(const struct test_result *tr, enum stats_op op);

/* Whether there is a cache beyond this kernel, by first against second touch. */
bool verdict_saw_cache(const struct test_result *tr);

/* Whether the test's reads came from it. */
bool verdict_from_cache(const struct test_result *tr);

/* server-cache, by that. */
void verdict_judge_cache(struct test_result *tr);

/* How the test went over time: what the header says of burst, and of not-steady and noisy. */
void verdict_judge_burst(struct test_result *tr, const struct conditions *conditions);
void verdict_judge_steadiness(struct test_result *tr, const struct conditions *conditions);

#endif
