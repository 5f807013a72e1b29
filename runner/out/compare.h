/*
 * Results beside each other, for people and for programs. Pure: what was compared goes in, bytes
 * come out.
 */
#ifndef PVCBENCH_COMPARE_OUT_H
#define PVCBENCH_COMPARE_OUT_H

#include "result/compare.h"

#define COMPARE_SCHEMA "pvcbench.compare/1"

enum compare_form { COMPARE_TEXT, COMPARE_MARKDOWN, COMPARE_CSV, COMPARE_JSON };

extern const char *const compare_form_names[]; /* by enum compare_form, ended by NULL */

/* After compare_finish. */
void compare_write(FILE *out, const struct compare *compare, enum compare_form form);

#endif
