/*
 * The result as people read it, and as dbench's readers do. Pure: a result goes
 * in, bytes come out. A result is used as it is, so texts from outside must be
 * clean (json_read cleans what it reads).
 */
#ifndef PVCBENCH_TEXT_H
#define PVCBENCH_TEXT_H

#include "result/result.h"

/* Conditions, the table of all tests, verdict and threshold lines, then dbench's block. */
void text_write(FILE *out, const struct result *result);

/*
 * Only dbench's block, of the tests named as dbench knows them (read-iops,
 * write-bw, mixed, ...); nothing when the result has none of these. With several targets a
 * block for each, under a line "target: PATH".
 */
void text_write_dbench(FILE *out, const struct result *result);

/* By enum expect_result. */
extern const char *const text_expect_words[];

/* Put more text behind what is in out[size]; what does not fit is cut off. */
void text_append(char *out, size_t size, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* A size of at most UNITS_TEXT_MAX bytes with the NUL, exact: 4KiB, 1.5MiB, but 2300B. */
char *text_size(uint64_t bytes, char *out);

/* As fio writes it, except that a slow rate is not cut down to a whole number, or to 0. */
char *text_rate(double iops, char *out);

/* What kind persist is to do, behind what is in out[size]: "expect 'key', at most 10s". */
void text_step(const struct test *test, char *out, size_t size);

/* What kind hops is to do, behind what is in out[size]: "2 chains of 3, 3 hops, 10 requests". */
void text_chains(const struct test *test, char *out, size_t size);
/* The same of kind table: "delete 100 x 1000 entities, batch 100, concurrency 32". */
void text_deletion(const struct test *test, char *out, size_t size);

/* One line of a test's headline figures, as at its end in the log (no newline). */
void text_headline(const struct test_result *tr, char *out, size_t size);

/* For /dev/termination-log: the summary and every test's headline, at most 4096 bytes. */
#define TERMINATION_MAX 4096
void text_write_termination(FILE *out, const struct result *result);

/* What is there of a run that is killed: the tests that have ended, of n_planned. */
void text_write_termination_if_killed(FILE *out, const struct result *result, unsigned n_planned);

#endif
