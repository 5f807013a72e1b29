/*
 * The verdict, between its own files: verdict.c asks each of them in turn, in the order in
 * which the first limit that is found stands in the table.
 */
#ifndef PVCBENCH_VERDICT_PART_H
#define PVCBENCH_VERDICT_PART_H

#include "verdict.h"

/* Add a verdict, its figure in base units (NAN: none) and one sentence; those beyond
 * RESULT_VERDICTS_MAX are dropped. */
void verdict_add(struct test_result *tr, const char *code, double figure, const char *fmt, ...)
        PRINTF_LIKE(4, 5);

#endif
