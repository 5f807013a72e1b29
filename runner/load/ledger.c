/*
 * Threads of the load append to one of two buffers under a lock. The ledger's own thread
 * swaps them, writes the full one as a frame and syncs it, again and again, with a pause
 * that gathers records.
 *
 *	magic head crc | frame frame ...       frame: magic n number crc, n records
 */
#include "load/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/crc32c.h"

#define PENDING_MAX (256u * 1024) /* records; a disk that lags by more does not keep up */
#define PAUSE_NS    (10 * NSEC_PER_MSEC)
#define HEAD_MAGIC  "pvcbench ledger 1\n"
#define FRAME_MAGIC 0x6d617266u

struct file_head {
	char magic[24];
	struct ledger_head head;
	uint32_t crc; /* of all before it */
};

struct frame {
	uint32_t magic, n;
	uint64_t number;   /* of its first record */
	uint32_t crc;      /* of its records */
	uint32_t head_crc; /* of all before it */
};

struct ledger {
	char path[LEDGER_PATH_MAX];
	int fd;
	uint64_t at; /* where the next frame goes */
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t wanted, written;
	struct ledger_record *pending, *spare;
	uint32_t n_pending;
	uint64_t count;  /* records appended */
	uint64_t stable; /* records that are stable */
	bool hurried;    /* somebody waits */
	bool ending;
	bool overrun;
	int errnum; /* 0: it can be written */
};

/* ---- writing ---- */

