/*
 * A metric is a row: its name, type and help, and what writes its samples of the run, of a
 * test or of an operation. The labels test, target and class say which test; all
 * else that is known of it stands once, in pvcbench_test_info, to be joined.
 */
#include "out/metrics.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "out/emit.h"

#define VALUE_MAX PLAN_PATH_MAX

/* The labels of a sample, ended by NULL; an empty value is as good as no label. */
struct label {
	const char *name, *value;
};

static void write_value(FILE *out, const char *text)
{
	char clean[VALUE_MAX];

	snprintf(clean, sizeof(clean), "%s", text);
	emit_clean(clean);
	for (const char *p = clean; *p; p++) {
		if (*p == '"' || *p == '\\')
			fprintf(out, "\\%c", *p);
		else if (*p == '\n')
			fputs("\\n", out);
		else
			fputc(*p, out);
	}
}

static void write_labels(FILE *out, const char *name, const struct label *labels)
{
	char separator = '{';

	fputs(name, out);
	for (; labels && labels->name; labels++) {
		if (!labels->value || !labels->value[0])
			continue;
		fprintf(out, "%c%s=\"", separator, labels->name);
		write_value(out, labels->value);
		fputc('"', out);
		separator = ',';
	}
	if (separator == ',')
		fputc('}', out);
}

static void sample(FILE *out, const char *name, const struct label *labels, double value)
{
	write_labels(out, name, labels);
	fprintf(out, " %.15g\n", value);
}

static void sample_uint(FILE *out, const char *name, const struct label *labels, uint64_t value)
{
	write_labels(out, name, labels);
	fprintf(out, " %" PRIu64 "\n", value);
}

static double seconds(uint64_t ns)
{
	return (double)ns / NSEC_PER_SEC;
}

/* What a row writes from. */
struct subject {
	const struct result *result;
	const struct test_result *tr; /* NULL: the run */
	enum stats_op op;
};

/* Which test, and which operation or hop of it; room for one label more, and the end. */
struct labels {
	struct label label[8];
	unsigned n;
};

static struct labels labels_of(const struct subject *s)
{
	return (struct labels){
	        .label = {{"test", s->tr->name},
	                  {"target", s->tr->target},
	                  {"class", result_conditions(s->result, s->tr)->class}},
	        .n = 3,
	};
}

static struct labels labels_with(const struct subject *s, const char *name, const char *value)
{
	struct labels labels = labels_of(s);

	labels.label[labels.n++] = (struct label){name, value};
	return labels;
}

static struct labels labels_of_op(const struct subject *s)
{
	return labels_with(s, "op", stats_op_name[s->op]);
}

/* ---- of the run ---- */

static void write_run_info(FILE *out, const char *name, const struct subject *s)
{
	const struct result *result = s->result;
	const struct label labels[] = {
	        {"run", result->id},
	        {"version", result->version},
	        {"plan", result->plan},
	        {"node", result->conditions.node},
	        {"kernel", result->conditions.kernel},
	        {"machine", result->conditions.machine},
	        {NULL, NULL},
	};

	sample_uint(out, name, labels, 1);
}

static void write_started(FILE *out, const char *name, const struct subject *s)
{
	struct tm tm = {0};

	if (strptime(s->result->started, "%Y-%m-%dT%H:%M:%SZ", &tm))
		sample_uint(out, name, NULL, (uint64_t)timegm(&tm));
}

static void write_interrupted(FILE *out, const char *name, const struct subject *s)
{
	sample_uint(out, name, NULL, s->result->interrupted);
}

static void write_exit_code(FILE *out, const char *name, const struct subject *s)
{
	if (!s->result->interrupted)
		sample_uint(out, name, NULL, (uint64_t)result_exit_code(s->result));
}

/* ---- of a test ---- */

