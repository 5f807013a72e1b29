/* links: base/err.c base/units.c */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"

#define H (3600 * NSEC_PER_SEC)

struct parsed {
	const char *text;
	uint64_t value;
};

typedef int parser(const char *text, uint64_t *value, struct err *err);

static void check_parsed(parser *parse, const struct parsed *row)
{
	for (; row->text; row++) {
		struct err err;
		uint64_t value = ~row->value;

		if (parse(row->text, &value, &err))
			fail_msg("'%s': %s", row->text, err.text);
		if (value != row->value)
			fail_msg("'%s' is %" PRIu64 ", not %" PRIu64, row->text, value, row->value);
	}
}

static void check_refused(parser *parse, const char *const *text, const char *what)
{
	for (; *text; text++) {
		struct err err = {.class = ERR_TEST};
		char expected[ERR_TEXT_MAX];
		uint64_t value = 4711;

		if (!parse(*text, &value, &err))
			fail_msg("'%s' is read as %" PRIu64, *text, value);
		snprintf(expected, sizeof(expected), "'%s' is not a %s", *text, what);
		assert_string_equal(err.text, expected);
		assert_int_equal(err.class, ERR_PLAN);
		assert_int_equal(value, 4711);
	}
}

static const struct parsed sizes[] = {
        {"0", 0},
        {"2300", 2300},
        {"512B", 512},
        {"4k", 4096},
        {"4K", 4096},
        {"4Ki", 4096},
        {"4KiB", 4096},
        {"4kib", 4096},
        {"4kB", 4000},
        {"4KB", 4000},
        {"1m", MIB},
        {"1Mi", MIB},
        {"1MiB", MIB},
        {"1MB", 1000000},
        {"10GiB", 10 * GIB},
        {"10G", 10 * GIB},
        {"10GB", 10000000000},
        {"2T", 2048 * GIB},
        {"2TB", 2000000000000},
        {"1P", 1024 * 1024 * GIB},
        {"1PB", 1000000000000000},
        {"1.5GiB", GIB + GIB / 2},
        {"0.5k", 512},
        {"0.001kB", 1},
        {"1.0", 1},
        {"2.50k", 2560},
        {"0.000000000000001PB", 1},
        {"16383P", 16383ull << 50},
        {"18446744073709551615", UINT64_MAX},
        {"0018", 18},
        {NULL, 0},
};

static const char *const bad_sizes[] = {
        "",
        " ",
        "k",
        "4Q",
        "4 k",
        " 4",
        "4k ",
        "-1",
        "+1",
        "4kk",
        "4KiBs",
        "1e3",
        "0x10",
        "1.",
        ".5",
        "1..5",
        "1.5",
        "0.3B",
        "0.1k",
        "1,5k",
        "nan",
        "inf",
        "16384P",
        "18446744073709551616",
        "99999999999999999999999999k",
        "4iB",
        "4Bi",
        "%",
        "50%",
        "4\n",
        "0.0000000000000000001P",
        "18446744073709551615k",
        NULL,
};

static void test_sizes(void **state)
{
	(void)state;
	check_parsed(units_parse_size, sizes);
	check_refused(units_parse_size, bad_sizes, "size");
}

static void test_times(void **state)
{
	static const struct parsed rows[] = {
	        {"0", 0},
	        {"60", 60 * NSEC_PER_SEC},
	        {"0.5", NSEC_PER_SEC / 2},
	        {"850ns", 850},
	        {"12us", 12 * NSEC_PER_USEC},
	        {"7.21ms", 7210000},
	        {"10s", 10 * NSEC_PER_SEC},
	        {"0.1s", 100000000},
	        {"2m", 120 * NSEC_PER_SEC},
	        {"1.5m", 90 * NSEC_PER_SEC},
	        {"1h", H},
	        {"0.000000001", 1},
	        {"5124095h", 5124095 * H},
	        {NULL, 0},
	};
	static const char *const bad[] = {
	        "",         "s",   "10 s",  "1m30s", "-1s",  "1d", "0.5ns", "0.0000000001",
	        "5124096h", "1.s", "10sec", "1e3s",  "1min", NULL,
	};

	(void)state;
	check_parsed(units_parse_time, rows);
	check_refused(units_parse_time, bad, "time");
}

