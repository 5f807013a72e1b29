/*
 * A result is open data; here is what more than one of its readers needs.
 */
#include "result/result.h"

#include <stdarg.h>
#include <string.h>

static void describe_offsets(struct test_result *tr, const struct test *test)
{
	const struct plan_distribution *d = &test->random_distribution;

	if (!plan_random(test))
		return;
	if (d->shape == DISTRIBUTION_ZIPF)
		snprintf(tr->random_distribution, sizeof(tr->random_distribution), "zipf:%.15g",
		         d->theta);
	else
		snprintf(tr->random_distribution, sizeof(tr->random_distribution), "uniform");
	tr->randommap = test->randommap;
}

/* Syncs come after writes; a test that only reads has none, whatever the plan's top says. */
static void describe_syncs(struct test_result *tr, const struct test *test)
{
	tr->sync = test->sync;
	if (!plan_writes(test))
		return;
	tr->fsync = test->fsync;
	tr->fdatasync = test->fdatasync;
	tr->end_fsync = test->end_fsync;
}

bool result_is_persist(const struct test_result *tr)
{
	return !strcmp(tr->kind, PLAN_KIND_PERSIST);
}

bool result_is_hops(const struct test_result *tr)
{
	return !strcmp(tr->kind, PLAN_KIND_HOPS);
}

bool result_is_table(const struct test_result *tr)
{
	return !strcmp(tr->kind, PLAN_KIND_TABLE);
}

bool result_has_load(const struct test_result *tr)
{
	return !result_is_persist(tr) && !result_is_hops(tr) && !result_is_table(tr);
}

static void describe_table(struct table_result *result, const struct plan_table *table)
{
	*result = (struct table_result){
	        .partitions = table->partitions,
	        .entities = table->entities,
	        .entity_bytes = table->entity_bytes,
	        .cutoff = table->cutoff,
	        .concurrency = table->concurrency,
	        .batch = table->strategy == STRATEGY_BATCH ? table->batch : 1,
	        .select = table->select,
	        .strategy = table->strategy,
	};
	snprintf(result->table, sizeof(result->table), "%s", table->name);
}

static void describe_persist(struct persist_result *persist, const struct test *test)
{
	persist->step = test->step;
	snprintf(persist->key, sizeof(persist->key), "%s", test->key);
}

void test_result_init(struct test_result *tr, const struct test *test)
{
	memset(tr, 0, sizeof(*tr));
	snprintf(tr->name, sizeof(tr->name), "%s", test->name);
	tr->repeat = test->nth;
	snprintf(tr->kind, sizeof(tr->kind), "%s", test->kind);
	snprintf(tr->target, sizeof(tr->target), "%s", test->target);
	tr->status = STATUS_OK;
	tr->rw = test->rw;
	tr->bs = test->bs;
	tr->iodepth = test->iodepth;
	tr->numjobs = test->numjobs;
	tr->rwmixread = plan_rw_mixes(test->rw) ? test->rwmixread : 0;
	tr->rate_iops = test->rate_iops * test->numjobs;
	tr->rate = test->rate * test->numjobs;
	tr->thinktime_ns = test->thinktime_ns;
	describe_offsets(tr, test);
	tr->buffer = test->buffer;
	snprintf(tr->filename, sizeof(tr->filename), "%s", test->filename);
	tr->file_per_job = test->file_per_job;
	describe_syncs(tr, test);
	tr->layout = test->filename[0] ? LAYOUT_NONE : test->layout;
	tr->verify = test->verify;
	snprintf(tr->ledger, sizeof(tr->ledger), "%s", test->ledger);
	tr->loops = test->loops;
	tr->io_size = test->io_size;
	tr->offset = test->offset;
	tr->offset_increment = test->offset_increment;
	search_init(&tr->search, test);
	describe_persist(&tr->persist, test);
	describe_table(&tr->table, &test->table);
	if (!test->loops && !test->io_size) {
		tr->ramp_time_ns = test->ramp_time_ns;
		tr->runtime_asked_ns = test->runtime_ns;
	}
}

