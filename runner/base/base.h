/* What every file may use: sizes, time, small macros, cleanup of scratch. */
#ifndef PVCBENCH_BASE_H
#define PVCBENCH_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)               (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(fmt_arg, first) __attribute__((format(printf, fmt_arg, first)))

#define KIB 1024ull
#define MIB (1024ull * KIB)
#define GIB (1024ull * MIB)

__extension__ typedef unsigned __int128 uint128; /* for products of two 64-bit numbers */

#define NSEC_PER_USEC 1000ull
#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_SEC  1000000000ull

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Of 0 and another it is the other. */
static inline uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Nanoseconds of the monotonic clock; wall time never enters a measurement. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/*
 * Scratch that ends with its block: `CLEANUP(fd) int fd = open(...)`. A closed
 * descriptor is -1 and an empty pointer is NULL; both are left alone.
 */
#define CLEANUP(what) __attribute__((cleanup(cleanup_##what)))

static inline void cleanup_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void cleanup_mem(void *pointer)
{
	free(*(void **)pointer);
}

#endif
