/*
 * What in the machine limited a test, or answered in the volume's place: by the counters that
 * were taken at both ends of its window (struct usage). Each check says nothing where its
 * counters are not known.
 *
 * Bytes that a test's requests moved and bytes that the volume moved are taken at the same two
 * instants. What was in flight at either counts for one and not for the other, so what may have
 * been in flight is granted to the volume.
 */
#include "result/verdict_part.h"

#include <math.h>
#include <string.h>

#include "base/units.h"

/* Evidence from less than this share of the window is none of the window. */
#define SPAN_LEAST 0.5
/* A device that read as much as was asked, no more ahead than this, gave each byte itself. */
#define READ_AHEAD 1.10

static bool has_evidence(const struct test_result *tr)
{
	return tr->runtime_ns && (double)tr->usage.span_ns >= SPAN_LEAST * (double)tr->runtime_ns;
}

/* A count of the usage by time; NAN where it is not known. */
static double share_of_span(const struct test_result *tr, double time_ns)
{
	return time_ns / (double)tr->usage.span_ns;
}

/* ---- CPU ---- */

/*
 * Throttled time adds up CPUs, so it is held against what bounds it: in a period that was not
 * throttled none passed, and a thread that was on a CPU was not held back.
 */
static double throttled_share(const struct test_result *tr)
{
	const struct usage *u = &tr->usage;
	double of_periods = u->periods > 0 ? u->throttled_periods / u->periods : 0;

	return fmin(fmin(share_of_span(tr, u->throttled_ns), of_periods),
	            1 - share_of_span(tr, u->thread_cpu_ns));
}

static bool is_throttled(const struct test_result *tr)
{
	return has_evidence(tr) && throttled_share(tr) >= VERDICT_THROTTLED;
}

void verdict_judge_quota(struct test_result *tr)
{
	const struct usage *u = &tr->usage;
	double share = throttled_share(tr);

	if (is_throttled(tr))
		verdict_add(tr, "cpu-quota", share,
		            "held up by the CPU quota %.3g %% of the time (in %.0f of %.0f "
		            "periods): a higher limit (component more-cpu), or fewer jobs",
		            100 * share, u->throttled_periods, u->periods);
}

/* An open loop spins until a request is due, unless it is behind. */
static bool spins(const struct test_result *tr)
{
	return (tr->rate_iops || tr->rate) && verdict_paces_itself(tr);
}

void verdict_judge_cpu(struct test_result *tr, const struct conditions *conditions)
{
	const struct usage *u = &tr->usage;
	double used = share_of_span(tr, u->cpu_user_ns + u->cpu_system_ns);
	double ran = share_of_span(tr, u->thread_cpu_ns);
	/* A wait counts when it is over, all of it. */
	double waited =
	        u->thread_wait_ns > (double)u->span_ns ? 1 : share_of_span(tr, u->thread_wait_ns);
	double busy = ran + waited > 1 ? 1 : ran + waited;

	if (!has_evidence(tr) || is_throttled(tr))
		return;
	if (conditions->cpus > 0 && used >= VERDICT_CPU_BUSY * conditions->cpus && !spins(tr))
		verdict_add(tr, "cpu", used / conditions->cpus,
		            "pvcbench used %.3g of %.3g CPUs: more CPU (component more-cpu)", used,
		            conditions->cpus);
	else if (waited >= VERDICT_CPU_WAIT)
		verdict_add(tr, "cpu", waited,
		            "a thread was ready and without a CPU %.3g %% of the time, which is in "
		            "the latencies: a quieter node, more CPU (component more-cpu), or "
		            "fewer jobs",
		            100 * waited);
	else if (busy >= VERDICT_CPU_BUSY && !spins(tr))
		verdict_add(
		        tr, "cpu", busy,
		        "a thread was busy %.3g %% of the time and hardly waited for the volume: "
		        "more jobs (numjobs), each has a thread",
		        100 * busy);
}

/* ---- memory ---- */

