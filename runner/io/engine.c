/*
 * The table of engines, and the choice of one. A choice is made by sending one
 * real request through each candidate to the very file, since neither kernel
 * version nor a successful set-up tells what a seccomp profile, a file system or
 * a limit will refuse.
 *
 * An errno in `refusals` means that the engine is refused here; any other answer
 * (EIO, ENOSPC) is the file's own, and shows that the engine works.
 */
#include "io/engine.h"

#include "io/file.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define TRY_TIMEOUT_NS (10 * NSEC_PER_SEC)
/* Suits every O_DIRECT: no device or page asks for more. */
#define TRY_ALIGN (64 * KIB)

static const struct engine *const engines[] = {
        &engine_uring,
        &engine_aio,
        &engine_psync,
        &engine_null,
};

static const int refusals[] = {EPERM,  ENOSYS,     EACCES, ENOMEM, EAGAIN,
                               EINVAL, EOPNOTSUPP, EMFILE, ENFILE};

/* What usually is behind a refusal, and what to do about it. */
static const struct cause {
	const struct engine *engine;
	int errnum;
	const char *text;
} causes[] = {
        {&engine_uring, EPERM, "likely cause: the pod's seccomp profile"},
        {&engine_uring, EACCES, "likely cause: the pod's seccomp profile"},
        {&engine_uring, ENOSYS, "an old kernel, or the pod's seccomp profile"},
        {&engine_uring, ENOMEM, "likely cause: a small memlock limit"},
        {&engine_uring, EMFILE, "the limit of open files, RLIMIT_NOFILE"},
        {&engine_aio, EPERM, "likely cause: the pod's seccomp profile"},
        {&engine_aio, ENOSYS, "likely cause: the pod's seccomp profile"},
        {&engine_aio, EAGAIN, "the node's fs.aio-max-nr is used up"},
};

const struct engine *engine_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		if (strcmp(engines[i]->name, name) == 0)
			return engines[i];
	}
	return NULL;
}

static bool is_refusal(int errnum)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		if (refusals[i] == errnum)
			return true;
	}
	return false;
}

const char *engine_cause(const struct engine *engine, int errnum)
{
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		if (causes[i].engine == engine && causes[i].errnum == errnum)
			return causes[i].text;
	}
	return NULL;
}

/* Wait for the one request: 1, 0 when the time is up, or -errno of the engine. */
static int await_one(const struct engine *engine, void *state, uint64_t timeout_ns)
{
	uint64_t end_ns = clock_now_ns() + timeout_ns;
	struct io *done;

	/* A reap that a signal cut short is no word on the storage. */
	for (uint64_t now_ns = clock_now_ns(); now_ns < end_ns; now_ns = clock_now_ns()) {
		int ret = engine->reap(state, &done, 1, 1, end_ns - now_ns);

		if (ret != 0)
			return ret;
	}
	return 0;
}

/* Send io and wait: its result, or -errno of the engine; -ETIMEDOUT without an answer. */
static int perform_one(const struct engine *engine, void *state, uint64_t timeout_ns, struct io *io,
                       struct err *err)
{
	int ret = engine->submit(state, &io, 1);

	if (ret == 1)
		ret = await_one(engine, state, timeout_ns);
	if (ret == 1 && io->res >= 0)
		return io->res;
	if (ret >= 0)
		ret = ret == 0 ? -ETIMEDOUT : io->res;
	err_sys(err, ERR_TEST, -ret, "%s: a trial %s", engine->name,
	        io->op == IO_READ ? "read" : "write");
	return ret;
}

/* Open n states: how many came to be; err says why not all. */
static unsigned open_states(const struct engine *engine, const struct engine_params *params,
                            void **states, unsigned n, struct err *err)
{
	unsigned i = 0;

	while (i < n && engine->open(&states[i], params, err) == 0)
		i++;
	return i;
}

