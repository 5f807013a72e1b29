/*
 * Sizes are shrunk, never the free space exceeded. Jobs that share a file lie
 * `offset_increment` apart in it; jobs with a file each start at `offset` in
 * theirs. When the sum does not fit, region, offset and increment shrink by one
 * factor, so that the layout stays the plan's.
 */
#include "kinds/geometry.h"

#include <stdarg.h>
#include <string.h>

#include "base/units.h"
#include "load/buffers.h"

/* Buffers may take this share of the memory there is. */
#define MEMORY_SHARE 2
/* In place of a share of free space that is not known. */
#define WORKING_SET (1 * GIB)

static uint64_t down_to_blocks(uint64_t bytes, const struct test *test)
{
	return bytes / test->bs * test->bs;
}

/* What is written to a device keeps off its ends, which say what others put there. */
static uint64_t edge_of(const struct test *test, const struct target *target)
{
	bool writes = plan_rw_writes(test->rw) || test->layout == LAYOUT_FULL;

	return target->is_block && writes ? DEVICE_END_BYTES : 0;
}

static uint64_t space_of(const struct test *test, const struct target *target)
{
	uint64_t edges = 2 * edge_of(test, target), budget = target_budget(target);

	/* peers with a file each share what is there */
	if (test->peers > 1 && plan_sharers(test) == 1)
		budget /= test->peers;
	return budget > edges ? budget - edges : 0;
}

static uint64_t size_asked(const struct test *test, const struct target *target,
                           const struct host *host)
{
	switch (test->size.unit) {
	case SIZE_PERCENT_FREE:
		if (target->is_unbounded)
			return WORKING_SET;
		return space_of(test, target) / 100 * test->size.value;
	case SIZE_X_MEMORY:
		return host->memory_bytes * test->size.value;
	case SIZE_BYTES:
		break;
	}
	return test->size.value;
}

/* What the files take in all, but for the edge. */
static uint64_t sum(const struct geometry *g, const struct test *test)
{
	if (g->files > 1)
		return g->files * (g->offset + g->size);
	return g->offset - g->edge + (test->numjobs * plan_sharers(test) - 1) * g->increment +
	       g->size;
}

static uint64_t scaled(uint64_t bytes, double factor, const struct test *test)
{
	return down_to_blocks((uint64_t)((double)bytes * factor), test);
}

static void shrink(struct geometry *g, const struct test *test, uint64_t space)
{
	double factor = (double)space / (double)sum(g, test);

	g->offset = g->edge + scaled(g->offset - g->edge, factor, test);
	g->increment = scaled(g->increment, factor, test);
	g->size = scaled(g->size, factor, test);
}

/* A thread's stack and statistics, as far as it touches them. */
#define THREAD_BYTES (192 * KIB)

/* What the test holds in memory at this depth; by threads: each request has one of its own. */
static uint64_t memory_bytes(const struct test *test, uint64_t iodepth, bool by_threads)
{
	struct buffers_params buffers = {
	        .depth = by_threads ? 1 : (unsigned)iodepth,
	        .block_bytes = (uint32_t)test->bs,
	        .reads = plan_rw_reads(test->rw),
	        .writes = plan_rw_writes(test->rw),
	};
	uint64_t threads = by_threads ? test->numjobs * iodepth : test->numjobs;

	return threads * (buffers_bytes(&buffers) + THREAD_BYTES);
}

int geometry_fit_memory(struct geometry *g, const struct test *test, const struct host *host,
                        bool by_threads, struct err *err)
{
	uint64_t memory = host->memory_bytes / MEMORY_SHARE, needed;
	uint64_t asked = g->iodepth;
	char has[UNITS_TEXT_MAX], needs[UNITS_TEXT_MAX];

	needed = memory_bytes(test, asked, by_threads);
	if (!memory || needed <= memory)
		return 0;
	units_format_size(memory, has);
	units_format_size(needed, needs);
	while (g->iodepth && memory_bytes(test, g->iodepth, by_threads) > memory)
		g->iodepth--;
	if (!g->iodepth)
		return err_set(err, ERR_TARGET,
		               "buffers of %s do not fit into half of the memory, %s (lower bs or "
		               "numjobs, or raise the memory limit)",
		               needs, has);
	snprintf(g->depth_note, sizeof(g->depth_note),
	         "iodepth lowered from %llu to %llu: buffers of %s do not fit into half of the "
	         "memory, %s",
	         (unsigned long long)asked, (unsigned long long)g->iodepth, needs, has);
	return 0;
}

PRINTF_LIKE(2, 3)
static void add_size_note(struct geometry *g, const char *fmt, ...)
{
	size_t used = strlen(g->size_note);
	va_list args;

	if (used)
		used += (size_t)snprintf(g->size_note + used, sizeof(g->size_note) - used, "; ");
	if (used >= sizeof(g->size_note))
		return;
	va_start(args, fmt);
	vsnprintf(g->size_note + used, sizeof(g->size_note) - used, fmt, args);
	va_end(args);
}

