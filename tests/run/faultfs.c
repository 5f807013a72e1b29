/*
 * A file system for tests that fails on command: a passthrough to a backing
 * directory (libfuse3, high level) with rules in a control file and a log of all
 * requests.
 *
 *	faultfs BACKING CONTROL MOUNTPOINT [FUSE OPTION...]
 *
 * CONTROL/rules is read again whenever it changes; a rule is a line
 *
 *	OP ACTION [ARG] [every=N] [after=N] [count=N] [off=A-B] [direct=0|1] [slots=N]
 *
 * OP      read write fsync fdatasync open create unlink mkdir truncate statfs getattr flush any
 * ACTION  delay MS      wait, then do it (later rules still apply)
 *         spin US[,US]  the same to the microsecond: the last 100 us of it are spun. Of
 *                       several times each match takes the next in turn
 *         err NAME      fail with this error (EIO, ENOSPC, EINVAL, EAGAIN, ...)
 *         late NAME     do it, then fail all the same
 *         short BYTES   move that much at most
 *         flip BYTE     change the lowest bit of this byte of the file in what a read gives
 *         misdirect N   read or write N bytes further on
 *         bucket IOPS   a token bucket that is empty: so many a second from here on
 *                       (after=N: the burst before)
 *         space BYTES   of statfs: this capacity, all of it free; 0: none stated
 *         hang          wait until the rule is gone; EINTR when the caller is killed
 *         wedge         wait until the rule is gone, deaf to everything
 *         lost          acknowledge a write without doing it
 *         cached        a read of what was read or written before comes from memory: no
 *                       other rule applies to it, and it is logged as "cached"
 *         again         the same, but only what was read is in memory
 * every=N every Nth match; after=N not the first N; count=N at most N times;
 * off=A-B requests that touch bytes A to B; direct= only files opened (not) O_DIRECT; slots=N of
 * delay: so many are served at once, and others wait for their turn before that.
 *
 * CONTROL/log takes a line per request, at its end:
 *
 *	OP OFFSET SIZE START_NS END_NS RESULT DIRECT PATH      (CLOCK_MONOTONIC)
 *
 * With a file CONTROL/direct_io files are opened FOPEN_DIRECT_IO: then the kernel hands on
 * short transfers of pread and pwrite (else it completes them through the page cache), and
 * a waiting reader is killable.
 *
 * Data goes through the backing file's page cache, never O_DIRECT: what the kernel
 * makes of O_DIRECT above FUSE is what is tested, not the disk below.
 */
#define FUSE_USE_VERSION 314

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define RULES_MAX 64
#define SLOTS_MAX 64
#define POLL_NS   (10 * 1000 * 1000)
/* Sleeping wakes some 60 us late. */
#define SPIN_NS   (100 * 1000)
#define SPINS_MAX 32
/* What `cached` remembers, by offset in whatever file. */
#define MEMORY_BLOCK  4096
#define MEMORY_BLOCKS (1 << 20)

/* Those before hang have an argument. */
enum action {
	ACT_DELAY,
	ACT_SPIN,
	ACT_ERR,
	ACT_LATE,
	ACT_SHORT,
	ACT_FLIP,
	ACT_MISDIRECT,
	ACT_BUCKET,
	ACT_SPACE,
	ACT_HANG,
	ACT_WEDGE,
	ACT_LOST,
	ACT_CACHED,
	ACT_AGAIN,
	ACTIONS
};

struct rule {
	char op[16];
	enum action action;
	uint64_t arg;
	uint64_t spin_us[SPINS_MAX];
	unsigned n_spins;
	uint64_t every, after, count;
	uint64_t off_from, off_to;
	int direct; /* -1: either */
	uint64_t seen, done;
	uint64_t free_ns; /* of a bucket: when its next token comes */
	uint64_t slots, slot_free_ns[SLOTS_MAX];
};

static const char *const action_names[ACTIONS] = {"delay", "spin",      "err",    "late",  "short",
                                                  "flip",  "misdirect", "bucket", "space", "hang",
                                                  "wedge", "lost",      "cached", "again"};

static const struct {
	const char *name;
	int value;
} error_names[] = {
        {"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EINVAL", EINVAL},
        {"EAGAIN", EAGAIN}, {"EINTR", EINTR},   {"EACCES", EACCES},
        {"EPERM", EPERM},   {"EROFS", EROFS},   {"ENOSYS", ENOSYS},
        {"EDQUOT", EDQUOT}, {"ESTALE", ESTALE}, {"EOPNOTSUPP", EOPNOTSUPP},
        {"EFBIG", EFBIG},   {"ENODEV", ENODEV}, {"ENOTSUP", ENOTSUP},
        {"ENXIO", ENXIO},   {"EMFILE", EMFILE}, {"ETIMEDOUT", ETIMEDOUT},
};

