/* links: out/emit.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "out/emit.h"

static char *text;
static size_t size;
static struct emit emit;

static void start(bool indent)
{
	emit = (struct emit){.out = open_memstream(&text, &size), .indent = indent};
	assert_non_null(emit.out);
}

static void assert_written(const char *expected)
{
	fclose(emit.out);
	assert_string_equal(text, expected);
	assert_int_equal(emit.bytes, strlen(expected));
	free(text);
}

static void write_nested(void)
{
	emit_open(&emit, NULL, '{');
	emit_text(&emit, "a", "x");
	emit_open(&emit, "empty", '[');
	emit_close(&emit, ']');
	emit_open(&emit, "b", '{');
	emit_open_flat(&emit, "n");
	emit_uint(&emit, NULL, 1);
	emit_int(&emit, NULL, -2);
	emit_close(&emit, ']');
	emit_bool(&emit, "t", true);
	emit_null(&emit, "z");
	emit_close(&emit, '}');
	emit_bool(&emit, "f", false);
	emit_close(&emit, '}');
}

#define NESTED "{\"a\":\"x\",\"empty\":[],\"b\":{\"n\":[1,-2],\"t\":true,\"z\":null},\"f\":false}"

static void test_in_one_line(void **unused)
{
	(void)unused;
	start(false);
	write_nested();
	assert_written(NESTED);
}

static void test_indented(void **unused)
{
	(void)unused;
	start(true);
	write_nested();
	assert_written("{\n  \"a\": \"x\",\n  \"empty\": [],\n  \"b\": {\n    \"n\": [1, -2],\n"
	               "    \"t\": true,\n    \"z\": null\n  },\n  \"f\": false\n}");
}

static void test_counting_writes_nothing(void **unused)
{
	(void)unused;
	emit = (struct emit){.out = NULL};
	write_nested();
	assert_int_equal(emit.bytes, strlen(NESTED));
}

static void test_numbers(void **unused)
{
	(void)unused;
	start(false);
	emit_open(&emit, NULL, '[');
	emit_uint(&emit, NULL, 0);
	emit_uint(&emit, NULL, 1000000000000000);
	emit_uint(&emit, NULL, 9007199254740991);
	emit_uint(&emit, NULL, 9007199254740992);
	emit_uint(&emit, NULL, 9007199254740993);
	emit_uint(&emit, NULL, UINT64_MAX);
	emit_double(&emit, NULL, 0.1);
	emit_double(&emit, NULL, 33512.01666666666);
	emit_double(&emit, NULL, 1.0 / 3);
	emit_double(&emit, NULL, 4096);
	emit_double(&emit, NULL, -0.5);
	emit_double(&emit, NULL, NAN);
	emit_double(&emit, NULL, INFINITY);
	emit_double(&emit, NULL, -INFINITY);
	emit_close(&emit, ']');
	assert_written("[0,1000000000000000,9007199254740991,9007199254740992,"
	               "\"9007199254740993\",\"18446744073709551615\",0.1,33512.01666666666,"
	               "0.3333333333333333,4096,-0.5,null,null,null]");
}

/* What goes in, and what is left of it. */
static const struct {
	const char *in, *out;
} texts[] = {
        {"", ""},
        {"/mnt/data", "/mnt/data"},
        {"tab\there\nand there", "tab\there\nand there"},
        {"\"quoted\" \\ slash", "\"quoted\" \\ slash"},
        {"\x01\x1f\x7f\r\x1b[31m", "?????[31m"},
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
         "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"latin \xfc", "latin ?"},
        {"\x80\xbf", "??"},
        {"cut \xc3", "cut ?"},
        {"cut \xe2\x82", "cut ??"},
        {"cut \xf0\x9f\x98", "cut ???"},
        {"\xc3(", "?("},
        {"overlong \xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf", "overlong ?? ??? ????"},
        {"surrogate \xed\xa0\x80", "surrogate ???"},
        {"last \xed\x9f\xbf \xf4\x8f\xbf\xbf", "last \xed\x9f\xbf \xf4\x8f\xbf\xbf"},
        {"beyond \xf4\x90\x80\x80 \xf5\x80\x80\x80 \xff", "beyond ???? ???? ?"},
        {"c1 \xc2\x9b \xc2\xa0", "c1 ?? \xc2\xa0"},
};

static void test_texts_are_cleaned(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
		char buffer[128];

		snprintf(buffer, sizeof(buffer), "%s", texts[i].in);
		emit_clean(buffer);
		assert_string_equal(buffer, texts[i].out);
		emit_clean(buffer);
		assert_string_equal(buffer, texts[i].out);
	}
}

/* No byte of a text takes more than two, whatever it is: the bound of a result line. */
static void test_texts_at_most_double(void **unused)
{
	(void)unused;
	for (unsigned first = 1; first < 256; first++) {
		for (unsigned second = 1; second < 256; second++) {
			char in[] = {(char)first, (char)second, '\0'};

			emit = (struct emit){.out = NULL};
			emit_text(&emit, NULL, in);
			assert_true(emit.bytes <= 2 + 2 * 2);
		}
	}
}

static void test_escapes(void **unused)
{
	(void)unused;
	start(false);
	emit_text(&emit, NULL, "a\"b\\c\nd\te\x1b\xc3\xbc\xfc/");
	assert_written("\"a\\\"b\\\\c\\nd\\te?\xc3\xbc?/\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_in_one_line),
	        cmocka_unit_test(test_indented),
	        cmocka_unit_test(test_counting_writes_nothing),
	        cmocka_unit_test(test_numbers),
	        cmocka_unit_test(test_texts_are_cleaned),
	        cmocka_unit_test(test_texts_at_most_double),
	        cmocka_unit_test(test_escapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
