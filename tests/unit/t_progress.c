/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c measure/student.c
 * out/conditions.c out/curve.c out/dbench.c out/entities.c out/hops.c out/persist.c out/progress.c
 * out/remark.c out/repeats.c out/row.c out/search.c out/table.c out/text.c plan/expect.c
 * plan/plan.c plan/published.c result/entities.c result/hops.c result/knee.c result/repeats.c
 * result/result.c result/search.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#include "out/progress.h"
#include "sample.h"

#define S     NSEC_PER_SEC
#define START (1000 * S) /* of the clock, when the test begins */

static struct progress_view view;
static char *text;
static size_t size;

static int set_up(void **unused)
{
	(void)unused;
	view = (struct progress_view){.test = 3, .n_tests = 9, .plan_left_ns = 420 * S};
	view.out = open_memstream(&text, &size);
	return view.out ? 0 : -1;
}

static int tear_down(void **unused)
{
	(void)unused;
	fclose(view.out);
	free(text);
	return 0;
}

/* What was written since the last time, without anybody flushing but the view itself. */
static const char *news(void)
{
	static size_t seen;
	const char *start;

	seen = seen > size ? 0 : seen;
	start = text + seen;
	seen = size;
	return start;
}

/* The running test after `seconds` of a phase: 1000 requests of 4 KiB a second, 2 ms each. */
static struct progress at(int phase, double seconds, double expected)
{
	return (struct progress){.phase = phase,
	                         .elapsed_ns = (uint64_t)(seconds * 1e9),
	                         .expected_ns = (uint64_t)(expected * 1e9),
	                         .ios = (uint64_t)(seconds * 1000),
	                         .bytes = (uint64_t)(seconds * 1000) * 4096,
	                         .latency_sum_ns = (uint64_t)(seconds * 1000) * 2000000};
}

static void tell(struct progress progress, double now)
{
	progress_tell(&view, &progress, START + (uint64_t)(now * 1e9));
}

static void begin(void)
{
	struct test test = sample_test("read-bw", RW_RANDREAD);

	test.bs = 128 * KIB;
	test.limits_probe = PROBE_FALSE;
	news();
	progress_begin(&view, &test);
}

static void test_start_lines(void **unused)
{
	struct test test = sample_test("read-bw", RW_RANDREAD);

	(void)unused;
	begin();
	assert_string_equal(text, "[3/9] read-bw: randread 128KiB depth 16 x 1 job, 1m10s\n");
	news();
	test.numjobs = 4;
	test.bs = 2300;
	test.loops = 2;
	progress_begin(&view, &test);
	test.loops = 0;
	test.io_size = GIB;
	progress_begin(&view, &test);
	assert_string_equal(news(),
	                    "[3/9] read-bw: randread 2300B depth 16 x 4 jobs, 2 passes\n"
	                    "[3/9] read-bw: randread 2300B depth 16 x 4 jobs, 1GiB per job\n");
}

/* A request a second, each with its line, the last one by the result; short pauses have none. */
static void test_probe_tells_each(void **unused)
{
	struct test test = sample_test("ping", RW_RANDREAD);
	struct test_result tr = {.name = "ping", .kind = "probe", .runtime_ns = 4 * S};
	struct progress p = {.phase = PHASE_RUN};

	(void)unused;
	snprintf(test.kind, sizeof(test.kind), "probe");
	test.requests = 4;
	test.interval_ns = S;
	test.iodepth = 1;
	plan_complete(&test);
	assert_int_equal(test.io_size, 4 * 4096);
	assert_int_equal(test.thinktime_ns, S);
	assert_int_equal(test.ramp_time_ns, 0);
	news();
	progress_begin(&view, &test);
	tell(p, 0);
	p.ios = 1;
	p.latency_sum_ns = 200000;
	tell(p, 1);
	tell(p, 1.1);
	p.ios = 3;
	p.latency_sum_ns = 800000;
	tell(p, 3);
	tr.stats = stats_new();
	for (unsigned i = 1; i <= 4; i++)
		stats_record(tr.stats, STATS_READ, 4096, i * 100000 + (i == 4) * 200000, i);
	progress_end(&view, &tr);
	assert_string_equal(news(),
	                    "[3/9] ping: randread 4KiB depth 1 x 1 job, 4 requests\n"
	                    "[3/9] ping: request 1: 200us\n"
	                    "[3/9] ping: requests 2 to 3: mean 300us\n"
	                    "[3/9] ping: request 4: 400us\n"
	                    "[3/9] ping: read 4 requests: min 100us, mean 300us, max 600us, "
	                    "stddev 216us\n");
	stats_free(tr.stats);
	test.interval_ns = S / 100;
	progress_begin(&view, &test);
	news();
	tell(p, 0);
	tell(p, 1);
	assert_string_equal(news(), "");
}

