/*
 * kind: block. Reads and writes of blocks, as fio does them.
 *
 *	fit sizes -> open -> choose engine -> lay out -> measure -> result
 */
#include "kinds/block.h"

#include <fcntl.h>
#include <sys/random.h>

#include "base/workers.h"
#include "kinds/watch.h"

/* One line in the log and one field in the result; with strict an error. */
int block_concede(struct block *b, const char *note, struct err *err)
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
	kind_asks(b->env, "close");
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
	        .existing = !block_own_file(test),
	        .writable = plan_writes(test) || block_lays_out(test),
	        .direct = (enum direct_wish)test->direct,
	        .sync_flags = sync_flags,
	        .block_bytes = (uint32_t)test->bs,
	};

	if (wish.existing)
		block_existing_path(test, b->env->target, name, sizeof(name));
	else if (b->env->target->is_block)
		wish.name = NULL;
	else
		snprintf(name, sizeof(name), TARGET_FILE_FORMAT, i);
	kind_asks(b->env, "open");
	if (file_open(&b->files[i], b->env->target, &wish, err))
		return -1;
	b->n_files = i + 1;
	/* Somebody cut it since it was laid out. */
	if (!wish.existing && b->files[i].size_bytes < b->env->target->laid_out_bytes[i])
		b->env->target->laid_out_bytes[i] = 0;
	kind_asks(b->env, "a first request");
	return file_try_direct(&b->files[i], b->env->target, &wish, b->geometry.offset, err);
}

static int open_files(struct block *b, int sync_flags, struct err *err)
{
	for (unsigned i = 0; i < b->geometry.files; i++)
		if (open_file(b, i, sync_flags, err))
			return -1;
	return 0;
}

/* ---- measure ---- */

static unsigned read_percent(const struct test *test)
{
	if (!plan_writes(test))
		return 100;
	return plan_reads(test) ? (unsigned)test->rwmixread : 0;
}

static struct pattern_params pattern_of(const struct block *b, unsigned job)
{
	const struct test *test = b->test;
	bool zipf = test->random_distribution.shape == DISTRIBUTION_ZIPF;

	return (struct pattern_params){
	        .offset = geometry_region(&b->geometry, job),
	        .bytes = b->geometry.size,
	        .block_bytes = (uint32_t)test->bs,
	        .random = plan_random(test),
	        .every_block_once = test->randommap,
	        .zipf_theta = zipf ? test->random_distribution.theta : 0,
	        .read_percent = read_percent(test),
	        .seed = random_mix(b->seed + job),
	};
}

static void fill_jobs(const struct block *b, struct load_job *jobs)
{
	for (unsigned j = 0; j < b->test->numjobs; j++)
		jobs[j] = (struct load_job){
		        .fd = b->files[b->n_files > 1 ? j : 0].fd,
		        .file = b->n_files > 1 ? j : 0,
		        .pattern = pattern_of(b, j),
		};
}

/* Where requests block, depth comes from threads: these are bounded, and take more memory. */
static int cap_threads(struct block *b, struct err *err)
{
	struct geometry *g = &b->geometry;
	char note[RESULT_TEXT_MAX];
	uint64_t most = WORKERS_MAX / b->test->numjobs;

	if (b->choice.engine->max_depth != 1)
		return 0;
	if (g->iodepth > most) {
		snprintf(note, sizeof(note),
		         "iodepth lowered from %llu to %llu: %s needs a thread per request, and %u "
		         "are the most",
		         (unsigned long long)g->iodepth, (unsigned long long)most,
		         b->choice.engine->name, WORKERS_MAX);
		g->iodepth = most;
		if (block_concede(b, note, err))
			return -1;
	}
	g->depth_note[0] = '\0';
	if (geometry_fit_memory(g, b->test, b->env->host, true, err))
		return -1;
	return block_concede(b, g->depth_note, err);
}

/* Of the memory limit, what may wait in the page cache. */
#define CACHED_SHARE 8

uint64_t block_cached_writes(const struct block *b, uint64_t threads, uint64_t bytes)
{
	const struct host *host = b->env->host;

	if (!host->memory_limited || b->files[0].direct || b->choice.engine == &engine_null ||
	    !file_piles_up(b->files[0].fd, host->memory_v1))
		return 0;
	return max_u64(host->memory_bytes / CACHED_SHARE / threads / bytes, 1);
}

