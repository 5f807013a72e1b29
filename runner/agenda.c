/*
 * plan -> class -> targets -> check of every test.
 */
#include "agenda.h"

#include <assert.h>
#include <string.h>

#include "base/units.h"
#include "dbench.h"
#include "out/text.h"

#define PLAN_MOUNTED "/etc/pvcbench/plan.yaml"
#define PLAN_DEFAULT "cce"

static int load_dbench(struct plan *plan, const struct dbench *dbench,
                       const struct plan_override *overrides, unsigned n_overrides, struct err *err)
{
	struct plan_override all[DBENCH_OVERRIDES_MAX + PLAN_OVERRIDES_MAX];
	unsigned n = 0;

	for (unsigned i = 0; i < dbench->n_overrides; i++)
		all[n++] = dbench->overrides[i];
	for (unsigned i = 0; i < n_overrides; i++)
		all[n++] = overrides[i];
	if (plan_yaml_load(plan, "dbench", all, n, err))
		return -1;
	if (dbench->quick && plan->n_tests > DBENCH_QUICK_TESTS)
		plan->n_tests = DBENCH_QUICK_TESTS;
	return 0;
}

static int load_plan(struct plan *plan, const char *name, const struct plan_override *overrides,
                     unsigned n_overrides, struct err *err)
{
	struct dbench dbench;

	if (!name && !access(PLAN_MOUNTED, F_OK))
		name = PLAN_MOUNTED;
	dbench_read(&dbench);
	if (!name && dbench.asked)
		return load_dbench(plan, &dbench, overrides, n_overrides, err);
	return plan_yaml_load(plan, name ? name : PLAN_DEFAULT, overrides, n_overrides, err);
}

/* plan.name is what it was read from; one that came in by stdin or is built in has no folder. */
static int load_class(struct agenda *agenda, struct err *err)
{
	const char *name = agenda->plan.name;
	bool is_file = !plan_builtin_find(name) && strcmp(name, PLAN_STDIN) != 0;

	return class_load(&agenda->class, is_file ? name : NULL, err);
}

/* With several targets it is not known which is of the class. */
static bool class_applies(const struct agenda *agenda)
{
	return agenda->class.name[0] && agenda->n_targets == 1;
}

static void apply_class(struct agenda *agenda)
{
	for (unsigned i = 0; class_applies(agenda) && i < agenda->plan.n_tests; i++)
		agenda->plan.tests[i].class_size = agenda->class.size_bytes;
}

void agenda_describe_class(const struct agenda *agenda, struct conditions *c)
{
	const struct class *class = &agenda->class;

	if (!class->name[0] || !agenda->n_targets)
		return;
	if (!class_applies(agenda)) {
		snprintf(c->class_note, sizeof(c->class_note),
		         "class '%s' is not applied: class.yaml describes one volume, and this run "
		         "has %u targets",
		         class->name, agenda->n_targets);
		return;
	}
	snprintf(c->class, sizeof(c->class), "%s", class->name);
	snprintf(c->class_note, sizeof(c->class_note), "%s", class->note);
	c->class_limits = class_figures(class);
}

struct target *agenda_target(struct agenda *agenda, const struct test *test)
{
	for (unsigned i = 0; i < agenda->n_targets; i++)
		if (!strcmp(agenda->targets[i].path, test->target))
			return &agenda->targets[i];
	return NULL;
}

/* Our own file is written before it is read. */
static bool test_writes(const struct test *test)
{
	if (plan_is_table(test))
		return false;
	if (plan_is_persist(test))
		return test->step == STEP_WRITE || test->step == STEP_REMOVE;
	return plan_writes(test) || (!test->filename[0] && test->layout == LAYOUT_FULL);
}

/* What a test may do to its target, before what of it fits. */
static int check_target(const struct test *test, const struct target *target, struct err *err)
{
	if (target->is_container_root && !test->container_fs)
		return err_set(
		        err, ERR_REFUSED,
		        "'%s' lies on the container's own root file system (mount the volume "
		        "there, or say container_fs: true if that is meant)",
		        target->path);
	return test_writes(test) ? target_check_writable(target, err) : 0;
}

