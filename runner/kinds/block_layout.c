/*
 * Laying out: sequential writes of 1 MiB as a load like the measured one, so that
 * it runs as fast as the volume allows. What it took is told and never counted.
 * The target remembers what of its files is laid out, so that the tests of a run
 * share them.
 */
#include "kinds/block.h"

#include "base/units.h"
#include "kinds/watch.h"

#define LAYOUT_DEPTH 16

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
	return block_concede(b, note, err);
}

/* Within half of the memory; a request takes its block, a spare one and a thread at most. */
unsigned block_layout_depth(const struct host *host)
{
	uint64_t fits = host->memory_bytes / 2 / (3 * BLOCK_LAYOUT_BYTES);

	return (unsigned)max_u64(host->memory_bytes ? min_u64(LAYOUT_DEPTH, fits) : LAYOUT_DEPTH,
	                         1);
}

static int lay_out_file(struct block *b, unsigned i, struct err *err)
{
	struct file *file = &b->files[i];
	uint64_t *laid_out = &b->env->target->laid_out_bytes[i];
	uint64_t block = block_layout_bytes(b, BLOCK_LAYOUT_BYTES);
	/* From a whole layout block on: what an earlier test left off may not be aligned. */
	uint64_t from = *laid_out / block * block;
	uint64_t bytes = b->geometry.file_bytes - from;
	struct load_job job = {
	        .fd = file->fd,
	        .file = i,
	        .pattern = {.offset = from,
	                    .bytes = bytes,
	                    .short_tail = true,
	                    .block_bytes = (uint32_t)min_u64(block, bytes)},
	};
	struct load_params params = {
	        .engine = b->choice.engine,
	        .jobs = &job,
	        .numjobs = 1,
	        .depth = block_layout_depth(b->env->host),
	        .align = file->align,
	        .requests = (bytes + job.pattern.block_bytes - 1) / job.pattern.block_bytes,
	        .runtime_ns = b->test->layout_time_ns,
	        .end_sync = true,
	        .data = b->test->buffer == BUFFER_ZERO ? LOAD_DATA_ZERO : LOAD_DATA_RANDOM,
	        .seed = random_mix(b->seed + i),
	        .verify = b->verify,
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

/* Nothing of an earlier claim is left of what is cut off. */
static int cut_file(const struct block *b, unsigned i, uint64_t bytes, struct err *err)
{
	if (verify_cut(*b->env->verify, i, bytes, err))
		return -1;
	return target_cut_file(b->env->target, i, bytes, err);
}

/* Cut our files so that these of this test fit: what others laid out is not kept at any price. */
static int make_room(struct block *b, struct err *err)
{
	struct target *target = b->env->target;
	uint64_t kept = 0;

	for (unsigned i = 0; i < TARGET_FILES_MAX; i++)
		kept += max_u64(target->laid_out_bytes[i],
		                i < b->n_files ? b->geometry.file_bytes : 0);
	if (target->is_block || kept <= target_budget(target))
		return 0;
	for (unsigned i = 0; i < TARGET_FILES_MAX; i++)
		if (cut_file(b, i, i < b->n_files ? b->geometry.file_bytes : 0, err))
			return -1;
	return 0;
}

int block_lay_out(struct block *b, struct err *err)
{
	if (make_room(b, err))
		return -1;
	for (unsigned i = 0; i < b->n_files && !atomic_load(b->env->stop); i++) {
		if (b->env->target->laid_out_bytes[i] < b->geometry.file_bytes &&
		    lay_out_file(b, i, err))
			return -1;
		if (!b->files[i].direct)
			file_drop_cache(b->files[i].fd);
	}
	return 0;
}

/* What is laid out nowhere is written first by the test itself, so nothing may be there. */
int block_empty_files(struct block *b, struct err *err)
{
	for (unsigned i = 0; i < TARGET_FILES_MAX; i++)
		if (cut_file(b, i, 0, err))
			return -1;
	return 0;
}
