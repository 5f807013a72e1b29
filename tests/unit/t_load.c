/* links: base/crc32c.c base/err.c base/workers.c load/buffers.c load/fill.c load/ledger.c
 * load/load.c load/pattern.c load/seal.c load/verify.c load/worker.c measure/hist.c
 * measure/stats.c */
/*
 * The worker loop against an engine of our own, which completes, shortens,
 * refuses or forgets requests as told.
 */
#include "load/load.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define BLOCK     4096u
#define DEPTH_MAX 64

/* What the engine does; set by a test before the load starts. */
static struct {
	uint64_t service_ns; /* every request takes so long */
	int answer;          /* to request number `at` (from 0): a result in place of success */
	unsigned at, times;
	bool forget;   /* nothing ever completes */
	unsigned most; /* seen: the most in flight at once */
	unsigned syncs, syncs_in_company;
	uint64_t offset[4096]; /* seen: of the first requests, as sent */
	uint32_t len[4096];
	_Atomic unsigned n;
} fake;

struct fake_engine {
	struct io *queue[DEPTH_MAX];
	uint64_t ready_ns[DEPTH_MAX];
	unsigned n;
};

static int fake_open(void **state, const struct engine_params *params, struct err *err)
{
	(void)params;
	(void)err;
	*state = calloc(1, sizeof(struct fake_engine));
	return 0;
}

static void fake_close(void *state)
{
	free(state);
}

static void take(struct fake_engine *e, struct io *io)
{
	unsigned number = atomic_fetch_add(&fake.n, 1);
	bool odd = number >= fake.at && number < fake.at + fake.times;

	if (number < ARRAY_SIZE(fake.offset)) {
		fake.offset[number] = io->offset;
		fake.len[number] = io->len;
	}
	if (io->op == IO_FSYNC || io->op == IO_FDATASYNC) {
		fake.syncs++;
		fake.syncs_in_company += e->n > 0;
	}
	io->res = odd ? fake.answer : (int)io->len;
	e->ready_ns[e->n] = clock_now_ns() + fake.service_ns;
	e->queue[e->n++] = io;
	if (e->n > fake.most)
		fake.most = e->n;
}

static int fake_submit(void *state, struct io *const *ios, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		take(state, ios[i]);
	return (int)n;
}

static unsigned collect(struct fake_engine *e, struct io **done, unsigned max)
{
	uint64_t now = clock_now_ns();
	unsigned n = 0;

	for (unsigned i = 0; i < e->n && n < max && !fake.forget;) {
		if (e->ready_ns[i] > now) {
			i++;
			continue;
		}
		done[n++] = e->queue[i];
		e->queue[i] = e->queue[--e->n];
		e->ready_ns[i] = e->ready_ns[e->n];
	}
	return n;
}

static int fake_reap(void *state, struct io **done, unsigned min, unsigned max, uint64_t timeout_ns)
{
	uint64_t start = clock_now_ns();
	unsigned n;

	do {
		n = collect(state, done, max);
		if (n < min)
			usleep(50);
	} while (n < min && clock_now_ns() - start < min_u64(timeout_ns, 300 * NSEC_PER_MSEC));
	return (int)n;
}

static const struct engine engine_fake = {"fake",      DEPTH_MAX, fake_open,
                                          fake_submit, fake_reap, fake_close};
static const struct engine engine_blocking = {"blocking",  1,         fake_open,
                                              fake_submit, fake_reap, fake_close};

static struct load_job job;
static struct load_params params;

/* 64 blocks of reads at depth 8, until a test says otherwise. */
static int set_up(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	job = (struct load_job){
	        .fd = -1,
	        .pattern = {.bytes = 64 * BLOCK, .block_bytes = BLOCK, .read_percent = 100},
	};
	params = (struct load_params){
	        .engine = &engine_fake,
	        .jobs = &job,
	        .numjobs = 1,
	        .depth = 8,
	        .align = 512,
	        .seed = 1,
	};
	return 0;
}

