/*
 * Linux native AIO by its system calls; no library. io_submit copies what it is
 * given, so one set of control blocks serves every call. It stops at the first
 * request that it refuses: that one is handed out by the next reap with its
 * errno, as the other engines do, and the rest goes on.
 *
 * The context is the address of the kernel's ring of completions, mapped for us to read and
 * to take from (as libaio and fio do): what lies there costs no system call. Without the mark
 * that says that it is such a ring, io_getevents does it.
 *
 * fsync and fdatasync are not offered by AIO on most kernels: they are done
 * within submit. What is done at submit waits in `ready` for the next reap.
 */
#include "io/engine.h"

#include <assert.h>
#include <errno.h>
#include <linux/aio_abi.h>
#include <sys/syscall.h>

/* As in the kernel's fs/aio.c. Completions lie from head up to tail; the kernel moves tail. */
struct aio_ring {
	unsigned id, nr;
	unsigned head, tail;
	unsigned magic, compat_features, incompat_features, header_length;
	struct io_event events[];
};

#define AIO_RING_MAGIC 0xa10a10a1

struct aio {
	aio_context_t context;
	struct aio_ring *ring; /* NULL: not to be read here */
	int fd;
	unsigned depth;
	unsigned batch;     /* to the kernel in one call */
	unsigned in_flight; /* in the kernel */
	unsigned n_ready;
	struct io **ready;
	struct iocb *iocbs;
	struct iocb **pointers;
	struct io_event *events;
};

static void aio_close(void *state)
{
	struct aio *aio = state;

	/* io_destroy waits for what is in flight, on dead storage for ever: then leave it. */
	if (aio->context && aio->in_flight == 0)
		syscall(SYS_io_destroy, aio->context);
	free(aio->ready);
	free(aio->iocbs);
	free(aio->pointers);
	free(aio->events);
	free(aio);
}

static struct aio *aio_new(const struct engine_params *params)
{
	struct aio *aio = calloc(1, sizeof(*aio));
	unsigned depth = params->depth;

	if (!aio)
		return NULL;
	aio->fd = params->fd;
	aio->depth = depth;
	aio->ready = calloc(depth, sizeof(struct io *));
	aio->iocbs = calloc(depth, sizeof(struct iocb));
	aio->pointers = calloc(depth, sizeof(struct iocb *));
	aio->events = calloc(depth, sizeof(struct io_event));
	if (aio->ready && aio->iocbs && aio->pointers && aio->events)
		return aio;
	aio_close(aio);
	return NULL;
}

static struct aio_ring *find_ring(aio_context_t context)
{
	struct aio_ring *ring = (struct aio_ring *)(uintptr_t)context;

	return ring->magic == AIO_RING_MAGIC && !ring->incompat_features ? ring : NULL;
}

static int aio_open(void **state, const struct engine_params *params, struct err *err)
{
	struct aio *aio = aio_new(params);

	if (!aio)
		return err_set(err, ERR_TEST, "no memory for %u requests", params->depth);
	if (syscall(SYS_io_setup, params->depth, &aio->context) < 0) {
		int errnum = errno;

		aio->context = 0;
		aio_close(aio);
		return err_sys(err, ERR_TEST, errnum, "io_setup for %u requests", params->depth);
	}
	aio->ring = find_ring(aio->context);
	aio->batch = ENGINE_BATCH;
	*state = aio;
	return 0;
}

static bool is_transfer(const struct io *io)
{
	return io->op == IO_READ || io->op == IO_WRITE;
}

static void finish(struct aio *aio, struct io *io, int32_t res)
{
	assert(aio->n_ready < aio->depth);
	io->res = res;
	aio->ready[aio->n_ready++] = io;
}

static void sync_now(struct aio *aio, struct io *io)
{
	int ret = io->op == IO_FSYNC ? fsync(aio->fd) : fdatasync(aio->fd);

	finish(aio, io, ret < 0 ? -errno : 0);
}

/* Completions that lie in the ring. */
static unsigned ring_count(const struct aio_ring *ring)
{
	unsigned tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

	return tail >= ring->head ? tail - ring->head : tail + ring->nr - ring->head;
}

