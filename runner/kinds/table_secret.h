/*
 * Where the account's key or the SAS comes from: a file (a mounted Secret) that the plan names, or
 * the variables that Azure's own tools read. Neither is ever shown.
 */
#ifndef PVCBENCH_TABLE_SECRET_H
#define PVCBENCH_TABLE_SECRET_H

#include "kinds/table_call.h"
#include "plan/plan.h"

/* All of the service but what belongs to a run. Errors are of class ERR_PLAN. */
int table_service_init(struct table_service *service, const struct test *test, struct err *err);

#endif
