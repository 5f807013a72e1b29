/*
 * A line of a table of tests: one operation of a test, cell by cell.
 */
#ifndef PVCBENCH_ROW_H
#define PVCBENCH_ROW_H

#include "result/result.h"

#define ROW_CELL_MAX (PLAN_NAME_MAX + 32)
#define ROW_COLUMNS  13

struct row {
	const struct test_result *tr;
	enum stats_op op; /* STATS_OPS: a test without figures */
};

struct row_column {
	const char *title;
	bool right; /* of numbers */
	/* Into out[ROW_CELL_MAX], which is empty before. */
	void (*cell)(const struct row *row, char *out);
};

extern const struct row_column row_columns[ROW_COLUMNS];

typedef void row_fn(void *arg, const struct row *row);

/* Every line of a test; none of one that has no load. */
void row_each(const struct test_result *tr, row_fn *visit, void *arg);

#endif
