/*
 * A test of a result document. What was measured of an operation is in figures.c.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "out/figures.h"
#include "out/json_part.h"

static const char *const status_words[] = {"ok", "failed", "interrupted", NULL};
static const char *const expect_words[] = {"pass", "fail", "not-judged", NULL};
static const char *const bound_words[] = {"", "at-most", "at-least", NULL};
static const char *const sync_words[] = {"none", "sync", "dsync", NULL};
static const char *const buffer_words[] = {"random", "zero", NULL};
static const char *const layout_words[] = {"full", "none", NULL};
static const char *const verify_words[] = {"none", "crc32c", NULL};
static const char *const class_words[] = {"", "test", "plan", "target", "refused", NULL};

/* Before a file was opened nothing is known about it. */
static bool was_opened(const void *object)
{
	const struct test_result *tr = object;

	return tr->ioengine[0];
}

/* By class.yaml. */
static bool was_cut(const void *object)
{
	const struct test_result *tr = object;

	return tr->size_class;
}

static bool was_released(const void *object)
{
	return ((const struct test_result *)object)->released_within_ns;
}

static bool has_data_age(const void *object)
{
	return ((const struct test_result *)object)->data_age_ns;
}

static bool fits_memory(const void *object)
{
	return ((const struct test_result *)object)->fits_memory;
}

static bool is_mixed(const void *object)
{
	const struct test_result *tr = object;

	return plan_rw_mixes(tr->rw);
}

static bool is_verified(const void *object)
{
	const struct test_result *tr = object;

	return tr->verify;
}

static bool was_started(const void *object)
{
	const struct test_result *tr = object;

	return tr->stats;
}

static int make_stats(struct test_result *tr, struct err *err)
{
	if (!tr->stats)
		tr->stats = stats_new();
	return tr->stats ? 0 : err_set(err, ERR_PLAN, "out of memory");
}

static void write_errors(struct emit *emit, const struct member *row, const void *object)
{
	const struct test_result *tr = object;

	emit_open(emit, row->name, '{');
	for (unsigned i = 0; tr->stats && i < STATS_ERRORS_MAX && tr->stats->errors[i].n; i++) {
		const struct error_count *count = &tr->stats->errors[i];

		emit_uint(emit, result_error_name(count->errnum), count->n);
	}
	emit_close(emit, '}');
}

static int read_errors(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct test_result *tr = object;
	unsigned kinds = 0;
	const cJSON *entry;

	(void)row;
	if (!cJSON_IsObject(item))
		return err_set(err, ERR_PLAN, "is no object");
	cJSON_ArrayForEach(entry, item)
	{
		int errnum = err_number(entry->string);
		uint64_t n;

		if (++kinds > STATS_ERRORS_MAX)
			return err_set(err, ERR_PLAN, "has more than %d members", STATS_ERRORS_MAX);
		if (!errnum && strcmp(entry->string, RESULT_OTHER_ERRORS))
			return err_set(err, ERR_PLAN, "has a name that is no errno");
		if (make_stats(tr, err) || member_read_uint(entry, &n, err))
			return -1;
		stats_error_add(tr->stats, errnum, n);
	}
	return 0;
}

static const struct member counter_members[] = {
        {"short_transfers", UINT_AT(struct stats, short_transfers)},
        {"retries", UINT_AT(struct stats, retries)},
        {"drained", UINT_AT(struct stats, drained)},
        {"drained_max_ns", UINT_AT(struct stats, drained_max_ns)},
        {"unfinished", UINT_AT(struct stats, unfinished)},
        {"unfinished_age_ns", UINT_AT(struct stats, unfinished_age_ns)},
        {"unsent", UINT_AT(struct stats, unsent)},
        {"unsent_age_ns", UINT_AT(struct stats, unsent_age_ns)},
        {"late", UINT_AT(struct stats, late_count)},
        {"late_sum_ns", UINT_AT(struct stats, late_sum_ns)},
        {"late_max_ns", UINT_AT(struct stats, late_max_ns)},
        {"suspended_max_ns", UINT_AT(struct stats, suspended_max_ns)},
        {0},
};

static void write_counters(struct emit *emit, const struct member *row, const void *object)
{
	const struct test_result *tr = object;

	member_write_object(emit, row->name, counter_members, tr->stats);
}

static int read_counters(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct test_result *tr = object;

	(void)row;
	if (make_stats(tr, err))
		return -1;
	return member_read_object(item, counter_members, tr->stats, err);
}