/* Several calls a second, a line every 5 s; rates are of the time since the line before. */
static void test_plain_lines(void **unused)
{
	(void)unused;
	begin();
	news();
	for (unsigned i = 0; i < 100; i++)
		tell(at(PHASE_RAMP, i * 0.1, 10), i * 0.1);
	for (unsigned i = 0; i < 150; i++)
		tell(at(PHASE_RUN, i * 0.1, 60), 10 + i * 0.1);
	assert_string_equal(news(),
	                    "[3/9] read-bw: ramp 5s of 10s, 1000 IOPS, 4000KiB/s, mean 2ms, "
	                    "plan ends in 8m05s\n"
	                    "[3/9] read-bw: run 0s of 1m00s, plan ends in 8m00s\n"
	                    "[3/9] read-bw: run 5s of 1m00s, 1000 IOPS, 4000KiB/s, mean "
	                    "2ms, plan ends in 7m55s\n"
	                    "[3/9] read-bw: run 10s of 1m00s, 1000 IOPS, 4000KiB/s, mean "
	                    "2ms, plan ends in 7m50s\n");
}

static void test_rates_are_of_the_last_stretch(void **unused)
{
	struct progress slow = at(PHASE_RUN, 5, 60);

	(void)unused;
	begin();
	tell(at(PHASE_RUN, 0, 60), 0);
	tell(at(PHASE_RUN, 5, 60), 5);
	news();
	slow.elapsed_ns = 10 * S;
	slow.ios += 50;
	slow.bytes += 50 * 4096;
	slow.latency_sum_ns += 50 * 100000000ull;
	tell(slow, 10);
	assert_non_null(strstr(news(), "run 10s of 1m00s, 10 IOPS, 40.0KiB/s, mean 100ms,"));
	slow.elapsed_ns = 15 * S;
	tell(slow, 15);
	assert_non_null(strstr(text + size - 60, " 0 IOPS, 0B/s, plan ends in"));
}

static void test_layout_has_an_end_in_sight(void **unused)
{
	struct progress layout = {.phase = PHASE_LAYOUT, .total_bytes = 10 * GIB};

	(void)unused;
	begin();
	tell(layout, 0);
	news();
	layout.elapsed_ns = 6 * S;
	layout.bytes = GIB;
	layout.ios = 1024;
	layout.latency_sum_ns = 1024 * S / 100;
	tell(layout, 6);
	/* 54 s of layout, 70 s of this test, 420 s of the others */
	assert_string_equal(news(),
	                    "[3/9] read-bw: layout 1GiB of 10GiB, 171MiB/s, mean 10ms, plan "
	                    "ends in 9m04s\n");
}

/* 5 s of a window of 20 s and more; its two loads count from zero each. */
static void test_the_probe_is_ahead(void **unused)
{
	struct test test = sample_test("read-bw", RW_RANDREAD);

	(void)unused;
	progress_begin(&view, &test);
	tell(at(PHASE_RAMP, 0, 10), 0);
	news();
	tell(at(PHASE_RAMP, 5, 10), 5);
	assert_non_null(strstr(news(), "plan ends in 8m10s"));
	tell(at(PHASE_RUN, 10, 60), 20);
	assert_non_null(strstr(news(), "plan ends in 7m55s"));
	tell(at(PHASE_PROBE, 3, 3), 73);
	news();
	tell(at(PHASE_PROBE, 1, 2), 78);
	assert_string_equal(news(), "[3/9] read-bw: probe of limits (not counted) 1s of 2s, 1000 "
	                            "IOPS, 4000KiB/s, mean 2ms, plan ends in 7m01s\n");
}