static int run(struct load_outcome *outcome, struct err *err)
{
	struct load *load;

	assert_int_equal(load_start(&load, &params, err), 0);
	while (!load_wait(load, 50 * NSEC_PER_MSEC))
		;
	return load_finish(load, outcome, err);
}

static void test_an_amount_is_exact(void **state)
{
	struct load_outcome outcome;
	struct err err;

	(void)state;
	params.requests = 1001;
	assert_int_equal(run(&outcome, &err), 0);
	assert_int_equal(outcome.stats->op[STATS_READ].latency.count, 1001);
	assert_int_equal(outcome.stats->op[STATS_READ].bytes, 1001ull * BLOCK);
	assert_int_equal(outcome.stats->op[STATS_WRITE].latency.count, 0);
	assert_int_equal(fake.most, 8);
	assert_true(outcome.window_ns > 0);
	assert_int_equal(outcome.stats->unfinished, 0);
	stats_free(outcome.stats);
}

/* At depth 1 nothing else wakes the thread; of several, since a busy machine is late at times. */
static void test_an_amount_ends_at_its_last_request(void **state)
{
	uint64_t least_ns = UINT64_MAX;
	struct load_outcome outcome;
	struct err err;

	(void)state;
	params.requests = 4;
	params.depth = 1;
	for (unsigned i = 0; i < 10; i++) {
		uint64_t begin_ns = clock_now_ns();

		assert_int_equal(run(&outcome, &err), 0);
		least_ns = min_u64(least_ns, clock_now_ns() - begin_ns);
		stats_free(outcome.stats);
	}
	assert_true(least_ns < 90 * NSEC_PER_MSEC);
}

static void test_threads_make_the_depth_of_one_stream(void **state)
{
	struct load_outcome outcome;
	struct err err;

	(void)state;
	params.engine = &engine_blocking;
	params.requests = 64;
	assert_int_equal(run(&outcome, &err), 0);
	assert_int_equal(outcome.stats->op[STATS_READ].latency.count, 64);
	assert_int_equal(fake.most, 1); /* per thread */
	for (unsigned block = 0, hits = 0; block < 64; block++, hits = 0) {
		for (unsigned i = 0; i < 64; i++)
			hits += fake.offset[i] == block * BLOCK;
		assert_int_equal(hits, 1);
	}
	stats_free(outcome.stats);
}

static void test_a_short_transfer_is_continued(void **state)
{
	struct load_outcome outcome;
	struct err err;

	(void)state;
	params.requests = 4;
	params.depth = 1;
	fake.at = 1;
	fake.times = 1;
	fake.answer = 1500; /* continued at the multiple of 512 below */
	assert_int_equal(run(&outcome, &err), 0);
	assert_int_equal(outcome.stats->op[STATS_READ].latency.count, 4);
	assert_int_equal(outcome.stats->short_transfers, 1);
	assert_int_equal(fake.offset[2], BLOCK + 1024);
	assert_int_equal(fake.len[2], BLOCK - 1024);
	assert_int_equal(fake.offset[3], 2 * BLOCK);
	stats_free(outcome.stats);
}

static void test_eagain_is_sent_again(void **state)
{
	struct load_outcome outcome;
	struct err err;

	(void)state;
	params.requests = 20;
	fake.at = 3;
	fake.times = 5;
	fake.answer = -EAGAIN;
	assert_int_equal(run(&outcome, &err), 0);
	assert_int_equal(outcome.stats->op[STATS_READ].latency.count, 20);
	assert_int_equal(outcome.stats->retries, 5);
	assert_int_equal(stats_errors(outcome.stats), 0);
	stats_free(outcome.stats);
}

static void check_failure(int answer, int errnum, enum err_class class)
{
	struct load_outcome outcome;
	struct err err;

	params.requests = 100;
	params.depth = 1;
	fake.at = 10;
	fake.times = 1;
	fake.answer = answer;
	assert_int_equal(run(&outcome, &err), -1);
	assert_int_equal(err.class, class);
	assert_non_null(strstr(err.text, "read of 4096 bytes at offset 40960"));
	assert_int_equal(outcome.stats->op[STATS_READ].latency.count, 10);
	assert_int_equal(stats_errors(outcome.stats), 1);
	assert_int_equal(outcome.stats->errors[0].errnum, errnum);
	stats_free(outcome.stats);
}