/* There is one in every window. */
static bool has_gap(const void *object)
{
	const struct test_result *tr = object;

	return tr->longest_gap.at_most_ns;
}

static const struct member gap_members[] = {
        {"at_least_ns", UINT_AT(struct gap, at_least_ns), .required = true},
        {"at_most_ns", UINT_AT(struct gap, at_most_ns), .required = true},
        {"start_ns", UINT_AT(struct gap, start_ns), .required = true},
        {0},
};

static void write_gap(struct emit *emit, const struct member *row, const void *object)
{
	const struct test_result *tr = object;

	member_write_object(emit, row->name, gap_members, &tr->longest_gap);
}

static int read_gap(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct gap *gap = &((struct test_result *)object)->longest_gap;

	(void)row;
	if (member_read_object(item, gap_members, gap, err))
		return -1;
	if (!gap->at_most_ns || gap->at_least_ns > gap->at_most_ns)
		return err_set(err, ERR_PLAN, "its bounds cross");
	return 0;
}

static const struct member pods_members[] = {
        {"n", UINT_AT(struct pods, n), .required = true},
        {"of", UINT_AT(struct pods, of), .required = true},
        {"starts_apart_ns", UINT_AT(struct pods, apart_ns), .required = true},
        {"longest_runtime_ns", UINT_AT(struct pods, longest_ns), .required = true},
        {"read_iops", DOUBLE_AT(struct pods, iops[STATS_READ]), .required = true},
        {"read_bw_bytes", DOUBLE_AT(struct pods, bw[STATS_READ]), .required = true},
        {"write_iops", DOUBLE_AT(struct pods, iops[STATS_WRITE]), .required = true},
        {"write_bw_bytes", DOUBLE_AT(struct pods, bw[STATS_WRITE]), .required = true},
        {"sync_iops", DOUBLE_AT(struct pods, iops[STATS_SYNC]), .required = true},
        {"iops_min", DOUBLE_AT(struct pods, iops_min), .required = true},
        {"iops_median", DOUBLE_AT(struct pods, iops_median), .required = true},
        {"iops_max", DOUBLE_AT(struct pods, iops_max), .required = true},
        {"slowest", TEXT_AT(struct pods, slowest), .required = true},
        {0},
};

static void write_pods(struct emit *emit, const struct member *row, const void *object)
{
	member_write_object(emit, row->name, pods_members,
	                    &((const struct test_result *)object)->pods);
}

static int read_pods(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct pods *pods = &((struct test_result *)object)->pods;

	(void)row;
	if (member_read_object(item, pods_members, pods, err))
		return -1;
	for (unsigned op = 0; op < STATS_OPS; op++)
		if (!(pods->iops[op] >= 0 && pods->bw[op] >= 0))
			return err_set(err, ERR_PLAN, "has a rate that is none");
	if (!(pods->iops_min >= 0 && pods->iops_min <= pods->iops_median &&
	      pods->iops_median <= pods->iops_max))
		return err_set(err, ERR_PLAN, "its spread is none");
	return 0;
}

static enum stats_op op_of(const struct member *row)
{
	unsigned op = 0;

	while (strcmp(stats_op_name[op], row->name))
		op++;
	return (enum stats_op)op;
}

static void write_op(struct emit *emit, const struct member *row, const void *object)
{
	figures_write(doc_of(emit), object, op_of(row));
}

static int read_op(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct test_result *tr = object;

	if (cJSON_IsNull(item))
		return 0;
	if (make_stats(tr, err))
		return -1;
	return figures_read(item, &tr->stats->op[op_of(row)], err);
}

/* What had to be left out of a line to keep it short enough. */
static void write_omitted(struct emit *emit, const struct member *row, const void *object)
{
	const struct doc *doc = doc_of(emit);

	(void)object;
	if (!doc->omit_series && !doc->omit_histogram && !doc->omit_hops)
		return;
	emit_open(emit, row->name, '[');
	if (doc->omit_series)
		emit_text(emit, NULL, "series");
	if (doc->omit_histogram)
		emit_text(emit, NULL, "histogram");
	if (doc->omit_hops)
		emit_text(emit, NULL, "hops");
	emit_close(emit, ']');
}

/* Nothing of a test that did not come to its window, and of older documents. */
static bool has_usage(const void *object)
{
	const struct test_result *tr = object;

	return tr->usage.span_ns;
}

