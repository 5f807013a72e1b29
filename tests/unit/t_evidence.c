/* links: base/err.c io/counters.c io/host.c kinds/evidence.c */
/* When evidence is taken, and what lies between two readings. */
#include "kinds/evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#define S NSEC_PER_SEC

static void open_nothing(struct evidence *e)
{
	memset(e, 0, sizeof(*e));
	e->source = (struct counters_source){.own_io = -1, .device = -1, .pressure = -1};
}

/* Of a window by time: at its start, and shortly before its end, at each once. */
static void test_by_time(void **unused)
{
	const struct load_params params = {.ramp_ns = 40 * S, .runtime_ns = 100 * S};
	struct load_progress progress = {.end_ns = UINT64_MAX};
	struct evidence e;
	struct usage u;

	(void)unused;
	open_nothing(&e);
	assert_true(evidence_gather(&e, &params, &progress) <= 10 * NSEC_PER_MSEC);
	progress.end_ns = clock_now_ns() + 120 * S; /* half of the ramp is to come */
	assert_in_range(evidence_gather(&e, &params, &progress), 10 * S, 20 * S);
	assert_int_equal(e.stage, EVIDENCE_OPEN);
	progress.end_ns -= 20 * S;
	progress.bytes = 1000;
	assert_in_range(evidence_gather(&e, &params, &progress), 40 * S, 50 * S);
	assert_int_equal(e.stage, EVIDENCE_BEGUN);
	evidence_sum(&e, &u);
	assert_true(u.span_ns == 0);
	progress.end_ns = clock_now_ns() + EVIDENCE_EARLY_NS / 2;
	progress.bytes = 5000;
	assert_true(evidence_gather(&e, &params, &progress) == UINT64_MAX);
	progress.bytes = 9000; /* it is complete: nothing is taken any more */
	evidence_gather(&e, &params, &progress);
	evidence_end(&e, &progress);
	evidence_sum(&e, &u);
	assert_true(u.span_ns > 0 && u.bytes == 4000);
	assert_true(isnan(u.read_bytes) && isnan(u.device_read_bytes) && isnan(u.limit_stalled_ns));
}

/* Who comes too late for the end has what was taken on the way to it, threads and all. */
static void test_too_late(void **unused)
{
	const struct load_params params = {.runtime_ns = 100 * S};
	uint64_t now_ns = clock_now_ns();
	struct load_progress progress = {.end_ns = now_ns + 100 * S};
	struct evidence e;
	struct usage u;

	(void)unused;
	open_nothing(&e);
	evidence_gather(&e, &params, &progress);
	progress.bytes = 1000;
	progress.end_ns = now_ns + 60 * S; /* less than half is over: nothing is taken */
	assert_in_range(evidence_gather(&e, &params, &progress), 5 * S, 10 * S);
	assert_true(e.end.at_ns == 0);
	progress.end_ns = now_ns + 30 * S;
	assert_in_range(evidence_gather(&e, &params, &progress), 10 * S, 15 * S);
	assert_true(e.end.at_ns != 0 && e.stage == EVIDENCE_BEGUN);
	progress.bytes = 2000;
	progress.end_ns = now_ns + 20 * S;
	assert_in_range(evidence_gather(&e, &params, &progress), 1 * S, 5 * S);
	assert_true(e.end_bytes == 1000);
	progress.end_ns = now_ns + 7 * S;
	evidence_gather(&e, &params, &progress);
	assert_true(e.end_bytes == 2000);
	progress.bytes = 3000;
	progress.end_ns = now_ns + 1 * S; /* too near to the end for one of these */
	assert_in_range(evidence_gather(&e, &params, &progress), 1, 1 * S - EVIDENCE_EARLY_NS);
	assert_true(e.end_bytes == 2000);

	struct evidence over = e;

	progress.end_ns = now_ns - 1;
	assert_true(evidence_gather(&e, &params, &progress) == UINT64_MAX);
	evidence_sum(&e, &u);
	assert_true(u.bytes == 2000 && u.thread_cpu_ns >= 0);
	evidence_end(&over, &progress);
	evidence_sum(&over, &u);
	assert_true(u.bytes == 2000 && u.thread_cpu_ns >= 0);
}

/* Where an amount ends a load nobody knows when: all of it, and no threads. */
static void test_by_amount(void **unused)
{
	const struct load_params params = {.requests = 100};
	struct load_progress progress = {.end_ns = UINT64_MAX};
	struct evidence e;
	struct usage u;

	(void)unused;
	open_nothing(&e);
	evidence_begin(&e, &params);
	assert_int_equal(e.stage, EVIDENCE_BEGUN);
	progress.bytes = 700;
	assert_true(evidence_gather(&e, &params, &progress) == UINT64_MAX);
	evidence_end(&e, &progress);
	evidence_sum(&e, &u);
	assert_true(u.bytes == 700 && isnan(u.thread_cpu_ns));
}

/* A load that never came to its window has no evidence. */
static void test_of_nothing(void **unused)
{
	struct load_progress progress = {.end_ns = 0};
	struct evidence e;
	struct usage u;

	(void)unused;
	open_nothing(&e);
	evidence_begin(&e, &(struct load_params){.runtime_ns = NSEC_PER_SEC});
	evidence_end(&e, &progress);
	evidence_sum(&e, &u);
	assert_true(u.span_ns == 0);
}

static void test_differences(void **unused)
{
	struct evidence e;
	struct usage u;

	(void)unused;
	open_nothing(&e);
	e.stage = EVIDENCE_COMPLETE;
	e.counts_io = e.counts_device = true;
	e.window_ns = 50, e.begin.at_ns = 100, e.end.at_ns = 1100;
	e.begin.n_threads = 3, e.end.n_threads = 2;
	e.begin.threads[0] = (struct counters_thread){1, 10, 10};
	e.begin.threads[1] = (struct counters_thread){2, 500, 0};
	e.begin.threads[2] = (struct counters_thread){3, 0, 0}; /* has ended since */
	e.end.threads[0] = (struct counters_thread){2, 510, 5};
	e.end.threads[1] = (struct counters_thread){1, 210, 310};
	e.begin.n_quotas = e.end.n_quotas = 2;
	e.end.quotas[0] = (struct counters_quota){10, 1, 7};
	e.end.quotas[1] = (struct counters_quota){20, 9, 800};
	e.begin.n_limits = e.end.n_limits = 2;
	e.begin.limits[0] = (struct counters_limit){5, 1};
	e.end.limits[0] = (struct counters_limit){55, 2};
	e.end.limits[1] = (struct counters_limit){1, 0};
	e.begin.has_io = e.end.has_io = true;
	e.begin.read_bytes = 1000, e.end.read_bytes = 3000;
	e.begin.has_device = false,
	e.end.has_device = true; /* its first bytes: before is unknown */
	evidence_sum(&e, &u);
	assert_true(u.from_ns == 50 && u.span_ns == 1000);
	assert_true(u.thread_cpu_ns == 200 && u.thread_wait_ns == 300);
	assert_true(u.periods == 20 && u.throttled_periods == 9 && u.throttled_ns == 800);
	assert_true(u.limit_met == 50 && u.limit_kills == 1);
	assert_true(u.read_bytes == 2000 && isnan(u.device_read_bytes));

	e.end.read_bytes = 999; /* a counter that was reset */
	e.counts_io = true;
	evidence_sum(&e, &u);
	assert_true(isnan(u.read_bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_by_time),     cmocka_unit_test(test_too_late),
	        cmocka_unit_test(test_by_amount),   cmocka_unit_test(test_of_nothing),
	        cmocka_unit_test(test_differences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
