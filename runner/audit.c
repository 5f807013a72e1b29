/*
 * The ledger is read twice: first for what of it counts (since the last start, up to which
 * record each file was synced), then for the writes. What is left of it is, for every
 * block, what must lie there and what may.
 *
 *	   never older than      the newest that       the limit
 *	        synced              was acknowledged       of all sequences
 *	 ---------|---------------------|----------------------|------------
 *	  missing |   allowed loss      |  sent, not told      | never sent
 *
 * Pieces of 512 bytes are judged by themselves, so a block of two writes is good where both
 * are allowed.
 */
#include "audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#include "base/units.h"
#include "io/claim.h"
#include "io/rundir.h"
#include "load/ledger.h"
#include "load/seal.h"

#define CHUNK_BYTES MIB
#define NAMED_MAX   10u /* blocks named of each sort */
#define TELL_NS     (5 * NSEC_PER_SEC)
#define PLACE_MAX   (1ull << 60)

struct block {
	uint64_t newest;       /* acknowledged; 0: no write */
	uint64_t acknowledged; /* the oldest that lies there if none of these is lost */
	uint64_t synced : 63;  /* the oldest that may lie there; 0: nothing need */
	uint64_t crossed : 1;  /* of two writes at once there may be parts */
};

struct file {
	struct block *blocks;
	uint64_t n;
	uint64_t synced; /* records before this number */
	int fd;          /* -1: it is not there */
};

struct audit {
	const struct audit_options *options;
	FILE *out;
	struct ledger_head head;
	uint64_t start; /* number of the record since which the ledger counts */
	uint64_t limit;
	uint32_t unit;
	bool ended, contradicts;
	struct file files[LEDGER_FILES_MAX];
	int parent, directory; /* of the run; -1: a device */
	uint64_t checked, must, missing, may, lost, newer, torn, crossed;
	uint64_t read_bytes, all_bytes, told_ns;
	char first[SEAL_TEXT_MAX]; /* that is missing */
};

/* ---- the ledger ---- */

static void start_anew(struct audit *a, const struct ledger_record *record, uint64_t number)
{
	a->start = number;
	a->unit = record->bytes;
	a->contradicts |= a->unit < SEAL_PIECE;
	for (unsigned i = 0; i < LEDGER_FILES_MAX; i++)
		a->files[i].n = a->files[i].synced = 0;
}

static bool is_write(const struct ledger_record *record)
{
	return record->kind == LEDGER_WRITE || record->kind == LEDGER_STABLE;
}

static bool is_sound(const struct audit *a, const struct ledger_record *record)
{
	if (record->file >= LEDGER_FILES_MAX)
		return false;
	return !is_write(record) || (a->unit >= SEAL_PIECE && record->offset < PLACE_MAX &&
	                             record->offset % a->unit == 0 && record->bytes % a->unit == 0);
}

static void scan(void *arg, const struct ledger_record *record, uint64_t number)
{
	struct audit *a = arg;
	struct file *file = &a->files[record->file % LEDGER_FILES_MAX];

	if (record->kind == LEDGER_START)
		start_anew(a, record, number);
	else if (!is_sound(a, record))
		a->contradicts = true;
	else if (record->kind == LEDGER_LIMIT)
		a->limit = record->sequence;
	else if (record->kind == LEDGER_SYNC)
		file->synced = max_u64(file->synced, record->before);
	else if (is_write(record))
		file->n = max_u64(file->n, (record->offset + record->bytes) / a->unit);
	a->ended = record->kind == LEDGER_END;
}

static void apply_write(struct audit *a, const struct ledger_record *record, uint64_t number)
{
	struct file *file = &a->files[record->file];
	struct block *b = file->blocks + record->offset / a->unit;
	bool synced = record->kind == LEDGER_STABLE || number < file->synced;
	bool crossed = record->before != record->sequence;

	for (uint64_t i = 0; i < record->bytes / a->unit; i++) {
		b[i].newest = max_u64(b[i].newest, record->sequence);
		b[i].acknowledged = max_u64(b[i].acknowledged, record->before);
		if (crossed)
			b[i].crossed = true;
		if (!synced)
			continue;
		b[i].synced = max_u64(b[i].synced, record->before);
		b[i].crossed &= crossed;
	}
}

