/*
 * What follows from a test's keys.
 */
#include "plan/plan.h"

#include <string.h>

#include "plan/chains.h"

const char *const plan_rw_names[] = {
        [RW_READ] = "read",           [RW_WRITE] = "write", [RW_RANDREAD] = "randread",
        [RW_RANDWRITE] = "randwrite", [RW_RW] = "rw",       [RW_RANDRW] = "randrw",
        [RW_RANDRW + 1] = NULL,
};

const char *const plan_step_names[] = {
        [STEP_WRITE] = "write",   [STEP_EXPECT] = "expect", [STEP_EXPECT_ABSENT] = "expect-absent",
        [STEP_REMOVE] = "remove", [STEP_REMOVE + 1] = NULL,
};

const char *const plan_strategy_names[] = {
        [STRATEGY_BATCH] = "batch",
        [STRATEGY_SINGLE] = "single",
        [STRATEGY_DROP_TABLE] = "drop-table",
        [STRATEGY_DROP_TABLE + 1] = NULL,
};

const char *const plan_select_names[] = {
        [SELECT_KEYS] = "keys",
        [SELECT_ALL] = "all",
        [SELECT_ALL + 1] = NULL,
};

bool plan_is_table(const struct test *test)
{
	return !strcmp(test->kind, PLAN_KIND_TABLE);
}

bool plan_is_persist(const struct test *test)
{
	return !strcmp(test->kind, PLAN_KIND_PERSIST);
}

bool plan_is_probe(const struct test *test)
{
	return !strcmp(test->kind, PLAN_KIND_PROBE);
}

bool plan_is_hops(const struct test *test)
{
	return !strcmp(test->kind, PLAN_KIND_HOPS);
}

/* A probe is a block test of a special shape. */
static void complete_probe(struct test *test)
{
	test->thinktime_ns = test->interval_ns;
	test->io_size = test->requests * test->bs;
	test->ramp_time_ns = 0;
}

/* What it may take is its wait. */
static void complete_persist(struct test *test)
{
	test->runtime_ns = test->wait_ns;
	test->ramp_time_ns = 0;
}

/* No volume, and an amount of its own. */
static void complete_hops(struct test *test)
{
	test->target[0] = '\0';
	test->ramp_time_ns = 0;
	if (test->requests)
		test->runtime_ns = 0;
}

/* It ends when all is deleted. */
static void complete_table(struct test *test)
{
	test->runtime_ns = test->ramp_time_ns = 0;
	test->target[0] = '\0';
}

void plan_complete(struct test *test)
{
	if (plan_is_probe(test))
		complete_probe(test);
	else if (plan_is_persist(test))
		complete_persist(test);
	else if (plan_is_hops(test))
		complete_hops(test);
	else if (plan_is_table(test))
		complete_table(test);
}

bool plan_reads(const struct test *test)
{
	return plan_rw_reads(test->rw);
}

bool plan_writes(const struct test *test)
{
	return plan_rw_writes(test->rw);
}

bool plan_random(const struct test *test)
{
	return test->rw == RW_RANDREAD || test->rw == RW_RANDWRITE || test->rw == RW_RANDRW;
}

/* What does not keep a depth by itself cannot be limited by it. */
static bool keeps_depth(const struct test *test)
{
	bool syncs = plan_writes(test) && (test->fsync || test->fdatasync || test->end_fsync);

	return !plan_by_amount(test) && !plan_paces(test) && !syncs;
}

/* Whether the plan wants probes of this test, and what they ask would be the volume. */
static bool may_be_probed(const struct test *test)
{
	bool cached = test->direct == PLAN_DIRECT_FALSE;
	bool is_short = plan_by_amount(test) || test->runtime_ns < PLAN_PROBE_RUNTIME_NS;

	return !strcmp(test->kind, "block") && test->limits_probe != PROBE_FALSE &&
	       (test->limits_probe == PROBE_TRUE || !is_short) && !cached &&
	       test->verify == VERIFY_NONE && strcmp(test->ioengine, "null") != 0;
}

uint64_t plan_limits_probe_ns(const struct test *test)
{
	if (!may_be_probed(test) || !keeps_depth(test) || 2 * test->iodepth > PLAN_DEPTH_MAX)
		return 0;
	return min_u64(max_u64(test->runtime_ns / PLAN_PROBE_SHARE, PLAN_PROBE_LEAST_NS),
	               PLAN_PROBE_MOST_NS);
}

uint64_t plan_cache_probe_ns(const struct test *test)
{
	uint64_t runtime_ns = plan_by_amount(test) ? 0 : test->runtime_ns;

	if (!may_be_probed(test) || !plan_reads(test) || !plan_random(test))
		return 0;
	return min_u64(max_u64(runtime_ns / PLAN_CACHE_PROBE_SHARE, PLAN_CACHE_PROBE_LEAST_NS),
	               PLAN_CACHE_PROBE_MOST_NS);
}

const struct plan_builtin *plan_builtin_find(const char *name)
{
	for (const struct plan_builtin *builtin = plan_builtins; builtin->name; builtin++)
		if (!strcmp(builtin->name, name))
			return builtin;
	return NULL;
}

static void destroy_chains(struct plan_chains *chains)
{
	while (chains) {
		struct plan_chains *next = chains->next;

		for (unsigned i = 0; i < chains->n; i++)
			free(chains->chain[i].hops);
		free(chains);
		chains = next;
	}
}

void plan_destroy(struct plan *plan)
{
	if (!plan)
		return;
	destroy_chains(plan->chains);
	free(plan->tests);
	free(plan->sinks);
	*plan = (struct plan){0};
}
