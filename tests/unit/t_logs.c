/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c measure/student.c
 * out/emit.c out/figures.c out/json.c out/json_conditions.c out/json_derived.c out/json_hops.c
 * out/json_table.c out/json_test.c out/logs.c out/member.c plan/expect.c plan/plan.c
 * plan/published.c result/entities.c result/hops.c result/knee.c result/repeats.c result/result.c
 * result/search.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "out/json.h"
#include "out/logs.h"

#define EMPTY "{\"schema\":\"pvcbench.result/1\",\"run\":{},\"conditions\":{},\"tests\":[]}"

static char events[4096];

static int found(void *arg, struct result *result, const char *pod, const char *place,
                 struct err *err)
{
	size_t used = strlen(events);

	(void)arg;
	snprintf(events + used, sizeof(events) - used, "%s %s%s;", place, pod ? pod : "-",
	         result->interrupted ? " interrupted" : "");
	return strcmp(place, "log:99") ? 0 : err_set(err, ERR_PLAN, "stop");
}

static void damaged(void *arg, const char *text)
{
	size_t used = strlen(events);

	(void)arg;
	snprintf(events + used, sizeof(events) - used, "[%s]", text);
}

static int read_log(char *text, size_t size, struct err *err)
{
	const struct logs_reader reader = {.found = found, .damaged = damaged};
	FILE *in = fmemopen(text, size, "r");
	int ret;

	assert_non_null(in);
	events[0] = '\0';
	ret = logs_read(in, "log", &reader, err);
	fclose(in);
	return ret;
}

static void expect(const char *log, const char *expected)
{
	char *copy = strdup(log);
	struct err err;

	assert_int_equal(read_log(copy, strlen(copy), &err), 0);
	assert_string_equal(events, expected);
	free(copy);
}

static void test_prefixes(void **unused)
{
	(void)unused;
	expect("noise\n" RESULT_LINE_PREFIX EMPTY "\n", "log:2 -;");
	expect("[pod/one-0/pvcbench] " RESULT_LINE_PREFIX EMPTY "\n", "log:1 one-0;");
	expect("[pod/one-0/pvcbench] 2024-12-01T04:00:00.5Z " RESULT_LINE_PREFIX EMPTY,
	       "log:1 one-0;");
	expect("2024-12-01T04:00:00.5Z " RESULT_LINE_PREFIX EMPTY, "log:1 -;");
	expect("one-0  | " RESULT_LINE_PREFIX EMPTY "\r\n", "log:1 one-0;");
	expect("no " RESULT_LINE_PREFIX "yet\n",
	       "[log: no result in it (no document, and no line 'pvcbench-result: {...')]");
}

static void test_documents(void **unused)
{
	(void)unused;
	expect(EMPTY, "log:1 -;");
	expect(EMPTY EMPTY "\n\n" EMPTY "\n", "log:1 -;log:1 -;log:3 -;");
	expect("noise\n{\n" /* as json_write begins one */
	       "  \"schema\":\"pvcbench.result/1\",\"run\":{},\"conditions\":{},\n"
	       "  \"interrupted\":true,\"tests\":[]\n}\nnoise\n" RESULT_LINE_PREFIX EMPTY "\n",
	       "log:2 - interrupted;log:7 -;");
	expect("{\"a\": \"}\\\"{\", \"b\": [1]}\n", "[log:1: has no member 'schema']");
}

/* What is cut off does not swallow what follows. */
static void test_cut_documents(void **unused)
{
	(void)unused;
	expect("{\n  \"schema\":\"pvcb", "[log:1: a result document that is cut off: not read]");
	expect("{\n  \"schema\":\"pvcb\n{\n" /* a string that is open does not matter */
	       "  \"schema\":\"pvcbench.result/1\",\"run\":{},\"conditions\":{},\"tests\":[]}\n",
	       "[log:1: a result document that is cut off: not read]log:3 -;");
}

static void test_cut_lines(void **unused)
{
	(void)unused;
	expect("[pod/a/b] " RESULT_LINE_PREFIX "{\"schema\":\n[pod/a/b] more\n",
	       "[log:1: a result line of a is cut off after 27 bytes: not read]");
	expect(RESULT_LINE_PREFIX "{\"schema\"}\n" RESULT_LINE_PREFIX EMPTY "\n",
	       "[log:1: no JSON: damaged at byte 9 of 10]log:2 -;");
}

/* Parts of 16 KiB each, the prefix before every one of them. */
static void test_parts(void **unused)
{
	static char log[200000], whole[50000];
	size_t n = 0, used = 0;
	struct err err;

	(void)unused;
	n = (size_t)snprintf(whole, sizeof(whole), RESULT_LINE_PREFIX "%s%40000s%s",
	                     "{\"schema\":\"pvcbench.result/1\",\"run\":{},", "",
	                     "\"conditions\":{},\"tests\":[]}");
	for (unsigned pod = 0; pod < 2; pod++)
		for (size_t at = 0; at < n; at += 16384)
			used += (size_t)snprintf(log + used, sizeof(log) - used,
			                         "[pod/p%u/c] %.16384s\n", pod, whole + at);
	assert_int_equal(read_log(log, used, &err), 0);
	assert_string_equal(events, "log:1 p0;log:4 p1;");
}

static void test_long_lines(void **unused)
{
	size_t size = MIB + 200;
	char *log = calloc(1, size);
	struct err err;

	(void)unused;
	memset(log, 'x', size);
	memcpy(log, RESULT_LINE_PREFIX "{", strlen(RESULT_LINE_PREFIX) + 1);
	memcpy(log + MIB, "\n" RESULT_LINE_PREFIX EMPTY "\n",
	       strlen("\n" RESULT_LINE_PREFIX EMPTY "\n"));
	assert_int_equal(read_log(log, size, &err), 0);
	assert_string_equal(events,
	                    "[log:1: a line longer than any result line: not read]log:2 -;");
	free(log);
}

/* Bytes that are none of a text, and a reader that has enough. */
static void test_binary(void **unused)
{
	char log[] = "\0\0\n\033[2J \0 " RESULT_LINE_PREFIX EMPTY "\n";
	struct err err;

	(void)unused;
	assert_int_equal(read_log(log, sizeof(log) - 1, &err), 0);
	assert_string_equal(events, "log:2 ?[2J;");
	assert_null(strchr(events, '\033'));
}

static void test_stop(void **unused)
{
	char log[512] = "";
	struct err err;

	(void)unused;
	memset(log, '\n', 98);
	strcat(log, RESULT_LINE_PREFIX EMPTY "\n" RESULT_LINE_PREFIX EMPTY "\n");
	assert_int_equal(read_log(log, strlen(log), &err), -1);
	assert_string_equal(err.text, "stop");
	assert_string_equal(events, "log:99 -;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_prefixes),      cmocka_unit_test(test_documents),
	        cmocka_unit_test(test_cut_documents), cmocka_unit_test(test_cut_lines),
	        cmocka_unit_test(test_parts),         cmocka_unit_test(test_long_lines),
	        cmocka_unit_test(test_binary),        cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