static void test_an_error_ends_the_load(void **state)
{
	(void)state;
	check_failure(-EIO, EIO, ERR_TEST);
}

static void test_no_space_is_the_target_s_state(void **state)
{
	(void)state;
	check_failure(-ENOSPC, ENOSPC, ERR_TARGET);
}

static void test_an_empty_read_is_an_error(void **state)
{
	(void)state;
	check_failure(0, ENODATA, ERR_TEST);
}

static void test_time_bounds_the_window(void **state)
{
	struct load_outcome outcome;
	struct err err;
	uint64_t count;

	(void)state;
	fake.service_ns = 5 * NSEC_PER_MSEC;
	params.ramp_ns = 150 * NSEC_PER_MSEC;
	params.runtime_ns = 250 * NSEC_PER_MSEC;
	assert_int_equal(run(&outcome, &err), 0);
	count = outcome.stats->op[STATS_READ].latency.count;
	assert_int_equal(outcome.window_ns, params.runtime_ns);
	assert_true(fake.n > count + outcome.stats->drained); /* the ramp's are in neither */
	assert_in_range(outcome.stats->drained, 0, 8);
	assert_true(outcome.stats->op[STATS_READ].latency.min >= fake.service_ns);
	stats_free(outcome.stats);
}

static void test_an_open_loop_keeps_its_rate(void **state)
{
	struct load_outcome outcome;
	struct err err;

	(void)state;
	params.period_num_ns = NSEC_PER_SEC;
	params.period_den = 1000;
	params.requests = 300;
	assert_int_equal(run(&outcome, &err), 0);
	assert_int_equal(outcome.stats->op[STATS_READ].latency.count, 300);
	assert_int_equal(outcome.stats->late_count, 300);
	assert_true(outcome.window_ns >= 299 * NSEC_PER_MSEC);
	stats_free(outcome.stats);
}

/* 2000/s asked, at most 8 / 20 ms = 400/s served: the waiting is in the latency. */
static void test_an_open_loop_counts_the_waiting(void **state)
{
	struct load_outcome outcome;
	struct err err;
	uint64_t sent;

	(void)state;
	fake.service_ns = 20 * NSEC_PER_MSEC;
	params.period_num_ns = NSEC_PER_SEC;
	params.period_den = 2000;
	params.runtime_ns = 400 * NSEC_PER_MSEC;
	assert_int_equal(run(&outcome, &err), 0);
	sent = outcome.stats->op[STATS_READ].latency.count + outcome.stats->drained;
	assert_in_range(sent + outcome.stats->unsent, 799, 801);
	assert_true(outcome.stats->op[STATS_READ].latency.max > 200 * NSEC_PER_MSEC);
	assert_true(outcome.stats->unsent_age_ns > 200 * NSEC_PER_MSEC);
	assert_true(outcome.stats->late_max_ns < 200 * NSEC_PER_MSEC); /* backlog is not lateness */
	stats_free(outcome.stats);
}

static void test_a_sync_waits_for_its_writes(void **state)
{
	struct load_outcome outcome;
	struct err err;

	(void)state;
	job.pattern.read_percent = 0;
	params.requests = 100;
	params.sync_every = 10;
	params.sync_op = IO_FDATASYNC;
	params.end_sync = true;
	assert_int_equal(run(&outcome, &err), 0);
	assert_int_equal(outcome.stats->op[STATS_WRITE].latency.count, 100);
	assert_int_equal(outcome.stats->op[STATS_SYNC].latency.count, 11);
	assert_int_equal(fake.syncs_in_company, 0);
	stats_free(outcome.stats);
}

