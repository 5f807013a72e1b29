/* links: base/err.c base/field.c base/units.c builtin.c plan/chains.c plan/expect.c
 * plan/headers.c plan/hop.c plan/keys.c plan/plan.c plan/check.c plan/deliver.c plan/override.c
 * plan/scope.c plan/sink.c plan/value.c plan/yaml.c plan/tree.c */
/*
 * The plans in tests/plans: each bad one has its exact error beside it, each good
 * one the tests that it makes. UPDATE=1 writes both anew. Runs from the top folder.
 */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "plan/chains.h"
#include "plan/deliver.h"
#include "plan/yaml.h"

#define FILE_MAX (2 * PLAN_FILE_MAX)

/* Read text as the plan "p"; fails the test where it cannot be read. */
static struct plan read_text(const char *text)
{
	struct plan plan;
	struct err err;

	if (plan_yaml_read(&plan, "p", text, strlen(text), NULL, 0, &err))
		fail_msg("%s", err.text);
	return plan;
}

/* The error of a plan with these overrides, "KEY=VALUE". */
static void refuse(const char *text, const char *const *sets, const char *message)
{
	struct plan_override overrides[8];
	char keys[8][64];
	struct plan plan;
	struct err err;
	unsigned n = 0;

	for (; sets && sets[n]; n++) {
		size_t length = strcspn(sets[n], "=");

		snprintf(keys[n], sizeof(keys[n]), "%.*s", (int)length, sets[n]);
		overrides[n] =
		        (struct plan_override){keys[n], sets[n] + length + 1, false, "--set"};
	}
	assert_int_equal(plan_yaml_read(&plan, "p", text, strlen(text), overrides, n, &err), -1);
	assert_string_equal(err.text, message);
	assert_int_equal(err.class, ERR_PLAN);
	assert_null(plan.tests);
	assert_int_equal(plan.n_tests, 0);
}

/* files */

static size_t read_file(const char *path, char *text)
{
	FILE *file = fopen(path, "r");

	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	size_t size = fread(text, 1, FILE_MAX - 1, file);

	fclose(file);
	text[size] = '\0';
	return size;
}

static bool is_update(void)
{
	return getenv("UPDATE") != NULL;
}

/* Compare with what "PLAN.EXTENSION" holds; 1 when it differs. */
static int compare(const char *path, const char *extension, const char *got)
{
	static char want[FILE_MAX];
	char beside[512];

	snprintf(beside, sizeof(beside), "%.*s%s", (int)(strlen(path) - strlen("yaml")), path,
	         extension);
	if (is_update()) {
		FILE *file = fopen(beside, "w");

		assert_non_null(file);
		fputs(got, file);
		fclose(file);
		return 0;
	}
	read_file(beside, want);
	if (!strcmp(want, got))
		return 0;
	print_error("%s differs, it should be\n%s", beside, got);
	return 1;
}

/* Run check on every plan of a folder. */
static void for_each_plan(const char *pattern, size_t least,
                          int (*check)(const char *path, const char *text, size_t size))
{
	static char text[FILE_MAX];
	int failures = 0;
	glob_t found;

	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= least);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		size_t size = read_file(found.gl_pathv[i], text);

		failures += check(found.gl_pathv[i], text, size);
	}
	globfree(&found);
	assert_int_equal(failures, 0);
}

static int check_bad(const char *path, const char *text, size_t size)
{
	char got[ERR_TEXT_MAX + 2];
	struct plan plan;
	struct err err;

	if (!plan_yaml_read(&plan, strrchr(path, '/') + 1, text, size, NULL, 0, &err)) {
		print_error("%s is read\n", path);
		plan_destroy(&plan);
		return 1;
	}
	snprintf(got, sizeof(got), "%s\n", err.text);
	return compare(path, "err", got) || err.class != ERR_PLAN || plan.tests;
}

static void test_bad_plans(void **state)
{
	(void)state;
	for_each_plan("tests/plans/bad/*.yaml", 100, check_bad);
}

#define MEMBER(type, member)                                 \
	{                                                    \
#member, type, offsetof(struct test, member) \
	}

