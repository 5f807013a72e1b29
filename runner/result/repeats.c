#include "result/repeats.h"

#include <math.h>
#include <string.h>

#include "measure/student.h"

bool repeats_at(struct repeats *repeats, const struct result *result, unsigned i)
{
	const struct plan_repeat *first = &result->tests[i].repeat;

	repeats->n = 0;
	for (unsigned j = 0; j < result->n_tests && first->count; j++) {
		const struct test_result *tr = &result->tests[j];

		if (strcmp(tr->repeat.of, first->of) != 0 || tr->status != STATUS_OK ||
		    !tr->stats || search_failed(&tr->search) || repeats->n == PLAN_REPEATS_MAX)
			continue;
		if (!repeats->n && j != i)
			return false;
		repeats->runs[repeats->n++] = tr;
	}
	return repeats->n > 1;
}

/* ---- figures ---- */

static double iops(const struct test_result *tr, enum stats_op op)
{
	return test_result_measured(tr, op) ? test_result_iops(tr, op) : NAN;
}

static double bw(const struct test_result *tr, enum stats_op op)
{
	return test_result_measured(tr, op) ? test_result_bw(tr, op) : NAN;
}

static double latency(const struct test_result *tr, enum stats_op op)
{
	const struct hist *h = &tr->stats->op[op].latency;

	return h->count ? hist_mean(h) : NAN;
}

static double p99(const struct test_result *tr, enum stats_op op)
{
	const struct hist *h = &tr->stats->op[op].latency;

	return hist_percentile_carried(h, 99) ? (double)hist_percentile(h, 99) : NAN;
}

static double runtime(const struct test_result *tr, enum stats_op op)
{
	(void)op;
	return tr->loops || tr->io_size ? (double)tr->runtime_ns : NAN;
}

const struct repeats_figure repeats_figures[] = {
        {"runtime", REPEATS_TIME, runtime, STATS_READ},
        {"read.iops", REPEATS_RATE, iops, STATS_READ},
        {"read.bw", REPEATS_BW, bw, STATS_READ},
        {"read.mean", REPEATS_TIME, latency, STATS_READ},
        {"read.p99", REPEATS_TIME, p99, STATS_READ},
        {"write.iops", REPEATS_RATE, iops, STATS_WRITE},
        {"write.bw", REPEATS_BW, bw, STATS_WRITE},
        {"write.mean", REPEATS_TIME, latency, STATS_WRITE},
        {"write.p99", REPEATS_TIME, p99, STATS_WRITE},
        {"sync.mean", REPEATS_TIME, latency, STATS_SYNC},
        {0},
};

/* ---- spread ---- */

bool repeats_spread(const struct repeats *repeats, const struct repeats_figure *figure,
                    struct spread *spread)
{
	double x[PLAN_REPEATS_MAX], sum = 0, squares = 0;
	unsigned n = repeats->n;

	for (unsigned i = 0; i < n; i++) {
		x[i] = figure->of(repeats->runs[i], figure->op);
		if (isnan(x[i]))
			return false;
		sum += x[i];
	}
	spread->mean = sum / n;
	for (unsigned i = 0; i < n; i++)
		squares += (x[i] - spread->mean) * (x[i] - spread->mean);
	spread->stddev = sqrt(squares / (n - 1));
	spread->margin = student_quantile(1 - REPEATS_CONFIDENCE, n - 1) * spread->stddev / sqrt(n);
	return true;
}