static bool is_short_of_memory(const struct test_result *tr)
{
	const struct usage *u = &tr->usage;
	double met_per_s = share_of_span(tr, u->limit_met) * NSEC_PER_SEC;

	return u->limit_kills > 0 || met_per_s >= VERDICT_LIMIT_MET ||
	       share_of_span(tr, u->limit_stalled_ns) >= VERDICT_MEMORY_STALLED;
}

void verdict_judge_memory(struct test_result *tr, const struct conditions *conditions)
{
	const struct usage *u = &tr->usage;
	char limit[UNITS_TEXT_MAX], kills[64] = "", stalled[64] = "";

	if (!has_evidence(tr) || !is_short_of_memory(tr))
		return;
	if (u->limit_kills > 0)
		snprintf(kills, sizeof(kills), ", the kernel killed %.0f processes for it",
		         u->limit_kills);
	if (u->limit_stalled_ns > 0)
		snprintf(stalled, sizeof(stalled), ", tasks waited for memory %.3g %% of the time",
		         100 * share_of_span(tr, u->limit_stalled_ns));
	verdict_add(tr, "memory", u->limit_met,
	            "the memory limit of %s was met %.0f times%s%s: a higher limit, or less size",
	            units_format_size(conditions->memory_bytes, limit), u->limit_met, stalled,
	            kills);
}

/* ---- limits on the device ---- */

struct io_limit {
	enum stats_op op;
	enum published_figure figure;
	uint64_t limit; /* 0: none */
};

static void tell_io_limit(struct test_result *tr, const struct io_limit *limit, double rate)
{
	static const char *const whose[] = {[STATS_READ] = "read", [STATS_WRITE] = "write"};
	bool is_bw = limit->figure == PUBLISHED_BW;
	char got[UNITS_TEXT_MAX], allowed[UNITS_TEXT_MAX];

	verdict_add(tr, "io-limit", rate / (double)limit->limit,
	            "%s %s%s: %.3g %% of the %s%s that a control group allows on this device "
	            "(io.max, blkio.throttle): a limit of the pod or of its node, not the volume's",
	            whose[limit->op],
	            is_bw ? units_format_bw(rate, got) : units_format_iops(rate, got),
	            is_bw ? "" : " IOPS", 100 * rate / (double)limit->limit,
	            is_bw ? units_format_bw((double)limit->limit, allowed)
	                  : units_format_iops((double)limit->limit, allowed),
	            is_bw ? "" : " IOPS");
}

/* The limit that is closest. */
void verdict_judge_io_limit(struct test_result *tr, const struct conditions *conditions)
{
	const struct io_limits *l = &conditions->io_limits;
	const struct io_limit limits[] = {
	        {STATS_READ, PUBLISHED_IOPS, l->read_iops},
	        {STATS_READ, PUBLISHED_BW, l->read_bytes},
	        {STATS_WRITE, PUBLISHED_IOPS, l->write_iops},
	        {STATS_WRITE, PUBLISHED_BW, l->write_bytes},
	};
	const struct io_limit *at = NULL;
	double best = 0;

	if (!tr->direct || !tr->runtime_ns || !strcmp(tr->ioengine, "null") ||
	    verdict_paces_itself(tr))
		return;
	for (unsigned i = 0; i < ARRAY_SIZE(limits); i++) {
		double rate = verdict_settled_rate(tr, limits[i].op, limits[i].figure);
		double share = limits[i].limit ? rate / (double)limits[i].limit : 0;

		if (share < VERDICT_LIMITED || share > VERDICT_ABOVE || share <= best)
			continue;
		best = share;
		at = &limits[i];
	}
	if (at)
		tell_io_limit(tr, at, best * (double)at->limit);
}

/* ---- page cache ---- */

/*
 * The share of the bytes of an operation that the volume moved; NAN: not known. What was in flight
 * is granted up to all of them, and what the volume moved beyond stands.
 */
