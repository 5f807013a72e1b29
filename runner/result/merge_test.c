/*
 * Adding is integers only; whatever is divided, sorted or put into words waits for the end, when
 * the pods stand in the order of their names.
 */
#include "result/merge_test.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "result/merge.h"
#include "result/verdict.h"

/* ---- adding ---- */

static const size_t number_at[NUMBERS] = {
        [NUMBER_SIZE] = offsetof(struct test_result, size),
        [NUMBER_SIZE_ASKED] = offsetof(struct test_result, size_asked),
        [NUMBER_SIZE_CLASS] = offsetof(struct test_result, size_class),
        [NUMBER_OFFSET] = offsetof(struct test_result, offset),
        [NUMBER_OFFSET_INCREMENT] = offsetof(struct test_result, offset_increment),
        [NUMBER_RANDSEED] = offsetof(struct test_result, randseed),
        [NUMBER_DATA_AGE] = offsetof(struct test_result, data_age_ns),
        [NUMBER_VERIFY_BLOCK] = offsetof(struct test_result, verify_block_bytes),
};

static void add_number(struct range *range, uint64_t value)
{
	range->min = range->known ? min_u64(range->min, value) : value;
	range->max = max_u64(range->max, value);
	range->known = true;
}

static void add_text(struct words *words, const char *text)
{
	if (*text)
		words_add(words, text);
}

/* How it was done, which may differ between pods. */
static void add_conditions(struct test_sum *sum, const struct test_result *tr)
{
	for (unsigned i = 0; i < tr->n_concessions; i++)
		words_add(&sum->text[TEXT_CONCESSION], tr->concessions[i]);
	sum->first_write |= tr->first_write;
	sum->fits_memory |= tr->fits_memory;
	if (!tr->ioengine[0])
		return;
	for (unsigned i = 0; i < NUMBERS; i++)
		add_number(&sum->number[i], *(const uint64_t *)((const char *)tr + number_at[i]));
	words_add(&sum->text[TEXT_ENGINE], tr->ioengine);
	add_text(&sum->text[TEXT_ENGINE_REASON], tr->ioengine_reason);
	words_add(&sum->text[TEXT_DIRECT], tr->direct ? "yes" : "no");
	add_text(&sum->text[TEXT_DIRECT_REASON], tr->direct_reason);
	words_add(&sum->text[TEXT_FILENAME], tr->filename);
}

static int keep_share(struct sum *sum, const struct test_result *tr, const struct pod *pod)
{
	struct share *share;

	if (sum->n == sum->room) {
		size_t room = sum->room ? 2 * sum->room : 16;
		struct share *shares = realloc(sum->shares, room * sizeof(*shares));

		if (!shares)
			return -1;
		sum->shares = shares;
		sum->room = room;
	}
	share = &sum->shares[sum->n++];
	*share = (struct share){
	        .pod = pod, .started_ns = tr->started_ns, .runtime_ns = tr->runtime_ns};
	for (unsigned op = 0; op < STATS_OPS; op++) {
		share->ios[op] = tr->stats->op[op].latency.count;
		share->bytes[op] = tr->stats->op[op].bytes;
	}
	return 0;
}

static int add_counts(struct sum *sum, const struct test_result *tr, const struct pod *pod)
{
	if (!sum->stats)
		sum->stats = stats_new();
	if (!sum->stats || keep_share(sum, tr, pod))
		return -1;
	stats_merge(sum->stats, tr->stats);
	for (unsigned op = 0; op < STATS_OPS; op++)
		if (timeline_add(&sum->timeline[op], &tr->stats->op[op].series, tr->started_ns,
		                 tr->runtime_ns))
			return -1;
	sum->layout_bytes += tr->layout_bytes;
	sum->layout_ns = max_u64(sum->layout_ns, tr->layout_ns);
	sum->verify_checked += tr->verify_checked;
	sum->verify_mismatches += tr->verify_mismatches;
	sum->verify_crossed += tr->verify_crossed;
	return 0;
}

/* Before the window began there is nothing to add. */
static int add_outcome(struct test_sum *sum, const struct test_result *tr, const struct pod *pod)
{
	char text[POD_NAME_MAX + RESULT_STATUS_TEXT_MAX + 2];

	sum->exit_class = tr->exit_class > sum->exit_class ? tr->exit_class : sum->exit_class;
	if (tr->status == STATUS_FAILED) {
		sum->n_failed++;
		snprintf(text, sizeof(text), "%s: %s", pod->name, tr->error);
		words_add(&sum->text[TEXT_FAILED], text);
		return 0;
	}
	if (tr->status == STATUS_INTERRUPTED)
		words_add(&sum->text[TEXT_INTERRUPTED], pod->name);
	if (!tr->stats || !tr->runtime_ns)
		return 0;
	sum->first_start_ns = min_u64(sum->first_start_ns, tr->started_ns);
	return add_counts(tr->status == STATUS_OK ? &sum->ok : &sum->interrupted, tr, pod);
}

