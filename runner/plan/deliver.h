/*
 * The reader of the plan's key `deliver`.
 */
#ifndef PVCBENCH_PLAN_DELIVER_H
#define PVCBENCH_PLAN_DELIVER_H

#include "plan/sink.h"
#include "plan/tree.h"

/*
 * Read the value of the key into plan->sinks, which plan_destroy frees. The error has its
 * place and repeats nothing that may be a secret.
 */
int plan_deliver_read(struct plan *plan, const struct tree *tree, const struct node *list,
                      struct err *err);

#endif