struct trial {
	int fd;
	enum io_op op;
	uint64_t offset;
	uint32_t bytes;
	off_t size; /* of the file before */
	unsigned depth, jobs;
	uint64_t timeout_ns;
	void (*step)(void *arg, bool of_volume);
	void *arg;
};

static void tell_step(const struct trial *trial, bool of_volume)
{
	if (trial->step)
		trial->step(trial->arg, of_volume);
}

/* Send io through the first of n states that are open at once. */
static int perform_among(const struct engine *engine, const struct engine_params *params,
                         unsigned n, const struct trial *trial, struct io *io, struct err *err)
{
	CLEANUP(mem) void **states = calloc(n, sizeof(*states));

	if (!states) {
		err_set(err, ERR_TEST, "no memory for %u engines", n);
		return -ENOMEM;
	}

	tell_step(trial, false);

	unsigned opened = open_states(engine, params, states, n, err);
	int ret = err->errnum && opened < n ? -err->errnum : -ENOMEM;

	if (opened == n) {
		tell_step(trial, true);
		ret = perform_one(engine, states[0], trial->timeout_ns, io, err);
		tell_step(trial, false);
	}
	for (unsigned i = 0; i < opened; i++)
		engine->close(states[i]);
	return ret;
}

static int send_trial(const struct engine *engine, const struct trial *trial, struct err *err)
{
	size_t arena_size = (trial->bytes + TRY_ALIGN - 1) / TRY_ALIGN * TRY_ALIGN;
	void *arena = aligned_alloc(TRY_ALIGN, arena_size);

	if (!arena) {
		err_set(err, ERR_TEST, "no memory for a request of %u bytes", trial->bytes);
		return -ENOMEM;
	}
	memset(arena, 0, trial->bytes);

	/* Without a depth of its own an engine takes no more for more of it. */
	bool has_depth = engine->max_depth > 1;
	struct engine_params params = {.fd = trial->fd,
	                               .depth = has_depth ? trial->depth : 1,
	                               .arena = arena,
	                               .arena_size = trial->bytes};
	struct io io = {
	        .op = trial->op, .len = trial->bytes, .offset = trial->offset, .buf = arena};
	int ret = perform_among(engine, &params, has_depth ? trial->jobs : 1, trial, &io, err);

	/* The kernel may still use the buffer of an unanswered request: it is left to it. */
	if (ret != -ETIMEDOUT)
		free(arena);
	return ret;
}

int engine_try(const struct engine *engine, int fd, enum io_op op, uint64_t offset, uint32_t bytes,
               struct err *err)
{
	struct trial trial = {.fd = fd,
	                      .op = op,
	                      .offset = offset,
	                      .bytes = bytes,
	                      .depth = 1,
	                      .jobs = 1,
	                      .timeout_ns = TRY_TIMEOUT_NS};

	return send_trial(engine, &trial, err);
}

static struct trial plan_trial(const struct engine_wish *wish)
{
	off_t size = lseek(wish->fd, 0, SEEK_END);
	bool holds = size >= 0 && (uint64_t)size >= wish->offset + wish->bytes;

	return (struct trial){.fd = wish->fd,
	                      .op = holds || !wish->may_write ? IO_READ : IO_WRITE,
	                      .offset = wish->offset,
	                      .bytes = wish->bytes,
	                      .size = size,
	                      .depth = wish->depth,
	                      .jobs = wish->jobs,
	                      .timeout_ns = wish->timeout_ns ? wish->timeout_ns : TRY_TIMEOUT_NS,
	                      .step = wish->step,
	                      .arg = wish->arg};
}

/* Make the trial; a file that it made longer gets its size back. */
static int make_trial(const struct engine *engine, const struct trial *trial, struct err *err)
{
	int ret = send_trial(engine, trial, err);

	/* Where it cannot be shortened it is a file of ours that is longer: no harm. */
	if (trial->op == IO_WRITE && ret > 0 && ftruncate(trial->fd, trial->size) < 0)
		return ret;
	return ret;
}

