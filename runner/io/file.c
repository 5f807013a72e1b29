/*
 * Opening for direct I/O is a negotiation: the open may be refused, the
 * alignment may not suit, the first request may be refused. Each of these ends
 * in the same place, `settle_for_buffered`, which opens again without O_DIRECT
 * or, where direct was demanded, fails.
 *
 * Alignment comes from the first that knows it: statx, the device itself, the
 * device below the file system. Where nobody does (network file systems, FUSE)
 * 4096 is safe; for a smaller block 512 is assumed and file_try_direct shows
 * whether it holds. btrfs is asked for its sector size instead, since it serves
 * a misaligned direct request from the page cache without a word.
 */
#include "io/file.h"

#include "io/mount.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#define ALIGN_SAFE  4096u
#define ALIGN_LEAST 512u
/* Suits every O_DIRECT, for buffers of trials. */
#define TRY_ALIGN (64 * KIB)

PRINTF_LIKE(2, 3)
static void set_reason(struct file *file, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(file->direct_reason, sizeof(file->direct_reason), fmt, args);
	va_end(args);
}

static const char *name_of(const struct target *target, const struct file_wish *wish)
{
	return wish->name ? wish->name : target->path;
}

/* The descriptor, or -1 with errno. */
static int open_as_wished(const struct target *target, const struct file_wish *wish, bool direct)
{
	int flags = O_CLOEXEC | wish->sync_flags | (direct ? O_DIRECT : 0);
	int access = wish->writable ? O_RDWR : O_RDONLY;

	if (!wish->name)
		return open(target->path, flags | access | (wish->writable ? O_EXCL : 0));
	if (wish->existing)
		return openat(target->dirfd, wish->name, flags | access);
	return openat(target->run_dirfd, wish->name, flags | O_CREAT | O_RDWR | O_NOFOLLOW, 0600);
}

static int explain_open(const struct target *target, const struct file_wish *wish, int errnum,
                        struct err *err)
{
	const char *name = name_of(target, wish);

	if (!wish->name && errnum == EBUSY)
		return err_set(err, ERR_REFUSED,
		               "device '%s' is in use: a file system on it is mounted, or another "
		               "program holds it",
		               name);
	err_sys(err, ERR_TARGET, errnum, "cannot open '%s' for %s", name,
	        wish->writable ? "reading and writing" : "reading");
	if (errnum == EMFILE)
		err_append(err, " (RLIMIT_NOFILE: lower numjobs, or share a file)");
	return -1;
}

/* Of the block device that a file system lies on; 0 when there is none. */
static uint32_t device_block_bytes(dev_t dev)
{
	char text[32];

	mount_read_queue(major(dev), minor(dev), "logical_block_size", text, sizeof(text));
	return (uint32_t)strtoul(text, NULL, 10);
}

static uint32_t statx_align(int fd)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &stx) < 0 ||
	    !(stx.stx_mask & STATX_DIOALIGN))
		return 0;
	return stx.stx_dio_offset_align > stx.stx_dio_mem_align ? stx.stx_dio_offset_align
	                                                        : stx.stx_dio_mem_align;
}

static uint32_t find_align(int fd, const struct stat *st, uint32_t block_bytes)
{
	uint32_t align = statx_align(fd);
	struct statfs fs;
	int sector;

	if (align)
		return align;
	if (S_ISBLK(st->st_mode))
		return ioctl(fd, BLKSSZGET, &sector) == 0 ? (uint32_t)sector : ALIGN_SAFE;
	align = device_block_bytes(st->st_dev);
	if (align)
		return align;
	if (fstatfs(fd, &fs) == 0 && fs.f_type == BTRFS_SUPER_MAGIC)
		return (uint32_t)fs.f_bsize;
	return block_bytes % ALIGN_SAFE == 0 ? ALIGN_SAFE : ALIGN_LEAST;
}

/* Open without O_DIRECT for the reason that is set, or fail where it is demanded. */
static int settle_for_buffered(struct file *file, const struct target *target,
                               const struct file_wish *wish, struct err *err)
{
	file_close(file);
	if (wish->direct == DIRECT_TRUE)
		return err_set(err, ERR_TARGET,
		               "cannot use direct I/O on '%s': %s (direct: auto goes on through "
		               "the page cache)",
		               name_of(target, wish), file->direct_reason);
	file->direct = false;
	file->align = 1;
	file->fd = open_as_wished(target, wish, false);
	return file->fd < 0 ? explain_open(target, wish, errno, err) : 0;
}

/* Look at what was opened: kind, size. */
static int inspect(struct file *file, const struct target *target, const struct file_wish *wish,
                   struct stat *st, struct err *err)
{
	if (fstat(file->fd, st) < 0)
		return err_sys(err, ERR_TARGET, errno, "cannot look at '%s'",
		               name_of(target, wish));
	if (!S_ISREG(st->st_mode) && !S_ISBLK(st->st_mode))
		return err_set(err, ERR_TARGET, "'%s' is neither a file nor a block device",
		               name_of(target, wish));

