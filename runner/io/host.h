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
	unsigned major, minor;          /* of the device, as in mountinfo */
	bool on_kubelet_disk; /* shares its device with the file that lies at /etc/hosts in a pod */
};

/* PVCBENCH_NODE and PVCBENCH_CPUS ("2", "500m"), where set, win over what is found. */
void host_read(struct host *host);

/*
 * The limits of the control groups that own_cgroups (text of /proc/self/cgroup)
 * names, below sys_root ("/sys/fs/cgroup"), v2 and v1, the least on the way up.
 * host holds what is known without them.
 */
void host_read_cgroups(struct host *host, FILE *own_cgroups, const char *sys_root);

/* The mount that holds path (an existing file or directory). */
void mount_read(struct mount *mount, const char *path);

/*
 * Find the line for path (absolute, resolved) on device major:minor in text of
 * /proc/self/mountinfo: the longest mount point that path lies below, of this
 * device if there is one, the later one of equals. Fills fs, source, mount_point,
 * root, options, major, minor. Whether there was one.
 */
bool mount_find(struct mount *mount, FILE *mountinfo, const char *path, unsigned major,
                unsigned minor);

/* A mount on the node's own disk shared with other pods (EmptyDir, container fs, hostPath). */
bool mount_is_node_local(const struct mount *mount);

/* A file system whose files are memory, charged to the pod that writes them. */
bool mount_is_memory(const struct mount *mount);

/* The root file system of a container: layered, or any mounted at "/" in a pod. */
bool mount_is_container_root(const struct mount *mount, bool in_pod);

/* Whether the kubelet's environment is there. */
bool host_in_pod(void);

/*
 * An attribute of the queue of a block device (a partition has its disk's):
 * "scheduler", "logical_block_size". Empty where there is none.
 */
char *host_read_queue(unsigned major, unsigned minor, const char *attribute, char *out,
                      size_t size);

#endif
