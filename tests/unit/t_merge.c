/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c measure/student.c
 * measure/timeline.c out/emit.c out/figures.c out/json.c out/json_conditions.c out/json_derived.c
 * out/json_hops.c out/json_table.c out/json_test.c out/member.c plan/expect.c plan/plan.c
 * plan/published.c result/entities.c result/hops.c result/knee.c result/merge.c
 * result/merge_codes.c result/merge_same.c result/merge_site.c result/merge_test.c result/repeats.c
 * result/result.c result/search.c result/verdict.c result/verdict_cache.c result/verdict_expect.c
 * result/verdict_host.c result/verdict_pause.c result/verdict_published.c result/verdict_series.c
 * result/verdict_table.c result/words.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "out/json.h"
#include "result/merge.h"
#include "sample.h"

#define START (1733025600 * NSEC_PER_SEC)

/* One pod's result of up to two tests. */
struct pod_result {
	struct result result;
	struct test_result tests[2];
};

/* Pods of one run: number i began i * 100 ms after the first, and is slower with each. */
static struct pod_result *pod_of(unsigned index, unsigned count)
{
	struct pod_result *pod = calloc(1, sizeof(*pod));
	struct result *result = &pod->result;
	static const char *const names[] = {"read-iops", "mixed"};

	assert_non_null(pod);
	snprintf(result->id, sizeof(result->id), "20241201t040000z-%08x", index);
	snprintf(result->host, sizeof(result->host), "pvcbench-%u", index);
	snprintf(result->started, sizeof(result->started), "2024-12-01T04:00:%02uZ", index % 60);
	snprintf(result->version, sizeof(result->version), "0.1.0");
	snprintf(result->plan, sizeof(result->plan), "cce");
	result->peer = (struct peer){index, count};
	snprintf(result->conditions.target, PLAN_PATH_MAX, "/data");
	snprintf(result->conditions.kernel, RESULT_TEXT_MAX, "5.10");
	snprintf(result->conditions.node, RESULT_TEXT_MAX, "node-%u", index);
	result->conditions.cpus = 1;
	result->tests = pod->tests;
	result->n_tests = 2;
	for (unsigned i = 0; i < 2; i++) {
		struct test test = sample_test(names[i], i ? RW_RANDRW : RW_RANDREAD);

		sample_result(&pod->tests[i], &test);
		sample_record(&pod->tests[i], STATS_READ, 600 * (20 - index), 1000 + index * 37);
		if (i)
			sample_record(&pod->tests[i], STATS_WRITE, 300, 5000000 + index);
		sample_end(&pod->tests[i]);
		pod->tests[i].started_ns =
		        START + i * 100 * NSEC_PER_SEC + index * 100 * NSEC_PER_MSEC;
	}
	return pod;
}

static void pod_free(struct pod_result *pod)
{
	for (unsigned i = 0; i < 2; i++)
		test_result_destroy(&pod->tests[i]);
	free(pod);
}

static void add(struct merge *merge, struct pod_result *pod)
{
	struct err err;

	if (merge_add(merge, &pod->result, NULL, &err))
		fail_msg("%s", err.text);
}