static void note_working_set(struct geometry *g, const struct test *test,
                             const struct target *target)
{
	char set[UNITS_TEXT_MAX];

	if (test->size.unit != SIZE_PERCENT_FREE || !target->is_unbounded)
		return;
	add_size_note(
	        g,
	        "size %llu%% of the free space taken as %s: an object store, or a volume without "
	        "a capacity, has no free space that means anything",
	        (unsigned long long)test->size.value, units_format_size(WORKING_SET, set));
}

/* No file may be larger than the process, or the file system, can make one. */
static int fit_file_limit(struct geometry *g, const struct test *test, const struct target *target,
                          struct err *err)
{
	uint64_t before = g->size, most = target->file_bytes_max;
	char from[UNITS_TEXT_MAX], used[UNITS_TEXT_MAX], limit[UNITS_TEXT_MAX];

	if (!most || sum(g, test) / g->files <= most)
		return 0;
	shrink(g, test, most > UINT64_MAX / g->files ? UINT64_MAX : most * g->files);
	add_size_note(g, "size shrunk from %s to %s: a file can have %s at most here (%s)",
	              units_format_size(before, from), units_format_size(g->size, used),
	              units_format_size(most, limit), target->file_limit);
	return g->size < test->bs ? err_set(err, ERR_TARGET, "%s", g->size_note) : 0;
}

/* The class's working set is a part of what was asked for, so there is no note about it. */
static int fit_class(struct geometry *g, const struct test *test, struct err *err)
{
	char most[UNITS_TEXT_MAX], block[UNITS_TEXT_MAX];

	if (!test->class_size || sum(g, test) <= test->class_size)
		return 0;
	shrink(g, test, test->class_size);
	g->size_class = g->size;
	if (g->size >= test->bs)
		return 0;
	return err_set(err, ERR_TARGET,
	               "the size of %s in class.yaml does not hold %llu job(s) of one block of %s",
	               units_format_size(test->class_size, most), (unsigned long long)test->numjobs,
	               units_format_size(test->bs, block));
}

static int no_space(const struct test *test, const struct target *target, struct err *err)
{
	char free[UNITS_TEXT_MAX], reserve[UNITS_TEXT_MAX], block[UNITS_TEXT_MAX];

	return err_set(
	        err, ERR_TARGET,
	        "no space on '%s': %s free, and %s are to stay free; %llu job(s) of one block "
	        "of %s do not fit (free space or use a larger volume)",
	        target->path, units_format_size(target->free_bytes, free),
	        units_format_size(max_u64(target->reserve_bytes, 2 * edge_of(test, target)),
	                          reserve),
	        (unsigned long long)test->numjobs, units_format_size(test->bs, block));
}

int geometry_fit(struct geometry *g, const struct test *test, const struct target *target,
                 const struct host *host, struct err *err)
{
	uint64_t space, before;
	char asked[UNITS_TEXT_MAX], used[UNITS_TEXT_MAX], left[UNITS_TEXT_MAX];

	*g = (struct geometry){
	        .size_asked = down_to_blocks(size_asked(test, target, host), test),
	        .offset = max_u64(test->offset, edge_of(test, target)),
	        .edge = edge_of(test, target),
	        .iodepth = test->iodepth,
	        .increment = test->file_per_job ? 0 : test->offset_increment,
	        .files = test->file_per_job ? (unsigned)test->numjobs : 1,
	        .first_job = plan_sharers(test) > 1 ? test->peer * test->numjobs : 0,
	};
	g->size = g->size_asked;
	note_working_set(g, test, target);
	if (fit_class(g, test, err) || fit_file_limit(g, test, target, err))
		return -1;
	before = g->size;
	space = space_of(test, target);
	if (sum(g, test) > space) {
		shrink(g, test, space);
		add_size_note(
		        g,
		        "size shrunk from %s to %s: the volume can take %s for the files of a test",
		        units_format_size(before, asked), units_format_size(g->size, used),
		        units_format_size(space, left));
	}
	if (g->size < test->bs)
		return no_space(test, target, err);
	g->file_bytes = g->edge + sum(g, test) / g->files;
	return geometry_fit_memory(g, test, host, false, err);
}

int geometry_fit_existing(struct geometry *g, const struct test *test, uint64_t file_bytes,
                          const struct host *host, struct err *err)
{
	*g = (struct geometry){
	        .offset = test->offset,
	        .iodepth = test->iodepth,
	        .increment = test->offset_increment,
	        .files = 1,
	        .file_bytes = file_bytes,
	};
	uint64_t last = g->offset + (test->numjobs - 1) * g->increment;

	uint64_t room = file_bytes > last ? file_bytes - last : 0;

	if (test->size.unit == SIZE_BYTES)
		room = min_u64(room, test->size.value);
	g->size = g->size_asked = down_to_blocks(room, test);
	if (g->size < test->bs)
		return err_set(
		        err, ERR_TARGET,
		        "'%s' of %llu bytes is too small: the last job starts at %llu and needs a "
		        "block of %llu bytes (it is never extended)",
		        test->filename, (unsigned long long)file_bytes, (unsigned long long)last,
		        (unsigned long long)test->bs);
	return geometry_fit_memory(g, test, host, false, err);
}

uint64_t geometry_region(const struct geometry *g, unsigned job)
{
	return g->offset + (g->files > 1 ? 0 : (g->first_job + job) * g->increment);
}