static void write_test_info(FILE *out, const char *name, const struct subject *s)
{
	const struct test_result *tr = s->tr;
	const struct conditions *conditions = result_conditions(s->result, tr);
	bool has_load = result_has_load(tr);
	char bs[24], iodepth[24], numjobs[24], size[24];
	const struct label labels[] = {
	        {"test", tr->name},
	        {"target", tr->target},
	        {"class", conditions->class},
	        {"kind", tr->kind},
	        {"rw", has_load ? plan_rw_name(tr->rw) : ""},
	        {"bs", has_load ? bs : ""},
	        {"iodepth", has_load ? iodepth : ""},
	        {"numjobs", has_load ? numjobs : ""},
	        {"size", tr->size ? size : ""},
	        {"ioengine", tr->ioengine},
	        {"direct", tr->ioengine[0] ? (tr->direct ? "true" : "false") : ""},
	        {"fs", conditions->fs},
	        {NULL, NULL},
	};

	snprintf(bs, sizeof(bs), "%" PRIu64, tr->bs);
	snprintf(iodepth, sizeof(iodepth), "%" PRIu64, tr->iodepth);
	snprintf(numjobs, sizeof(numjobs), "%" PRIu64, tr->numjobs);
	snprintf(size, sizeof(size), "%" PRIu64, tr->size);
	sample_uint(out, name, labels, 1);
}

static void write_success(FILE *out, const char *name, const struct subject *s)
{
	sample_uint(out, name, labels_of(s).label, s->tr->status == STATUS_OK);
}

static void write_window(FILE *out, const char *name, const struct subject *s)
{
	if (s->tr->runtime_ns)
		sample(out, name, labels_of(s).label, seconds(s->tr->runtime_ns));
}

static void write_errors(FILE *out, const char *name, const struct subject *s)
{
	if (s->tr->stats)
		sample_uint(out, name, labels_of(s).label, stats_errors(s->tr->stats));
}

static void write_gap(FILE *out, const char *name, const struct subject *s)
{
	if (s->tr->longest_gap.at_most_ns)
		sample(out, name, labels_of(s).label, seconds(s->tr->longest_gap.at_most_ns));
}

static void write_concessions(FILE *out, const char *name, const struct subject *s)
{
	sample_uint(out, name, labels_of(s).label, s->tr->n_concessions);
}

static bool is_first_verdict(const struct test_result *tr, unsigned i)
{
	for (unsigned j = 0; j < i; j++)
		if (!strcmp(tr->verdicts[j].code, tr->verdicts[i].code))
			return false;
	return true;
}

static void write_verdicts(FILE *out, const char *name, const struct subject *s)
{
	for (unsigned i = 0; i < s->tr->n_verdicts; i++)
		if (is_first_verdict(s->tr, i))
			sample_uint(out, name,
			            labels_with(s, "code", s->tr->verdicts[i].code).label, 1);
}

static bool is_first_threshold(const struct test_result *tr, unsigned i)
{
	for (unsigned j = 0; j < i; j++)
		if (!strcmp(tr->expect[j].expr, tr->expect[i].expr))
			return false;
	return true;
}

static void write_thresholds(FILE *out, const char *name, const struct subject *s)
{
	for (unsigned i = 0; i < s->tr->n_expect; i++) {
		const struct expectation *e = &s->tr->expect[i];

		if (e->result != EXPECT_NOT_JUDGED && is_first_threshold(s->tr, i))
			sample_uint(out, name, labels_with(s, "expr", e->expr).label,
			            e->result == EXPECT_PASS);
	}
}

/* ---- of an operation ---- */

static const struct op_stats *stats_of(const struct subject *s)
{
	return &s->tr->stats->op[s->op];
}

static void write_operations(FILE *out, const char *name, const struct subject *s)
{
	sample_uint(out, name, labels_of_op(s).label, stats_of(s)->latency.count);
}

static void write_bytes(FILE *out, const char *name, const struct subject *s)
{
	if (s->op != STATS_SYNC)
		sample_uint(out, name, labels_of_op(s).label, stats_of(s)->bytes);
}

