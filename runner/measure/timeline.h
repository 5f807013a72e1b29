/*
 * The series of windows that began at different moments, added up by absolute time.
 *
 * An interval of a series is kept in the cell that its middle falls into, a 16th of a second
 * wide, and given to the interval of the sum in which that middle lies: so a second counts
 * where most of it was, half an interval off at the most. What is added when does not matter.
 */
#ifndef PVCBENCH_TIMELINE_H
#define PVCBENCH_TIMELINE_H

#include "measure/stats.h"

#define TIMELINE_CELLS_MAX 65536 /* over an hour; then cells become wider, by twice */

struct timeline_cell {
	uint64_t ios, bytes, lat_sum_ns, lat_max_ns;
};

/* All zero is an empty one. */
struct timeline {
	uint64_t interval_ns;       /* the longest of what was added */
	uint64_t cell_ns;           /* the width of a cell */
	uint64_t first;             /* the number of cell[0], from 1970 on */
	uint64_t used, size;        /* cells that hold something, and that there is room for */
	struct timeline_cell *cell; /* owned */
};

/*
 * Add the series of a window of window_ns that began at started_ns, since 1970; the series' end
 * lies before 2^64. -1: out of memory.
 */
int timeline_add(struct timeline *timeline, const struct series *series, uint64_t started_ns,
                 uint64_t window_ns);

/*
 * *series, which is empty, becomes what lies within [start_ns, start_ns + window_ns); its
 * intervals are as long as those of the coarsest series that was added, or longer.
 */
void timeline_cut(const struct timeline *timeline, uint64_t start_ns, uint64_t window_ns,
                  struct series *series);

void timeline_destroy(struct timeline *timeline);

#endif
