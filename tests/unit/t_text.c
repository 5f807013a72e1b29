/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c measure/student.c
 * out/conditions.c out/curve.c out/dbench.c out/entities.c out/hops.c out/persist.c out/remark.c
 * out/repeats.c out/row.c out/search.c out/table.c out/text.c plan/expect.c plan/plan.c
 * plan/published.c result/entities.c result/hops.c result/knee.c result/repeats.c result/result.c
 * result/search.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "out/text.h"
#include "sample.h"

#define TESTS_MAX 64

static struct test_result tests[TESTS_MAX];
static struct result result;
static char *text;
static size_t size;

static int set_up(void **unused)
{
	(void)unused;
	memset(tests, 0, sizeof(tests));
	result = (struct result){.tests = tests, .conditions = {.target = "/data", .cpus = NAN}};
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < TESTS_MAX; i++)
		test_result_destroy(&tests[i]);
	free(text);
	text = NULL;
	return 0;
}

static const char *written(void (*write)(FILE *out, const struct result *result))
{
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	assert_non_null(out);
	write(out, &result);
	fclose(out);
	return text;
}

/* A test on target of n reads and m writes in its 60 s, 1 ms each. */
static struct test_result *add(const char *name, const char *target, int rw, uint64_t reads,
                               uint64_t writes)
{
	struct test test = sample_test(name, rw);
	struct test_result *tr = &tests[result.n_tests++];

	snprintf(test.target, sizeof(test.target), "%s", target);
	sample_result(tr, &test);
	sample_record(tr, STATS_READ, reads, NSEC_PER_MSEC);
	sample_record(tr, STATS_WRITE, writes, NSEC_PER_MSEC);
	return tr;
}

#define BLOCK "==================\n= Dbench Summary =\n==================\n"

static void test_no_block_without_its_tests(void **unused)
{
	(void)unused;
	assert_string_equal(written(text_write_dbench), "");
	add("read-iops-4KiB", "/data", RW_RANDREAD, 60, 0);
	add("iops", "/data", RW_RANDREAD, 60, 0);
	assert_string_equal(written(text_write_dbench), "");
	written(text_write);
	assert_null(strstr(text, "Dbench"));
}

static void test_lines_whose_tests_are_absent_are_left_out(void **unused)
{
	(void)unused;
	add("mixed", "/data", RW_RANDRW, 120, 60);
	assert_string_equal(written(text_write_dbench),
	                    BLOCK "Mixed Random Read/Write IOPS: 2/1\n");
	add("read-iops", "/data", RW_RANDREAD, 600, 0);
	assert_string_equal(written(text_write_dbench),
	                    BLOCK "Random Read/Write IOPS: 10/NaN. BW: NaN / NaN\n"
	                          "Mixed Random Read/Write IOPS: 2/1\n");
}

static void test_halves_that_failed(void **unused)
{
	(void)unused;
	add("read-latency", "/data", RW_RANDREAD, 60, 0)->status = STATUS_FAILED;
	add("write-latency", "/data", RW_RANDWRITE, 0, 60);
	add("read-seq", "/data", RW_READ, 60, 0)->runtime_ns = 0;
	add("write-seq", "/data", RW_WRITE, 0, 60)->status = STATUS_INTERRUPTED;
	add("mixed", "/data", RW_RANDRW, 0, 0);
	assert_string_equal(written(text_write_dbench),
	                    BLOCK "Average Latency (usec) Read/Write: NaN/1000.00\n"
	                          "Sequential Read/Write: NaN / 4096B/s\n"
	                          "Mixed Random Read/Write IOPS: 0/0\n");
}

/* A whole window without a completion has a rate, but no latency. */
static void test_no_latency_of_nothing(void **unused)
{
	(void)unused;
	add("read-latency", "/data", RW_RANDREAD, 0, 0);
	assert_string_equal(written(text_write_dbench),
	                    BLOCK "Average Latency (usec) Read/Write: NaN/NaN\n");
}

