/*
 * Sources: fio 3.33, stat.c (show_thread_status_json, add_ddir_status_json) and its HOWTO, "JSON
 * output". Kilobytes are of 1024 bytes, runtime is in ms, percentages are of 100.
 */
#include "out/fio.h"

#include <inttypes.h>
#include <math.h>

#include "out/emit.h"

#define TEXT_MAX 64

/* Those that fio prints unless it is told others. */
static const double percents[] = {1,  5,  10, 20, 30,   40,   50,    60,   70,
                                  80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99};

/* Upper ends of the classes of latencies: "2" holds what took less than 2. */
static const unsigned class_ends[] = {2, 4, 10, 20, 50, 100, 250, 500, 750, 1000};

/* ---- one operation ---- */

static void emit_percentiles(struct emit *emit, const struct hist *h)
{
	char key[TEXT_MAX];

	emit_open(emit, "percentile", '{');
	for (unsigned i = 0; i < ARRAY_SIZE(percents); i++) {
		snprintf(key, sizeof(key), "%f", percents[i]);
		emit_uint(emit, key, hist_percentile(h, percents[i]));
	}
	emit_close(emit, '}');
}

static void emit_latency(struct emit *emit, const struct hist *h)
{
	emit_open(emit, "lat_ns", '{');
	emit_uint(emit, "min", h->min);
	emit_uint(emit, "max", h->max);
	emit_double(emit, "mean", hist_mean(h));
	emit_double(emit, "stddev", hist_stddev(h));
	emit_uint(emit, "N", h->count);
	if (h->count)
		emit_percentiles(emit, h);
	emit_close(emit, '}');
}

struct samples {
	double min, max, sum, squares;
	unsigned n;
};

static void sample(struct samples *s, double value)
{
	s->min = s->n ? fmin(s->min, value) : value;
	s->max = s->n ? fmax(s->max, value) : value;
	s->sum += value;
	s->squares += value * value;
	s->n++;
}

static double mean_of(const struct samples *s)
{
	return s->n ? s->sum / s->n : 0;
}

static double deviation_of(const struct samples *s)
{
	double mean = mean_of(s);

	return s->n > 1 ? sqrt(fmax(0, (s->squares - s->n * mean * mean) / (s->n - 1))) : 0;
}

static void emit_bw_samples(struct emit *emit, const struct samples *s)
{
	emit_uint(emit, "bw_min", (uint64_t)s->min);
	emit_uint(emit, "bw_max", (uint64_t)s->max);
	emit_double(emit, "bw_mean", mean_of(s));
	emit_double(emit, "bw_dev", deviation_of(s));
	emit_uint(emit, "bw_samples", s->n);
}

static void emit_iops_samples(struct emit *emit, const struct samples *s)
{
	emit_uint(emit, "iops_min", (uint64_t)s->min);
	emit_uint(emit, "iops_max", (uint64_t)s->max);
	emit_double(emit, "iops_mean", mean_of(s));
	emit_double(emit, "iops_stddev", deviation_of(s));
	emit_uint(emit, "iops_samples", s->n);
}

static void emit_samples(struct emit *emit, const struct test_result *tr,
                         const struct series *series)
{
	uint64_t n = min_u64(tr->runtime_ns / series->interval_ns, series->used);
	double seconds = (double)series->interval_ns / NSEC_PER_SEC;
	struct samples bw = {0}, iops = {0};

	for (uint64_t i = 0; i < n; i++) {
		sample(&bw, (double)series->slot[i].bytes / KIB / seconds);
		sample(&iops, (double)series->slot[i].ios / seconds);
	}
	emit_bw_samples(emit, &bw);
	emit_iops_samples(emit, &iops);
}

static void emit_transfers(struct emit *emit, const struct test_result *tr, enum stats_op op)
{
	const struct op_stats *o = &tr->stats->op[op];

	emit_open(emit, stats_op_name[op], '{');
	emit_uint(emit, "io_bytes", o->bytes);
	emit_uint(emit, "io_kbytes", o->bytes / KIB);
	emit_uint(emit, "bw_bytes", (uint64_t)llround(test_result_bw(tr, op)));
	emit_uint(emit, "bw", (uint64_t)llround(test_result_bw(tr, op) / KIB));
	emit_double(emit, "iops", test_result_iops(tr, op));
	emit_uint(emit, "runtime", o->latency.count ? tr->runtime_ns / NSEC_PER_MSEC : 0);
	emit_uint(emit, "total_ios", o->latency.count);
	emit_latency(emit, &o->latency);
	emit_samples(emit, tr, &o->series);
	emit_close(emit, '}');
}

static void emit_syncs(struct emit *emit, const struct hist *h)
{
	emit_open(emit, "sync", '{');
	emit_uint(emit, "total_ios", h->count);
	emit_latency(emit, h);
	emit_close(emit, '}');
}

/* ---- one test ---- */

/* As a plan for fio has it: 4k, 1m, 2300. */
static void emit_size(struct emit *emit, const char *key, uint64_t bytes)
{
	static const char *const unit[] = {"", "k", "m", "g"};
	char text[TEXT_MAX];
	unsigned i = 0;

	while (bytes && bytes % KIB == 0 && i + 1 < ARRAY_SIZE(unit)) {
		bytes /= KIB;
		i++;
	}
	snprintf(text, sizeof(text), "%" PRIu64 "%s", bytes, unit[i]);
	emit_text(emit, key, text);
}

