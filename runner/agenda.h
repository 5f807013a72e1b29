/*
 * All that is known before the first byte is written: the plan, the host, the
 * targets, and what every test would do. Reading it touches nothing.
 */
#ifndef PVCBENCH_AGENDA_H
#define PVCBENCH_AGENDA_H

#include "io/leftover.h"
#include "kinds/kind.h"
#include "plan/class.h"
#include "plan/yaml.h"

#define AGENDA_TARGETS_MAX 64

/* Told before a call that may wait for a volume. */
typedef void agenda_step(void *arg, const char *what);

struct agenda {
	struct plan plan;
	struct class class; /* name "": none */
	struct host host;
	struct target *targets;      /* owned */
	struct leftovers *leftovers; /* of other runs in each; owned */
	unsigned n_targets;
	uint64_t attempt;         /* of our Job, as far as leftovers tell; else 1 */
	struct preview *previews; /* one per test; owned */
};

/*
 * The host, the plan and its class. plan is a built-in plan's name or a file. NULL:
 * /etc/pvcbench/plan.yaml where that exists, else dbench's plan when one of its variables
 * is set, else cce. The class is that of the plan's folder, else /etc/pvcbench/class.yaml.
 * agenda_destroy is legal after a failure too; *agenda is zero before.
 */
int agenda_read(struct agenda *agenda, const char *plan, const struct plan_override *overrides,
                unsigned n_overrides, struct err *err);

/*
 * Then the targets: each is looked at, every test is checked on its own, with the class's size
 * as its bound; the first that cannot run is the error. Waits for as long as a volume does not
 * answer; step, which may be NULL, says where.
 */
int agenda_look(struct agenda *agenda, agenda_step *step, void *step_arg, struct err *err);

/*
 * What is known of the class into the conditions of a target. A class describes one volume: in a
 * run on several it is not applied, and that is what the conditions say.
 */
void agenda_describe_class(const struct agenda *agenda, struct conditions *conditions);

/* The target of a test; NULL: it has none. */
struct target *agenda_target(struct agenda *agenda, const struct test *test);

/* Whether a test on this target says clean: true, or destroy: anything and writes to it. */
bool agenda_cleans(const struct agenda *agenda, const struct target *target);
bool agenda_destroys_anything(const struct agenda *agenda, const struct target *target);

/*
 * The first test once more at the end of the plan, for AGENDA_DRIFT_NS at most: what it gives then,
 * against what it gave, is the drift of volume and machine. It has no place in the result.
 * False where there is none: a plan of a single test or, unless the first says limits_probe: true,
 * of less than AGENDA_DRIFT_PLAN_NS; a first test that is bounded by an amount, paces itself or
 * says limits_probe: false; data that is to stay as a test left it (verify, layout: none); a pod's
 * deadline that comes first.
 */
#define AGENDA_DRIFT_NS      (15 * NSEC_PER_SEC)
#define AGENDA_DRIFT_PLAN_NS (120 * NSEC_PER_SEC)
bool agenda_drift(const struct agenda *agenda, struct test *again);

/* How long the tests from this one on and the drift take, as far as it is known. */
uint64_t agenda_duration_ns(const struct agenda *agenda, unsigned first);

/*
 * Whether the plan does not fit into the pod's deadline (host.deadline_ns), as far as both
 * are known; then which tests will not be run, in words.
 */
bool agenda_exceeds_deadline(const struct agenda *agenda, char out[RESULT_TEXT_MAX]);

void agenda_destroy(struct agenda *agenda);

/* For a person: every test, its sizes, its time, its concessions, and the sums. */
void agenda_write(FILE *out, const struct agenda *agenda);

#endif
