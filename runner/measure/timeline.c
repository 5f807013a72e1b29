/*
 * An array of cells that grows at both ends. When it would grow past its limit, neighbours are
 * added up: cells 2n and 2n + 1 of absolute time become cell n, whatever was added first.
 */
#include "measure/timeline.h"

#include <string.h>

#define CELL_NS (NSEC_PER_SEC / 16)

static void cell_add(struct timeline_cell *dst, const struct timeline_cell *src)
{
	dst->ios += src->ios;
	dst->bytes += src->bytes;
	dst->lat_sum_ns += src->lat_sum_ns;
	dst->lat_max_ns = max_u64(dst->lat_max_ns, src->lat_max_ns);
}

static void widen(struct timeline *t)
{
	uint64_t first = t->first / 2, used = 0;

	for (uint64_t i = 0; i < t->used; i++) {
		struct timeline_cell cell = t->cell[i];
		uint64_t at = (t->first + i) / 2 - first;

		memset(&t->cell[i], 0, sizeof(cell));
		cell_add(&t->cell[at], &cell);
		used = at + 1;
	}
	t->first = first;
	t->used = used;
	t->cell_ns *= 2;
}

/* Room for n cells; those behind the used ones are zero. */
static int make_room(struct timeline *t, uint64_t n)
{
	uint64_t size = max_u64(t->size, 64);
	struct timeline_cell *cell;

	if (n <= t->size)
		return 0;
	while (size < n)
		size *= 2;
	cell = realloc(t->cell, size * sizeof(*cell));
	if (!cell)
		return -1;
	memset(cell + t->size, 0, (size - t->size) * sizeof(*cell));
	t->cell = cell;
	t->size = size;
	return 0;
}

/* Cells from first to last, both by cells of the present width, are there afterwards. */
static int cover(struct timeline *t, uint64_t first, uint64_t last)
{
	uint64_t ahead;

	if (!t->used)
		t->first = first;
	first = min_u64(first, t->first);
	last = t->used ? max_u64(last, t->first + t->used - 1) : last;
	ahead = t->first - first;
	if (make_room(t, last - first + 1))
		return -1;
	if (ahead) {
		memmove(t->cell + ahead, t->cell, t->used * sizeof(*t->cell));
		memset(t->cell, 0, ahead * sizeof(*t->cell));
	}
	t->first = first;
	t->used = last - first + 1;
	return 0;
}

static bool fits(const struct timeline *t, uint64_t first_ns, uint64_t last_ns)
{
	uint64_t first = first_ns / t->cell_ns, last = last_ns / t->cell_ns;

	if (t->used) {
		first = min_u64(first, t->first);
		last = max_u64(last, t->first + t->used - 1);
	}
	return last - first < TIMELINE_CELLS_MAX;
}

/* The middle of an interval, or of what of it lies within the window. */
static uint64_t middle_of(const struct series *series, uint64_t index, uint64_t window_ns)
{
	uint64_t start_ns = index * series->interval_ns;
	uint64_t left_ns = window_ns > start_ns ? window_ns - start_ns : 0;

	return start_ns + min_u64(series->interval_ns, left_ns) / 2;
}

int timeline_add(struct timeline *t, const struct series *series, uint64_t started_ns,
                 uint64_t window_ns)
{
	uint64_t first_ns = started_ns + middle_of(series, 0, window_ns), last_ns;

	if (!series->used)
		return 0;
	last_ns = started_ns + middle_of(series, series->used - 1, window_ns);
	if (!t->cell_ns)
		t->cell_ns = CELL_NS;
	while (!fits(t, first_ns, last_ns))
		widen(t);
	if (cover(t, first_ns / t->cell_ns, last_ns / t->cell_ns))
		return -1;
	t->interval_ns = max_u64(t->interval_ns, series->interval_ns);
	for (unsigned i = 0; i < series->used; i++) {
		const struct series_slot *slot = &series->slot[i];
		uint64_t at_ns = started_ns + middle_of(series, i, window_ns);
		struct timeline_cell cell = {slot->ios, slot->bytes, slot->lat_sum_ns,
		                             slot->lat_max_ns};

		cell_add(&t->cell[at_ns / t->cell_ns - t->first], &cell);
	}
	return 0;
}

/*
 * An interval of a sum is so long that the window fits into the slots, and that a cell is no
 * more than a quarter of it.
 */
static uint64_t interval_of(const struct timeline *t, uint64_t window_ns)
{
	uint64_t interval_ns = t->interval_ns;

	while (interval_ns < 4 * t->cell_ns || window_ns / interval_ns >= SERIES_SLOTS)
		interval_ns *= 2;
	return interval_ns;
}

void timeline_cut(const struct timeline *t, uint64_t start_ns, uint64_t window_ns,
                  struct series *series)
{
	if (!t->used || !window_ns)
		return;
	series->interval_ns = interval_of(t, window_ns);
	for (uint64_t i = 0; i < t->used; i++) {
		const struct timeline_cell *cell = &t->cell[i];
		uint64_t at_ns = (t->first + i) * t->cell_ns;
		struct series_slot *slot;
		unsigned at;

		if (!cell->ios || at_ns + t->cell_ns <= start_ns || at_ns >= start_ns + window_ns)
			continue;
		at_ns = max_u64(at_ns, start_ns);
		at = (unsigned)((at_ns - start_ns) / series->interval_ns);
		slot = &series->slot[at];
		slot->ios += cell->ios;
		slot->bytes += cell->bytes;
		slot->lat_sum_ns += cell->lat_sum_ns;
		slot->lat_max_ns = max_u64(slot->lat_max_ns, cell->lat_max_ns);
		series->used = (unsigned)max_u64(series->used, at + 1);
	}
}

void timeline_destroy(struct timeline *t)
{
	free(t->cell);
	*t = (struct timeline){0};
}
