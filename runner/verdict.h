/*
 * What limited a result, whether to believe it, whether it meets what was
 * expected. Pure functions of the result.
 */
#ifndef PVCBENCH_VERDICT_H
#define PVCBENCH_VERDICT_H

#include "result.h"

/* Fill tr->expect from the test's expressions and what was measured. */
void verdict_expect(struct test_result *tr, const struct test *test);

/*
 * A rate is held against the class's published limits once it has settled: the mean of the second
 * half of the window, so that a burst at its start counts neither way.
 *
 * From VERDICT_LIMITED to VERDICT_ABOVE of a limit (as a share) it is what limited the test,
 * published-limit. Below there is no verdict. What is above is never called limited:
 * it is burst while the class's burst limit allows it, and server-cache beyond, with what may be
 * behind it. The verdict's figure is the share.
 */
#define VERDICT_LIMITED 0.90 /* providers count what a file system and a protocol add */
#define VERDICT_ABOVE   1.05 /* a bucket of credit lets through some more in a short window */

/* Fill tr->verdicts from the evidence in tr and the conditions of its target. */
void verdict_judge(struct test_result *tr, const struct conditions *conditions);

#endif
