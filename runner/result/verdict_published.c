/*
 * The test's rates beside the limits that class.yaml states, as verdict.h says.
 */
#include "result/verdict_part.h"

#include <math.h>
#include <string.h>

#include "base/units.h"

#define MIX_SIGMAS 3.0

/* A rate beside a limit: of one operation, or of reads and writes together. */
struct held {
	enum published_figure figure;
	const char *whose;
	double rate, mean; /* requests or bytes a second: settled, and over the whole window */
	double chance;     /* share of the rate that it may lie off by chance */
	struct published_limit limit;
};

enum standing { STANDS_BELOW, STANDS_AT_BASE, STANDS_IN_BURST, STANDS_AT_BURST, STANDS_ABOVE };

static double mean_rate(const struct test_result *tr, enum stats_op op,
                        enum published_figure figure)
{
	return figure == PUBLISHED_BW ? test_result_bw(tr, op) : test_result_iops(tr, op);
}

/*
 * By the series' whole intervals, behind a burst where one is seen; the mean where these are too
 * few for halves.
 */
double verdict_settled_rate(const struct test_result *tr, enum stats_op op,
                            enum published_figure figure)
{
	const struct series *series = &tr->stats->op[op].series;
	uint64_t end = tr->runtime_ns / series->interval_ns, first = (end + 1) / 2, sum = 0;

	if (end < 4)
		return mean_rate(tr, op, figure);
	first = max_u64(first, verdict_settles_at(tr) / series->interval_ns);
	for (uint64_t i = first; i < min_u64(end, SERIES_SLOTS); i++)
		sum += figure == PUBLISHED_BW ? series->slot[i].bytes : series->slot[i].ios;
	return (double)sum * NSEC_PER_SEC / ((double)(end - first) * (double)series->interval_ns);
}

/*
 * Whether a request of a mixed load reads or writes is drawn, so that the rate of either scatters
 * around its share as counts do.
 */
static double chance_of_mix(const struct test_result *tr, enum stats_op op)
{
	double settled_s = (double)tr->runtime_ns / 2 / NSEC_PER_SEC;
	double ios = verdict_settled_rate(tr, op, PUBLISHED_IOPS) * settled_s;

	return ios > 0 ? MIX_SIGMAS / sqrt(ios) : 0;
}

static enum standing stand(const struct held *held)
{
	double base = held->rate / held->limit.base, burst = held->rate / held->limit.burst;
	double above = VERDICT_ABOVE + held->chance;

	if (!(base >= VERDICT_LIMITED))
		return STANDS_BELOW;
	if (base <= above)
		return STANDS_AT_BASE;
	if (isnan(held->limit.burst) || burst > above)
		return STANDS_ABOVE;
	return burst < VERDICT_LIMITED ? STANDS_IN_BURST : STANDS_AT_BURST;
}

/* Of the limit that its standing is about. */
static double share(const struct held *held)
{
	enum standing standing = stand(held);
	bool of_burst = standing == STANDS_AT_BURST ||
	                (standing == STANDS_ABOVE && !isnan(held->limit.burst));

	return held->rate / (of_burst ? held->limit.burst : held->limit.base);
}

/* Every rate of the test that there may be a limit for; returns how many. */
static unsigned hold(const struct test_result *tr, const struct published *p, struct held out[4])
{
	static const char *const whose[] = {[STATS_READ] = "read ", [STATS_WRITE] = "write "};
	bool mixed = plan_rw_mixes(tr->rw), apart = mixed && p->scope == SCOPE_EACH;
	unsigned n = 0;

	for (unsigned f = tr->direct ? PUBLISHED_IOPS : PUBLISHED_BW; f <= PUBLISHED_BW; f++) {
		enum published_figure figure = (enum published_figure)f;
		struct held held = {.figure = figure, .whose = mixed ? "read + write " : ""};

		held.limit = published_limit(p, figure, tr->bs);
		for (unsigned op = STATS_READ; op <= STATS_WRITE; op++) {
			struct held alone = {.figure = figure, .whose = whose[op]};

			alone.limit = held.limit;
			alone.rate = verdict_settled_rate(tr, (enum stats_op)op, figure);
			alone.mean = mean_rate(tr, (enum stats_op)op, figure);
			alone.chance = apart ? chance_of_mix(tr, (enum stats_op)op) : 0;
			held.rate += alone.rate;
			held.mean += alone.mean;
			if (apart)
				out[n++] = alone;
		}
		if (!apart)
			out[n++] = held;
	}
	return n;
}

/* "349MiB/s", or "2000 IOPS (each counted as 4)": the rate in the words of the table. */
static void held_text(const struct held *held, const struct test_result *tr,
                      const struct published *p, char *out, size_t size)
{
	uint64_t count = published_count(p, tr->bs);
	bool differs = fabs(held->rate - held->mean) > 0.02 * held->mean;
	char rate[UNITS_TEXT_MAX], counted[2 * UNITS_TEXT_MAX] = "";

	if (held->figure == PUBLISHED_BW)
		units_format_bw(held->rate, rate);
	else
		units_format_iops(held->rate, rate);
	if (held->figure == PUBLISHED_IOPS && count > 1)
		snprintf(counted, sizeof(counted), " (each counted as %llu)",
		         (unsigned long long)count);
	snprintf(out, size, "%s%s%s%s%s", held->whose, rate,
	         held->figure == PUBLISHED_IOPS ? " IOPS" : "", counted,
	         differs ? " in the second half of the window" : "");
}

