/*
 * A comparison as it is written: between compare.c and its parts only.
 */
#ifndef PVCBENCH_COMPARE_PART_H
#define PVCBENCH_COMPARE_PART_H

#include "base/units.h"
#include "out/compare.h"

/* One operation of a test in a result; op is NULL where it has no figures. */
struct compare_row {
	const struct compare *compare;
	unsigned test, result;
	enum stats_op which;               /* STATS_OPS: no result has figures of that test */
	const struct compare_entry *entry; /* NULL: the result has no such test */
	const struct compare_op *op;
};

typedef void compare_row_fn(void *arg, const struct compare_row *row);

/* Test by test, operation by operation, in the order in which the results were given. */
void compare_each_row(const struct compare *compare, compare_row_fn *visit, void *arg);

/* NAN where there is none. */
double compare_row_mean(const struct compare_row *row, enum compare_figure figure);

/* How the test ended where it is not all well, and why its figures may not be relied on. */
void compare_row_remark(const struct compare_row *row, char *out, size_t size);

/* Each at most UNITS_TEXT_MAX bytes; returns out. */
char *compare_ratio_text(double ratio, char *out);
char *compare_figure_text(enum compare_figure figure, double value, char *out);

/* A condition's value, in at most COMPARE_VALUE_MAX bytes; returns out. */
char *compare_value_text(const struct compare_condition *condition,
                         const struct compare_value *value, char *out);

/* "holds", "does not hold", "could not be judged": a gate's condition, by enum expect_result. */
extern const char *const compare_gate_words[];

/* The forms. */
void compare_write_text(FILE *out, const struct compare *compare);
void compare_write_markdown(FILE *out, const struct compare *compare);
void compare_write_csv(FILE *out, const struct compare *compare);
void compare_write_json(FILE *out, const struct compare *compare);

/* How lines are written beside the table. */
struct compare_style {
	const char *bullet; /* at the beginning of each line */
	bool markdown;      /* what means something there is escaped */
};

/* Text as it stands in Markdown. */
void compare_write_escaped(FILE *out, const char *text);

/* What stands before the table and behind it. */
void compare_write_head(FILE *out, const struct compare *compare,
                        const struct compare_style *style);
void compare_write_tail(FILE *out, const struct compare *compare,
                        const struct compare_style *style);

#endif