/* Give n transfers to the kernel: how many it took, or -errno. */
static long submit_transfers(struct aio *aio, struct io *const *ios, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		aio->iocbs[i] = (struct iocb){
		        .aio_data = (uintptr_t)ios[i],
		        .aio_lio_opcode = ios[i]->op == IO_READ ? IOCB_CMD_PREAD : IOCB_CMD_PWRITE,
		        .aio_fildes = (uint32_t)aio->fd,
		        .aio_buf = (uintptr_t)ios[i]->buf,
		        .aio_nbytes = ios[i]->len,
		        .aio_offset = (int64_t)ios[i]->offset,
		};
		aio->pointers[i] = &aio->iocbs[i];
	}

	long taken = syscall(SYS_io_submit, aio->context, (long)n, aio->pointers);

	if (taken < 0)
		return -errno;
	aio->in_flight += (unsigned)taken;
	aio->batch = engine_batch(aio->batch, aio->ring && ring_count(aio->ring) == aio->in_flight);
	return taken;
}

/* How many transfers ios starts with, at most a batch. */
static unsigned leading_transfers(const struct aio *aio, struct io *const *ios, unsigned n)
{
	unsigned i = 0;

	while (i < n && i < aio->batch && is_transfer(ios[i]))
		i++;
	return i;
}

static int aio_submit(void *state, struct io *const *ios, unsigned n)
{
	struct aio *aio = state;
	unsigned i = 0;

	assert(n <= aio->depth - aio->in_flight - aio->n_ready);
	while (i < n) {
		unsigned run = leading_transfers(aio, ios + i, n - i);

		if (run == 0) {
			sync_now(aio, ios[i++]);
			continue;
		}

		long taken = submit_transfers(aio, ios + i, run);

		if (taken == -EAGAIN || taken == 0)
			return i ? (int)i : -EAGAIN;
		if (taken < 0)
			finish(aio, ios[i++], (int32_t)taken);
		else
			i += (unsigned)taken;
	}
	return (int)i;
}

static unsigned take_ready(struct aio *aio, struct io **done, unsigned max)
{
	unsigned n = (unsigned)min_u64(aio->n_ready, max);

	for (unsigned i = 0; i < n; i++)
		done[i] = aio->ready[i];
	aio->n_ready -= n;
	for (unsigned i = 0; i < aio->n_ready; i++)
		aio->ready[i] = aio->ready[i + n];
	return n;
}

static void hand_out(struct aio *aio, struct io **done, const struct io_event *event)
{
	*done = (struct io *)(uintptr_t)event->data;
	(*done)->res = (int32_t)event->res;
	aio->in_flight--;
}

static unsigned take_from_ring(struct aio *aio, struct io **done, unsigned max)
{
	struct aio_ring *ring = aio->ring;
	unsigned n = (unsigned)min_u64(ring_count(ring), max);
	unsigned head = ring->head;

	for (unsigned i = 0; i < n; i++) {
		hand_out(aio, &done[i], &ring->events[head]);
		head = head + 1 == ring->nr ? 0 : head + 1;
	}
	__atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
	return n;
}

/* Up to max from the kernel, at least min unless the time is up: how many, or -errno. */
static int wait_for_finished(struct aio *aio, struct io **done, unsigned min, unsigned max,
                             uint64_t timeout_ns)
{
	struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / NSEC_PER_SEC),
	                           .tv_nsec = (long)(timeout_ns % NSEC_PER_SEC)};
	long n = syscall(SYS_io_getevents, aio->context, (long)min, (long)max, aio->events,
	                 timeout_ns == UINT64_MAX ? NULL : &timeout);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (long i = 0; i < n; i++)
		hand_out(aio, &done[i], &aio->events[i]);
	return (int)n;
}

static int aio_reap(void *state, struct io **done, unsigned min, unsigned max, uint64_t timeout_ns)
{
	struct aio *aio = state;
	unsigned got = take_ready(aio, done, max);

	if (aio->ring)
		got += take_from_ring(aio, done + got, max - got);

	unsigned most = (unsigned)min_u64(max - got, aio->in_flight);
	unsigned least = min > got ? (unsigned)min_u64(min - got, most) : 0;

	if (most == 0 || (aio->ring && least == 0))
		return (int)got;

	int more = wait_for_finished(aio, done + got, least, most, least ? timeout_ns : 0);

	if (more < 0)
		return got ? (int)got : more;
	return (int)got + more;
}

const struct engine engine_aio = {
        .name = "libaio",
        .max_depth = ENGINE_DEPTH_MAX,
        .open = aio_open,
        .submit = aio_submit,
        .reap = aio_reap,
        .close = aio_close,
};
