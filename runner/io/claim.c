/*
 * One table of rows drives writing and reading. Reading trusts nothing: whoever can write
 * to the volume can put any file there.
 */
#include "io/claim.h"

#include "io/host.h"
#include "io/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#define FIRST_LINE "pvcbench-claim=1\n"
#define LAST_LINE  "end=pvcbench-claim\n"

static const struct row {
	const char *key;
	size_t offset;
	size_t size; /* of a text; 0: a uint64_t */
} rows[] = {
#define TEXT(member)   offsetof(struct claim, member), sizeof(((struct claim *)0)->member)
#define NUMBER(member) offsetof(struct claim, member), 0
        {"run", TEXT(run_id)},
        {"job", TEXT(job)},
        {"job_uid", TEXT(job_uid)},
        {"job_index", TEXT(job_index)},
        {"attempt", NUMBER(attempt)},
        {"node", TEXT(node)},
        {"host", TEXT(host)},
        {"boot", TEXT(boot)},
        {"pid_namespace", NUMBER(pid_namespace)},
        {"pid", NUMBER(pid)},
        {"pid_start", NUMBER(pid_start)},
        {"started", TEXT(started)},
        {"kept_for", TEXT(kept_for)},
};

/* ---- this process ---- */

/* State and time of start, fields 3 and 22; the second may hold spaces and brackets. */
static bool read_process(uint64_t pid, char *state, uint64_t *start)
{
	char path[64], line[1024];
	char *at;

	snprintf(path, sizeof(path), "/proc/%llu/stat", (unsigned long long)pid);
	host_read_line(path, line, sizeof(line));
	at = strrchr(line, ')');
	if (!at || at[1] != ' ')
		return false;
	*state = at[2];
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	*start = at ? strtoull(at, NULL, 10) : 0;
	return *start;
}

void claim_keep(struct claim *claim, const char *ledger)
{
	host_copy_graphic(claim->kept_for, sizeof(claim->kept_for), ledger);
}

void claim_describe(struct claim *claim, const char *run_id)
{
	char host[CLAIM_TEXT_MAX] = "", boot[CLAIM_TEXT_MAX], state;
	time_t now = time(NULL);
	struct stat st;
	struct tm tm;

	*claim = (struct claim){.attempt = 1, .pid = (uint64_t)getpid()};
	snprintf(claim->run_id, sizeof(claim->run_id), "%s", run_id);
	host_copy_graphic(claim->job, sizeof(claim->job), getenv("PVCBENCH_JOB"));
	host_copy_graphic(claim->job_uid, sizeof(claim->job_uid), getenv("PVCBENCH_JOB_UID"));
	host_copy_graphic(claim->job_index, sizeof(claim->job_index),
	                  getenv("JOB_COMPLETION_INDEX"));
	host_copy_graphic(claim->node, sizeof(claim->node), getenv("PVCBENCH_NODE"));
	gethostname(host, sizeof(host) - 1);
	host_copy_graphic(claim->host, sizeof(claim->host), host);
	host_copy_graphic(claim->boot, sizeof(claim->boot),
	                  host_read_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)));
	if (stat("/proc/self/ns/pid", &st) == 0)
		claim->pid_namespace = st.st_ino;
	if (!read_process(claim->pid, &state, &claim->pid_start))
		claim->pid_start = 0;
	gmtime_r(&now, &tm);
	strftime(claim->started, sizeof(claim->started), "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* ---- the file ---- */

static size_t format(const struct claim *claim, char text[CLAIM_BYTES_MAX])
{
	size_t n = (size_t)snprintf(text, CLAIM_BYTES_MAX, FIRST_LINE);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *member = (const char *)claim + rows[i].offset;
		unsigned long long number = 0;

		if (rows[i].size) {
			n += (size_t)snprintf(text + n, CLAIM_BYTES_MAX - n, "%s=%s\n", rows[i].key,
			                      member);
			continue;
		}
		memcpy(&number, member, sizeof(uint64_t));
		n += (size_t)snprintf(text + n, CLAIM_BYTES_MAX - n, "%s=%llu\n", rows[i].key,
		                      number);
	}
	return n + (size_t)snprintf(text + n, CLAIM_BYTES_MAX - n, LAST_LINE);
}

_Static_assert(sizeof(struct claim) + 512 < CLAIM_BYTES_MAX, "a claim may pass its limit");