/* The members of a test, as a golden file shows them where they differ from the defaults. */
static const struct {
	const char *name;
	enum { IS_TEXT, IS_INT, IS_U64, IS_BOOL } type;
	size_t offset;
} members[] = {
        MEMBER(IS_TEXT, kind),
        MEMBER(IS_TEXT, target),
        MEMBER(IS_TEXT, filename),
        MEMBER(IS_INT, rw),
        MEMBER(IS_U64, rwmixread),
        MEMBER(IS_U64, bs),
        MEMBER(IS_U64, iodepth),
        MEMBER(IS_U64, numjobs),
        MEMBER(IS_INT, size.unit),
        MEMBER(IS_U64, size.value),
        MEMBER(IS_INT, step),
        MEMBER(IS_TEXT, key),
        MEMBER(IS_U64, key_bytes),
        MEMBER(IS_U64, wait_ns),
        MEMBER(IS_TEXT, table.endpoint),
        MEMBER(IS_TEXT, table.account),
        MEMBER(IS_TEXT, table.key_file),
        MEMBER(IS_TEXT, table.sas_file),
        MEMBER(IS_TEXT, table.name),
        MEMBER(IS_U64, table.partitions),
        MEMBER(IS_U64, table.entities),
        MEMBER(IS_U64, table.entity_bytes),
        MEMBER(IS_BOOL, table.fill),
        MEMBER(IS_U64, table.cutoff),
        MEMBER(IS_U64, table.concurrency),
        MEMBER(IS_U64, table.batch),
        MEMBER(IS_INT, table.select),
        MEMBER(IS_INT, table.strategy),
        MEMBER(IS_U64, table.retries),
        MEMBER(IS_U64, offset),
        MEMBER(IS_U64, offset_increment),
        MEMBER(IS_BOOL, file_per_job),
        MEMBER(IS_BOOL, shared),
        MEMBER(IS_U64, peers_timeout_ns),
        MEMBER(IS_U64, runtime_ns),
        MEMBER(IS_U64, ramp_time_ns),
        MEMBER(IS_U64, loops),
        MEMBER(IS_U64, io_size),
        MEMBER(IS_TEXT, ioengine),
        MEMBER(IS_INT, direct),
        MEMBER(IS_U64, fsync),
        MEMBER(IS_U64, fdatasync),
        MEMBER(IS_BOOL, end_fsync),
        MEMBER(IS_INT, sync),
        MEMBER(IS_U64, rate_iops),
        MEMBER(IS_U64, rate),
        MEMBER(IS_U64, thinktime_ns),
        MEMBER(IS_U64, latency_target_ns),
        MEMBER(IS_INT, random_distribution.shape),
        MEMBER(IS_BOOL, randommap),
        MEMBER(IS_U64, randseed),
        MEMBER(IS_INT, buffer),
        MEMBER(IS_INT, layout),
        MEMBER(IS_U64, layout_time_ns),
        MEMBER(IS_U64, answer_time_ns),
        MEMBER(IS_INT, verify),
        MEMBER(IS_INT, limits_probe),
        MEMBER(IS_TEXT, ledger),
        MEMBER(IS_U64, repeat),
        MEMBER(IS_BOOL, strict),
        MEMBER(IS_INT, destroy),
        MEMBER(IS_BOOL, clean),
        MEMBER(IS_U64, pause_ns),
        MEMBER(IS_U64, requests_rate),
        MEMBER(IS_U64, warmup),
        MEMBER(IS_BOOL, keepalive),
        MEMBER(IS_INT, http_version),
        MEMBER(IS_U64, timeout_ns),
        MEMBER(IS_TEXT, ca_file),
        MEMBER(IS_U64, body_bytes),
};

static void format_member(size_t i, const struct test *test, char *out, size_t size)
{
	const char *slot = (const char *)test + members[i].offset;

	switch (members[i].type) {
	case IS_TEXT:
		snprintf(out, size, "%s", slot);
		break;
	case IS_INT:
		snprintf(out, size, "%d", *(const int *)slot);
		break;
	case IS_U64:
		snprintf(out, size, "%" PRIu64, *(const uint64_t *)slot);
		break;
	case IS_BOOL:
		snprintf(out, size, "%s", *(const bool *)slot ? "true" : "false");
		break;
	}
}

