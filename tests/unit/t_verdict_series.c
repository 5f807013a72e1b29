/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c plan/expect.c
 * plan/plan.c plan/published.c result/entities.c result/hops.c result/result.c result/search.c
 * result/verdict.c result/verdict_cache.c result/verdict_expect.c result/verdict_host.c
 * result/verdict_pause.c result/verdict_published.c result/verdict_series.c result/verdict_table.c
 * */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "result/verdict.h"
#include "sample.h"

#define S NSEC_PER_SEC

/* Requests in a second of the window. */
typedef double course(unsigned second, const double *arg);

static double noise(unsigned second) /* -1 to 1, the same each time */
{
	return (double)((second * 2654435761u >> 8) % 2001) / 1000 - 1;
}

/* A closed loop at depth 1 that keeps it: latencies fill the window. */
static struct test_result made(unsigned seconds, course *rate, const double *arg)
{
	struct test test = sample_test("made", RW_RANDREAD);
	struct test_result tr;
	uint64_t last_ns = 0;

	test.runtime_ns = seconds * S;
	test.iodepth = 1;
	sample_result(&tr, &test);
	for (unsigned second = 0; second < seconds; second++) {
		unsigned n = (unsigned)lround(rate(second, arg));

		for (unsigned i = 0; i < n; i++) {
			uint64_t now_ns = second * S + S / n * i;

			stats_record(tr.stats, STATS_READ, 4096, now_ns - last_ns, now_ns);
			last_ns = now_ns;
		}
	}
	return tr;
}

/* The codes of the verdicts, but for what these tests are not about. */
static void assert_codes_of_class(struct test_result *tr, const struct conditions *c,
                                  const char *codes)
{
	char found[256] = "";

	sample_end(tr);
	verdict_judge(tr, c);
	for (unsigned i = 0; i < tr->n_verdicts; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s", i ? " " : "",
		         tr->verdicts[i].code);
	if (strcmp(found, codes) != 0)
		fail_msg("'%s', not '%s': %s", found, codes,
		         tr->n_verdicts ? tr->verdicts[0].text : "");
}

static void assert_codes(struct test_result tr, const char *codes)
{
	static const struct conditions none;

	assert_codes_of_class(&tr, &none, codes);
	test_result_destroy(&tr);
}

/* arg: upper, lower, the second when it falls, noise as a share. */
static double falls(unsigned second, const double *arg)
{
	double level = second < arg[2] ? arg[0] : arg[1];

	return level * (1 + arg[3] * noise(second));
}

#define FALLS(seconds, ...) made(seconds, falls, (const double[]){__VA_ARGS__})

static void test_a_burst_that_ends(void **unused)
{
	static const struct conditions none;
	struct test_result tr = FALLS(60, 3000, 300, 20, 0);

	(void)unused;
	assert_codes_of_class(&tr, &none, "burst");
	assert_string_equal(tr.verdicts[0].text,
	                    "3000 IOPS for 20s of the window, then 300 IOPS to its end: what lasts "
	                    "is the latter, the mean is neither (a longer ramp_time measures past "
	                    "the burst)");
	assert_true(tr.verdicts[0].figure == 10);
	tr.bs = 128 * KIB;
	assert_codes_of_class(&tr, &none, "burst");
	assert_non_null(strstr(tr.verdicts[0].text, "375MiB/s for 20s of the window, then 37.5"));
	test_result_destroy(&tr);
	assert_codes(FALLS(60, 3000, 1900, 20, 0.1), "burst");
	assert_codes(FALLS(60, 3000, 300, 54, 0.2), "burst");
	assert_codes(FALLS(60, 3000, 300, 6, 0.2), "burst");
	assert_codes(FALLS(8, 3000, 300, 4, 0.1), "burst");
	assert_codes(FALLS(10, 1000, 500, 7, 0.1), "burst");
	assert_codes(FALLS(60, 80, 40, 30, 0.1), "burst"); /* a disk that turns */
	assert_codes(FALLS(300, 16000 / 10, 5100 / 10, 250, 0.1), "burst");
}

