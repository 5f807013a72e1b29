/*
 * Taking and subtracting counters. Which of them mean something depends on the file system:
 *
 *	/proc/self/io	counts what a process hands to a block device. File systems of a network
 *			count or not, and with DAX there is nothing to hand over
 *	the device's	is that of the mount where one device holds it all: not of btrfs and its
 *			like, nor of XFS with a device for realtime files
 */
#include "kinds/evidence.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#ifndef STATX_ATTR_DAX
#define STATX_ATTR_DAX 0x00200000
#endif

/* Workers that were released begin within so much time, mostly. */
#define BEGINNING_NS NSEC_PER_MSEC
/* Of the window, the part that is left at the last of the early readings: one in so many. */
#define EARLY_LAST_ONE_IN 16

static bool is_dax(int fd)
{
	struct statx stx;

	return statx(fd, "", AT_EMPTY_PATH, 0, &stx) == 0 && stx.stx_attributes & STATX_ATTR_DAX;
}

void evidence_open(struct evidence *e, int fd)
{
	struct stat st = {0};
	struct statfs fs = {0};
	dev_t dev = 0;

	*e = (struct evidence){.stage = EVIDENCE_OPEN};
	if (fstat(fd, &st) == 0)
		dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	fstatfs(fd, &fs);
	counters_open(&e->source, major(dev), minor(dev));
	e->in_memory =
	        !S_ISBLK(st.st_mode) && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
	e->counts_device = major(dev) != 0;
	e->counts_io = (major(dev) != 0 || fs.f_type == BTRFS_SUPER_MAGIC) && !is_dax(fd);
}

static void take_end(struct evidence *e, const struct load_progress *progress)
{
	e->end_bytes = progress->bytes;
	counters_read(&e->source, &e->end);
}

/*
 * Where CPUs are short this thread is late, and at the end of the window may find no other any
 * more: then what was taken before stands for it, each time that half of what was left is over.
 * Returns how long it is until the next of these.
 */
static uint64_t take_early(struct evidence *e, const struct load_params *params,
                           const struct load_progress *progress, uint64_t left_ns)
{
	if (left_ns < params->runtime_ns / EARLY_LAST_ONE_IN)
		return UINT64_MAX;
	if (left_ns <= e->left_ns / 2) {
		take_end(e, progress);
		e->left_ns = left_ns;
	}
	return left_ns - e->left_ns / 2;
}

static bool ends_by_time(const struct load_params *params)
{
	return params->runtime_ns && !params->requests;
}

static void take_begin(struct evidence *e, uint64_t window_ns, uint64_t bytes)
{
	e->window_ns = window_ns;
	e->begin_bytes = bytes;
	counters_read(&e->source, &e->begin);
	e->stage = EVIDENCE_BEGUN;
}

void evidence_begin(struct evidence *e, const struct load_params *params)
{
	if (!ends_by_time(params))
		take_begin(e, clock_now_ns(), 0);
}

uint64_t evidence_gather(struct evidence *e, const struct load_params *params,
                         const struct load_progress *progress)
{
	uint64_t now = clock_now_ns(), end = progress->end_ns;

	if (e->stage == EVIDENCE_COMPLETE || !ends_by_time(params))
		return UINT64_MAX;
	if (end == UINT64_MAX)
		return BEGINNING_NS; /* no worker has begun */
	if (e->stage == EVIDENCE_OPEN) {
		if (now < end - params->runtime_ns)
			return end - params->runtime_ns - now;
		take_begin(e, end - params->runtime_ns, progress->bytes);
		e->left_ns = end - now;
	}
	if (now + EVIDENCE_EARLY_NS < end)
		return min_u64(take_early(e, params, progress, end - now),
		               end - EVIDENCE_EARLY_NS - now);
	if (now < end || !e->end.at_ns)
		take_end(e, progress);
	e->stage = EVIDENCE_COMPLETE;
	return UINT64_MAX;
}

void evidence_end(struct evidence *e, const struct load_progress *progress)
{
	if (e->stage != EVIDENCE_BEGUN)
		return;
	e->stage = EVIDENCE_COMPLETE;
	if (e->end.at_ns)
		return;
	take_end(e, progress);
	e->end.n_threads = 0; /* of those that are left none did the work */
}

