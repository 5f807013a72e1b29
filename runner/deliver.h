/*
 * Results to where teams keep theirs: files, webhooks, Pushgateways, as the plan's
 * `deliver` says. After the run, so that it disturbs no measurement; a delivery that fails
 * is told and changes nothing of the result.
 */
#ifndef PVCBENCH_DELIVER_H
#define PVCBENCH_DELIVER_H

#include <stdatomic.h>

#include "io/http.h"
#include "plan/sink.h"
#include "result/result.h"

/*
 * Before the first test: URLs that cannot be one, and files that a sink marked `required`
 * needs and that are not there. The error has its place in the plan, class ERR_PLAN.
 */
int deliver_check(const struct plan *plan, struct err *err);

/* "webhook https://collector.example.com/hook", with nothing secret in it; returns name. */
#define DELIVER_NAME_MAX (HTTP_URL_MAX + 16)
char *deliver_name(const struct plan_sink *sink, char name[DELIVER_NAME_MAX]);

/* For a person: a line for each sink. */
void deliver_write(FILE *out, const struct plan *plan);

/*
 * Deliver to every sink, in a minute at most; from the moment that *stop is not 0 in five
 * seconds at most, since whoever ends a pod gives it little more. tell is given one line at
 * a time, of what failed or is tried again. How many sinks marked `required` did not get it.
 */
unsigned deliver_result(const struct plan *plan, const struct result *result,
                        const atomic_int *stop, void (*tell)(const char *text));

/*
 * Where to PUT to: the group of job and instance below base, unless its path names a group.
 * Characters of instance that would need an escape become `_`. The error: too long.
 */
int deliver_push_url(const char *base, const char *job, const char *instance,
                     char out[HTTP_URL_MAX], struct err *err);

#endif
