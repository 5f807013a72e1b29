/*
 * What limited a result, whether to believe it, whether it meets what was
 * expected. Pure functions of the result.
 */
#ifndef PVCBENCH_VERDICT_H
#define PVCBENCH_VERDICT_H

#include "result/result.h"

/* What was measured: exactly `low`, or, where only bounds are known, in [low, high]. */
struct measured {
	bool known; /* and may be relied on */
	double low, high;
};

/*
 * What an expression is about, in its base unit. Not known: what was not measured or cut short,
 * what a suspension or a cache made. Concessions are the caller's to look at.
 */
struct measured verdict_measured(const struct test_result *tr, const struct expect *expect);

/* Whether the comparison holds (EXPECT_PASS) for that. */
void verdict_hold(struct expectation *out, const struct expect *expect, struct measured figure);

/* Fill tr->expect from the test's expressions and what was measured. */
void verdict_expect(struct test_result *tr, const struct test *test);

/*
 * A rate is held against the class's published limits once it has settled: the mean of the second
 * half of the window, so that a burst at its start counts neither way.
 *
 * From VERDICT_LIMITED to VERDICT_ABOVE of a limit (as a share) it is what limited the test,
 * published-limit. Below there is no verdict. What is above is never called limited:
 * it is burst while the class's burst limit allows it, and server-cache beyond, with what may be
 * behind it. The verdict's figure is the share. Of a mixed load whose reads and writes have a limit
 * each, either counts as above it only beyond what the draw of the mix explains as well: three
 * roots of the requests that are counted.
 */
#define VERDICT_LIMITED 0.90 /* providers count what a file system and a protocol add */
#define VERDICT_ABOVE   1.05 /* a bucket of credit lets through some more in a short window */

/*
 * How a test went over time is seen by the whole intervals of its series, a second each in windows
 * of up to 4096 s, of closed loops by time (and of others that fell behind their pace) with
 * O_DIRECT. One cause has one verdict: burst, else not-steady, else noisy; a stall explains the
 * latter two.
 *
 * burst: a lasting step down from one level to VERDICT_BURST_DROP of it or less. Each level lasts
 * VERDICT_LEVEL_MIN intervals and one VERDICT_LEVEL_SHARE-th of the window, so a few slow seconds
 * are none, and both are apart by four times the scatter around them. With a class whose base the
 * upper level does not reach it is no burst: credit is spent above the base only. The figure is
 * upper / lower.
 */
#define VERDICT_INTERVALS_MIN 8 /* fewer are not judged: 5 s, as in the plan quick */
#define VERDICT_LEVEL_MIN     3
#define VERDICT_LEVEL_SHARE   10
#define VERDICT_BURST_DROP    0.67

/*
 * not-steady: the criterion is the steady state of SNIA's Solid State Storage Performance Test
 * Specification (PTS 2.0.2, "measurement window"): of five successive rounds the range is within
 * 20 % of their mean, and the line that fits them best rises or falls by no more than 10 % over
 * the five. Its rounds are a minute on a machine that does nothing else; here they are the fifths
 * of the window on a volume that is shared, so twice as much is allowed, and what the scatter of
 * the seconds explains as well is not told. The figure is range / mean.
 */
#define VERDICT_STEADY_MIN   20 /* intervals: rounds of 4 s */
#define VERDICT_STEADY_RANGE 0.40
#define VERDICT_STEADY_SLOPE 0.30

/*
 * noisy: without a tenth of the intervals (at least one) at either end, the others still lie
 * further apart than this share of the mean: as seconds do that scatter by more than a quarter.
 * The figure is that share. Or few of them were so fast that the middle one lies below the mean by
 * more than that share of it; the figure is the range of all by their mean.
 */
#define VERDICT_NOISE       0.70
#define VERDICT_FEW_SECONDS 0.30

/*
 * queue-depth: a step at twice the depth right after the test (limits_probe) completed at least
 * VERDICT_DEEPER times as many requests a second as the middle second of the window's second half
 * (behind a burst where one is seen), and VERDICT_OVER_BEST times as many as the best of these but
 * one: a volume whose seconds differ more than that is not told apart. The figure is the first.
 * Twice the depth gives twice as much at most. What gives more than VERDICT_DEEPER_MOST has become
 * quicker, and behind a cache that was seen (server-cache, below) it may have as well: the step
 * reads what the test has read.
 */
#define VERDICT_DEEPER      1.40
#define VERDICT_DEEPER_MOST 3.00
#define VERDICT_OVER_BEST   1.10

/*
 * cpu-quota: a control group held our threads back for this share of the window. From 1 % on the
 * p99 is made of it; half as much again of the edges. The figure is the share.
 */
#define VERDICT_THROTTLED 0.02

/*
 * cpu: of the CPUs that we may use pvcbench used VERDICT_CPU_BUSY, or its busiest thread was on a
 * CPU, or ready for one, for that share of the window: then it hardly ever waited for the volume.
 * Or that thread was ready and had no CPU for VERDICT_CPU_WAIT of it: then latencies are the
 * machine's. A thread that waits for a volume is not ready, however busy the machine is. Not where
 * cpu-quota explains it, nor for the spinning of an open loop that keeps its pace. The figure is
 * the share.
 */