static const struct member usage_members[] = {
        {"from_ns", UINT_AT(struct usage, from_ns), .required = true},
        {"span_ns", UINT_AT(struct usage, span_ns), .required = true},
        {"in_memory", BOOL_AT(struct usage, in_memory), .required = true},
        {"bytes", DOUBLE_AT(struct usage, bytes), .required = true},
        {"cpu_user_ns", DOUBLE_AT(struct usage, cpu_user_ns), .required = true},
        {"cpu_system_ns", DOUBLE_AT(struct usage, cpu_system_ns), .required = true},
        {"thread_cpu_ns", DOUBLE_AT(struct usage, thread_cpu_ns), .required = true},
        {"thread_wait_ns", DOUBLE_AT(struct usage, thread_wait_ns), .required = true},
        {"periods", DOUBLE_AT(struct usage, periods), .required = true},
        {"throttled_periods", DOUBLE_AT(struct usage, throttled_periods), .required = true},
        {"throttled_ns", DOUBLE_AT(struct usage, throttled_ns), .required = true},
        {"limit_met", DOUBLE_AT(struct usage, limit_met), .required = true},
        {"limit_kills", DOUBLE_AT(struct usage, limit_kills), .required = true},
        {"limit_stalled_ns", DOUBLE_AT(struct usage, limit_stalled_ns), .required = true},
        {"read_bytes", DOUBLE_AT(struct usage, read_bytes), .required = true},
        {"write_bytes", DOUBLE_AT(struct usage, write_bytes), .required = true},
        {"device_read_bytes", DOUBLE_AT(struct usage, device_read_bytes), .required = true},
        {"device_write_bytes", DOUBLE_AT(struct usage, device_write_bytes), .required = true},
        {0},
};

static const struct member expect_members[] = {
        {"expr", TEXT_AT(struct expectation, expr), .required = true},
        {"result", CHOICE_AT(struct expectation, result, expect_words), .required = true},
        {"value", DOUBLE_AT(struct expectation, value), .required = true},
        {"bound", CHOICE_AT(struct expectation, bound, bound_words)},
        {0},
};

const struct member json_verdict_members[] = {
        {"code", TEXT_AT(struct verdict, code), .required = true},
        {"figure", DOUBLE_AT(struct verdict, figure), .required = true},
        {"text", TEXT_AT(struct verdict, text), .required = true},
        {0},
};

static bool was_probed(const void *object)
{
	const struct test_result *tr = object;

	return tr->limits_probe.iodepth;
}

static const struct member probe_members[] = {
        {"iodepth", UINT_AT(struct limits_probe, iodepth), .required = true},
        {"ios", UINT_AT(struct limits_probe, ios), .required = true},
        {"runtime_ns", UINT_AT(struct limits_probe, runtime_ns), .required = true},
        {"floor_ns", KNOWN_AT(struct limits_probe, floor_ns)},
        {0},
};

static bool has_start(const void *object)
{
	return ((const struct test_result *)object)->started_ns;
}

static bool is_of_pods(const void *object)
{
	return ((const struct test_result *)object)->pods.n;
}

static bool was_cache_probed(const void *object)
{
	const struct test_result *tr = object;

	return tr->cache_probe.blocks;
}

static const struct member cache_members[] = {
        {"blocks", UINT_AT(struct cache_probe, blocks), .required = true},
        {"first_ns", UINT_AT(struct cache_probe, first_ns), .required = true},
        {"first_low_ns", UINT_AT(struct cache_probe, first_low_ns), .required = true},
        {"again_ns", UINT_AT(struct cache_probe, again_ns), .required = true},
        {"again_high_ns", UINT_AT(struct cache_probe, again_high_ns), .required = true},
        {0},
};

static bool has_search(const void *object)
{
	const struct test_result *tr = object;

	return tr->search.target_ns;
}

static void write_maximum(struct emit *emit, const struct member *row, const void *object)
{
	double most = search_maximum(object);

	emit_double(emit, row->name, most > 0 ? most : NAN);
}

/* The rate that was found, which is an answer only where there is one. */
static void write_found(struct emit *emit, const struct member *row, const void *object)
{
	uint64_t found = search_found(object);

	if (found)
		emit_uint(emit, row->name, found);
	else
		emit_null(emit, row->name);
}

static void write_step_iops(struct emit *emit, const struct member *row, const void *object)
{
	emit_double(emit, row->name, search_step_iops(object));
}

