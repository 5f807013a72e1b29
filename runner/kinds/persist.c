/*
 * kind: persist. Whether a file survives, and who sees it: one run writes it, others, in other
 * containers, pods or at other times, look for it. What a step expects and does not find fails
 * the test.
 */
#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "io/marker.h"
#include "kinds/kind.h"

_Static_assert(PLAN_KEY_BYTES_MAX <= MARKER_BYTES_MAX, "a file that a plan may ask for is broken");
_Static_assert(sizeof(MARKER_PREFIX) + PLAN_KEY_MAX <= MARKER_NAME_MAX, "a name may be cut");

#define LOOK_NS (100 * NSEC_PER_MSEC) /* between two looks */

/* A test while it runs. */
struct persist {
	const struct test *test;
	struct kind_env *env;
	struct persist_result *result;
	struct marker marker;
	enum marker_state state;
};

static int fail_call(const struct persist *p, int errnum, const char *what, struct err *err)
{
	return err_sys(err, ERR_TEST, errnum, "cannot %s '%s/%s%s'", what, p->env->target->path,
	               MARKER_PREFIX, p->test->key);
}

static int refuse_foreign(const struct persist *p, struct err *err)
{
	return err_set(err, ERR_REFUSED,
	               "'%s/%s%s' was not written by pvcbench, and stays as it is (name another "
	               "key)",
	               p->env->target->path, MARKER_PREFIX, p->test->key);
}

static bool go_on(void *arg)
{
	struct persist *p = arg;

	kind_asks(p->env, plan_step_names[p->test->step]);
	return !atomic_load(p->env->stop);
}

static void tell_writer(struct persist *p)
{
	struct persist_result *result = p->result;

	result->found = true;
	result->bytes = p->marker.bytes;
	result->age_ns = marker_age_ns(&p->marker);
	snprintf(result->host, sizeof(result->host), "%s", p->marker.host);
	snprintf(result->run_id, sizeof(result->run_id), "%s", p->marker.run_id);
}

static int step_write(struct persist *p, struct err *err)
{
	struct target *target = p->env->target;
	uint64_t begin_ns;
	int errnum;

	kind_asks(p->env, "mkdir");
	if (target->run_dirfd < 0 && target_enter(target, p->env->run_id, err))
		return -1;
	p->marker.bytes = p->test->key_bytes;
	marker_describe(&p->marker, p->env->run_id);
	go_on(p);
	begin_ns = clock_now_ns();
	errnum = marker_write(target->run_dirfd, target->dirfd, p->test->key, &p->marker, go_on, p);
	p->result->took_ns = clock_now_ns() - begin_ns;
	if (errnum == EEXIST)
		return refuse_foreign(p, err);
	if (errnum && errnum != ECANCELED)
		return fail_call(p, errnum, "write", err);
	if (!errnum)
		tell_writer(p);
	return 0;
}

static int step_remove(struct persist *p, struct err *err)
{
	uint64_t begin_ns = clock_now_ns();
	int errnum;

	go_on(p);
	errnum = marker_look(p->env->target->dirfd, p->test->key, &p->state, &p->marker);
	if (!errnum)
		errnum = marker_remove(p->env->target->dirfd, p->test->key);
	p->result->took_ns = clock_now_ns() - begin_ns;
	if (errnum == EEXIST)
		return refuse_foreign(p, err);
	if (errnum)
		return fail_call(p, errnum, "remove", err);
	tell_writer(p);
	return 0;
}

/* ---- looking ---- */

static void tell_progress(const struct persist *p, uint64_t waited_ns)
{
	struct progress progress = {
	        .phase = PHASE_LOOK,
	        .elapsed_ns = waited_ns,
	        .expected_ns = p->test->wait_ns,
	};

	p->env->progress(p->env->arg, &progress);
}

/* Look until it is there, or the wait is over. */
static int look(struct persist *p, struct err *err)
{
	const struct timespec pause = {.tv_nsec = (long)LOOK_NS};
	uint64_t begin_ns = clock_now_ns();
	int errnum;

	for (;;) {
		if (!go_on(p))
			return 0;
		errnum = marker_look(p->env->target->dirfd, p->test->key, &p->state, &p->marker);
		p->result->waited_ns = clock_now_ns() - begin_ns;
		if (errnum)
			return fail_call(p, errnum, "look for", err);
		if (p->state != MARKER_ABSENT || p->result->waited_ns >= p->test->wait_ns)
			return 0;
		tell_progress(p, p->result->waited_ns);
		nanosleep(&pause, NULL);
	}
}

