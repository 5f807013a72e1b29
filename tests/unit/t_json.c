/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c measure/student.c
 * out/emit.c out/figures.c out/json.c out/json_conditions.c out/json_derived.c out/json_hops.c
 * out/json_table.c out/json_test.c out/member.c plan/expect.c plan/plan.c plan/published.c
 * result/entities.c result/hops.c result/knee.c result/repeats.c result/result.c result/search.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "out/json.h"
#include "sample.h"

#define S NSEC_PER_SEC

struct text {
	char *bytes;
	size_t size;
};

static struct text document(const struct result *result)
{
	struct text text = {0};
	FILE *out = open_memstream(&text.bytes, &text.size);

	assert_non_null(out);
	json_write(out, result);
	fclose(out);
	return text;
}

static struct text line(const struct result *result, unsigned test)
{
	struct text text = {0};
	FILE *out = open_memstream(&text.bytes, &text.size);

	assert_non_null(out);
	json_write_line(out, result, &result->tests[test]);
	fclose(out);
	return text;
}

/* Read a document or a line back; the caller destroys the result. */
static struct result read_back(struct text text)
{
	size_t prefix = strlen(RESULT_LINE_PREFIX);
	bool is_line = !strncmp(text.bytes, RESULT_LINE_PREFIX, prefix);
	struct result result;
	struct err err;

	prefix = is_line ? prefix : 0;
	if (json_read(&result, text.bytes + prefix, text.size - prefix, &err))
		fail_msg("%s", err.text);
	return result;
}

static struct result make_result(unsigned n_tests)
{
	struct result result = {
	        .id = "20260101T000000-abcd",
	        .started = "2026-01-01T00:00:00Z",
	        .version = "0.1.0",
	        .plan = "cce",
	        .conditions = {.target = "/data",
	                       .fs = "ext4",
	                       .mount_options = "rw,relatime",
	                       .mount_source = "/dev/vdb",
	                       .device = "vdb",
	                       .block_bytes = 4096,
	                       .kernel = "5.10.0",
	                       .node = "node-1",
	                       .cpus = 0.2,
	                       .cpu_quota = true,
	                       .memory_bytes = GIB,
	                       .host_memory_bytes = 2 * GIB,
	                       .write_cache = "write back",
	                       .io_limits = {.read_iops = 100, .write_bytes = 5 * MIB},
	                       .class = "a-class",
	                       .class_note = "a note",
	                       .class_limits = {.capacity_bytes = 100 * GIB,
	                                        .iops = 5000,
	                                        .mib_per_s = 202.4,
	                                        .burst_iops = NAN,
	                                        .burst_mib_per_s = 1e6,
	                                        .burst_credit = NAN,
	                                        .io_unit = 256 * KIB,
	                                        .scope = SCOPE_EACH,
	                                        .source = "the provider"}},
	        .tests = calloc(n_tests, sizeof(struct test_result)),
	        .n_tests = n_tests,
	};

	assert_non_null(result.tests);
	return result;
}

