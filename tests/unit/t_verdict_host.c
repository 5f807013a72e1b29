/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c plan/expect.c
 * plan/plan.c plan/published.c result/entities.c result/hops.c result/result.c result/search.c
 * result/verdict.c result/verdict_cache.c result/verdict_expect.c result/verdict_host.c
 * result/verdict_pause.c result/verdict_published.c result/verdict_series.c result/verdict_table.c
 * */
/*
 * Verdicts by the counters of a machine, each on both sides of its threshold: what limited a test
 * is told, what did not is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "result/verdict.h"
#include "sample.h"

#define SPAN (60 * NSEC_PER_SEC)

static const struct conditions conditions = {.fs = "ext4", .cpus = 4, .memory_bytes = 64 * MIB};

/* Of a machine that had nothing to do with the result: the volume moved what was asked. */
static void quiet(struct test_result *tr, enum stats_op op)
{
	static struct test test;
	double bytes = 6000 * 4096.0;

	test = sample_test("t", op == STATS_READ ? RW_RANDREAD : RW_RANDWRITE);
	test.thinktime_ns = 1; /* no depth is kept */
	sample_result(tr, &test);
	sample_record(tr, op, 6000, NSEC_PER_MSEC);
	tr->usage = (struct usage){
	        .from_ns = 100 * NSEC_PER_USEC,
	        .span_ns = SPAN,
	        .bytes = bytes,
	        .cpu_user_ns = 1e9,
	        .cpu_system_ns = 2e9,
	        .thread_cpu_ns = 3e9,
	        .thread_wait_ns = 1e9,
	        .periods = 600,
	        .throttled_periods = 0,
	        .throttled_ns = 0,
	        .limit_met = 0,
	        .limit_kills = 0,
	        .limit_stalled_ns = 0,
	        .read_bytes = op == STATS_READ ? bytes : 0,
	        .write_bytes = op == STATS_READ ? 0 : bytes,
	        .device_read_bytes = op == STATS_READ ? bytes : 0,
	        .device_write_bytes = op == STATS_READ ? 0 : bytes,
	};
}

static bool verdict_is(const struct test_result *tr, const char *code)
{
	for (unsigned i = 0; i < tr->n_verdicts; i++)
		if (!strcmp(tr->verdicts[i].code, code))
			return true;
	return false;
}

/* Judged anew: this code alone, or none where it is empty. */
static const struct verdict *judged(struct test_result *tr, const char *code)
{
	static struct verdict verdict;

	sample_end(tr);
	verdict_judge(tr, &conditions);
	if (tr->n_verdicts != (*code ? 1 : 0) || (*code && strcmp(tr->verdicts[0].code, code) != 0))
		fail_msg("'%s' wanted, got %u: '%s' '%s'", code, tr->n_verdicts,
		         tr->n_verdicts ? tr->verdicts[0].code : "",
		         tr->n_verdicts > 1 ? tr->verdicts[1].code : "");
	verdict = tr->verdicts[0];
	return &verdict;
}

static void assert_near(double value, double want)
{
	if (!(fabs(value - want) <= 1e-6))
		fail_msg("%g is not %g", value, want);
}

static void test_a_quiet_machine(void **unused)
{
	struct test_result tr;

	(void)unused;
	for (enum stats_op op = STATS_READ; op <= STATS_WRITE; op++) {
		quiet(&tr, op);
		judged(&tr, "");
		test_result_destroy(&tr);
	}
}

static void test_cpu_quota(void **unused)
{
	struct test_result tr;
	const struct verdict *v;

	(void)unused;
	quiet(&tr, STATS_READ);
	tr.usage.throttled_periods = 598;
	tr.usage.throttled_ns = 0.8 * SPAN;
	tr.usage.thread_wait_ns = 0.8 * SPAN; /* the same, seen by a thread: not told twice */
	v = judged(&tr, "cpu-quota");
	assert_near(v->figure, 0.8);
	assert_non_null(strstr(v->text, "80 % of the time"));
	assert_non_null(strstr(v->text, "more-cpu"));
	tr.usage.throttled_ns = 1.9 * SPAN; /* of two CPUs: never more than the periods say */
	tr.usage.thread_cpu_ns = NAN;
	assert_near(judged(&tr, "cpu-quota")->figure, 598 / 600.0);
	tr.usage.thread_cpu_ns = 0.2 * SPAN; /* nor while a thread ran */
	assert_near(judged(&tr, "cpu-quota")->figure, 0.8);
	tr.usage.thread_wait_ns = 0;
	tr.usage.throttled_ns = 0.019 * SPAN; /* a pause now and then */
	judged(&tr, "");
	tr.usage.throttled_ns = 0.021 * SPAN;
	judged(&tr, "cpu-quota");
	tr.usage.throttled_periods = 3; /* hundreds of CPUs for a moment */
	judged(&tr, "");
	test_result_destroy(&tr);
}