/* What the limits of the figure are in the words of class.yaml; "" where none is stated. */
static void limit_texts(const struct held *held, const struct published *p, char *base, char *burst)
{
	bool is_bw = held->figure == PUBLISHED_BW;

	*burst = '\0';
	published_format(held->figure, is_bw ? p->mib_per_s : p->iops, base);
	if (!isnan(held->limit.burst))
		published_format(held->figure, is_bw ? p->burst_mib_per_s : p->burst_iops, burst);
}

static void tell_held(struct test_result *tr, const struct held *held, const struct published *p)
{
	char rate[RESULT_TEXT_MAX], base[UNITS_TEXT_MAX], burst[UNITS_TEXT_MAX];
	char lasts[UNITS_TEXT_MAX] = "";
	uint64_t burst_ns = held->figure == PUBLISHED_IOPS ? published_burst_ns(p) : 0;
	double part = share(held);

	held_text(held, tr, p, rate, sizeof(rate));
	limit_texts(held, p, base, burst);
	if (burst_ns)
		units_format_time(burst_ns, lasts);
	switch (stand(held)) {
	case STANDS_AT_BASE:
		verdict_add(tr, "published-limit", part, "%s: %.3g %% of the class's %s (%s)", rate,
		            100 * part, base, p->source);
		break;
	case STANDS_AT_BURST:
		verdict_add(tr, "published-limit", part,
		            "%s: %.3g %% of the class's burst limit of %s, its base is %s%s%s (%s)",
		            rate, 100 * part, burst, base, burst_ns ? ", a full bucket lasts " : "",
		            lasts, p->source);
		break;
	case STANDS_IN_BURST:
		verdict_add(tr, "burst", part,
		            "%s: %.3g times the class's %s, within its burst limit of %s (%s): it "
		            "does not "
		            "last",
		            rate, part, base, burst, p->source);
		break;
	case STANDS_ABOVE:
		verdict_add(tr, "server-cache", part,
		            "%s: %.3g times the class's %s%s (%s): a cache, or a volume that "
		            "class.yaml "
		            "does not describe",
		            rate, part, *burst ? "burst limit of " : "", *burst ? burst : base,
		            p->source);
		break;
	case STANDS_BELOW:
		break;
	}
}

/* The rate that is closest to its limit, and the one that is furthest above. */
void verdict_judge_published(struct test_result *tr, const struct published *p)
{
	const struct held *at = NULL, *above = NULL;
	struct held held[4];
	unsigned n;

	if (!p->source[0] || !tr->runtime_ns || !strcmp(tr->ioengine, "null") ||
	    verdict_paces_itself(tr))
		return;
	n = hold(tr, p, held);
	for (unsigned i = 0; i < n; i++) {
		enum standing standing = stand(&held[i]);

		if (standing == STANDS_AT_BASE || standing == STANDS_AT_BURST) {
			if (!at || share(&held[i]) > share(at))
				at = &held[i];
		} else if (standing != STANDS_BELOW && tr->direct) {
			if (!above || share(&held[i]) > share(above))
				above = &held[i];
		}
	}
	if (at)
		tell_held(tr, at, p);
	if (above && !verdict_has(tr, "server-cache"))
		tell_held(tr, above, p);
}

/* Whether a rate of it stands above the base, and no end of that was seen. */
static bool may_burst(const struct test_result *tr, const struct published *p)
{
	struct held held[4];
	unsigned n;

	if (!tr->runtime_ns || !tr->stats || !tr->direct || verdict_settles_at(tr))
		return false;
	n = hold(tr, p, held);
	for (unsigned i = 0; i < n; i++) {
		enum standing standing = stand(&held[i]);

		if (standing == STANDS_IN_BURST || standing == STANDS_AT_BURST)
			return true;
	}
	return false;
}

bool verdict_too_short(const struct result *result, char out[RESULT_TEXT_MAX])
{
	char lasts[UNITS_TEXT_MAX] = "";

	for (unsigned i = 0; i < result->n_tests; i++) {
		const struct test_result *tr = &result->tests[i];
		const struct published *p = &result_conditions(result, tr)->class_limits;
		uint64_t burst_ns = published_burst_ns(p);

		if (!may_burst(tr, p) || (burst_ns && burst_ns <= tr->runtime_ns))
			continue;
		if (burst_ns)
			units_format_time(burst_ns, lasts);
		snprintf(out, RESULT_TEXT_MAX,
		         "too short to know what lasts: '%.80s' stayed above the class's base, and "
		         "its burst credit may last %s",
		         tr->name, burst_ns ? lasts : "longer than the window");
		return true;
	}
	return false;
}
