/*
 * kind: block. Reads and writes of blocks, as fio does them.
 *
 *	fit sizes -> open -> choose engine -> lay out -> measure -> result
 *
 * Laying out is a load like the measured one (sequential writes of 1 MiB), so
 * that it runs as fast as the volume allows; what it took is told and never
 * counted. The target remembers what of its files is laid out, so that the tests
 * of a run share them.
 */
#include "kinds/kind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/units.h"
#include "base/workers.h"
#include "io/engine.h"
#include "io/file.h"
#include "kinds/geometry.h"
#include "kinds/watch.h"

#define LAYOUT_BLOCK (1 * MIB)
#define LAYOUT_DEPTH 16
#define POLL_NS      (100 * NSEC_PER_MSEC)

struct block {
	const struct test *test;
	struct kind_env *env;
	struct test_result *tr;
	struct geometry geometry;
	struct engine_choice choice;
	uint64_t seed;
	bool unanswered; /* requests did not come back: closing the files would wait for them */
	unsigned n_files;
	struct file files[PLAN_JOBS_MAX];
};

/* ---- check ---- */

static bool own_file(const struct test *test)
{
	return !test->filename[0];
}

static bool lays_out(const struct test *test)
{
	return own_file(test) && test->layout == LAYOUT_FULL;
}

static bool by_amount(const struct test *test)
{
	return test->loops || test->io_size;
}

/* The user's file: absolute, or in the target. */
static void existing_path(const struct test *test, const struct target *target, char *out,
                          size_t size)
{
	if (test->filename[0] == '/')
		snprintf(out, size, "%s", test->filename);
	else
		snprintf(out, size, "%s/%s", target->path, test->filename);
}

static int check_safety(const struct test *test, const struct target *target, struct err *err)
{
	if (target->is_container_root && !test->container_fs)
		return err_set(
		        err, ERR_REFUSED,
		        "'%s' lies on the container's own root file system (mount the volume "
		        "there, or say container_fs: true if that is meant)",
		        target->path);
	if (test->destroy)
		return 0;
	if (target->is_block && own_file(test))
		return err_set(err, ERR_REFUSED,
		               "'%s' is a block device and its contents would be overwritten (say "
		               "destroy: true if that is meant)",
		               target->path);
	if (!own_file(test) && plan_writes(test))
		return err_set(
		        err, ERR_REFUSED,
		        "'%s' is an existing file and would be overwritten (say destroy: true if "
		        "that is meant)",
		        test->filename);
	return 0;
}