/* A test in which everything is filled in. */
static void fill_test(struct test_result *tr)
{
	struct test test = sample_test("mixed", RW_RANDRW);

	sample_result(tr, &test);
	sample_record(tr, STATS_READ, 20000, 700123);
	sample_record(tr, STATS_READ, 1000, 3000000);
	sample_record(tr, STATS_WRITE, 7000, 900000);
	sample_record(tr, STATS_SYNC, 100, 12000000);
	stats_record(tr->stats, STATS_WRITE, 4096, 1ull << 43, 59 * S);
	stats_record(tr->stats, STATS_READ, 4096, 0, 59 * S);
	tr->stats->op[STATS_SYNC].bytes = 0;
	stats_error_add(tr->stats, EIO, 12);
	stats_error_add(tr->stats, 524, 1);
	stats_error_add(tr->stats, 0, 3);
	tr->stats->short_transfers = 1;
	tr->stats->retries = 2;
	tr->stats->drained = 3, tr->stats->drained_max_ns = 4;
	tr->stats->unfinished = 5, tr->stats->unfinished_age_ns = 6;
	tr->stats->unsent = 7, tr->stats->unsent_age_ns = 8;
	tr->stats->late_count = 9, tr->stats->late_sum_ns = UINT64_MAX, tr->stats->late_max_ns = 11;
	tr->status = STATUS_INTERRUPTED;
	snprintf(tr->error, sizeof(tr->error), "a \"quoted\" \\ error\n\tin two lines");
	tr->exit_class = ERR_TARGET;
	tr->size = 700 * MIB;
	tr->size_class = 2 * GIB;
	tr->sync = SYNC_DSYNC;
	tr->fsync = 32;
	tr->fdatasync = 33;
	tr->rate_iops = 1234567890123;
	tr->rate = 256 * (1ull << 50);
	tr->thinktime_ns = 17;
	snprintf(tr->random_distribution, sizeof(tr->random_distribution), "zipf:1.2");
	tr->randommap = tr->file_per_job = tr->end_fsync = tr->first_write = true;
	tr->buffer = BUFFER_ZERO;
	tr->layout = LAYOUT_NONE;
	snprintf(tr->filename, sizeof(tr->filename), "a \"file\"");
	tr->offset = 512, tr->offset_increment = 1ull << 50;
	tr->loops = 3, tr->io_size = 1ull << 50;
	tr->randseed = UINT64_MAX;
	tr->layout_bytes = tr->size;
	tr->layout_ns = 5 * S + 1;
	tr->runtime_ns = 60 * S + 1;
	snprintf(tr->direct_reason, sizeof(tr->direct_reason), "gr\xc3\xbc\xc3\x9f");
	test_result_concede(tr, "size shrunk from 10GiB to 700MiB");
	test_result_concede(tr, "another");
	tr->longest_gap = (struct gap){8 * S, 1ull << 60, 0};
	tr->data_age_ns = 7 * S;
	tr->fits_memory = true;
	tr->limits_probe = (struct limits_probe){8, 9, 10, 11};
	tr->cache_probe = (struct cache_probe){64, 8 * S, 1 * S, 7 * S, 2 * S};
	tr->usage =
	        (struct usage){1, 2, true, 3, 4, 5, 6, 7, 8, 9, 1e15, 11, 12, 13, 0, 15, 16, 17};
	tr->n_expect = 2;
	tr->expect[0] =
	        (struct expectation){"read.iops >= 20000", EXPECT_FAIL, 350.01666, BOUND_AT_LEAST};
	tr->expect[1] =
	        (struct expectation){"sync.p99 <= 10ms", EXPECT_NOT_JUDGED, NAN, BOUND_NONE};
	tr->n_verdicts = 2;
	tr->verdicts[0] = (struct verdict){"errors", 16, "16 requests failed"};
	tr->verdicts[1] = (struct verdict){"page-cache", NAN, "buffered"};
}

/* A result written, read and written again is the same text; here that no member is left out. */
static void assert_same_conditions(const struct test_result *a, const struct test_result *b)
{
	assert_int_equal(a->rwmixread, b->rwmixread);
	assert_int_equal(a->sync, b->sync);
	assert_int_equal(a->end_fsync, b->end_fsync);
	assert_int_equal(a->rate_iops, b->rate_iops);
	assert_int_equal(a->rate, b->rate);
	assert_int_equal(a->thinktime_ns, b->thinktime_ns);
	assert_string_equal(a->random_distribution, b->random_distribution);
	assert_int_equal(a->randommap, b->randommap);
	assert_int_equal(a->randseed, b->randseed);
	assert_int_equal(a->buffer, b->buffer);
	assert_string_equal(a->filename, b->filename);
	assert_int_equal(a->file_per_job, b->file_per_job);
	assert_int_equal(a->offset, b->offset);
	assert_int_equal(a->offset_increment, b->offset_increment);
	assert_int_equal(a->loops, b->loops);
	assert_int_equal(a->io_size, b->io_size);
	assert_int_equal(a->layout, b->layout);
	assert_int_equal(a->first_write, b->first_write);
}

static void forget_times(struct series *series)
{
	for (unsigned i = 0; i < series->used; i++) {
		struct series_slot *slot = &series->slot[i];

		slot->first_ns = slot->last_ns = slot->gap_ns = slot->gap_start_ns = 0;
	}
}