static void apply(void *arg, const struct ledger_record *record, uint64_t number)
{
	struct audit *a = arg;
	struct file *file = &a->files[record->file];

	if (number < a->start)
		return;
	if (is_write(record))
		apply_write(a, record, number);
	else if (record->kind == LEDGER_CUT && record->offset / a->unit < file->n)
		memset(file->blocks + record->offset / a->unit, 0,
		       (file->n - record->offset / a->unit) * sizeof(struct block));
}

static int read_ledger(struct audit *a, struct err *err)
{
	const char *path = a->options->ledger;

	if (ledger_read(path, &a->head, scan, a, err))
		return -1;
	if (a->contradicts)
		return err_set(err, ERR_PLAN, "the ledger '%s' contradicts itself", path);
	for (unsigned i = 0; i < LEDGER_FILES_MAX; i++) {
		struct file *file = &a->files[i];

		if (file->n)
			file->blocks = calloc(file->n, sizeof(*file->blocks));
		if (file->n && !file->blocks)
			return err_set(err, ERR_TARGET, "out of memory for %llu blocks",
			               (unsigned long long)file->n);
	}
	return ledger_read(path, &a->head, apply, a, err);
}

/* ---- the files ---- */

static const char *target_of(const struct audit *a)
{
	return a->options->target ? a->options->target : a->head.target;
}

