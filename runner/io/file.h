/*
 * The file (or device) that requests go to: how it was opened, what it demands.
 */
#ifndef PVCBENCH_FILE_H
#define PVCBENCH_FILE_H

#include "io/target.h"

#define FILE_REASON_MAX 256

enum direct_wish { DIRECT_AUTO, DIRECT_TRUE, DIRECT_FALSE };

struct file_wish {
	/*
	 * In our directory; of an existing file its path, from the target if relative; NULL: the
	 * target, a device.
	 */
	const char *name;
	bool existing; /* name is the user's file: never created, truncated or removed */
	bool writable; /* open for writing too */
	enum direct_wish direct;
	int sync_flags;       /* 0, O_SYNC or O_DSYNC */
	uint32_t block_bytes; /* the size of requests to come, for the alignment check */
};

struct file {
	int fd; /* -1: closed */
	bool direct;
	char direct_reason[FILE_REASON_MAX]; /* why direct is what it is */
	uint32_t align; /* offsets, lengths and buffers are multiples of this (1 when buffered) */
	uint64_t size_bytes; /* at opening; a device's capacity */
};

/*
 * Open as wished. DIRECT_AUTO falls back to buffered where O_DIRECT is refused
 * at open or does not suit block_bytes; DIRECT_TRUE fails there with ERR_TARGET. The
 * alignment is statx's DIOALIGN, else the device's logical block, else 4096.
 */
int file_open(struct file *file, const struct target *target, const struct file_wish *wish,
              struct err *err);

/*
 * Some file systems take O_DIRECT at open and refuse the first request. Try one
 * of block_bytes at offset (a read where there is data, else a write to our own
 * file, whose size is then put back) and fall back to buffered as file_open does.
 */
int file_try_direct(struct file *file, const struct target *target, const struct file_wish *wish,
                    uint64_t offset, struct err *err);

/* Whether the kernel can serve this file without blocking (RWF_NOWAIT is not refused). */
bool file_supports_nowait(int fd);

/*
 * The span from the first byte of [offset, offset + bytes) that is a hole, allocated but
 * unwritten, or beyond the file's end, to behind the last one. False where there is none, or the
 * file system cannot tell.
 */
bool file_find_holes(int fd, uint64_t offset, uint64_t bytes, uint64_t *from, uint64_t *to);

/* Whether there is one. */
bool file_has_hole(int fd, uint64_t offset, uint64_t bytes);

/*
 * Whether a read of one piece of `align` bytes (at most 64 KiB) there gives nothing but zeros, or
 * nothing at all. A server's word on holes may be wrong; this is how to tell.
 */
bool file_reads_zero(int fd, uint64_t offset, uint32_t align);

/*
 * Whether buffered writes may fill a memory limit with what is not yet written back: with a
 * cgroup v1 (v1) wherever the page cache holds writes back at all, with v2 where the file
 * system, as that of a network, does not take part in the kernel's throttling.
 */
bool file_piles_up(int fd, bool v1);

/* Write back and drop what the page cache holds of it. */
void file_drop_cache(int fd);

/* Closing a closed file (fd is -1) is legal. */
void file_close(struct file *file);

#endif