/* A fail is worse than what was not judged; of two of a kind the one further from the threshold. */
static bool is_worse(const struct expectation *a, const struct expectation *b)
{
	static const int badness[] = {
	        [EXPECT_PASS] = 0, [EXPECT_NOT_JUDGED] = 1, [EXPECT_FAIL] = 2};
	struct expect expect;
	struct err err;

	if (a->result != b->result || isnan(a->value) || isnan(b->value))
		return badness[a->result] > badness[b->result];
	if (!expect_parse(&expect, a->expr, &err) && (expect.op == OP_GE || expect.op == OP_GT))
		return a->value < b->value;
	return a->value > b->value;
}

static void add_expect(struct test_sum *sum, const struct test_result *tr)
{
	for (unsigned i = 0; i < tr->n_expect; i++)
		if (!sum->n_pods || is_worse(&tr->expect[i], &sum->expect[i]))
			sum->expect[i] = tr->expect[i];
}

/* What all saw, and the longest that one of them took. */
static void add_persist(struct test_sum *sum, const struct test_result *tr)
{
	struct persist_result *all = &sum->persist;
	const struct persist_result *one = &tr->persist;

	if (!sum->n_pods) {
		*all = *one;
		return;
	}
	all->took_ns = max_u64(all->took_ns, one->took_ns);
	all->waited_ns = max_u64(all->waited_ns, one->waited_ns);
	all->found = all->found && one->found;
	all->bytes = min_u64(all->bytes, one->bytes);
	all->age_ns = min_u64(all->age_ns, one->age_ns);
	if (strcmp(all->host, one->host) != 0)
		all->host[0] = '\0';
	if (strcmp(all->run_id, one->run_id) != 0)
		all->run_id[0] = '\0';
}

/* The plan's words are taken from the pod that says more. */
static void take_plan(struct test_sum *sum, const struct test_result *tr, const struct pod *pod)
{
	if (sum->n_pods && (sum->opened || !tr->ioengine[0]))
		return;
	sum->plan = *tr;
	sum->plan.stats = NULL;
	sum->opened = tr->ioengine[0];
	memcpy(sum->first, pod->name, sizeof(sum->first));
}

int merge_test_add(struct test_sum *sum, const struct test_result *tr, const struct pod *pod)
{
	take_plan(sum, tr, pod);
	if (!sum->n_pods)
		sum->first_start_ns = UINT64_MAX;
	if (pod->n_tests > sum->place)
		sum->place = pod->n_tests;
	add_conditions(sum, tr);
	add_expect(sum, tr);
	add_persist(sum, tr);
	for (unsigned i = 0; i < tr->n_verdicts; i++)
		merge_codes_add(&sum->codes, &tr->verdicts[i], pod->name);
	sum->n_pods++;
	return add_outcome(sum, tr, pod);
}

/* ---- the end ---- */