	off_t size = S_ISBLK(st->st_mode) ? lseek(file->fd, 0, SEEK_END) : st->st_size;

	file->size_bytes = size > 0 ? (uint64_t)size : 0;
	return 0;
}

/* O_DIRECT was taken at open: does its alignment suit? */
static int settle_alignment(struct file *file, const struct target *target,
                            const struct file_wish *wish, const struct stat *st, struct err *err)
{
	uint32_t align = find_align(file->fd, st, wish->block_bytes);

	if (wish->block_bytes % align) {
		set_reason(file, "blocks of %u bytes do not suit its alignment of %u bytes",
		           wish->block_bytes, align);
		return settle_for_buffered(file, target, wish, err);
	}
	file->direct = true;
	file->align = align;
	set_reason(file, "O_DIRECT taken, alignment %u bytes", align);
	return 0;
}

/* Open, with O_DIRECT if wished and possible. *direct: whether it is open so. */
static int negotiate_open(struct file *file, const struct target *target,
                          const struct file_wish *wish, bool *direct, struct err *err)
{
	*direct = wish->direct != DIRECT_FALSE;
	file->fd = open_as_wished(target, wish, *direct);
	if (file->fd >= 0)
		return 0;

	int errnum = errno;

	if (!*direct || errnum == ENOENT || errnum == EBUSY)
		return explain_open(target, wish, errnum, err);
	*direct = false;
	set_reason(file, "O_DIRECT refused at open: %s", err_words(errnum));
	/* Where an open without it fails too, that error is the better one. */
	file->fd = open_as_wished(target, wish, false);
	if (file->fd < 0)
		return explain_open(target, wish, errno, err);
	return wish->direct == DIRECT_TRUE ? settle_for_buffered(file, target, wish, err) : 0;
}

/* A path of the user's may be a pipe, whose open would wait for ever. */
static int check_existing(const struct target *target, const char *name, struct err *err)
{
	struct stat st;

	if (fstatat(target->dirfd, name, &st, 0) < 0)
		return err_sys(err, ERR_TARGET, errno, "cannot use the file '%s'", name);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return err_set(err, ERR_TARGET, "'%s' is neither a file nor a block device", name);
	return 0;
}

int file_open(struct file *file, const struct target *target, const struct file_wish *wish,
              struct err *err)
{
	struct stat st;
	bool direct;

	assert(wish->block_bytes > 0);
	*file = (struct file){.fd = -1, .align = 1};
	if (wish->name && wish->existing && check_existing(target, wish->name, err) < 0)
		return -1;
	if (negotiate_open(file, target, wish, &direct, err) < 0)
		return -1;

	int ret = inspect(file, target, wish, &st, err);

	if (ret == 0 && direct)
		ret = settle_alignment(file, target, wish, &st, err);
	else if (ret == 0 && wish->direct == DIRECT_FALSE)
		set_reason(file, "direct: false");
	if (ret < 0)
		file_close(file);
	return ret;
}

/* One request through O_DIRECT: bytes moved, or -errno. */
static ssize_t try_request(const struct file *file, const struct file_wish *wish, uint64_t offset)
{
	size_t arena_size = (wish->block_bytes + TRY_ALIGN - 1) / TRY_ALIGN * TRY_ALIGN;
	CLEANUP(mem) void *buf = aligned_alloc(TRY_ALIGN, arena_size);
	off_t size = lseek(file->fd, 0, SEEK_END);
	bool write = wish->name && !wish->existing &&
	             (size < 0 || (uint64_t)size < offset + wish->block_bytes);

	if (!buf)
		return -ENOMEM;
	memset(buf, 0, wish->block_bytes);

	ssize_t ret = write ? pwrite(file->fd, buf, wish->block_bytes, (off_t)offset)
	                    : pread(file->fd, buf, wish->block_bytes, (off_t)offset);

	if (ret < 0)
		return -errno;
	/* A file of ours that stays longer than it was does no harm. */
	if (write && ftruncate(file->fd, size) < 0)
		return ret;
	return ret;
}

int file_try_direct(struct file *file, const struct target *target, const struct file_wish *wish,
                    uint64_t offset, struct err *err)
{
	if (!file->direct)
		return 0;

	ssize_t ret = try_request(file, wish, offset);

	/* Any other error is the storage's, which the test will meet and count. */
	if (ret != -EINVAL && ret != -EOPNOTSUPP && ret != -ENOSYS)
		return 0;
	set_reason(file, "the first request with O_DIRECT was refused: %s", err_words((int)-ret));
	return settle_for_buffered(file, target, wish, err);
}