static void test_latency_is_always_usec(void **unused)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {{850, "0.85"},
	             {1000, "1.00"},
	             {530660, "530.66"},
	             {7210000, "7210.00"},
	             {9990000, "9990.00"},
	             {31620000, "31620.00"},
	             {2000000000, "2000000.00"},
	             {60000000000, "60000000.00"},
	             {1, "0.00"}};

	(void)unused;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		char expected[128];

		set_up(NULL);
		sample_record(add("read-latency", "/data", RW_RANDREAD, 0, 0), STATS_READ, 3,
		              cases[i].ns);
		snprintf(expected, sizeof(expected),
		         BLOCK "Average Latency (usec) Read/Write: %s/NaN\n", cases[i].text);
		assert_string_equal(written(text_write_dbench), expected);
		test_result_destroy(&tests[0]);
	}
}

static void test_a_block_for_each_target(void **unused)
{
	(void)unused;
	add("read-iops-share_1", "/mnt/share.1/", RW_RANDREAD, 600, 0);
	add("read-iops-data", "/mnt/data", RW_RANDREAD, 1200, 0);
	add("other", "/mnt/other", RW_RANDREAD, 1200, 0);
	add("write-iops-share_1", "/mnt/share.1/", RW_RANDWRITE, 0, 60);
	add("write-iops-data", "/mnt/elsewhere", RW_RANDWRITE, 0, 60); /* not of its target */
	assert_string_equal(
	        written(text_write_dbench),
	        "target: /mnt/share.1/\n" BLOCK "Random Read/Write IOPS: 10/1. BW: NaN / NaN\n"
	        "target: /mnt/data\n" BLOCK "Random Read/Write IOPS: 20/NaN. BW: NaN / NaN\n");
}

static void assert_headline(const char *expected)
{
	char line[512];

	text_headline(&tests[result.n_tests - 1], line, sizeof(line));
	assert_string_equal(line, expected);
}

static void test_headlines(void **unused)
{
	struct test_result *tr;

	(void)unused;
	add("a", "/data", RW_RANDREAD, 6000, 0);
	assert_headline("read 100 IOPS, 400KiB/s, mean 1ms, p99 1ms");
	tr = add("b", "/data", RW_RANDRW, 60, 24);
	sample_record(tr, STATS_SYNC, 60, 1000);
	assert_headline("read 1 IOPS, 4096B/s, mean 1ms; write 0.4 IOPS, 1638B/s, mean 1ms; "
	                "sync 1 IOPS, mean 1us");
	tr = add("c", "/data", RW_RANDREAD, 0, 0);
	assert_headline("read 0 IOPS, 0B/s");
	tr->status = STATUS_FAILED;
	snprintf(tr->error, sizeof(tr->error), "cannot open '/data'");
	stats_error_add(tr->stats, EIO, 3);
	assert_headline("FAILED: cannot open '/data'; errors: EIO 3");
	tr = add("d", "/data", RW_RANDREAD, 0, 0);
	tr->status = STATUS_INTERRUPTED;
	assert_headline("interrupted");
	tr = add("e", "/data", RW_RANDREAD, 60, 0);
	tr->n_expect = 2;
	tr->expect[0] = (struct expectation){"read.iops >= 1", EXPECT_PASS, 1, BOUND_NONE};
	tr->expect[1] = (struct expectation){"read.iops >= 2", EXPECT_FAIL, 1, BOUND_NONE};
	assert_headline("read 1 IOPS, 4096B/s, mean 1ms; threshold read.iops >= 2: FAIL");
	tr = &tests[result.n_tests++];
	assert_headline("nothing was measured");
}

static void test_headline_fits_its_buffer(void **unused)
{
	struct test_result *tr = add("a", "/data", RW_RANDREAD, 6000, 0);
	char line[24];

	(void)unused;
	memset(line, 'x', sizeof(line));
	text_headline(tr, line, sizeof(line) - 1);
	assert_int_equal(strlen(line), sizeof(line) - 2);
	assert_int_equal(line[sizeof(line) - 1], 'x');
}

