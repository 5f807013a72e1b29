/*
 * io_uring. submit fills the submission queue and hands all but the last batch to the
 * kernel; reap hands on these and waits in the same system call, so that a closed loop
 * costs one call per batch. Where the storage answers within the call there is nothing to
 * wait for: reap hands over, finds all of it done, and the batch grows (engine_batch).
 *
 * The ring is set up as the newest kernels like it (completions run in our own
 * context, when we ask for them), else as older ones do. The ring, the file and the
 * arena are registered where the kernel allows it: that saves reference counts for
 * every call and request and the pinning of pages, and where it is refused (a small
 * RLIMIT_MEMLOCK) plain requests do the same work.
 *
 * Kernels before 5.11 cannot wait with a time limit in that call
 * (IORING_FEAT_EXT_ARG); there the ring's descriptor is polled.
 */
#include "io/engine.h"

#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <sys/syscall.h>

/* A kernel short of memory for a request is asked again this often, 1 ms apart. */
#define STARVED_TRIES_MAX 1000
/* Locked memory of a ring that was closed just before may still be counted. */
#define SET_UP_TRIES_MAX 20
#define SET_UP_PAUSE_NS  (5 * NSEC_PER_MSEC)

struct uring {
	struct io_uring ring;
	int fd; /* index 0 when the file is registered */
	uint8_t sqe_flags;
	bool arena_is_registered;
	unsigned batch;         /* to the kernel in one call */
	unsigned outstanding;   /* taken and not handed out */
	unsigned starved_tries; /* in a row */
};

static int set_up_once(struct io_uring *ring, unsigned depth)
{
	static const unsigned flags[] = {
	        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
	        IORING_SETUP_COOP_TASKRUN,
	        0,
	};
	int ret = -EINVAL;

	/* A kernel that does not know a flag answers EINVAL. */
	for (unsigned i = 0; ret == -EINVAL && i < ARRAY_SIZE(flags); i++)
		ret = io_uring_queue_init(depth, ring, flags[i]);
	return ret;
}

static int set_up_ring(struct io_uring *ring, unsigned depth)
{
	struct timespec pause = {.tv_nsec = (long)SET_UP_PAUSE_NS};
	int ret = set_up_once(ring, depth);

	for (unsigned i = 0; ret == -ENOMEM && i < SET_UP_TRIES_MAX; i++) {
		nanosleep(&pause, NULL);
		ret = set_up_once(ring, depth);
	}
	return ret;
}

static void register_what_works(struct uring *u, const struct engine_params *params)
{
	struct iovec arena = {.iov_base = params->arena, .iov_len = params->arena_size};

	u->fd = params->fd;
	io_uring_register_ring_fd(&u->ring);
	if (io_uring_register_files(&u->ring, &params->fd, 1) == 0) {
		u->fd = 0;
		u->sqe_flags = IOSQE_FIXED_FILE;
	}
	u->arena_is_registered = io_uring_register_buffers(&u->ring, &arena, 1) == 0;
}

static int uring_open(void **state, const struct engine_params *params, struct err *err)
{
	struct uring *u = calloc(1, sizeof(*u));

	if (!u)
		return err_set(err, ERR_TEST, "no memory for an engine");

	int ret = set_up_ring(&u->ring, params->depth);

	if (ret < 0) {
		free(u);
		return err_sys(err, ERR_TEST, -ret, "io_uring_setup for %u requests",
		               params->depth);
	}
	register_what_works(u, params);
	u->batch = ENGINE_BATCH;
	*state = u;
	return 0;
}

static void prepare(const struct uring *u, struct io_uring_sqe *sqe, const struct io *io)
{
	static const int transfer[][2] = {
	        [IO_READ] = {IORING_OP_READ, IORING_OP_READ_FIXED},
	        [IO_WRITE] = {IORING_OP_WRITE, IORING_OP_WRITE_FIXED},
	};

	if (io->op == IO_READ || io->op == IO_WRITE)
		io_uring_prep_rw(transfer[io->op][u->arena_is_registered], sqe, u->fd, io->buf,
		                 io->len, io->offset);
	else
		io_uring_prep_fsync(sqe, u->fd, io->op == IO_FDATASYNC ? IORING_FSYNC_DATASYNC : 0);
	sqe->flags |= u->sqe_flags;
}

/*
 * One call, without waiting; what the kernel does not take now stays queued for the reap.
 * True when it left nothing in flight.
 */
static bool hand_over(struct uring *u)
{
	io_uring_submit(&u->ring);

	bool all_answered = io_uring_cq_ready(&u->ring) == u->outstanding;

	u->batch = engine_batch(u->batch, all_answered);
	return all_answered;
}

static int uring_submit(void *state, struct io *const *ios, unsigned n)
{
	struct uring *u = state;
	unsigned i;

	for (i = 0; i < n; i++) {
		if (io_uring_sq_ready(&u->ring) >= u->batch)
			hand_over(u);

		struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);

		if (!sqe)
			break;
		prepare(u, sqe, ios[i]);
		io_uring_sqe_set_data(sqe, ios[i]);
		u->outstanding++;
	}
	return i || n == 0 ? (int)i : -EAGAIN;
}