static void test_the_window_is_over(void **unused)
{
	struct progress late = at(PHASE_RUN, 60, 60);

	(void)unused;
	begin();
	tell(at(PHASE_RUN, 58, 60), 58);
	news();
	late.elapsed_ns = 67 * S;
	late.stalled_ns = 7 * S;
	tell(late, 67);
	assert_non_null(strstr(news(), "read-bw: waiting 7s for the last requests, "));
	view.plan_left_ns = 0;
	late.phase = PHASE_DRAIN;
	tell(late, 73);
	assert_null(strstr(news(), "plan ends"));
}

/* Nobody knows how long an amount takes before it is done: no end is promised. */
static void test_no_end_of_an_amount(void **unused)
{
	struct test test = sample_test("read-bw", RW_RANDREAD);

	(void)unused;
	test.loops = 1;
	progress_begin(&view, &test);
	tell(at(PHASE_RUN, 0, 0), 0);
	news();
	tell(at(PHASE_RUN, 5, 0), 5);
	assert_string_equal(news(), "[3/9] read-bw: run 5s, 1000 IOPS, 4000KiB/s, mean 2ms\n");
}

static void test_a_stall_is_told_while_it_lasts(void **unused)
{
	struct progress stalled = at(PHASE_RUN, 6, 60);

	(void)unused;
	begin();
	tell(at(PHASE_RUN, 0, 60), 0);
	tell(at(PHASE_RUN, 5, 60), 5);
	news();
	for (unsigned i = 60; i <= 260; i++) {
		stalled.elapsed_ns = i * S / 10;
		stalled.stalled_ns = (i - 60) * S / 10;
		tell(stalled, i * 0.1);
	}
	const char *said = news();

	/* at once after 3 s, and then as often as other lines */
	assert_non_null(strstr(said,
	                       "run 9s of 1m00s, 250 IOPS, 1000KiB/s, mean 2ms, no completion "
	                       "for 3s, plan"));
	assert_non_null(strstr(said, "run 14s of 1m00s, 0 IOPS, 0B/s, no completion for 8s,"));
	assert_non_null(strstr(said, "no completion for 13s,"));
	assert_non_null(strstr(said, "no completion for 18s,"));
	tell(at(PHASE_RUN, 31, 60), 31);
	assert_null(strstr(news(), "no completion"));
}

/* However the phases fall, no more than 5 s and one call pass without a line. */
static void test_never_silent_across_phases(void **unused)
{
	static const struct {
		int phase;
		unsigned tenths;
	} phases[] = {{PHASE_LAYOUT, 48}, {PHASE_RAMP, 49}, {PHASE_RUN, 33}, {PHASE_DRAIN, 90}};
	unsigned now = 0, last = 0;

	(void)unused;
	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(phases); i++) {
		for (unsigned tenth = 0; tenth < phases[i].tenths; tenth++, now++) {
			size_t before = size;

			tell(at(phases[i].phase, tenth * 0.1, 0), now * 0.1);
			if (size == before)
				continue;
			assert_true(now - last <= 51);
			last = now;
		}
	}
	assert_true(now - last <= 51);
	assert_true(last > 0);
}

static void test_quiet(void **unused)
{
	(void)unused;
	view.quiet = true;
	begin();
	news();
	for (unsigned i = 0; i < 600; i++)
		tell(at(PHASE_RUN, i * 0.1, 60), i * 0.1);
	assert_string_equal(news(), "");
}

/* Without any news there is a line all the same, after 3 s and then every 5 s. */
static void test_a_kind_says_something(void **unused)
{
	(void)unused;
	begin();
	news();
	progress_say(&view, "step 1: 2000 IOPS");
	assert_string_equal(news(), "[3/9] read-bw: step 1: 2000 IOPS\n");
	view.quiet = true;
	progress_say(&view, "step 2: 1000 IOPS");
	assert_string_equal(news(), "");
}

static void test_a_wait_for_the_volume_is_told(void **unused)
{
	(void)unused;
	begin();
	tell(at(PHASE_RUN, 1, 60), 1);
	news();
	for (unsigned i = 10; i < 150; i++)
		progress_wait(&view, "mkdir", true, (i - 10) * (S / 10), START + i * (S / 10));
	assert_string_equal(news(), "[3/9] read-bw: waiting for the volume since 5s (mkdir)\n"
	                            "[3/9] read-bw: waiting for the volume since 10s (mkdir)\n");
	progress_wait(&view, "", true, 20 * S, START + 30 * S);
	progress_wait(&view, "making the data", false, 21 * S, START + 40 * S);
	view.test = 0;
	progress_wait(&view, "stat", true, 22 * S, START + 50 * S);
	view.quiet = true;
	progress_wait(&view, "stat", true, 22 * S, START + 60 * S);
	assert_string_equal(news(), "[3/9] read-bw: waiting for the volume since 20s\n"
	                            "[3/9] read-bw: making the data, since 21s\n"
	                            "waiting for the volume since 22s (stat)\n");
}

