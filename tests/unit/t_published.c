/* links: base/err.c base/units.c plan/published.c */
/*
 * Limits by capacity, request size and burst, each by hand.
 */
#include "plan/published.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"

static void assert_value(double value, double expected)
{
	if (isnan(expected) ? !isnan(value) : fabs(value - expected) > 1e-9 * expected)
		fail_msg("%.15g, not %.15g", value, expected);
}

static void test_by_capacity(void **state)
{
	struct published_rule grows = {.base = 1800, .per_gib = 50, .max = 50000};
	struct published_rule fixed = {.base = 143};
	struct published_rule none = {0};

	(void)state;
	assert_value(published_rule_value(&grows, 10 * GIB), 2300);
	assert_value(published_rule_value(&grows, GIB / 2), 1825);
	assert_value(published_rule_value(&grows, 964 * GIB), 50000);
	assert_value(published_rule_value(&grows, 1000 * GIB), 50000);
	assert_value(published_rule_value(&fixed, 0), 143);
	assert_value(published_rule_value(&none, 10 * GIB), NAN);
}

static void test_by_steps(void **state)
{
	struct published_rule rule = {
	        .steps = {{128 * GIB, 500}, {256 * GIB, 1100}, {512 * GIB, 2300}},
	        .n_steps = 3,
	};

	(void)state;
	assert_value(published_rule_value(&rule, 1), 500);
	assert_value(published_rule_value(&rule, 128 * GIB), 500);
	assert_value(published_rule_value(&rule, 128 * GIB + 1), 1100);
	assert_value(published_rule_value(&rule, 512 * GIB), 2300);
	assert_value(published_rule_value(&rule, 512 * GIB + 1), NAN);
}

static struct published ultra(void)
{
	return (struct published){
	        .capacity_bytes = 100 * GIB,
	        .iops = 6800,
	        .mib_per_s = 170,
	        .burst_iops = 16000,
	        .burst_mib_per_s = NAN,
	        .burst_credit = 28800000,
	        .source = "the provider",
	};
}

static void test_requests_above_the_unit_count_as_several(void **state)
{
	struct published p = ultra();

	(void)state;
	assert_int_equal(published_count(&p, 16 * MIB), 1);
	p.io_unit = 256 * KIB;
	assert_int_equal(published_count(&p, 4 * KIB), 1);
	assert_int_equal(published_count(&p, 256 * KIB), 1);
	assert_int_equal(published_count(&p, 256 * KIB + 1), 2);
	assert_int_equal(published_count(&p, 1 * MIB), 4);
	assert_int_equal(published_count(&p, UINT64_MAX), 1ull << 46);
	assert_value(published_limit(&p, PUBLISHED_IOPS, 256 * KIB).base, 6800);
	assert_value(published_limit(&p, PUBLISHED_IOPS, 1 * MIB).base, 1700);
	assert_value(published_limit(&p, PUBLISHED_IOPS, 1 * MIB).burst, 4000);
	assert_value(published_limit(&p, PUBLISHED_BW, 1 * MIB).base, 170.0 * MIB);
	assert_value(published_limit(&p, PUBLISHED_BW, 4 * KIB).base, 170.0 * MIB);
}

static void test_a_burst_is_above_its_base(void **state)
{
	struct published p = ultra();

	(void)state;
	assert_value(published_limit(&p, PUBLISHED_IOPS, 4096).burst, 16000);
	assert_value(published_limit(&p, PUBLISHED_BW, 4096).burst, NAN);
	assert_int_equal(published_burst_ns(&p), 28800000ull * NSEC_PER_SEC / (16000 - 6800));
	p.iops = 16000;
	assert_value(published_limit(&p, PUBLISHED_IOPS, 4096).burst, NAN);
	assert_int_equal(published_burst_ns(&p), 0);
	p.iops = 50000;
	assert_value(published_limit(&p, PUBLISHED_IOPS, 4096).burst, NAN);
	assert_int_equal(published_burst_ns(&p), 0);
}

static void test_what_is_not_stated_is_no_limit(void **state)
{
	struct published p = ultra();

	(void)state;
	p.iops = NAN;
	assert_value(published_limit(&p, PUBLISHED_IOPS, 4096).base, NAN);
	assert_value(published_limit(&p, PUBLISHED_IOPS, 4096).burst, NAN);
	assert_int_equal(published_burst_ns(&p), 0);
	p.mib_per_s = 0;
	assert_value(published_limit(&p, PUBLISHED_BW, 4096).base, NAN);
	p = ultra();
	p.source[0] = '\0';
	assert_value(published_limit(&p, PUBLISHED_IOPS, 4096).base, NAN);
}

static void assert_text(const struct published *p, const char *expected)
{
	char text[PUBLISHED_TEXT_MAX];

	assert_string_equal(published_text(p, text), expected);
}

static void test_in_words(void **state)
{
	struct published p = ultra(), none = {0};
	char text[UNITS_TEXT_MAX];

	(void)state;
	assert_text(&none, "no published limit");
	assert_text(&p, "6800 IOPS, 170 MiB/s for 100GiB, burst 16000 IOPS, reads and writes "
	                "together (the provider)");
	p.burst_iops = 5000; /* below the base: ignored */
	p.mib_per_s = 202.4;
	p.capacity_bytes = 0;
	p.io_unit = 256 * KIB;
	p.scope = SCOPE_EACH;
	assert_text(&p, "6800 IOPS, 202.4 MiB/s, reads and writes each, a request above 256KiB "
	                "counts as several (the provider)");
	p.iops = NAN;
	p.io_unit = 0;
	p.burst_mib_per_s = 400;
	assert_text(&p, "202.4 MiB/s, burst 400 MiB/s, reads and writes each (the provider)");
	assert_string_equal(published_format(PUBLISHED_BW, 9536, text), "9536 MiB/s");
	assert_string_equal(published_format(PUBLISHED_IOPS, 1023.6, text), "1024 IOPS");
	p = (struct published){.iops = 1e300, .burst_iops = 1e305, .io_unit = UINT64_MAX};
	p.mib_per_s = p.iops, p.burst_mib_per_s = p.burst_iops, p.capacity_bytes = UINT64_MAX;
	memset(p.source, 'x', sizeof(p.source) - 1);
	char longest[PUBLISHED_TEXT_MAX];

	assert_int_equal(published_text(&p, longest)[strlen(longest) - 1], ')');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_by_capacity),
	        cmocka_unit_test(test_by_steps),
	        cmocka_unit_test(test_requests_above_the_unit_count_as_several),
	        cmocka_unit_test(test_a_burst_is_above_its_base),
	        cmocka_unit_test(test_what_is_not_stated_is_no_limit),
	        cmocka_unit_test(test_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
