/* links: base/err.c base/units.c plan/expect.c */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "plan/expect.h"

static void test_good(void **state)
{
	static const struct expect rows[] = {
	        {"read.iops >= 20000", EXPECT_READ, METRIC_IOPS, 0, OP_GE, 20000},
	        {"read.iops>=33.5k", EXPECT_READ, METRIC_IOPS, 0, OP_GE, 33500},
	        {"write.iops > 1M", EXPECT_WRITE, METRIC_IOPS, 0, OP_GT, 1000000},
	        {"write.bw >= 300MiB/s", EXPECT_WRITE, METRIC_BW, 0, OP_GE, 300.0 * MIB},
	        {"write.bw < 300MB", EXPECT_WRITE, METRIC_BW, 0, OP_LT, 3e8},
	        {"read.p99 <= 5ms", EXPECT_READ, METRIC_PERCENTILE, 99, OP_LE, 5e6},
	        {"sync.p99.9 < 10ms", EXPECT_SYNC, METRIC_PERCENTILE, 99.9, OP_LT, 1e7},
	        {"read.p100 < 1", EXPECT_READ, METRIC_PERCENTILE, 100, OP_LT, 1e9},
	        {"read.p0.1 < 1us", EXPECT_READ, METRIC_PERCENTILE, 0.1, OP_LT, 1e3},
	        {"read.mean <= 800us", EXPECT_READ, METRIC_MEAN, 0, OP_LE, 8e5},
	        {"read.min > 1ns", EXPECT_READ, METRIC_MIN, 0, OP_GT, 1},
	        {"sync.max <= 1.5s", EXPECT_SYNC, METRIC_MAX, 0, OP_LE, 1.5e9},
	        {"write.stddev <= 2ms", EXPECT_WRITE, METRIC_STDDEV, 0, OP_LE, 2e6},
	        {"errors == 0", EXPECT_ERRORS, METRIC_COUNT, 0, OP_EQ, 0},
	        {"errors<=10", EXPECT_ERRORS, METRIC_COUNT, 0, OP_LE, 10},
	        {"stall <= 1s", EXPECT_STALL, METRIC_MAX, 0, OP_LE, 1e9},
	        {"  read.p50\t<=\t1ms ", EXPECT_READ, METRIC_PERCENTILE, 50, OP_LE, 1e6},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct expect *want = &rows[i];
		struct expect got;
		struct err err;

		if (expect_parse(&got, want->text, &err))
			fail_msg("%s", err.text);
		assert_string_equal(got.text, want->text);
		assert_int_equal(got.subject, want->subject);
		assert_int_equal(got.metric, want->metric);
		assert_true(got.percentile == want->percentile);
		assert_int_equal(got.op, want->op);
		assert_true(got.value == want->value);
	}
}

#define EXAMPLE        " (by >=, <=, >, < or ==, such as read.p99 <= 5ms)"
#define KNOWN_METRICS  " (known: iops, bw, mean, min, max, stddev, p50, p99, p99.9 and the like)"
#define KNOWN_SUBJECTS " (known: read, write, sync, errors, stall)"

static void test_bad(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
	        {"", "'' compares nothing" EXAMPLE},
	        {"read.iops", "'read.iops' compares nothing" EXAMPLE},
	        {"read.iops 5", "'read.iops 5' compares nothing" EXAMPLE},
	        {"read.iops = 5", "'read.iops = 5' compares nothing" EXAMPLE},
	        {"read.iops != 5", "'read.iops != 5' compares nothing" EXAMPLE},
	        {">= 5", "'>= 5' lacks what is compared (such as read.p99 <= 5ms)"},
	        {"reads.iops >= 5", "'reads' is not measured" KNOWN_SUBJECTS},
	        {"READ.iops >= 5", "'READ' is not measured" KNOWN_SUBJECTS},
	        {"read >= 5", "'read' of what (such as read.iops, read.p99)"},
	        {"read. >= 5", "'' is not measured" KNOWN_METRICS},
	        {"read.speed >= 5", "'speed' is not measured" KNOWN_METRICS},
	        {"read.p >= 5", "'p' is not measured" KNOWN_METRICS},
	        {"read.p0 >= 5", "'p0' is not measured" KNOWN_METRICS},
	        {"read.p101 >= 5", "'p101' is not measured" KNOWN_METRICS},
	        {"read.p99.9.9 >= 5", "'p99.9.9' is not measured" KNOWN_METRICS},
	        {"read.p9e1 >= 5", "'p9e1' is not measured" KNOWN_METRICS},
	        {"read.pnan >= 5", "'pnan' is not measured" KNOWN_METRICS},
	        {"read.p-1 >= 5", "'p-1' is not measured" KNOWN_METRICS},
	        {"errors.p99 >= 5", "'errors' stands alone, without '.p99'"},
	        {"stall.max >= 5", "'stall' stands alone, without '.max'"},
	        {"read.iops >=",
	         "'read.iops >=' lacks a value to compare with (such as read.p99 <= 5ms)"},
	        {"sync.bw >= 1MiB",
	         "a sync moves no bytes of its own (such as write.bw, sync.p99)"},
	        {"read.iops >= 5ms", "'5ms' is not a whole number (such as 20000, 20k)"},
	        {"read.iops >= -5", "'-5' is not a whole number (such as 20000, 20k)"},
	        {"read.p99 <= 5MiB", "'5MiB' is not a time (such as 5ms, 800us, 1s)"},
	        {"read.p99 <= 5 ms", "'read.p99 <= 5 ms' has more than one value: 'ms'"},
	        {"read.p99 <= 5ms <= 6ms",
	         "'read.p99 <= 5ms <= 6ms' has more than one value: '<= 6ms'"},
	        {"write.bw >= 3/s/s", "'3/s/s' is not a bandwidth (such as 300MiB/s)"},
	        {"write.bw >= /s", "'/s' is not a bandwidth (such as 300MiB/s)"},
	        {"errors == 0.5", "'0.5' is not a whole number (such as 20000, 20k)"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct expect expect, before;
		struct err err;

		memset(&expect, 0x5a, sizeof(expect));
		before = expect;
		if (!expect_parse(&expect, rows[i].text, &err))
			fail_msg("'%s' is read", rows[i].text);
		assert_string_equal(err.text, rows[i].message);
		assert_int_equal(err.class, ERR_PLAN);
		assert_memory_equal(&expect, &before, sizeof(expect));
	}
}