static void test_counts(void **state)
{
	static const struct parsed rows[] = {
	        {"0", 0},
	        {"7058", 7058},
	        {"33.5k", 33500},
	        {"20k", 20000},
	        {"1.2M", 1200000},
	        {"1G", 1000000000},
	        {"18446744073709551615", UINT64_MAX},
	        {NULL, 0},
	};
	static const char *const bad[] = {
	        "", "x", "-1", "1.5", "4Ki", "10%", "1e6", "3s", "18446744073709551616", NULL,
	};

	(void)state;
	check_parsed(units_parse_count, rows);
	check_refused(units_parse_count, bad, "whole number");
}

/* As fio 3.33's own num2str answered for these numbers (sig_figs 4). */
static const struct {
	uint64_t value;
	const char *iops, *bw;
} fio[] = {
        {0, "0", "0B/s"},
        {7, "7", "7B/s"},
        {999, "999", "999B/s"},
        {1000, "1000", "1000B/s"},
        {1024, "1024", "1024B/s"},
        {7058, "7058", "7058B/s"},
        {9999, "9999", "9999B/s"},
        {10000, "10.0k", "9.77KiB/s"},
        {10049, "10.0k", "9.81KiB/s"},
        {10050, "10.1k", "9.81KiB/s"},
        {10240, "10.2k", "10.0KiB/s"},
        {16383, "16.4k", "16.0KiB/s"},
        {33499, "33.5k", "32.7KiB/s"},
        {33500, "33.5k", "32.7KiB/s"},
        {33949, "33.9k", "33.2KiB/s"},
        {33950, "33.9k", "33.2KiB/s"},
        {33960, "34.0k", "33.2KiB/s"},
        {99949, "99.9k", "97.6KiB/s"},
        {99999, "100.0k", "97.7KiB/s"},
        {100000, "100k", "97.7KiB/s"},
        {100499, "100k", "98.1KiB/s"},
        {100500, "101k", "98.1KiB/s"},
        {349000, "349k", "341KiB/s"},
        {524288, "524k", "512KiB/s"},
        {999499, "999k", "976KiB/s"},
        {999500, "1000k", "976KiB/s"},
        {999999, "1000k", "977KiB/s"},
        {1000000, "1000k", "977KiB/s"},
        {1047552, "1048k", "1023KiB/s"},
        {1048576, "1049k", "1024KiB/s"},
        {9999499, "9999k", "9765KiB/s"},
        {9999999, "10000k", "9766KiB/s"},
        {10000000, "10.0M", "9766KiB/s"},
        {12300000, "12.3M", "11.7MiB/s"},
        {12960000, "13.0M", "12.4MiB/s"},
        {19400000, "19.4M", "18.5MiB/s"},
        {365953024, "366M", "349MiB/s"},
        {1279262720, "1279M", "1220MiB/s"},
        {10732175360, "10.7G", "10.00GiB/s"},
        {10737418240, "10.7G", "10.0GiB/s"},
        {1099511627776, "1100G", "1024GiB/s"},
        {5000000000000000, "5000T", "4547TiB/s"},
};

static void test_rates_as_fio(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fio); i++) {
		char out[UNITS_TEXT_MAX];

		assert_string_equal(units_format_iops((double)fio[i].value, out), fio[i].iops);
		assert_string_equal(units_format_bw((double)fio[i].value, out), fio[i].bw);
	}
}