static void test_thinking_leaves_nothing_in_flight(void **state)
{
	struct load_outcome outcome;
	struct err err;

	(void)state;
	params.requests = 10;
	params.thinktime_ns = 5 * NSEC_PER_MSEC;
	assert_int_equal(run(&outcome, &err), 0);
	assert_int_equal(fake.most, 1);
	assert_true(outcome.window_ns >= 9 * params.thinktime_ns);
	stats_free(outcome.stats);
}

static void test_a_stop_shortens_the_window(void **state)
{
	struct load_outcome outcome;
	struct load *load;
	struct err err;

	(void)state;
	params.runtime_ns = 3600 * NSEC_PER_SEC;
	assert_int_equal(load_start(&load, &params, &err), 0);
	assert_false(load_wait(load, 50 * NSEC_PER_MSEC));
	load_stop(load);
	assert_int_equal(load_finish(load, &outcome, &err), 0);
	assert_in_range(outcome.window_ns, 40 * NSEC_PER_MSEC, 10 * NSEC_PER_SEC);
	assert_true(outcome.stats->op[STATS_READ].latency.count > 0);
	stats_free(outcome.stats);
}

static void test_a_stop_in_the_ramp_leaves_no_window(void **state)
{
	struct load_outcome outcome;
	struct load *load;
	struct err err;

	(void)state;
	params.ramp_ns = 3600 * NSEC_PER_SEC;
	params.runtime_ns = NSEC_PER_SEC;
	assert_int_equal(load_start(&load, &params, &err), 0);
	load_stop(load);
	assert_int_equal(load_finish(load, &outcome, &err), 0);
	assert_int_equal(outcome.window_ns, 0);
	assert_int_equal(outcome.stats->op[STATS_READ].latency.count, 0);
	stats_free(outcome.stats);
}

static void test_what_never_completes_is_counted(void **state)
{
	struct load_outcome outcome;
	struct load_progress progress;
	struct load *load;
	struct err err;

	(void)state;
	fake.forget = true;
	params.runtime_ns = 3600 * NSEC_PER_SEC;
	assert_int_equal(load_start(&load, &params, &err), 0);
	assert_false(load_wait(load, 200 * NSEC_PER_MSEC));
	load_progress(load, &progress);
	assert_true(progress.idle_ns >= 150 * NSEC_PER_MSEC);
	load_stop(load);
	assert_int_equal(load_finish(load, &outcome, &err), 0);
	assert_true(outcome.held);
	assert_int_equal(outcome.stats->unfinished, 8);
	assert_true(outcome.stats->unfinished_age_ns >= LOAD_DRAIN_STOPPED_NS);
	stats_free(outcome.stats);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(test_an_amount_is_exact, set_up),
	        cmocka_unit_test_setup(test_an_amount_ends_at_its_last_request, set_up),
	        cmocka_unit_test_setup(test_threads_make_the_depth_of_one_stream, set_up),
	        cmocka_unit_test_setup(test_a_short_transfer_is_continued, set_up),
	        cmocka_unit_test_setup(test_eagain_is_sent_again, set_up),
	        cmocka_unit_test_setup(test_an_error_ends_the_load, set_up),
	        cmocka_unit_test_setup(test_no_space_is_the_target_s_state, set_up),
	        cmocka_unit_test_setup(test_an_empty_read_is_an_error, set_up),
	        cmocka_unit_test_setup(test_time_bounds_the_window, set_up),
	        cmocka_unit_test_setup(test_an_open_loop_keeps_its_rate, set_up),
	        cmocka_unit_test_setup(test_an_open_loop_counts_the_waiting, set_up),
	        cmocka_unit_test_setup(test_a_sync_waits_for_its_writes, set_up),
	        cmocka_unit_test_setup(test_thinking_leaves_nothing_in_flight, set_up),
	        cmocka_unit_test_setup(test_a_stop_shortens_the_window, set_up),
	        cmocka_unit_test_setup(test_a_stop_in_the_ramp_leaves_no_window, set_up),
	        cmocka_unit_test_setup(test_what_never_completes_is_counted, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
