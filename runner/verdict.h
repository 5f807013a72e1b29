/*
 * What limited a result, whether to believe it, whether it meets what was
 * expected. Pure functions of the result.
 */
#ifndef PVCBENCH_VERDICT_H
#define PVCBENCH_VERDICT_H

#include "result.h"

/* Fill tr->expect from the test's expressions and what was measured. */
void verdict_expect(struct test_result *tr, const struct test *test);

/* Fill tr->verdicts from the evidence in tr. */
void verdict_judge(struct test_result *tr);

#endif