static void emit_number(struct emit *emit, const char *key, uint64_t value)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	emit_text(emit, key, text);
}

static void emit_options(struct emit *emit, const struct test_result *tr)
{
	emit_open(emit, "job options", '{');
	emit_text(emit, "name", tr->name);
	emit_text(emit, "directory", tr->target);
	emit_text(emit, "ioengine", tr->ioengine);
	emit_text(emit, "rw", plan_rw_name(tr->rw));
	emit_size(emit, "bs", tr->bs);
	emit_size(emit, "size", tr->size);
	emit_number(emit, "iodepth", tr->iodepth);
	emit_number(emit, "numjobs", tr->numjobs);
	emit_number(emit, "direct", tr->direct);
	if (plan_rw_mixes(tr->rw))
		emit_number(emit, "rwmixread", tr->rwmixread);
	if (tr->runtime_asked_ns)
		emit_number(emit, "runtime", tr->runtime_asked_ns / NSEC_PER_SEC);
	emit_close(emit, '}');
}

static void emit_cpu(struct emit *emit, const struct usage *usage)
{
	if (!usage->span_ns || isnan(usage->cpu_user_ns) || isnan(usage->cpu_system_ns))
		return;
	emit_double(emit, "usr_cpu", 100 * usage->cpu_user_ns / (double)usage->span_ns);
	emit_double(emit, "sys_cpu", 100 * usage->cpu_system_ns / (double)usage->span_ns);
}

/* What share of all requests took from `from` to below `to`, in ns. */
static double share(const struct hist *h, uint64_t from, uint64_t to)
{
	uint64_t below = hist_count_below(h, to), before = from ? hist_count_below(h, from) : 0;

	return h->count ? 100.0 * (double)(below - before) / (double)h->count : 0;
}

/* Classes of one unit; the first begins where those of the unit below end. */
static void emit_classes(struct emit *emit, const char *key, const struct hist *h, uint64_t unit_ns)
{
	uint64_t from = unit_ns > 1 ? unit_ns : 0;
	char name[TEXT_MAX];

	emit_open(emit, key, '{');
	for (unsigned i = 0; i < ARRAY_SIZE(class_ends); i++) {
		uint64_t to = class_ends[i] * unit_ns;

		snprintf(name, sizeof(name), "%u", class_ends[i]);
		emit_double(emit, name, share(h, from, to));
		from = to;
	}
	if (unit_ns == NSEC_PER_MSEC) {
		emit_double(emit, "2000", share(h, from, 2 * from));
		emit_double(emit, ">=2000", h->count ? 100 - share(h, 0, 2 * from) : 0);
	}
	emit_close(emit, '}');
}

static void emit_job(struct emit *emit, const struct test_result *tr, struct hist *both)
{
	emit_open(emit, NULL, '{');
	emit_text(emit, "jobname", tr->name);
	emit_uint(emit, "groupid", 0);
	emit_int(emit, "error", tr->stats->errors[0].n ? tr->stats->errors[0].errnum : 0);
	emit_uint(emit, "elapsed", (tr->ramp_time_ns + tr->runtime_ns) / NSEC_PER_SEC);
	emit_options(emit, tr);
	emit_transfers(emit, tr, STATS_READ);
	emit_transfers(emit, tr, STATS_WRITE);
	emit_syncs(emit, &tr->stats->op[STATS_SYNC].latency);
	emit_uint(emit, "job_runtime", tr->runtime_ns / NSEC_PER_MSEC);
	emit_cpu(emit, &tr->usage);
	*both = tr->stats->op[STATS_READ].latency;
	hist_merge(both, &tr->stats->op[STATS_WRITE].latency);
	emit_classes(emit, "latency_ns", both, 1);
	emit_classes(emit, "latency_us", both, NSEC_PER_USEC);
	emit_classes(emit, "latency_ms", both, NSEC_PER_MSEC);
	emit_close(emit, '}');
}

/* When the first window began. */
static void emit_time(struct emit *emit, const struct result *result)
{
	for (unsigned i = 0; i < result->n_tests; i++) {
		uint64_t started_ns = result->tests[i].started_ns;

		if (!started_ns)
			continue;
		emit_uint(emit, "timestamp", started_ns / NSEC_PER_SEC);
		emit_uint(emit, "timestamp_ms", started_ns / NSEC_PER_MSEC);
		return;
	}
}

void fio_write(FILE *out, const struct result *result)
{
	struct emit emit = {.out = out, .indent = true};
	struct hist *scratch = malloc(sizeof(*scratch));
	char version[RESULT_TEXT_MAX + TEXT_MAX];

	snprintf(version, sizeof(version), "pvcbench-%s", result->version);
	emit_open(&emit, NULL, '{');
	emit_text(&emit, "fio version", version);
	emit_time(&emit, result);
	emit_open(&emit, "jobs", '[');
	for (unsigned i = 0; scratch && i < result->n_tests; i++)
		if (result_has_load(&result->tests[i]) && result->tests[i].stats &&
		    result->tests[i].runtime_ns)
			emit_job(&emit, &result->tests[i], scratch);
	emit_close(&emit, ']');
	emit_close(&emit, '}');
	fputc('\n', out);
	free(scratch);
}