static const struct member step_members[] = {
        {"rate_iops", KNOWN_AT(struct search_step, rate_iops), .required = true},
        {"confirms", BOOL_AT(struct search_step, confirms), .required = true},
        {"runtime_ns", UINT_AT(struct search_step, runtime_ns), .required = true},
        {"ios", UINT_AT(struct search_step, ios), .required = true},
        {"iops", .write = write_step_iops},
        {"latency_ns", KNOWN_AT(struct search_step, latency_ns), .required = true},
        {"result", CHOICE_AT(struct search_step, judgement, search_judgements), .required = true},
        {0},
};

static const struct member search_members[] = {
        {"latency_target_ns", KNOWN_AT(struct search, target_ns), .required = true},
        {"latency_percentile", DOUBLE_AT(struct search, percentile), .required = true},
        {"outcome", CHOICE_AT(struct search, outcome, search_outcomes), .required = true},
        {"rate_iops", .write = write_found},
        {"maximum_iops", .write = write_maximum},
        {"requests_needed", UINT_AT(struct search, needed), .required = true},
        {"runtime_ns", UINT_AT(struct search, runtime_ns), .required = true},
        {"step_ns", UINT_AT(struct search, step_ns), .required = true},
        {"confirm_ns", UINT_AT(struct search, confirm_ns), .required = true},
        {"steps", LIST_AT(struct search, steps, n_steps), .members = step_members},
        {0},
};

static bool is_repeat(const void *object)
{
	return ((const struct test_result *)object)->repeat.count;
}

static const struct member repeat_members[] = {
        {"of", TEXT_AT(struct plan_repeat, of), .required = true},
        {"index", UINT_AT(struct plan_repeat, index), .required = true},
        {"count", UINT_AT(struct plan_repeat, count), .required = true},
        {0},
};

static bool is_persist(const void *object)
{
	return result_is_persist(object);
}

static bool is_hops(const void *object)
{
	return result_is_hops(object);
}

static bool has_load(const void *object)
{
	return result_has_load(object);
}

static bool is_table(const void *object)
{
	return result_is_table(object);
}

/* It has no load, and a window. */
static bool is_of_service(const void *object)
{
	return is_hops(object) || is_table(object);
}

static bool was_found(const void *object)
{
	return ((const struct persist_result *)object)->found;
}

static const struct member persist_members[] = {
        {"step", CHOICE_AT(struct persist_result, step, plan_step_names), .required = true},
        {"key", TEXT_AT(struct persist_result, key), .required = true},
        {"found", BOOL_AT(struct persist_result, found), .required = true},
        {"bytes", UINT_AT(struct persist_result, bytes), .known = was_found},
        {"age_ns", UINT_AT(struct persist_result, age_ns), .known = was_found},
        {"host", TEXT_AT(struct persist_result, host)},
        {"run", TEXT_AT(struct persist_result, run_id)},
        {"took_ns", KNOWN_AT(struct persist_result, took_ns)},
        {"waited_ns", UINT_AT(struct persist_result, waited_ns), .required = true},
        {0},
};

