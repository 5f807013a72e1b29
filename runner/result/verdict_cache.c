/*
 * A cache beyond this kernel: at a server, in a FUSE server, in a hypervisor, in a disk. No counter
 * of ours tells of it, but it answers a block's second read faster than its first. Whether the
 * test had anything of that is read from the latencies of its own requests.
 */
#include <math.h>

#include "base/units.h"
#include "result/verdict_part.h"

/* What lies between first and second reads, ns; 0 where these are not apart. */
static uint64_t between(const struct cache_probe *probe)
{
	double first = (double)probe->first_low_ns, again = (double)probe->again_high_ns;

	if (probe->blocks < VERDICT_PAIRS || !probe->again_ns || first < VERDICT_TWICE * again)
		return 0;
	return (uint64_t)sqrt(first * again);
}

bool verdict_saw_cache(const struct test_result *tr)
{
	return between(&tr->cache_probe) > 0;
}

/* The share of the test's reads that came as second reads do; 0 where no cache was seen. */
static double cached_share(const struct test_result *tr)
{
	const struct hist *reads = &tr->stats->op[STATS_READ].latency;
	uint64_t limit_ns = between(&tr->cache_probe);

	if (!limit_ns || !reads->count)
		return 0;
	return (double)hist_count_below(reads, limit_ns) / (double)reads->count;
}

bool verdict_from_cache(const struct test_result *tr)
{
	return cached_share(tr) >= VERDICT_CACHED;
}

void verdict_judge_cache(struct test_result *tr)
{
	const struct cache_probe *probe = &tr->cache_probe;
	char first[UNITS_TEXT_MAX], again[UNITS_TEXT_MAX];

	if (!verdict_from_cache(tr) || tr->usage.in_memory || verdict_from_memory(tr, STATS_READ))
		return;
	verdict_add(tr, "server-cache", (double)probe->first_ns / (double)probe->again_ns,
	            "a block takes %s when it is read first and %s the second time; %.3g %% of the "
	            "test's reads were as fast: a cache at the server, on the host or in the disk "
	            "gave them (a larger size)",
	            units_format_time(probe->first_ns, first),
	            units_format_time(probe->again_ns, again), 100 * cached_share(tr));
}
