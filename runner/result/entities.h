/*
 * The figures of kind table, as they follow from what was counted.
 */
#ifndef PVCBENCH_ENTITIES_H
#define PVCBENCH_ENTITIES_H

#include "result/result.h"

/*
 * Each is NAN where it is not known, as without a window. Of drop-table nothing is known by the
 * entity: the service has only promised to remove them.
 */
struct entities {
	double per_second; /* entities, whichever way it was seen that they were deleted */
	double transactions_per_second; /* queries and deletions, whatever was answered */
	double bytes_per_second;        /* up and down */
	double bytes_per_entity;        /* the same, queries included */
	double cpus;                    /* that pvcbench used */
};

struct entities entities_of(const struct test_result *tr);

#endif
