/*
 * From what stands in a plan or an override to settings (plan/scope.h): environment filled
 * in, checked against the field table at once, so that an error has its exact place.
 */
#ifndef PVCBENCH_PLAN_VALUE_H
#define PVCBENCH_PLAN_VALUE_H

#include "plan/scope.h"
#include "plan/tree.h"

#define VALUE_MAX 4096 /* bytes of a value with its environment filled in */

struct text {
	char bytes[VALUE_MAX];
	size_t used;
};

/* The text of a plain value, ${NAME} filled in. The error has no place yet. */
int value_text(const struct node *node, struct text *text, struct err *err);

/* Read the value or the values of a key. On failure *setting holds nothing. */
int setting_read(const struct tree *tree, struct setting *setting, const struct field *row,
                 const struct node *node, struct err *err);

/* The same of one value that is taken as it stands. The error has neither place nor key. */
int setting_read_text(struct setting *setting, const struct field *row, const char *text,
                      struct err *err);

/* Put place and key in front of the text that is in err. Returns -1. */
int blame_key(const struct tree *tree, const struct node *node, const char *key, struct err *err);

/* Say that there is no such key of a test or of the plan, and which may be meant. Returns -1. */
int key_unknown(const char *key, size_t length, bool is_top, struct err *err);

#define SHOWN_MAX (48 + 4)

/* What may be shown of text from outside: no control characters, not too much. */
const char *shown(const char *text, size_t length, char out[SHOWN_MAX]);

#endif
