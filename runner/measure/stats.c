/*
 * A series has a fixed number of slots, so that nothing is allocated while time
 * runs. It starts at a slot a second; when a completion falls behind the last
 * slot, neighbours are added up in place and every slot stands for twice the
 * time. Two series with different intervals are merged at the coarser one.
 *
 * Gaps without a completion. A gap that crosses the border of slots lies between the last
 * completion of one and the first of the next, and these survive every sum. Inside a
 * slot a worker knows its own gaps exactly. Where two workers share a slot the
 * completions of each cut the gaps of the other at unknown places, and an upper bound is
 * left: no gap of both together is longer than the longest of one alone, reckoned
 * from the first completion of both to the last.
 *
 *	one     |  x x      x   x x  |
 *	other   |     x x    x       |
 *	both      ^first         ^last
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

/* The gaps of a slot and one behind it. */
static void join_gaps(struct series_slot *dst, const struct series_slot *earlier,
                      const struct series_slot *later)
{
	const struct series_slot *longer = earlier->gap_ns >= later->gap_ns ? earlier : later;
	uint64_t between_ns = later->first_ns - earlier->last_ns;

	dst->gap_ns = max_u64(longer->gap_ns, between_ns);
	dst->gap_start_ns = between_ns >= longer->gap_ns ? earlier->last_ns : longer->gap_start_ns;
}

/* The longest gap of one slot between the first and the last completion of both. */
static uint64_t gap_within(const struct series_slot *slot, uint64_t first_ns, uint64_t last_ns)
{
	uint64_t edge_ns = max_u64(slot->first_ns - first_ns, last_ns - slot->last_ns);

	return max_u64(slot->gap_ns, edge_ns);
}

static void add_times(struct series_slot *dst, const struct series_slot *a,
                      const struct series_slot *b)
{
	uint64_t first_ns = min_u64(a->first_ns, b->first_ns);
	uint64_t last_ns = max_u64(a->last_ns, b->last_ns);

	if (a->last_ns <= b->first_ns)
		join_gaps(dst, a, b);
	else if (b->last_ns <= a->first_ns)
		join_gaps(dst, b, a);
	else {
		dst->gap_ns =
		        min_u64(gap_within(a, first_ns, last_ns), gap_within(b, first_ns, last_ns));
		dst->gap_start_ns = GAP_SOMEWHERE;
	}
	dst->first_ns = first_ns;
	dst->last_ns = last_ns;
}

void series_slot_add(struct series_slot *dst, const struct series_slot *src)
{
	struct series_slot before = *dst;

	if (!src->ios)
		return;
	if (!dst->ios) {
		*dst = *src;
		return;
	}
	add_times(dst, &before, src);
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

/* The first completion of a slot, or one before it. */
static void open_slot(struct series_slot *slot, uint64_t at_ns)
{
	if (!slot->ios) {
		slot->first_ns = slot->last_ns = slot->gap_start_ns = at_ns;
	} else if (at_ns < slot->first_ns) {
		if (slot->first_ns - at_ns > slot->gap_ns) {
			slot->gap_ns = slot->first_ns - at_ns;
			slot->gap_start_ns = at_ns;
		}
		slot->first_ns = at_ns;
	}
}

void series_seek(struct series *series, uint64_t at_ns)
{
	assert(series->interval_ns);
	while (at_ns / series->interval_ns >= SERIES_SLOTS)
		series_double(series);
	series->current = (unsigned)(at_ns / series->interval_ns);
	open_slot(&series->slot[series->current], at_ns);
	series->current_start_ns = series->slot[series->current].first_ns;
	series->current_span_ns =
	        (series->current + 1ull) * series->interval_ns - series->current_start_ns;
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
	dst->suspended_max_ns = max_u64(dst->suspended_max_ns, src->suspended_max_ns);
}

uint64_t series_slots(const struct series *series, uint64_t window_ns)
{
	uint64_t slots = window_ns / series->interval_ns + (window_ns % series->interval_ns != 0);

	return max_u64(slots, series->used);
}

/* All operations in the index-th interval of this length. */
static struct series_slot all_operations(const struct stats *stats, uint64_t interval_ns,
                                         uint64_t index)
{
	struct series_slot all = {0};

	for (unsigned op = 0; op < STATS_OPS; op++) {
		const struct series *series = &stats->op[op].series;
		uint64_t ratio = interval_ns / series->interval_ns;
		uint64_t end = min_u64(series->used, (index + 1) * ratio);
		struct series_slot one = {0};

		for (uint64_t i = index * ratio; i < end; i++)
			series_slot_add(&one, &series->slot[i]);
		series_slot_add(&all, &one);
	}
	return all;
}

/* One more gap, from `start_ns` to `end_ns`. */
static void gap_extend(struct gap *longest, uint64_t start_ns, uint64_t end_ns)
{
	if (end_ns <= start_ns || end_ns - start_ns <= longest->at_least_ns)
		return;
	longest->at_least_ns = end_ns - start_ns;
	longest->start_ns = start_ns;
}

struct gap stats_longest_gap(const struct stats *stats, uint64_t window_ns)
{
	uint64_t interval_ns = 0, last_ns = 0;
	struct gap longest = {0};

	for (unsigned op = 0; op < STATS_OPS; op++)
		interval_ns = max_u64(interval_ns, stats->op[op].series.interval_ns);
	for (uint64_t i = 0; i < SERIES_SLOTS; i++) {
		struct series_slot slot = all_operations(stats, interval_ns, i);

		if (!slot.ios)
			continue;
		gap_extend(&longest, last_ns, slot.first_ns);
		if (slot.gap_start_ns != GAP_SOMEWHERE)
			gap_extend(&longest, slot.gap_start_ns, slot.gap_start_ns + slot.gap_ns);
		longest.at_most_ns = max_u64(longest.at_most_ns, slot.gap_ns);
		last_ns = slot.last_ns;
	}
	gap_extend(&longest, last_ns, window_ns);
	longest.at_most_ns = max_u64(longest.at_most_ns, longest.at_least_ns);
	return longest;
}
