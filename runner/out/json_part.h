/*
 * The tables that a result document is made of: between json.c and its parts only.
 */
#ifndef PVCBENCH_JSON_PART_H
#define PVCBENCH_JSON_PART_H

#include "out/member.h"
#include "result/result.h"

extern const struct member json_condition_members[]; /* of struct conditions */
extern const struct member json_test_members[];      /* of struct test_result */
extern const struct member json_verdict_members[];   /* of struct verdict */

/* Of struct test_result, where it is of kind table. */
extern const struct member json_table_members[];

/* Of struct result, what is derived from its tests: rows for its table. */
bool json_has_knees(const void *result);
void json_write_knees(struct emit *emit, const struct member *row, const void *result);
bool json_has_repeats(const void *result);
void json_write_repeats(struct emit *emit, const struct member *row, const void *result);

/* Of struct test_result, its member hops. */
void json_write_hops(struct emit *emit, const struct member *row, const void *tr);
int json_read_hops(const struct cJSON *item, const struct member *row, void *tr, struct err *err);

#endif
