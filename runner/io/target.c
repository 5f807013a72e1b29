/*
 * What is written lies below one directory that this run made itself: mkdir is
 * the test that the name was free. A claim in it says whose it is.
 */
#include "io/target.h"

#include "io/claim.h"
#include "io/heartbeat.h"
#include "io/host.h"
#include "io/rundir.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define RESERVE_LEAST_BYTES     (64 * MIB)
#define RESERVE_PERCENT         5
#define RESERVE_PERCENT_ON_NODE 20

/* What usually helps against an errno met at a target; %s is its path. */
static const struct remedy {
	int errnum;
	const char *text;
} remedies[] = {
        {ENOENT, "mount the volume there, or name another place with --target"},
        {ENOTDIR, "name the volume's mount point, not a place below a file"},
        {ENOTCONN, "the FUSE daemon of this mount has ended: mount it again"},
        {ESTALE, "the server no longer knows this export: mount it again"},
        {EROFS, "mounted read-only: look for readOnly in the pod's volumes, and at the volume's "
                "access mode"},
};

static const char *find_remedy(int errnum)
{
	for (size_t i = 0; i < ARRAY_SIZE(remedies); i++) {
		if (remedies[i].errnum == errnum)
			return remedies[i].text;
	}
	return NULL;
}

/* The text for an errno that a call on the target gave. Returns -1. */
static int explain(const char *what, const char *path, int errnum, struct err *err)
{
	const char *remedy = find_remedy(errnum);

	err_sys(err, ERR_TARGET, errnum, "cannot %s '%s'", what, path);
	return remedy ? err_append(err, " (%s)", remedy) : -1;
}

/* Whether the mode lets us write: of root, whose rights are in doubt, as anybody. */
static bool mode_allows(const struct stat *st)
{
	mode_t need = S_IWOTH | S_IXOTH;

	if (geteuid() != 0 && st->st_uid == geteuid())
		need = S_IWUSR | S_IXUSR;
	else if (geteuid() != 0 && st->st_gid == getegid())
		need = S_IWGRP | S_IXGRP;
	return (st->st_mode & need) == need;
}

/* Who owns it, who we are, and what that calls for. Returns -1. */
static int explain_permission(const char *what, const char *path, int errnum, const struct stat *st,
                              struct err *err)
{
	err_sys(err, ERR_TARGET, errnum, "cannot %s '%s'", what, path);
	err_append(err, " (owned by %u:%u mode %04o, running as %u:%u; ", st->st_uid, st->st_gid,
	           st->st_mode & 07777, geteuid(), getegid());
	if (S_ISBLK(st->st_mode))
		return err_append(err, "run as a group that may use the device, or let the runtime "
		                       "hand it over: device_ownership_from_security_context)");
	if (mode_allows(st))
		return err_append(err, "the mode allows it: look for an export or share that is "
		                       "read-only, and at the server's own rules)");
	if (geteuid() == 0)
		return err_append(err, "root without its rights: where the server squashes root, "
		                       "run as the owner or export with no_root_squash; else a "
		                       "read-only share, or capabilities dropped)");
	return err_append(err, "set fsGroup: %u in the pod's securityContext)", getegid());
}

static int explain_errno(const char *what, const char *path, int errnum, const struct stat *st,
                         struct err *err)
{
	if (errnum == EACCES || errnum == EPERM)
		return explain_permission(what, path, errnum, st, err);
	return explain(what, path, errnum, err);
}

static bool has_parent_component(const char *path)
{
	for (const char *at = path; at; at = strchr(at, '/')) {
		at += strspn(at, "/");
		if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
			return true;
	}
	return false;
}

static int check_path(const char *path, struct err *err)
{
	if (!*path)
		return err_set(err, ERR_TARGET, "the target's path is empty");
	if (strlen(path) >= TARGET_PATH_MAX)
		return err_set(err, ERR_TARGET, "the target's path is longer than %d bytes",
		               TARGET_PATH_MAX - 1);
	if (has_parent_component(path))
		return err_set(err, ERR_REFUSED, "target '%s' holds '..' (write the path without)",
		               path);
	return 0;
}

/* As access(2) for the rights we run with. 0 or an errno. */
static int find_obstacle(const char *path, int mode)
{
	if (faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0)
		return 0;
	/* An old seccomp profile answers EPERM to faccessat2, that is no word on the file. */
	if (errno == EPERM && access(path, mode) == 0)
		return 0;
	return errno;
}