static void test_round_trip(void **unused)
{
	struct result result = make_result(3);
	struct conditions targets[2] = {result.conditions, {.target = "/b", .cpus = NAN}};

	(void)unused;
	fill_test(&result.tests[0]);
	snprintf(result.tests[1].name, PLAN_NAME_MAX, "never-started");
	result.tests[1].status = STATUS_FAILED;
	fill_test(&result.tests[2]);
	result.targets = targets;
	result.n_targets = 2;
	result.interrupted = true;
	result.n_verdicts = 1;
	result.verdicts[0] = (struct verdict){"noisy", 1.5, "of the run"};

	struct text first = document(&result);
	struct result again = read_back(first);
	struct text second = document(&again);

	assert_string_equal(first.bytes, second.bytes);
	for (unsigned i = 0; i < 3; i += 2) {
		struct test_result *a = &result.tests[i], *b = &again.tests[i];
		struct stats *stats = a->stats;

		/* what recording needs is not part of the document, nor what gaps come from */
		for (unsigned op = 0; op < STATS_OPS; op++) {
			forget_times(&stats->op[op].series);
			stats->op[op].series.current = 0;
			stats->op[op].series.current_start_ns = 0;
			stats->op[op].series.current_span_ns = 0;
			stats->op[op].series.used = b->stats->op[op].series.used;
		}
		assert_memory_equal(a->stats, b->stats, sizeof(*stats));
		assert_memory_equal(&a->longest_gap, &b->longest_gap, sizeof(struct gap));
		assert_memory_equal(&a->usage, &b->usage, sizeof(struct usage));
		assert_int_equal(a->data_age_ns, b->data_age_ns);
		assert_int_equal(a->fits_memory, b->fits_memory);
		assert_int_equal(b->expect[0].bound, BOUND_AT_LEAST);
		assert_string_equal(a->error, b->error);
		assert_int_equal(a->exit_class, b->exit_class);
		assert_same_conditions(a, b);
		assert_int_equal(a->n_concessions, b->n_concessions);
		assert_true(isnan(b->expect[1].value));
		assert_int_equal(a->direct, b->direct);
	}
	assert_null(again.tests[1].stats);
	assert_true(again.tests[1].usage.span_ns == 0 && again.conditions.cpu_quota);
	assert_int_equal(again.conditions.host_memory_bytes, result.conditions.host_memory_bytes);
	assert_string_equal(again.conditions.write_cache, result.conditions.write_cache);
	assert_string_equal(again.targets[1].target, "/b");
	assert_int_equal(again.interrupted, true);
	free(first.bytes);
	free(second.bytes);
	result_destroy(&again);
	result.targets = NULL;
	result_destroy(&result);
}

/* Sums above 2^53 and all 64 bits: no digit is lost. */
static void test_whole_numbers_are_exact(void **unused)
{
	static const uint64_t sums[] = {(1ull << 53) - 1, (1ull << 53) + 1, 1234567890123456789};
	struct result result = make_result(1);
	struct test test = sample_test("t", RW_READ);

	(void)unused;
	for (unsigned i = 0; i < ARRAY_SIZE(sums); i++) {
		struct op_stats *op;

		sample_result(&result.tests[0], &test);
		op = &result.tests[0].stats->op[STATS_READ];
		op->latency = (struct hist){.count = 1000000, .sum = sums[i], .min = 1};
		op->latency.max = 1ull << 45;
		op->latency.bucket[1] = 1;
		op->latency.overflow = 999999;
		op->bytes = sums[i];

		struct text text = document(&result);
		struct result again = read_back(text);

		assert_int_equal(again.tests[0].stats->op[STATS_READ].latency.sum, sums[i]);
		assert_int_equal(again.tests[0].stats->op[STATS_READ].bytes, sums[i]);
		free(text.bytes);
		result_destroy(&again);
		test_result_destroy(&result.tests[0]);
	}
	result_destroy(&result);
}

static void assert_has(struct text text, const char *part)
{
	if (!strstr(text.bytes, part))
		fail_msg("'%s' is not in: %s", part, text.bytes);
}

static void test_histogram_is_sparse(void **unused)
{
	struct result result = make_result(1);
	struct test test = sample_test("t", RW_READ);
	struct text text;

	(void)unused;
	sample_result(&result.tests[0], &test);
	text = line(&result, 0);
	assert_has(text, "\"histogram\":[]");
	assert_has(text, "\"read\":{\"ios\":0,\"bytes\":0,\"iops\":0,\"bw_bytes\":0,"
	                 "\"lat_ns\":{\"min\":null,\"mean\":null,\"max\":null,\"stddev\":null,"
	                 "\"p50\":null,");
	free(text.bytes);
	stats_record(result.tests[0].stats, STATS_READ, 1, 2, 0);
	stats_record(result.tests[0].stats, STATS_READ, 1, 2, 0);
	stats_record(result.tests[0].stats, STATS_READ, 1, 4, 0);
	stats_record(result.tests[0].stats, STATS_READ, 1, 300, 0); /* bucket 278 */
	text = line(&result, 0);
	assert_has(text, "\"histogram\":[-2,2,-1,1,-273,1]");
	assert_has(text, "\"min\":2,\"mean\":77,\"max\":300,");
	assert_has(text, "\"p50\":null,");
	free(text.bytes);
	result_destroy(&result);
}

/* Where nothing was measured there is no number that looks as if it were. */
static void test_failed_test_has_no_figures(void **unused)
{
	struct result result = make_result(1);
	struct test_result *tr = &result.tests[0];
	struct test test = sample_test("t", RW_RANDRW);
	struct text text;

	(void)unused;
	test_result_init(tr, &test);
	tr->status = STATUS_FAILED;
	tr->stats = stats_new();
	tr->runtime_ns = S;
	snprintf(tr->error, sizeof(tr->error), "read: Input/output error");
	stats_error(tr->stats, EIO);
	text = line(&result, 0);
	assert_has(text, "\"status\":\"failed\",\"error\":\"read: Input/output error\"");
	assert_has(text, "\"errors\":{\"EIO\":1}");
	assert_has(text, "\"read\":null,\"write\":null,\"sync\":null");
	assert_has(text, "\"ioengine\":null,\"ioengine_reason\":null,\"direct\":null");
	assert_has(text, "\"size\":null");
	free(text.bytes);
	result_destroy(&result);
}

