/*
 * Plain reads and their exact percentiles: what a measurement is held against.
 *
 *	preads FILE BYTES BLOCK THREADS REQUESTS
 *
 * Threads draw REQUESTS direct reads at random blocks of the first BYTES of FILE; every
 * latency is kept and sorted. Prints JSON: ns, percentiles by the nearest rank.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ALIGN       4096
#define THREADS_MAX 1024

static struct {
	int fd;
	uint64_t blocks, block_bytes, requests;
	uint64_t *sample;
	_Atomic uint64_t next;
	pthread_barrier_t start;
} reads;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "preads: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *work(void *seed)
{
	uint64_t state = *(uint64_t *)seed, n;
	void *buf;

	if (posix_memalign(&buf, ALIGN, reads.block_bytes))
		die("memory");
	pthread_barrier_wait(&reads.start);
	while ((n = atomic_fetch_add(&reads.next, 1)) < reads.requests) {
		uint64_t start;

		state = state * 6364136223846793005u + 1442695040888963407u;
		start = now_ns();
		if (pread(reads.fd, buf, reads.block_bytes,
		          (off_t)((state >> 33) % reads.blocks * reads.block_bytes)) !=
		    (ssize_t)reads.block_bytes)
			die("read");
		reads.sample[n] = now_ns() - start;
	}
	free(buf);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* In thousandths of the samples. */
static uint64_t percentile(uint64_t thousandths)
{
	uint64_t rank = (reads.requests * thousandths + 999) / 1000;

	return reads.sample[rank ? rank - 1 : 0];
}

static void print(void)
{
	uint64_t sum = 0;

	qsort(reads.sample, reads.requests, sizeof(*reads.sample), compare);
	for (uint64_t i = 0; i < reads.requests; i++)
		sum += reads.sample[i];
	printf("{\"ios\": %" PRIu64 ", \"min\": %" PRIu64 ", \"max\": %" PRIu64
	       ", \"mean\": %.1f, \"p50\": %" PRIu64 ", \"p90\": %" PRIu64 ", \"p99\": %" PRIu64
	       "}\n",
	       reads.requests, reads.sample[0], reads.sample[reads.requests - 1],
	       (double)sum / (double)reads.requests, percentile(500), percentile(900),
	       percentile(990));
}

int main(int argc, char **argv)
{
	static pthread_t thread[THREADS_MAX];
	static uint64_t seed[THREADS_MAX];
	unsigned threads;

	if (argc != 6) {
		fprintf(stderr, "usage: preads FILE BYTES BLOCK THREADS REQUESTS\n");
		return 2;
	}
	reads.fd = open(argv[1], O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (reads.fd == -1)
		die(argv[1]);
	reads.block_bytes = strtoull(argv[3], NULL, 10);
	reads.blocks = strtoull(argv[2], NULL, 10) / reads.block_bytes;
	threads = (unsigned)atoi(argv[4]);
	reads.requests = strtoull(argv[5], NULL, 10);
	reads.sample = calloc(reads.requests, sizeof(*reads.sample));
	if (!reads.sample || !reads.blocks || !threads || threads > THREADS_MAX)
		die("arguments");
	pthread_barrier_init(&reads.start, NULL, threads);
	for (unsigned i = 0; i < threads; i++) {
		seed[i] = i + 1;
		if (pthread_create(&thread[i], NULL, work, &seed[i]))
			die("thread");
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	print();
	return 0;
}