static int by_name(const void *a, const void *b)
{
	const struct share *x = a, *y = b;
	int order = strcmp(x->pod->name, y->pod->name);

	return order ? order : strcmp(x->pod->key, y->pod->key);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The time that the windows have in common, and how far they lie apart. */
static int find_window(const struct sum *sum, struct test_result *tr, struct err *err)
{
	const struct share *last = &sum->shares[0], *first_end = last;
	uint64_t first_ns = UINT64_MAX, longest_ns = 0, end_ns;

	for (size_t i = 0; i < sum->n; i++) {
		const struct share *s = &sum->shares[i];

		first_ns = min_u64(first_ns, s->started_ns);
		if (s->started_ns > last->started_ns)
			last = s;
		if (s->started_ns + s->runtime_ns < first_end->started_ns + first_end->runtime_ns)
			first_end = s;
		longest_ns = max_u64(longest_ns, s->runtime_ns);
	}
	end_ns = first_end->started_ns + first_end->runtime_ns;
	if (end_ns <= last->started_ns)
		return err_set(err, ERR_PLAN,
		               "'%s' was over in '%s' before it began in '%s': pods that did not "
		               "run together have no common rate (or their clocks differ)",
		               tr->name, first_end->pod->name, last->pod->name);
	tr->started_ns = last->started_ns;
	tr->runtime_ns = end_ns - last->started_ns;
	tr->pods.apart_ns = last->started_ns - first_ns;
	tr->pods.longest_ns = longest_ns;
	return 0;
}

static double rate(uint64_t n, uint64_t window_ns)
{
	return (double)n / ((double)window_ns / NSEC_PER_SEC);
}

/* Doubles are added in the order of names, so that the sum does not depend on any other. */
static int sum_rates(const struct sum *sum, struct pods *pods)
{
	CLEANUP(mem) double *iops = calloc(sum->n, sizeof(*iops));

	if (!iops)
		return -1;
	for (size_t i = 0; i < sum->n; i++) {
		const struct share *s = &sum->shares[i];

		for (unsigned op = 0; op < STATS_OPS; op++) {
			pods->iops[op] += rate(s->ios[op], s->runtime_ns);
			pods->bw[op] += rate(s->bytes[op], s->runtime_ns);
		}
		iops[i] = rate(s->ios[STATS_READ] + s->ios[STATS_WRITE], s->runtime_ns);
		if (!i || iops[i] < pods->iops_min) {
			pods->iops_min = iops[i];
			snprintf(pods->slowest, sizeof(pods->slowest), "%s", s->pod->name);
		}
	}
	qsort(iops, sum->n, sizeof(*iops), by_value);
	pods->iops_median = iops[(sum->n - 1) / 2];
	pods->iops_max = iops[sum->n - 1];
	return 0;
}

static void concede_overlap(struct test_result *tr)
{
	char common[UNITS_TEXT_MAX], longest[UNITS_TEXT_MAX];

	if ((double)tr->runtime_ns < MERGE_OVERLAP * (double)tr->pods.longest_ns)
		test_result_concede(
		        tr,
		        "the pods ran together for %s of windows of up to %s: their rates are each "
		        "pod's own over its whole window, and were not got all at once",
		        units_format_time(tr->runtime_ns, common),
		        units_format_time(tr->pods.longest_ns, longest));
}

static int finish_sum(struct sum *sum, struct test_result *tr, struct err *err)
{
	if (!sum->n)
		return 0;
	qsort(sum->shares, sum->n, sizeof(*sum->shares), by_name);
	if (find_window(sum, tr, err))
		return -1;
	if (sum_rates(sum, &tr->pods))
		return err_set(err, ERR_PLAN, "out of memory");
	tr->pods.n = sum->n;
	tr->stats = sum->stats;
	sum->stats = NULL;
	for (unsigned op = 0; op < STATS_OPS; op++) {
		struct series *series = &tr->stats->op[op].series;

		memset(series, 0, sizeof(*series));
		series->interval_ns = NSEC_PER_SEC;
		timeline_cut(&sum->timeline[op], tr->started_ns, tr->runtime_ns, series);
	}
	tr->layout_bytes = sum->layout_bytes;
	tr->layout_ns = sum->layout_ns;
	tr->verify_checked = sum->verify_checked;
	tr->verify_mismatches = sum->verify_mismatches;
	tr->verify_crossed = sum->verify_crossed;
	concede_overlap(tr);
	return 0;
}

/* What is the same in all pods; else 0, where that means that it is not known. */
static uint64_t same_number(const struct range *range)
{
	return range->min == range->max ? range->min : 0;
}

static void take_numbers(const struct test_sum *sum, struct test_result *tr)
{
	const struct range *size = &sum->number[NUMBER_SIZE];
	char min[UNITS_TEXT_MAX], max[UNITS_TEXT_MAX];

	tr->size = size->min;
	tr->offset = sum->number[NUMBER_OFFSET].min;
	tr->offset_increment = sum->number[NUMBER_OFFSET_INCREMENT].min;
	tr->data_age_ns = sum->number[NUMBER_DATA_AGE].min;
	tr->size_asked = same_number(&sum->number[NUMBER_SIZE_ASKED]);
	tr->size_class = same_number(&sum->number[NUMBER_SIZE_CLASS]);
	tr->randseed = same_number(&sum->number[NUMBER_RANDSEED]);
	tr->verify_block_bytes = same_number(&sum->number[NUMBER_VERIFY_BLOCK]);
	if (size->min != size->max)
		test_result_concede(tr, "size differs between the pods: from %s to %s",
		                    units_format_size(size->min, min),
		                    units_format_size(size->max, max));
}

static const struct {
	const char *name;
	enum merge_text text;
} named[] = {{"engine", TEXT_ENGINE}, {"O_DIRECT", TEXT_DIRECT}, {"filename", TEXT_FILENAME}};

static void take_texts(const struct test_sum *sum, struct test_result *tr)
{
	const struct words *direct = &sum->text[TEXT_DIRECT];
	char text[RESULT_TEXT_MAX];

	words_join(&sum->text[TEXT_ENGINE], false, tr->ioengine, sizeof(tr->ioengine));
	words_join(&sum->text[TEXT_ENGINE_REASON], false, tr->ioengine_reason,
	           sizeof(tr->ioengine_reason));
	words_join(&sum->text[TEXT_DIRECT_REASON], false, tr->direct_reason,
	           sizeof(tr->direct_reason));
	tr->direct = direct->n == 1 && !strcmp(direct->word[0].text, "yes");
	if (sum->text[TEXT_FILENAME].n > 1)
		tr->filename[0] = '\0';
	for (unsigned i = 0; i < ARRAY_SIZE(named); i++) {
		if (sum->text[named[i].text].n < 2)
			continue;
		words_join(&sum->text[named[i].text], true, text, sizeof(text));
		test_result_concede(tr, "%s differs between the pods: %.200s", named[i].name, text);
	}
}

/* Who is not in the figures, and why. */
static void concede_others(const struct test_sum *sum, uint64_t of, struct test_result *tr)
{
	char text[RESULT_TEXT_MAX];

	if (sum->n_failed) {
		words_join(&sum->text[TEXT_FAILED], false, text, sizeof(text));
		test_result_concede(tr, "failed in %llu of %llu pods: %.200s",
		                    (unsigned long long)sum->n_failed, (unsigned long long)of,
		                    text);
	}
	if (sum->text[TEXT_INTERRUPTED].n) {
		words_join(&sum->text[TEXT_INTERRUPTED], false, text, sizeof(text));
		test_result_concede(tr, "interrupted, %s in the figures: %.200s",
		                    sum->ok.n ? "and not" : "and only that is", text);
	}
	if (sum->n_pods < of)
		test_result_concede(tr, "%llu of %llu pods gave no result of this test",
		                    (unsigned long long)(of - sum->n_pods), (unsigned long long)of);
}

static void take_concessions(const struct test_sum *sum, uint64_t of, struct test_result *tr)
{
	const struct words *words = &sum->text[TEXT_CONCESSION];

	for (unsigned i = 0; i < words->n; i++)
		if (words->word[i].n == of)
			test_result_concede(tr, "%s", words->word[i].text);
		else
			test_result_concede(tr, "%.200s (%llu of %llu pods)", words->word[i].text,
			                    (unsigned long long)words->word[i].n,
			                    (unsigned long long)of);
}

/* Of kind persist all pods count: there is no sum of those that came to their end. */
static int status_of_persist(const struct test_sum *sum)
{
	if (sum->n_failed)
		return STATUS_FAILED;
	return sum->text[TEXT_INTERRUPTED].n ? STATUS_INTERRUPTED : STATUS_OK;
}

static int status_of(const struct test_sum *sum)
{
	if (result_is_persist(&sum->plan))
		return status_of_persist(sum);
	if (sum->n_pods == sum->n_failed)
		return STATUS_FAILED;
	return sum->ok.n ? STATUS_OK : STATUS_INTERRUPTED;
}

/* Of the first pod's result only what the plan said is left. */
static void keep_plan(const struct test_sum *sum, struct test_result *tr)
{
	*tr = sum->plan;
	tr->status = status_of(sum);
	tr->exit_class = sum->exit_class;
	tr->error[0] = '\0';
	tr->first_write = sum->first_write;
	tr->fits_memory = sum->fits_memory;
	tr->runtime_ns = tr->started_ns = tr->layout_bytes = tr->layout_ns = 0;
	tr->verify_checked = tr->verify_mismatches = tr->verify_crossed = 0;
	tr->ledger[0] = '\0';
	tr->n_concessions = tr->n_verdicts = 0;
	tr->usage = (struct usage){0};
	tr->longest_gap = (struct gap){0};
	tr->limits_probe = (struct limits_probe){0};
	tr->cache_probe = (struct cache_probe){0};
	tr->pods = (struct pods){.of = 0};
	memcpy(tr->expect, sum->expect, sizeof(tr->expect));
	tr->persist = sum->persist;
}

int merge_test_finish(struct test_sum *sum, uint64_t of, const struct conditions *conditions,
                      struct test_result *tr, struct err *err)
{
	keep_plan(sum, tr);
	if (tr->status == STATUS_FAILED)
		words_join(&sum->text[TEXT_FAILED], false, tr->error, sizeof(tr->error));
	else
		concede_others(sum, of, tr);
	if (finish_sum(sum->ok.n ? &sum->ok : &sum->interrupted, tr, err))
		return -1;
	tr->pods.of = of;
	take_numbers(sum, tr);
	take_texts(sum, tr);
	take_concessions(sum, of, tr);
	verdict_judge_sum(tr, conditions);
	merge_verdicts(&sum->codes, of, conditions, tr->verdicts, &tr->n_verdicts);
	return 0;
}

static void sum_destroy(struct sum *sum)
{
	stats_free(sum->stats);
	for (unsigned op = 0; op < STATS_OPS; op++)
		timeline_destroy(&sum->timeline[op]);
	free(sum->shares);
}

void merge_test_destroy(struct test_sum *sum)
{
	sum_destroy(&sum->ok);
	sum_destroy(&sum->interrupted);
}
