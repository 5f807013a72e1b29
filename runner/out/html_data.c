/*
 * What the charts draw. Everything is derived here, so that the script only draws: percentiles as
 * far as they are carried, rates of whole intervals, at most POINTS_MAX of them.
 */
#include <math.h>
#include <string.h>

#include "out/emit.h"
#include "out/html_part.h"
#include "result/knee.h"

#define POINTS_MAX 300 /* of a series: about what a chart is wide, in pixels */
/* Percentiles by their nines: n nines are 100 * (1 - 10^-n) percent, to 99.999. */
#define NINES_STEP 0.125
#define NINES_MAX  5.0

/* ---- over time ---- */

/* Requests a second of an operation in so many whole intervals each, from low to high. */
struct course {
	double interval_s; /* of a point */
	double rate[POINTS_MAX];
	unsigned n;
};

static void course_read(struct course *course, const struct test_result *tr, enum stats_op op)
{
	const struct series *series = &tr->stats->op[op].series;
	uint64_t intervals = min_u64(tr->runtime_ns / series->interval_ns, SERIES_SLOTS);
	uint64_t joined = (intervals + POINTS_MAX - 1) / POINTS_MAX;

	course->n = joined ? (unsigned)(intervals / joined) : 0;
	course->interval_s = (double)(joined * series->interval_ns) / NSEC_PER_SEC;
	for (unsigned i = 0; i < course->n; i++) {
		uint64_t ios = 0;

		for (uint64_t slot = i * joined; slot < (i + 1) * joined; slot++)
			ios += slot < series->used ? series->slot[slot].ios : 0;
		course->rate[i] = (double)ios / course->interval_s;
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of its points without the tenth that is lowest and the tenth that is highest. */
static void emit_spread(struct emit *emit, const struct course *course)
{
	double sorted[POINTS_MAX];
	unsigned tenth = course->n / 10;

	if (course->n < 2)
		return;
	memcpy(sorted, course->rate, course->n * sizeof(*sorted));
	qsort(sorted, course->n, sizeof(*sorted), compare);
	emit_double(emit, "low", sorted[tenth]);
	emit_double(emit, "high", sorted[course->n - 1 - tenth]);
}

static void emit_course(struct emit *emit, const struct test_result *tr, enum stats_op op)
{
	struct course course;

	course_read(&course, tr, op);
	emit_spread(emit, &course);
	emit_double(emit, "interval", course.interval_s);
	emit_open_flat(emit, "series");
	for (unsigned i = 0; i < course.n; i++)
		emit_double(emit, NULL, round(10 * course.rate[i]) / 10);
	emit_close(emit, ']');
}

/* ---- latency ---- */

static void emit_percentiles(struct emit *emit, const struct hist *h)
{
	emit_open_flat(emit, "percentiles");
	for (double nines = NINES_STEP; nines <= NINES_MAX; nines += NINES_STEP) {
		double percent = 100 * (1 - pow(10, -nines));

		if (!hist_percentile_carried(h, percent))
			break;
		emit_uint(emit, NULL, hist_percentile(h, percent));
	}
	emit_close(emit, ']');
}

static void emit_percentile(struct emit *emit, const char *key, const struct hist *h,
                            double percent)
{
	if (hist_percentile_carried(h, percent))
		emit_uint(emit, key, hist_percentile(h, percent));
}

/* ---- tests ---- */

static bool has_verdict(const struct test_result *tr, const char *code)
{
	for (unsigned i = 0; i < tr->n_verdicts; i++)
		if (!strcmp(tr->verdicts[i].code, code))
			return true;
	return false;
}

static void emit_run(struct emit *emit, const struct html_page *page, unsigned result,
                     const struct test_result *tr, enum stats_op op)
{
	const struct hist *h = &tr->stats->op[op].latency;

	emit_open(emit, NULL, '{');
	emit_uint(emit, "section", html_section_of(page, tr));
	emit_uint(emit, "class", result);
	emit_text(emit, "test", tr->name);
	emit_text(emit, "op", stats_op_name[op]);
	emit_double(emit, "iops", test_result_iops(tr, op));
	if (op != STATS_SYNC)
		emit_double(emit, "bw", test_result_bw(tr, op));
	emit_percentile(emit, "p50", h, 50);
	emit_percentile(emit, "p99", h, 99);
	emit_percentiles(emit, h);
	emit_course(emit, tr, op);
	emit_bool(emit, "burst", has_verdict(tr, "burst"));
	if (has_verdict(tr, "stalls")) {
		emit_open_flat(emit, "stall");
		emit_double(emit, NULL, (double)tr->longest_gap.start_ns / NSEC_PER_SEC);
		emit_double(emit, NULL, (double)tr->longest_gap.at_least_ns / NSEC_PER_SEC);
		emit_close(emit, ']');
	}
	emit_close(emit, '}');
}

static void emit_runs(struct emit *emit, const struct html_page *page)
{
	emit_open(emit, "runs", '[');
	for (unsigned r = 0; r < page->n; r++)
		for (unsigned t = 0; t < page->results[r]->n_tests; t++)
			for (unsigned op = 0; op < STATS_OPS; op++) {
				const struct test_result *tr = &page->results[r]->tests[t];

				if (result_has_load(tr) &&
				    test_result_measured(tr, (enum stats_op)op))
					emit_run(emit, page, r, tr, (enum stats_op)op);
			}
	emit_close(emit, ']');
}

/* ---- sweeps ---- */

static void emit_point(struct emit *emit, const struct test_result *tr, struct hist *both)
{
	*both = (struct hist){0};
	hist_merge(both, &tr->stats->op[STATS_READ].latency);
	hist_merge(both, &tr->stats->op[STATS_WRITE].latency);
	emit_open(emit, NULL, '{');
	emit_uint(emit, "depth", tr->iodepth);
	emit_double(emit, "iops", curve_iops(tr));
	emit_percentile(emit, "p50", both, 50);
	emit_percentile(emit, "p99", both, 99);
	emit_close(emit, '}');
}

static void emit_curve(struct emit *emit, const char *label, const struct curve *curve,
                       struct hist *scratch)
{
	emit_open(emit, NULL, '{');
	emit_text(emit, "class", label);
	emit_text(emit, "first", curve->points[0]->name);
	emit_text(emit, "last", curve->points[curve->n_points - 1]->name);
	if (!curve->grows)
		emit_uint(emit, "knee", curve->knee->iodepth);
	emit_open(emit, "points", '[');
	for (unsigned i = 0; i < curve->n_points; i++)
		emit_point(emit, curve->points[i], scratch);
	emit_close(emit, ']');
	emit_close(emit, '}');
}

static void emit_sweeps(struct emit *emit, const struct html_page *page, struct curve *curve,
                        struct hist *scratch)
{
	emit_open(emit, "sweeps", '[');
	for (unsigned r = 0; r < page->n; r++)
		for (unsigned t = 0; t < page->results[r]->n_tests; t++)
			if (curve_at(curve, page->results[r], t))
				emit_curve(emit, page->labels[r], curve, scratch);
	emit_close(emit, ']');
}

/* ---- the document ---- */

static void emit_all(struct emit *emit, const struct html_page *page, struct curve *curve,
                     struct hist *scratch)
{
	emit_open(emit, NULL, '{');
	emit_open(emit, "classes", '[');
	for (unsigned i = 0; i < page->n; i++)
		emit_text(emit, NULL, page->labels[i]);
	emit_close(emit, ']');
	emit_open(emit, "sections", '[');
	for (unsigned i = 0; i < page->n_sections; i++)
		emit_text(emit, NULL, page->sections[i].name);
	emit_close(emit, ']');
	emit_double(emit, "nines_step", NINES_STEP);
	emit_runs(emit, page);
	emit_sweeps(emit, page, curve, scratch);
	emit_close(emit, '}');
}

/* Within a script element only "<" could end it or begin a comment; in JSON it stands in texts. */
static void write_escaped(FILE *out, const char *text)
{
	for (; *text; text++)
		if (*text == '<')
			fputs("\\u003c", out);
		else
			fputc(*text, out);
}

int html_write_data(FILE *out, const struct html_page *page)
{
	struct curve *curve = malloc(sizeof(*curve));
	struct hist *scratch = malloc(sizeof(*scratch));
	char *text = NULL;
	size_t size = 0;
	FILE *memory = curve && scratch ? open_memstream(&text, &size) : NULL;

	if (memory) {
		emit_all(&(struct emit){.out = memory}, page, curve, scratch);
		fclose(memory);
	}
	if (text)
		write_escaped(out, text);
	free(text);
	free(scratch);
	free(curve);
	return memory ? 0 : -1;
}