static unsigned lines_of(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

static void test_termination_message_is_cut_at_a_line(void **unused)
{
	char name[32];

	(void)unused;
	add("read-iops", "/data", RW_RANDREAD, 600, 0);
	written(text_write_termination);
	assert_string_equal(text, BLOCK "Random Read/Write IOPS: 10/NaN. BW: NaN / NaN\n"
	                                "read-iops: read 10 IOPS, 40.0KiB/s, mean 1ms\n");
	for (unsigned i = 1; i < TESTS_MAX; i++) {
		snprintf(name, sizeof(name), "test-%u", i);
		struct test_result *tr = add(name, "/data", RW_RANDREAD, 1, 0);

		tr->status = STATUS_FAILED;
		memset(tr->error, 'e', 100 + i);
	}
	written(text_write_termination);
	assert_true(size <= TERMINATION_MAX);
	assert_true(size > TERMINATION_MAX - 300);
	assert_memory_equal(text, BLOCK, strlen(BLOCK));
	assert_non_null(strstr(text, "\n(cut: the log has all tests)\n"));
	assert_string_equal(strstr(text, "\n(cut:") + 1, "(cut: the log has all tests)\n");
	/* every line before is whole */
	for (unsigned i = 1; i + 6 < lines_of(text); i++) {
		snprintf(name, sizeof(name), "\ntest-%u: FAILED", i);
		assert_non_null(strstr(text, name));
	}
}

/* One line of 5000 bytes and more: nothing but the cut is left, and it is within the limit. */
static void test_termination_message_of_one_huge_line(void **unused)
{
	struct test_result *tr = add("a", "/data", RW_RANDREAD, 1, 0);

	(void)unused;
	for (unsigned i = 0; i < 40; i++) {
		tr = i ? add("a", "/data", RW_RANDREAD, 1, 0) : tr;
		tr->status = STATUS_FAILED;
		memset(tr->error, 'e', sizeof(tr->error) - 1);
	}
	written(text_write_termination);
	assert_true(size <= TERMINATION_MAX);
	assert_true(lines_of(text) > 2);
}

static void write_if_killed(FILE *out, const struct result *r)
{
	text_write_termination_if_killed(out, r, 3);
}

static void test_termination_message_of_who_is_killed(void **unused)
{
	(void)unused;
	add("a", "/data", RW_RANDREAD, 600, 0);
	assert_string_equal(written(write_if_killed),
	                    "killed before its end: 1 of 3 tests had ended\n"
	                    "a: read 10 IOPS, 40.0KiB/s, mean 1ms\n");
}

static void test_sizes_are_exact(void **unused)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {{0, "0B"},          {512, "512B"},         {4096, "4KiB"},
	             {2300, "2300B"},    {1536, "1.5KiB"},      {128 * KIB, "128KiB"},
	             {MIB, "1MiB"},      {MIB + 1, "1048577B"}, {1000000, "1000000B"},
	             {10 * GIB, "10GiB"}};

	(void)unused;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		char out[UNITS_TEXT_MAX];

		assert_string_equal(text_size(cases[i].bytes, out), cases[i].text);
	}
}

static size_t longest_line(const char *s)
{
	size_t longest = 0;

	while (*s) {
		size_t length = strcspn(s, "\n");

		longest = length > longest ? length : longest;
		s += length + (s[length] == '\n');
	}
	return longest;
}

static void test_table_is_readable(void **unused)
{
	(void)unused;
	add("write-latency", "/var/lib/kubelet/pods/0a1b2c3d/volumes/pvc", RW_RANDWRITE, 0, 60);
	add("mixed", "/data", RW_RANDRW, 6000, 6000);
	written(text_write);
	assert_true(longest_line(strstr(text, "\ntest ") + 1) <= 140);
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\r'));
	assert_non_null(strstr(text, "  .../0a1b2c3d/volumes/pvc  "));
	assert_non_null(strstr(text, "  randrw read   4KiB     16 "));
	assert_non_null(strstr(text, "  randrw write  4KiB     16 "));
}