static int fit(struct geometry *geometry, const struct test *test, const struct target *target,
               const struct host *host, struct err *err)
{
	char path[PLAN_PATH_MAX + TARGET_PATH_MAX + 1];
	struct stat st;

	if (own_file(test))
		return geometry_fit(geometry, test, target, host, err);
	existing_path(test, target, path, sizeof(path));
	if (stat(path, &st))
		return err_sys(err, ERR_TARGET, errno, "cannot use the file '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_TARGET, "'%s' is not a regular file", path);
	return geometry_fit_existing(geometry, test, (uint64_t)st.st_size, host, err);
}

static int check_strict(const struct test *test, const struct geometry *g, struct err *err)
{
	const char *note = g->size_note[0] ? g->size_note : g->depth_note;

	if (!test->strict || !note[0])
		return 0;
	return err_set(err, ERR_TARGET, "%s (strict: true allows no concession)", note);
}

static void concede_in_preview(struct preview *preview, const char *note)
{
	if (note[0])
		snprintf(preview->concessions[preview->n_concessions++], RESULT_TEXT_MAX, "%s",
		         note);
}

static void fill_preview(struct preview *preview, const struct test *test, const struct geometry *g)
{
	*preview = (struct preview){.size_asked = g->size_asked, .size = g->size};
	if (!by_amount(test))
		preview->duration_ns = test->ramp_time_ns + test->runtime_ns;
	else if (plan_writes(test))
		preview->write_bytes =
		        test->numjobs * (test->io_size ? test->io_size : test->loops * g->size);
	if (lays_out(test))
		preview->layout_bytes = g->files * g->file_bytes;
	concede_in_preview(preview, g->size_note);
	concede_in_preview(preview, g->depth_note);
}

static int block_check(const struct test *test, const struct target *target,
                       const struct host *host, struct preview *preview, struct err *err)
{
	struct geometry geometry;

	if (check_safety(test, target, err) || fit(&geometry, test, target, host, err) ||
	    check_strict(test, &geometry, err))
		return -1;
	if (target->is_block && test->file_per_job)
		return err_set(err, ERR_PLAN,
		               "file_per_job needs a directory, and '%s' is a block device (use "
		               "offset_increment)",
		               target->path);
	if (preview)
		fill_preview(preview, test, &geometry);
	return 0;
}

/* ---- concessions ---- */

/* One line in the log and one field in the result; with strict an error. */
static int concede(struct block *b, const char *note, struct err *err)
{
	if (!note[0])
		return 0;
	if (b->test->strict)
		return err_set(err, ERR_TARGET, "%s (strict: true allows no concession)", note);
	test_result_concede(b->tr, "%s", note);
	return 0;
}

/* ---- files ---- */

static void close_files(struct block *b)
{
	for (unsigned i = 0; i < b->n_files && !b->unanswered; i++)
		file_close(&b->files[i]);
	b->n_files = 0;
}

static int open_file(struct block *b, unsigned i, int sync_flags, struct err *err)
{
	const struct test *test = b->test;
	char name[PLAN_PATH_MAX + TARGET_PATH_MAX + 1];
	struct file_wish wish = {
	        .name = name,
	        .existing = !own_file(test),
	        .writable = own_file(test) || plan_writes(test),
	        .direct = (enum direct_wish)test->direct,
	        .sync_flags = sync_flags,
	        .block_bytes = (uint32_t)test->bs,
	};

	if (wish.existing)
		existing_path(test, b->env->target, name, sizeof(name));
	else if (b->env->target->is_block)
		wish.name = NULL;
	else
		snprintf(name, sizeof(name), "data.%u", i);
	if (file_open(&b->files[i], b->env->target, &wish, err))
		return -1;
	b->n_files = i + 1;
	return file_try_direct(&b->files[i], b->env->target, &wish, b->geometry.offset, err);
}

static int open_files(struct block *b, int sync_flags, struct err *err)
{
	for (unsigned i = 0; i < b->geometry.files; i++)
		if (open_file(b, i, sync_flags, err))
			return -1;
	return 0;
}

/* What is laid out nowhere is written first by the test itself, so nothing may be there. */
static int empty_files(struct block *b, struct err *err)
{
	for (unsigned i = 0; i < b->n_files; i++) {
		if (ftruncate(b->files[i].fd, 0))
			return err_sys(err, ERR_TARGET, errno, "cannot empty 'data.%u'", i);
		b->env->target->laid_out_bytes[i] = 0;
	}
	return 0;
}

/* ---- layout ---- */

/* The time for it is up: what is written becomes the size. */
static int shorten(struct block *b, struct file *file, uint64_t bytes, struct err *err)
{
	struct geometry *g = &b->geometry;
	uint64_t others = g->file_bytes - g->size;
	char note[RESULT_TEXT_MAX], from[UNITS_TEXT_MAX], to[UNITS_TEXT_MAX];
	uint64_t size = bytes > others ? (bytes - others) / b->test->bs * b->test->bs : 0;

	if (size < b->test->bs)
		return err_set(
		        err, ERR_TARGET,
		        "layout_time is over and not even one block per job is laid out (raise "
		        "layout_time or lower size)");
	snprintf(note, sizeof(note), "size shrunk from %s to %s: layout_time was over",
	         units_format_size(g->size, from), units_format_size(size, to));
	g->file_bytes -= g->size - size;
	g->size = size;
	file->size_bytes = g->file_bytes;
	return concede(b, note, err);
}

static int lay_out_file(struct block *b, unsigned i, struct err *err)
{
	struct file *file = &b->files[i];
	uint64_t *laid_out = &b->env->target->laid_out_bytes[i];
	/* From a whole layout block on: what an earlier test left off may not be aligned. */
	uint64_t from = *laid_out / LAYOUT_BLOCK * LAYOUT_BLOCK;
	uint64_t bytes = b->geometry.file_bytes - from;
	struct load_job job = {
	        .fd = file->fd,
	        .pattern = {.offset = from,
	                    .bytes = bytes,
	                    .short_tail = true,
	                    .block_bytes = (uint32_t)min_u64(LAYOUT_BLOCK, bytes)},
	};
	struct load_params params = {
	        .engine = b->choice.engine,
	        .jobs = &job,
	        .numjobs = 1,
	        .depth = LAYOUT_DEPTH,
	        .align = file->align,
	        .requests = (bytes + job.pattern.block_bytes - 1) / job.pattern.block_bytes,
	        .runtime_ns = b->test->layout_time_ns,
	        .end_sync = true,
	        .data = b->test->buffer == BUFFER_ZERO ? LOAD_DATA_ZERO : LOAD_DATA_RANDOM,
	        .seed = random_mix(b->seed + i),
	};
	struct load_outcome outcome;
	uint64_t start_ns = clock_now_ns(), written;

	int ret = watch_load(b->env, &params, PHASE_LAYOUT, bytes, &outcome, err);

	written = outcome.stats ? outcome.stats->op[STATS_WRITE].bytes : 0;
	b->tr->layout_bytes += written;
	b->tr->layout_ns += clock_now_ns() - start_ns;
	b->unanswered = outcome.stats && outcome.stats->unfinished;
	stats_free(outcome.stats);
	if (ret)
		return err_wrap(err, "layout of %llu bytes", (unsigned long long)bytes);
	if (atomic_load(b->env->stop))
		return 0;
	if (written < bytes)
		ret = shorten(b, file, from + written, err);
	*laid_out = b->geometry.file_bytes;
	return ret;
}

static int lay_out(struct block *b, struct err *err)
{
	for (unsigned i = 0; i < b->n_files && !atomic_load(b->env->stop); i++) {
		if (b->env->target->laid_out_bytes[i] < b->geometry.file_bytes &&
		    lay_out_file(b, i, err))
			return -1;
		if (!b->files[i].direct)
			file_drop_cache(b->files[i].fd);
	}
	return 0;
}

/* ---- measure ---- */

static void fill_jobs(const struct block *b, struct load_job *jobs)
{
	const struct test *test = b->test;

	for (unsigned j = 0; j < test->numjobs; j++)
		jobs[j] = (struct load_job){
		        .fd = b->files[b->n_files > 1 ? j : 0].fd,
		        .pattern =
		                {
		                        .offset = geometry_region(&b->geometry, j),
		                        .bytes = b->geometry.size,
		                        .block_bytes = (uint32_t)test->bs,
		                        .random = plan_random(test),
		                        .every_block_once = test->randommap,
		                        .zipf_theta =
		                                test->random_distribution.shape == DISTRIBUTION_ZIPF
		                                        ? test->random_distribution.theta
		                                        : 0,
		                        .read_percent = !plan_writes(test) ? 100
		                                        : !plan_reads(test)
		                                                ? 0
		                                                : (unsigned)test->rwmixread,
		                        .seed = random_mix(b->seed + j),
		                },
		};
}

/* Where requests block, depth comes from threads, and these are bounded. */
static int cap_threads(struct block *b, struct err *err)
{
	struct geometry *g = &b->geometry;
	char note[RESULT_TEXT_MAX];
	uint64_t most = WORKERS_MAX / b->test->numjobs;

	if (b->choice.engine->max_depth != 1 || g->iodepth <= most)
		return 0;
	snprintf(note, sizeof(note),
	         "iodepth lowered from %llu to %llu: %s needs a thread per request, and %u are the "
	         "most",
	         (unsigned long long)g->iodepth, (unsigned long long)most, b->choice.engine->name,
	         WORKERS_MAX);
	g->iodepth = most;
	return concede(b, note, err);
}

static void fill_params(const struct block *b, const struct load_job *jobs,
                        struct load_params *params)
{
	const struct test *test = b->test;
	uint64_t blocks = b->geometry.size / test->bs;
	bool paced = test->rate_iops || test->rate;

	*params = (struct load_params){
	        .engine = b->choice.engine,
	        .jobs = jobs,
	        .numjobs = (unsigned)test->numjobs,
	        .depth = (unsigned)b->geometry.iodepth,
	        .align = b->files[0].align,
	        .requests = test->io_size ? test->io_size / test->bs : test->loops * blocks,
	        .period_num_ns = paced ? test->rate ? NSEC_PER_SEC * test->bs : NSEC_PER_SEC : 0,
	        .period_den = test->rate ? test->rate : test->rate_iops,
	        .thinktime_ns = test->thinktime_ns,
	        .sync_every = test->fsync ? test->fsync : test->fdatasync,
	        .sync_op = test->fsync ? IO_FSYNC : IO_FDATASYNC,
	        .end_sync = test->end_fsync,
	        .data = test->buffer == BUFFER_ZERO ? LOAD_DATA_ZERO : LOAD_DATA_RANDOM,
	        .seed = b->seed,
	};
	if (!by_amount(test)) {
		params->ramp_ns = test->ramp_time_ns;
		params->runtime_ns = test->runtime_ns;
	}
}

static void describe(const struct block *b)
{
	struct test_result *tr = b->tr;

	tr->iodepth = b->geometry.iodepth;
	tr->size_asked = b->geometry.size_asked;
	tr->size = b->geometry.size;
	snprintf(tr->ioengine, sizeof(tr->ioengine), "%s", b->choice.engine->name);
	snprintf(tr->ioengine_reason, sizeof(tr->ioengine_reason), "%s", b->choice.reason);
	tr->direct = b->files[0].direct;
	snprintf(tr->direct_reason, sizeof(tr->direct_reason), "%s", b->files[0].direct_reason);
}

static int measure(struct block *b, struct err *err)
{
	struct load_job jobs[PLAN_JOBS_MAX];
	struct load_params params;
	struct load_outcome outcome;

	if (cap_threads(b, err))
		return -1;
	fill_jobs(b, jobs);
	fill_params(b, jobs, &params);
	describe(b);

	int ret = watch_load(b->env, &params, PHASE_RUN, 0, &outcome, err);

	b->tr->stats = outcome.stats;
	b->tr->runtime_ns = outcome.window_ns;
	b->unanswered = outcome.stats && outcome.stats->unfinished;
	return ret;
}

/* ---- run ---- */

static int sync_flags(const struct test *test)
{
	return test->sync == SYNC_SYNC ? O_SYNC : test->sync == SYNC_DSYNC ? O_DSYNC : 0;
}

static int choose(struct block *b, struct err *err)
{
	struct engine_wish wish = {.name = b->test->ioengine,
	                           .fd = b->files[0].fd,
	                           .direct = b->files[0].direct,
	                           .may_write = own_file(b->test) || b->test->destroy,
	                           .offset = b->geometry.offset,
	                           .bytes = (uint32_t)b->test->bs,
	                           .depth = (unsigned)b->geometry.iodepth,
	                           .jobs = (unsigned)b->test->numjobs};

	if (engine_choose(&b->choice, &wish, err))
		return -1;
	return b->choice.refused ? concede(b, b->choice.reason, err) : 0;
}

/* Buffered because O_DIRECT was refused is a concession; because it was asked for is not. */
static int concede_buffered(struct block *b, struct err *err)
{
	if (b->test->direct == PLAN_DIRECT_FALSE || b->files[0].direct)
		return 0;
	return concede(b, b->files[0].direct_reason, err);
}

/* A user's file is read as it is; what was never written is not read from the volume. */
static int concede_holes(struct block *b, struct err *err)
{
	const struct geometry *g = &b->geometry;
	uint64_t bytes = geometry_region(g, (unsigned)b->test->numjobs - 1) - g->offset + g->size;

	if (own_file(b->test) || !plan_reads(b->test) ||
	    !file_has_hole(b->files[0].fd, g->offset, bytes))
		return 0;
	return concede(b, "the file has holes, and reading these costs the volume nothing", err);
}

static int prepare(struct block *b, struct err *err)
{
	const struct test *test = b->test;

	if (fit(&b->geometry, test, b->env->target, b->env->host, err) ||
	    concede(b, b->geometry.size_note, err) || concede(b, b->geometry.depth_note, err) ||
	    open_files(b, 0, err) || concede_buffered(b, err) || choose(b, err))
		return -1;
	if (concede_holes(b, err))
		return -1;
	if (lays_out(test))
		return b->choice.engine == &engine_null ? 0 : lay_out(b, err);
	if (own_file(test) && !b->env->target->is_block)
		return empty_files(b, err);
	return 0;
}

static uint64_t new_seed(void)
{
	uint64_t seed = 0;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = random_mix(clock_now_ns());
	return seed >> 12; /* a JSON number holds it exactly */
}

static int block_run(const struct test *test, struct kind_env *env, struct test_result *tr,
                     struct err *err)
{
	int ret = -1;
	struct block *b = calloc(1, sizeof(*b));

	if (!b)
		return err_set(err, ERR_TARGET, "out of memory");
	*b = (struct block){.test = test, .env = env, .tr = tr};
	b->seed = tr->randseed = test->randseed ? test->randseed : new_seed();
	if (prepare(b, err))
		goto out;
	if (atomic_load(env->stop)) {
		ret = 0;
		goto out;
	}
	if (test->sync != SYNC_NONE) {
		close_files(b);
		if (open_files(b, sync_flags(test), err))
			goto out;
	}
	ret = measure(b, err);
out:
	close_files(b);
	free(b);
	return ret;
}

const struct kind kind_block = {
        .name = "block",
        .check = block_check,
        .run = block_run,
};
