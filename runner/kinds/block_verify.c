/*
 * A test with verify: what its blocks are, the ledger, and reading back what it wrote. The
 * checks themselves are the load's.
 */
#include "kinds/block.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/units.h"
#include "io/mount.h"
#include "kinds/watch.h"
#include "load/seal.h"

#define UNIT              4096u /* bytes, wherever it fits: tests of other sizes share the files */
#define MEMORY_SHARE      4     /* of the memory, one part for what is known of the blocks */
#define READ_BACK_MOST_NS (600 * NSEC_PER_SEC)

_Static_assert(PLAN_JOBS_MAX <= LEDGER_FILES_MAX, "each job may have a file of its own");

/* ---- beforehand ---- */

/* The largest block that all requests consist of. */
static uint64_t unit_of(const struct test *test, const struct geometry *g)
{
	uint64_t common =
	        greatest_common_divisor(greatest_common_divisor(test->bs, g->offset), g->increment);

	if (common % UNIT == 0)
		return UNIT;
	return common % SEAL_PIECE == 0 ? SEAL_PIECE : common;
}

static int check_unit(const struct test *test, const struct geometry *g, struct err *err)
{
	if (unit_of(test, g) >= SEAL_PIECE)
		return 0;
	return err_set(err, ERR_PLAN,
	               "verify: bs %llu, offset %llu and offset_increment %llu have no common "
	               "divisor of %u bytes or more (take multiples of one block size)",
	               (unsigned long long)test->bs, (unsigned long long)g->offset,
	               (unsigned long long)g->increment, SEAL_PIECE);
}

static int check_memory(const struct test *test, const struct geometry *g, const struct host *host,
                        struct err *err)
{
	uint64_t needs = g->files * verify_bytes(g->file_bytes, (uint32_t)unit_of(test, g));
	uint64_t has = host->memory_bytes / MEMORY_SHARE;
	char needs_text[UNITS_TEXT_MAX], has_text[UNITS_TEXT_MAX];

	if (!host->memory_bytes || needs <= has)
		return 0;
	return err_set(err, ERR_TARGET,
	               "verify would take %s of memory to remember each block, and a quarter of it "
	               "is %s (lower size, or raise the memory limit)",
	               units_format_size(needs, needs_text), units_format_size(has, has_text));
}

/* The directory that a path is in. */
static void directory_of(const char *path, char *out, size_t size)
{
	const char *slash = strrchr(path, '/');

	if (slash)
		snprintf(out, size, "%.*s", slash == path ? 1 : (int)(slash - path), path);
	else
		snprintf(out, size, ".");
}

/* One device, or one export: what takes the volume along takes the ledger too. */
static bool is_on_target(const struct stat *st, const char *directory, const struct target *target)
{
	struct stat target_st;
	const struct mount *theirs = &target->mount;
	struct mount ours;

	if (stat(target->path, &target_st))
		return false;
	if (target->is_block && st->st_dev == target_st.st_rdev)
		return true;
	if (st->st_dev == target_st.st_dev)
		return true;
	mount_read(&ours, directory);
	return (ours.device[0] && !strcmp(ours.device, theirs->device)) ||
	       (strchr(ours.source, ':') && !strcmp(ours.source, theirs->source));
}

static int check_ledger(const struct test *test, const struct target *target, struct err *err)
{
	char directory[PLAN_PATH_MAX];
	struct stat st;

	if (!test->ledger[0])
		return 0;
	directory_of(test->ledger, directory, sizeof(directory));
	if (stat(directory, &st))
		return err_sys(err, ERR_TARGET, errno, "cannot keep a ledger in '%s'", directory);
	if (is_on_target(&st, directory, target))
		return err_set(err, ERR_REFUSED,
		               "the ledger '%s' would lie on the volume that it tells of, '%s' "
		               "(keep it on another disk or machine)",
		               test->ledger, target->path);
	if (!lstat(test->ledger, &st))
		return err_set(
		        err, ERR_REFUSED,
		        "the ledger '%s' is there already, of an earlier run (pvcbench verify "
		        "reads it; remove it, or name a new one)",
		        test->ledger);
	return 0;
}

int block_verify_check(const struct test *test, const struct geometry *g,
                       const struct target *target, const struct host *host, struct err *err)
{
	if (!test->verify)
		return 0;
	if (check_unit(test, g, err) || check_memory(test, g, host, err))
		return -1;
	return check_ledger(test, target, err);
}

/* ---- before the load ---- */

uint64_t block_layout_bytes(const struct block *b, uint64_t most)
{
	uint64_t unit = b->verify ? unit_of(b->test, &b->geometry) : 1;

	return max_u64(most / unit, 1) * unit;
}

/* Names in directories are stable by their own sync; not every file system has one. */
static void sync_names(struct block *b)
{
	const struct target *target = b->env->target;

	kind_asks(b->env, "fsync of our directory");
	if (target->is_block)
		return;
	fsync(target->run_dirfd);
	fsync(target->dirfd);
}