static void test_cpu_of_a_thread(void **unused)
{
	struct test_result tr;

	(void)unused;
	quiet(&tr, STATS_READ);
	tr.usage.thread_cpu_ns = 0.94 * SPAN;
	tr.usage.thread_wait_ns = 0;
	judged(&tr, ""); /* busy, and it still waits for the volume */
	tr.usage.thread_cpu_ns = 0.96 * SPAN;
	assert_near(judged(&tr, "cpu")->figure, 0.96);
	assert_non_null(strstr(tr.verdicts[0].text, "numjobs"));
	tr.rate_iops = 100; /* an open loop that keeps its pace spins */
	judged(&tr, "");
	tr.thinktime_ns = 0;
	tr.rate_iops = 1000; /* and one that does not has no time to */
	judged(&tr, "cpu");
	test_result_destroy(&tr);
}

static void test_no_cpu_to_be_had(void **unused)
{
	struct test_result tr;

	(void)unused;
	quiet(&tr, STATS_READ);
	tr.usage.thread_wait_ns = 0.24 * SPAN;
	judged(&tr, "");
	tr.usage.thread_wait_ns = 0.26 * SPAN;
	assert_near(judged(&tr, "cpu")->figure, 0.26);
	assert_non_null(strstr(tr.verdicts[0].text, "quieter node"));
	test_result_destroy(&tr);
}

static void test_all_cpus_used(void **unused)
{
	struct test_result tr;

	(void)unused;
	quiet(&tr, STATS_READ);
	tr.usage.cpu_user_ns = 0.7 * SPAN;
	tr.usage.cpu_system_ns = 3 * SPAN; /* of four */
	judged(&tr, "");
	tr.usage.cpu_user_ns = 0.9 * SPAN;
	assert_near(judged(&tr, "cpu")->figure, 0.975);
	assert_non_null(strstr(tr.verdicts[0].text, "3.9 of 4 CPUs"));
	test_result_destroy(&tr);
}

static void test_memory_limit(void **unused)
{
	struct test_result tr;

	(void)unused;
	quiet(&tr, STATS_READ);
	tr.usage.limit_met = 60 * 99; /* what a layout left is reclaimed in passing */
	judged(&tr, "");
	tr.usage.limit_met = 60 * 101;
	assert_near(judged(&tr, "memory")->figure, 6060);
	assert_non_null(strstr(tr.verdicts[0].text, "64MiB was met 6060 times:"));
	tr.usage.limit_met = 0;
	tr.usage.limit_stalled_ns = 0.12 * SPAN;
	judged(&tr, "memory");
	assert_non_null(strstr(tr.verdicts[0].text, "waited for memory 12 % of the time"));
	tr.usage.limit_stalled_ns = 0.09 * SPAN;
	judged(&tr, "");
	tr.usage.limit_kills = 1;
	judged(&tr, "memory");
	assert_non_null(strstr(tr.verdicts[0].text, "killed 1"));
	test_result_destroy(&tr);
}

static void test_direct_reads_from_memory(void **unused)
{
	struct test_result tr;
	double asked;

	(void)unused;
	quiet(&tr, STATS_READ);
	asked = tr.usage.bytes;
	tr.usage.read_bytes = tr.usage.device_read_bytes = 0.5 * asked;
	assert_near(judged(&tr, "page-cache")->figure, 0.5 + 16 * 4096 / asked);
	assert_non_null(strstr(tr.verdicts[0].text, "O_DIRECT was taken"));
	/* each of both counts may be blind (a driver without, a file system's own threads) */
	tr.usage.read_bytes = asked;
	tr.usage.device_read_bytes = 0;
	judged(&tr, "");
	tr.usage.read_bytes = NAN;
	tr.usage.device_read_bytes = asked;
	judged(&tr, "");
	tr.usage.device_read_bytes = NAN; /* FUSE, NFS */
	judged(&tr, "");
	/* others read there too */
	tr.usage.device_read_bytes = 9 * asked;
	judged(&tr, "");
	test_result_destroy(&tr);
}

/* Short tests with much in flight: what is counted at one end and not at the other is no cache. */
static void test_in_flight_is_granted(void **unused)
{
	struct test_result tr;

	(void)unused;
	quiet(&tr, STATS_READ);
	tr.usage.read_bytes = tr.usage.device_read_bytes = 0.5 * tr.usage.bytes;
	tr.iodepth = 256;
	tr.numjobs = 16;
	judged(&tr, "");
	test_result_destroy(&tr);
}

/* One direction of a mixed test: a quarter of its bytes were written. */
static void test_mixed(void **unused)
{
	struct test_result tr;

	(void)unused;
	quiet(&tr, STATS_READ);
	sample_record(&tr, STATS_WRITE, 2000, NSEC_PER_MSEC);
	tr.usage.bytes = 8000 * 4096.0;
	tr.usage.device_write_bytes = 2000 * 4096.0;
	judged(&tr, "");
	tr.usage.device_write_bytes = 1000 * 4096.0;
	judged(&tr, "page-cache");
	assert_non_null(strstr(tr.verdicts[0].text, "bytes written"));
	tr.usage.device_write_bytes = NAN;
	judged(&tr, "");
	test_result_destroy(&tr);
}