static void test_the_end_has_the_headline(void **unused)
{
	struct test test = sample_test("read-bw", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	begin();
	news();
	sample_result(&tr, &test);
	sample_record(&tr, STATS_READ, 600, 1000);
	progress_end(&view, &tr);
	assert_string_equal(news(), "[3/9] read-bw: read 10 IOPS, 40.0KiB/s, mean 1us\n");
	progress_note(&view, "concession: %s", "size shrunk");
	assert_string_equal(news(), "concession: size shrunk\n");
	test_result_destroy(&tr);
}

/* Play what was written on a terminal of one line; what stays above it goes to `log`. */
static void play(const char *bytes, char *log, char *line, size_t columns)
{
	size_t column = 0;

	char *end = log;

	*end = '\0';
	memset(line, 0, columns + 1);
	for (; *bytes; bytes++) {
		if (*bytes == '\r') {
			column = 0;
		} else if (!strncmp(bytes, "\033[K", 3)) {
			memset(line + column, 0, columns - column);
			bytes += 2;
		} else if (*bytes == '\n') {
			end += snprintf(end, columns + 2, "%s\n", line);
			memset(line, 0, columns + 1);
			column = 0;
		} else {
			assert_true(column < columns);
			line[column++] = *bytes;
		}
	}
}

static void test_live_line(void **unused)
{
	char log[4096], line[101];

	(void)unused;
	view.terminal = true;
	view.columns = 100;
	begin();
	for (unsigned i = 0; i < 30; i++)
		tell(at(PHASE_RUN, i * 0.1, 60), i * 0.1);
	play(text, log, line, 100);
	assert_string_equal(log, "[3/9] read-bw: randread 128KiB depth 16 x 1 job, 1m10s\n");
	assert_string_equal(line,
	                    "[3/9] read-bw: run 2.5s of 1m00s, 1000 IOPS, 4000KiB/s, mean 2ms, "
	                    "plan ends in 7m58s");
	progress_note(&view, "concession: shrunk");
	play(text, log, line, 100);
	assert_string_equal(log, "[3/9] read-bw: randread 128KiB depth 16 x 1 job, 1m10s\n"
	                         "concession: shrunk\n");
	assert_string_equal(line, "");
	tell(at(PHASE_RUN, 4, 60), 4);
	tell(at(PHASE_RUN, 5, 60), 5);
	play(text, log, line, 100);
	assert_non_null(strstr(line, "run 5s of 1m00s"));
	progress_note(&view, "x");
	play(text, log, line, 100);
	assert_non_null(strstr(log, "concession: shrunk\nx\n"));
}

/* Cut to the width, so that it never wraps; a shorter line leaves nothing of a longer one. */
static void test_live_line_fits_the_terminal(void **unused)
{
	char log[4096], line[81];

	(void)unused;
	view.terminal = true;
	begin();
	tell(at(PHASE_RUN, 0, 60), 0);
	tell(at(PHASE_RUN, 1, 60), 1);
	play(text, log, line, 80);
	assert_int_equal(strlen(line), 79);
	view.columns = 40;
	tell(at(PHASE_RUN, 2, 60), 2);
	play(text, log, line, 80);
	assert_string_equal(line, "[3/9] read-bw: run 2s of 1m00s, 1000 IO");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_start_lines),
	        TEST(test_plain_lines),
	        TEST(test_probe_tells_each),
	        TEST(test_rates_are_of_the_last_stretch),
	        TEST(test_layout_has_an_end_in_sight),
	        TEST(test_the_probe_is_ahead),
	        TEST(test_the_window_is_over),
	        TEST(test_no_end_of_an_amount),
	        TEST(test_a_stall_is_told_while_it_lasts),
	        TEST(test_never_silent_across_phases),
	        TEST(test_quiet),
	        TEST(test_a_kind_says_something),
	        TEST(test_a_wait_for_the_volume_is_told),
	        TEST(test_the_end_has_the_headline),
	        TEST(test_live_line),
	        TEST(test_live_line_fits_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