static unsigned collect(struct uring *u, struct io **done, unsigned max)
{
	struct io_uring_cqe *cqe;
	unsigned head, n = 0;

	io_uring_for_each_cqe(&u->ring, head, cqe)
	{
		if (n == max)
			break;
		done[n] = io_uring_cqe_get_data(cqe);
		done[n++]->res = cqe->res;
	}
	io_uring_cq_advance(&u->ring, n);
	u->outstanding -= n;
	return n;
}

/* Wait until min completions lie in the ring, by polling it. 0 or -errno. */
static int poll_ring(struct uring *u, struct __kernel_timespec *timeout)
{
	struct pollfd ring = {.fd = u->ring.ring_fd, .events = POLLIN};

	/* The system call, not libc's: it leaves in *timeout what remains of the time. */
	long n = syscall(SYS_ppoll, &ring, 1, timeout, NULL, 8);

	return n > 0 ? 0 : n == 0 ? -ETIME : -errno;
}

/* One call: what is queued to the kernel, and wait for min. 0 or more, or -errno. */
static int enter(struct uring *u, unsigned min, struct __kernel_timespec *timeout)
{
	struct io_uring_cqe *cqe;

	if (min == 0)
		return io_uring_submit_and_get_events(&u->ring);
	if (!timeout)
		return io_uring_submit_and_wait(&u->ring, min);
	if (u->ring.features & IORING_FEAT_EXT_ARG)
		return io_uring_submit_and_wait_timeout(&u->ring, &cqe, min, timeout, NULL);

	int ret = io_uring_submit(&u->ring);

	return ret < 0 || io_uring_cq_ready(&u->ring) >= min ? ret : poll_ring(u, timeout);
}

/* Enter until the kernel has taken all that is queued, or will not take more. */
static int flush_and_wait(struct uring *u, unsigned min, struct __kernel_timespec *timeout)
{
	unsigned queued;
	int ret;

	do {
		queued = io_uring_sq_ready(&u->ring);
		ret = enter(u, min, timeout);
		/* It stops, without waiting, behind a request that failed at once. */
	} while (ret >= 0 && io_uring_sq_ready(&u->ring) > 0 &&
	         io_uring_sq_ready(&u->ring) < queued);
	return ret;
}

/* Wait for one completion of what the kernel has, without sending more. */
static int wait_for_one(struct uring *u, struct __kernel_timespec *timeout)
{
	struct io_uring_cqe *cqe;

	if (timeout && !(u->ring.features & IORING_FEAT_EXT_ARG))
		return poll_ring(u, timeout);
	return io_uring_wait_cqes(&u->ring, &cqe, 1, timeout, NULL);
}

/*
 * As flush_and_wait, where the kernel may have no memory for a request or its
 * completion queue may be full. What it already has will make room when it is
 * done; if it has nothing, it is asked again.
 */
static int flush_patiently(struct uring *u, unsigned min, struct __kernel_timespec *timeout)
{
	struct timespec pause = {.tv_nsec = (long)NSEC_PER_MSEC};
	uint64_t pauses = timeout ? (uint64_t)timeout->tv_sec * 1000 +
	                                    (uint64_t)timeout->tv_nsec / NSEC_PER_MSEC
	                          : UINT64_MAX;

	for (;; pauses--) {
		int ret = flush_and_wait(u, min, timeout);

		if (ret != -EAGAIN && ret != -EBUSY) {
			u->starved_tries = 0;
			return ret;
		}
		if (min == 0 || io_uring_cq_ready(&u->ring) > 0)
			return 0;
		if (u->outstanding > io_uring_sq_ready(&u->ring))
			return wait_for_one(u, timeout);
		if (++u->starved_tries > STARVED_TRIES_MAX)
			return ret;
		if (pauses == 0 || nanosleep(&pause, NULL) < 0)
			return 0;
	}
}

static int uring_reap(void *state, struct io **done, unsigned min, unsigned max,
                      uint64_t timeout_ns)
{
	struct uring *u = state;
	struct __kernel_timespec timeout = {
	        .tv_sec = (int64_t)(timeout_ns / NSEC_PER_SEC),
	        .tv_nsec = (long long)(timeout_ns % NSEC_PER_SEC),
	};
	unsigned least = (unsigned)min_u64(min, u->outstanding);
	bool all_there = u->batch > ENGINE_BATCH && hand_over(u);
	int ret = all_there ? 0
	                    : flush_patiently(u, least, timeout_ns == UINT64_MAX ? NULL : &timeout);
	unsigned got = collect(u, done, max);
	bool broken = ret < 0 && ret != -ETIME && ret != -EINTR;

	return broken && got == 0 ? ret : (int)got;
}

static void uring_close(void *state)
{
	struct uring *u = state;

	/*
	 * The kernel takes a ring apart later, in its own time; until then the file
	 * would count as open and the arena as locked. With requests in flight this
	 * would wait for them.
	 */
	if (u->outstanding == 0 && u->sqe_flags & IOSQE_FIXED_FILE)
		io_uring_unregister_files(&u->ring);
	if (u->outstanding == 0 && u->arena_is_registered)
		io_uring_unregister_buffers(&u->ring);
	io_uring_queue_exit(&u->ring);
	free(u);
}

const struct engine engine_uring = {
        .name = "io_uring",
        .max_depth = ENGINE_DEPTH_MAX,
        .open = uring_open,
        .submit = uring_submit,
        .reap = uring_reap,
        .close = uring_close,
};