bool file_supports_nowait(int fd)
{
	CLEANUP(mem) void *buf = aligned_alloc(TRY_ALIGN, TRY_ALIGN);
	struct iovec iov = {.iov_base = buf, .iov_len = ALIGN_SAFE};

	/*
	 * EAGAIN and data are both a yes; a kernel without the call tells nothing. (libc's
	 * preadv2 would turn that ENOSYS into EOPNOTSUPP.)
	 */
	return !buf || syscall(SYS_preadv2, fd, &iov, 1L, 0L, 0L, RWF_NOWAIT) >= 0 ||
	       errno != EOPNOTSUPP;
}

/* The holes so far, as one span. */
struct span {
	uint64_t from, to;
	bool any;
};

static void add_hole(struct span *span, uint64_t from, uint64_t to)
{
	if (from >= to)
		return;
	if (!span->any)
		span->from = from;
	span->to = to;
	span->any = true;
}

/* False where the file system does not know lseek's SEEK_HOLE. */
static bool seek_holes(int fd, uint64_t offset, uint64_t end, struct span *span)
{
	uint64_t at = offset;

	while (at < end) {
		off_t hole = lseek(fd, (off_t)at, SEEK_HOLE);
		off_t data;

		if (hole < 0 && errno != ENXIO)
			return false;
		if (hole >= 0 && (uint64_t)hole >= end)
			return true;
		data = hole < 0 ? -1 : lseek(fd, hole, SEEK_DATA);
		add_hole(span, hole < 0 ? at : (uint64_t)hole,
		         data < 0 ? end : min_u64((uint64_t)data, end));
		if (data < 0)
			return true;
		at = (uint64_t)data;
	}
	return true;
}

#define EXTENTS_AT_ONCE 64

/* A step of the walk: what lies before and in these extents. *at moves behind them. */
static bool add_extents(const struct fiemap *map, uint64_t *at, uint64_t end, struct span *span)
{
	for (unsigned i = 0; i < map->fm_mapped_extents; i++) {
		const struct fiemap_extent *e = &map->fm_extents[i];

		add_hole(span, *at, min_u64(e->fe_logical, end));
		*at = max_u64(*at, e->fe_logical);
		if (e->fe_flags & FIEMAP_EXTENT_UNWRITTEN)
			add_hole(span, *at, min_u64(e->fe_logical + e->fe_length, end));
		*at = max_u64(*at, e->fe_logical + e->fe_length);
		if (e->fe_flags & FIEMAP_EXTENT_LAST)
			return false;
	}
	return map->fm_mapped_extents > 0 && *at < end;
}

/* Where lseek knows no holes, the extents may. */
static void map_holes(int fd, uint64_t offset, uint64_t end, struct span *span)
{
	size_t bytes = sizeof(struct fiemap) + EXTENTS_AT_ONCE * sizeof(struct fiemap_extent);
	CLEANUP(mem) struct fiemap *map = malloc(bytes);
	uint64_t at = offset;

	if (!map)
		return;
	do {
		memset(map, 0, bytes);
		map->fm_start = at;
		map->fm_length = end - at;
		map->fm_flags = FIEMAP_FLAG_SYNC;
		map->fm_extent_count = EXTENTS_AT_ONCE;
		if (ioctl(fd, FS_IOC_FIEMAP, map) < 0)
			return;
	} while (add_extents(map, &at, end, span));
	add_hole(span, at, end);
}

bool file_find_holes(int fd, uint64_t offset, uint64_t bytes, uint64_t *from, uint64_t *to)
{
	struct span span = {0};
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	if (!seek_holes(fd, offset, offset + bytes, &span) || !span.any)
		map_holes(fd, offset, offset + bytes, &span);
	*from = span.from;
	*to = span.to;
	return span.any;
}

bool file_has_hole(int fd, uint64_t offset, uint64_t bytes)
{
	uint64_t from, to;

	return file_find_holes(fd, offset, bytes, &from, &to);
}

bool file_reads_zero(int fd, uint64_t offset, uint32_t align)
{
	size_t bytes = min_u64(max_u64(align, ALIGN_SAFE), TRY_ALIGN);
	CLEANUP(mem) unsigned char *buf = aligned_alloc(TRY_ALIGN, TRY_ALIGN);
	ssize_t n = buf ? pread(fd, buf, bytes, (off_t)(offset / bytes * bytes)) : 0;
	size_t at = offset % bytes;

	while (n > 0 && at < (size_t)n && !buf[at])
		at++;
	return n <= 0 || at >= (size_t)n;
}

static bool is_among(long type, const long *types, size_t n)
{
	while (n && types[n - 1] != type)
		n--;
	return n > 0;
}

bool file_piles_up(int fd, bool v1)
{
	/* What is written goes on to the daemon at once; there is nothing behind it. */
	static const long through[] = {FUSE_SUPER_MAGIC, TMPFS_MAGIC};
	static const long throttled[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
	                                 F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC};
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0 || is_among(fs.f_type, through, ARRAY_SIZE(through)))
		return false;
	return v1 || !is_among(fs.f_type, throttled, ARRAY_SIZE(throttled));
}

void file_drop_cache(int fd)
{
	fdatasync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

void file_close(struct file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}