/* 0 or an errno. */
static int write_all(int fd, const void *data, size_t bytes, uint64_t at)
{
	const unsigned char *from = data;

	while (bytes) {
		ssize_t n = pwrite(fd, from, bytes, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : ENOSPC;
		from += n;
		at += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int write_frame(struct ledger *l, const struct ledger_record *records, uint32_t n,
                       uint64_t number)
{
	size_t bytes = n * sizeof(*records);
	struct frame frame = {
	        .magic = FRAME_MAGIC,
	        .n = n,
	        .number = number,
	        .crc = crc32c(0, records, bytes),
	};
	int errnum;

	frame.head_crc = crc32c(0, &frame, offsetof(struct frame, head_crc));
	errnum = write_all(l->fd, &frame, sizeof(frame), l->at);
	if (!errnum)
		errnum = write_all(l->fd, records, bytes, l->at + sizeof(frame));
	if (!errnum && fdatasync(l->fd))
		errnum = errno;
	l->at += sizeof(frame) + bytes;
	return errnum;
}

/* What is pending, outside of the lock; a pause before it unless somebody waits. */
static void write_pending(struct ledger *l)
{
	struct ledger_record *records = l->pending;
	uint32_t n = l->n_pending;
	uint64_t number = l->stable;

	l->pending = l->spare;
	l->spare = records;
	l->n_pending = 0;
	l->hurried = false;
	pthread_mutex_unlock(&l->lock);

	int errnum = write_frame(l, records, n, number);

	pthread_mutex_lock(&l->lock);
	l->stable += n;
	l->errnum = errnum;
	pthread_cond_broadcast(&l->written);
}

static void gather(struct ledger *l)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)PAUSE_NS;
	if (until.tv_nsec >= (long)NSEC_PER_SEC) {
		until.tv_nsec -= (long)NSEC_PER_SEC;
		until.tv_sec++;
	}
	while (!l->hurried && !l->ending &&
	       pthread_cond_timedwait(&l->wanted, &l->lock, &until) != ETIMEDOUT)
		;
}

static void *run(void *arg)
{
	struct ledger *l = arg;

	pthread_mutex_lock(&l->lock);
	while (!l->errnum && (l->n_pending || !l->ending)) {
		if (!l->n_pending)
			pthread_cond_wait(&l->wanted, &l->lock);
		if (l->n_pending) {
			gather(l);
			write_pending(l);
		}
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

uint64_t ledger_append(struct ledger *l, const struct ledger_record *record)
{
	uint64_t number;

	pthread_mutex_lock(&l->lock);
	number = l->count;
	if (l->n_pending == PENDING_MAX)
		l->overrun = true;
	if (!l->overrun && !l->errnum) {
		l->pending[l->n_pending++] = *record;
		l->count++;
		if (l->n_pending == 1)
			pthread_cond_signal(&l->wanted);
	}
	pthread_mutex_unlock(&l->lock);
	return number;
}

uint64_t ledger_count(struct ledger *l)
{
	uint64_t count;

	pthread_mutex_lock(&l->lock);
	count = l->count;
	pthread_mutex_unlock(&l->lock);
	return count;
}

bool ledger_is_broken(struct ledger *l)
{
	bool broken;

	pthread_mutex_lock(&l->lock);
	broken = l->errnum || l->overrun;
	pthread_mutex_unlock(&l->lock);
	return broken;
}

static int explain(const struct ledger *l, struct err *err)
{
	if (l->errnum)
		return err_sys(err, ERR_TEST, l->errnum, "cannot write the ledger '%s'", l->path);
	if (l->overrun)
		return err_set(err, ERR_TEST,
		               "the ledger '%s' does not keep up: %u writes wait to be recorded "
		               "(keep it on a faster disk, or lower the rate)",
		               l->path, PENDING_MAX);
	return 0;
}

int ledger_flush(struct ledger *l, struct err *err)
{
	int ret;

	pthread_mutex_lock(&l->lock);
	while (!l->errnum && l->stable < l->count) {
		l->hurried = true;
		pthread_cond_signal(&l->wanted);
		pthread_cond_wait(&l->written, &l->lock);
	}
	ret = explain(l, err);
	pthread_mutex_unlock(&l->lock);
	return ret;
}

/* ---- its life ---- */

const char *ledger_path(const struct ledger *l)
{
	return l->path;
}

static void ledger_free(struct ledger *l)
{
	if (l->fd >= 0)
		close(l->fd);
	free(l->pending);
	free(l->spare);
	free(l);
}

/* The name of a new file is stable with its directory. */
static int sync_directory_of(const char *path)
{
	char directory[LEDGER_PATH_MAX];
	char *slash;

	snprintf(directory, sizeof(directory), "%s", path);
	slash = strrchr(directory, '/');
	if (slash)
		slash[slash == directory] = '\0';

	CLEANUP(fd) int fd = open(slash ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* Some file systems cannot, and keep names in other ways. */
	return fd < 0 || (fsync(fd) && errno != EINVAL) ? errno : 0;
}

static int write_head(struct ledger *l, const struct ledger_head *head)
{
	struct file_head file = {.magic = HEAD_MAGIC, .head = *head};
	int errnum;

	file.crc = crc32c(0, &file, offsetof(struct file_head, crc));
	l->at = sizeof(file);
	errnum = write_all(l->fd, &file, sizeof(file), 0);
	if (!errnum && fsync(l->fd))
		errnum = errno;
	return errnum ? errnum : sync_directory_of(l->path);
}

/* Signals are the main thread's. 0 or an errno. */
static int start_thread(struct ledger *l)
{
	pthread_condattr_t monotonic;
	sigset_t all, before;
	int errnum;

	pthread_mutex_init(&l->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&l->wanted, &monotonic);
	pthread_cond_init(&l->written, NULL);
	pthread_condattr_destroy(&monotonic);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	errnum = pthread_create(&l->thread, NULL, run, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return errnum;
}

int ledger_create(struct ledger **out, const char *path, const struct ledger_head *head,
                  struct err *err)
{
	struct ledger *l = calloc(1, sizeof(*l));
	int errnum = ENOMEM;

	if (!l)
		return err_set(err, ERR_TARGET, "out of memory for the ledger");
	snprintf(l->path, sizeof(l->path), "%s", path);
	l->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (l->fd < 0) {
		errnum = errno;
		goto failed;
	}
	l->pending = malloc(PENDING_MAX * sizeof(*l->pending));
	l->spare = malloc(PENDING_MAX * sizeof(*l->spare));
	if (l->pending && l->spare)
		errnum = write_head(l, head);
	if (!errnum)
		errnum = start_thread(l);
	if (errnum)
		goto failed;
	*out = l;
	return 0;
failed:
	if (l->fd >= 0) /* we made it, and it tells nothing */
		unlink(path);
	ledger_free(l);
	return err_sys(err, ERR_TARGET, errnum, "cannot make the ledger '%s'", path);
}

int ledger_close(struct ledger *l, struct err *err)
{
	int ret;

	if (!l)
		return 0;
	ret = ledger_flush(l, err);
	pthread_mutex_lock(&l->lock);
	l->ending = true;
	pthread_cond_signal(&l->wanted);
	pthread_mutex_unlock(&l->lock);
	pthread_join(l->thread, NULL);
	ledger_free(l);
	return ret;
}

/* ---- reading ---- */

static bool read_head(FILE *file, struct ledger_head *head)
{
	struct file_head read;

	if (fread(&read, sizeof(read), 1, file) != 1 ||
	    strncmp(read.magic, HEAD_MAGIC, sizeof(read.magic)) != 0 ||
	    read.crc != crc32c(0, &read, offsetof(struct file_head, crc)))
		return false;
	*head = read.head;
	return true;
}

/* The next whole frame's records, their number in *n; false at the end. */
static bool read_frame(FILE *file, struct ledger_record *records, uint32_t *n, uint64_t number)
{
	struct frame frame;

	if (fread(&frame, sizeof(frame), 1, file) != 1 || frame.magic != FRAME_MAGIC ||
	    frame.head_crc != crc32c(0, &frame, offsetof(struct frame, head_crc)) ||
	    frame.n > PENDING_MAX || frame.number != number ||
	    fread(records, sizeof(*records), frame.n, file) != frame.n ||
	    frame.crc != crc32c(0, records, frame.n * sizeof(*records)))
		return false;
	*n = frame.n;
	return true;
}

/* Not waiting: a pipe of that name may hold whoever opens it. */
static FILE *open_to_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (!file && fd >= 0)
		close(fd);
	return file;
}

int ledger_read(const char *path, struct ledger_head *head, ledger_reader *reader, void *arg,
                struct err *err)
{
	CLEANUP(file) FILE *file = open_to_read(path);
	CLEANUP(mem) struct ledger_record *records = NULL;
	uint64_t number = 0;
	uint32_t n;

	if (!file)
		return err_sys(err, ERR_PLAN, errno, "cannot read the ledger '%s'", path);
	if (!read_head(file, head))
		return err_set(err, ERR_PLAN,
		               "'%s' is not a ledger of pvcbench, or of another version", path);
	records = malloc(PENDING_MAX * sizeof(*records));
	if (!records)
		return err_set(err, ERR_PLAN, "out of memory for the ledger '%s'", path);
	while (read_frame(file, records, &n, number))
		for (uint32_t i = 0; i < n; i++)
			reader(arg, &records[i], number++);
	if (ferror(file))
		return err_sys(err, ERR_PLAN, errno, "cannot read the ledger '%s'", path);
	return 0;
}
