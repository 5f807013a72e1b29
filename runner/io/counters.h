/*
 * What the kernel counts of this process, of its control groups and of a block device, read
 * at an instant. Two readings apart by a window say what the window used.
 *
 * The files are opened once, so that a reading costs some microseconds, and some more for each
 * thread. What cannot be read is not there (a count of 0, a flag that is false), never a guess.
 */
#ifndef PVCBENCH_COUNTERS_H
#define PVCBENCH_COUNTERS_H

#include <sys/types.h>

#include "base/base.h"

#define COUNTERS_GROUPS_MAX  8
#define COUNTERS_THREADS_MAX 64 /* of this process; more are not looked at */

/* Whose counters; descriptors are -1 where there is no such file. */
struct counters_source {
	int own_io, device, pressure;
	int quota[COUNTERS_GROUPS_MAX], limit[COUNTERS_GROUPS_MAX];
	unsigned n_quotas, n_limits;
};

struct counters {
	uint64_t at_ns;                      /* of the monotonic clock */
	uint64_t cpu_user_ns, cpu_system_ns; /* of all threads of this process, ended ones too */

	/* On a CPU, and ready but without one. */
	struct counters_thread {
		pid_t tid;
		uint64_t cpu_ns, wait_ns;
	} threads[COUNTERS_THREADS_MAX];
	unsigned n_threads;

	/* Of each group that may have a CPU quota, our own first. throttled_ns adds up CPUs. */
	struct counters_quota {
		uint64_t periods, throttled_periods, throttled_ns;
	} quotas[COUNTERS_GROUPS_MAX];
	unsigned n_quotas;

	/*
	 * Of each group that may have a memory limit: how often that limit was met (v2: max and
	 * high, v1: failcnt), and how many were killed for it.
	 */
	struct counters_limit {
		uint64_t met, kills;
	} limits[COUNTERS_GROUPS_MAX];
	unsigned n_limits;
	bool has_pressure;
	uint64_t stalled_ns; /* in which some task of our own group waited for memory */

	bool has_io; /* /proc/self/io: what this process made block devices or NFS move */
	uint64_t read_bytes, write_bytes;

	bool has_device; /* of the device, by whomever; a device that never moved a byte has none */
	uint64_t device_read_bytes, device_write_bytes;
};

/* The device is that of this number; 0:0: none. counters_close is legal in any case. */
void counters_open(struct counters_source *source, unsigned device_major, unsigned device_minor);

/* The groups that own_cgroups names below sys_root, as in host_visit_groups. */
void counters_open_groups(struct counters_source *source, FILE *own_cgroups, const char *sys_root);

void counters_read(const struct counters_source *source, struct counters *counters);

void counters_close(struct counters_source *source);

#endif