static void test_nothing_was_run(void **unused)
{
	(void)unused;
	result.interrupted = true;
	written(text_write);
	assert_non_null(strstr(text, "No test was run.\n"));
	assert_non_null(strstr(text, "  node           unknown, kernel unknown, unknown\n"));
	assert_non_null(strstr(text, "  limits         CPU unknown, memory unknown\n"));
	assert_non_null(strstr(text, "interrupted: "));
}

static void test_who_has_what_to_say(void **unused)
{
	(void)unused;
	add("a", "/data", RW_RANDREAD, 60, 0);
	written(text_write);
	assert_non_null(strstr(text, "  size           10GiB\n"));
	add("b", "/data", RW_RANDREAD, 60, 0);
	written(text_write);
	assert_non_null(strstr(text, "  size           10GiB\n"));
	add("c", "/data", RW_RANDREAD, 60, 0)->size = MIB;
	test_result_concede(&tests[2], "smaller");
	written(text_write);
	assert_non_null(strstr(text, "  size           10GiB (all but c)\n"));
	assert_non_null(strstr(text, "  size           1MiB of 10GiB asked (c)\n"));
	assert_non_null(strstr(text, "  concession     smaller (c)\n"));
	/* the same concession, not at the same place of the list */
	test_result_concede(&tests[0], "other");
	test_result_concede(&tests[0], "smaller");
	written(text_write);
	assert_non_null(strstr(text, "  concession     smaller (all but b)\n"));
	assert_ptr_equal(strstr(strstr(text, "smaller") + 1, "smaller"), NULL);
}

static void test_remarks_have_a_limit(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 8; i++) {
		struct test_result *tr = add("t", "/data", RW_RANDREAD, 0, 0);

		for (unsigned j = 0; j < RESULT_CONCESSIONS_MAX; j++)
			test_result_concede(tr, "concession %u", i * RESULT_CONCESSIONS_MAX + j);
	}
	written(text_write);
	assert_non_null(strstr(text, "  concession     concession 63 (t)\n"
	                             "  concession     and more: the JSON has all\n"));
	assert_null(strstr(text, "concession 64"));
}

/* Where all tests have the same one; what was drawn is in the result lines. */
static void test_a_common_seed_is_named(void **unused)
{
	(void)unused;
	add("a", "/data", RW_RANDREAD, 0, 0);
	assert_null(strstr(written(text_write), "randseed"));
	result.tests[0].randseed = UINT64_MAX;
	assert_non_null(strstr(written(text_write), "\n  randseed       18446744073709551615\n"));
	add("b", "/data", RW_RANDREAD, 0, 0)->randseed = 42;
	assert_null(strstr(written(text_write), "randseed"));
	result.tests[0].randseed = 42;
	assert_non_null(strstr(written(text_write), "\n  randseed       42\n"));
}

static void test_what_is_not_at_its_default_is_named(void **unused)
{
	struct test_result *tr = add("t", "/data", RW_RANDRW, 60, 60);

	(void)unused;
	assert_non_null(strstr(written(text_write), "  load           75% of the requests read\n"));
	assert_null(strstr(text, "layout"));
	tr->rw = RW_RANDWRITE;
	assert_null(strstr(written(text_write), "  load"));
	tr->rate = 10000000;
	tr->thinktime_ns = 10000000;
	snprintf(tr->random_distribution, sizeof(tr->random_distribution), "zipf:1.2");
	tr->buffer = BUFFER_ZERO;
	tr->sync = SYNC_DSYNC;
	tr->fsync = 2;
	tr->numjobs = 2;
	tr->offset_increment = GIB;
	tr->loops = 1;
	tr->first_write = true;
	written(text_write);
	assert_non_null(strstr(text,
	                       "  load           open loop at 10000000B/s, latency from the due "
	                       "time, a rest of 10ms after each request, random offsets by "
	                       "zipf:1.2, data of zeros, file opened O_DSYNC, fsync after "
	                       "every 2 writes, each job 1GiB further, 1 pass over the "
	                       "size\n"));
	assert_non_null(strstr(text, "  layout         none: first write, the file was not laid "
	                             "out\n"));
	/* neither data nor distance where they have no part */
	tr->rw = RW_RANDREAD;
	tr->layout = LAYOUT_NONE;
	tr->numjobs = 1;
	written(text_write);
	assert_null(strstr(text, "zeros"));
	assert_null(strstr(text, "further"));
}

