/*
 * Laying out: sequential writes of 1 MiB as a load like the measured one, so that
 * it runs as fast as the volume allows. What it took is told and never counted.
 * The target remembers what of its files is laid out, so that the tests of a run
 * share them.
 */
#include "kinds/block.h"

#include <errno.h>

#include "base/units.h"
#include "kinds/watch.h"

#define LAYOUT_DEPTH 16

/* Not all of it can be laid out: what is becomes the size. */
static int shorten(struct block *b, struct file *file, uint64_t bytes, const char *why,
                   struct err *err)
{
	struct geometry *g = &b->geometry;
	uint64_t others = g->file_bytes - g->size;
	char note[RESULT_TEXT_MAX], from[UNITS_TEXT_MAX], to[UNITS_TEXT_MAX];
	uint64_t size = bytes > others ? (bytes - others) / b->test->bs * b->test->bs : 0;

	if (size < b->test->bs)
		return err_set(err, ERR_TARGET,
		               "%s and not even one block per job is laid out (raise "
		               "layout_time or lower size)",
		               why);
	snprintf(note, sizeof(note), "size shrunk from %s to %s: %s",
	         units_format_size(g->size, from), units_format_size(size, to), why);
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

/* Of its requests: whole blocks of verify. */
static uint64_t layout_block(const struct block *b)
{
	return block_layout_bytes(b, BLOCK_LAYOUT_BYTES);
}

/* Write [from, from + bytes) of file i, for time_ns at most (0: until it is done). */
static int write_range(struct block *b, unsigned i, uint64_t from, uint64_t bytes, uint64_t time_ns,
                       uint64_t *written, struct err *err)
{
	const struct load_job job = {
	        .fd = b->files[i].fd,
	        .file = i,
	        .pattern = {.offset = from,
	                    .bytes = bytes,
	                    .short_tail = true,
	                    .block_bytes = (uint32_t)min_u64(layout_block(b), bytes)},
	};
	unsigned depth = block_layout_depth(b->env->host);
	const struct load_params params = {
	        .engine = b->choice.engine,
	        .jobs = &job,
	        .numjobs = 1,
	        .depth = depth,
	        .align = b->files[i].align,
	        .requests = (bytes + job.pattern.block_bytes - 1) / job.pattern.block_bytes,
	        .runtime_ns = time_ns,
	        .sync_every = block_cached_writes(b, b->choice.engine->max_depth == 1 ? depth : 1,
	                                          job.pattern.block_bytes),
	        .sync_op = IO_FDATASYNC,
	        .end_sync = true,
	        .data = b->test->buffer == BUFFER_ZERO ? LOAD_DATA_ZERO : LOAD_DATA_RANDOM,
	        .seed = random_mix(b->seed + i),
	        .verify = b->verify,
	};
	struct load_outcome outcome;
	uint64_t start_ns = clock_now_ns();
	int ret = watch_load(b->env, &params, PHASE_LAYOUT, bytes, &outcome, err);

	*written = outcome.stats ? outcome.stats->op[STATS_WRITE].bytes : 0;
	b->tr->layout_bytes += *written;
	if (*written)
		b->env->target->laid_out_ns = clock_now_ns();
	b->tr->layout_ns += clock_now_ns() - start_ns;
	b->unanswered = outcome.stats && outcome.stats->unfinished;
	stats_free(outcome.stats);
	return ret ? err_wrap(err, "layout of %llu bytes", (unsigned long long)bytes) : 0;
}

/* A limit that nobody knew before: what the file has become is its size. */
static int settle_for_limit(struct block *b, unsigned i, struct err *err)
{
	off_t end = lseek(b->files[i].fd, 0, SEEK_END);

	kind_asks(b->env, "fdatasync");
	if (end < 0 || fdatasync(b->files[i].fd))
		return err_sys(err, ERR_TARGET, errno, "cannot sync our file");
	return shorten(b, &b->files[i], (uint64_t)end, "the volume takes no larger file", err);
}

/* Whether something that was written is not there; a file system's word alone is not believed. */
static bool has_lost(const struct block *b, unsigned i, uint64_t *from, uint64_t *to)
{
	const struct file *file = &b->files[i];

	/* Zeros may well be kept as a hole. */
	if (b->env->target->is_block || b->test->buffer == BUFFER_ZERO)
		return false;
	kind_asks(b->env, "lseek");
	return file_find_holes(file->fd, 0, b->geometry.file_bytes, from, to) &&
	       file_reads_zero(file->fd, *from, file->align);
}

/* Holes, if there are any, are filled once. */
static int fill_holes(struct block *b, unsigned i, struct err *err)
{
	uint64_t from, to, written, block = layout_block(b);
	char note[RESULT_TEXT_MAX], text[UNITS_TEXT_MAX];

	if (!has_lost(b, i, &from, &to))
		return 0;
	snprintf(note, sizeof(note),
	         "the layout left holes within %s from offset %llu on, which were written again",
	         units_format_size(to - from, text), (unsigned long long)from);
	if (block_concede(b, note, err))
		return -1;
	from = from / block * block;
	to = min_u64((to + block - 1) / block * block, b->geometry.file_bytes);
	if (write_range(b, i, from, to - from, 0, &written, err))
		return -1;
	if (atomic_load(b->env->stop) || !has_lost(b, i, &from, &to))
		return 0;
	return err_set(err, ERR_TEST,
	               "what was written to our file is not there: a hole at offset %llu after a "
	               "layout, a sync and a second layout (the volume loses writes)",
	               (unsigned long long)from);
}

static int lay_out_file(struct block *b, unsigned i, uint64_t time_ns, struct err *err)
{
	uint64_t *laid_out = &b->env->target->laid_out_bytes[i], block = layout_block(b);
	/* From a whole layout block on: what an earlier test left off may not be aligned. */
	uint64_t from = max_u64(*laid_out / block * block, b->geometry.edge);
	uint64_t bytes = b->geometry.file_bytes - from, written;

	if (write_range(b, i, from, bytes, time_ns, &written, err)) {
		if (err->errnum != EFBIG || settle_for_limit(b, i, err))
			return -1;
	} else if (atomic_load(b->env->stop)) {
		return 0;
	} else if (written < bytes) {
		b->env->target->layout_most_bytes = b->n_files * (from + written);
		if (shorten(b, &b->files[i], from + written, "layout_time was over", err))
			return -1;
	}
	if (fill_holes(b, i, err))
		return -1;
	*laid_out = b->geometry.file_bytes;
	return 0;
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

/* What a layout of this run did not reach in its time, no later one starts upon. */
static int keep_to_limit(struct block *b, struct err *err)
{
	uint64_t most = b->env->target->layout_most_bytes / b->n_files;

	if (!most || !b->test->layout_time_ns || b->geometry.file_bytes <= most)
		return 0;
	return shorten(b, &b->files[0], most, "layout_time was over in an earlier test", err);
}

/* What is left of the time, in equal shares for the files from the i-th on; 0: no limit. */
static uint64_t share_ns(const struct block *b, unsigned i, uint64_t start_ns)
{
	uint64_t end_ns = start_ns + b->test->layout_time_ns, now_ns = clock_now_ns();

	if (!b->test->layout_time_ns)
		return 0;
	return end_ns > now_ns ? max_u64((end_ns - now_ns) / (b->n_files - i), 1) : 1;
}

int block_lay_out(struct block *b, struct err *err)
{
	uint64_t start_ns = clock_now_ns();

	kind_asks(b->env, "truncate");
	if (keep_to_limit(b, err) || make_room(b, err))
		return -1;
	for (unsigned i = 0; i < b->n_files && !atomic_load(b->env->stop); i++) {
		if (b->env->target->laid_out_bytes[i] < b->geometry.file_bytes &&
		    lay_out_file(b, i, share_ns(b, i, start_ns), err))
			return -1;
		kind_asks(b->env, "fdatasync");
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
