/*
 * Values from the command line and the environment, which win over the plan.
 */
#ifndef PVCBENCH_PLAN_OVERRIDE_H
#define PVCBENCH_PLAN_OVERRIDE_H

#include "plan/scope.h"

#define PLAN_OVERRIDES_MAX 64

/* `--set KEY=VALUE`: VALUE is YAML (a scalar or a list), so `rw=[read,write]` multiplies. */
struct plan_override {
	const char *key; /* "runtime" (of every test, whatever the plan says) or "tests.NAME.KEY" */
	const char *value;
	bool is_plain;    /* VALUE is taken as it stands, as a path is: no YAML, no ${NAME} */
	const char *from; /* for messages: "--set", "DBENCH_MOUNTPOINT", "--target" */
};

/* An override of one test. */
struct aimed {
	char test[PLAN_NAME_MAX];
	struct setting setting;
};

/* As read; all zero is none. */
struct overrides {
	struct scope all_tests;
	struct aimed *aimed; /* owned; the later one wins */
	unsigned n_aimed;
};

/* Read and check them against a plan's tests. overrides_destroy is legal after a failure too. */
int overrides_read(struct overrides *overrides, const struct plan_override *list, unsigned n,
                   const struct entry *entries, unsigned n_entries, struct err *err);
void overrides_destroy(struct overrides *overrides);

/* Put all that concern the entry into its scope, borrowed. */
void overrides_apply(const struct overrides *overrides, const struct entry *entry,
                     struct scope *scope);

#endif