/* Buffered writes are synced in time; where the plan does not do it, that is a concession. */
static int bound_cached(struct block *b, struct err *err)
{
	const struct test *test = b->test;
	bool by_threads = b->choice.engine->max_depth == 1;
	uint64_t threads = test->numjobs * (by_threads ? b->geometry.iodepth : 1), most;
	char note[RESULT_TEXT_MAX];

	b->sync_every = test->fsync ? test->fsync : test->fdatasync;
	if (!plan_writes(test) || test->sync != SYNC_NONE)
		return 0;
	most = block_cached_writes(b, threads, test->bs);
	if (!most || (b->sync_every && b->sync_every <= most))
		return 0;
	b->sync_every = most;
	snprintf(
	        note, sizeof(note),
	        "synced after every %llu writes of a thread: the kernel kills who fills its memory "
	        "limit with writes faster than this volume takes them",
	        (unsigned long long)most);
	b->tr->figures_conceded = true;
	return block_concede(b, note, err);
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
	        .sync_every = b->sync_every,
	        .sync_op = test->fsync ? IO_FSYNC : IO_FDATASYNC,
	        .end_sync = test->end_fsync && plan_writes(test),
	        .data = test->buffer == BUFFER_ZERO ? LOAD_DATA_ZERO : LOAD_DATA_RANDOM,
	        .seed = b->seed,
	        .verify = b->verify,
	};
	if (!plan_by_amount(test)) {
		params->ramp_ns = test->ramp_time_ns;
		params->runtime_ns = test->runtime_ns;
	}
}

void block_load(const struct block *b, struct load_job *jobs, struct load_params *params)
{
	fill_jobs(b, jobs);
	fill_params(b, jobs, params);
}

static void describe(const struct block *b)
{
	struct test_result *tr = b->tr;

	tr->iodepth = b->geometry.iodepth;
	tr->size_asked = b->geometry.size_asked;
	tr->size = b->geometry.size;
	tr->size_class = b->geometry.size_class;
	tr->offset = b->geometry.offset;
	tr->offset_increment = b->geometry.increment;
	tr->first_write =
	        block_own_file(b->test) && !b->env->target->is_block && !block_lays_out(b->test);
	snprintf(tr->ioengine, sizeof(tr->ioengine), "%s", b->choice.engine->name);
	snprintf(tr->ioengine_reason, sizeof(tr->ioengine_reason), "%s", b->choice.reason);
	tr->direct = b->files[0].direct;
	snprintf(tr->direct_reason, sizeof(tr->direct_reason), "%s", b->files[0].direct_reason);
}

/* What a cache may hold of the data, here and elsewhere: how old they are, how many. */
static void note_memory(const struct block *b)
{
	const struct target *target = b->env->target;
	struct test_result *tr = b->tr;

	if (block_own_file(b->test) && target->laid_out_bytes[0])
		tr->data_age_ns = clock_now_ns() - target->laid_out_ns;
	tr->fits_memory = !tr->direct && tr->size * b->n_files < b->env->host->memory_bytes;
}

/* What the wall clock showed at a moment of the monotonic one, since 1970. */
static uint64_t wall_ns(uint64_t at_ns)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec - (clock_now_ns() - at_ns);
}

static int start_measuring(void *arg, struct err *err)
{
	const struct block *b = arg;

	return kind_starts(b->env, err);
}

int block_measure(struct block *b, const struct load_params *params, struct err *err)
{
	struct load_outcome outcome;
	struct evidence evidence;
	int ret;

	kind_asks(b->env, "stat");
	evidence_open(&evidence, b->files[0].fd);
	ret = watch_measured(b->env, params, PHASE_RUN, 0, &evidence, &outcome, err);
	evidence_sum(&evidence, &b->tr->usage);
	evidence_close(&evidence);
	stats_free(b->tr->stats);
	b->tr->stats = outcome.stats;
	b->tr->runtime_ns = outcome.window_ns;
	if (outcome.window_ns)
		b->tr->started_ns = wall_ns(outcome.start_ns);
	if (outcome.stats)
		b->tr->longest_gap = stats_longest_gap(outcome.stats, outcome.window_ns);
	b->unanswered = outcome.stats && outcome.stats->unfinished;
	return ret;
}

static int measure(struct block *b, struct err *err)
{
	struct load_job jobs[PLAN_JOBS_MAX];
	struct load_params params;

	if (cap_threads(b, err) || bound_cached(b, err))
		return -1;
	describe(b);
	note_memory(b);
	if (b->test->latency_target_ns)
		return block_search(b, err);
	block_load(b, jobs, &params);
	params.gate = start_measuring;
	params.gate_arg = b;
	return block_measure(b, &params, err);
}

/* What was measured stands, whatever the blocks then hold. */
static int measure_verified(struct block *b, struct err *err)
{
	struct err verify_err;
	int ret;

	block_verify_begin(b);
	ret = measure(b, err);
	if (block_verify_end(b, !ret, &verify_err) == 0 || ret)
		return ret;
	*err = verify_err;
	return -1;
}

/* ---- run ---- */

static int sync_flags(const struct test *test)
{
	return test->sync == SYNC_SYNC ? O_SYNC : test->sync == SYNC_DSYNC ? O_DSYNC : 0;
}

static void on_trial_step(void *arg, bool of_volume)
{
	if (of_volume)
		kind_asks(arg, "a trial request");
	else
		kind_works(arg, "setting up an engine for each job");
}

