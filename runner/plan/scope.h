/*
 * Keys of a plan as written, and how they become tests. A scope is the plan's top, a
 * test, or all that holds for a test; its values are checked text. Nothing here knows
 * YAML.
 */
#ifndef PVCBENCH_PLAN_SCOPE_H
#define PVCBENCH_PLAN_SCOPE_H

#include "plan/plan.h"

struct value {
	char *text; /* owned */
	unsigned line;
};

struct setting {
	const struct field *row;
	struct value *values; /* owned, unless put there by scope_put */
	unsigned n_values;
	bool is_list; /* written as a list, even of one */
	bool is_own;  /* said of this test, not of all */
};

/* Settings of different rows in the order written; room for every row. */
struct scope {
	struct setting *settings; /* owned */
	unsigned n;
};

/* A test as written. */
struct entry {
	struct scope scope;
	const char *name; /* borrowed from the scope */
	unsigned line, column;
	const struct plan_chains *chains; /* the plan's; NULL: none were said */
};

void setting_destroy(struct setting *setting);

int scope_init(struct scope *scope, struct err *err);
void scope_destroy(struct scope *scope);

/* The setting of a row, or NULL. */
struct setting *scope_find(const struct scope *scope, const struct field *row);

/* Room for the setting of a row that the scope has not got yet. */
struct setting *scope_add(struct scope *scope);

/* A copy of setting in the place of the one that is there, or behind all; values are borrowed. */
void scope_put(struct scope *scope, const struct setting *setting);

/* The row of the key "name". */
const struct field *scope_name_row(void);

/*
 * Add the tests that `all` makes to the plan: a value for each key, every combination of
 * its lists, every repeat. The first list turns slowest, as nested loops in the order
 * written would. Keys that the test's kind has not are left out of all, unless they are its
 * own: these are an error. What no key of the field table says, its place in the plan and its
 * chains, comes in *base.
 */
int scope_expand(struct scope *all, struct plan *plan, const struct test *base, struct err *err);

/* The error of an allocation that failed. Returns -1. */
int scope_no_memory(struct err *err);

#endif