static void test_line_is_of_its_target(void **unused)
{
	struct result result = make_result(2);
	struct conditions targets[2] = {result.conditions, {.target = "/b", .fs = "nfs4"}};
	struct test test = sample_test("t", RW_READ);
	struct text text;
	struct result again;

	(void)unused;
	sample_result(&result.tests[0], &test);
	snprintf(test.target, sizeof(test.target), "/b");
	sample_result(&result.tests[1], &test);
	result.targets = targets;
	result.n_targets = 2;
	text = line(&result, 1);
	again = read_back(text);
	assert_int_equal(again.n_tests, 1);
	assert_int_equal(again.n_targets, 0);
	assert_string_equal(again.conditions.target, "/b");
	assert_string_equal(again.conditions.fs, "nfs4");
	assert_string_equal(again.id, result.id);
	free(text.bytes);
	result_destroy(&again);
	result.targets = NULL;
	result_destroy(&result);
}

/* The hardest that a real test gives: `octaves` powers of two filled, each operation, n a bucket.
 */
static void fill_histograms(struct test_result *tr, unsigned from, unsigned octaves, uint64_t n)
{
	for (unsigned op = 0; op < STATS_OPS; op++) {
		struct hist *h = &tr->stats->op[op].latency;

		memset(h, 0, sizeof(*h));
		for (unsigned i = from * HIST_SUB; i < (from + octaves) * HIST_SUB; i++) {
			h->bucket[i] = n + i % 7;
			h->count += h->bucket[i];
			h->sum += h->bucket[i] * hist_bucket_low(i);
			h->min = h->min ? h->min : hist_bucket_low(i);
			h->max = hist_bucket_low(i);
		}
	}
}

static void fill_series(struct test_result *tr)
{
	tr->runtime_ns = SERIES_SLOTS * S;
	for (unsigned op = 0; op < STATS_OPS; op++) {
		struct series *series = &tr->stats->op[op].series;

		series->used = SERIES_SLOTS;
		for (unsigned i = 0; i < SERIES_SLOTS; i++)
			series->slot[i] = (struct series_slot){.ios = 1000000 + i,
			                                       .bytes = 4096000000 + i,
			                                       .lat_sum_ns = 1000000000000 + i,
			                                       .lat_max_ns = 90000000 + i};
	}
}

static void assert_is_line(struct text text, size_t max)
{
	size_t prefix = strlen(RESULT_LINE_PREFIX);

	assert_memory_equal(text.bytes, RESULT_LINE_PREFIX, prefix);
	assert_ptr_equal(strchr(text.bytes, '\n'), text.bytes + text.size - 1);
	if (text.size > max)
		fail_msg("the line has %zu bytes, more than %zu", text.size, max);
}

static void test_usual_line_meets_the_aim(void **unused)
{
	struct result result = make_result(1);
	struct text text;

	(void)unused;
	fill_test(&result.tests[0]);
	text = line(&result, 0);
	assert_is_line(text, RESULT_LINE_AIM);
	assert_null(strstr(text.bytes, "omitted"));
	assert_has(text, "\"interval_ns\":1000000000,");
	free(text.bytes);
	result_destroy(&result);
}

/* A long series is added up until the line meets the aim; nothing of it is lost. */
static void test_series_is_thinned(void **unused)
{
	struct result result = make_result(1);
	struct text text;
	struct result again;

	(void)unused;
	fill_test(&result.tests[0]);
	fill_series(&result.tests[0]);
	text = line(&result, 0);
	assert_is_line(text, RESULT_LINE_AIM);
	again = read_back(text);
	for (unsigned op = 0; op < STATS_OPS; op++) {
		struct series *before = &result.tests[0].stats->op[op].series;
		struct series *after = &again.tests[0].stats->op[op].series;
		struct series_slot all = {0}, all_after = {0};

		for (unsigned i = 0; i < SERIES_SLOTS; i++) {
			series_slot_add(&all, &before->slot[i]);
			series_slot_add(&all_after, &after->slot[i]);
		}
		assert_memory_equal(&all, &all_after, sizeof(all));
		assert_true(after->interval_ns > S);
		assert_true(after->used * after->interval_ns == SERIES_SLOTS * S);
		assert_true(after->used >= 32);
		assert_memory_equal(&again.tests[0].stats->op[op].latency,
		                    &result.tests[0].stats->op[op].latency, sizeof(struct hist));
	}
	free(text.bytes);
	result_destroy(&again);
	result_destroy(&result);
}