void test_result_concede(struct test_result *tr, const char *fmt, ...)
{
	char *text;
	va_list args;

	if (tr->n_concessions == RESULT_CONCESSIONS_MAX) {
		text = tr->concessions[RESULT_CONCESSIONS_MAX - 1];
		snprintf(text, RESULT_TEXT_MAX, "more concessions than are kept (%d)",
		         RESULT_CONCESSIONS_MAX - 1);
		return;
	}
	text = tr->concessions[tr->n_concessions++];
	va_start(args, fmt);
	vsnprintf(text, RESULT_TEXT_MAX, fmt, args);
	va_end(args);
}

void result_note(struct result *result, const char *text)
{
	if (result->n_notes == RESULT_NOTES_MAX)
		snprintf(result->notes[RESULT_NOTES_MAX - 1], RESULT_TEXT_MAX,
		         "more notes than are kept (%d)", RESULT_NOTES_MAX - 1);
	else
		snprintf(result->notes[result->n_notes++], RESULT_TEXT_MAX, "%s", text);
}

static bool has_job(const struct test_result *tr, enum stats_op op)
{
	return result_has_load(tr) && ((op == STATS_READ && plan_rw_reads(tr->rw)) ||
	                               (op == STATS_WRITE && plan_rw_writes(tr->rw)));
}

bool test_result_measured(const struct test_result *tr, enum stats_op op)
{
	if (!tr->stats || !tr->runtime_ns)
		return false;
	if (tr->stats->op[op].latency.count)
		return true;
	return tr->status == STATUS_OK && has_job(tr, op);
}

static double per_second(const struct test_result *tr, uint64_t n)
{
	return tr->runtime_ns ? (double)n / ((double)tr->runtime_ns / NSEC_PER_SEC) : 0;
}

double test_result_iops(const struct test_result *tr, enum stats_op op)
{
	if (tr->pods.n)
		return tr->pods.iops[op];
	return tr->stats ? per_second(tr, tr->stats->op[op].latency.count) : 0;
}

double test_result_bw(const struct test_result *tr, enum stats_op op)
{
	if (tr->pods.n)
		return tr->pods.bw[op];
	return tr->stats ? per_second(tr, tr->stats->op[op].bytes) : 0;
}

const char *result_error_name(int errnum)
{
	return errnum ? err_name(errnum) : RESULT_OTHER_ERRORS;
}

void test_result_destroy(struct test_result *tr)
{
	if (!tr)
		return;
	stats_free(tr->stats);
	tr->stats = NULL;
	hops_result_destroy(&tr->hops);
}

void result_destroy(struct result *result)
{
	if (!result)
		return;
	for (unsigned i = 0; i < result->n_tests; i++)
		test_result_destroy(&result->tests[i]);
	free(result->tests);
	free(result->targets);
	result->tests = NULL;
	result->targets = NULL;
	result->n_tests = result->n_targets = 0;
}

const struct conditions *result_conditions(const struct result *result,
                                           const struct test_result *tr)
{
	for (unsigned i = 0; i < result->n_targets; i++)
		if (!strcmp(result->targets[i].target, tr->target))
			return &result->targets[i];
	return &result->conditions;
}

/* What one test asks the program to exit with. */
static int test_exit_code(const struct test_result *tr)
{
	if (tr->exit_class)
		return tr->exit_class;
	if (tr->status == STATUS_FAILED)
		return ERR_TEST;
	for (unsigned i = 0; i < tr->n_expect; i++)
		if (tr->expect[i].result != EXPECT_PASS)
			return EXIT_THRESHOLD;
	return 0;
}

int result_exit_code(const struct result *result)
{
	static const int precedence[] = {ERR_REFUSED, ERR_TARGET, ERR_PLAN, ERR_TEST,
	                                 EXIT_THRESHOLD};
	unsigned best = ARRAY_SIZE(precedence);

	for (unsigned i = 0; i < result->n_tests; i++) {
		int code = test_exit_code(&result->tests[i]);

		for (unsigned rank = 0; rank < best; rank++)
			if (precedence[rank] == code)
				best = rank;
	}
	return best < ARRAY_SIZE(precedence) ? precedence[best] : 0;
}
