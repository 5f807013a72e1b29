/*
 * The reader of plans.
 */
#ifndef PVCBENCH_PLAN_YAML_H
#define PVCBENCH_PLAN_YAML_H

#include "plan/override.h"
#include "plan/plan.h"

/*
 * Read a plan from text; name stands in messages ("plan.yaml:12:7: ...").
 * Overrides win over the plan, tests.NAME.KEY over KEY. ${NAME} in values comes
 * from the environment. Every error carries file:line:column, the key, what is allowed and
 * the nearest known key, class ERR_PLAN; then *plan holds nothing. plan_destroy
 * frees it.
 */
int plan_yaml_read(struct plan *plan, const char *name, const char *text, size_t size,
                   const struct plan_override *overrides, unsigned n_overrides, struct err *err);

#define PLAN_STDIN "stdin" /* the name of a plan that came in there */

/* The same from a built-in plan's name, or else a file's path ("-": stdin). */
int plan_yaml_load(struct plan *plan, const char *name_or_path,
                   const struct plan_override *overrides, unsigned n_overrides, struct err *err);

#endif