static void write_iops(FILE *out, const char *name, const struct subject *s)
{
	sample(out, name, labels_of_op(s).label, test_result_iops(s->tr, s->op));
}

static void write_bandwidth(FILE *out, const char *name, const struct subject *s)
{
	if (s->op != STATS_SYNC)
		sample(out, name, labels_of_op(s).label, test_result_bw(s->tr, s->op));
}

/* labels has room for one more. */
static void write_summary(FILE *out, const char *name, struct labels labels,
                          const struct hist *latency)
{
	static const struct {
		const char *quantile;
		double percent;
	} inner[] = {
	        {"0.5", 50},  {"0.9", 90},     {"0.95", 95},
	        {"0.99", 99}, {"0.999", 99.9}, {"0.9999", 99.99},
	};
	struct label *quantile = &labels.label[labels.n];
	char part[64];

	if (latency->count) {
		*quantile = (struct label){"quantile", "0"};
		sample(out, name, labels.label, seconds(latency->min));
	}
	for (unsigned i = 0; i < ARRAY_SIZE(inner); i++) {
		if (!hist_percentile_carried(latency, inner[i].percent))
			continue;
		*quantile = (struct label){"quantile", inner[i].quantile};
		sample(out, name, labels.label,
		       seconds(hist_percentile(latency, inner[i].percent)));
	}
	if (latency->count) {
		*quantile = (struct label){"quantile", "1"};
		sample(out, name, labels.label, seconds(latency->max));
	}
	*quantile = (struct label){NULL, NULL};
	snprintf(part, sizeof(part), "%s_sum", name);
	sample(out, part, labels.label, seconds(latency->sum));
	snprintf(part, sizeof(part), "%s_count", name);
	sample_uint(out, part, labels.label, latency->count);
}

static void write_latency(FILE *out, const char *name, const struct subject *s)
{
	write_summary(out, name, labels_of_op(s), &stats_of(s)->latency);
}

/* ---- of kind hops ---- */

static void write_chains(FILE *out, const char *name, const struct subject *s)
{
	const struct hops_result *hops = &s->tr->hops;

	for (unsigned i = 0; i < hops->n_chains; i++)
		write_summary(out, name, labels_with(s, "chain", hops->chains[i].name),
		              &hops->chains[i].total);
}

static void write_chain_errors(FILE *out, const char *name, const struct subject *s)
{
	const struct hops_result *hops = &s->tr->hops;

	for (unsigned i = 0; i < hops->n_chains; i++)
		sample_uint(out, name, labels_with(s, "chain", hops->chains[i].name).label,
		            chain_errors(&hops->chains[i]));
}

/* A quantity of each hop of each chain; `at` is its place in a hop. */
static void write_hops(FILE *out, const char *name, const struct subject *s, size_t at)
{
	const struct hops_result *hops = &s->tr->hops;

	for (unsigned c = 0; c < hops->n_chains; c++) {
		const struct chain_result *chain = &hops->chains[c];

		for (unsigned i = 0; i < chain->n_hops; i++) {
			struct labels labels = labels_with(s, "chain", chain->name);
			char number[12];

			snprintf(number, sizeof(number), "%u", i + 1);
			labels.label[labels.n++] = (struct label){"hop", number};
			labels.label[labels.n++] = (struct label){"url", chain->hops[i].url};
			write_summary(out, name, labels,
			              (const struct hist *)((const char *)&chain->hops[i] + at));
		}
	}
}

static void write_own(FILE *out, const char *name, const struct subject *s)
{
	write_hops(out, name, s, offsetof(struct hop_result, own));
}

static void write_network(FILE *out, const char *name, const struct subject *s)
{
	write_hops(out, name, s, offsetof(struct hop_result, network));
}

/* ---- all of them ---- */

enum scope { OF_RUN, OF_TEST, OF_OP };