static void test_no_burst(void **unused)
{
	(void)unused;
	assert_codes(FALLS(60, 3000, 3000, 20, 0), "");
	assert_codes(FALLS(60, 3000, 2400, 20, 0), "");    /* what a shared machine drifts */
	assert_codes(FALLS(5, 3000, 300, 2, 0), "");       /* the plan quick is too short to tell */
	assert_codes(FALLS(60, 300, 3000, 2, 0), "");      /* a start that is slow */
	assert_codes(FALLS(60, 3000, 300, 58, 0), "");     /* the end: no level lasts for 2 s */
	assert_codes(FALLS(10, 3000, 300, 8, 0), "noisy"); /* nor here */
	assert_codes(FALLS(60, 2, 1, 30, 0), "");          /* so few requests fall as they like */
	assert_codes(FALLS(60, 300, 600, 30, 0), "not-steady"); /* up is no burst */
}

/* arg: upper, lower, the second within which it falls, from which part of it on. */
static double falls_within(unsigned second, const double *arg)
{
	if (second == arg[2])
		return arg[3] * arg[0] + (1 - arg[3]) * arg[1];
	return second < arg[2] ? arg[0] : arg[1];
}

/* Of the second in which a burst ends a part is the burst's, however short both levels are. */
static void test_a_burst_that_ends_within_a_second(void **unused)
{
	static const struct conditions c = {
	        .class_limits = {.iops = 100, .mib_per_s = NAN, .burst_iops = NAN, .source = "x"}};

	(void)unused;
	for (double within = 3; within <= 7; within++)
		for (double part = 0; part < 0.98; part += 0.05) {
			const double falls_at[] = {600, 100, within, part};
			struct test_result tr = made(11, falls_within, falls_at);

			assert_codes_of_class(&tr, &c, "burst published-limit");
			test_result_destroy(&tr);
		}
}

/* What is not of the volume. */
static void test_not_judged(void **unused)
{
	struct test_result tr;

	(void)unused;
	tr = FALLS(60, 3000, 300, 20, 0);
	tr.loops = 1;
	assert_codes(tr, "");
	tr = FALLS(60, 3000, 300, 20, 0);
	snprintf(tr.ioengine, sizeof(tr.ioengine), "null");
	assert_codes(tr, "");
	tr = FALLS(60, 3000, 300, 20, 0);
	tr.direct = false;
	assert_codes(tr, "page-cache");
	tr = FALLS(60, 1000, 1000, 20, 0.4); /* an open loop that was kept */
	tr.rate_iops = 1000;
	assert_codes(tr, "");
	tr = FALLS(60, 3000, 300, 20, 0); /* and one that fell behind */
	tr.rate_iops = 3000;
	assert_codes(tr, "burst");
	tr = FALLS(60, 3000, 300, 20, 0);
	tr.status = STATUS_FAILED;
	assert_codes(tr, "");
}

/* arg: at the start, at the end, noise as a share. */
static double leans(unsigned second, const double *arg)
{
	return (arg[0] + (arg[1] - arg[0]) * second / 60) * (1 + arg[2] * noise(second));
}

#define LEANS(...) made(60, leans, (const double[]){__VA_ARGS__})

static void test_not_steady(void **unused)
{
	static const struct conditions none;
	struct test_result tr = LEANS(3000, 1500, 0);

	(void)unused;
	assert_codes_of_class(&tr, &none, "not-steady");
	assert_string_equal(tr.verdicts[0].text,
	                    "five fifths of the window range over 52 % of their mean, their line "
	                    "over 52 % (at most 40 and 30 are steady): repeat it with a longer "
	                    "ramp_time");
	test_result_destroy(&tr);
	assert_codes(LEANS(1500, 3000, 0.2), "not-steady");
	assert_codes(LEANS(3000, 1950, 0.1), "not-steady");
	assert_codes(LEANS(3000, 2550, 0), ""); /* 0.85 x: a machine drifts so far */
	assert_codes(LEANS(3000, 2550, 0.2), "");
	assert_codes(LEANS(20, 20, 0.4), "");
}