/* ---- subtracting ---- */

/* Counters do not go back; one that does was reset. */
static double grown(uint64_t begin, uint64_t end)
{
	return end >= begin ? (double)(end - begin) : NAN;
}

static const struct counters_thread *find_thread(const struct counters *c, pid_t tid)
{
	for (unsigned i = 0; i < c->n_threads; i++)
		if (c->threads[i].tid == tid)
			return &c->threads[i];
	return NULL;
}

/* Of the threads that were there all the time the one that wanted a CPU for longest. */
static void sum_threads(const struct evidence *e, struct usage *u)
{
	u->thread_cpu_ns = u->thread_wait_ns = NAN;
	for (unsigned i = 0; i < e->begin.n_threads; i++) {
		const struct counters_thread *begin = &e->begin.threads[i];
		const struct counters_thread *end = find_thread(&e->end, begin->tid);
		double cpu, wait;

		if (!end)
			continue;
		cpu = grown(begin->cpu_ns, end->cpu_ns);
		wait = grown(begin->wait_ns, end->wait_ns);
		if (cpu + wait <= u->thread_cpu_ns + u->thread_wait_ns)
			continue;
		u->thread_cpu_ns = cpu;
		u->thread_wait_ns = wait;
	}
}

static void sum_quotas(const struct evidence *e, struct usage *u)
{
	u->periods = u->throttled_periods = u->throttled_ns = NAN;
	for (unsigned i = 0; i < e->begin.n_quotas; i++) {
		const struct counters_quota *begin = &e->begin.quotas[i], *end = &e->end.quotas[i];
		double throttled_ns = grown(begin->throttled_ns, end->throttled_ns);

		if (throttled_ns <= u->throttled_ns)
			continue;
		u->throttled_ns = throttled_ns;
		u->periods = grown(begin->periods, end->periods);
		u->throttled_periods = grown(begin->throttled_periods, end->throttled_periods);
	}
}

static void sum_limits(const struct evidence *e, struct usage *u)
{
	bool pressure = e->begin.has_pressure && e->end.has_pressure;

	u->limit_stalled_ns = pressure ? grown(e->begin.stalled_ns, e->end.stalled_ns) : NAN;
	u->limit_met = u->limit_kills = NAN;
	for (unsigned i = 0; i < e->begin.n_limits; i++) {
		const struct counters_limit *begin = &e->begin.limits[i], *end = &e->end.limits[i];
		double met = grown(begin->met, end->met);

		if (met <= u->limit_met)
			continue;
		u->limit_met = met;
		u->limit_kills = grown(begin->kills, end->kills);
	}
}

static void sum_bytes(const struct evidence *e, struct usage *u)
{
	const struct counters *begin = &e->begin, *end = &e->end;
	bool io = e->counts_io && begin->has_io && end->has_io;
	bool device = e->counts_device && begin->has_device && end->has_device;

	u->bytes = grown(e->begin_bytes, e->end_bytes);
	u->read_bytes = io ? grown(begin->read_bytes, end->read_bytes) : NAN;
	u->write_bytes = io ? grown(begin->write_bytes, end->write_bytes) : NAN;
	u->device_read_bytes =
	        device ? grown(begin->device_read_bytes, end->device_read_bytes) : NAN;
	u->device_write_bytes =
	        device ? grown(begin->device_write_bytes, end->device_write_bytes) : NAN;
}

void evidence_sum(const struct evidence *e, struct usage *u)
{
	*u = (struct usage){.in_memory = e->in_memory};
	if (e->stage != EVIDENCE_COMPLETE)
		return;
	u->from_ns = e->begin.at_ns - e->window_ns;
	u->span_ns = e->end.at_ns - e->begin.at_ns;
	u->cpu_user_ns = grown(e->begin.cpu_user_ns, e->end.cpu_user_ns);
	u->cpu_system_ns = grown(e->begin.cpu_system_ns, e->end.cpu_system_ns);
	sum_threads(e, u);
	sum_quotas(e, u);
	sum_limits(e, u);
	sum_bytes(e, u);
}

void evidence_close(struct evidence *e)
{
	counters_close(&e->source);
}