/* 3 operations, 13 octaves, an hour at a million a second: whole, and with its series. */
static void test_worst_realistic_line(void **unused)
{
	struct result result = make_result(1);
	struct text text;
	struct result again;

	(void)unused;
	fill_test(&result.tests[0]);
	fill_histograms(&result.tests[0], 12, 13, 1000000);
	fill_series(&result.tests[0]);
	text = line(&result, 0);
	print_message("worst realistic line: %zu bytes\n", text.size);
	assert_is_line(text, RESULT_LINE_MAX);
	assert_null(strstr(text.bytes, "omitted"));
	again = read_back(text);
	assert_memory_equal(&again.tests[0].stats->op[STATS_SYNC].latency,
	                    &result.tests[0].stats->op[STATS_SYNC].latency, sizeof(struct hist));
	free(text.bytes);
	result_destroy(&again);
	result_destroy(&result);
}

/* More than any test can give: first the series goes, then the histogram, and the line says so. */
static void test_impossible_lines_stay_bounded(void **unused)
{
	struct result result = make_result(1);
	struct text text;
	struct result again;
	struct err err;

	(void)unused;
	fill_test(&result.tests[0]);
	fill_histograms(&result.tests[0], 11, 19, 1000000);
	fill_series(&result.tests[0]);
	text = line(&result, 0);
	assert_is_line(text, RESULT_LINE_MAX);
	assert_has(text, "\"omitted\":[\"series\"]");
	again = read_back(text);
	result_destroy(&again);
	free(text.bytes);

	fill_histograms(&result.tests[0], 0, 35, 1ull << 40);
	text = line(&result, 0);
	assert_is_line(text, RESULT_LINE_MAX);
	assert_has(text, "\"omitted\":[\"series\",\"histogram\"]");
	assert_has(text, "\"p99\":");
	assert_int_not_equal(json_read(&again, text.bytes + strlen(RESULT_LINE_PREFIX),
	                               text.size - strlen(RESULT_LINE_PREFIX), &err),
	                     0);
	assert_non_null(strstr(err.text, "left out"));
	free(text.bytes);
	result_destroy(&result);
}

#define FILL(field) memset(field, '"', sizeof(field) - 1)

/* Every text as long as it can be and made of what doubles, every list full. */
static void test_longest_texts(void **unused)
{
	struct result result = make_result(1);
	struct test_result *tr = &result.tests[0];
	struct text text;

	(void)unused;
	fill_test(tr);
	fill_histograms(tr, 0, 35, 1ull << 40);
	fill_series(tr);
	FILL(result.id), FILL(result.started), FILL(result.version), FILL(result.plan);
	FILL(result.conditions.target), FILL(result.conditions.fs);
	FILL(result.conditions.mount_options), FILL(result.conditions.mount_source);
	FILL(result.conditions.device), FILL(result.conditions.scheduler);
	FILL(result.conditions.kernel), FILL(result.conditions.machine);
	FILL(result.conditions.node), FILL(result.conditions.class);
	FILL(result.conditions.class_note), FILL(result.conditions.class_limits.source);
	FILL(tr->name), FILL(tr->kind), FILL(tr->target), FILL(tr->error), FILL(tr->ioengine);
	FILL(tr->ioengine_reason), FILL(tr->direct_reason);
	FILL(tr->filename), FILL(tr->random_distribution);
	result.n_verdicts = tr->n_verdicts = RESULT_VERDICTS_MAX;
	for (unsigned i = 0; i < RESULT_VERDICTS_MAX; i++) {
		FILL(result.verdicts[i].code), FILL(result.verdicts[i].text);
		FILL(tr->verdicts[i].code), FILL(tr->verdicts[i].text);
	}
	tr->n_concessions = RESULT_CONCESSIONS_MAX;
	for (unsigned i = 0; i < RESULT_CONCESSIONS_MAX; i++)
		FILL(tr->concessions[i]);
	tr->n_expect = PLAN_EXPECT_MAX;
	for (unsigned i = 0; i < PLAN_EXPECT_MAX; i++) {
		FILL(tr->expect[i].expr);
		tr->expect[i].value = -1.2345678901234567e-300;
	}
	for (int errnum = 1; errnum < 20; errnum++)
		stats_error_add(tr->stats, errnum + 1000, UINT64_MAX / 40);
	text = line(&result, 0);
	print_message("longest texts: %zu bytes\n", text.size);
	assert_is_line(text, RESULT_LINE_MAX);
	free(text.bytes);
	result_destroy(&result);
}