static void dump_chains(FILE *out, const struct plan_chains *chains)
{
	for (unsigned i = 0; i < chains->n; i++) {
		const struct plan_chain *chain = &chains->chain[i];

		fprintf(out, " chain=%s", chain->name);
		for (unsigned h = 0; h < chain->n_hops; h++) {
			const struct plan_hop *hop = &chain->hops[h];

			fprintf(out, " %s%s", hop->url, hop->url_is_secret ? " secret" : "");
			for (unsigned n = 0; n < hop->n_headers; n++)
				fprintf(out, " '%s: %s'", hop->headers[n].name,
				        hop->headers[n].value);
		}
	}
}

static void dump_test(FILE *out, const struct test *test)
{
	struct test defaults = {0};

	field_set_defaults(plan_fields, plan_n_fields, &defaults);
	fprintf(out, "%s (%u:%u)", test->name, test->line, test->column);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		char value[PLAN_PATH_MAX], usual[PLAN_PATH_MAX];

		format_member(i, test, value, sizeof(value));
		format_member(i, &defaults, usual, sizeof(usual));
		if (strcmp(value, usual) != 0)
			fprintf(out, " %s=%s", members[i].name, value);
	}
	if (test->random_distribution.shape == DISTRIBUTION_ZIPF)
		fprintf(out, " theta=%g", test->random_distribution.theta);
	if (test->latency_percentile < 99 || test->latency_percentile > 99)
		fprintf(out, " percentile=%g", test->latency_percentile);
	for (unsigned i = 0; i < test->n_expect; i++)
		fprintf(out, " expect='%s'", test->expect[i].text);
	if (test->chains)
		dump_chains(out, test->chains);
	fputc('\n', out);
}

static void dump_sink(FILE *out, const struct plan_sink *sink)
{
	fprintf(out, "deliver (%u:%u) %s %s%s", sink->line, sink->column, plan_sink_type(sink),
	        sink->file, plan_sink_url(sink));
	if (strcmp(sink->job, "pvcbench") != 0)
		fprintf(out, " job=%s", sink->job);
	for (unsigned i = 0; i < sink->n_headers; i++)
		fprintf(out, " '%s: %s'", sink->headers[i].name, sink->headers[i].value);
	if (sink->authorization_file[0])
		fprintf(out, " authorization_file=%s", sink->authorization_file);
	if (sink->ca_file[0])
		fprintf(out, " ca_file=%s", sink->ca_file);
	fprintf(out, "%s%s\n", sink->url_is_secret ? " secret" : "",
	        sink->required ? " required" : "");
}

static int check_good(const char *path, const char *text, size_t size)
{
	const char *name = strrchr(path, '/') + 1;
	char *got = NULL;
	size_t got_size;
	struct plan plan;
	struct err err;

	if (plan_yaml_read(&plan, name, text, size, NULL, 0, &err)) {
		print_error("%s\n", err.text);
		return 1;
	}
	FILE *out = open_memstream(&got, &got_size);

	assert_non_null(out);
	for (unsigned i = 0; i < plan.n_tests; i++)
		dump_test(out, &plan.tests[i]);
	for (unsigned i = 0; i < plan.n_sinks; i++)
		dump_sink(out, &plan.sinks[i]);
	fclose(out);
	int ret = compare(path, "txt", got) || strcmp(plan.name, name) != 0;

	free(got);
	plan_destroy(&plan);
	return ret;
}

static void test_good_plans(void **state)
{
	(void)state;
	for_each_plan("tests/plans/good/*.yaml", 10, check_good);
}

/* what no file shows well */