/* arg: the level, noise as a share, one second in how many is different, by what factor. */
static double wavers(unsigned second, const double *arg)
{
	bool odd = arg[2] > 0 && second % (unsigned)arg[2] == 0;

	return arg[0] * (1 + arg[1] * noise(second)) * (odd ? arg[3] : 1);
}

#define WAVERS(seconds, ...) made(seconds, wavers, (const double[]){__VA_ARGS__})

/* arg: every other second, the seconds between. */
static double alternates(unsigned second, const double *arg)
{
	return arg[second % 2];
}

#define ALTERNATES(seconds, ...) made(seconds, alternates, (const double[]){__VA_ARGS__})

static void test_noisy(void **unused)
{
	static const struct conditions none;
	struct test_result tr = WAVERS(60, 1000, 0.6, 0, 0);

	(void)unused;
	assert_codes_of_class(&tr, &none, "noisy");
	assert_non_null(strstr(tr.verdicts[0].text, "its seconds lie between "));
	assert_true(tr.verdicts[0].figure > 0.7 && tr.verdicts[0].figure < 1.1);
	test_result_destroy(&tr);
	assert_codes(WAVERS(60, 1000, 0.2, 3, 0.3), "noisy");
	assert_codes(ALTERNATES(11, 385, 134), "noisy"); /* whichever of them are one more */
	assert_codes(ALTERNATES(11, 134, 385), "noisy");
	/* a burst of too few seconds for a level, which makes the mean all the same */
	tr = FALLS(12, 7000, 200, 1, 0);
	assert_codes_of_class(&tr, &none, "noisy");
	assert_non_null(strstr(tr.verdicts[0].text, "half of its seconds gave 200 IOPS or less, a "
	                                            "few up to 7000 IOPS"));
	test_result_destroy(&tr);
	assert_codes(FALLS(60, 9000, 200, 2, 0), "noisy");
	assert_codes(FALLS(11, 190, 11, 1, 0), "noisy"); /* and of few requests */
	assert_codes(FALLS(11, 12, 1, 1, 0), "");        /* so few come as they like */
	assert_codes(FALLS(60, 1000, 200, 1, 0), "");    /* hardly in the mean */
	assert_codes(FALLS(12, 20, 200, 1, 0), "");      /* slow ones are no burst */
	assert_codes(WAVERS(60, 1000, 0.4, 0, 0), "");
	assert_codes(WAVERS(60, 1000, 0.1, 30, 0.1), ""); /* two slow seconds */
	assert_codes(WAVERS(10, 1000, 0.1, 10, 0.1), ""); /* the first one */
	assert_codes(WAVERS(5, 1000, 0.6, 0, 0), "");
	assert_codes(WAVERS(60, 80, 0.2, 0, 0), "");
	assert_codes(WAVERS(60, 4, 0.5, 0, 0), ""); /* chance */
	assert_codes(WAVERS(60, 1, 0.4, 0, 0), "");
}

/* One cause, one verdict. */
static double stalls(unsigned second, const double *arg)
{
	return second >= arg[1] && second < arg[2] ? 0 : arg[0];
}

static void test_a_stall_is_nothing_else(void **unused)
{
	struct test_result tr;

	(void)unused;
	assert_codes(made(60, stalls, (const double[]){1000, 20, 35}), "stalls");
	tr = made(60, stalls, (const double[]){1000, 45, 60});
	tr.stats->drained_max_ns = 20 * S;
	assert_codes(tr, "stalls"); /* neither the rounds nor what is in no latency */
}

static struct conditions of_base(double iops, double burst_iops)
{
	struct conditions c = {.class = "a-class"};

