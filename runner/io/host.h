/*
 * What this pod and node are: facts read from /proc and /sys, once.
 * What cannot be read is an empty text or 0, never a guess.
 */
#ifndef PVCBENCH_HOST_H
#define PVCBENCH_HOST_H

#include "base/base.h"

#define HOST_TEXT_MAX 256

struct host {
	char kernel[HOST_TEXT_MAX];  /* uname release */
	char node[HOST_TEXT_MAX];    /* PVCBENCH_NODE, else the host's name */
	char machine[HOST_TEXT_MAX]; /* x86_64, aarch64 */
	double cpus;                /* cgroup quota (v2 cpu.max, v1 cfs), else CPUs we may run on */
	bool cpu_quota;             /* whether cpus comes from a quota */
	uint64_t memory_bytes;      /* cgroup limit, else the machine's memory */
	bool memory_limited;        /* whether it comes from a cgroup */
	bool memory_v1;             /* from one of v1, which does not throttle who dirties it */
	uint64_t host_memory_bytes; /* MemTotal */
	uint64_t deadline_ns;       /* the pod is ended so long after its start; 0: not known */
};

/*
 * PVCBENCH_NODE and PVCBENCH_CPUS ("2", "500m"), where set, win over what is found;
 * PVCBENCH_DEADLINE ("3600", seconds) cannot be found.
 */
void host_read(struct host *host);

/*
 * The limits of the control groups that own_cgroups (text of /proc/self/cgroup)
 * names, below sys_root ("/sys/fs/cgroup"), v2 and v1, the least on the way up.
 * host holds what is known without them.
 */
void host_read_cgroups(struct host *host, FILE *own_cgroups, const char *sys_root);

/* Called for the directory of a group of this controller ("": version 2, all of them). */
typedef void host_visit(void *arg, const char *controller, const char *dir);

/* The same groups, one by one: each as own_cgroups names it, then those above it. */
void host_visit_groups(FILE *own_cgroups, const char *sys_root, host_visit *visit, void *arg);

/* Whether the kubelet's environment is there. */
bool host_in_pod(void);

/* The most memory that this process had resident; 0: not known. */
uint64_t host_peak_rss_bytes(void);

/* Threads of this process that wait in the kernel and hear no signal (state D). */
unsigned host_threads_in_kernel(void);

/*
 * Text of the environment as one word of the log: other than graphic ASCII becomes '_'.
 * NULL is empty; cut to size. Returns out.
 */
char *host_copy_graphic(char *out, size_t size, const char *text);

/* The first line of a file without its end; empty when it cannot be read. Returns out. */
char *host_read_line(const char *path, char *out, size_t size);

/* Whether name (of n bytes) is one of the comma-separated names. */
bool host_list_has(const char *names, const char *name, size_t n);

#endif