static const struct metric {
	const char *name;
	const char *type;
	enum scope scope;
	void (*write)(FILE *out, const char *name, const struct subject *s);
	const char *help;
} metrics[] = {
        {"pvcbench_run_info", "gauge", OF_RUN, write_run_info, "The run: always 1."},
        {"pvcbench_run_start_timestamp_seconds", "gauge", OF_RUN, write_started,
         "When the run began, since the epoch."},
        {"pvcbench_run_interrupted", "gauge", OF_RUN, write_interrupted,
         "Whether a signal ended the run before its plan did."},
        {"pvcbench_run_exit_code", "gauge", OF_RUN, write_exit_code,
         "0 ok, 1 a test failed, 3 the target cannot be used, 4 refused, 99 a threshold was not "
         "met."},
        {"pvcbench_test_info", "gauge", OF_TEST, write_test_info,
         "What a test did and on what: always 1."},
        {"pvcbench_test_success", "gauge", OF_TEST, write_success,
         "Whether the test ran to its end."},
        {"pvcbench_test_window_seconds", "gauge", OF_TEST, write_window,
         "The time that rates refer to."},
        {"pvcbench_test_concessions", "gauge", OF_TEST, write_concessions,
         "In how many ways the test was not done as asked for."},
        {"pvcbench_test_errors_total", "counter", OF_TEST, write_errors, "Failed requests."},
        {"pvcbench_test_longest_gap_seconds", "gauge", OF_TEST, write_gap,
         "The longest time without a completion, at most."},
        {"pvcbench_test_verdict", "gauge", OF_TEST, write_verdicts,
         "What to know about the figures, by its code: always 1."},
        {"pvcbench_test_threshold_met", "gauge", OF_TEST, write_thresholds,
         "Whether a threshold was met; no sample where it could not be judged."},
        {"pvcbench_chain_latency_seconds", "summary", OF_TEST, write_chains,
         "Requests through a chain of services, as the client saw them."},
        {"pvcbench_chain_errors_total", "counter", OF_TEST, write_chain_errors,
         "Requests that did not come through a chain."},
        {"pvcbench_hop_own_seconds", "summary", OF_TEST, write_own,
         "What a hop of a chain took itself."},
        {"pvcbench_hop_network_seconds", "summary", OF_TEST, write_network,
         "What the caller of a hop waited beyond the time that the hop says it took."},
        {"pvcbench_operations_total", "counter", OF_OP, write_operations,
         "Requests completed in the window."},
        {"pvcbench_transferred_bytes_total", "counter", OF_OP, write_bytes,
         "Bytes of these requests."},
        {"pvcbench_iops", "gauge", OF_OP, write_iops, "Requests completed per second."},
        {"pvcbench_bandwidth_bytes_per_second", "gauge", OF_OP, write_bandwidth,
         "Bytes of completed requests per second."},
        {"pvcbench_latency_seconds", "summary", OF_OP, write_latency,
         "Latency of the requests; quantile 0 is the least, 1 the most, and one that fewer than "
         "ten samples lie beyond is left out."},
};

static void write_test(FILE *out, const struct metric *metric, struct subject *s)
{
	if (metric->scope == OF_TEST) {
		metric->write(out, metric->name, s);
		return;
	}
	for (unsigned op = 0; op < STATS_OPS; op++) {
		s->op = (enum stats_op)op;
		if (test_result_measured(s->tr, s->op))
			metric->write(out, metric->name, s);
	}
}

void metrics_write(FILE *out, const struct result *result)
{
	for (unsigned i = 0; i < ARRAY_SIZE(metrics); i++) {
		const struct metric *metric = &metrics[i];
		struct subject s = {.result = result};

		fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help,
		        metric->name, metric->type);
		if (metric->scope == OF_RUN)
			metric->write(out, metric->name, &s);
		for (unsigned t = 0; t < result->n_tests && metric->scope != OF_RUN; t++) {
			s.tr = &result->tests[t];
			write_test(out, metric, &s);
		}
	}
}
