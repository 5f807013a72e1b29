/* links: base/err.c base/field.c base/units.c */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/field.h"

struct thing {
	bool flag;
	uint64_t depth, bytes, wait_ns, free;
	int mode;
	char word[8];
	char letter;
};

static int parse_letter(void *slot, const char *text, struct err *err)
{
	if (strlen(text) != 1)
		return err_set(err, ERR_PLAN, "'%s' is not a letter", text);
	*(char *)slot = *text;
	return 0;
}

static const char *const modes[] = {"auto", "true|yes|on", "false|no|off", NULL};

static const struct field table[] = {
        {.name = "flag", .type = FIELD_BOOL, .offset = offsetof(struct thing, flag)},
        {.name = "iodepth",
         .type = FIELD_UINT,
         .offset = offsetof(struct thing, depth),
         .min = 1,
         .max = 4096,
         .default_text = "16"},
        {.name = "bs",
         .type = FIELD_SIZE,
         .offset = offsetof(struct thing, bytes),
         .min = 512,
         .max = GIB,
         .default_text = "4KiB"},
        {.name = "runtime",
         .type = FIELD_TIME,
         .offset = offsetof(struct thing, wait_ns),
         .min = 10 * NSEC_PER_MSEC,
         .max = 168 * 3600 * NSEC_PER_SEC,
         .default_text = "1.5s"},
        {.name = "seed",
         .type = FIELD_UINT,
         .offset = offsetof(struct thing, free),
         .max = UINT64_MAX},
        {.name = "mode",
         .type = FIELD_CHOICE,
         .offset = offsetof(struct thing, mode),
         .choices = modes,
         .default_text = "no"},
        {.name = "word",
         .type = FIELD_STRING,
         .offset = offsetof(struct thing, word),
         .size = sizeof(((struct thing *)0)->word),
         .default_text = "seven77"},
        {.name = "letter",
         .type = FIELD_CUSTOM,
         .offset = offsetof(struct thing, letter),
         .parse = parse_letter,
         .allowed = "A to Z",
         .default_text = "q"},
};

static const struct field *row(const char *name)
{
	const struct field *found = field_find(table, ARRAY_SIZE(table), name);

	assert_non_null(found);
	return found;
}

static struct thing set(const char *name, const char *text)
{
	struct thing thing = {0};
	struct err err;

	if (field_set(row(name), &thing, text, &err))
		fail_msg("%s: %s", name, err.text);
	return thing;
}

static void refuse(const char *name, const char *text, const char *message)
{
	struct thing thing, before;
	struct err err;

	memset(&thing, 0x5a, sizeof(thing));
	before = thing;
	assert_int_equal(field_set(row(name), &thing, text, &err), -1);
	assert_string_equal(err.text, message);
	assert_int_equal(err.class, ERR_PLAN);
	assert_memory_equal(&thing, &before, sizeof(thing));
}

static void test_values(void **state)
{
	(void)state;
	assert_true(set("flag", "true").flag);
	assert_true(set("flag", "1").flag);
	assert_true(set("flag", "On").flag);
	assert_false(set("flag", "off").flag);
	assert_int_equal(set("iodepth", "1").depth, 1);
	assert_int_equal(set("iodepth", "4096").depth, 4096);
	assert_int_equal(set("bs", "512").bytes, 512);
	assert_int_equal(set("bs", "1GiB").bytes, GIB);
	assert_int_equal(set("runtime", "10ms").wait_ns, 10 * NSEC_PER_MSEC);
	assert_int_equal(set("runtime", "2").wait_ns, 2 * NSEC_PER_SEC);
	assert_int_equal(set("seed", "18446744073709551615").free, UINT64_MAX);
	assert_int_equal(set("mode", "auto").mode, 0);
	assert_int_equal(set("mode", "on").mode, 1);
	assert_int_equal(set("mode", "FALSE").mode, 2);
	assert_string_equal(set("word", "1234567").word, "1234567");
	assert_int_equal(set("letter", "x").letter, 'x');
}

