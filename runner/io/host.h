/*
 * What this pod, node and mount are: facts read from /proc and /sys, once.
 * What cannot be read is an empty text or 0, never a guess.
 */
#ifndef PVCBENCH_HOST_H
#define PVCBENCH_HOST_H

#include "base/base.h"

#define HOST_TEXT_MAX    256
#define HOST_OPTIONS_MAX 1024

struct host {
	char kernel[HOST_TEXT_MAX];  /* uname release */
	char node[HOST_TEXT_MAX];    /* PVCBENCH_NODE, else the host's name */
	char machine[HOST_TEXT_MAX]; /* x86_64, aarch64 */
	double cpus;                /* cgroup quota (v2 cpu.max, v1 cfs), else CPUs we may run on */
	bool cpu_quota;             /* whether cpus comes from a quota */
	uint64_t memory_bytes;      /* cgroup limit, else the machine's memory */
	bool memory_limited;        /* whether it comes from a cgroup */
	uint64_t host_memory_bytes; /* MemTotal */
};

struct mount {
	char fs[HOST_TEXT_MAX];     /* ext4, nfs4, fuse.s3fs, tmpfs; "block device" for one */
	char source[HOST_TEXT_MAX]; /* /dev/sda, server:/export */
	char mount_point[HOST_OPTIONS_MAX];
	char root[HOST_OPTIONS_MAX]; /* mountinfo's root: what part of the file system is mounted */
	char options[HOST_OPTIONS_MAX]; /* mount and superblock options, joined by commas */
	char device[HOST_TEXT_MAX];     /* kernel name: sda, dm-0, loop0 */
	char scheduler[HOST_TEXT_MAX];  /* of its queue: none, mq-deadline, bfq */
	uint64_t block_bytes;           /* the file system's block (statfs f_bsize) */
};

void host_read(struct host *host);

/* The mount that holds path (an existing file or directory). */
void mount_read(struct mount *mount, const char *path);

/* A mount on the node's own disk shared with other pods (EmptyDir, container fs, hostPath). */
bool mount_is_node_local(const struct mount *mount);

#endif