static void test_defaults(void **state)
{
	struct plan plan = read_text("tests: [{name: a}]");
	const struct test *test = &plan.tests[0];

	(void)state;
	assert_string_equal(plan.name, "p");
	assert_int_equal(plan.n_tests, 1);
	assert_string_equal(test->kind, "block");
	assert_string_equal(test->target, "/data");
	assert_string_equal(test->filename, "");
	assert_int_equal(test->rw, RW_READ);
	assert_int_equal(test->rwmixread, 50);
	assert_int_equal(test->bs, 4096);
	assert_int_equal(test->iodepth, 1);
	assert_int_equal(test->numjobs, 1);
	assert_int_equal(test->size.unit, SIZE_BYTES);
	assert_int_equal(test->size.value, 10 * GIB);
	assert_int_equal(test->runtime_ns, 60 * NSEC_PER_SEC);
	assert_int_equal(test->ramp_time_ns, 10 * NSEC_PER_SEC);
	assert_string_equal(test->ioengine, "auto");
	assert_int_equal(test->direct, PLAN_DIRECT_AUTO);
	assert_int_equal(test->sync, SYNC_NONE);
	assert_int_equal(test->buffer, BUFFER_RANDOM);
	assert_int_equal(test->layout, LAYOUT_FULL);
	assert_int_equal(test->repeat, 1);
	assert_int_equal(test->n_expect, 0);
	assert_int_equal(test->destroy, DESTROY_NOTHING);
	assert_false(test->clean);
	plan_destroy(&plan);
	assert_null(plan.tests);
	plan_destroy(&plan);
	plan_destroy(NULL);
}

static void test_byte_order_mark_and_line_ends(void **state)
{
	struct plan plan = read_text("\xef\xbb\xbfversion: 1\r\ntests:\r\n- {name: a}\r\n");

	(void)state;
	assert_int_equal(plan.n_tests, 1);
	assert_int_equal(plan.tests[0].line, 3);
	plan_destroy(&plan);
	refuse("bs: 4k\r\ntests:\r\n- {name: a,\r\n   bss: 1}\r\n", NULL,
	       "p:4:4: unknown key 'bss' of a test (did you mean 'bs'?)");
}

static void test_limits(void **state)
{
	static char text[PLAN_FILE_MAX + 2];
	size_t used;
	struct plan plan;
	struct err err;

	(void)state;
	used = (size_t)snprintf(text, sizeof(text), "tests:\n");
	for (unsigned i = 0; i < PLAN_TESTS_MAX; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "- {name: t%u}\n", i);
	plan = read_text(text);
	assert_int_equal(plan.n_tests, PLAN_TESTS_MAX);
	assert_string_equal(plan.tests[PLAN_TESTS_MAX - 1].name, "t511");
	plan_destroy(&plan);

	memset(text + used, '#', sizeof(text) - used);
	assert_int_equal(plan_yaml_read(&plan, "p", text, PLAN_FILE_MAX, NULL, 0, &err), 0);
	plan_destroy(&plan);
	assert_int_equal(plan_yaml_read(&plan, "p", text, PLAN_FILE_MAX + 1, NULL, 0, &err), -1);
	assert_string_equal(err.text, "p: larger than 1048576 bytes");
}

/* Far deeper than any plan; refused without recursion and without taking long. */
static void test_nesting(void **state)
{
	static const char *const openings[] = {"[", "{", "{a: ", "- ", "? ", "[{"};
	static char text[PLAN_FILE_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(openings); i++) {
		size_t step = strlen(openings[i]);
		struct plan plan;
		struct err err;

		for (size_t at = 0; at + step <= sizeof(text); at += step)
			memcpy(text + at, openings[i], step);
		assert_int_equal(plan_yaml_read(&plan, "p", text, sizeof(text), NULL, 0, &err), -1);
		assert_int_equal(err.class, ERR_PLAN);
	}
}

static void test_builtins(void **state)
{
	const char *before = "";
	unsigned n = 0;

	(void)state;
	for (const struct plan_builtin *b = plan_builtins; b->name; b++, n++) {
		struct plan plan;
		struct err err;

		assert_true(strcmp(before, b->name) < 0);
		before = b->name;
		assert_int_equal(strlen(b->text), b->size);
		assert_int_equal(b->text[0], '#');
		assert_ptr_equal(plan_builtin_find(b->name), b);
		if (plan_yaml_load(&plan, b->name, NULL, 0, &err))
			fail_msg("%s", err.text);
		assert_string_equal(plan.name, b->name);
		plan_destroy(&plan);
	}
	assert_true(n >= 8);
	assert_null(plan_builtin_find("nope"));
	assert_null(plan_builtin_find(""));
}

