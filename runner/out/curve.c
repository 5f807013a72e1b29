/*
 * IOPS and latency by depth, of tests that differ in nothing else.
 */
#include <math.h>

#include "base/units.h"
#include "out/summary.h"
#include "out/text.h"
#include "result/knee.h"

#define BAR_MAX 40

/* Reads and writes together. */
static void write_latencies(FILE *out, const struct hist *h)
{
	static const double percents[] = {50, 99};
	char text[UNITS_TEXT_MAX];

	fprintf(out, "  %8s",
	        h->count ? units_format_time((uint64_t)llround(hist_mean(h)), text) : "-");
	for (unsigned i = 0; i < ARRAY_SIZE(percents); i++)
		fprintf(out, "  %8s",
		        hist_percentile_carried(h, percents[i])
		                ? units_format_time(hist_percentile(h, percents[i]), text)
		                : "-");
}

static void write_point(FILE *out, const struct curve *curve, const struct test_result *tr,
                        struct hist *both)
{
	double iops = curve_iops(tr);
	int bar = (int)lround(fmin(BAR_MAX, BAR_MAX * iops / curve->best_iops));
	char text[UNITS_TEXT_MAX];

	*both = (struct hist){0};
	hist_merge(both, &tr->stats->op[STATS_READ].latency);
	hist_merge(both, &tr->stats->op[STATS_WRITE].latency);
	fprintf(out, "  %5llu  %8s", (unsigned long long)tr->iodepth, text_rate(iops, text));
	write_latencies(out, both);
	fputs("  ", out);
	for (int i = 0; i < bar; i++)
		fputc('#', out);
	fputs(tr == curve->knee && !curve->grows ? " knee\n" : "\n", out);
}

static void write_title(FILE *out, const struct curve *curve)
{
	const struct test_result *last = curve->points[curve->n_points - 1];
	char knee[UNITS_TEXT_MAX], best[UNITS_TEXT_MAX];

	fprintf(out, "knee: %s to %s: ", curve->points[0]->name, last->name);
	if (curve->grows)
		fprintf(out, "none: IOPS still grow at depth %llu, the greatest\n",
		        (unsigned long long)last->iodepth);
	else
		fprintf(out, "depth %llu gives %s IOPS, %.0f %% of the best, %s at depth %llu\n",
		        (unsigned long long)curve->knee->iodepth, text_rate(curve->knee_iops, knee),
		        100 * curve->knee_iops / curve->best_iops,
		        text_rate(curve->best_iops, best),
		        (unsigned long long)curve->best->iodepth);
}

static void write_curve(FILE *out, const struct curve *curve, struct hist *scratch)
{
	write_title(out, curve);
	fputs("  depth      IOPS      mean       p50       p99\n", out);
	for (unsigned i = 0; i < curve->n_points; i++)
		write_point(out, curve, curve->points[i], scratch);
}

void curves_write(FILE *out, const struct result *result)
{
	struct hist *scratch = malloc(sizeof(*scratch));
	struct curve *curve = malloc(sizeof(*curve));

	for (unsigned i = 0; i < result->n_tests && scratch && curve; i++)
		if (curve_at(curve, result, i))
			write_curve(out, curve, scratch);
	free(curve);
	free(scratch);
}
