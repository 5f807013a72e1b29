/*
 * A place to measure: a directory (the mount of a volume) or a block device.
 * In a directory all our files lie in one new directory of this run, and only
 * that one is ever removed.
 */
#ifndef PVCBENCH_TARGET_H
#define PVCBENCH_TARGET_H

#include "io/device.h"
#include "io/mount.h"
#include "io/rundir.h"

#define TARGET_PATH_MAX    1024
#define TARGET_RUN_ID_MAX  64
#define TARGET_FILES_MAX   256
#define TARGET_FILE_FORMAT RUNDIR_FILE_FORMAT /* our file N in our directory */
/* More is not told apart: object stores state absurd sizes. */
#define TARGET_SPACE_MAX (1ull << 60)
/* Nobody has this capacity for one volume and means it. */
#define TARGET_UNBOUNDED_BYTES (1ull << 50)

struct heartbeat;

struct target {
	char path[TARGET_PATH_MAX];
	struct mount mount;
	bool is_block;
	bool is_node_local;     /* a directory of the node's disk: 20 % stay free, not 5 % */
	bool is_container_root; /* the container's own root file system */
	bool is_unbounded;      /* its free space says nothing: an object store, or no capacity */
	int dirfd;              /* the directory; -1 for a device */
	int run_dirfd;          /* our own directory in it; -1 before target_enter */
	char run_dir[TARGET_RUN_ID_MAX + 16]; /* its name: "pvcbench-RUNID" */
	/* The run whose directory we use and never remove; "": our own. Set before target_enter. */
	char guest_of[TARGET_RUN_ID_MAX];
	uint64_t capacity_bytes; /* 0: the file system does not say; free_bytes is then the most */
	uint64_t free_bytes;     /* what a user without privilege may still write, at target_init */
	uint64_t reserve_bytes;  /* of these, what stays free */
	uint64_t file_bytes_max; /* of one file, where that is known beforehand; else 0 */
	const char *file_limit;  /* what bounds it: "FAT", "RLIMIT_FSIZE" */
	char device_content[DEVICE_FOUND_MAX]; /* see device_look; "": both its ends are zero */
	/* Of our file N: bytes from its start that this run wrote and synced. */
	uint64_t laid_out_bytes[TARGET_FILES_MAX];
	uint64_t laid_out_ns; /* when the last of that was written, of the monotonic clock */
	/* What all files came to when a layout's time was over; 0: that has not happened. */
	uint64_t layout_most_bytes;
	uint64_t attempt;            /* of our Job, for the claim; 0 is 1 */
	const char *kept_for;        /* the ledger that our files stay for; borrowed; NULL: none */
	struct heartbeat *heartbeat; /* of our directory's claim; owned */
};

/*
 * Look at a path without touching it: it exists and is a directory or a block
 * device. Errors name the path and the remedy, class ERR_TARGET. target_destroy
 * is legal in any case.
 */
int target_init(struct target *target, const char *path, struct err *err);

/*
 * Whether we may write to it: ERR_TARGET where it is read-only or not permitted
 * (the text names our uid and gid and the remedy), ERR_REFUSED where a device is in use.
 * Touches nothing.
 */
int target_check_writable(const struct target *target, struct err *err);

/* Ask for capacity and free space of a directory again. */
int target_measure(struct target *target, struct err *err);

/* Zero the first and the last MiB of a device, which nobody else may hold. */
int target_zero_device_ends(struct target *target, struct err *err);

/* The bytes that our files may take in all: free less reserve; a device's size. */
uint64_t target_budget(const struct target *target);

/*
 * Make our directory (new, else an error), with its claim and heartbeat; a guest opens that of its
 * host. Nothing to do for a device.
 */
int target_enter(struct target *target, const char *run_id, struct err *err);

/* Cut our file N to at most `bytes`; one that is shorter or was never made is left alone. */
int target_cut_file(struct target *target, unsigned n, uint64_t bytes, struct err *err);

/*
 * Remove our directory and all files in it; a guest closes its host's. What cannot be removed is
 * named in err. Legal at any time, also twice.
 */
int target_leave(struct target *target, struct err *err);

/* Close descriptors; removes nothing. */
void target_destroy(struct target *target);

#endif