/* The nine of dbench, by name and in its order, in every plan that prints its block. */
static void test_nine(void **state)
{
	static const char *const plans[] = {"cce", "quick", "dbench", "dbench-cce"};
	static const struct {
		const char *name;
		int rw;
		uint64_t bs;
		uint64_t depth[4]; /* in the plans, in their order */
		uint64_t jobs[4];
	} nine[] = {
	        {"read-iops", RW_RANDREAD, 4 * KIB, {4, 4, 64, 16}, {1, 1, 1, 1}},
	        {"write-iops", RW_RANDWRITE, 4 * KIB, {4, 4, 64, 16}, {1, 1, 1, 1}},
	        {"read-bw", RW_RANDREAD, 128 * KIB, {16, 16, 64, 16}, {1, 1, 1, 1}},
	        {"write-bw", RW_RANDWRITE, 128 * KIB, {16, 16, 64, 16}, {1, 1, 1, 1}},
	        {"read-latency", RW_RANDREAD, 4 * KIB, {4, 4, 4, 4}, {1, 1, 1, 1}},
	        {"write-latency", RW_RANDWRITE, 4 * KIB, {4, 4, 4, 4}, {1, 1, 1, 1}},
	        {"read-seq", RW_READ, MIB, {16, 16, 16, 64}, {1, 1, 4, 8}},
	        {"write-seq", RW_WRITE, MIB, {16, 16, 16, 64}, {1, 1, 4, 8}},
	        {"mixed", RW_RANDRW, 4 * KIB, {16, 16, 64, 16}, {1, 1, 1, 1}},
	};

	(void)state;
	for (size_t p = 0; p < ARRAY_SIZE(plans); p++) {
		struct plan plan;
		struct err err;

		if (plan_yaml_load(&plan, plans[p], NULL, 0, &err))
			fail_msg("%s", err.text);
		assert_int_equal(plan.n_tests, ARRAY_SIZE(nine));
		for (size_t i = 0; i < ARRAY_SIZE(nine); i++) {
			assert_string_equal(plan.tests[i].name, nine[i].name);
			assert_int_equal(plan.tests[i].rw, nine[i].rw);
			assert_int_equal(plan.tests[i].bs, nine[i].bs);
			assert_int_equal(plan.tests[i].iodepth, nine[i].depth[p]);
			assert_int_equal(plan.tests[i].numjobs, nine[i].jobs[p]);
		}
		assert_int_equal(plan.tests[8].rwmixread, 75);
		plan_destroy(&plan);
	}
}

/* overrides */

#define TWO "rw: randread\ntests: [{name: a, bs: [4k, 8k]}, {name: b, rw: write}]"

static struct plan override(const char *const *sets)
{
	struct plan_override overrides[8];
	char keys[8][64];
	struct plan plan;
	struct err err;
	unsigned n = 0;

	for (; sets[n]; n++) {
		size_t length = strcspn(sets[n], "=");

		snprintf(keys[n], sizeof(keys[n]), "%.*s", (int)length, sets[n]);
		overrides[n] =
		        (struct plan_override){keys[n], sets[n] + length + 1, false, "--set"};
	}
	if (plan_yaml_read(&plan, "p", TWO, strlen(TWO), overrides, n, &err))
		fail_msg("%s", err.text);
	return plan;
}

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_override(void **state)
{
	struct plan plan;

	(void)state;
	plan = override(SETS("runtime=5s", "rw=randwrite", "tests.b.rw=read", "iodepth=8"));
	assert_int_equal(plan.n_tests, 3);
	assert_string_equal(plan.tests[0].name, "a-4k");
	assert_int_equal(plan.tests[0].rw, RW_RANDWRITE);
	assert_int_equal(plan.tests[2].rw, RW_READ);
	assert_int_equal(plan.tests[2].runtime_ns, 5 * NSEC_PER_SEC);
	assert_int_equal(plan.tests[1].iodepth, 8);
	plan_destroy(&plan);

	/* a list multiplies, in the place of the key or behind */
	plan = override(SETS("bs=64k", "tests.b.iodepth=[1, 2]", "rw=[read, write]"));
	assert_int_equal(plan.n_tests, 6);
	assert_string_equal(plan.tests[0].name, "a-read");
	assert_int_equal(plan.tests[0].bs, 65536);
	assert_string_equal(plan.tests[3].name, "b-read-2");
	plan_destroy(&plan);

	/* the last of a key wins, the named test over all, whatever their order */
	plan = override(SETS("tests.b.bs=1k", "bs=2k", "bs=16k", "tests.b.bs=32k"));
	assert_int_equal(plan.n_tests, 2);
	assert_int_equal(plan.tests[0].bs, 16384);
	assert_int_equal(plan.tests[1].bs, 32768);
	plan_destroy(&plan);

	plan = override(SETS("expect=[errors == 0, read.p99 <= 5ms]", "tests.b.expect=stall < 1s",
	                     "target='/a b'", "filename=\"# x\"", "destroy=yes"));
	assert_int_equal(plan.tests[0].n_expect, 2);
	assert_int_equal(plan.tests[2].n_expect, 1);
	assert_string_equal(plan.tests[0].target, "/a b");
	assert_string_equal(plan.tests[0].filename, "# x");
	assert_int_equal(plan.tests[1].destroy, DESTROY_NAMED);
	plan_destroy(&plan);
}

