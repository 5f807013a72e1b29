/* links: base/err.c base/units.c builtin.c plan/expect.c measure/hist.c measure/stats.c
 * out/emit.c out/metrics.c plan/plan.c result/hops.c result/result.c result/search.c */
/*
 * What no golden shows: hostile labels, and what is left out since it is not known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "out/metrics.h"
#include "sample.h"

/* The metrics of a run with this one test; the caller frees them. */
static char *metrics_of(struct test_result *tr)
{
	struct result result = {
	        .id = "id", .started = "2026-01-02T03:04:05Z", .tests = tr, .n_tests = 1};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	metrics_write(out, &result);
	fclose(out);
	return text;
}

static void has(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no '%s' in\n%s", line, text);
}

static void has_not(const char *text, const char *line)
{
	if (strstr(text, line))
		fail_msg("'%s' in\n%s", line, text);
}

static void test_labels_are_escaped(void **state)
{
	struct test test = sample_test("t", RW_READ);
	struct test_result tr;

	(void)state;
	sample_result(&tr, &test);
	snprintf(tr.target, sizeof(tr.target), "/a\"b\\c\nd\x01\xff");
	char *text = metrics_of(&tr);

	has(text, "\npvcbench_test_success{test=\"t\",target=\"/a\\\"b\\\\c\\nd??\"} 1\n");
	free(text);
	test_result_destroy(&tr);
}

static void test_units_and_quantiles(void **state)
{
	struct test test = sample_test("t", RW_RANDWRITE);
	struct test_result tr;

	(void)state;
	sample_result(&tr, &test);
	sample_record(&tr, STATS_WRITE, 1000, NSEC_PER_MSEC);
	sample_record(&tr, STATS_SYNC, 60, 2 * NSEC_PER_SEC);
	sample_end(&tr);
	char *text = metrics_of(&tr);
	static const char *const lines[] = {
	        "pvcbench_run_start_timestamp_seconds 1767323045\n",
	        "pvcbench_test_window_seconds{test=\"t\",target=\"/data\"} 60\n",
	        ",op=\"write\"} 4096000\n",
	        "pvcbench_iops{test=\"t\",target=\"/data\",op=\"sync\"} 1\n",
	        "op=\"write\",quantile=\"0\"} 0.001\n",
	        "op=\"write\",quantile=\"0.99\"} 0.00",
	        "op=\"write\",quantile=\"1\"} 0.001\n",
	        "pvcbench_latency_seconds_sum{test=\"t\",target=\"/data\",op=\"write\"} 1\n",
	        "pvcbench_latency_seconds_count{test=\"t\",target=\"/data\",op=\"sync\"} 60\n",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++)
		has(text, lines[i]);
	/* ten samples lie beyond the 99th of a thousand, and beyond no higher one */
	has_not(text, "op=\"write\",quantile=\"0.999\"");
	has_not(text, "op=\"sync\",quantile=\"0.9\"");
	has_not(text, "op=\"read\"");
	has_not(text, "pvcbench_transferred_bytes_total{test=\"t\",target=\"/data\",op=\"sync\"");
	free(text);
	test_result_destroy(&tr);
}

static void test_what_is_not_known_is_left_out(void **state)
{
	struct test test = sample_test("t", RW_READ);
	struct test_result tr;

	(void)state;
	sample_expect(&test, "read.iops > 1");
	test_result_init(&tr, &test);
	tr.status = STATUS_FAILED;
	tr.n_expect = 1;
	snprintf(tr.expect[0].expr, sizeof(tr.expect[0].expr), "read.iops > 1");
	tr.expect[0].result = EXPECT_NOT_JUDGED;
	char *text = metrics_of(&tr);

	has(text, "pvcbench_test_success{test=\"t\",target=\"/data\"} 0\n");
	has_not(text, "\npvcbench_test_window_seconds");
	has_not(text, "\npvcbench_test_errors_total");
	has_not(text, "\npvcbench_test_threshold_met");
	has_not(text, "op=");
	has_not(text, "direct=");
	free(text);
}

/* A Pushgateway refuses the same sample twice. */
static void test_nothing_stands_twice(void **state)
{
	struct test test = sample_test("t", RW_READ);
	struct test_result tr;

	(void)state;
	sample_result(&tr, &test);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(tr.verdicts[i].code, sizeof(tr.verdicts[i].code), "stalls");
		snprintf(tr.expect[i].expr, sizeof(tr.expect[i].expr), "stall < 1s");
	}
	tr.n_verdicts = tr.n_expect = 2;
	char *text = metrics_of(&tr);
	const char *verdict = strstr(text, "code=\"stalls\"");
	const char *threshold = strstr(text, "expr=\"stall < 1s\"} 1\n");

	assert_non_null(verdict);
	assert_non_null(threshold);
	assert_null(strstr(verdict + 1, "code=\"stalls\""));
	assert_null(strstr(threshold + 1, "expr=\"stall < 1s\""));
	free(text);
	test_result_destroy(&tr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_labels_are_escaped),
	        cmocka_unit_test(test_units_and_quantiles),
	        cmocka_unit_test(test_what_is_not_known_is_left_out),
	        cmocka_unit_test(test_nothing_stands_twice),
	};

	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