static void test_refused(void **state)
{
	(void)state;
	refuse("flag", "maybe", "'maybe' is neither true nor false (allowed: true, false)");
	refuse("flag", "", "'' is neither true nor false (allowed: true, false)");
	refuse("flag", "true|yes", "'true|yes' is neither true nor false (allowed: true, false)");
	refuse("iodepth", "0", "'0' is out of range (allowed: 1 to 4096)");
	refuse("iodepth", "4097", "'4097' is out of range (allowed: 1 to 4096)");
	refuse("iodepth", "four", "'four' is not a whole number (allowed: 1 to 4096)");
	refuse("iodepth", "-1", "'-1' is not a whole number (allowed: 1 to 4096)");
	refuse("seed", "x", "'x' is not a whole number (allowed: 0 or more)");
	refuse("bs", "4Q", "'4Q' is not a size (allowed: 512B to 1GiB, such as 4k, 4KiB, 1MB)");
	refuse("bs", "511", "'511' is out of range (allowed: 512B to 1GiB, such as 4k, 4KiB, 1MB)");
	refuse("runtime", "9ms",
	       "'9ms' is out of range (allowed: 10ms to 168h, such as 500ms, 10s, 2m)");
	refuse("runtime", "1d",
	       "'1d' is not a time (allowed: 10ms to 168h, such as 500ms, 10s, 2m)");
	refuse("mode", "aut", "'aut' is not known (allowed: auto, true, false)");
	refuse("mode", "", "'' is not known (allowed: auto, true, false)");
	refuse("mode", "true|yes", "'true|yes' is not known (allowed: auto, true, false)");
	refuse("word", "", "is empty (allowed: at most 7 bytes)");
	refuse("word", "12345678", "'12345678...' is too long (allowed: at most 7 bytes)");
	refuse("letter", "xy", "'xy' is not a letter (allowed: A to Z)");
}

static void test_defaults(void **state)
{
	struct thing thing = {.flag = true, .free = 5};

	(void)state;
	field_set_defaults(table, ARRAY_SIZE(table), &thing);
	assert_int_equal(thing.depth, 16);
	assert_int_equal(thing.bytes, 4096);
	assert_int_equal(thing.wait_ns, 1500 * NSEC_PER_MSEC);
	assert_int_equal(thing.mode, 2);
	assert_string_equal(thing.word, "seven77");
	assert_int_equal(thing.letter, 'q');
	/* without a default a member stays what it was */
	assert_true(thing.flag);
	assert_int_equal(thing.free, 5);
}

static void test_find(void **state)
{
	(void)state;
	assert_ptr_equal(row("bs"), &table[2]);
	assert_null(field_find(table, ARRAY_SIZE(table), "BS"));
	assert_null(field_find(table, ARRAY_SIZE(table), ""));
	assert_null(field_find(table, ARRAY_SIZE(table), "bsx"));
}

/* Rows of one name: the first is that of the name, each that of its kinds. */
static void test_find_of(void **state)
{
	static const struct field rows[] = {
	        {.name = "size", .kinds = "block probe"},
	        {.name = "size", .kinds = "files"},
	        {.name = "name"},
	};
	const size_t n = ARRAY_SIZE(rows);

	(void)state;
	assert_ptr_equal(field_find(rows, n, "size"), &rows[0]);
	assert_ptr_equal(field_find_of(rows, n, "size", "probe"), &rows[0]);
	assert_ptr_equal(field_find_of(rows, n, "size", "files"), &rows[1]);
	assert_ptr_equal(field_find_of(rows, n, "name", "files"), &rows[2]);
	assert_null(field_find_of(rows, n, "size", "file"));
}

static const char *nearest(const char *name)
{
	return field_nearest(table, ARRAY_SIZE(table), name);
}

static void test_nearest(void **state)
{
	char longest[200];

	(void)state;
	assert_string_equal(nearest("iodpeth"), "iodepth");
	assert_string_equal(nearest("IODepth"), "iodepth");
	assert_string_equal(nearest("iodeth"), "iodepth");
	assert_string_equal(nearest("run_time"), "runtime");
	assert_string_equal(nearest("runtimes"), "runtime");
	assert_string_equal(nearest("modes"), "mode");
	assert_null(nearest("blocksize"));
	assert_null(nearest("b"));
	assert_null(nearest("xs")); /* an edit is half of it */
	assert_null(nearest(""));
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_null(nearest(longest));
}

static void test_distance(void **state)
{
	(void)state;
	assert_int_equal(field_distance("same", "same"), 0);
	assert_int_equal(field_distance("sitting", "kitten"), 3);
	assert_int_equal(field_distance("abcdefgh", "abcdwxyz"), FIELD_TOO_FAR);
	assert_int_equal(field_distance("", ""), FIELD_TOO_FAR);
}

static void test_allowed(void **state)
{
	char out[64], small[6];

	(void)state;
	assert_string_equal(field_allowed(row("flag"), out, sizeof(out)), "true, false");
	assert_string_equal(field_allowed(row("seed"), out, sizeof(out)), "0 or more");
	assert_string_equal(field_allowed(row("runtime"), out, sizeof(out)), "10ms to 168h");
	assert_string_equal(field_allowed(row("mode"), out, sizeof(out)), "auto, true, false");
	assert_string_equal(field_allowed(row("letter"), out, sizeof(out)), "A to Z");
	assert_string_equal(field_allowed(row("mode"), small, sizeof(small)), "auto,");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_values),   cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_defaults), cmocka_unit_test(test_find),
	        cmocka_unit_test(test_find_of),  cmocka_unit_test(test_nearest),
	        cmocka_unit_test(test_distance), cmocka_unit_test(test_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