static void test_override_refused(void **state)
{
	(void)state;
	refuse(TWO, SETS("iodpeth=1"),
	       "--set iodpeth: unknown key 'iodpeth' of the plan (did you mean 'iodepth'?)");
	refuse(TWO, SETS("tests.a.iodpeth=1"),
	       "--set tests.a.iodpeth: unknown key 'iodpeth' of a test (did you mean 'iodepth'?)");
	refuse(TWO, SETS("iodepth=none"),
	       "--set iodepth: 'none' is not a whole number (allowed: 1 to 4096)");
	refuse(TWO, SETS("tests.a.bs=[4k, 4Q]"),
	       "--set tests.a.bs: '4Q' is not a size "
	       "(allowed: 512B to 1GiB, such as 4k, 4KiB, 1MB)");
	refuse(TWO, SETS("tests.c.bs=4k"), "--set tests.c.bs: no test is named 'c' (known: a, b)");
	refuse(TWO, SETS("deliver=[{file: /x}]"), "--set deliver: only the plan itself can say it");
	refuse(TWO, SETS("name=x"), "--set name: a test's name cannot be overridden");
	refuse(TWO, SETS("tests.a.name=x"),
	       "--set tests.a.name: a test's name cannot be overridden");
	refuse(TWO, SETS("tests.a=4k"),
	       "--set tests.a: no key of a test (allowed: KEY, tests.NAME.KEY)");
	refuse(TWO, SETS("tests..bs=4k"),
	       "--set tests..bs: no key of a test (allowed: KEY, tests.NAME.KEY)");
	refuse(TWO, SETS("tests.\x1b[1m.bs=4k"),
	       "--set tests.?[1m.bs: no test is named '?[1m' (known: a, b)");
	refuse(TWO, SETS("bs="), "--set bs: has no value");
	refuse(TWO, SETS("bs=''"), "--set bs: has no value");
	refuse(TWO, SETS("bs={a: b}"), "--set bs: a mapping where a plain value is wanted");
	refuse(TWO, SETS("bs=[4k"),
	       "--set bs: not valid YAML: did not find expected ',' or ']' "
	       "while parsing a flow sequence");
	refuse(TWO, SETS("bs=4k\n---\n8k"), "--set bs: a second document (only one is read)");
	refuse(TWO, SETS("repeat=[1, 2]"), "--set repeat: a list where one value is wanted");
	refuse(TWO, SETS("rate=1M", "rate_iops=1"),
	       "p:2:9: test 'a-4k': rate and rate_iops exclude each other");
	refuse("tests: [{name: read-iops}]", SETS("tests.readiops.bs=4k"),
	       "--set tests.readiops.bs: no test is named 'readiops' (did you mean 'read-iops'?)");
	/* the plan's own error comes first, and counts though the key is overridden */
	refuse("bs: 1\ntests: [{name: a}]", SETS("bs=4k"),
	       "p:1:5: bs: '1' is out of range (allowed: 512B to 1GiB, such as 4k, 4KiB, 1MB)");
}

