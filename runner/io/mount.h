/*
 * What a path lies on: the mount, its file system, its device. What cannot be read is an
 * empty text or 0, never a guess.
 */
#ifndef PVCBENCH_MOUNT_H
#define PVCBENCH_MOUNT_H

#include "base/base.h"

#define MOUNT_TEXT_MAX    256
#define MOUNT_OPTIONS_MAX 1024

struct mount {
	char fs[MOUNT_TEXT_MAX];     /* ext4, nfs4, fuse.s3fs, tmpfs; "block device" for one */
	char source[MOUNT_TEXT_MAX]; /* /dev/sda, server:/export */
	char mount_point[MOUNT_OPTIONS_MAX];
	char root[MOUNT_OPTIONS_MAX]; /* mountinfo's root: what part of the file system is mounted
	                               */
	char options[MOUNT_OPTIONS_MAX]; /* mount and superblock options, joined by commas */
	char device[MOUNT_TEXT_MAX];     /* kernel name: sda, dm-0, loop0 */
	char scheduler[MOUNT_TEXT_MAX];  /* of its queue: none, mq-deadline, bfq */
	char write_cache[32];            /* of it, as it says: "write back", "write through" */
	uint64_t block_bytes;            /* the file system's block (statfs f_bsize) */
	unsigned major, minor;           /* of the device, as in mountinfo */
	bool on_kubelet_disk; /* shares its device with the file that lies at /etc/hosts in a pod */
};

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

/*
 * A mount on the node's own disk shared with other pods (EmptyDir, container fs, hostPath); one
 * that is not known may be.
 */
bool mount_is_node_local(const struct mount *mount);

/* A file system whose files are memory, charged to the pod that writes them. */
bool mount_is_memory(const struct mount *mount);

/*
 * An object store behind FUSE: the space it states is made up, or that of a cache of the node.
 * Known by its type (fuse.s3fs) or, where that says "fuse" only, by its source.
 */
bool mount_is_object_store(const struct mount *mount);

/* The largest file that the file system can hold, where its type bounds it; else 0. */
uint64_t mount_file_bytes_max(const struct mount *mount);

/* The root file system of a container: layered, or any mounted at "/" in a pod. */
bool mount_is_container_root(const struct mount *mount, bool in_pod);

/*
 * An attribute of the queue of a block device (a partition has its disk's):
 * "scheduler", "logical_block_size". Empty where there is none.
 */
char *mount_read_queue(unsigned major, unsigned minor, const char *attribute, char *out,
                       size_t size);

#endif