#define VERDICT_CPU_BUSY 0.95
#define VERDICT_CPU_WAIT 0.25

/*
 * Of kind table, besides cpu-quota as above, the first of these that holds. Figures are shares.
 *
 * cpu: pvcbench used VERDICT_CLIENT_BUSY of its CPUs.
 *
 * account-limit, partition-limit: the rate came to VERDICT_LIMITED of what an account may have in
 * transactions a second, or of what a partition may have in entities, of each that was worked on
 * at a time, and not above VERDICT_ABOVE. Azure publishes both for entities of 1 KiB.
 *
 * service: it throttled one in a hundred transactions or more, below both limits.
 *
 * network: answers of VERDICT_NETWORK_ANSWER and more on the average took longer to arrive, from
 * their first byte on, than they were waited for. Small ones are late where a service works while
 * it answers.
 *
 * concurrency: of their time the threads waited for the service VERDICT_WAITED or more.
 */
#define VERDICT_CLIENT_BUSY          0.85
#define VERDICT_ACCOUNT_PER_SECOND   20000.0
#define VERDICT_PARTITION_PER_SECOND 2000.0
#define VERDICT_SERVICE_THROTTLED    0.01
#define VERDICT_NETWORK              0.50
#define VERDICT_NETWORK_ANSWER       (64 * KIB)
#define VERDICT_WAITED               0.70

/*
 * memory: the limit of a control group was met so often a second (each time memory is reclaimed,
 * some 10 us and more, before a page is had), or tasks of ours waited for memory for this share of
 * the window, or the kernel killed for it. The figure is how often it was met.
 */
#define VERDICT_LIMIT_MET      100.0
#define VERDICT_MEMORY_STALLED 0.10

/*
 * io-limit: of a test with O_DIRECT the settled rate of reads or of writes is VERDICT_LIMITED to
 * VERDICT_ABOVE of what a control group of ours allows on the device (io.max, blkio.throttle). The
 * figure is that share.
 */

/*
 * page-cache: the volume moved less than this share of the bytes that the test's requests moved;
 * the figure is that share. It is known on block devices (io/counters.h, kinds/evidence.c). Of
 * tests that were not O_DIRECT it is said without, too, unless the device read each byte; and of
 * tmpfs always, with or without O_DIRECT.
 */
#define VERDICT_FROM_VOLUME 0.90

/*
 * server-cache, by first against second touch: blocks of the file, spread over it, were read one at
 * a time and then once more (kinds/block_cache.c). A cache is seen where the fastest tenth of the
 * first reads took VERDICT_TWICE times as long as the slowest tenth of the second, VERDICT_PAIRS
 * and more of each: noise gives no such order. It made the figure where VERDICT_CACHED of the
 * test's reads were faster than what lies between these two (their geometric mean), which more than
 * a tenth of first reads never is. A queue only makes reads slower, so a cache may be missed
 * and is not invented. The figure is how many times as fast the second reads were, by the medians.
 */
#define VERDICT_TWICE  2.0
#define VERDICT_PAIRS  24
#define VERDICT_CACHED 0.20

/*
 * suspended: the thread that watches a load, which only sleeps, slept so much longer than it asked
 * for, and for half of that at least no request came back. SIGSTOP, a frozen control group and a
 * machine that is paused or moved do that. Then neither stalls nor a lost depth are told of the
 * volume, and no threshold on them is judged. The figure is the time in ns.
 */
#define VERDICT_SUSPENDED_NS (500 * NSEC_PER_MSEC)

/* Whether it has a verdict of this code. */
bool verdict_has(const struct test_result *tr, const char *code);

/* Fill tr->verdicts from the evidence in tr and the conditions of its target. */
void verdict_judge(struct test_result *tr, const struct conditions *conditions);

/*
 * The same of the sum of several pods, as far as their sum is evidence: errors, and, where it is
 * one volume that all of them used, how they stand against its published limits. conditions
 * is NULL where it is not one.
 */
void verdict_judge_sum(struct test_result *tr, const struct conditions *conditions);

/*
 * Add to the run's verdicts what `again`, the first test once more at the end of the plan, gave
 * against what lasted of the first: drift, always with its figure, again / first. Within
 * VERDICT_DRIFT of 1 the text says that it is none to speak of. False where one of both gave no
 * rate or was not run to its end.
 */
#define VERDICT_DRIFT 0.15
bool verdict_drift(struct result *result, const struct test_result *again);

/*
 * Whether a test of the run stayed above its class's base to the end of a window that is shorter
 * than the class's burst credit may last, as far as that is known; then what to know, in words.
 * Once for a run: it is true of every short test of such a class, so it is a note and no verdict.
 */
bool verdict_too_short(const struct result *result, char out[RESULT_TEXT_MAX]);

#endif