static void test_override_places(void **state)
{
	static const struct plan_override target = {"target", "''", false, "--target"};
	static const struct plan_override variable = {"tests.b.size", "big", false, "FIO_SIZE"};
	struct plan plan;
	struct err err;

	(void)state;
	assert_int_equal(plan_yaml_read(&plan, "p", TWO, strlen(TWO), &target, 1, &err), -1);
	assert_string_equal(err.text, "--target: has no value");
	assert_int_equal(plan_yaml_read(&plan, "p", TWO, strlen(TWO), &variable, 1, &err), -1);
	assert_string_equal(err.text, "FIO_SIZE: 'big' is not a size (allowed: 512B to 1PiB, 1% to "
	                              "100% of the free space, 1xmem to 64xmem)");
}

/* loading */

static void test_load(void **state)
{
	static const struct plan_override override_bs = {"bs", "8k", false, "--set"};
	char path[] = "/tmp/t_plan.XXXXXX";
	struct plan plan;
	struct err err;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "tests: [{name: a}]", 18), 18);
	assert_int_equal(plan_yaml_load(&plan, path, &override_bs, 1, &err), 0);
	assert_string_equal(plan.name, path);
	assert_int_equal(plan.tests[0].bs, 8192);
	plan_destroy(&plan);

	assert_int_equal(ftruncate(fd, PLAN_FILE_MAX + 1), 0);
	assert_int_equal(plan_yaml_load(&plan, path, NULL, 0, &err), -1);
	assert_non_null(strstr(err.text, ": larger than 1048576 bytes"));
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(plan_yaml_load(&plan, path, NULL, 0, &err), -1);
	assert_non_null(strstr(err.text, ":1:1: the plan is empty"));
	close(fd);
	unlink(path);
}

static void test_load_refused(void **state)
{
	struct plan plan;
	struct err err;

	(void)state;
	assert_int_equal(plan_yaml_load(&plan, "/nope/plan.yaml", NULL, 0, &err), -1);
	assert_string_equal(err.text,
	                    "cannot read plan '/nope/plan.yaml': No such file or directory "
	                    "(built-in plans: aca, cce, dbench, dbench-cce, dd, etcd, hops, "
	                    "persist, quick, sweep)");
	assert_int_equal(err.class, ERR_PLAN);
	assert_int_equal(err.errnum, ENOENT);
	assert_int_equal(plan_yaml_load(&plan, "/tmp", NULL, 0, &err), -1);
	assert_string_equal(err.text, "cannot read plan '/tmp': Is a directory");
	assert_int_equal(plan.n_tests, 0);
}

static void test_load_stdin(void **state)
{
	int ends[2];
	struct plan plan;
	struct err err;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "tests: [{nam: a}]", 17), 17);
	close(ends[1]);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	assert_int_equal(plan_yaml_load(&plan, "-", NULL, 0, &err), -1);
	assert_string_equal(err.text,
	                    "stdin:1:10: unknown key 'nam' of a test (did you mean 'name'?)");
}

/* the rest of plan/plan.c */

static void test_rw(void **state)
{
	static const struct {
		int rw;
		const char *name;
		bool reads, writes, random;
	} rows[] = {
	        {RW_READ, "read", true, false, false},
	        {RW_WRITE, "write", false, true, false},
	        {RW_RANDREAD, "randread", true, false, true},
	        {RW_RANDWRITE, "randwrite", false, true, true},
	        {RW_RW, "rw", true, true, false},
	        {RW_RANDRW, "randrw", true, true, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct test test = {.rw = rows[i].rw};

		assert_string_equal(plan_rw_name(rows[i].rw), rows[i].name);
		assert_int_equal(plan_reads(&test), rows[i].reads);
		assert_int_equal(plan_writes(&test), rows[i].writes);
		assert_int_equal(plan_random(&test), rows[i].random);
	}
}

/* Every row has what the reference page needs. */
static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < plan_n_fields; i++) {
		const struct field *row = &plan_fields[i];
		size_t length = strlen(row->help);

		const char *kind = row->kinds ? row->kinds : "block";
		char first[PLAN_NAME_MAX];

		snprintf(first, sizeof(first), "%.*s", (int)strcspn(kind, " "), kind);
		assert_ptr_equal(field_find_of(plan_fields, plan_n_fields, row->name, first), row);
		assert_true(length > 10 && row->help[length - 1] == '.');
		if (row->type == FIELD_CUSTOM)
			assert_true(row->parse && row->allowed && row->pattern);
		if (row->type == FIELD_STRING)
			assert_true(row->size > 1);
	}
}

