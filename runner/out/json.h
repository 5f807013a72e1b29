/*
 * The result as JSON, both ways (docs/result.schema.json). Pure: a result goes in,
 * bytes come out, and back.
 */
#ifndef PVCBENCH_JSON_H
#define PVCBENCH_JSON_H

#include "result/result.h"

#define RESULT_LINE_PREFIX "pvcbench-result: "
#define RESULT_LINE_AIM    (16 * 1024)
#define RESULT_LINE_MAX    (64 * 1024)

/* The whole document, indented, with a final newline. */
void json_write(FILE *out, const struct result *result);

/*
 * "pvcbench-result: {...}\n": the document with this one test. The series is
 * thinned (pairs added up) until the line is within the aim; the histogram never is.
 */
void json_write_line(FILE *out, const struct result *result, const struct test_result *tr);

/* Read a document back. On success result_destroy frees it. */
int json_read(struct result *result, const char *text, size_t size, struct err *err);

#endif