/* fio divides whole numbers: what is beyond the point is cut off. */
static void test_rates_are_whole(void **state)
{
	char out[UNITS_TEXT_MAX];

	(void)state;
	assert_string_equal(units_format_iops(0.4, out), "0");
	assert_string_equal(units_format_iops(7058.97, out), "7058");
	assert_string_equal(units_format_iops(9999.999, out), "9999");
	assert_string_equal(units_format_bw(1024.9, out), "1024B/s");
	assert_string_equal(units_format_iops(-1, out), "0");
	assert_string_equal(units_format_iops((double)NAN, out), "0");
	assert_string_equal(units_format_iops((double)INFINITY, out), "18.4E");
	assert_string_equal(units_format_bw(0x1p64, out), "16.0EiB/s");
}

static void test_format_size(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
	        {0, "0B"},
	        {123, "123B"},
	        {1000, "1000B"},
	        {1023, "1023B"},
	        {1024, "1KiB"},
	        {1536, "1.5KiB"},
	        {4096, "4KiB"},
	        {10240, "10KiB"},
	        {900 * MIB, "900MiB"},
	        {1000 * MIB, "1000MiB"},
	        {1023 * MIB + 900 * KIB, "1GiB"},
	        {GIB + GIB / 2, "1.5GiB"},
	        {GIB + GIB / 4, "1.25GiB"},
	        {12345678901, "11.5GiB"},
	        {10 * GIB - 1, "10GiB"},
	        {100 * GIB, "100GiB"},
	        {UINT64_MAX, "16EiB"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char out[UNITS_TEXT_MAX];

		assert_string_equal(units_format_size(rows[i].bytes, out), rows[i].text);
	}
}

static void test_format_time(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
	        {0, "0ns"},
	        {850, "850ns"},
	        {999, "999ns"},
	        {1000, "1us"},
	        {12345, "12.3us"},
	        {999499, "999us"},
	        {999500, "1ms"},
	        {7210000, "7.21ms"},
	        {9995000, "10ms"},
	        {1500000000, "1.5s"},
	        {59400000000, "59.4s"},
	        {59500000000, "1m00s"},
	        {60 * NSEC_PER_SEC, "1m00s"},
	        {125 * NSEC_PER_SEC, "2m05s"},
	        {H - 1, "1h00m"},
	        {H + 120 * NSEC_PER_SEC, "1h02m"},
	        {H + 3599 * NSEC_PER_SEC, "2h00m"},
	        {UINT64_MAX, "5124095h35m"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char out[UNITS_TEXT_MAX];

		assert_string_equal(units_format_time(rows[i].ns, out), rows[i].text);
	}
}

/* What is written can be read, and means the same where no digit was dropped. */
static void test_round_trip(void **state)
{
	(void)state;
	for (uint64_t bytes = 1; bytes; bytes <<= 1) {
		char out[UNITS_TEXT_MAX];
		struct err err;
		uint64_t value;

		if (bytes >> 60)
			break; /* EiB are only written */
		assert_int_equal(units_parse_size(units_format_size(bytes, out), &value, &err), 0);
		assert_int_equal(value, bytes);
	}
}

static void test_decimal(void **state)
{
	static const char *const bad[] = {"",    ".",   ".5",    "-1",  "+1",
	                                  "1e3", "0x1", "1.2.3", "inf", " 1"};
	double value;

	(void)state;
	assert_true(units_parse_decimal("99.9", &value) && value == 99.9);
	assert_true(units_parse_decimal("0", &value) && value == 0);
	assert_true(units_parse_decimal("7.", &value) && value == 7);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(units_parse_decimal(bad[i], &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_decimal),      cmocka_unit_test(test_sizes),
	        cmocka_unit_test(test_times),        cmocka_unit_test(test_counts),
	        cmocka_unit_test(test_rates_as_fio), cmocka_unit_test(test_rates_are_whole),
	        cmocka_unit_test(test_format_size),  cmocka_unit_test(test_format_time),
	        cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
