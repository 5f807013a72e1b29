#include "result/knee.h"

#include <string.h>

double curve_iops(const struct test_result *tr)
{
	return test_result_iops(tr, STATS_READ) + test_result_iops(tr, STATS_WRITE);
}

/* Only the rate of a closed loop that came to its end says what a depth gives. */
static bool is_point(const struct test_result *tr)
{
	return tr->status == STATUS_OK && tr->stats && tr->runtime_ns && tr->iodepth &&
	       !tr->rate_iops && !tr->rate && !tr->thinktime_ns && !tr->search.target_ns &&
	       curve_iops(tr) > 0;
}

static bool same_texts(const struct test_result *a, const struct test_result *b)
{
	return !strcmp(a->kind, b->kind) && !strcmp(a->target, b->target) &&
	       !strcmp(a->filename, b->filename) && !strcmp(a->ioengine, b->ioengine) &&
	       !strcmp(a->random_distribution, b->random_distribution);
}

static bool same_syncs(const struct test_result *a, const struct test_result *b)
{
	return a->sync == b->sync && a->fsync == b->fsync && a->fdatasync == b->fdatasync &&
	       a->end_fsync == b->end_fsync && a->verify == b->verify;
}

static bool same_place(const struct test_result *a, const struct test_result *b)
{
	return a->size == b->size && a->offset == b->offset &&
	       a->offset_increment == b->offset_increment && a->file_per_job == b->file_per_job &&
	       a->layout == b->layout && a->first_write == b->first_write && a->direct == b->direct;
}

/* Whether iodepth is all that they differ in. */
static bool same_but_depth(const struct test_result *a, const struct test_result *b)
{
	return same_texts(a, b) && same_syncs(a, b) && same_place(a, b) && a->rw == b->rw &&
	       a->bs == b->bs && a->numjobs == b->numjobs && a->rwmixread == b->rwmixread &&
	       a->randommap == b->randommap && a->buffer == b->buffer && a->loops == b->loops &&
	       a->io_size == b->io_size && a->runtime_asked_ns == b->runtime_asked_ns &&
	       a->ramp_time_ns == b->ramp_time_ns;
}

/* Behind those of its depth. */
static void insert(struct curve *curve, const struct test_result *tr)
{
	unsigned at = curve->n_points++;

	while (at && curve->points[at - 1]->iodepth > tr->iodepth) {
		curve->points[at] = curve->points[at - 1];
		at--;
	}
	curve->points[at] = tr;
}

/* The mean over the tests of a depth, the first of which is number i; sets *next behind them. */
static double rate_at(const struct curve *curve, unsigned i, unsigned *next)
{
	double sum = 0;
	unsigned j = i;

	for (; j < curve->n_points && curve->points[j]->iodepth == curve->points[i]->iodepth; j++)
		sum += curve_iops(curve->points[j]);
	*next = j;
	return sum / (j - i);
}

static unsigned find_best(struct curve *curve)
{
	unsigned depths = 0, next;

	for (unsigned i = 0; i < curve->n_points; i = next, depths++) {
		double iops = rate_at(curve, i, &next);

		if (iops <= curve->best_iops)
			continue;
		curve->best_iops = iops;
		curve->best = curve->points[i];
	}
	return depths;
}

static void find_knee(struct curve *curve)
{
	unsigned next;

	for (unsigned i = 0; i < curve->n_points && !curve->knee; i = next) {
		double iops = rate_at(curve, i, &next);

		if (iops < KNEE_SHARE * curve->best_iops)
			continue;
		curve->knee = curve->points[i];
		curve->knee_iops = iops;
		curve->grows = next == curve->n_points;
	}
}

bool curve_at(struct curve *curve, const struct result *result, unsigned i)
{
	const struct test_result *first = &result->tests[i];

	if (!is_point(first))
		return false;
	for (unsigned j = 0; j < i; j++)
		if (is_point(&result->tests[j]) && same_but_depth(&result->tests[j], first))
			return false;
	*curve = (struct curve){0};
	for (unsigned j = i; j < result->n_tests && curve->n_points < PLAN_TESTS_MAX; j++)
		if (is_point(&result->tests[j]) && same_but_depth(&result->tests[j], first))
			insert(curve, &result->tests[j]);
	if (find_best(curve) < KNEE_POINTS)
		return false;
	find_knee(curve);
	return true;
}