/* Paths may hold any bytes. */
static void test_any_bytes_round_trip(void **unused)
{
	struct result result = make_result(1);
	struct text first, second;
	struct result again;

	(void)unused;
	fill_test(&result.tests[0]);
	for (unsigned i = 0; i < 255; i++) {
		result.tests[0].target[i] = (char)(i + 1);
		result.conditions.target[i] = (char)(255 - i);
		result.conditions.mount_options[i] = (char)(i * 7 % 255 + 1);
	}
	first = document(&result);
	again = read_back(first);
	second = document(&again);
	assert_string_equal(first.bytes, second.bytes);
	for (size_t i = 0; i < first.size; i++)
		assert_true(isprint((unsigned char)first.bytes[i]) || first.bytes[i] == '\n' ||
		            first.bytes[i] < 0);
	free(first.bytes);
	free(second.bytes);
	result_destroy(&again);
	result_destroy(&result);
}

/* A window whose second half saw nothing: the series still covers it with its slots. */
static void test_series_covers_the_window(void **unused)
{
	struct result result = make_result(1);
	struct test test = sample_test("t", RW_READ);
	struct text text;
	struct result again;

	(void)unused;
	sample_result(&result.tests[0], &test);
	stats_record(result.tests[0].stats, STATS_READ, 1, 1, 0);
	result.tests[0].runtime_ns = 4 * S + 1;
	text = line(&result, 0);
	assert_has(text, "\"ios\":[1,0,0,0,0]");
	free(text.bytes);
	result.tests[0].runtime_ns = 10000 * S;
	text = document(&result);
	again = read_back(text);
	assert_int_equal(again.tests[0].stats->op[STATS_READ].series.interval_ns, 4 * S);
	assert_int_equal(again.tests[0].stats->op[STATS_READ].series.used, 2500);
	free(text.bytes);
	result_destroy(&again);
	result_destroy(&result);
}

static void assert_bad(const char *bytes, size_t size, const char *why)
{
	struct result result;
	struct err err;

	if (!json_read(&result, bytes, size, &err))
		fail_msg("read without an error: %.200s", bytes);
	if (!strstr(err.text, why))
		fail_msg("'%s' is not in '%s'", why, err.text);
	assert_int_equal(err.class, ERR_PLAN);
	assert_null(result.tests);
}

