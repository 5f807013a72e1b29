/*
 * The parts of the summary at the end of the log: between text.c and its parts only.
 */
#ifndef PVCBENCH_SUMMARY_H
#define PVCBENCH_SUMMARY_H

#include "result/result.h"

static inline const char *or_unknown(const char *text)
{
	return *text ? text : "unknown";
}

#define REMARKS_MAX 64 /* different ones of a kind; no plan that a person wrote has more */
#define REMARK_MAX  (RESULT_STATUS_TEXT_MAX + PLAN_NAME_MAX)

/*
 * Writes the index-th thing that there is to say of a test behind what is in out[size];
 * nothing when there is no more.
 */
typedef void remark_fn(const struct test_result *tr, unsigned index, char *out, size_t size);

/*
 * What a remark function says of the tests, a line for all that have the same to say: the
 * title, the remark, and whose it is unless it is everybody's.
 */
void remarks_write(FILE *out, const struct result *result, const char *title, remark_fn *remark);

/* Under what conditions was measured. */
void conditions_write(FILE *out, const struct result *result);

/* A line for every operation of every test. */
void table_write(FILE *out, const struct result *result);

/* How rate and latency grow with the depth, where tests differ in nothing else. */
void curves_write(FILE *out, const struct result *result);

/* What the repeats of a test have in common, and how far they differ. */
void repeats_write(FILE *out, const struct result *result);

/* What was seen of files that outlive the run. */
void persists_write(FILE *out, const struct result *result);

/* The same of one test that ran to its end, behind what is in out[size]. */
void persist_headline(const struct persist_result *p, char *out, size_t size);

/* Each chain drawn, with the figures of its hops. */
void hops_write(FILE *out, const struct result *result);

/* The same of one test in a line, behind what is in out[size]. */
void hops_headline(const struct hops_result *hops, char *out, size_t size);
/* What was deleted in Azure Table storage, how fast, and what that took. */
void entities_write(FILE *out, const struct result *result);

/* The same of one test in a line, behind what is in out[size]. */
void entities_headline(const struct test_result *tr, char *out, size_t size);

/* What was searched, step by step. */
void searches_write(FILE *out, const struct result *result);

#endif