/* A value is read by the first row of its name, before the kind of its test is known. */
static void test_first_row_takes_what_any_takes(void **state)
{
	(void)state;
	for (size_t i = 0; i < plan_n_fields; i++) {
		const struct field *row = &plan_fields[i];
		const struct field *first = field_find(plan_fields, plan_n_fields, row->name);
		const uint64_t ends[] = {row->min, row->max};
		struct test test;

		if (row == first)
			continue;
		/* a count is as good as a size */
		assert_true(row->type == first->type || row->type == FIELD_SIZE ||
		            (row->type == FIELD_UINT && first->type == FIELD_SIZE));
		for (size_t end = 0; end < ARRAY_SIZE(ends); end++) {
			struct err err;
			char text[32];

			snprintf(text, sizeof(text), "%llu%s", (unsigned long long)ends[end],
			         row->type == FIELD_TIME ? "ns" : "");
			if (field_set(first, &test, text, &err))
				fail_msg("%s: %s", row->name, err.text);
		}
	}
}

/* Permissions stay unread from the environment of the one who runs the tests. */
static int prepare(void **state)
{
	(void)state;
	return setenv("PVCBENCH_TEST_SET", "/set", 1) || setenv("PVCBENCH_TEST_SIZE", "64k", 1) ||
	       setenv("PVCBENCH_TEST_EMPTY", "", 1) || unsetenv("PVCBENCH_TEST_UNSET");
}

/* A path given as it stands may hold what YAML gives a meaning. */
static void test_a_plain_override_is_taken_as_it_stands(void **state)
{
	static const char path[] = "/data/o'b #x: [y] ${UNSET}";
	static const char text[] = "tests: [{name: a, rw: read}]";
	const struct plan_override override = {"target", path, true, "--target"};
	struct plan plan;
	struct err err;

	(void)state;
	assert_int_equal(plan_yaml_read(&plan, "p", text, strlen(text), &override, 1, &err), 0);
	assert_string_equal(plan.tests[0].target, path);
	plan_destroy(&plan);
}

static void test_a_plain_override_is_checked(void **state)
{
	static const struct {
		const char *value, *message;
	} bad[] = {
	        {"", "--target: has no value"},
	        {"/a\nb", "--target: control character 0x0a in the value"},
	};
	static const char text[] = "tests: [{name: a, rw: read}]";

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		const struct plan_override override = {"target", bad[i].value, true, "--target"};
		struct plan plan;
		struct err err;

		assert_int_equal(plan_yaml_read(&plan, "p", text, strlen(text), &override, 1, &err),
		                 -1);
		assert_string_equal(err.text, bad[i].message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_bad_plans),
	        cmocka_unit_test(test_good_plans),
	        cmocka_unit_test(test_defaults),
	        cmocka_unit_test(test_byte_order_mark_and_line_ends),
	        cmocka_unit_test(test_limits),
	        cmocka_unit_test(test_nesting),
	        cmocka_unit_test(test_builtins),
	        cmocka_unit_test(test_nine),
	        cmocka_unit_test(test_override),
	        cmocka_unit_test(test_override_refused),
	        cmocka_unit_test(test_override_places),
	        cmocka_unit_test(test_load),
	        cmocka_unit_test(test_load_refused),
	        cmocka_unit_test(test_load_stdin),
	        cmocka_unit_test(test_rw),
	        cmocka_unit_test(test_a_plain_override_is_taken_as_it_stands),
	        cmocka_unit_test(test_a_plain_override_is_checked),
	        cmocka_unit_test(test_table),
	        cmocka_unit_test(test_first_row_takes_what_any_takes),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
