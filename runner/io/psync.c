/*
 * pread, pwrite, fsync, fdatasync: one request at a time, done when submit
 * returns. Depth comes from threads that each have a state of their own.
 */
#include "io/engine.h"

#include <assert.h>
#include <errno.h>

struct psync {
	int fd;
	struct io *done; /* not yet handed out; NULL: none */
};

static int psync_open(void **state, const struct engine_params *params, struct err *err)
{
	struct psync *psync = calloc(1, sizeof(*psync));

	if (!psync)
		return err_set(err, ERR_TEST, "no memory for an engine");
	psync->fd = params->fd;
	*state = psync;
	return 0;
}

static ssize_t perform(int fd, const struct io *io)
{
	switch (io->op) {
	case IO_READ:
		return pread(fd, io->buf, io->len, (off_t)io->offset);
	case IO_WRITE:
		return pwrite(fd, io->buf, io->len, (off_t)io->offset);
	case IO_FSYNC:
		return fsync(fd);
	case IO_FDATASYNC:
		return fdatasync(fd);
	}
	assert(!"an operation we know");
	return -1;
}

static int psync_submit(void *state, struct io *const *ios, unsigned n)
{
	struct psync *psync = state;

	assert(!psync->done);
	if (n == 0)
		return 0;

	ssize_t moved = perform(psync->fd, ios[0]);

	ios[0]->res = moved < 0 ? -errno : (int32_t)moved;
	psync->done = ios[0];
	return 1;
}

static int psync_reap(void *state, struct io **done, unsigned min, unsigned max,
                      uint64_t timeout_ns)
{
	struct psync *psync = state;

	(void)min;
	(void)timeout_ns;
	if (!psync->done || max == 0)
		return 0;
	done[0] = psync->done;
	psync->done = NULL;
	return 1;
}

static void psync_close(void *state)
{
	free(state);
}

const struct engine engine_psync = {
        .name = "psync",
        .max_depth = 1,
        .open = psync_open,
        .submit = psync_submit,
        .reap = psync_reap,
        .close = psync_close,
};
