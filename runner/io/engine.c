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

static const int refusals[] = {EPERM, ENOSYS, EACCES, ENOMEM, EAGAIN, EINVAL, EOPNOTSUPP};

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
static int await_one(const struct engine *engine, void *state)
{
	uint64_t end_ns = clock_now_ns() + TRY_TIMEOUT_NS;
	struct io *done;

	/* A reap that a signal cut short is no word on the storage. */
	for (uint64_t now_ns = clock_now_ns(); now_ns < end_ns; now_ns = clock_now_ns()) {
		int ret = engine->reap(state, &done, 1, 1, end_ns - now_ns);

		if (ret != 0)
			return ret;
	}
	return 0;
}

/* Send io and wait: its result, or -errno of the engine. *gone: it was not answered. */
static int perform_one(const struct engine *engine, const struct engine_params *params,
                       struct io *io, bool *gone, struct err *err)
{
	void *state;

	if (engine->open(&state, params, err) < 0)
		return err->errnum ? -err->errnum : -ENOMEM;

	int ret = engine->submit(state, &io, 1);

	if (ret == 1)
		ret = await_one(engine, state);
	*gone = ret == 0;
	engine->close(state);
	if (ret == 1 && io->res >= 0)
		return io->res;
	if (ret >= 0)
		ret = ret == 0 ? -ETIMEDOUT : io->res;
	err_sys(err, ERR_TEST, -ret, "%s: a trial %s", engine->name,
	        io->op == IO_READ ? "read" : "write");
	return ret;
}

int engine_try(const struct engine *engine, int fd, enum io_op op, uint64_t offset, uint32_t bytes,
               struct err *err)
{
	size_t arena_size = (bytes + TRY_ALIGN - 1) / TRY_ALIGN * TRY_ALIGN;
	void *arena = aligned_alloc(TRY_ALIGN, arena_size);
	bool gone = false;

	if (!arena) {
		err_set(err, ERR_TEST, "no memory for a request of %u bytes", bytes);
		return -ENOMEM;
	}
	memset(arena, 0, arena_size);

	struct engine_params params = {
	        .fd = fd, .depth = 1, .arena = arena, .arena_size = arena_size};
	struct io io = {.op = op, .len = bytes, .offset = offset, .buf = arena};
	int ret = perform_one(engine, &params, &io, &gone, err);

	/* The kernel may still use the buffer of an unanswered request: it is left to it. */
	if (!gone)
		free(arena);
	return ret;
}

struct trial {
	int fd;
	enum io_op op;
	uint64_t offset;
	uint32_t bytes;
	off_t size; /* of the file before */
};

static struct trial plan_trial(int fd, uint64_t offset, uint32_t bytes, bool may_write)
{
	off_t size = lseek(fd, 0, SEEK_END);
	bool holds = size >= 0 && (uint64_t)size >= offset + bytes;

	return (struct trial){.fd = fd,
	                      .op = holds || !may_write ? IO_READ : IO_WRITE,
	                      .offset = offset,
	                      .bytes = bytes,
	                      .size = size};
}

/* Make the trial; a file that a trial write made longer gets its size back. */
static int make_trial(const struct engine *engine, const struct trial *trial, struct err *err)
{
	int ret = engine_try(engine, trial->fd, trial->op, trial->offset, trial->bytes, err);

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
	add_reason(choice, "%s refused: %s", engine->name, err_words(errnum));
	if (cause)
		add_reason(choice, " (%s)", cause);
	add_reason(choice, "; ");
}

/*
 * Try one engine. 1: it is taken; 0: it is refused, with the reason added and
 * err set; -1: the file does not answer at all.
 */
static int consider(struct engine_choice *choice, const struct engine *engine,
                    const struct trial *trial, struct err *err)
{
	const char *what = trial->op == IO_READ ? "read" : "write";
	int ret = make_trial(engine, trial, err);

	if (ret == -ETIMEDOUT) {
		err_set(err, ERR_TARGET,
		        "the storage does not answer: no reply to a trial %s in 10 s", what);
		return -1;
	}
	if (ret < 0 && is_refusal(-ret)) {
		add_refusal(choice, engine, -ret);
		return 0;
	}
	choice->engine = engine;
	add_reason(choice, "%s: a trial %s was ", engine->name, what);
	if (ret < 0)
		add_reason(choice, "answered: %s", err_words(-ret));
	else
		add_reason(choice, "served");
	return 1;
}

static int choose_named(struct engine_choice *choice, const struct engine *engine,
                        const struct trial *trial, struct err *err)
{
	struct err why;
	int ret = consider(choice, engine, trial, &why);

	if (ret == 1)
		return 0;
	if (ret == 0) {
		/* The reason ends in "; ", for those that follow in auto. */
		choice->reason[strlen(choice->reason) - 2] = '\0';
		err_set(&why, ERR_TARGET, "%s; use ioengine: auto to fall back", choice->reason);
	}
	*err = why;
	return -1;
}

static int choose_auto(struct engine_choice *choice, bool direct, const struct trial *trial,
                       struct err *err)
{
	bool nowait = file_supports_nowait(trial->fd);
	bool candidate[] = {nowait, nowait && direct, true};
	struct err why;

	if (!nowait)
		add_reason(choice, "io_uring would be served by kernel threads here "
		                   "(RWF_NOWAIT refused); ");
	for (size_t i = 0; i < ARRAY_SIZE(candidate); i++) {
		int ret = candidate[i] ? consider(choice, engines[i], trial, &why) : 0;

		if (ret == 1)
			return 0;
		if (ret < 0) {
			*err = why;
			return -1;
		}
	}
	return err_set(err, ERR_TARGET, "no engine can serve this file: %s", choice->reason);
}

int engine_choose(struct engine_choice *choice, const char *wanted, int fd, bool direct,
                  uint64_t offset, uint32_t bytes, uint32_t align, bool may_write, struct err *err)
{
	assert(bytes > 0 && align > 0 && bytes % align == 0);

	*choice = (struct engine_choice){0};
	if (strcmp(wanted, "auto") == 0) {
		struct trial trial = plan_trial(fd, offset, bytes, may_write);

		return choose_auto(choice, direct, &trial, err);
	}

	const struct engine *engine = engine_find(wanted);

	if (!engine)
		return err_set(err, ERR_PLAN, "no engine is named '%s'", wanted);

	struct trial trial = plan_trial(fd, offset, bytes, may_write);

	return choose_named(choice, engine, &trial, err);
}
