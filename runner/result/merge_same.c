/*
 * What makes a test this test and no other: what the plan says of it, row after row. A test that
 * failed before its file was opened says no more than that.
 */
#include <stdarg.h>
#include <string.h>

#include "result/merge_test.h"

enum row_type { ROW_TEXT, ROW_UINT, ROW_INT, ROW_BOOL };

#define ROW_AT(called, member, kind) \
	.name = called, .type = kind, .offset = offsetof(struct test_result, member)
#define ROW(member, kind) ROW_AT(#member, member, kind)

static const struct row {
	const char *name;
	enum row_type type;
	size_t offset;
	bool always; /* also of a test that failed */
} rows[] = {
        {ROW(kind, ROW_TEXT), .always = true},
        {ROW(target, ROW_TEXT), .always = true},
        {ROW(rw, ROW_INT), .always = true},
        {ROW(rwmixread, ROW_UINT), .always = true},
        {ROW(bs, ROW_UINT), .always = true},
        {ROW(iodepth, ROW_UINT)},
        {ROW(numjobs, ROW_UINT)},
        {ROW(rate_iops, ROW_UINT)},
        {ROW(rate, ROW_UINT)},
        {ROW(thinktime_ns, ROW_UINT)},
        {ROW(random_distribution, ROW_TEXT)},
        {ROW(randommap, ROW_BOOL)},
        {ROW(buffer, ROW_INT)},
        {ROW(file_per_job, ROW_BOOL)},
        {ROW(sync, ROW_INT)},
        {ROW(fsync, ROW_UINT)},
        {ROW(fdatasync, ROW_UINT)},
        {ROW(end_fsync, ROW_BOOL)},
        {ROW(layout, ROW_INT)},
        {ROW(loops, ROW_UINT)},
        {ROW(io_size, ROW_UINT)},
        {ROW(ramp_time_ns, ROW_UINT)},
        {ROW(runtime_asked_ns, ROW_UINT)},
        {ROW(verify, ROW_INT)},
        {ROW_AT("step", persist.step, ROW_INT), .always = true},
        {ROW_AT("key", persist.key, ROW_TEXT), .always = true},
};

static void value_text(const struct row *row, const struct test_result *tr, char *out, size_t size)
{
	const char *at = (const char *)tr + row->offset;

	if (row->type == ROW_TEXT)
		snprintf(out, size, "'%s'", at);
	else if (!strcmp(row->name, "rw"))
		snprintf(out, size, "%s", plan_rw_name(tr->rw));
	else if (!strcmp(row->name, "step"))
		snprintf(out, size, "%s", plan_step_names[tr->persist.step]);
	else if (row->type == ROW_UINT)
		snprintf(out, size, "%llu", (unsigned long long)*(const uint64_t *)at);
	else
		snprintf(out, size, "%d",
		         row->type == ROW_INT ? *(const int *)at : *(const bool *)at);
}

static int differ(const struct test_sum *sum, const struct test_result *tr, const char *what,
                  const char *here, const char *there, struct err *err)
{
	return err_set(err, ERR_PLAN,
	               "its '%s' is not the test that '%s' ran: %s is %.200s, there %.200s",
	               tr->name, sum->first, what, here, there);
}

static int same_expect(const struct test_sum *sum, const struct test_result *tr, struct err *err)
{
	const struct test_result *plan = &sum->plan;

	for (unsigned i = 0; i < PLAN_EXPECT_MAX; i++) {
		const char *here = i < tr->n_expect ? tr->expect[i].expr : "none";
		const char *there = i < plan->n_expect ? plan->expect[i].expr : "none";

		if (strcmp(here, there) != 0)
			return differ(sum, tr, "a threshold", here, there, err);
	}
	return 0;
}

int merge_same(const struct test_sum *sum, const struct test_result *tr, struct err *err)
{
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		char here[PLAN_PATH_MAX + 2], there[PLAN_PATH_MAX + 2];

		if (!rows[i].always && !(tr->ioengine[0] && sum->opened))
			continue;
		value_text(&rows[i], tr, here, sizeof(here));
		value_text(&rows[i], &sum->plan, there, sizeof(there));
		if (strcmp(here, there) != 0)
			return differ(sum, tr, rows[i].name, here, there, err);
	}
	return same_expect(sum, tr, err);
}

static bool add_overflows(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum);
}

/* What a window's series holds was recorded into its histogram too. */
static bool series_fits(const struct op_stats *op)
{
	uint64_t ios = 0, bytes = 0, lat_ns = 0;

	for (unsigned i = 0; i < op->series.used; i++) {
		const struct series_slot *slot = &op->series.slot[i];

		if (__builtin_add_overflow(ios, slot->ios, &ios) ||
		    __builtin_add_overflow(bytes, slot->bytes, &bytes) ||
		    __builtin_add_overflow(lat_ns, slot->lat_sum_ns, &lat_ns))
			return false;
	}
	return ios <= op->latency.count && bytes <= op->bytes && lat_ns <= op->latency.sum;
}

static bool op_overflows(const struct op_stats *a, const struct op_stats *b)
{
	return add_overflows(a->latency.count, b->latency.count) ||
	       add_overflows(a->latency.sum, b->latency.sum) || add_overflows(a->bytes, b->bytes);
}

/* Counts that are added, and no part of an operation. */
static const size_t counters[] = {
        offsetof(struct stats, short_transfers), offsetof(struct stats, retries),
        offsetof(struct stats, drained),         offsetof(struct stats, unfinished),
        offsetof(struct stats, unsent),          offsetof(struct stats, late_count),
        offsetof(struct stats, late_sum_ns),
};

static bool counters_overflow(const struct stats *a, const struct stats *b)
{
	for (unsigned i = 0; i < ARRAY_SIZE(counters); i++)
		if (add_overflows(*(const uint64_t *)((const char *)a + counters[i]),
		                  *(const uint64_t *)((const char *)b + counters[i])))
			return true;
	return add_overflows(stats_errors(a), stats_errors(b));
}

/* The last of a series' intervals ends before 2^64. */
#define MOMENT_MAX (UINT64_MAX / 4)

int merge_fits(const struct test_sum *sum, const struct test_result *tr, struct err *err)
{
	if (result_is_hops(tr))
		return err_set(err, ERR_PLAN, "its '%s' is of kind hops, which has no sum",
		               tr->name);

	const struct sum *into = tr->status == STATUS_OK ? &sum->ok : &sum->interrupted;

	if (result_is_table(tr))
		return err_set(err, ERR_PLAN,
		               "its '%s' is of kind table, of which results are not merged",
		               tr->name);
	if (!tr->stats || !tr->runtime_ns)
		return 0;
	if (!tr->started_ns)
		return err_set(err, ERR_PLAN,
		               "its '%s' does not say when its window began (started_ns)",
		               tr->name);
	if (tr->started_ns > MOMENT_MAX || tr->runtime_ns > MOMENT_MAX)
		return err_set(err, ERR_PLAN, "its '%s' has a window beyond all time", tr->name);
	for (unsigned op = 0; op < STATS_OPS; op++) {
		if (!series_fits(&tr->stats->op[op]))
			return err_set(err, ERR_PLAN,
			               "its '%s' has a series that does not fit its histogram",
			               tr->name);
		if (into->stats && op_overflows(&into->stats->op[op], &tr->stats->op[op]))
			return err_set(err, ERR_PLAN, "its '%s' counts too much", tr->name);
	}
	if (into->stats && counters_overflow(into->stats, tr->stats))
		return err_set(err, ERR_PLAN, "its '%s' counts too much", tr->name);
	return 0;
}