	c.class_limits = (struct published){
	        .iops = iops,
	        .mib_per_s = NAN,
	        .burst_iops = burst_iops,
	        .burst_mib_per_s = NAN,
	        .burst_credit = NAN,
	        .source = "the provider",
	};
	return c;
}

static void test_a_burst_of_a_class(void **unused)
{
	struct conditions c = of_base(300, 3000);
	struct test_result tr = FALLS(60, 3000, 300, 50, 0);

	(void)unused;
	/* what lasts is at the base, although half of the second half was above it */
	assert_codes_of_class(&tr, &c, "burst published-limit");
	assert_non_null(strstr(tr.verdicts[1].text, "300 IOPS in the second half"));
	/* credit is spent above the base only */
	c = of_base(5000, 16000);
	assert_codes_of_class(&tr, &c, "not-steady");
	test_result_destroy(&tr);
}

/* Of a test after which a step at twice the depth completed so many requests in 2 s. */
static void assert_probed(struct test_result tr, uint64_t ios, const char *codes)
{
	static const struct conditions none;

	tr.iodepth = 4;
	tr.limits_probe = (struct limits_probe){
	        .iodepth = 8, .ios = ios, .runtime_ns = 2 * S, .floor_ns = 480000};
	tr.fsync = 1; /* no depth is kept, which is not the question here */
	assert_codes_of_class(&tr, &none, codes);
	if (!strcmp(codes, "queue-depth"))
		assert_non_null(strstr(tr.verdicts[0].text, "latency floor at depth 1 is 480us"));
	test_result_destroy(&tr);
}

static void test_queue_depth(void **unused)
{
	struct test_result tr = FALLS(60, 1000, 1000, 1, 0);
	static const struct conditions none;

	(void)unused;
	tr.limits_probe = (struct limits_probe){.iodepth = 2, .ios = 3600, .runtime_ns = 2 * S};
	assert_codes_of_class(&tr, &none, "queue-depth");
	assert_string_equal(
	        tr.verdicts[0].text,
	        "depth 1 limits: 2 gives 1.8 x, 1800 IOPS (more requests at once need a "
	        "higher iodepth or numjobs)");
	assert_true(tr.verdicts[0].figure == 1.8);
	test_result_destroy(&tr);
	assert_probed(FALLS(60, 1000, 1000, 1, 0), 2 * 1450, "queue-depth");
	assert_probed(FALLS(2, 1000, 1000, 1, 0), 2 * 1900, "queue-depth");
	assert_probed(FALLS(60, 80, 80, 1, 0), 2 * 150, "queue-depth");
	/* no more than a machine's moods */
	assert_probed(FALLS(60, 1000, 1000, 1, 0), 2 * 1000, "");
	assert_probed(FALLS(60, 1000, 1000, 1, 0), 2 * 1350, "");
	assert_probed(WAVERS(60, 1000, 0.5, 0, 0), 2 * 1450, "noisy");
	assert_probed(FALLS(60, 2, 2, 1, 0), 2 * 3, "");
	/* the volume has become quicker: that is not the depth's doing */
	assert_probed(FALLS(60, 1000, 1000, 1, 0), 2 * 3100, "");
	/* nor behind a cache, which knows by then what the test has read */
	tr = FALLS(60, 1000, 1000, 1, 0);
	tr.cache_probe = (struct cache_probe){64, 4000, 400, 3000, 500};
	assert_probed(tr, 2 * 1900, "");
	/* a burst that has ended is not what it is held against */
	assert_probed(FALLS(60, 3000, 300, 50, 0), 2 * 560, "burst queue-depth");
	assert_probed(FALLS(60, 3000, 300, 50, 0), 2 * 300, "burst");
}

static void assert_drift(struct test_result first, struct test_result again, const char *text)
{
	struct result result = {.tests = &first, .n_tests = 1};

	assert_true(verdict_drift(&result, &again));
	assert_int_equal(result.n_verdicts, 1);
	assert_string_equal(result.verdicts[0].code, "drift");
	assert_non_null(strstr(result.verdicts[0].text, text));
	again.status = STATUS_INTERRUPTED;
	assert_false(verdict_drift(&result, &again));
	assert_int_equal(result.n_verdicts, 1);
	test_result_destroy(&first);
	test_result_destroy(&again);
}