static bool any_test(const struct agenda *agenda, const struct target *target,
                     bool (*says)(const struct test *test))
{
	for (unsigned i = 0; i < agenda->plan.n_tests; i++)
		if (!strcmp(agenda->plan.tests[i].target, target->path) &&
		    says(&agenda->plan.tests[i]))
			return true;
	return false;
}

static bool says_clean(const struct test *test)
{
	return test->clean;
}

bool agenda_cleans(const struct agenda *agenda, const struct target *target)
{
	return any_test(agenda, target, says_clean);
}

/* Of a device, as far as a test of this kind writes to it. */
static bool says_destroy_anything(const struct test *test)
{
	return test->destroy == DESTROY_ANYTHING && !test->filename[0] && test_writes(test);
}

bool agenda_destroys_anything(const struct agenda *agenda, const struct target *target)
{
	return any_test(agenda, target, says_destroy_anything);
}

/*
 * What other runs left counts as free where it is to be removed before the first test: a
 * volume that a dead attempt has filled is none that is too small.
 */
static void find_leftovers(struct agenda *agenda, unsigned i)
{
	struct target *target = &agenda->targets[i];
	struct leftovers *found = &agenda->leftovers[i];
	struct claim own;

	claim_describe(&own, "");
	leftovers_find(found, target, &own);
	for (unsigned l = 0; l < found->n; l++) {
		const struct leftover *leftover = &found->list[l];

		if (leftover->ours)
			agenda->attempt = max_u64(agenda->attempt, leftover->claim.attempt + 1);
		if (leftover_may_go(leftover, agenda_cleans(agenda, target)))
			target->free_bytes =
			        min_u64(target->free_bytes + leftover->bytes, TARGET_SPACE_MAX);
	}
}

/* What is asked of a path, for the log. */
static void tell(agenda_step *step, void *step_arg, const char *path)
{
	char what[TARGET_PATH_MAX + 64];

	if (!step)
		return;
	snprintf(what, sizeof(what), "stat, statvfs and open of '%s'", path);
	step(step_arg, what);
}

static int open_targets(struct agenda *agenda, agenda_step *step, void *step_arg, struct err *err)
{
	agenda->attempt = 1;
	agenda->leftovers = calloc(AGENDA_TARGETS_MAX, sizeof(*agenda->leftovers));
	agenda->targets = calloc(AGENDA_TARGETS_MAX, sizeof(*agenda->targets));
	if (!agenda->targets || !agenda->leftovers)
		return err_set(err, ERR_TARGET, "out of memory for the targets");
	for (unsigned i = 0; i < agenda->plan.n_tests; i++) {
		const struct test *test = &agenda->plan.tests[i];

		if (!test->target[0] || agenda_target(agenda, test))
			continue;
		if (agenda->n_targets == AGENDA_TARGETS_MAX)
			return err_set(err, ERR_PLAN, "a run takes at most %d targets",
			               AGENDA_TARGETS_MAX);
		tell(step, step_arg, test->target);
		if (target_init(&agenda->targets[agenda->n_targets], test->target, err))
			return -1;
		find_leftovers(agenda, agenda->n_targets);
		agenda->n_targets++;
	}
	for (unsigned i = 0; i < agenda->n_targets; i++)
		agenda->targets[i].attempt = agenda->attempt;
	for (unsigned i = 0; i < agenda->plan.n_tests; i++) {
		const struct test *test = &agenda->plan.tests[i];

		if (test->ledger[0])
			agenda_target(agenda, test)->kept_for = test->ledger;
	}
	return 0;
}

static int check_test(struct agenda *agenda, unsigned i, struct err *err)
{
	const struct test *test = &agenda->plan.tests[i];
	const struct kind *kind = kind_find(test->kind);
	const struct target *target = agenda_target(agenda, test);

	assert(kind); /* the plan knows the same names */
	if (target && check_target(test, target, err))
		return -1;
	if (kind->check(test, target, &agenda->host, &agenda->previews[i], err))
		return err_wrap(err, "test '%s'", test->name);
	return 0;
}

