/*
 *	histogram  counts of the buckets from the first on, in the order of hist.h;
 *	           -N stands for N empty buckets, those at the end are left out
 *	series     one array a quantity, an entry an interval, sums and maxima, so that
 *	           neighbours and pods can be added up
 */
#include "out/figures.h"

#include <cjson/cJSON.h>
#include <math.h>

#define INTERVAL_MAX_S (1u << 20) /* 4096 of these are 136 years */

/* ---- latency ---- */

static bool has_samples(const void *object)
{
	const struct hist *h = object;

	return h->count != 0;
}

static void write_mean(struct emit *emit, const struct member *row, const void *object)
{
	const struct hist *h = object;

	emit_double(emit, row->name, hist_mean(h));
}

static void write_stddev(struct emit *emit, const struct member *row, const void *object)
{
	const struct hist *h = object;

	emit_double(emit, row->name, h->count > 1 ? hist_stddev(h) : NAN);
}

/* The name says which one. */
static void write_percentile(struct emit *emit, const struct member *row, const void *object)
{
	const struct hist *h = object;
	double percent = strtod(row->name + 1, NULL);

	if (hist_percentile_carried(h, percent))
		emit_uint(emit, row->name, hist_percentile(h, percent));
	else
		emit_null(emit, row->name);
}

static void write_histogram(struct emit *emit, const struct member *row, const void *object)
{
	const struct hist *h = object;
	unsigned empty = 0;

	if (doc_of(emit)->omit_histogram) {
		emit_null(emit, row->name);
		return;
	}
	emit_open_flat(emit, row->name);
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i]) {
			empty++;
			continue;
		}
		if (empty)
			emit_int(emit, NULL, -(int64_t)empty);
		empty = 0;
		emit_uint(emit, NULL, h->bucket[i]);
	}
	emit_close(emit, ']');
}

static int read_histogram(const cJSON *item, const struct member *row, void *object,
                          struct err *err)
{
	struct hist *h = object;
	unsigned at = 0;
	const cJSON *entry;

	(void)row;
	if (cJSON_IsNull(item))
		return err_set(err, ERR_PLAN,
		               "was left out of this line, it would have been too long; "
		               "the document that --out wrote has it");
	if (!cJSON_IsArray(item))
		return err_set(err, ERR_PLAN, "is no array");
	cJSON_ArrayForEach(entry, item)
	{
		double empty = cJSON_IsNumber(entry) ? -entry->valuedouble : 0;

		if (empty > 0 && (empty > HIST_BUCKETS || empty != floor(empty)))
			return err_set(err, ERR_PLAN,
			               "has an entry that is no whole number or too large");
		if (at + (empty > 0 ? (unsigned)empty : 1) > HIST_BUCKETS)
			return err_set(err, ERR_PLAN, "has more than %u buckets", HIST_BUCKETS);
		if (empty > 0)
			at += (unsigned)empty;
		else if (member_read_uint(entry, &h->bucket[at++], err))
			return -1;
	}
	return 0;
}

const struct member figures_latency_members[] = {
        {"min", UINT_AT(struct hist, min), .known = has_samples},
        {"mean", .write = write_mean, .known = has_samples},
        {"max", UINT_AT(struct hist, max), .known = has_samples},
        {"stddev", .write = write_stddev},
        {"p50", .write = write_percentile},
        {"p90", .write = write_percentile},
        {"p95", .write = write_percentile},
        {"p99", .write = write_percentile},
        {"p99.9", .write = write_percentile},
        {"p99.99", .write = write_percentile},
        {"sum", UINT_AT(struct hist, sum), .required = true},
        {"overflow", UINT_AT(struct hist, overflow), .required = true},
        {"histogram", .required = true, .write = write_histogram, .read = read_histogram},
        {0},
};

/* What an honest writer cannot have written is a damaged document. */
int figures_check_latency(const struct hist *h, struct err *err)
{
	uint64_t total = h->overflow;
	unsigned first = HIST_BUCKETS, last = 0;

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		first = first == HIST_BUCKETS ? i : first;
		last = i;
		if (__builtin_add_overflow(total, h->bucket[i], &total))
			return err_set(err, ERR_PLAN, "counts too much");
	}
	if (total != h->count)
		return err_set(err, ERR_PLAN, "its buckets and overflow do not add up to ios");
	if (!h->count && (h->min || h->max || h->sum))
		return err_set(err, ERR_PLAN, "has figures of no samples");
	if (!h->count)
		return 0;
	if (h->min > h->max || (h->overflow != 0) != (h->max >> HIST_MAX_BITS != 0) ||
	    (first < HIST_BUCKETS && (h->min >> HIST_MAX_BITS || hist_index(h->min) != first)) ||
	    (!h->overflow && hist_index(h->max) != last))
		return err_set(err, ERR_PLAN, "min and max do not fit the histogram");
	if ((long double)h->sum < (long double)h->min * h->count * 0.999999L ||
	    (long double)h->sum > (long double)h->max * h->count * 1.000001L)
		return err_set(err, ERR_PLAN, "sum does not fit min and max");
	return 0;
}