static void test_values_of_thresholds(void **unused)
{
	struct test_result *tr = add("t", "/data", RW_RANDREAD, 60, 0);

	(void)unused;
	tr->n_expect = 8;
	tr->expect[0] = (struct expectation){"read.iops >= 1", EXPECT_PASS, 33500, BOUND_NONE};
	tr->expect[1] = (struct expectation){"read.bw >= 1MiB", EXPECT_PASS, 349 * MIB, BOUND_NONE};
	tr->expect[2] = (struct expectation){"read.p99 <= 1ms", EXPECT_FAIL, 7210000, BOUND_NONE};
	tr->expect[3] = (struct expectation){"errors == 0", EXPECT_FAIL, 12, BOUND_NONE};
	tr->expect[4] = (struct expectation){"stall <= 5s", EXPECT_NOT_JUDGED, NAN, BOUND_NONE};
	tr->expect[5] = (struct expectation){"of a newer version", EXPECT_FAIL, 1.5, BOUND_NONE};
	tr->expect[6] = (struct expectation){"stall <= 1s", EXPECT_PASS, 5e6, BOUND_AT_MOST};
	tr->expect[7] = (struct expectation){"stall < 1s", EXPECT_FAIL, 5e9, BOUND_AT_LEAST};
	written(text_write);
	assert_non_null(strstr(text, "stall <= 1s: pass (measured: at most 5ms)\n"));
	assert_non_null(strstr(text, "stall < 1s: FAIL (measured: at least 5s)\n"));
	assert_non_null(strstr(text, "threshold: t: read.iops >= 1: pass (measured: 33.5k)\n"));
	assert_non_null(strstr(text, "read.bw >= 1MiB: pass (measured: 349MiB/s)\n"));
	assert_non_null(strstr(text, "read.p99 <= 1ms: FAIL (measured: 7.21ms)\n"));
	assert_non_null(strstr(text, "errors == 0: FAIL (measured: 12)\n"));
	assert_non_null(strstr(text, "stall <= 5s: not judged (measured: unknown)\n"));
	assert_non_null(strstr(text, "of a newer version: FAIL (measured: 1.5)\n"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest all[] = {
	        TEST(test_no_block_without_its_tests),
	        TEST(test_lines_whose_tests_are_absent_are_left_out),
	        TEST(test_halves_that_failed),
	        TEST(test_no_latency_of_nothing),
	        TEST(test_latency_is_always_usec),
	        TEST(test_a_block_for_each_target),
	        TEST(test_headlines),
	        TEST(test_headline_fits_its_buffer),
	        TEST(test_termination_message_is_cut_at_a_line),
	        TEST(test_termination_message_of_one_huge_line),
	        TEST(test_termination_message_of_who_is_killed),
	        TEST(test_sizes_are_exact),
	        TEST(test_table_is_readable),
	        TEST(test_nothing_was_run),
	        TEST(test_who_has_what_to_say),
	        TEST(test_remarks_have_a_limit),
	        TEST(test_a_common_seed_is_named),
	        TEST(test_what_is_not_at_its_default_is_named),
	        TEST(test_values_of_thresholds),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