static struct {
	int backing_fd;
	int log_fd;
	char rules_path[PATH_MAX + 16];
	bool direct_io;
	pthread_mutex_t lock; /* of all below */
	struct rule rules[RULES_MAX];
	unsigned n_rules;
	struct stat rules_stat;
	uint64_t generation; /* counts readings of the rules */
	bool memory[MEMORY_BLOCKS];
} fs = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What the rules make of one request. */
struct fate {
	uint64_t start_ns;
	uint64_t delay_ms;
	int err, late;
	uint64_t short_bytes; /* UINT64_MAX: all */
	uint64_t flip;        /* UINT64_MAX: nothing */
	uint64_t misdirect;
	uint64_t until_ns; /* wait until then */
	uint64_t spin_ns;
	uint64_t space; /* UINT64_MAX: as it is */
	bool hang, wedge, lost, cached;
	uint64_t generation;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec ts = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	while (nanosleep(&ts, &ts) == -1 && errno == EINTR)
		;
}

static void sleep_until(uint64_t until_ns)
{
	uint64_t now = now_ns();

	if (now < until_ns)
		sleep_ns(until_ns - now);
}

static int error_value(const char *name)
{
	for (size_t i = 0; i < sizeof(error_names) / sizeof(*error_names); i++)
		if (strcmp(error_names[i].name, name) == 0)
			return error_names[i].value;
	return -1;
}

static void rule_die(const char *line)
{
	fprintf(stderr, "faultfs: bad rule: %s\n", line);
	exit(2);
}

static void rule_option(struct rule *rule, const char *word, const char *line)
{
	if (sscanf(word, "every=%" SCNu64, &rule->every) == 1 ||
	    sscanf(word, "after=%" SCNu64, &rule->after) == 1 ||
	    sscanf(word, "count=%" SCNu64, &rule->count) == 1 ||
	    sscanf(word, "direct=%d", &rule->direct) == 1 ||
	    (sscanf(word, "slots=%" SCNu64, &rule->slots) == 1 && rule->slots <= SLOTS_MAX) ||
	    sscanf(word, "off=%" SCNu64 "-%" SCNu64, &rule->off_from, &rule->off_to) == 2)
		return;
	rule_die(line);
}

static void rule_spins(struct rule *rule, const char *word, const char *line)
{
	char *end;

	do {
		if (rule->n_spins == SPINS_MAX)
			rule_die(line);
		rule->spin_us[rule->n_spins++] = strtoull(word, &end, 10);
		word = end + 1;
	} while (*end == ',');
}

static void rule_arg(struct rule *rule, const char *word, const char *line)
{
	int value;

	if (rule->action == ACT_SPIN) {
		rule_spins(rule, word, line);
		return;
	}
	if (rule->action != ACT_ERR && rule->action != ACT_LATE) {
		rule->arg = strtoull(word, NULL, 10);
		return;
	}
	value = error_value(word);
	if (value < 0)
		rule_die(line);
	rule->arg = (uint64_t)value;
}

static void rule_read(const char *line)
{
	struct rule rule = {.every = 1, .count = UINT64_MAX, .off_to = UINT64_MAX, .direct = -1};
	char copy[256], *save = NULL;
	const char *word;
	size_t action = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	word = strtok_r(copy, " \n", &save);
	if (!word || *word == '#')
		return;
	snprintf(rule.op, sizeof(rule.op), "%s", word);
	word = strtok_r(NULL, " \n", &save);
	while (word && action < ACTIONS && strcmp(word, action_names[action]) != 0)
		action++;
	if (!word || action == ACTIONS || fs.n_rules == RULES_MAX)
		rule_die(line);
	rule.action = (enum action)action;
	if (rule.action < ACT_HANG) {
		word = strtok_r(NULL, " \n", &save);
		if (!word)
			rule_die(line);
		rule_arg(&rule, word, line);
	}
	while ((word = strtok_r(NULL, " \n", &save)))
		rule_option(&rule, word, line);
	fs.rules[fs.n_rules++] = rule;
}