PRINTF_LIKE(2, 3)
static void add_reason(struct engine_choice *choice, const char *fmt, ...)
{
	size_t used = strlen(choice->reason);
	va_list args;

	va_start(args, fmt);
	vsnprintf(choice->reason + used, sizeof(choice->reason) - used, fmt, args);
	va_end(args);
}

static void add_refusal(struct engine_choice *choice, const struct engine *engine, int errnum)
{
	const char *cause = engine_cause(engine, errnum);

	choice->refused = true;
	add_reason(choice, "%s%s refused: %s", choice->reason[0] ? "; " : "", engine->name,
	           err_words(errnum));
	if (cause)
		add_reason(choice, " (%s)", cause);
}

/*
 * Try one engine. 1: it is taken; 0: it is refused, with the reason added; -1:
 * the file does not answer at all, err is set.
 */
static int consider(struct engine_choice *choice, const struct engine *engine,
                    const struct trial *trial, struct err *err)
{
	struct err why;
	int ret = make_trial(engine, trial, &why);

	if (ret == -ETIMEDOUT)
		return err_set(err, ERR_TEST,
		               "the volume does not answer: no reply to a trial %s in %llu s",
		               trial->op == IO_READ ? "read" : "write",
		               (unsigned long long)(trial->timeout_ns / NSEC_PER_SEC));
	if (ret < 0 && is_refusal(-ret)) {
		add_refusal(choice, engine, -ret);
		return 0;
	}
	choice->engine = engine;
	/* Not which one: tests of one run that were written or read then say the same. */
	add_reason(choice, "%s%s: a trial request was %s", choice->reason[0] ? "; " : "",
	           engine->name, ret < 0 ? "answered with: " : "served");
	if (ret < 0)
		add_reason(choice, "%s", err_words(-ret));
	return 1;
}

static int choose_named(struct engine_choice *choice, const struct engine *engine,
                        const struct trial *trial, struct err *err)
{
	int ret = consider(choice, engine, trial, err);

	if (ret == 0)
		return err_set(err, ERR_TARGET, "%s; use ioengine: auto to fall back",
		               choice->reason);
	return ret < 0 ? -1 : 0;
}

static int choose_auto(struct engine_choice *choice, bool direct, const struct trial *trial,
                       struct err *err)
{
	bool nowait = file_supports_nowait(trial->fd);
	const struct {
		const struct engine *engine;
		const char *unsuited; /* NULL: it suits this file */
	} candidates[] = {
	        {&engine_uring, nowait ? NULL
	                               : "io_uring would be served by kernel threads here "
	                                 "(RWF_NOWAIT refused)"},
	        {&engine_aio, !direct   ? "libaio is for O_DIRECT"
	                      : !nowait ? "libaio might block"
	                                : NULL},
	        {&engine_psync, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		if (candidates[i].unsuited) {
			add_reason(choice, "%s%s", choice->reason[0] ? "; " : "",
			           candidates[i].unsuited);
			continue;
		}

		int ret = consider(choice, candidates[i].engine, trial, err);

		if (ret != 0)
			return ret < 0 ? -1 : 0;
	}
	return err_set(err, ERR_TARGET, "no engine can serve this file: %s", choice->reason);
}

int engine_choose(struct engine_choice *choice, const struct engine_wish *wish, struct err *err)
{
	assert(wish->bytes > 0 && wish->depth > 0 && wish->jobs > 0);

	bool is_auto = strcmp(wish->name, "auto") == 0;
	const struct engine *engine = is_auto ? NULL : engine_find(wish->name);

	if (!is_auto && !engine)
		return err_set(err, ERR_PLAN, "no engine is named '%s'", wish->name);

	struct trial trial = plan_trial(wish);

	*choice = (struct engine_choice){0};
	return is_auto ? choose_auto(choice, wish->direct, &trial, err)
	               : choose_named(choice, engine, &trial, err);
}