static void test_length(void **state)
{
	char text[EXPECT_TEXT_MAX + 1] = "errors == ";
	struct expect expect;
	struct err err;

	(void)state;
	memset(text + strlen(text), '0', sizeof(text) - 1 - strlen(text));
	assert_int_equal(expect_parse(&expect, text, &err), -1);
	assert_string_equal(err.text,
	                    "'errors == 0000000000000000000000...' is longer than 95 bytes");
	text[EXPECT_TEXT_MAX - 1] = '\0';
	assert_int_equal(expect_parse(&expect, text, &err), 0);
	assert_string_equal(expect.text, text);
	assert_true(expect.value == 0);
	/* the last digit counts, however many zeros lead */
	text[EXPECT_TEXT_MAX - 2] = '7';
	assert_int_equal(expect_parse(&expect, text, &err), 0);
	assert_true(expect.value == 7);
}

static void test_beside(void **state)
{
	static const struct {
		const char *text, *test;
		int subject, metric;
		double factor, value;
	} rows[] = {
	        {"read-iops.read.iops < 0.9 * baseline", "read-iops", EXPECT_READ, METRIC_IOPS, 0.9,
	         0},
	        {" t.write.p99.9>1.5*baseline ", "t", EXPECT_WRITE, METRIC_PERCENTILE, 1.5, 0},
	        {"t.read.bw < baseline", "t", EXPECT_READ, METRIC_BW, 1, 0},
	        {"read.read.p50 > 5ms", "read", EXPECT_READ, METRIC_PERCENTILE, 0, 5e6},
	        {"t.errors > 0", "t", EXPECT_ERRORS, METRIC_COUNT, 0, 0},
	        {"t.stall >= 2\t*\tbaseline", "t", EXPECT_STALL, METRIC_MAX, 2, 0},
	        {"sync.sync.p99 > baseline", "sync", EXPECT_SYNC, METRIC_PERCENTILE, 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct expect_beside got;
		struct err err;
		unsigned column;

		if (expect_parse_beside(&got, rows[i].text, &column, &err))
			fail_msg("%s: %s", rows[i].text, err.text);
		assert_string_equal(got.test, rows[i].test);
		assert_int_equal(got.expect.subject, rows[i].subject);
		assert_int_equal(got.expect.metric, rows[i].metric);
		assert_true(got.factor == rows[i].factor);
		assert_true(got.factor > 0 || got.expect.value == rows[i].value);
	}
}

#define EXAMPLE_BESIDE " (such as read-iops.read.iops < 0.9 * baseline)"

static void test_bad_beside(void **state)
{
	static const struct {
		const char *text;
		unsigned column;
		const char *message;
	} rows[] = {
	        {"", 1, "'' names no test" EXAMPLE_BESIDE},
	        {"read.iops < 5", 1, "'read.iops < 5' names no test" EXAMPLE_BESIDE},
	        {"errors > 5", 1, "'errors > 5' names no test" EXAMPLE_BESIDE},
	        {"t.reed.iops < 5", 3, "'reed' is not measured" KNOWN_SUBJECTS},
	        {"t.read.speed < baseline", 3, "'speed' is not measured" KNOWN_METRICS},
	        {"t.read.iops ~ baseline", 13, "'read.iops ~ baseline' compares nothing" EXAMPLE},
	        {"t.read.iops <", 14,
	         "'read.iops <' lacks a value to compare with (such as read.p99 <= 5ms)"},
	        {"t.read.iops < 0.9 * before", 19,
	         "'read.iops < 0.9 * before' has more than one value: '* before'"},
	        {"t.read.iops < 0.9 baseline", 19,
	         "'read.iops < 0.9 baseline' has more than one value: 'baseline'"},
	        {"t.read.iops < -1 * baseline", 15, "'-1' is no number above 0" EXAMPLE_BESIDE},
	        {"t.read.iops < 0 * baseline", 15, "'0' is no number above 0" EXAMPLE_BESIDE},
	        {"t.read.iops < * baseline", 15, "'' is no number above 0" EXAMPLE_BESIDE},
	        {"t.read.iops < 5ms", 15, "'5ms' is not a whole number (such as 20000, 20k)"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct expect_beside beside;
		struct err err;
		unsigned column = 0;

		if (!expect_parse_beside(&beside, rows[i].text, &column, &err))
			fail_msg("'%s' is read", rows[i].text);
		assert_string_equal(err.text, rows[i].message);
		if (column != rows[i].column)
			fail_msg("'%s': column %u", rows[i].text, column);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_good),       cmocka_unit_test(test_bad),
	        cmocka_unit_test(test_length),     cmocka_unit_test(test_beside),
	        cmocka_unit_test(test_bad_beside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