int agenda_read(struct agenda *agenda, const char *plan, const struct plan_override *overrides,
                unsigned n_overrides, struct err *err)
{
	host_read(&agenda->host);
	if (load_plan(&agenda->plan, plan, overrides, n_overrides, err))
		return -1;
	return load_class(agenda, err);
}

int agenda_look(struct agenda *agenda, agenda_step *step, void *step_arg, struct err *err)
{
	if (open_targets(agenda, step, step_arg, err))
		return -1;
	apply_class(agenda);
	agenda->previews = calloc(agenda->plan.n_tests, sizeof(*agenda->previews));
	if (!agenda->previews)
		return err_set(err, ERR_TARGET, "out of memory for the plan");
	for (unsigned i = 0; i < agenda->plan.n_tests; i++) {
		if (agenda->plan.tests[i].target[0])
			tell(step, step_arg, agenda->plan.tests[i].target);
		if (check_test(agenda, i, err))
			return -1;
	}
	return 0;
}

static uint64_t tests_duration_ns(const struct agenda *agenda, unsigned first)
{
	uint64_t sum = 0;

	for (unsigned i = first; i < agenda->plan.n_tests; i++)
		sum += agenda->previews[i].duration_ns;
	return sum;
}

static bool has_data_to_keep(const struct agenda *agenda)
{
	for (unsigned i = 0; i < agenda->plan.n_tests; i++) {
		const struct test *test = &agenda->plan.tests[i];

		if (test->verify != VERIFY_NONE || test->layout == LAYOUT_NONE)
			return true;
	}
	return false;
}

static bool is_repeatable(const struct test *test)
{
	return !plan_is_persist(test) && test->target[0] && !plan_by_amount(test) &&
	       !plan_paces(test) && test->limits_probe != PROBE_FALSE &&
	       strcmp(test->ioengine, "null") != 0;
}

bool agenda_drift(const struct agenda *agenda, struct test *again)
{
	const struct test *first = &agenda->plan.tests[0];
	uint64_t plan_ns = tests_duration_ns(agenda, 0), deadline_ns = agenda->host.deadline_ns;
	uint64_t all_ns = min_u64(AGENDA_DRIFT_NS, first->ramp_time_ns + first->runtime_ns);

	if (agenda->plan.n_tests < 2 || !is_repeatable(first) || has_data_to_keep(agenda) ||
	    (first->limits_probe == PROBE_AUTO && plan_ns < AGENDA_DRIFT_PLAN_NS) ||
	    (deadline_ns && plan_ns + all_ns > deadline_ns))
		return false;
	*again = *first;
	snprintf(again->name, sizeof(again->name), "drift");
	again->ramp_time_ns = min_u64(first->ramp_time_ns, all_ns / 5);
	again->runtime_ns = all_ns - again->ramp_time_ns;
	again->limits_probe = PROBE_FALSE;
	again->n_expect = 0;
	return true;
}

uint64_t agenda_duration_ns(const struct agenda *agenda, unsigned first)
{
	uint64_t sum = tests_duration_ns(agenda, first);
	struct test again;

	if (agenda_drift(agenda, &again))
		sum += again.ramp_time_ns + again.runtime_ns;
	return sum;
}

bool agenda_exceeds_deadline(const struct agenda *agenda, char out[RESULT_TEXT_MAX])
{
	uint64_t deadline_ns = agenda->host.deadline_ns, all_ns = tests_duration_ns(agenda, 0);
	char all[UNITS_TEXT_MAX], deadline[UNITS_TEXT_MAX];
	unsigned i = 0;

	if (!deadline_ns || all_ns <= deadline_ns)
		return false;
	while (all_ns - tests_duration_ns(agenda, i + 1) <= deadline_ns)
		i++;
	snprintf(out, RESULT_TEXT_MAX,
	         "the plan takes %s and its layouts, the pod ends after %s (PVCBENCH_DEADLINE): "
	         "'%.80s' and what follows will not be completed",
	         units_format_time(all_ns, all), units_format_time(deadline_ns, deadline),
	         agenda->plan.tests[i].name);
	return true;
}

