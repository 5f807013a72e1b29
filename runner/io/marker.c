/*
 * Whoever can write to the volume can put any file there: what is read is bounded, and no link
 * is followed.
 */
#include "io/marker.h"

#include "base/crc32c.h"
#include "io/host.h"
#include "io/target.h"
#include "io/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#define HEAD_BYTES 1024
#define PART_BYTES (256 * KIB)
#define FIRST_LINE "pvcbench-persist=1\n"

/* Over NFS a file goes stale under its reader when another client replaces it: the new one counts.
 */
#define STALE_TRIES 4

/* The file while it is written: behind those that a run measures. */
#define NEW_FILE ((unsigned)TARGET_FILES_MAX)

/* Random bytes that differ from part to part. */
struct part {
	uint64_t number;
	unsigned char rest[PART_BYTES - sizeof(uint64_t)];
};

const char *marker_name(const char *key, char out[MARKER_NAME_MAX])
{
	snprintf(out, MARKER_NAME_MAX, MARKER_PREFIX "%s", key);
	return out;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

uint64_t marker_age_ns(const struct marker *marker)
{
	uint64_t now = now_ns();

	return now - min_u64(now, marker->written_ns);
}

void marker_describe(struct marker *marker, const char *run_id)
{
	char host[MARKER_TEXT_MAX] = "";

	snprintf(marker->run_id, sizeof(marker->run_id), "%s", run_id);
	gethostname(host, sizeof(host) - 1);
	/* Its line in the head has to have a value. */
	host_copy_graphic(marker->host, sizeof(marker->host), host[0] ? host : "unknown");
	marker->written_ns = now_ns();
}

/* ---- the head ---- */

/* All lines but the last; how long they are. */
static size_t format_lines(const struct marker *marker, char head[HEAD_BYTES])
{
	return (size_t)snprintf(head, HEAD_BYTES,
	                        FIRST_LINE "run=%s\nhost=%s\nwritten_ns=%" PRIu64 "\nsize=%" PRIu64
	                                   "\n",
	                        marker->run_id, marker->host, marker->written_ns, marker->bytes);
}

_Static_assert(sizeof(struct marker) + 256 < HEAD_BYTES, "a head may pass its limit");

static void format_head(const struct marker *marker, uint32_t crc, char head[HEAD_BYTES])
{
	size_t n = format_lines(marker, head);

	n += (size_t)snprintf(head + n, HEAD_BYTES - n, "crc32c=%08x\n", crc);
	memset(head + n, '\n', HEAD_BYTES - n);
}

/* False where it is no head; crc is what it says. */
static bool parse_head(const char head[HEAD_BYTES + 1], struct marker *marker, uint32_t *crc)
{
	struct marker read = {0};
	char again[HEAD_BYTES];

	if (sscanf(head,
	           FIRST_LINE "run=%255s\nhost=%255s\nwritten_ns=%" SCNu64 "\nsize=%" SCNu64
	                      "\ncrc32c=%8" SCNx32 "\n",
	           read.run_id, read.host, &read.written_ns, &read.bytes, crc) != 5)
		return false;
	format_head(&read, *crc, again);
	if (memcmp(head, again, HEAD_BYTES) != 0 || read.bytes > MARKER_BYTES_MAX)
		return false;
	*marker = read;
	return true;
}

/* ---- writing ---- */

static struct part *new_part(void)
{
	struct part *part = calloc(1, sizeof(*part));
	unsigned char *at = (unsigned char *)part;

	for (size_t n = 0; part && n < sizeof(*part);) {
		ssize_t got = getrandom(at + n, sizeof(*part) - n, 0);

		if (got < 0 && errno != EINTR)
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	return part;
}

static uint32_t checksum(const struct marker *marker, struct part *part)
{
	char head[HEAD_BYTES];
	uint32_t crc = crc32c(0, head, format_lines(marker, head));

	part->number = 0;
	for (uint64_t at = 0; at < marker->bytes; at += sizeof(*part), part->number++)
		crc = crc32c(crc, part, min_u64(sizeof(*part), marker->bytes - at));
	return crc;
}

static int write_content(int fd, const struct marker *marker, struct part *part, marker_step *step,
                         void *arg)
{
	char head[HEAD_BYTES];
	int errnum;

	format_head(marker, checksum(marker, part), head);
	errnum = whole_write(fd, head, sizeof(head));
	part->number = 0;
	for (uint64_t at = 0; at < marker->bytes && !errnum; at += sizeof(*part), part->number++) {
		if (!step(arg))
			return ECANCELED;
		errnum = whole_write(fd, part, min_u64(sizeof(*part), marker->bytes - at));
	}
	if (!errnum && !step(arg))
		return ECANCELED;
	if (!errnum && fsync(fd))
		errnum = errno;
	return errnum;
}

static int write_file(int dirfd, const char *name, const struct marker *marker, marker_step *step,
                      void *arg)
{
	struct part *part = new_part();
	int fd, errnum;

	if (!part)
		return ENOMEM;
	fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	errnum = fd < 0 ? errno : write_content(fd, marker, part, step, arg);
	/* Network file systems tell at close what did not fit. */
	if (fd >= 0 && close(fd) < 0 && !errnum)
		errnum = errno;
	free(part);
	return errnum;
}

/* An earlier one may be replaced and removed; a foreign file may not. */
static int refuse_foreign(int dirfd, const char *key)
{
	enum marker_state state;
	struct marker marker;
	int errnum = marker_look(dirfd, key, &state, &marker);

	if (errnum)
		return errnum;
	return state == MARKER_FOREIGN ? EEXIST : 0;
}

int marker_write(int from_dirfd, int dirfd, const char *key, const struct marker *marker,
                 marker_step *step, void *arg)
{
	char name[MARKER_NAME_MAX], new_name[32];
	int errnum = refuse_foreign(dirfd, key);

	snprintf(new_name, sizeof(new_name), RUNDIR_FILE_FORMAT, NEW_FILE);
	if (!errnum)
		errnum = write_file(from_dirfd, new_name, marker, step, arg);
	if (!errnum && renameat(from_dirfd, new_name, dirfd, marker_name(key, name)))
		errnum = errno;
	if (errnum)
		unlinkat(from_dirfd, new_name, 0);
	/* Not every file system syncs a directory. */
	else if (fsync(dirfd) && errno != EINVAL && errno != EBADF && errno != ENOTSUP)
		errnum = errno;
	return errnum;
}

/* ---- reading ---- */

/* What is left of a head where writes were lost: some of its first line, nothing, or zeros. */
static bool is_remnant(const char head[HEAD_BYTES + 1], size_t n)
{
	static const char lost[HEAD_BYTES];

	return !memcmp(head, lost, n) || !strncmp(head, FIRST_LINE, min_u64(n, strlen(FIRST_LINE)));
}

/* Its head is read; *fd stays open where there is one of ours, else it is -1. */
static int open_marker(int dirfd, const char *key, int *fd, enum marker_state *state,
                       struct marker *marker, uint32_t *crc)
{
	char name[MARKER_NAME_MAX], head[HEAD_BYTES + 1] = "";
	struct stat st;
	ssize_t got = 0;

	*marker = (struct marker){0};
	*state = MARKER_FOREIGN;
	*fd = openat(dirfd, marker_name(key, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0 && errno == ENOENT)
		*state = MARKER_ABSENT;
	/* A link, a socket. */
	if (*fd < 0)
		return errno == ENOENT || errno == ELOOP || errno == ENXIO ? 0 : errno;
	if (fstat(*fd, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	got = whole_read(*fd, head, HEAD_BYTES);
	if (got < 0)
		return errno;
	if (got == HEAD_BYTES && parse_head(head, marker, crc))
		*state = MARKER_INTACT;
	else if (is_remnant(head, (size_t)got))
		*state = MARKER_BROKEN;
	return 0;
}

static int look_once(int dirfd, const char *key, enum marker_state *state, struct marker *marker)
{
	CLEANUP(fd) int fd = -1;
	uint32_t crc;

	return open_marker(dirfd, key, &fd, state, marker, &crc);
}

int marker_look(int dirfd, const char *key, enum marker_state *state, struct marker *marker)
{
	unsigned left = STALE_TRIES;
	int errnum;

	do
		errnum = look_once(dirfd, key, state, marker);
	while (errnum == ESTALE && --left);
	return errnum;
}

/* MARKER_BROKEN unless all the data is there, nothing else, and of this checksum. */
static int read_content(int fd, const struct marker *marker, uint32_t wanted, void *buffer,
                        enum marker_state *state, marker_step *step, void *arg)
{
	char head[HEAD_BYTES];
	uint32_t crc = crc32c(0, head, format_lines(marker, head));
	uint64_t bytes = 0;
	ssize_t got;

	*state = MARKER_BROKEN;
	do {
		if (!step(arg))
			return ECANCELED;
		got = whole_read(fd, buffer, PART_BYTES);
		if (got < 0)
			return errno;
		crc = crc32c(crc, buffer, (size_t)got);
		bytes += (uint64_t)got;
	} while (got && bytes <= marker->bytes);
	if (bytes == marker->bytes && crc == wanted)
		*state = MARKER_INTACT;
	return 0;
}

static int read_once(int dirfd, const char *key, enum marker_state *state, struct marker *marker,
                     marker_step *step, void *arg)
{
	CLEANUP(fd) int fd = -1;
	uint32_t crc = 0;
	int errnum = open_marker(dirfd, key, &fd, state, marker, &crc);
	void *buffer;

	if (errnum || *state != MARKER_INTACT)
		return errnum;
	buffer = malloc(PART_BYTES);
	if (!buffer)
		return ENOMEM;
	errnum = read_content(fd, marker, crc, buffer, state, step, arg);
	free(buffer);
	return errnum;
}

int marker_read(int dirfd, const char *key, enum marker_state *state, struct marker *marker,
                marker_step *step, void *arg)
{
	unsigned left = STALE_TRIES;
	int errnum;

	do
		errnum = read_once(dirfd, key, state, marker, step, arg);
	while (errnum == ESTALE && --left);
	return errnum;
}

int marker_remove(int dirfd, const char *key)
{
	char name[MARKER_NAME_MAX];
	int errnum = refuse_foreign(dirfd, key);

	if (errnum)
		return errnum;
	return unlinkat(dirfd, marker_name(key, name), 0) ? errno : 0;
}
