/*
 * ring FILE DEPTH [direct]: what each way to set up io_uring is worth.  `make bench-ring`
 *
 * A bare loop without statistics reads 4 KiB blocks at random through rings that lie side by
 * side. A round is some milliseconds of the ring as pvcbench sets it up, twice of one that
 * lacks something, and the first again (A B B A). Stated are the median of the ratios B / A of
 * time per request, bounds that hold it with at least 95 % (order statistics), and the least
 * time of each, which is what remains when nobody else had the CPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define BLOCK     4096u
#define ROUNDS    200
#define DEPTH_MAX 1024u
#define ARENA     (DEPTH_MAX * BLOCK)
#define DEFER     (IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN)
#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))

struct way {
	const char *name;
	unsigned flags;
	bool files, buffers, ring_fd, huge;
	struct io_uring ring;
	char *arena;
	double least_ns;
};

static struct way ways[] = {
        {.name = "as pvcbench does",
         .flags = DEFER,
         .files = true,
         .buffers = true,
         .ring_fd = true},
        {.name = "COOP_TASKRUN instead",
         .flags = IORING_SETUP_COOP_TASKRUN,
         .files = true,
         .buffers = true,
         .ring_fd = true},
        {.name = "no flags", .files = true, .buffers = true, .ring_fd = true},
        {.name = "file not registered", .flags = DEFER, .buffers = true, .ring_fd = true},
        {.name = "buffers not registered", .flags = DEFER, .files = true, .ring_fd = true},
        {.name = "ring not registered", .flags = DEFER, .files = true, .buffers = true},
        {.name = "nothing of all this"},
        {.name = "huge pages besides",
         .flags = DEFER,
         .files = true,
         .buffers = true,
         .ring_fd = true,
         .huge = true},
};

static int fd;
static unsigned depth;
static uint64_t blocks, random_state = 88172645463325252u;

static void fail(const char *what, int errnum)
{
	fprintf(stderr, "ring: %s: %s\n", what, strerror(errnum));
	exit(2);
}

static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void set_up(struct way *way)
{
	struct iovec arena = {.iov_len = ARENA};
	int ret = io_uring_queue_init(depth, &way->ring, way->flags);

	if (ret < 0)
		fail(way->name, -ret);
	arena.iov_base = way->arena = aligned_alloc(2u << 20, ARENA);
	if (!way->arena)
		fail(way->name, ENOMEM);
	madvise(way->arena, ARENA, way->huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(way->arena, 0, ARENA);
	if (way->files && (ret = io_uring_register_files(&way->ring, &fd, 1)) < 0)
		fail(way->name, -ret);
	if (way->buffers && (ret = io_uring_register_buffers(&way->ring, &arena, 1)) < 0)
		fail(way->name, -ret);
	if (way->ring_fd && (ret = io_uring_register_ring_fd(&way->ring)) < 0)
		fail(way->name, -ret);
	way->least_ns = 1e18;
}

/* The whole depth at once, and all of it waited for. */
static void turn(struct way *way)
{
	struct io_uring_cqe *cqe;
	unsigned head, n = 0;

	for (unsigned i = 0; i < depth; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&way->ring);

		io_uring_prep_rw(way->buffers ? IORING_OP_READ_FIXED : IORING_OP_READ, sqe,
		                 way->files ? 0 : fd, way->arena + (size_t)i * BLOCK, BLOCK,
		                 random_below(blocks) * BLOCK);
		sqe->flags |= way->files ? IOSQE_FIXED_FILE : 0;
	}

	int ret = io_uring_submit_and_wait(&way->ring, depth);

	if (ret < 0)
		fail(way->name, -ret);
	io_uring_for_each_cqe(&way->ring, head, cqe)
	{
		if (cqe->res != (int)BLOCK)
			fail("read", cqe->res < 0 ? -cqe->res : ENODATA);
		n++;
	}
	io_uring_cq_advance(&way->ring, n);
}

/* ns a request, over some 500 of them. */
static double measure(struct way *way)
{
	unsigned turns = 500 / depth + 1;
	double start = now_ns(), took;

	for (unsigned i = 0; i < turns; i++)
		turn(way);
	took = (now_ns() - start) / turns / depth;
	if (took < way->least_ns)
		way->least_ns = took;
	return took;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void compare(struct way *a, struct way *b)
{
	/* Of n ratios the median lies between these two but for 5 %: n / 2 -+ 0.98 sqrt(n). */
	const unsigned n = 2 * ROUNDS, beside = 20;
	double ratios[2 * ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		double first = measure(a), second = measure(b), third = measure(b),
		       last = measure(a);

		ratios[2 * i] = second / first;
		ratios[2 * i + 1] = third / last;
	}
	qsort(ratios, n, sizeof(ratios[0]), by_value);
	printf("%-24s %7.0f %7.0f  %.3f [%.3f %.3f]\n", b->name, a->least_ns, b->least_ns,
	       ratios[n / 2], ratios[n / 2 - beside], ratios[n / 2 + beside]);
}

int main(int argc, char **argv)
{
	bool direct = argc == 4 && strcmp(argv[3], "direct") == 0;

	depth = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	if (argc > 4 || (argc == 4 && !direct) || depth == 0 || depth > DEPTH_MAX) {
		fprintf(stderr, "usage: ring FILE DEPTH [direct]\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY | (direct ? O_DIRECT : 0));
	if (fd < 0)
		fail(argv[1], errno);
	blocks = (uint64_t)lseek(fd, 0, SEEK_END) / BLOCK;
	if (!blocks)
		fail(argv[1], ENODATA);
	for (size_t i = 0; i < COUNT(ways); i++)
		set_up(&ways[i]);
	printf("%s, depth %u%s\n%-24s %7s %7s  %s\n", argv[1], depth, direct ? ", O_DIRECT" : "",
	       "", "ns", "without", "ratio [95 %]");
	for (size_t i = 1; i < COUNT(ways); i++)
		compare(&ways[0], &ways[i]);
	return 0;
}