void agenda_destroy(struct agenda *agenda)
{
	for (unsigned i = 0; i < agenda->n_targets; i++) {
		leftovers_destroy(&agenda->leftovers[i]);
		target_destroy(&agenda->targets[i]);
	}
	plan_destroy(&agenda->plan);
	free(agenda->leftovers);
	free(agenda->targets);
	free(agenda->previews);
}

/* ---- for a person ---- */

/* How long a test takes, or what it writes where an amount ends it. */
static void write_extent(FILE *out, const struct preview *preview)
{
	char text[UNITS_TEXT_MAX];

	if (preview->duration_ns)
		fprintf(out, "takes %s", units_format_time(preview->duration_ns, text));
	else if (preview->write_bytes)
		fprintf(out, "writes %s", units_format_size(preview->write_bytes, text));
	else
		fprintf(out, "until its amount is read");
}

static void write_step(FILE *out, const struct test *test)
{
	char step[RESULT_TEXT_MAX] = "";

	if (plan_is_hops(test))
		text_chains(test, step, sizeof(step));
	else if (plan_is_table(test))
		text_deletion(test, step, sizeof(step));
	else
		text_step(test, step, sizeof(step));
	fprintf(out, "%-24s %-16s %s\n", test->name, test->target[0] ? test->target : "-", step);
}

static void write_preview(FILE *out, const struct test *test, const struct preview *preview)
{
	char layout[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];

	if (plan_is_persist(test) || !test->target[0]) {
		write_step(out, test);
		return;
	}
	fprintf(out, "%-24s %-16s size %-8s layout %-8s ", test->name, test->target,
	        units_format_size(preview->size, size),
	        units_format_size(preview->layout_bytes, layout));
	write_extent(out, preview);
	fputc('\n', out);
	if (preview->search[0])
		fprintf(out, "  search: %s\n", preview->search);
	for (unsigned i = 0; i < preview->n_concessions; i++)
		fprintf(out, "  concession: %s\n", preview->concessions[i]);
}

/* Tests of one target share its files, so the largest layout is what is written. */
static uint64_t layout_bytes(const struct agenda *agenda)
{
	uint64_t sum = 0;

	for (unsigned t = 0; t < agenda->n_targets; t++) {
		uint64_t most = 0;

		for (unsigned i = 0; i < agenda->plan.n_tests; i++)
			if (!strcmp(agenda->plan.tests[i].target, agenda->targets[t].path))
				most = max_u64(most, agenda->previews[i].layout_bytes);
		sum += most;
	}
	return sum;
}

static void write_class(FILE *out, const struct agenda *agenda)
{
	struct conditions c = {0};
	char limits[PUBLISHED_TEXT_MAX], size[UNITS_TEXT_MAX];

	agenda_describe_class(agenda, &c);
	if (c.class[0])
		fprintf(out, "class %s: %s\n", c.class, published_text(&c.class_limits, limits));
	if (c.class[0] && agenda->class.size_bytes)
		fprintf(out, "  size: at most %s in all files of a test\n",
		        units_format_size(agenda->class.size_bytes, size));
	if (c.class_note[0])
		fprintf(out, "%s%s\n", c.class[0] ? "  " : "", c.class_note);
}

void agenda_write(FILE *out, const struct agenda *agenda)
{
	uint64_t duration_ns = agenda_duration_ns(agenda, 0);
	struct test again;
	char time[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX], note[RESULT_TEXT_MAX];

	write_class(out, agenda);
	for (unsigned i = 0; i < agenda->plan.n_tests; i++)
		write_preview(out, &agenda->plan.tests[i], &agenda->previews[i]);
	if (agenda_drift(agenda, &again))
		fprintf(out, "%-24s %-16s %s again, not counted; takes %s\n", again.name,
		        again.target, agenda->plan.tests[0].name,
		        units_format_time(again.ramp_time_ns + again.runtime_ns, time));
	fprintf(out, "in all: %u tests", agenda->plan.n_tests);
	if (duration_ns)
		fprintf(out, ", %s", units_format_time(duration_ns, time));
	fprintf(out, ", layout of %s\n", units_format_size(layout_bytes(agenda), size));
	if (agenda_exceeds_deadline(agenda, note))
		fprintf(out, "note: %s\n", note);
}