int claim_write(int dirfd, const struct claim *claim)
{
	char text[CLAIM_BYTES_MAX];
	size_t n = format(claim, text);
	int fd = openat(dirfd, CLAIM_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	                0600);

	if (fd < 0)
		return errno;

	int errnum = whole_write(fd, text, n);

	/* Network file systems tell at close what did not fit. */
	if (close(fd) < 0 && !errnum)
		errnum = errno;
	return errnum;
}

/* The value of one line; false where it is not of the row's form. */
static bool set(struct claim *claim, const struct row *row, const char *value)
{
	char *member = (char *)claim + row->offset;
	uint64_t number;
	char *end;

	if (row->size) {
		if (strlen(value) >= row->size)
			return false;
		memcpy(member, value, strlen(value) + 1);
		return true;
	}
	errno = 0;
	number = strtoull(value, &end, 10);
	if (errno || *end || value[0] < '0' || value[0] > '9')
		return false;
	memcpy(member, &number, sizeof(number));
	return true;
}

/* Keys that no row names are a later version's, and left alone. */
static bool read_line(struct claim *claim, char *line)
{
	char *value = strchr(line, '=');

	if (!value)
		return false;
	*value++ = '\0';
	for (const char *at = value; *at; at++)
		if (*at <= ' ' || *at >= 0x7f)
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].key, line) == 0)
			return set(claim, &rows[i], value);
	return true;
}

/* text ends with a NUL and is cut into lines. */
static bool parse(struct claim *claim, char *text, size_t n)
{
	size_t first = strlen(FIRST_LINE), last = strlen(LAST_LINE);
	char *rest = text + first;

	*claim = (struct claim){0};
	if (n < first + last || strlen(text) != n || strncmp(text, FIRST_LINE, first) != 0 ||
	    strcmp(text + n - last, LAST_LINE) != 0)
		return false;
	text[n - last] = '\0';
	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line && !read_line(claim, line))
			return false;
	return claim->run_id[0] && claim->attempt && claim->pid && claim->pid <= INT_MAX;
}

static size_t read_all(int fd, char *text, size_t size)
{
	size_t n = 0;
	ssize_t got;

	while (n < size && (got = read(fd, text + n, size - n)) > 0)
		n += (size_t)got;
	return n;
}

bool claim_read(int dirfd, struct claim *claim, uint64_t *beat_ns)
{
	char text[CLAIM_BYTES_MAX + 2];
	struct stat st;
	/* Not waiting: a pipe or a tape of that name may hold whoever opens it. */
	CLEANUP(fd)
	int fd = openat(dirfd, CLAIM_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;

	size_t n = read_all(fd, text, CLAIM_BYTES_MAX + 1);

	text[n] = '\0';
	*beat_ns = st.st_mtim.tv_sec < 0 ? 0
	                                 : (uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC +
	                                           (uint64_t)st.st_mtim.tv_nsec;
	return n <= CLAIM_BYTES_MAX && parse(claim, text, n);
}

int claim_beat(int dirfd)
{
	return utimensat(dirfd, CLAIM_FILE, NULL, AT_SYMLINK_NOFOLLOW) < 0 ? errno : 0;
}

/* ---- whose, and whether it lives ---- */

bool claim_same_job(const struct claim *a, const struct claim *b)
{
	return a->job_uid[0] && strcmp(a->job_uid, b->job_uid) == 0 &&
	       strcmp(a->job_index, b->job_index) == 0;
}

enum claim_life claim_life(const struct claim *claim, const struct claim *own)
{
	char state;
	uint64_t start;

	if (!own->boot[0] || strcmp(claim->boot, own->boot) != 0 || !own->pid_namespace ||
	    claim->pid_namespace != own->pid_namespace || !claim->pid_start)
		return CLAIM_UNKNOWN;
	if (kill((pid_t)claim->pid, 0) < 0 && errno == ESRCH)
		return CLAIM_DEAD;
	/* Another user's process may be hidden. */
	if (!read_process(claim->pid, &state, &start))
		return CLAIM_UNKNOWN;
	/* Its number may have been given away again; one that ended waits as a zombie. */
	return start == claim->pid_start && state != 'Z' && state != 'X' ? CLAIM_ALIVE : CLAIM_DEAD;
}