static void refuse(struct merge *merge, struct pod_result *pod, const char *why)
{
	struct err err;

	assert_int_equal(merge_add(merge, &pod->result, NULL, &err), -1);
	assert_int_equal(err.class, ERR_PLAN);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

static void refuse_one(struct pod_result *first, struct pod_result *other, const char *why)
{
	struct merge *merge = merge_new();

	add(merge, first);
	refuse(merge, other, why);
	merge_free(merge);
}

static void finish(struct merge *merge, struct result *result)
{
	struct err err = {0};

	if (merge_finish(merge, result, &err))
		fail_msg("%s", err.text);
	assert_string_equal(err.text, "");
	merge_free(merge);
}

static void test_sums(void **unused)
{
	struct merge *merge = merge_new();
	struct stats *exact = stats_new();
	struct result result;
	const struct test_result *tr;

	(void)unused;
	for (unsigned i = 0; i < 4; i++) {
		struct pod_result *pod = pod_of(i, 4);

		add(merge, pod);
		hist_merge(&exact->op[STATS_READ].latency,
		           &pod->tests[0].stats->op[STATS_READ].latency);
		pod_free(pod);
	}
	assert_int_equal(merge_pods(merge), 4);
	finish(merge, &result);
	assert_int_equal(result.n_tests, 2);
	assert_int_equal(result.merged.pods, 4);
	assert_int_equal(result.merged.of, 4);
	assert_string_equal(result.merged.missing, "");
	assert_string_equal(result.started, "2024-12-01T04:00:00Z");
	assert_string_equal(result.conditions.node, "node-0, node-1, node-2, node-3");
	assert_string_equal(result.conditions.kernel, "5.10");
	tr = &result.tests[0];
	assert_string_equal(tr->name, "read-iops");
	assert_int_equal(tr->status, STATUS_OK);
	assert_memory_equal(&tr->stats->op[STATS_READ].latency, &exact->op[STATS_READ].latency,
	                    sizeof(struct hist));
	assert_int_equal(tr->stats->op[STATS_READ].bytes, 4096ull * 600 * (20 + 19 + 18 + 17));
	assert_true(test_result_iops(tr, STATS_READ) == 10 * (20 + 19 + 18 + 17));
	assert_true(tr->pods.iops_min == 170 && tr->pods.iops_median == 180);
	assert_true(tr->pods.iops_max == 200);
	assert_string_equal(tr->pods.slowest, "pvcbench-3 (index 3)");
	assert_int_equal(tr->pods.n, 4);
	assert_int_equal(tr->pods.of, 4);
	/* the last began 300 ms after the first, which ended as much earlier */
	assert_int_equal(tr->pods.apart_ns, 300 * NSEC_PER_MSEC);
	assert_int_equal(tr->started_ns, START + 300 * NSEC_PER_MSEC);
	assert_int_equal(tr->runtime_ns, 59700 * NSEC_PER_MSEC);
	assert_int_equal(tr->n_concessions, 0);
	/* seconds that are mostly the same one are added: 10 reads a second of each pod and unit */
	assert_int_equal(tr->stats->op[STATS_READ].series.slot[5].ios, 10 * (20 + 19 + 18 + 17));
	result_destroy(&result);
	stats_free(exact);
}

static char *json_of(const unsigned *order, unsigned n)
{
	struct merge *merge = merge_new();
	struct result result;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (unsigned i = 0; i < n; i++) {
		struct pod_result *pod = pod_of(order[i], 6);
		struct test_result *tr = &pod->tests[order[i] % 2];

		/* whatever may differ does */
		test_result_concede(tr, "concession %u", order[i] % 3);
		tr->size = (1 + order[i]) * GIB;
		tr->direct = order[i] != 1;
		snprintf(tr->ioengine, sizeof(tr->ioengine), order[i] % 2 ? "libaio" : "io_uring");
		tr->n_verdicts = 1;
		tr->verdicts[0].figure = order[i] / 3;
		snprintf(tr->verdicts[0].code, 32, order[i] % 2 ? "cpu" : "noisy");
		snprintf(tr->verdicts[0].text, 32, "pod %u", order[i]);
		if (order[i] == 4)
			tr->status = STATUS_INTERRUPTED;
		stats_error_add(tr->stats, 5, order[i]);
		snprintf(pod->result.conditions.kernel, 16, "5.%u", order[i] % 2);
		result_note(&pod->result, "a note");
		add(merge, pod);
		pod_free(pod);
	}
	finish(merge, &result);
	json_write(out, &result);
	fclose(out);
	result_destroy(&result);
	return text;
}

/* Every order of five of six pods gives the same bytes. */
static void test_order_does_not_matter(void **unused)
{
	static const unsigned sorted[] = {0, 1, 3, 4, 5};
	char *expected = json_of(sorted, 5);

	(void)unused;
	assert_non_null(strstr(expected, "\"missing\": \"2\""));
	for (unsigned code = 1; code < 120; code++) {
		unsigned order[5], left[5], rest = code;
		char *text;

		memcpy(left, sorted, sizeof(left));
		for (unsigned i = 0; i < 5; i++) {
			unsigned n = 5 - i, at = rest % n;

			rest /= n;
			order[i] = left[at];
			left[at] = left[n - 1];
		}
		text = json_of(order, 5);
		assert_string_equal(text, expected);
		free(text);
	}
	free(expected);
}

static void test_what_is_not_the_same_is_refused(void **unused)
{
	struct merge *merge = merge_new();
	struct pod_result *pod = pod_of(0, 0);

	(void)unused;
	add(merge, pod);
	refuse(merge, pod, "it gave 'read-iops' before");
	pod_free(pod);
	pod = pod_of(1, 0);
	pod->tests[0].bs = 8192;
	refuse(merge, pod, "its 'read-iops' is not the test that 'pvcbench-0");
	refuse(merge, pod, "bs is 8192, there 4096");
	pod->tests[0].bs = 4096;
	pod->tests[1].rw = RW_RANDREAD;
	refuse(merge, pod, "rw is randread, there randrw");
	pod->tests[1].rw = RW_RANDRW;
	pod->tests[1].n_expect = 1;
	snprintf(pod->tests[1].expect[0].expr, EXPECT_TEXT_MAX, "read.iops > 1");
	refuse(merge, pod, "a threshold is read.iops > 1, there none");
	pod->tests[1].n_expect = 0;
	pod->tests[1].started_ns = 0;
	refuse(merge, pod, "does not say when its window began");
	pod->tests[1].started_ns = UINT64_MAX;
	refuse(merge, pod, "beyond all time");
	pod->tests[1].started_ns = pod->tests[0].started_ns;
	pod->result.peer.count = 3;
	refuse(merge, pod, "a run of 3 pods");
	pod->result.peer.index = 3;
	refuse(merge, pod, "it is number 3 of 3");
	pod->result.peer = (struct peer){0};
	pod->result.merged.pods = 2;
	refuse(merge, pod, "merged already");
	pod->result.merged.pods = 0;
	snprintf(pod->tests[1].name, PLAN_NAME_MAX, "read-iops");
	refuse(merge, pod, "two tests 'read-iops'");
	assert_int_equal(merge_pods(merge), 1); /* nothing of all that was added */
	pod_free(pod);
	merge_free(merge);
	merge_free(NULL);
}

/* Sums that a whole number does not hold, and a series that its histogram cannot have. */
static void test_counts_that_cannot_be(void **unused)
{
	struct merge *merge = merge_new();
	struct pod_result *pod = pod_of(0, 0), *other = pod_of(1, 0);

	(void)unused;
	pod->tests[0].stats->op[STATS_READ].bytes = UINT64_MAX;
	add(merge, pod);
	refuse(merge, other, "counts too much");
	other->tests[0].stats->op[STATS_READ].series.slot[3].ios = UINT64_MAX;
	refuse(merge, other, "does not fit its histogram");
	other->tests[0].stats->op[STATS_READ].series.slot[3].ios = 1 << 20;
	refuse(merge, other, "does not fit its histogram");
	pod_free(pod);
	pod_free(other);
	merge_free(merge);
}

static void test_windows_must_overlap(void **unused)
{
	struct merge *merge = merge_new();
	struct pod_result *pod = pod_of(0, 0), *other = pod_of(1, 0);
	struct result result;
	struct err err;

	(void)unused;
	add(merge, pod);
	other->tests[0].started_ns = pod->tests[0].started_ns + 60 * NSEC_PER_SEC;
	add(merge, other);
	finish(merge, &result);
	assert_int_equal(result.tests[0].status, STATUS_FAILED);
	assert_non_null(strstr(result.tests[0].error, "'read-iops' was over in 'pvcbench-0"));
	assert_null(result.tests[0].stats);
	assert_int_equal(result.tests[1].status, STATUS_OK);
	assert_int_equal(result.tests[1].pods.n, 2);
	assert_int_equal(result_exit_code(&result), ERR_TEST);
	result_destroy(&result);

	merge = merge_new();
	add(merge, pod);
	for (unsigned i = 0; i < 2; i++)
		other->tests[i].started_ns = pod->tests[i].started_ns + 600 * NSEC_PER_SEC;
	add(merge, other);
	assert_int_equal(merge_finish(merge, &result, &err), -1);
	assert_non_null(strstr(err.text, "was over in 'pvcbench-0"));
	merge_free(merge);
	for (unsigned i = 0; i < 2; i++)
		other->tests[i].started_ns = pod->tests[i].started_ns;

	/* 40 of 60 s in common: a concession */
	merge = merge_new();
	other->tests[0].started_ns += 20 * NSEC_PER_SEC;
	add(merge, other);
	add(merge, pod);
	finish(merge, &result);
	assert_int_equal(result.tests[0].n_concessions, 1);
	assert_non_null(strstr(result.tests[0].concessions[0], "together for 40s of windows of"));
	assert_int_equal(result.tests[0].stats->op[STATS_READ].series.used, 40);
	/* 20 s of one, then both: only the time in common is in the series */
	assert_int_equal(result.tests[0].stats->op[STATS_READ].series.slot[0].ios, 390);
	assert_int_equal(result.tests[1].n_concessions, 0);
	result_destroy(&result);
	pod_free(pod);
	pod_free(other);
}

static void test_who_is_missing(void **unused)
{
	static const unsigned present[] = {1, 4, 5, 9};
	struct merge *merge = merge_new();
	struct pod_result *pod;
	struct result result;
	struct err err;

	(void)unused;
	for (unsigned i = 0; i < ARRAY_SIZE(present); i++) {
		pod = pod_of(present[i], 12);
		add(merge, pod);
		pod_free(pod);
	}
	assert_int_equal(merge_finish(merge, &result, &err), 0);
	assert_string_equal(result.merged.missing, "0, 2-3, 6-8, 10-11");
	assert_string_equal(result.notes[0],
	                    "4 of 12 pods gave a result; missing: index 0, 2-3, 6-8, 10-11");
	result_destroy(&result);
	merge_free(merge);

	merge = merge_new();
	pod = pod_of(1, 12);
	add(merge, pod);
	snprintf(pod->result.id, RESULT_TEXT_MAX, "another run");
	add(merge, pod);
	assert_int_equal(merge_finish(merge, &result, &err), -1);
	assert_non_null(strstr(err.text, "two runs say that they are index 1"));
	pod_free(pod);
	merge_free(merge);
}

/* Whoever failed or was interrupted is named and in no figure, unless nobody did better. */
static void test_pods_that_did_not_end(void **unused)
{
	struct merge *merge = merge_new();
	struct pod_result *pods[3];
	struct result result;

	(void)unused;
	for (unsigned i = 0; i < 3; i++)
		pods[i] = pod_of(i, 3);
	pods[1]->tests[0].status = STATUS_FAILED;
	pods[1]->tests[0].exit_class = ERR_TARGET;
	snprintf(pods[1]->tests[0].error, RESULT_STATUS_TEXT_MAX, "no space");
	pods[2]->tests[0].status = STATUS_INTERRUPTED;
	pods[2]->result.interrupted = true;
	for (unsigned i = 0; i < 3; i++) {
		pods[i]->tests[1].status = STATUS_INTERRUPTED;
		add(merge, pods[i]);
		pod_free(pods[i]);
	}
	finish(merge, &result);
	assert_int_equal(result.tests[0].status, STATUS_OK);
	assert_int_equal(result.tests[0].pods.n, 1);
	assert_int_equal(result.tests[0].pods.of, 3);
	assert_true(test_result_iops(&result.tests[0], STATS_READ) == 200);
	assert_string_equal(result.tests[0].concessions[0],
	                    "failed in 1 of 3 pods: pvcbench-1 (index 1): no space");
	assert_string_equal(result.tests[0].concessions[1],
	                    "interrupted, and not in the figures: pvcbench-2 (index 2)");
	assert_int_equal(result.tests[1].status, STATUS_INTERRUPTED);
	assert_int_equal(result.tests[1].pods.n, 3);
	assert_true(result.interrupted);
	assert_int_equal(result_exit_code(&result), ERR_TARGET);
	result_destroy(&result);
}

/* The second test becomes one of kind persist, that saw its file. */
static void make_persist(struct pod_result *pod, unsigned index)
{
	struct test_result *tr = &pod->tests[1];
	struct test test = {.kind = PLAN_KIND_PERSIST, .target = "/data", .step = STEP_EXPECT};

	snprintf(test.name, sizeof(test.name), "see");
	snprintf(test.key, sizeof(test.key), "k");
	test_result_destroy(tr);
	test_result_init(tr, &test);
	tr->persist.found = true;
	tr->persist.bytes = MIB;
	tr->persist.age_ns = 500 - index;
	tr->persist.took_ns = 10 * (index + 1);
	tr->persist.waited_ns = 90 - index;
	snprintf(tr->persist.host, sizeof(tr->persist.host), "writer");
	snprintf(tr->persist.run_id, sizeof(tr->persist.run_id), "run-%u", index / 2);
}

static void merge_persists(struct pod_result *pods[3], struct result *result)
{
	struct merge *merge = merge_new();

	for (unsigned i = 0; i < 3; i++)
		add(merge, pods[i]);
	finish(merge, result);
}

/* No figures are added, and yet it came to its end: in all pods, or it failed. */
static void test_files_that_persist(void **unused)
{
	struct pod_result *pods[3];
	struct result result;
	const struct persist_result *persist;

	(void)unused;
	for (unsigned i = 0; i < 3; i++) {
		pods[i] = pod_of(i, 3);
		make_persist(pods[i], i);
	}
	merge_persists(pods, &result);
	persist = &result.tests[1].persist;
	assert_int_equal(result.tests[1].status, STATUS_OK);
	assert_int_equal(result.tests[1].n_concessions, 0);
	assert_int_equal(result_exit_code(&result), 0);
	assert_true(persist->found && persist->bytes == MIB);
	assert_int_equal(persist->took_ns, 30);
	assert_int_equal(persist->waited_ns, 90);
	assert_int_equal(persist->age_ns, 498);
	assert_string_equal(persist->host, "writer");
	assert_string_equal(persist->run_id, "");
	result_destroy(&result);

	pods[2]->tests[1].status = STATUS_INTERRUPTED;
	merge_persists(pods, &result);
	assert_int_equal(result.tests[1].status, STATUS_INTERRUPTED);
	result_destroy(&result);

	pods[1]->tests[1].status = STATUS_FAILED;
	pods[1]->tests[1].exit_class = ERR_TEST;
	pods[1]->tests[1].persist.found = false;
	snprintf(pods[1]->tests[1].error, RESULT_STATUS_TEXT_MAX, "'k' is not there");
	merge_persists(pods, &result);
	assert_int_equal(result.tests[1].status, STATUS_FAILED);
	assert_string_equal(result.tests[1].error, "pvcbench-1 (index 1): 'k' is not there");
	assert_false(result.tests[1].persist.found);
	result_destroy(&result);

	pods[1]->tests[1].persist.step = STEP_REMOVE;
	refuse_one(pods[0], pods[1], "step is remove, there expect");
	for (unsigned i = 0; i < 3; i++)
		pod_free(pods[i]);
}

static void set_expect(struct pod_result *pod, const char *expr, int verdict, double value)
{
	struct test_result *tr = &pod->tests[0];

	tr->n_expect = 1;
	snprintf(tr->expect[0].expr, EXPECT_TEXT_MAX, "%s", expr);
	tr->expect[0].result = verdict;
	tr->expect[0].value = value;
}

static void test_the_worst_pod_judges(void **unused)
{
	struct merge *merge = merge_new();
	static const double values[] = {300, 250, 280};
	struct result result;

	(void)unused;
	for (unsigned i = 0; i < 3; i++) {
		struct pod_result *pod = pod_of(i, 3);

		set_expect(pod, "read.iops >= 260", values[i] < 260 ? EXPECT_FAIL : EXPECT_PASS,
		           values[i]);
		add(merge, pod);
		pod_free(pod);
	}
	finish(merge, &result);
	assert_int_equal(result.tests[0].expect[0].result, EXPECT_FAIL);
	assert_true(result.tests[0].expect[0].value == 250);
	assert_int_equal(result_exit_code(&result), EXIT_THRESHOLD);
	result_destroy(&result);
}

static void publish(struct pod_result *pod, const char *source)
{
	struct conditions *c = &pod->result.conditions;

	snprintf(c->mount_source, sizeof(c->mount_source), "%s", source);
	snprintf(c->class, sizeof(c->class), "sfs");
	c->class_limits = (struct published){.iops = 400, .mib_per_s = 1000, .source = "a page"};
}

/* Half the limit each: on one share that is the limit, on two volumes it is not. */
static void test_limits_of_a_shared_volume(void **unused)
{
	static const char *const sources[] = {"server:/export", "/dev/vdb"};

	(void)unused;
	for (unsigned s = 0; s < 2; s++) {
		struct merge *merge = merge_new();
		struct result result;

		for (unsigned i = 0; i < 2; i++) {
			struct pod_result *pod = pod_of(i, 2);

			publish(pod, sources[s]);
			add(merge, pod);
			pod_free(pod);
		}
		finish(merge, &result);
		assert_int_equal(result.tests[0].n_verdicts, s ? 0 : 1);
		if (!s)
			assert_string_equal(result.tests[0].verdicts[0].code, "published-limit");
		result_destroy(&result);
	}
}

/* What a pod has of the limit says nothing of the sum; that blocks were cached stays true. */
static void test_limits_leave_what_was_cached(void **unused)
{
	struct merge *merge = merge_new();
	struct result result;

	(void)unused;
	for (unsigned i = 0; i < 2; i++) {
		struct pod_result *pod = pod_of(i, 2);

		publish(pod, "server:/export");
		pod->tests[0].n_verdicts = 2;
		pod->tests[0].verdicts[0] = (struct verdict){.code = "published-limit"};
		pod->tests[0].verdicts[1] = (struct verdict){.code = "server-cache"};
		add(merge, pod);
		pod_free(pod);
	}
	finish(merge, &result);
	assert_int_equal(result.tests[0].n_verdicts, 2);
	assert_string_equal(result.tests[0].verdicts[0].code, "published-limit");
	assert_non_null(strstr(result.tests[0].verdicts[0].text, "class"));
	assert_string_equal(result.tests[0].verdicts[1].code, "server-cache");
	result_destroy(&result);
}

/* What is true of most pods stands first, in the words of the one that is hit most. */
static void test_verdicts_of_pods(void **unused)
{
	struct merge *merge = merge_new();
	struct result result;
	const struct test_result *tr = NULL;

	(void)unused;
	for (unsigned i = 0; i < 4; i++) {
		struct pod_result *pod = pod_of(i, 4);
		struct verdict *verdict = pod->tests[0].verdicts;

		if (i != 1)
			*verdict++ = (struct verdict){.code = "noisy", .figure = i};
		if (i == 1)
			*verdict++ = (struct verdict){.code = "cpu", .figure = 1};
		pod->tests[0].n_verdicts = 1;
		snprintf(pod->tests[0].verdicts[0].text, 32, "words of %u", i);
		add(merge, pod);
		pod_free(pod);
	}
	finish(merge, &result);
	tr = &result.tests[0];
	assert_int_equal(tr->n_verdicts, 2);
	assert_string_equal(tr->verdicts[0].code, "noisy");
	assert_string_equal(tr->verdicts[0].text,
	                    "in 3 of 4 pods, in pvcbench-3 (index 3): words of 3");
	assert_true(tr->verdicts[0].figure == 3);
	assert_string_equal(tr->verdicts[1].code, "cpu");
	result_destroy(&result);
}

/* A result line holds one test; the order of the plan comes back. */
static void test_test_by_test(void **unused)
{
	struct merge *merge = merge_new();
	struct pod_result *pod = pod_of(0, 0);
	struct result result;

	(void)unused;
	for (unsigned i = 0; i < 2; i++) {
		pod->result.tests = &pod->tests[1 - i];
		pod->result.n_tests = 1;
		add(merge, pod);
	}
	assert_int_equal(merge_pods(merge), 1);
	finish(merge, &result);
	assert_string_equal(result.tests[0].name, "read-iops");
	assert_string_equal(result.tests[1].name, "mixed");
	result_destroy(&result);
	pod_free(pod);
}

static void test_nothing_to_merge(void **unused)
{
	struct merge *merge = merge_new();
	struct result result;
	struct err err;

	(void)unused;
	assert_int_equal(merge_finish(merge, &result, &err), -1);
	assert_string_equal(err.text, "there is no result to merge");
	merge_free(merge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_sums),
	        cmocka_unit_test(test_order_does_not_matter),
	        cmocka_unit_test(test_what_is_not_the_same_is_refused),
	        cmocka_unit_test(test_counts_that_cannot_be),
	        cmocka_unit_test(test_windows_must_overlap),
	        cmocka_unit_test(test_who_is_missing),
	        cmocka_unit_test(test_pods_that_did_not_end),
	        cmocka_unit_test(test_files_that_persist),
	        cmocka_unit_test(test_the_worst_pod_judges),
	        cmocka_unit_test(test_limits_of_a_shared_volume),
	        cmocka_unit_test(test_limits_leave_what_was_cached),
	        cmocka_unit_test(test_verdicts_of_pods),
	        cmocka_unit_test(test_test_by_test),
	        cmocka_unit_test(test_nothing_to_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
