/*
 * The faces of a result. All are pure: a result goes in, bytes come out.
 */
#ifndef PVCBENCH_OUT_H
#define PVCBENCH_OUT_H

#include "result.h"

/* out/text.c */

/* Conditions, the table of all tests, verdict and threshold lines, then dbench's block. */
void text_write(FILE *out, const struct result *result);

/* Only dbench's block. */
void text_write_dbench(FILE *out, const struct result *result);

/* One line of a test's headline figures, as at its end in the log (no newline). */
void text_headline(const struct test_result *tr, char *out, size_t size);

/* For /dev/termination-log: the summary and every test's headline, at most 4096 bytes. */
#define TERMINATION_MAX 4096
void text_write_termination(FILE *out, const struct result *result);

/* out/json.c */

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