static uint64_t times_saturated(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static void measure_space(struct target *target, const struct statvfs *fs)
{
	uint64_t percent = target->is_node_local ? RESERVE_PERCENT_ON_NODE : RESERVE_PERCENT;

	if (fs->f_blocks == 0) {
		target->free_bytes = TARGET_SPACE_MAX;
		return;
	}
	target->capacity_bytes =
	        min_u64(times_saturated(fs->f_blocks, fs->f_frsize), TARGET_SPACE_MAX);
	target->free_bytes = min_u64(times_saturated(fs->f_bavail, fs->f_frsize), TARGET_SPACE_MAX);
	target->reserve_bytes =
	        max_u64(target->capacity_bytes / 100 * percent, RESERVE_LEAST_BYTES);
}

/* Files in memory count against the pod's limit, beside our buffers: half of it is theirs. */
static void spare_memory(struct target *target)
{
	struct host host;

	host_read(&host);

	uint64_t most = host.memory_bytes / 2;

	if (target->free_bytes > most)
		target->reserve_bytes = max_u64(target->reserve_bytes, target->free_bytes - most);
}

static void limit_files(struct target *target, uint64_t bytes, const char *what)
{
	if (target->file_bytes_max && target->file_bytes_max <= bytes)
		return;
	target->file_bytes_max = bytes;
	target->file_limit = what;
}

static void find_file_limit(struct target *target, const struct mount *mount)
{
	uint64_t bytes = mount_file_bytes_max(mount);
	struct rlimit limit;

	if (bytes)
		limit_files(target, bytes, "FAT");
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
		limit_files(target, limit.rlim_cur, "RLIMIT_FSIZE");
}

static int open_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* Writing to a directory does not need the right to list it. */
	return fd < 0 && errno == EACCES ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : fd;
}

/* "/" itself is one wherever we run; below it only what a container's root holds. */
static bool is_on_container_root(const struct mount *mount, const struct stat *st)
{
	struct stat root;
	bool same_device = stat("/", &root) == 0 && root.st_dev == st->st_dev;

	if (same_device && root.st_ino == st->st_ino)
		return true;
	/* Without /proc the mount is not known; its device is. */
	return mount->mount_point[0] ? mount_is_container_root(mount, host_in_pod())
	                             : same_device && host_in_pod();
}

int target_measure(struct target *target, struct err *err)
{
	struct statvfs fs;

	if (target->is_block)
		return 0;
	if (statvfs(target->path, &fs) < 0)
		return explain("ask for the space of", target->path, errno, err);
	measure_space(target, &fs);
	if (mount_is_memory(&target->mount))
		spare_memory(target);
	return 0;
}

static int init_directory(struct target *target, const struct stat *st, struct err *err)
{
	const struct mount *mount = &target->mount;

	target->dirfd = open_directory(target->path);
	if (target->dirfd < 0)
		return explain_errno("open", target->path, errno, st, err);
	target->is_node_local = mount_is_node_local(mount);
	target->is_container_root = is_on_container_root(mount, st);
	if (target_measure(target, err))
		return -1;
	target->is_unbounded = mount_is_object_store(mount) || !target->capacity_bytes ||
	                       target->capacity_bytes >= TARGET_UNBOUNDED_BYTES;
	find_file_limit(target, mount);
	return 0;
}

static int init_device(struct target *target, const struct stat *st, struct err *err)
{
	CLEANUP(fd) int fd = open(target->path, O_RDONLY | O_CLOEXEC);
	int errnum;

	if (fd < 0)
		return explain_errno("open", target->path, errno, st, err);
	if (ioctl(fd, BLKGETSIZE64, &target->capacity_bytes) < 0)
		return explain("ask for the size of", target->path, errno, err);
	target->is_block = true;
	target->free_bytes = target->capacity_bytes;
	errnum = device_look(fd, target->capacity_bytes, target->device_content);
	if (errnum)
		snprintf(target->device_content, sizeof(target->device_content),
		         "what cannot be read (%s)", err_words(errnum));
	return 0;
}

int target_zero_device_ends(struct target *target, struct err *err)
{
	CLEANUP(fd) int fd = open(target->path, O_RDWR | O_EXCL | O_CLOEXEC);
	int errnum = fd < 0 ? errno : device_zero_ends(fd, target->capacity_bytes);

	if (errnum)
		return explain("zero the ends of", target->path, errnum, err);
	target->device_content[0] = '\0';
	return 0;
}

int target_init(struct target *target, const char *path, struct err *err)
{
	struct stat st;

	*target = (struct target){.dirfd = -1, .run_dirfd = -1};
	if (check_path(path, err) < 0)
		return -1;
	memcpy(target->path, path, strlen(path) + 1);
	if (stat(path, &st) < 0)
		return explain("use target", path, errno, err);
	mount_read(&target->mount, path);
	if (S_ISDIR(st.st_mode))
		return init_directory(target, &st, err);
	if (S_ISBLK(st.st_mode))
		return init_device(target, &st, err);
	return err_set(err, ERR_TARGET,
	               "target '%s' is neither a directory nor a block device "
	               "(an existing file is named with filename)",
	               path);
}