static double moved_share(const struct test_result *tr, enum stats_op op, double volume_bytes)
{
	double reads = (double)tr->stats->op[STATS_READ].bytes;
	double writes = (double)tr->stats->op[STATS_WRITE].bytes;
	double asked = tr->usage.bytes * (double)tr->stats->op[op].bytes / (reads + writes);
	double in_flight = (double)(tr->iodepth * tr->numjobs * tr->bs);

	if (!has_evidence(tr) || isnan(volume_bytes))
		return NAN;
	return fmax(volume_bytes, fmin(volume_bytes + in_flight, asked)) / asked;
}

static double reads_share(const struct test_result *tr)
{
	return moved_share(tr, STATS_READ, fmax(tr->usage.read_bytes, tr->usage.device_read_bytes));
}

/* What a process wrote is what it dirtied, where memory takes it: only the device knows. */
static double writes_share(const struct test_result *tr)
{
	return moved_share(tr, STATS_WRITE, tr->usage.device_write_bytes);
}

static void judge_buffered_reads(struct test_result *tr)
{
	double share = reads_share(tr);

	if (share >= VERDICT_FROM_VOLUME && share <= READ_AHEAD)
		return;
	if (share < VERDICT_FROM_VOLUME)
		verdict_add(tr, "page-cache", share,
		            "not O_DIRECT: memory gave %.3g %% of the bytes read, the volume only "
		            "the rest (direct: true, or a size of 2xmem)",
		            100 * (1 - share));
	else
		verdict_add(tr, "page-cache", NAN,
		            "not O_DIRECT: reads may have been answered by memory");
}

static void judge_buffered_writes(struct test_result *tr)
{
	double share = writes_share(tr);
	const char *syncs =
	        tr->fsync || tr->fdatasync ? ", only the syncs waited for the volume" : "";

	if (share < VERDICT_FROM_VOLUME)
		verdict_add(tr, "page-cache", share,
		            "not O_DIRECT: writes were taken by memory first, %.3g %% of the bytes "
		            "reached the volume meanwhile%s (direct: true, or fsync)",
		            100 * share, syncs);
	else
		verdict_add(tr, "page-cache", NAN,
		            "not O_DIRECT: writes were taken by memory first%s", syncs);
}

bool verdict_from_memory(const struct test_result *tr, enum stats_op op)
{
	double share = op == STATS_READ ? reads_share(tr) : writes_share(tr);

	return tr->direct && !tr->usage.in_memory && tr->stats->op[op].bytes &&
	       strcmp(tr->ioengine, "null") != 0 && share < VERDICT_FROM_VOLUME;
}

/* O_DIRECT was taken at open; some file systems go through memory all the same. */
static void judge_direct(struct test_result *tr)
{
	double share = reads_share(tr);

	if (verdict_from_memory(tr, STATS_READ))
		verdict_add(tr, "page-cache", share,
		            "O_DIRECT was taken, yet only %.3g %% of the bytes read came from the "
		            "device: the file system read from memory, or holes (mount options; a "
		            "size of 2xmem)",
		            100 * share);
	share = writes_share(tr);
	if (verdict_from_memory(tr, STATS_WRITE))
		verdict_add(tr, "page-cache", share,
		            "O_DIRECT was taken, yet only %.3g %% of the bytes written reached the "
		            "device meanwhile: the file system wrote to memory (mount options; "
		            "fsync)",
		            100 * share);
}

void verdict_judge_page_cache(struct test_result *tr, const struct conditions *conditions)
{
	bool reads = tr->stats->op[STATS_READ].latency.count;
	bool writes = tr->stats->op[STATS_WRITE].latency.count && tr->sync == SYNC_NONE;

	if (!tr->ioengine[0] || !strcmp(tr->ioengine, "null"))
		return;
	if (tr->usage.in_memory)
		verdict_add(tr, "page-cache", 0,
		            "%s is memory: no volume was measured (name another target)",
		            conditions->fs[0] ? conditions->fs : "the file system");
	else if (tr->direct)
		judge_direct(tr);
	else if (reads)
		judge_buffered_reads(tr);
	else if (writes)
		judge_buffered_writes(tr);
}