static int open_directory(struct audit *a, struct err *err)
{
	const char *target = target_of(a);

	if (!a->head.run_dir[0])
		return 0;
	if (strncmp(a->head.run_dir, RUNDIR_PREFIX, strlen(RUNDIR_PREFIX)) != 0 ||
	    strchr(a->head.run_dir, '/'))
		return err_set(err, ERR_PLAN, "the ledger names '%s', which no run makes",
		               a->head.run_dir);
	a->parent = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (a->parent < 0)
		return err_sys(err, ERR_TARGET, errno,
		               "cannot read '%s' (where is the volume mounted? say --target PATH)",
		               target);
	a->directory =
	        openat(a->parent, a->head.run_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (a->directory < 0)
		return err_sys(
		        err, ERR_TARGET, errno,
		        "cannot read '%s/%s' (not the volume of this ledger? was it removed? "
		        "if neither, all that the run wrote is lost)",
		        target, a->head.run_dir);
	return 0;
}

/* A file that is not there has lost all its blocks. */
static int open_file(struct audit *a, unsigned i, struct err *err)
{
	char name[64];

	snprintf(name, sizeof(name), RUNDIR_FILE_FORMAT, i);
	if (a->head.run_dir[0])
		a->files[i].fd = openat(a->directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	else
		a->files[i].fd = open(target_of(a), O_RDONLY | O_CLOEXEC);
	if (a->files[i].fd < 0 && (errno != ENOENT || !a->head.run_dir[0]))
		return err_sys(err, ERR_TARGET, errno, "cannot read '%s' in '%s'",
		               a->head.run_dir[0] ? name : "the device", target_of(a));
	if (a->files[i].fd >= 0) /* what lies on the volume, not in memory */
		posix_fadvise(a->files[i].fd, 0, 0, POSIX_FADV_DONTNEED);
	return 0;
}

/* ---- judging ---- */

static void name(struct audit *a, uint64_t n, const char *what, const char *text)
{
	if (n < NAMED_MAX)
		fprintf(a->out, "%-13s %s\n", what, text);
	else if (n == NAMED_MAX)
		fprintf(a->out, "%-13s and more\n", what);
}

static void miss(struct audit *a, const struct seal_expected *expected,
                 const struct seal_found *found)
{
	char text[SEAL_TEXT_MAX];

	seal_describe(expected, found, text);
	name(a, a->missing, "missing", text);
	if (!a->missing++)
		snprintf(a->first, sizeof(a->first), "%s", text);
}

static void count_good(struct audit *a, const struct block *b, const struct seal_found *found)
{
	char text[96];

	if (found->sequence > b->newest)
		a->newer++;
	if (found->oldest < b->acknowledged)
		a->lost++;
	if (found->oldest == found->sequence)
		return;
	snprintf(text, sizeof(text), "block at offset %llu of file %u: sequences %llu and %llu",
	         (unsigned long long)found->offset, found->place.file,
	         (unsigned long long)found->oldest, (unsigned long long)found->sequence);
	name(a, a->torn++, "torn", text);
}

/* Whether what is no good block may lie there. */
static bool is_allowed(const struct audit *a, const struct block *b, enum seal_look look)
{
	bool parts = look == SEAL_DAMAGED || look == SEAL_UNKNOWN;

	if (b->synced)
		return false;
	/* Of a device we do not know what lay there before. */
	return look == SEAL_ZEROS || (!a->head.run_dir[0] && (parts || look == SEAL_OTHER_RUN));
}

static void judge(struct audit *a, unsigned i, uint64_t number, const void *data)
{
	const struct block *b = &a->files[i].blocks[number];
	struct seal_expected expected = {
	        .place = {seal_run(a->head.run_id), i, number * a->unit},
	        .oldest = max_u64(b->synced, 1),
	        .newest = a->limit,
	};
	struct seal_found found = seal_check(data, a->unit, &expected);
	bool parts = found.look == SEAL_DAMAGED || found.look == SEAL_UNKNOWN;

	a->checked++;
	a->must += b->synced > 0;
	a->may += b->acknowledged > b->synced;
	if (found.look == SEAL_GOOD)
		count_good(a, b, &found);
	else if (is_allowed(a, b, found.look))
		a->lost++;
	else if (b->crossed && parts)
		a->crossed++;
	else
		miss(a, &expected, &found);
}

static void asks(const struct audit *a, const char *what)
{
	a->options->step(a->options->arg, what);
}

static void tell(struct audit *a)
{
	uint64_t now = clock_now_ns();
	char done[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];

	if (now - a->told_ns < TELL_NS)
		return;
	a->told_ns = now;
	fprintf(a->out, "%-13s %s of %s\n", "reading", units_format_size(a->read_bytes, done),
	        units_format_size(a->all_bytes, all));
	fflush(a->out);
}

/* What lies beyond the file's end is zeros. */
static int read_chunk(const struct audit *a, unsigned i, void *data, size_t bytes, uint64_t at,
                      struct err *err)
{
	size_t done = 0;

	memset(data, 0, bytes);
	while (done < bytes && a->files[i].fd >= 0) {
		ssize_t n = pread(a->files[i].fd, (char *)data + done, bytes - done,
		                  (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, ERR_TARGET, errno, "cannot read file %u at offset %llu",
			               i, (unsigned long long)(at + done));
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return 0;
}

static bool has_writes(const struct file *file, uint64_t from, uint64_t n)
{
	for (uint64_t i = from; i < from + n; i++)
		if (file->blocks[i].newest)
			return true;
	return false;
}

static int check_file(struct audit *a, unsigned i, unsigned char *data, uint64_t per_chunk,
                      struct err *err)
{
	const struct file *file = &a->files[i];

	for (uint64_t from = 0; from < file->n; from += per_chunk) {
		uint64_t n = min_u64(per_chunk, file->n - from);

		a->read_bytes += n * a->unit;
		if (!has_writes(file, from, n))
			continue;
		if (atomic_load(a->options->stop))
			return err_set(err, ERR_TEST, "interrupted before all was read back");
		asks(a, "a read of what was written");
		if (read_chunk(a, i, data, n * a->unit, from * a->unit, err))
			return -1;
		for (uint64_t block = 0; block < n; block++)
			if (file->blocks[from + block].newest)
				judge(a, i, from + block, data + block * a->unit);
		tell(a);
	}
	return 0;
}

static int check_files(struct audit *a, struct err *err)
{
	uint64_t per_chunk = a->unit ? max_u64(CHUNK_BYTES / a->unit, 1) : 1;
	CLEANUP(mem) unsigned char *data = malloc(per_chunk * max_u64(a->unit, 1));

	if (!data)
		return err_set(err, ERR_TARGET, "out of memory");
	a->told_ns = clock_now_ns();
	for (unsigned i = 0; i < LEDGER_FILES_MAX; i++)
		a->all_bytes += a->files[i].n * a->unit;
	for (unsigned i = 0; i < LEDGER_FILES_MAX; i++)
		if (a->files[i].n &&
		    (open_file(a, i, err) || check_file(a, i, data, per_chunk, err)))
			return -1;
	return 0;
}

/* ---- the report ---- */

static void PRINTF_LIKE(3, 4) line(const struct audit *a, const char *what, const char *fmt, ...)
{
	va_list args;

	fprintf(a->out, "%-13s ", what);
	va_start(args, fmt);
	vfprintf(a->out, fmt, args);
	va_end(args);
	fputc('\n', a->out);
}

static unsigned long long u(uint64_t n)
{
	return n;
}

static void begin_report(const struct audit *a)
{
	char unit[UNITS_TEXT_MAX];

	line(a, "ledger", "%s, of run %s, which %s", a->options->ledger, a->head.run_id,
	     a->ended ? "ended by itself" : "was cut off, or still runs");
	line(a, "files", "%s%s%s, blocks of %s", target_of(a), a->head.run_dir[0] ? "/" : "",
	     a->head.run_dir, units_format_size(a->unit, unit));
}

static void write_report(const struct audit *a)
{
	line(a, "checked", "%llu blocks with an acknowledged write", u(a->checked));
	line(a, "synced", "%llu must hold a write that was synced, %llu of these do not",
	     u(a->must), u(a->missing));
	line(a, "not synced",
	     "%llu hold, or held, a later write that was acknowledged and not synced; %llu lost "
	     "it, which is allowed",
	     u(a->may), u(a->lost));
	if (a->newer)
		line(a, "newer",
		     "%llu hold a write that was sent and is not known to be acknowledged",
		     u(a->newer));
	if (a->torn)
		line(a, "torn", "%llu hold parts of two writes, the later not synced: allowed",
		     u(a->torn));
	if (a->crossed)
		line(a, "crossed",
		     "%llu hold neither of two writes under way at once, which is allowed",
		     u(a->crossed));
}

/* Its process is seen on the same machine; what was killed elsewhere is the user's to know. */
static bool still_runs(const struct audit *a)
{
	struct claim claim, own;
	uint64_t beat_ns;

	claim_describe(&own, "");
	return claim_read(a->directory, &claim, &beat_ns) &&
	       claim_life(&claim, &own) == CLAIM_ALIVE;
}

static int remove_directory(const struct audit *a, struct err *err)
{
	const struct rundir dir = {target_of(a), a->head.run_dir, a->parent, a->directory};

	asks(a, "removal of the run's files");
	if (still_runs(a))
		return err_set(err, ERR_REFUSED,
		               "'%s/%s' stays: its run goes on (end it, or wait for its end)",
		               target_of(a), a->head.run_dir);
	if (rundir_remove(&dir, false, err))
		return -1;
	line(a, "removed", "%s/%s", target_of(a), a->head.run_dir);
	return 0;
}

static int conclude(struct audit *a, struct err *err)
{
	write_report(a);
	if (a->missing)
		return err_set(err, ERR_TEST,
		               "%llu of %llu blocks do not hold what was acknowledged and synced; "
		               "the first: %s",
		               u(a->missing), u(a->checked), a->first);
	line(a, "verdict", "%s",
	     a->must ? "nothing that was acknowledged and synced is missing"
	             : "the ledger has no write that was acknowledged and synced");
	return a->options->remove && a->directory >= 0 ? remove_directory(a, err) : 0;
}

static void audit_destroy(struct audit *a)
{
	for (unsigned i = 0; i < LEDGER_FILES_MAX; i++) {
		free(a->files[i].blocks);
		cleanup_fd(&a->files[i].fd);
	}
	cleanup_fd(&a->directory);
	cleanup_fd(&a->parent);
}

int audit_run(const struct audit_options *options, FILE *out, struct err *err)
{
	struct audit a = {.options = options, .out = out, .parent = -1, .directory = -1};
	int ret = -1;

	for (unsigned i = 0; i < LEDGER_FILES_MAX; i++)
		a.files[i].fd = -1;
	asks(&a, "a read of the ledger");
	if (read_ledger(&a, err))
		goto end;
	begin_report(&a);
	asks(&a, "open");
	if (!open_directory(&a, err) && !check_files(&a, err))
		ret = conclude(&a, err);
end:
	audit_destroy(&a);
	return ret;
}