static void test_drift(void **unused)
{
	(void)unused;
	assert_drift(FALLS(60, 1000, 1000, 1, 0), FALLS(12, 980, 980, 1, 0),
	             "made again at the end of the plan: 0.98 x, none to speak of");
	assert_drift(FALLS(60, 1000, 1000, 1, 0), FALLS(12, 820, 820, 1, 0),
	             "0.82 x: the volume or the machine drifted");
	assert_drift(FALLS(60, 1000, 1000, 1, 0), FALLS(12, 1200, 1200, 1, 0), "1.20 x: the ");
	/* a burst is told of already */
	assert_drift(FALLS(60, 3000, 300, 20, 0), FALLS(12, 300, 300, 1, 0), "1.00 x, none");
}

/* Once for a run, and only where a test stands above the base. */
static void test_too_short_to_know(void **unused)
{
	struct test_result tests[2] = {FALLS(60, 200, 200, 1, 0), FALLS(60, 3000, 3000, 1, 0)};
	struct result result = {.tests = tests, .n_tests = 2, .conditions = of_base(300, 3000)};
	char text[RESULT_TEXT_MAX];

	(void)unused;
	assert_true(verdict_too_short(&result, text));
	assert_string_equal(text, "too short to know what lasts: 'made' stayed above the class's "
	                          "base, and its burst credit may last longer than the window");
	result.conditions.class_limits.burst_credit = 2700 * 1800;
	assert_true(verdict_too_short(&result, text));
	assert_non_null(strstr(text, "may last 30m"));
	result.conditions.class_limits.burst_credit = 2700 * 50; /* it should have ended */
	assert_false(verdict_too_short(&result, text));
	result.conditions.class_limits.burst_credit = NAN;
	result.n_tests = 1; /* below the base no credit is spent */
	assert_false(verdict_too_short(&result, text));
	result.n_tests = 2;
	test_result_destroy(&tests[1]);
	tests[1] = FALLS(60, 3000, 300, 20, 0); /* its end was seen */
	assert_false(verdict_too_short(&result, text));
	for (unsigned i = 0; i < 2; i++)
		test_result_destroy(&tests[i]);
}

/* Longer windows have fewer and longer intervals: nothing else changes. */
static void test_a_long_window(void **unused)
{
	static const struct conditions none;
	struct test test = sample_test("long", RW_RANDREAD);
	struct test_result tr;

	(void)unused;
	test.runtime_ns = 10000 * S;
	sample_result(&tr, &test);
	tr.thinktime_ns = 0;
	tr.rate_iops = 20;
	for (uint64_t second = 0; second < 10000; second++)
		for (uint64_t i = 0; i < (second < 6000 ? 20 : 5); i++)
			stats_record(tr.stats, STATS_READ, 4096, S / 100, second * S + i);
	assert_codes_of_class(&tr, &none, "burst");
	assert_non_null(
	        strstr(tr.verdicts[0].text, "20 IOPS for 1h40m of the window, then 5 IOPS"));
	test_result_destroy(&tr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_a_burst_that_ends),
	        cmocka_unit_test(test_no_burst),
	        cmocka_unit_test(test_not_judged),
	        cmocka_unit_test(test_not_steady),
	        cmocka_unit_test(test_a_burst_that_ends_within_a_second),
	        cmocka_unit_test(test_noisy),
	        cmocka_unit_test(test_a_stall_is_nothing_else),
	        cmocka_unit_test(test_a_burst_of_a_class),
	        cmocka_unit_test(test_queue_depth),
	        cmocka_unit_test(test_drift),
	        cmocka_unit_test(test_too_short_to_know),
	        cmocka_unit_test(test_a_long_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