/* ---- series ---- */

/* One quantity of all slots; row->offset is its place in a slot. */
static void write_slots(struct emit *emit, const struct member *row, const void *object)
{
	const struct series *series = object;
	const struct doc *doc = doc_of(emit);
	uint64_t window = series_slots(series, doc->tr->runtime_ns);
	uint64_t group = 1ull << doc->thin;

	emit_open_flat(emit, row->name);
	for (uint64_t start = 0; start < window; start += group) {
		uint64_t end = min_u64(start + group, series->used);
		struct series_slot sum = {0};

		for (uint64_t i = start; i < end; i++)
			series_slot_add(&sum, &series->slot[i]);
		emit_uint(emit, NULL, *(const uint64_t *)((const char *)&sum + row->offset));
	}
	emit_close(emit, ']');
}

static int read_slots(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct series *series = object;
	unsigned n = 0;
	const cJSON *entry;

	if (!cJSON_IsArray(item))
		return err_set(err, ERR_PLAN, "is no array");
	cJSON_ArrayForEach(entry, item)
	{
		if (n == SERIES_SLOTS)
			return err_set(err, ERR_PLAN, "has more than %u slots", SERIES_SLOTS);
		if (member_read_uint(entry, (uint64_t *)((char *)&series->slot[n] + row->offset),
		                     err))
			return err_wrap(err, "[%u]", n);
		n++;
	}
	if (series->used && series->used != n)
		return err_set(err, ERR_PLAN, "differs in length from the others");
	series->used = n;
	return 0;
}

static void write_interval(struct emit *emit, const struct member *row, const void *object)
{
	const struct series *series = object;

	emit_uint(emit, row->name, series->interval_ns << doc_of(emit)->thin);
}

static int read_interval(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct series *series = object;
	uint64_t seconds;

	(void)row;
	if (member_read_uint(item, &series->interval_ns, err))
		return -1;
	seconds = series->interval_ns / NSEC_PER_SEC;
	if (!seconds || series->interval_ns % NSEC_PER_SEC || (seconds & (seconds - 1)) ||
	    seconds > INTERVAL_MAX_S)
		return err_set(err, ERR_PLAN, "is not 1 s times a power of two up to 2^20");
	return 0;
}

#define SLOTS_AT(member) \
	AT(struct series_slot, member), .required = true, .write = write_slots, .read = read_slots

static const struct member series_members[] = {
        {"interval_ns", .required = true, .write = write_interval, .read = read_interval},
        {"ios", SLOTS_AT(ios)},
        {"bytes", SLOTS_AT(bytes)},
        {"lat_sum_ns", SLOTS_AT(lat_sum_ns)},
        {"lat_max_ns", SLOTS_AT(lat_max_ns)},
        {0},
};

static void write_series(struct emit *emit, const struct member *row, const void *object)
{
	const struct op_stats *op = object;
	struct doc *doc = doc_of(emit);
	unsigned thin = doc->thin;

	if (doc->omit_series) {
		emit_null(emit, row->name);
		return;
	}
	/* a window whose last part saw no completion may be longer than the slots reach */
	while (series_slots(&op->series, doc->tr->runtime_ns) > (uint64_t)SERIES_SLOTS << doc->thin)
		doc->thin++;
	member_write_object(emit, row->name, series_members, &op->series);
	doc->thin = thin;
}

static int read_series(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct op_stats *op = object;

	(void)row;
	return cJSON_IsNull(item) ? 0 : member_read_object(item, series_members, &op->series, err);
}

/* ---- all of an operation ---- */

static void write_iops(struct emit *emit, const struct member *row, const void *object)
{
	const struct doc *doc = doc_of(emit);

	(void)object;
	emit_double(emit, row->name, test_result_iops(doc->tr, doc->op));
}

static void write_bw(struct emit *emit, const struct member *row, const void *object)
{
	const struct doc *doc = doc_of(emit);

	(void)object;
	emit_double(emit, row->name, test_result_bw(doc->tr, doc->op));
}

static const struct member op_members[] = {
        {"ios", UINT_AT(struct op_stats, latency.count), .required = true},
        {"bytes", UINT_AT(struct op_stats, bytes), .required = true},
        {"iops", .write = write_iops},
        {"bw_bytes", .write = write_bw},
        {"lat_ns", OBJECT_AT(struct op_stats, latency, figures_latency_members), .required = true},
        {"series", .write = write_series, .read = read_series},
        {0},
};

void figures_write(struct doc *doc, const struct test_result *tr, enum stats_op op)
{
	doc->tr = tr;
	doc->op = op;
	if (test_result_measured(tr, op))
		member_write_object(&doc->emit, stats_op_name[op], op_members, &tr->stats->op[op]);
	else
		emit_null(&doc->emit, stats_op_name[op]);
}

int figures_read(const cJSON *item, struct op_stats *op, struct err *err)
{
	if (member_read_object(item, op_members, op, err))
		return -1;
	return figures_check_latency(&op->latency, err) ? err_wrap(err, "lat_ns") : 0;
}
