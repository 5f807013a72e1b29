/*
 * Moves nothing: every request is complete once it is taken. Shows what the
 * runner itself costs per request.
 */
#include "io/engine.h"

#include <assert.h>

/* A ring of the requests taken and not yet handed out. */
struct null {
	unsigned depth;
	unsigned head, count;
	struct io *ring[];
};

static int null_open(void **state, const struct engine_params *params, struct err *err)
{
	struct null *null = calloc(1, sizeof(*null) + params->depth * sizeof(null->ring[0]));

	if (!null)
		return err_set(err, ERR_TEST, "no memory for %u requests", params->depth);
	null->depth = params->depth;
	*state = null;
	return 0;
}

static int null_submit(void *state, struct io *const *ios, unsigned n)
{
	struct null *null = state;

	assert(n <= null->depth - null->count);
	for (unsigned i = 0; i < n; i++)
		null->ring[(null->head + null->count++) % null->depth] = ios[i];
	return (int)n;
}

static int null_reap(void *state, struct io **done, unsigned min, unsigned max, uint64_t timeout_ns)
{
	struct null *null = state;
	unsigned n = (unsigned)min_u64(null->count, max);

	(void)min;
	(void)timeout_ns;
	for (unsigned i = 0; i < n; i++) {
		struct io *io = null->ring[null->head];

		io->res = io->op == IO_READ || io->op == IO_WRITE ? (int32_t)io->len : 0;
		done[i] = io;
		null->head = (null->head + 1) % null->depth;
	}
	null->count -= n;
	return (int)n;
}

static void null_close(void *state)
{
	free(state);
}

const struct engine engine_null = {
        .name = "null",
        .max_depth = ENGINE_DEPTH_MAX,
        .open = null_open,
        .submit = null_submit,
        .reap = null_reap,
        .close = null_close,
};
