/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c plan/expect.c
 * plan/plan.c plan/published.c result/entities.c result/hops.c result/result.c result/search.c
 * result/verdict.c result/verdict_cache.c result/verdict_expect.c result/verdict_host.c
 * result/verdict_pause.c result/verdict_published.c result/verdict_series.c result/verdict_table.c
 */
#include "result/entities.h"
#include "result/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct test_result tr;
static struct conditions conditions;

/* Ten seconds of 32 threads on one CPU, of which they use a tenth: nothing is at a limit. */
static void reset(void)
{
	struct stats *stats = tr.stats;

	memset(&tr, 0, sizeof(tr));
	strcpy(tr.kind, PLAN_KIND_TABLE);
	tr.stats = stats;
	tr.runtime_ns = 10 * NSEC_PER_SEC;
	tr.usage = (struct usage){.span_ns = tr.runtime_ns,
	                          .cpu_user_ns = 0.06e10,
	                          .cpu_system_ns = 0.04e10,
	                          .periods = NAN,
	                          .throttled_periods = NAN,
	                          .throttled_ns = NAN,
	                          .thread_cpu_ns = NAN,
	                          .thread_wait_ns = NAN};
	tr.table = (struct table_result){.partitions = 100,
	                                 .concurrency = 32,
	                                 .deleted = 90000,
	                                 .confirmed = 10000,
	                                 .answered = 2000,
	                                 .up_bytes = 50000000,
	                                 .down_bytes = 30000000,
	                                 .wait_ns = 100 * NSEC_PER_SEC,
	                                 .receive_ns = 10 * NSEC_PER_SEC};
	conditions.cpus = 1;
}

static const char *judge(void)
{
	verdict_judge(&tr, &conditions);
	assert_true(tr.n_verdicts <= 1);
	return tr.n_verdicts ? tr.verdicts[0].code : "none";
}

static void test_figures(void **state)
{
	struct entities e;

	(void)state;
	reset();
	e = entities_of(&tr);
	assert_true(fabs(e.per_second - 10000) < 1e-6);
	assert_true(fabs(e.transactions_per_second - 200) < 1e-6);
	assert_true(fabs(e.bytes_per_second - 8e6) < 1e-3);
	assert_true(fabs(e.bytes_per_entity - 800) < 1e-6);
	assert_true(fabs(e.cpus - 0.1) < 1e-9);
	memset(&tr.table, 0, sizeof(tr.table));
	tr.runtime_ns = tr.usage.span_ns = 0;
	e = entities_of(&tr);
	assert_true(isnan(e.per_second) && isnan(e.bytes_per_entity) && isnan(e.cpus));
}

static void test_limits(void **state)
{
	(void)state;
	reset();
	assert_string_equal(judge(), "none");
	tr.usage.cpu_user_ns = 0.85e10;
	assert_string_equal(judge(), "cpu");
	assert_non_null(strstr(tr.verdicts[0].text, "used 0.89 of 1 CPUs"));
	conditions.cpus = 4;
	assert_string_equal(judge(), "none");
	tr.table.answered = 180000;
	assert_string_equal(judge(), "account-limit");
	assert_true(fabs(tr.verdicts[0].figure - 0.9) < 1e-9);
	reset();
	tr.table.wait_ns = 10 * NSEC_PER_SEC;
	tr.table.receive_ns = NSEC_PER_SEC;
	tr.table.concurrency = 5;
	assert_string_equal(judge(), "partition-limit");
	tr.table.concurrency = 6;
	assert_string_equal(judge(), "none");
	tr.table.concurrency = 4;
	assert_string_equal(judge(), "none");
	tr.table.concurrency = 6;
	tr.table.partitions = 5;
	assert_string_equal(judge(), "partition-limit");
	tr.table.strategy = STRATEGY_DROP_TABLE;
	assert_string_equal(judge(), "none");
}

static void test_service(void **state)
{
	(void)state;
	reset();
	tr.table.throttled = 19;
	assert_string_equal(judge(), "none");
	tr.table.throttled = 20;
	tr.table.backoff_ns = 90 * NSEC_PER_SEC;
	assert_string_equal(judge(), "service");
	assert_non_null(strstr(tr.verdicts[0].text, "throttled 20 of 2000 transactions"));
	reset();
	tr.table.receive_ns = tr.table.wait_ns;
	assert_string_equal(judge(), "none");
	tr.table.down_bytes = tr.table.answered * 64 * KIB;
	assert_string_equal(judge(), "network");
	reset();
	tr.table.wait_ns = 224 * NSEC_PER_SEC;
	assert_string_equal(judge(), "concurrency");
	assert_true(fabs(tr.verdicts[0].figure - 0.7) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_figures),
	        cmocka_unit_test(test_limits),
	        cmocka_unit_test(test_service),
	};
	int failed;

	tr.stats = stats_new();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	stats_free(tr.stats);
	return failed;
}
