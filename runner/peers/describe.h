/*
 * A plan as a text that is the same for all who are to run it together.
 */
#ifndef PVCBENCH_DESCRIBE_H
#define PVCBENCH_DESCRIBE_H

#include "plan/plan.h"

/*
 * A line per test: its name, and a digest of all that says what it does. Where it does it, what is
 * expected of it and a ledger may differ between peers. To be freed; NULL: out of memory.
 */
char *describe_plan(const struct plan *plan);

#endif