static int choose(struct block *b, struct err *err)
{
	struct engine_wish wish = {.name = b->test->ioengine,
	                           .fd = b->files[0].fd,
	                           .direct = b->files[0].direct,
	                           .may_write = block_own_file(b->test) || b->test->destroy,
	                           .offset = b->geometry.offset,
	                           .bytes = (uint32_t)b->test->bs,
	                           .depth = (unsigned)b->geometry.iodepth,
	                           .jobs = (unsigned)b->test->numjobs,
	                           .timeout_ns = b->env->answer_ns,
	                           .step = on_trial_step,
	                           .arg = b->env};

	if (engine_choose(&b->choice, &wish, err))
		return -1;
	return b->choice.refused ? block_concede(b, b->choice.reason, err) : 0;
}

/* Buffered because O_DIRECT was refused is a concession; because it was asked for is not. */
static int concede_buffered(struct block *b, struct err *err)
{
	if (b->test->direct == PLAN_DIRECT_FALSE || b->files[0].direct)
		return 0;
	return block_concede(b, b->files[0].direct_reason, err);
}

/* A user's file is read as it is; what was never written is not read from the volume. */
static int concede_holes(struct block *b, struct err *err)
{
	const struct geometry *g = &b->geometry;
	uint64_t bytes = geometry_region(g, (unsigned)b->test->numjobs - 1) - g->offset + g->size;

	if (block_own_file(b->test) || !plan_reads(b->test) ||
	    !file_has_hole(b->files[0].fd, g->offset, bytes))
		return 0;
	b->tr->figures_conceded = true;
	return block_concede(b, "the file has holes, and reading these costs the volume nothing",
	                     err);
}

/* Our own file lies in the run's directory, which the first test that needs it makes. */
static int enter(struct block *b, struct err *err)
{
	struct target *target = b->env->target;

	if (!block_own_file(b->test) || target->is_block || target->run_dirfd >= 0)
		return 0;
	kind_asks(b->env, "mkdir and a claim in it");
	return target_enter(target, b->env->run_id, err);
}

/* Peer 0 lays out what the others use too. */
static bool is_guest(const struct block *b)
{
	return plan_sharers(b->test) > 1 && b->test->peer > 0;
}

/* What peer 0 has come to is what all do. */
static int share(struct block *b, struct err *err)
{
	struct geometry *g = &b->geometry;
	struct kind_extent extent = {g->size, g->offset, g->increment, g->file_bytes};

	if (plan_sharers(b->test) == 1)
		return 0;
	if (kind_shares(b->env, &extent, err))
		return -1;
	g->size = extent.size;
	g->offset = extent.offset;
	g->increment = extent.increment;
	g->file_bytes = extent.file_bytes;
	return 0;
}

static int lay_out(struct block *b, struct err *err)
{
	if (block_lays_out(b->test))
		return b->choice.engine == &engine_null ? 0 : block_lay_out(b, err);
	if (block_own_file(b->test) && !b->env->target->is_block)
		return block_empty_files(b, err);
	return 0;
}

static int prepare(struct block *b, struct err *err)
{
	const struct test *test = b->test;

	kind_asks(b->env, "stat");
	if (block_fit(&b->geometry, test, b->env->target, b->env->host, err) ||
	    (is_guest(b) && share(b, err)))
		return -1;
	if (atomic_load(b->env->stop))
		return 0;
	if (enter(b, err) || block_concede(b, b->geometry.size_note, err) ||
	    block_concede(b, b->geometry.depth_note, err) || open_files(b, 0, err) ||
	    block_guard_device(b, err) || concede_buffered(b, err) || choose(b, err))
		return -1;
	describe(b); /* already now: the layout may fail or be interrupted */
	if (concede_holes(b, err) || block_verify_prepare(b, err))
		return -1;
	return is_guest(b) ? 0 : lay_out(b, err) || share(b, err) ? -1 : 0;
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
	struct block *b = calloc(1, sizeof(*b) + test->numjobs * sizeof(b->files[0]));

	if (!b)
		return err_set(err, ERR_TARGET, "out of memory");
	*b = (struct block){.test = test, .env = env, .tr = tr};
	/* peers and their jobs draw other offsets and data */
	b->seed = tr->randseed =
	        test->randseed ? test->randseed + (uint64_t)test->peer * PLAN_JOBS_MAX : new_seed();
	if (prepare(b, err))
		goto out;
	block_probe_cache(b);
	if (atomic_load(env->stop)) {
		ret = 0;
		goto out;
	}
	if (test->sync != SYNC_NONE) {
		close_files(b);
		if (open_files(b, sync_flags(test), err))
			goto out;
	}
	ret = measure_verified(b, err);
	if (!ret) {
		kind_measured(env);
		block_probe_limits(b);
	}
out:
	if (b->unanswered && b->verify)
		verify_hold(b->verify);
	kind_settle(env, ret);
	close_files(b);
	free(b);
	return ret;
}

const struct kind kind_block = {
        .name = "block",
        .check = block_check,
        .run = block_run,
};

/* The plan made it a block test of one request at a time, see plan_complete. */
const struct kind kind_probe = {
        .name = PLAN_KIND_PROBE,
        .check = block_check,
        .run = block_run,
};