static int fail_absent(const struct persist *p, struct err *err)
{
	char waited[UNITS_TEXT_MAX];

	return err_set(err, ERR_TEST,
	               "'%s' is not there: no file '%s/%s%s' in %s (it was not written here, did "
	               "not survive, or is not shown yet: wait)",
	               p->test->key, p->env->target->path, MARKER_PREFIX, p->test->key,
	               units_format_time(p->result->waited_ns, waited));
}

static int fail_broken(const struct persist *p, struct err *err)
{
	return err_set(err, ERR_TEST,
	               "'%s' is not what was written: size or bytes of '%s/%s%s' differ from what "
	               "its head says",
	               p->test->key, p->env->target->path, MARKER_PREFIX, p->test->key);
}

static int fail_there(const struct persist *p, struct err *err)
{
	char age[UNITS_TEXT_MAX];

	err_set(err, ERR_TEST, "'%s' is there: '%s/%s%s'", p->test->key, p->env->target->path,
	        MARKER_PREFIX, p->test->key);
	if (p->result->host[0])
		err_append(err, ", written %s before by %s (run %s)",
		           units_format_time(p->result->age_ns, age), p->result->host,
		           p->result->run_id);
	return -1;
}

static int step_expect(struct persist *p, struct err *err)
{
	uint64_t begin_ns;
	int errnum;

	if (look(p, err))
		return -1;
	if (atomic_load(p->env->stop))
		return 0;
	begin_ns = clock_now_ns();
	errnum = marker_read(p->env->target->dirfd, p->test->key, &p->state, &p->marker, go_on, p);
	p->result->took_ns = clock_now_ns() - begin_ns;
	if (errnum == ECANCELED)
		return 0;
	if (errnum)
		return fail_call(p, errnum, "read", err);
	if (p->state == MARKER_FOREIGN)
		return refuse_foreign(p, err);
	if (p->state == MARKER_ABSENT)
		return fail_absent(p, err);
	tell_writer(p);
	return p->state == MARKER_BROKEN ? fail_broken(p, err) : 0;
}

static int step_expect_absent(struct persist *p, struct err *err)
{
	if (look(p, err))
		return -1;
	if (p->state == MARKER_FOREIGN)
		return refuse_foreign(p, err);
	if (p->state == MARKER_ABSENT)
		return 0;
	tell_writer(p);
	return fail_there(p, err);
}

static int (*const steps[])(struct persist *p, struct err *err) = {
        [STEP_WRITE] = step_write,
        [STEP_EXPECT] = step_expect,
        [STEP_EXPECT_ABSENT] = step_expect_absent,
        [STEP_REMOVE] = step_remove,
};

static int run(const struct test *test, struct kind_env *env, struct test_result *tr,
               struct err *err)
{
	struct persist p = {.test = test, .env = env, .result = &tr->persist};
	int ret = steps[test->step](&p, err);

	if (!atomic_load(env->stop))
		kind_measured(env);
	return ret;
}

static int check(const struct test *test, const struct target *target, const struct host *host,
                 struct preview *preview, struct err *err)
{
	char size[UNITS_TEXT_MAX], room[UNITS_TEXT_MAX];
	bool writes = test->step == STEP_WRITE;

	(void)host;
	if (target->is_block)
		return err_set(err, ERR_PLAN,
		               "kind persist needs a directory, and '%s' is a block device",
		               target->path);
	if (writes && test->key_bytes > target_budget(target))
		return err_set(err, ERR_TARGET, "'%s' has no room for %s: %s may be written",
		               target->path, units_format_size(test->key_bytes, size),
		               units_format_size(target_budget(target), room));
	if (preview)
		*preview = (struct preview){
		        .duration_ns = test->wait_ns,
		        .write_bytes = writes ? test->key_bytes : 0,
		};
	return 0;
}

const struct kind kind_persist = {
        .name = PLAN_KIND_PERSIST,
        .check = check,
        .run = run,
};