/* Under the lock. */
static void rules_refresh(void)
{
	struct stat st;
	char line[256];
	FILE *file;

	if (stat(fs.rules_path, &st) == -1)
		memset(&st, 0, sizeof(st));
	if (st.st_ino == fs.rules_stat.st_ino && st.st_size == fs.rules_stat.st_size &&
	    st.st_mtim.tv_sec == fs.rules_stat.st_mtim.tv_sec &&
	    st.st_mtim.tv_nsec == fs.rules_stat.st_mtim.tv_nsec)
		return;
	fs.rules_stat = st;
	fs.n_rules = 0;
	fs.generation++;
	file = fopen(fs.rules_path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		rule_read(line);
	fclose(file);
}

static bool rule_matches(struct rule *rule, const char *op, uint64_t off, uint64_t size,
                         bool direct)
{
	if (strcmp(rule->op, "any") != 0 && strcmp(rule->op, op) != 0)
		return false;
	if (rule->direct >= 0 && rule->direct != (int)direct)
		return false;
	if (off + size <= rule->off_from || off > rule->off_to)
		return false;
	rule->seen++;
	if (rule->seen <= rule->after || (rule->seen - rule->after) % rule->every != 0 ||
	    rule->done == rule->count)
		return false;
	rule->done++;
	return true;
}

/* Take a token, which may lie in the future. */
static uint64_t take_token(struct rule *rule)
{
	uint64_t now = now_ns();

	if (rule->free_ns < now)
		rule->free_ns = now;
	rule->free_ns += 1000000000 / (rule->arg ? rule->arg : 1);
	return rule->free_ns;
}

/* When the first slot that is free will have served it. */
static uint64_t take_slot(struct rule *rule)
{
	uint64_t now = now_ns(), *first = rule->slot_free_ns;

	for (uint64_t i = 1; i < rule->slots; i++)
		if (rule->slot_free_ns[i] < *first)
			first = &rule->slot_free_ns[i];
	if (*first < now)
		*first = now;
	return *first += rule->arg * 1000000;
}

static void fate_add(struct fate *fate, struct rule *rule)
{
	switch (rule->action) {
	case ACT_DELAY:
		if (rule->slots)
			fate->until_ns = take_slot(rule);
		else
			fate->delay_ms += rule->arg;
		break;
	case ACT_SPIN:
		fate->spin_ns += 1000 * rule->spin_us[(rule->done - 1) % rule->n_spins];
		break;
	case ACT_ERR:
		fate->err = (int)rule->arg;
		break;
	case ACT_LATE:
		fate->late = (int)rule->arg;
		break;
	case ACT_SHORT:
		fate->short_bytes = rule->arg;
		break;
	case ACT_FLIP:
		fate->flip = rule->arg;
		break;
	case ACT_MISDIRECT:
		fate->misdirect = rule->arg;
		break;
	case ACT_BUCKET:
		fate->until_ns = take_token(rule);
		break;
	case ACT_SPACE:
		fate->space = rule->arg;
		break;
	case ACT_HANG:
		fate->hang = true;
		break;
	case ACT_WEDGE:
		fate->wedge = true;
		break;
	case ACT_LOST:
		fate->lost = true;
		break;
	case ACT_CACHED:
	case ACT_AGAIN:
	case ACTIONS:
		break;
	}
}

static bool rules_changed_since(uint64_t generation)
{
	bool changed;

	pthread_mutex_lock(&fs.lock);
	rules_refresh();
	changed = fs.generation != generation;
	pthread_mutex_unlock(&fs.lock);
	return changed;
}

/* Whether memory holds all of it; from now on it does. Under the lock. */
static bool remember(uint64_t off, uint64_t size)
{
	bool all = true;

	for (uint64_t b = off / MEMORY_BLOCK; b <= (off + size - 1) / MEMORY_BLOCK; b++) {
		if (b >= MEMORY_BLOCKS)
			return false;
		all &= fs.memory[b];
		fs.memory[b] = true;
	}
	return all;
}

static bool of_memory(const struct rule *rule)
{
	return rule->action == ACT_CACHED || rule->action == ACT_AGAIN;
}

/* Whether a rule has this request answered from memory. Under the lock. */
static bool from_memory(const char *op, uint64_t off, uint64_t size, bool direct)
{
	bool read = strcmp(op, "read") == 0;

	if (!size || (!read && strcmp(op, "write") != 0))
		return false;
	for (unsigned i = 0; i < fs.n_rules; i++)
		if (of_memory(&fs.rules[i]) && (read || fs.rules[i].action == ACT_CACHED) &&
		    rule_matches(&fs.rules[i], "read", off, size, direct))
			return remember(off, size) && read;
	return false;
}

static void wait_exactly(uint64_t until_ns)
{
	sleep_until(until_ns - SPIN_NS);
	while (now_ns() < until_ns)
		;
}

/* Decide, and wait as told. */
static void fate_of(struct fate *fate, const char *op, uint64_t off, uint64_t size, bool direct)
{
	memset(fate, 0, sizeof(*fate));
	fate->short_bytes = fate->flip = fate->space = UINT64_MAX;
	fate->start_ns = now_ns();
	pthread_mutex_lock(&fs.lock);
	rules_refresh();
	fate->generation = fs.generation;
	fate->cached = from_memory(op, off, size, direct);
	for (unsigned i = 0; i < fs.n_rules && !fate->cached; i++)
		if (!of_memory(&fs.rules[i]) && rule_matches(&fs.rules[i], op, off, size, direct))
			fate_add(fate, &fs.rules[i]);
	pthread_mutex_unlock(&fs.lock);
	sleep_ns(fate->delay_ms * 1000000);
	if (fate->spin_ns)
		wait_exactly(fate->start_ns + fate->delay_ms * 1000000 + fate->spin_ns);
	sleep_until(fate->until_ns);
	while ((fate->hang || fate->wedge) && !rules_changed_since(fate->generation)) {
		if (fate->hang && fuse_interrupted()) {
			fate->err = EINTR;
			return;
		}
		sleep_ns(POLL_NS);
	}
}

/* Log and answer: res is what the request would give, or -errno. */
static int finish(const struct fate *fate, const char *op, uint64_t off, uint64_t size, bool direct,
                  const char *path, int res)
{
	char line[PATH_MAX + 256];
	int length;

	if (fate->err)
		res = -fate->err;
	else if (fate->late)
		res = -fate->late;
	if (fate->cached)
		op = "cached";
	length = snprintf(line, sizeof(line),
	                  "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %d %s\n", op, off,
	                  size, fate->start_ns, now_ns(), res, direct, path);
	if (write(fs.log_fd, line, (size_t)length) != length)
		perror("faultfs: log");
	return res;
}

static int result(int res)
{
	return res == -1 ? -errno : res;
}

/* FUSE gives "/x"; the backing directory wants "x" or ".". */
static const char *relative(const char *path)
{
	return path[1] ? path + 1 : ".";
}

/* An open file; fi->fh points to it. */
struct handle {
	int fd;
	bool direct;
	char path[PATH_MAX];
};

static struct handle *handle(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

static void *fs_init(struct fuse_conn_info *conn, struct fuse_config *config)
{
	conn->max_background = 1024;
	conn->congestion_threshold = 1024;
	/* No lock on the path while a file is read: a hung read must not hold up an unlink. */
	config->nullpath_ok = 1;
	config->hard_remove = 1;
	config->use_ino = 1;
	config->entry_timeout = 0;
	config->attr_timeout = 0;
	config->negative_timeout = 0;
	return NULL;
}

static int fs_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	struct fate fate;
	int res;

	fate_of(&fate, "getattr", 0, 1, false);
	if (fi)
		res = result(fstat(handle(fi)->fd, st));
	else
		res = result(fstatat(fs.backing_fd, relative(path), st, AT_SYMLINK_NOFOLLOW));
	return finish(&fate, "getattr", 0, 0, false, path ? path : handle(fi)->path, res);
}

static struct handle *handle_new(int fd, bool direct, const char *path)
{
	struct handle *file = calloc(1, sizeof(*file));

	if (!file)
		abort();
	file->fd = fd;
	file->direct = direct;
	snprintf(file->path, sizeof(file->path), "%s", path);
	return file;
}

static int fs_release(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	close(handle(fi)->fd);
	free(handle(fi));
	return 0;
}

static int fs_opendir(const char *path, struct fuse_file_info *fi)
{
	int fd = openat(fs.backing_fd, relative(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1)
		return -errno;
	fi->fh = (uintptr_t)handle_new(fd, false, path);
	return 0;
}

static int fs_readdir(const char *path, void *buf, fuse_fill_dir_t fill, off_t off,
                      struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	struct dirent *entry;
	DIR *dir;

	(void)path;
	(void)off;
	(void)flags;
	dir = fdopendir(openat(handle(fi)->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		fill(buf, entry->d_name, NULL, 0, 0);
	closedir(dir);
	return 0;
}

/* Everything that is made belongs to the caller, not to this process. */
static int own(const char *path)
{
	const struct fuse_context *context = fuse_get_context();

	return result(fchownat(fs.backing_fd, relative(path), context->uid, context->gid,
	                       AT_SYMLINK_NOFOLLOW));
}

static int fs_mkdir(const char *path, mode_t mode)
{
	struct fate fate;
	int res = 0;

	fate_of(&fate, "mkdir", 0, 1, false);
	if (!fate.err) {
		res = result(mkdirat(fs.backing_fd, relative(path), mode));
		if (res == 0)
			own(path);
	}
	return finish(&fate, "mkdir", 0, 0, false, path, res);
}

static int remove_entry(const char *path, int flags)
{
	struct fate fate;
	int res = 0;

	fate_of(&fate, "unlink", 0, 1, false);
	if (!fate.err)
		res = result(unlinkat(fs.backing_fd, relative(path), flags));
	return finish(&fate, "unlink", 0, 0, false, path, res);
}

static int fs_unlink(const char *path)
{
	return remove_entry(path, 0);
}

static int fs_rmdir(const char *path)
{
	return remove_entry(path, AT_REMOVEDIR);
}

static int fs_rename(const char *from, const char *to, unsigned flags)
{
	return result(renameat2(fs.backing_fd, relative(from), fs.backing_fd, relative(to), flags));
}

static int fs_chmod(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	if (fi)
		return result(fchmod(handle(fi)->fd, mode));
	return result(fchmodat(fs.backing_fd, relative(path), mode, 0));
}

static int fs_chown(const char *path, uid_t uid, gid_t gid, struct fuse_file_info *fi)
{
	if (fi)
		return result(fchown(handle(fi)->fd, uid, gid));
	return result(fchownat(fs.backing_fd, relative(path), uid, gid, AT_SYMLINK_NOFOLLOW));
}

static int fs_utimens(const char *path, const struct timespec ts[2], struct fuse_file_info *fi)
{
	if (fi)
		return result(futimens(handle(fi)->fd, ts));
	return result(utimensat(fs.backing_fd, relative(path), ts, AT_SYMLINK_NOFOLLOW));
}

static int fs_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
	struct fate fate;
	int fd, res = 0;

	fate_of(&fate, "truncate", 0, 1, false);
	if (!fate.err && fi) {
		res = result(ftruncate(handle(fi)->fd, size));
	} else if (!fate.err) {
		fd = openat(fs.backing_fd, relative(path), O_WRONLY | O_CLOEXEC);
		res = fd == -1 ? -errno : result(ftruncate(fd, size));
		if (fd != -1)
			close(fd);
	}
	return finish(&fate, "truncate", 0, (uint64_t)size, false, path ? path : handle(fi)->path,
	              res);
}

/* A file opened O_WRONLY may still be read by the kernel below us, so it is opened for both. */
static int open_backing(const char *op, const char *path, int flags, mode_t mode,
                        struct fuse_file_info *fi)
{
	bool direct = fi->flags & O_DIRECT;
	struct fate fate;
	int fd = -1, res = 0;

	fate_of(&fate, op, 0, 1, direct);
	if (!fate.err) {
		fd = openat(fs.backing_fd, relative(path), flags | O_CLOEXEC, mode);
		res = fd == -1 ? -errno : 0;
	}
	if (fd != -1 && flags & O_CREAT)
		own(path);
	fi->direct_io = fs.direct_io;
	if (fd != -1 && fate.late)
		close(fd);
	else if (fd != -1)
		fi->fh = (uintptr_t)handle_new(fd, direct, path);
	return finish(&fate, op, (uint64_t)fi->flags, 0, direct, path, res);
}

static int fs_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	return open_backing("create", path, O_RDWR | O_CREAT | (fi->flags & (O_EXCL | O_TRUNC)),
	                    mode, fi);
}

static int fs_open(const char *path, struct fuse_file_info *fi)
{
	bool writable = (fi->flags & O_ACCMODE) != O_RDONLY;

	return open_backing("open", path, (writable ? O_RDWR : O_RDONLY) | (fi->flags & O_TRUNC), 0,
	                    fi);
}

static int fs_read(const char *path, char *buf, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct fate fate;
	int res = 0;

	(void)path;
	fate_of(&fate, "read", (uint64_t)off, size, handle(fi)->direct);
	if (!fate.err)
		res = result((int)pread(handle(fi)->fd, buf,
		                        size < fate.short_bytes ? size : fate.short_bytes,
		                        off + (off_t)fate.misdirect));
	if (res > 0 && fate.flip >= (uint64_t)off && fate.flip < (uint64_t)off + (uint64_t)res)
		buf[fate.flip - (uint64_t)off] ^= 1;
	return finish(&fate, "read", (uint64_t)off, size, handle(fi)->direct, handle(fi)->path,
	              res);
}

static int fs_write(const char *path, const char *buf, size_t size, off_t off,
                    struct fuse_file_info *fi)
{
	struct fate fate;
	int res = 0;

	(void)path;
	fate_of(&fate, "write", (uint64_t)off, size, handle(fi)->direct);
	if (fate.lost)
		res = (int)size;
	else if (!fate.err)
		res = result((int)pwrite(handle(fi)->fd, buf,
		                         size < fate.short_bytes ? size : fate.short_bytes,
		                         off + (off_t)fate.misdirect));
	return finish(&fate, "write", (uint64_t)off, size, handle(fi)->direct, handle(fi)->path,
	              res);
}

static int fs_fsync(const char *path, int datasync, struct fuse_file_info *fi)
{
	const char *op = datasync ? "fdatasync" : "fsync";
	struct fate fate;

	(void)path;
	fate_of(&fate, op, 0, 1, handle(fi)->direct);
	return finish(&fate, op, 0, 0, handle(fi)->direct, handle(fi)->path, 0);
}

static int fs_flush(const char *path, struct fuse_file_info *fi)
{
	struct fate fate;

	(void)path;
	fate_of(&fate, "flush", 0, 1, handle(fi)->direct);
	return finish(&fate, "flush", 0, 0, handle(fi)->direct, handle(fi)->path, 0);
}

static int fs_fallocate(const char *path, int mode, off_t off, off_t size,
                        struct fuse_file_info *fi)
{
	(void)path;
	return result(fallocate(handle(fi)->fd, mode, off, size));
}

static off_t fs_lseek(const char *path, off_t off, int whence, struct fuse_file_info *fi)
{
	off_t res = lseek(handle(fi)->fd, off, whence);

	(void)path;
	return res == -1 ? -errno : res;
}

static int fs_statfs(const char *path, struct statvfs *st)
{
	struct fate fate;
	int res = 0;

	fate_of(&fate, "statfs", 0, 1, false);
	if (!fate.err)
		res = result(fstatvfs(fs.backing_fd, st));
	if (fate.space != UINT64_MAX)
		st->f_blocks = st->f_bfree = st->f_bavail = fate.space / st->f_frsize;
	return finish(&fate, "statfs", 0, 0, false, path, res);
}

static const struct fuse_operations operations = {
        .init = fs_init,
        .getattr = fs_getattr,
        .opendir = fs_opendir,
        .readdir = fs_readdir,
        .releasedir = fs_release,
        .mkdir = fs_mkdir,
        .unlink = fs_unlink,
        .rmdir = fs_rmdir,
        .rename = fs_rename,
        .chmod = fs_chmod,
        .chown = fs_chown,
        .utimens = fs_utimens,
        .truncate = fs_truncate,
        .create = fs_create,
        .open = fs_open,
        .release = fs_release,
        .read = fs_read,
        .write = fs_write,
        .flush = fs_flush,
        .fsync = fs_fsync,
        .fallocate = fs_fallocate,
        .lseek = fs_lseek,
        .statfs = fs_statfs,
};

int main(int argc, char **argv)
{
	char control[PATH_MAX], path[PATH_MAX + 16];

	if (argc < 4) {
		fprintf(stderr, "usage: faultfs BACKING CONTROL MOUNTPOINT [FUSE OPTION...]\n");
		return 2;
	}
	fs.backing_fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* libfuse changes to the root directory */
	if (!realpath(argv[2], control)) {
		perror("faultfs");
		return 1;
	}
	snprintf(fs.rules_path, sizeof(fs.rules_path), "%s/rules", control);
	snprintf(path, sizeof(path), "%s/direct_io", control);
	fs.direct_io = access(path, F_OK) == 0;
	snprintf(path, sizeof(path), "%s/log", control);
	fs.log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fs.backing_fd == -1 || fs.log_fd == -1) {
		perror("faultfs");
		return 1;
	}
	umask(0);
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	argv[2] = argv[0];
	return fuse_main(argc - 2, argv + 2, &operations, NULL);
}