/* From a good document, one place changed at a time. */
static const struct {
	const char *from, *to, *why;
} damages[] = {
        {"pvcbench.result/1", "pvcbench.result/9", "schema: is not"},
        {"\"schema\"", "\"scheme\"", "has no member 'schema'"},
        {"\"tests\"", "\"texts\"", "has no member 'tests'"},
        {"\"name\":\"t\"", "\"name\":7", "name: is no text"},
        {"\"name\"", "\"title\"", "tests: [0]: has no member 'name'"},
        {"\"status\":\"ok\"", "\"status\":\"fine\"", "status: is none of the known words"},
        {"\"status\":\"ok\"", "\"status\":null", "status: is none of the known words"},
        {"\"rw\":\"read\"", "\"rw\":\"reads\"", "rw: is none"},
        {"\"rw\":\"read\"", "\"rw\":3", "rw: is none"},
        {"\"bs\":4096", "\"bs\":-1", "bs: is no whole number"},
        {"\"bs\":4096", "\"bs\":0.5", "bs: is no whole number"},
        {"\"bs\":4096", "\"bs\":1e300", "bs: is no whole number"},
        {"\"bs\":4096", "\"bs\":1e999", "bs: is no whole number"},
        {"\"bs\":4096", "\"bs\":\"\"", "bs: is no whole number"},
        {"\"bs\":4096", "\"bs\":\"12x\"", "bs: is no whole number"},
        {"\"bs\":4096", "\"bs\":\" 1\"", "bs: is no whole number"},
        {"\"bs\":4096", "\"bs\":\"-1\"", "bs: is no whole number"},
        {"\"bs\":4096", "\"bs\":\"99999999999999999999\"", "bs: is no whole number"},
        {"\"bs\":4096", "\"bs\":null", "bs: is no whole number"},
        {"\"bs\":4096", "\"bs\":[1]", "bs: is no whole number"},
        {"\"rwmixread\":null", "\"rwmixread\":\"half\"", "rwmixread: is no whole number"},
        {"\"buffer\":\"random\"", "\"buffer\":\"ones\"", "buffer: is none"},
        {"\"layout\":\"full\"", "\"layout\":\"half\"", "layout: is none"},
        {"\"direct\":true", "\"direct\":\"yes\"", "direct: is neither"},
        {"\"interrupted\":false", "\"interrupted\":0", "interrupted: is neither"},
        {"\"errors\":{}", "\"errors\":{\"EWHAT\":1}", "errors: has a name that is no errno"},
        {"\"errors\":{}", "\"errors\":{\"errno 5\":1}", "errors: has a name that is no"},
        {"\"errors\":{}", "\"errors\":{\"errno -5\":1}", "errors: has a name that is no"},
        {"\"errors\":{}", "\"errors\":{\"EIO\":-1}", "errors: is no whole number"},
        {"\"errors\":{}", "\"errors\":[]", "errors: is no object"},
        {"\"at_least_ns\":1000000000", "\"at_least_ns\":1000000001", "longest_gap: its"},
        {"\"at_most_ns\":1000000000", "\"at_most_ns\":0", "longest_gap: its bounds cross"},
        {"\"at_most_ns\"", "\"at_mist_ns\"", "longest_gap: has no member 'at_most_ns'"},
        {"\"concessions\":[]", "\"concessions\":{}", "concessions: is no array"},
        {"\"concessions\":[]", "\"concessions\":[1]", "concessions: [0]: is no text"},
        {"\"cpus\":0.2", "\"cpus\":\"two\"", "cpus: is no number"},
        {"\"ios\":3,", "\"ios\":4,", "do not add up"},
        {"[-2,1,-1,1,-273,1]", "[-2,1,-1,1,-5000,1]", "histogram: has an entry"},
        {"[-2,1,-1,1,-273,1]", "[-2,1,-1,1,-4604,1]", "histogram: has more than 4608"},
        {"[-2,1,-1,1,-273,1]", "[-2,1,-1,1,-0.5,1]", "histogram: has an entry"},
        {"[-2,1,-1,1,-273,1]", "[-2,1,-1,1,-1e300,1]", "histogram: has an entry"},
        {"[-2,1,-1,1,-273,1]", "[-2,1,-1,1,-273,1.5]", "histogram: is no whole number"},
        {"[-2,1,-1,1,-273,1]", "[-3,1,1,-273,1]", "min and max do not fit"},
        {"[-2,1,-1,1,-273,1]", "[-2,1,-1,1,-200,1]", "min and max do not fit"},
        {"[-2,1,-1,1,-273,1]", "7", "histogram: is no array"},
        {"[-2,1,-1,1,-273,1]", "null", "histogram: was left out"},
        {"\"min\":2", "\"min\":400", "min and max do not fit"},
        {"\"max\":300", "\"max\":\"9000000000000\"", "min and max do not fit"},
        {"\"overflow\":0", "\"overflow\":\"18446744073709551614\"", "counts too much"},
        {"\"sum\":306", "\"sum\":1000", "sum does not fit"},
        {"\"sum\":306", "\"sum\":1", "sum does not fit"},
        {"\"interval_ns\":1000000000", "\"interval_ns\":0", "interval_ns: is not 1 s"},
        {"\"interval_ns\":1000000000", "\"interval_ns\":3000000000", "interval_ns: is not"},
        {"\"interval_ns\":1000000000", "\"interval_ns\":\"9223372036854775808\"",
         "interval_ns: is not"},
        {"\"lat_max_ns\":[300]", "\"lat_max_ns\":[300,1]", "differs in length"},
        {"\"lat_max_ns\":[300]", "\"lat_max_ns\":[-1]", "lat_max_ns: [0]: is no whole"},
        {"\"lat_max_ns\":[300]", "\"lat_max_ns\":5", "lat_max_ns: is no array"},
        {"\"verdicts\":[]", "\"verdicts\":[{}]", "verdicts: [0]: has no member 'code'"},
        {"\"expect\":[]", "\"expect\":[1]", "expect: [0]: is no object"},
        {"}]}\n", "}]}x", "something follows"},
        {"}]}\n", "}]", "no JSON: damaged at byte"},
};

static void test_damaged_documents(void **unused)
{
	struct result result = make_result(1);
	struct test test = sample_test("t", RW_READ);
	struct text good;

	(void)unused;
	sample_result(&result.tests[0], &test);
	result.tests[0].runtime_ns = S;
	stats_record(result.tests[0].stats, STATS_READ, 1, 2, 0);
	stats_record(result.tests[0].stats, STATS_READ, 1, 4, 0);
	stats_record(result.tests[0].stats, STATS_READ, 1, 300, 0);
	sample_end(&result.tests[0]);
	good = line(&result, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(damages); i++) {
		const char *start = good.bytes + strlen(RESULT_LINE_PREFIX);
		const char *at = strstr(start, damages[i].from);
		char *changed;

		if (!at)
			fail_msg("'%s' is not in the document: %s", damages[i].from, start);
		assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - start), start, damages[i].to,
		                     at + strlen(damages[i].from)) > 0);
		assert_bad(changed, strlen(changed), damages[i].why);
		free(changed);
	}
	free(good.bytes);
	result_destroy(&result);
}

