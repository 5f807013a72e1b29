/*
 * What was measured of one operation as JSON: rates, latency, histogram, series.
 */
#ifndef PVCBENCH_FIGURES_H
#define PVCBENCH_FIGURES_H

#include "out/member.h"
#include "result/result.h"

/* A document being written. emit is the first member: rows of a table are given only that. */
struct doc {
	struct emit emit;
	unsigned thin; /* 2^thin slots of a series are written as one */
	bool omit_series, omit_histogram, omit_hops;

	/* private to figures.c */
	const struct test_result *tr;
	enum stats_op op;
};

static inline struct doc *doc_of(struct emit *emit)
{
	return (struct doc *)emit;
}

/* Of a struct hist, without its count; and whether what was read with a count fits together. */
extern const struct member figures_latency_members[];
int figures_check_latency(const struct hist *h, struct err *err);

/* The operation's member of a test; null where nothing was measured, so there is no figure. */
void figures_write(struct doc *doc, const struct test_result *tr, enum stats_op op);

/* Back into *op, as stats_new made it. What no honest writer can have written is an error. */
int figures_read(const struct cJSON *item, struct op_stats *op, struct err *err);

#endif
