/*
 * A series has a fixed number of slots, so that nothing is allocated while time
 * runs. It starts at a slot a second; when a completion falls behind the last
 * slot, neighbours are added up in place and every slot stands for twice the
 * time. Two series with different intervals are merged at the coarser one.
 */
#include "measure/stats.h"

#include <assert.h>

const char *const stats_op_name[STATS_OPS] = {"read", "write", "sync"};

struct stats *stats_new(void)
{
	struct stats *stats = calloc(1, sizeof(*stats));

	for (unsigned op = 0; stats && op < STATS_OPS; op++)
		stats->op[op].series.interval_ns = NSEC_PER_SEC;
	return stats;
}

void stats_free(struct stats *stats)
{
	free(stats);
}

void series_slot_add(struct series_slot *dst, const struct series_slot *src)
{
	dst->ios += src->ios;
	dst->bytes += src->bytes;
	dst->lat_sum_ns += src->lat_sum_ns;
	dst->lat_max_ns = max_u64(dst->lat_max_ns, src->lat_max_ns);
}

static void series_double(struct series *series)
{
	static const struct series_slot empty;

	for (unsigned i = 0; i < series->used; i++) {
		struct series_slot slot = series->slot[i];

		series->slot[i] = empty;
		series_slot_add(&series->slot[i / 2], &slot);
	}
	series->used = (series->used + 1) / 2;
	series->interval_ns *= 2;
	series->current_span_ns = 0;
}

void series_seek(struct series *series, uint64_t at_ns)
{
	assert(series->interval_ns);
	while (at_ns / series->interval_ns >= SERIES_SLOTS)
		series_double(series);
	series->current = (unsigned)(at_ns / series->interval_ns);
	series->current_start_ns = series->current * series->interval_ns;
	series->current_span_ns = series->interval_ns;
	if (series->used <= series->current)
		series->used = series->current + 1;
}

static void series_merge(struct series *dst, const struct series *src)
{
	while (dst->interval_ns < src->interval_ns)
		series_double(dst);

	uint64_t ratio = dst->interval_ns / src->interval_ns;

	for (unsigned i = 0; i < src->used; i++)
		series_slot_add(&dst->slot[i / ratio], &src->slot[i]);
	if (src->used && dst->used <= (src->used - 1) / ratio)
		dst->used = (unsigned)((src->used - 1) / ratio + 1);
}

static struct error_count *find_error(struct stats *stats, int errnum)
{
	for (unsigned i = 0; i < STATS_ERRORS_MAX - 1; i++) {
		struct error_count *row = &stats->errors[i];

		if (!row->n || row->errnum == errnum)
			return row;
	}
	return NULL;
}

void stats_error_add(struct stats *stats, int errnum, uint64_t n)
{
	struct error_count *row = find_error(stats, errnum);

	if (!n)
		return;
	if (!row) {
		errnum = 0;
		row = find_error(stats, errnum);
	}
	if (!row)
		row = &stats->errors[STATS_ERRORS_MAX - 1];
	row->errnum = errnum;
	row->n += n;
}

void stats_error(struct stats *stats, int errnum)
{
	stats_error_add(stats, errnum, 1);
}

uint64_t stats_errors(const struct stats *stats)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < STATS_ERRORS_MAX; i++)
		n += stats->errors[i].n;
	return n;
}

void stats_merge(struct stats *dst, const struct stats *src)
{
	for (unsigned op = 0; op < STATS_OPS; op++) {
		hist_merge(&dst->op[op].latency, &src->op[op].latency);
		dst->op[op].bytes += src->op[op].bytes;
		series_merge(&dst->op[op].series, &src->op[op].series);
	}
	for (unsigned i = 0; i < STATS_ERRORS_MAX; i++)
		stats_error_add(dst, src->errors[i].errnum, src->errors[i].n);
	dst->short_transfers += src->short_transfers;
	dst->retries += src->retries;
	dst->drained += src->drained;
	dst->drained_max_ns = max_u64(dst->drained_max_ns, src->drained_max_ns);
	dst->unfinished += src->unfinished;
	dst->unfinished_age_ns = max_u64(dst->unfinished_age_ns, src->unfinished_age_ns);
	dst->unsent += src->unsent;
	dst->unsent_age_ns = max_u64(dst->unsent_age_ns, src->unsent_age_ns);
	dst->late_count += src->late_count;
	dst->late_sum_ns += src->late_sum_ns;
	dst->late_max_ns = max_u64(dst->late_max_ns, src->late_max_ns);
}

uint64_t series_slots(const struct series *series, uint64_t window_ns)
{
	uint64_t slots = window_ns / series->interval_ns + (window_ns % series->interval_ns != 0);

	return max_u64(slots, series->used);
}

/* Whether any operation completed in the index-th interval of this length. */
static bool busy(const struct stats *stats, uint64_t interval_ns, uint64_t index)
{
	for (unsigned op = 0; op < STATS_OPS; op++) {
		const struct series *series = &stats->op[op].series;
		uint64_t ratio = interval_ns / series->interval_ns;
		uint64_t end = min_u64(series->used, (index + 1) * ratio);

		for (uint64_t i = index * ratio; i < end; i++)
			if (series->slot[i].ios)
				return true;
	}
	return false;
}

struct idle stats_idle(const struct stats *stats, uint64_t window_ns)
{
	uint64_t interval_ns = 0;
	struct idle longest = {0};
	uint64_t start_ns = 0;

	for (unsigned op = 0; op < STATS_OPS; op++)
		interval_ns = max_u64(interval_ns, stats->op[op].series.interval_ns);
	for (uint64_t i = 0; i < window_ns / interval_ns; i++) {
		uint64_t end_ns = (i + 1) * interval_ns;

		if (i >= SERIES_SLOTS)
			end_ns = window_ns; /* no series reaches this far: idle to the end */
		if (busy(stats, interval_ns, i))
			start_ns = end_ns;
		if (end_ns - start_ns > longest.ns)
			longest = (struct idle){.ns = end_ns - start_ns, .start_ns = start_ns};
		if (end_ns == window_ns)
			break;
	}
	longest.bound_ns = longest.ns + 2 * interval_ns;
	return longest;
}