static int open_ledger(struct block *b, struct err *err)
{
	const struct target *target = b->env->target;
	struct ledger_head head = {0};
	struct ledger *ledger = verify_ledger(b->verify);

	if (!b->test->ledger[0])
		return 0;
	if (ledger && !strcmp(ledger_path(ledger), b->test->ledger))
		return 0;
	if (ledger)
		return err_set(err, ERR_PLAN,
		               "ledger '%s': an earlier test of this run keeps '%s' of this target",
		               b->test->ledger, ledger_path(ledger));
	snprintf(head.run_id, sizeof(head.run_id), "%s", b->env->run_id);
	snprintf(head.target, sizeof(head.target), "%s", target->path);
	snprintf(head.run_dir, sizeof(head.run_dir), "%s", target->is_block ? "" : target->run_dir);
	kind_works(b->env, "making the ledger");
	if (ledger_create(&ledger, b->test->ledger, &head, err)) {
		if (err->errnum == EEXIST)
			err_append(err, " (a ledger is of one target of a run: name another)");
		return -1;
	}
	if (verify_keep(b->verify, ledger, err))
		return -1;
	sync_names(b);
	return 0;
}

/* What tests without verify wrote, or are about to, is not known. */
static int forget(struct block *b, struct err *err)
{
	bool writes = plan_writes(b->test);

	for (unsigned i = 0; i < b->n_files && block_lays_out(b->test); i++)
		writes |= b->env->target->laid_out_bytes[i] < b->geometry.file_bytes;
	return writes && block_own_file(b->test) ? verify_forget(*b->env->verify, err) : 0;
}

int block_verify_prepare(struct block *b, struct err *err)
{
	const struct test *test = b->test;
	uint32_t unit;

	if (!test->verify)
		return forget(b, err);
	if (check_unit(test, &b->geometry, err))
		return -1;
	unit = (uint32_t)unit_of(test, &b->geometry);
	if (verify_prepare(b->env->verify, b->env->run_id, unit, err))
		return -1;
	b->verify = *b->env->verify;
	if (open_ledger(b, err))
		return -1;
	if (!verify_knows(b->verify))
		memset(b->env->target->laid_out_bytes, 0, sizeof(b->env->target->laid_out_bytes));
	for (unsigned i = 0; i < b->n_files; i++)
		if (verify_cover(b->verify, i, b->geometry.file_bytes, err))
			return -1;
	b->tr->verify_block_bytes = unit;
	return 0;
}

/* ---- after the load ---- */

/* Bytes of the requests that reading back takes. */
static uint64_t bytes_to_read(const struct block *b, unsigned file,
                              const struct pattern_params *pattern)
{
	uint64_t bytes = 0;

	for (uint64_t at = 0; at < pattern->bytes; at += pattern->block_bytes) {
		uint64_t n = min_u64(pattern->block_bytes, pattern->bytes - at);

		if (verify_wrote(b->verify, file, pattern->offset + at, n))
			bytes += n;
	}
	return bytes;
}

static int cut_short(struct block *b, uint64_t read, uint64_t bytes, struct err *err)
{
	char note[RESULT_TEXT_MAX], done[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];

	if (read >= bytes || atomic_load(b->env->stop))
		return 0;
	snprintf(note, sizeof(note), "read back only %s of %s written: the time for it was over",
	         units_format_size(read, done), units_format_size(bytes, all));
	return block_concede(b, note, err);
}

static int read_back_file(struct block *b, unsigned i, struct err *err)
{
	struct load_job job = {
	        .fd = b->files[i].fd,
	        .file = i,
	        .pattern = {.bytes = verify_written_end(b->verify, i),
	                    .short_tail = true,
	                    .read_percent = 100},
	};
	uint64_t block = block_layout_bytes(b, BLOCK_LAYOUT_BYTES), bytes, read;
	struct load_params params = {
	        .engine = b->choice.engine,
	        .jobs = &job,
	        .numjobs = 1,
	        .depth = block_layout_depth(b->env->host),
	        .align = b->files[i].align,
	        .runtime_ns = b->test->layout_time_ns ? b->test->layout_time_ns : READ_BACK_MOST_NS,
	        .verify = b->verify,
	        .read_back = true,
	};
	struct load_outcome outcome;

	if (!job.pattern.bytes)
		return 0;
	job.pattern.block_bytes = (uint32_t)min_u64(block, job.pattern.bytes);
	params.requests =
	        (job.pattern.bytes + job.pattern.block_bytes - 1) / job.pattern.block_bytes;
	bytes = bytes_to_read(b, i, &job.pattern);
	kind_asks(b->env, "fdatasync");
	if (!b->files[i].direct)
		file_drop_cache(b->files[i].fd);

	int ret = watch_load(b->env, &params, PHASE_VERIFY, bytes, &outcome, err);

	read = outcome.stats ? outcome.stats->op[STATS_READ].bytes : 0;
	b->unanswered = outcome.stats && outcome.stats->unfinished;
	stats_free(outcome.stats);
	return ret ? err_wrap(err, "reading back") : cut_short(b, read, bytes, err);
}

void block_verify_begin(struct block *b)
{
	if (b->verify)
		verify_begin(b->verify, b->test->sync != SYNC_NONE);
}

int block_verify_end(struct block *b, bool measured, struct err *err)
{
	struct verify_counts counts;
	struct err other;
	bool read_back = measured && plan_writes(b->test);
	int ret = 0;

	if (!b->verify)
		return 0;
	for (unsigned i = 0; i < b->n_files && read_back && !ret && !atomic_load(b->env->stop); i++)
		ret = read_back_file(b, i, err);
	if (verify_ledger(b->verify))
		kind_works(b->env, "syncing the ledger");
	if (verify_end(b->verify, &counts, ret ? &other : err))
		ret = -1;
	b->tr->verify_checked = counts.checked;
	b->tr->verify_mismatches = counts.mismatches;
	b->tr->verify_crossed = counts.crossed;
	return ret;
}