/* What the load was to be, and how it was done. */
static const struct member load_members[] = {
        {"rw", CHOICE_AT(struct test_result, rw, plan_rw_names)},
        {"rwmixread", UINT_AT(struct test_result, rwmixread), .known = is_mixed},
        {"bs", UINT_AT(struct test_result, bs)},
        {"iodepth", UINT_AT(struct test_result, iodepth)},
        {"numjobs", UINT_AT(struct test_result, numjobs)},
        {"ioengine", TEXT_AT(struct test_result, ioengine)},
        {"ioengine_reason", TEXT_AT(struct test_result, ioengine_reason)},
        {"direct", BOOL_AT(struct test_result, direct), .known = was_opened},
        {"direct_reason", TEXT_AT(struct test_result, direct_reason)},
        {"open_sync", CHOICE_AT(struct test_result, sync, sync_words)},
        {"fsync", KNOWN_AT(struct test_result, fsync)},
        {"fdatasync", KNOWN_AT(struct test_result, fdatasync)},
        {"end_fsync", BOOL_AT(struct test_result, end_fsync)},
        {"rate_iops", KNOWN_AT(struct test_result, rate_iops)},
        {"rate", KNOWN_AT(struct test_result, rate)},
        {"thinktime_ns", KNOWN_AT(struct test_result, thinktime_ns)},
        {"random_distribution", TEXT_AT(struct test_result, random_distribution)},
        {"randommap", BOOL_AT(struct test_result, randommap)},
        {"randseed", KNOWN_AT(struct test_result, randseed)},
        {"buffer", CHOICE_AT(struct test_result, buffer, buffer_words)},
        {"filename", TEXT_AT(struct test_result, filename)},
        {"file_per_job", BOOL_AT(struct test_result, file_per_job)},
        {"size_asked", KNOWN_AT(struct test_result, size_asked)},
        {"size", KNOWN_AT(struct test_result, size)},
        {"size_class", KNOWN_AT(struct test_result, size_class), .present = was_cut},
        {"offset", UINT_AT(struct test_result, offset)},
        {"offset_increment", UINT_AT(struct test_result, offset_increment)},
        {"loops", KNOWN_AT(struct test_result, loops)},
        {"io_size", KNOWN_AT(struct test_result, io_size)},
        {"ramp_time_ns", UINT_AT(struct test_result, ramp_time_ns)},
        {"runtime_asked_ns", UINT_AT(struct test_result, runtime_asked_ns)},
        {"runtime_ns", UINT_AT(struct test_result, runtime_ns)},
        {"started_ns", KNOWN_AT(struct test_result, started_ns), .present = has_start},
        {"released_within_ns", KNOWN_AT(struct test_result, released_within_ns),
         .present = was_released},
        {"layout", CHOICE_AT(struct test_result, layout, layout_words)},
        {"first_write", BOOL_AT(struct test_result, first_write)},
        {"layout_bytes", UINT_AT(struct test_result, layout_bytes)},
        {"layout_ns", UINT_AT(struct test_result, layout_ns)},
        {"data_age_ns", KNOWN_AT(struct test_result, data_age_ns), .present = has_data_age},
        {"fits_memory", BOOL_AT(struct test_result, fits_memory), .present = fits_memory},
        {"verify", CHOICE_AT(struct test_result, verify, verify_words), .present = is_verified},
        {"verify_block_bytes", KNOWN_AT(struct test_result, verify_block_bytes),
         .present = is_verified},
        {"verify_checked", UINT_AT(struct test_result, verify_checked), .present = is_verified},
        {"verify_mismatches", UINT_AT(struct test_result, verify_mismatches),
         .present = is_verified},
        {"verify_crossed", UINT_AT(struct test_result, verify_crossed), .present = is_verified},
        {"ledger", TEXT_AT(struct test_result, ledger), .present = is_verified},
        {0},
};

const struct member json_test_members[] = {
        {"name", TEXT_AT(struct test_result, name), .required = true},
        {"repeat", OBJECT_AT(struct test_result, repeat, repeat_members), .present = is_repeat},
        {"kind", TEXT_AT(struct test_result, kind)},
        {"target", TEXT_AT(struct test_result, target)},
        {"status", CHOICE_AT(struct test_result, status, status_words), .required = true},
        {"error", TEXT_AT(struct test_result, error)},
        {"error_class", CHOICE_AT(struct test_result, exit_class, class_words)},
        {"load", PART_OF(load_members), .present = has_load},
        {"persist", OBJECT_AT(struct test_result, persist, persist_members), .present = is_persist},
        {"runtime_ns", UINT_AT(struct test_result, runtime_ns), .present = is_of_service},
        {"hops", .present = is_hops, .write = json_write_hops, .read = json_read_hops},
        {"table", .type = MEMBER_OBJECT, .members = json_table_members, .present = is_table},
        {"concessions", LIST_AT(struct test_result, concessions, n_concessions)},
        {"errors", .write = write_errors, .read = read_errors},
        {"counters", .known = was_started, .write = write_counters, .read = read_counters},
        {"usage", OBJECT_AT(struct test_result, usage, usage_members), .present = has_usage},
        {"longest_gap", .known = has_gap, .write = write_gap, .read = read_gap},
        {"limits_probe", OBJECT_AT(struct test_result, limits_probe, probe_members),
         .present = was_probed},
        {"pods", .present = is_of_pods, .write = write_pods, .read = read_pods},
        {"cache_probe", OBJECT_AT(struct test_result, cache_probe, cache_members),
         .present = was_cache_probed},
        {"search", OBJECT_AT(struct test_result, search, search_members), .present = has_search},
        {"omitted", .write = write_omitted},
        {"read", .write = write_op, .read = read_op},
        {"write", .write = write_op, .read = read_op},
        {"sync", .write = write_op, .read = read_op},
        {"expect", LIST_AT(struct test_result, expect, n_expect), .members = expect_members},
        {"verdicts", LIST_AT(struct test_result, verdicts, n_verdicts),
         .members = json_verdict_members},
        {0},
};