static void test_buffered(void **unused)
{
	struct test_result tr;

	(void)unused;
	quiet(&tr, STATS_READ);
	tr.direct = false;
	judged(&tr, ""); /* the device read each byte */
	tr.usage.device_read_bytes = 1.2 * tr.usage.bytes;
	assert_true(isnan(judged(&tr, "page-cache")->figure)); /* ahead: who knows */
	tr.usage.read_bytes = tr.usage.device_read_bytes = 0;
	tr.iodepth = 0;
	assert_near(judged(&tr, "page-cache")->figure, 0);
	assert_non_null(strstr(tr.verdicts[0].text, "memory gave 100 %"));
	tr.usage.read_bytes = tr.usage.device_read_bytes = NAN;
	assert_true(isnan(judged(&tr, "page-cache")->figure));
	test_result_destroy(&tr);

	quiet(&tr, STATS_WRITE);
	tr.direct = false;
	assert_true(isnan(judged(&tr, "page-cache")->figure)); /* in time, but later */
	tr.usage.device_write_bytes = 0.25 * tr.usage.bytes;
	tr.iodepth = 0;
	assert_near(judged(&tr, "page-cache")->figure, 0.25);
	test_result_destroy(&tr);
}

static void test_memory_as_a_file_system(void **unused)
{
	struct test_result tr;

	(void)unused;
	quiet(&tr, STATS_READ);
	tr.usage.in_memory = true;
	tr.usage.read_bytes = tr.usage.device_read_bytes = NAN;
	assert_near(judged(&tr, "page-cache")->figure, 0);
	assert_non_null(strstr(tr.verdicts[0].text, "is memory"));
	snprintf(tr.ioengine, sizeof(tr.ioengine), "null");
	judged(&tr, ""); /* nothing was asked of it */
	test_result_destroy(&tr);
}

/* Of most of the window, or of none of it. */
static void test_evidence_of_too_little(void **unused)
{
	struct test_result tr;

	(void)unused;
	quiet(&tr, STATS_READ);
	tr.usage.throttled_periods = 600;
	tr.usage.throttled_ns = 0.5 * SPAN;
	tr.usage.limit_met = 1e9;
	tr.usage.span_ns = SPAN / 3;
	judged(&tr, "");
	tr.usage = (struct usage){0};
	judged(&tr, "");
	test_result_destroy(&tr);
}

static void test_nothing_is_known(void **unused)
{
	struct test_result tr;

	(void)unused;
	quiet(&tr, STATS_READ);
	tr.usage = (struct usage){.span_ns = SPAN,
	                          .bytes = NAN,
	                          .cpu_user_ns = NAN,
	                          .cpu_system_ns = NAN,
	                          .thread_cpu_ns = NAN,
	                          .thread_wait_ns = NAN,
	                          .periods = NAN,
	                          .throttled_periods = NAN,
	                          .throttled_ns = NAN,
	                          .limit_met = NAN,
	                          .limit_kills = NAN,
	                          .limit_stalled_ns = NAN,
	                          .read_bytes = NAN,
	                          .write_bytes = NAN,
	                          .device_read_bytes = NAN,
	                          .device_write_bytes = NAN};
	judged(&tr, "");
	test_result_destroy(&tr);
}

/* Beside what a control group allows on the device. */
static void test_limits_on_the_device(void **unused)
{
	struct conditions limited = {.fs = "ext4", .cpus = 4, .io_limits = {.read_iops = 104}};
	struct test_result tr;

	(void)unused;
	quiet(&tr, STATS_READ); /* 100 IOPS, 409600 B/s */
	tr.thinktime_ns = 0, tr.iodepth = 1;
	verdict_judge(&tr, &limited);
	assert_true(verdict_is(&tr, "io-limit"));
	limited.io_limits = (struct io_limits){.read_iops = 94};
	verdict_judge(&tr, &limited);
	assert_false(verdict_is(&tr, "io-limit")); /* above it: it does not hold here */
	limited.io_limits = (struct io_limits){.read_iops = 115, .write_iops = 100};
	verdict_judge(&tr, &limited);
	assert_false(verdict_is(&tr, "io-limit"));
	limited.io_limits = (struct io_limits){.read_bytes = 409600};
	verdict_judge(&tr, &limited);
	assert_true(verdict_is(&tr, "io-limit"));
	tr.direct = false; /* what memory answers or takes is not limited */
	verdict_judge(&tr, &limited);
	assert_false(verdict_is(&tr, "io-limit"));
	test_result_destroy(&tr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_a_quiet_machine),
	        cmocka_unit_test(test_cpu_quota),
	        cmocka_unit_test(test_cpu_of_a_thread),
	        cmocka_unit_test(test_no_cpu_to_be_had),
	        cmocka_unit_test(test_all_cpus_used),
	        cmocka_unit_test(test_memory_limit),
	        cmocka_unit_test(test_direct_reads_from_memory),
	        cmocka_unit_test(test_in_flight_is_granted),
	        cmocka_unit_test(test_mixed),
	        cmocka_unit_test(test_buffered),
	        cmocka_unit_test(test_memory_as_a_file_system),
	        cmocka_unit_test(test_limits_on_the_device),
	        cmocka_unit_test(test_evidence_of_too_little),
	        cmocka_unit_test(test_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