/* Cut anywhere, a document is no document. */
static void test_cut_documents(void **unused)
{
	struct result result = make_result(1);
	struct test test = sample_test("t", RW_READ);
	struct text good;

	(void)unused;
	sample_result(&result.tests[0], &test);
	good = document(&result);
	for (size_t size = 0; size + 1 < good.size; size++) {
		char *exact = malloc(size ? size : 1); /* a read beyond it is seen by sanitizers */

		assert_non_null(exact);
		memcpy(exact, good.bytes, size);
		assert_bad(exact, size, "no JSON");
		free(exact);
	}
	free(good.bytes);
	result_destroy(&result);
}

static char *repeat(const char *before, const char *what, unsigned n, const char *after)
{
	size_t size = strlen(before) + strlen(what) * n + strlen(after) + 1;
	char *text = malloc(size), *end = text;

	assert_non_null(text);
	end += snprintf(end, size, "%s", before);
	for (unsigned i = 0; i < n; i++)
		end += snprintf(end, size - (size_t)(end - text), "%s", what);
	snprintf(end, size - (size_t)(end - text), "%s", after);
	return text;
}

static void test_huge_documents(void **unused)
{
#define HEAD "{\"schema\":\"pvcbench.result/1\",\"run\":{},\"conditions\":{},"
	static const struct {
		const char *before, *what;
		unsigned n;
		const char *after, *why;
	} cases[] = {
	        {"", "[", 100000, "", "no JSON"},
	        {HEAD "\"tests\":[{\"name\":\"x\",\"status\":\"ok\",\"errors\":{", "\"EIO\":1,", 16,
	         "\"EIO\":1}}]}", "errors: has more than 16"},
	        {HEAD "\"tests\":[", "{},", 600, "{}]}", "tests: has more than 512"},
	        {HEAD "\"targets\":[", "{},", 600, "{}],\"tests\":[]}", "targets: has more than"},
	        {HEAD "\"tests\":[{\"name\":\"", "x", 200, "\",\"status\":\"ok\"}]}",
	         "name: is longer than 127 bytes"},
	        {HEAD "\"tests\":[{\"name\":\"x\",\"status\":\"ok\",\"concessions\":[", "\"a\",",
	         20, "\"a\"]}]}", "concessions: has more than 16"},
	        {HEAD "\"tests\":[{\"name\":\"x\",\"status\":\"ok\",\"read\":{\"ios\":0,"
	              "\"bytes\":0,\"lat_ns\":{\"sum\":0,\"overflow\":0,\"histogram\":[",
	         "0,", 5000, "0]}}}]}", "histogram: has more than 4608"},
	        {HEAD "\"tests\":[{\"name\":\"x\",\"status\":\"ok\",\"read\":{\"ios\":0,"
	              "\"bytes\":0,\"lat_ns\":{\"sum\":0,\"overflow\":0,\"histogram\":[]},"
	              "\"series\":{\"interval_ns\":1000000000,\"ios\":[",
	         "0,", 5000, "0]}}}]}", "ios: has more than 4096"},
	};

	(void)unused;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = repeat(cases[i].before, cases[i].what, cases[i].n, cases[i].after);

		assert_bad(text, strlen(text), cases[i].why);
		free(text);
	}
	assert_bad("", 1ull << 40, "larger than");
}

/* The least that is a document; what a newer version adds is left alone. */
static void test_small_and_newer_documents(void **unused)
{
	static const char text[] = HEAD "\"newer\":{\"x\":[1]},\"tests\":[{\"name\":\"x\","
	                                "\"status\":\"failed\",\"extra\":1}]}\n\n";
	struct result result;
	struct err err;
	struct text written;

	(void)unused;
	assert_int_equal(json_read(&result, text, strlen(text), &err), 0);
	assert_int_equal(result.n_tests, 1);
	assert_int_equal(result.tests[0].status, STATUS_FAILED);
	written = document(&result);
	free(written.bytes);
	result_destroy(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_round_trip),
	        cmocka_unit_test(test_whole_numbers_are_exact),
	        cmocka_unit_test(test_histogram_is_sparse),
	        cmocka_unit_test(test_failed_test_has_no_figures),
	        cmocka_unit_test(test_line_is_of_its_target),
	        cmocka_unit_test(test_usual_line_meets_the_aim),
	        cmocka_unit_test(test_series_is_thinned),
	        cmocka_unit_test(test_worst_realistic_line),
	        cmocka_unit_test(test_impossible_lines_stay_bounded),
	        cmocka_unit_test(test_longest_texts),
	        cmocka_unit_test(test_any_bytes_round_trip),
	        cmocka_unit_test(test_series_covers_the_window),
	        cmocka_unit_test(test_damaged_documents),
	        cmocka_unit_test(test_cut_documents),
	        cmocka_unit_test(test_huge_documents),
	        cmocka_unit_test(test_small_and_newer_documents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