/* Whoever else holds the device, such as a mounted file system, keeps it from an exclusive open. */
static int check_device_writable(const struct target *target, const struct stat *st,
                                 struct err *err)
{
	CLEANUP(fd) int fd = open(target->path, O_RDWR | O_EXCL | O_CLOEXEC);

	if (fd >= 0)
		return 0;
	if (errno == EBUSY)
		return err_set(err, ERR_REFUSED,
		               "device '%s' is in use: a file system on it is mounted, or another "
		               "program holds it",
		               target->path);
	return explain_errno("write to", target->path, errno, st, err);
}

int target_check_writable(const struct target *target, struct err *err)
{
	struct statvfs fs;
	struct stat st;
	int errnum;

	if (stat(target->path, &st) < 0)
		return explain("use target", target->path, errno, err);
	if (target->is_block)
		return check_device_writable(target, &st, err);
	if (statvfs(target->path, &fs) < 0)
		return explain("ask for the space of", target->path, errno, err);
	errnum = fs.f_flag & ST_RDONLY ? EROFS : find_obstacle(target->path, W_OK | X_OK);
	return errnum ? explain_errno("write to", target->path, errnum, &st, err) : 0;
}

uint64_t target_budget(const struct target *target)
{
	return target->free_bytes > target->reserve_bytes
	               ? target->free_bytes - target->reserve_bytes
	               : 0;
}

int target_cut_file(struct target *target, unsigned n, uint64_t bytes, struct err *err)
{
	char name[32];
	struct stat st;

	snprintf(name, sizeof(name), TARGET_FILE_FORMAT, n);

	CLEANUP(fd) int fd = openat(target->run_dirfd, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) ||
	    ((uint64_t)st.st_size > bytes && ftruncate(fd, (off_t)bytes)))
		return err_sys(err, ERR_TARGET, errno, "cannot cut '%s/%s/%s'", target->path,
		               target->run_dir, name);
	target->laid_out_bytes[n] = min_u64(target->laid_out_bytes[n], bytes);
	return 0;
}

static int open_run_dir(struct target *target, struct err *err)
{
	target->run_dirfd = openat(target->dirfd, target->run_dir,
	                           O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return target->run_dirfd < 0 ? explain("open our directory in", target->path, errno, err)
	                             : 0;
}

static int make_run_dir(struct target *target, struct err *err)
{
	struct stat st = {0};

	if (mkdirat(target->dirfd, target->run_dir, 0700) < 0) {
		int errnum = errno;

		if (fstat(target->dirfd, &st) < 0)
			return explain("use", target->path, errno, err);
		explain_errno("make a directory in", target->path, errnum, &st, err);
		return errnum == EEXIST ? err_append(err, ": '%s'", target->run_dir) : -1;
	}
	if (!open_run_dir(target, err))
		return 0;
	unlinkat(target->dirfd, target->run_dir, AT_REMOVEDIR);
	return -1;
}

static int write_claim(struct target *target, const char *run_id, struct err *err)
{
	struct claim claim;
	int errnum;

	claim_describe(&claim, run_id);
	claim_keep(&claim, target->kept_for);
	claim.attempt = max_u64(target->attempt, 1);
	errnum = claim_write(target->run_dirfd, &claim);
	if (errnum)
		return explain("write to our directory in", target->path, errnum, err);
	return heartbeat_start(&target->heartbeat, target->run_dirfd, err);
}

int target_enter(struct target *target, const char *run_id, struct err *err)
{
	struct err leave_err;

	assert(*run_id && strlen(run_id) < TARGET_RUN_ID_MAX && !strchr(run_id, '/'));
	if (target->is_block)
		return 0;
	assert(target->run_dirfd < 0);
	snprintf(target->run_dir, sizeof(target->run_dir), RUNDIR_PREFIX "%s",
	         target->guest_of[0] ? target->guest_of : run_id);
	if (target->guest_of[0])
		return open_run_dir(target, err);
	if (make_run_dir(target, err) < 0)
		return -1;
	if (write_claim(target, run_id, err) == 0)
		return 0;
	target_leave(target, &leave_err);
	return -1;
}

static void end_heartbeat(struct target *target)
{
	heartbeat_stop(target->heartbeat);
	target->heartbeat = NULL;
}

int target_leave(struct target *target, struct err *err)
{
	const struct rundir dir = {target->path, target->run_dir, target->dirfd, target->run_dirfd};

	if (target->run_dirfd < 0)
		return 0;
	/* What it has open would keep a name in the directory on NFS. */
	end_heartbeat(target);
	if (!target->guest_of[0] && rundir_remove(&dir, true, err) < 0)
		return -1;
	close(target->run_dirfd);
	target->run_dirfd = -1;
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void target_destroy(struct target *target)
{
	end_heartbeat(target);
	close_fd(&target->run_dirfd);
	close_fd(&target->dirfd);
}
