/* links: base/err.c */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

static void test_set(void **state)
{
	struct err err = {.errnum = 5};

	(void)state;
	assert_int_equal(err_set(&err, ERR_PLAN, "cannot %s '%s'", "read", "x"), -1);
	assert_string_equal(err.text, "cannot read 'x'");
	assert_int_equal(err.class, ERR_PLAN);
	assert_int_equal(err.errnum, 0);
}

static void test_sys(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(err_sys(&err, ERR_TARGET, EPERM, "cannot set up io_uring for '%s'", "/d"),
	                 -1);
	assert_string_equal(err.text, "cannot set up io_uring for '/d': Operation not permitted");
	assert_int_equal(err.class, ERR_TARGET);
	assert_int_equal(err.errnum, EPERM);

	err_sys(&err, ERR_TEST, 4711, "it broke");
	assert_string_equal(err.text, "it broke: errno 4711");
}

static void test_wrap_and_append(void **state)
{
	struct err err;

	(void)state;
	err_sys(&err, ERR_TARGET, ENOSPC, "cannot write");
	assert_int_equal(err_wrap(&err, "test '%s'", "a"), -1);
	assert_int_equal(err_append(&err, " (remedy: %d GiB more)", 3), -1);
	assert_string_equal(err.text,
	                    "test 'a': cannot write: No space left on device (remedy: 3 GiB more)");
	assert_int_equal(err.class, ERR_TARGET);
	assert_int_equal(err.errnum, ENOSPC);
}

/* The arguments may point into the text that is replaced. */
static void test_own_text(void **state)
{
	struct err err;

	(void)state;
	err_set(&err, ERR_TEST, "one");
	err_set(&err, ERR_TEST, "%s, %s", err.text, err.text);
	assert_string_equal(err.text, "one, one");
	err_wrap(&err, "%s", err.text);
	err_append(&err, " [%s]", err.text);
	assert_string_equal(err.text, "one, one: one, one [one, one: one, one]");
}

static void test_long_texts_are_cut(void **state)
{
	char longer[4 * ERR_TEXT_MAX];
	struct err err;

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	err_set(&err, ERR_TEST, "%s", longer);
	assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
	err_append(&err, "%s", longer);
	assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
	err_wrap(&err, "front");
	assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
	assert_memory_equal(err.text, "front: xxx", 10);
	err_sys(&err, ERR_TEST, EIO, "%s", longer);
	assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
	assert_int_equal(err.errnum, EIO);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(err_name(ENOSPC), "ENOSPC");
	assert_string_equal(err_name(EAGAIN), "EAGAIN");
	assert_string_equal(err_name(4711), "errno 4711");
	assert_string_equal(err_name(-5), "errno -5");
	assert_string_equal(err_name(0), "errno 0");
	assert_int_equal(err_number("EIO"), EIO);
	assert_int_equal(err_number("EREMOTEIO"), EREMOTEIO);
	assert_int_equal(err_number("eio"), 0);
	assert_int_equal(err_number(""), 0);
	assert_int_equal(err_number("errno 4711"), 0);
	assert_int_equal(err_number("errno 28"), 0);
	assert_int_equal(err_number("errno 0524"), 0);
	for (int errnum = 1; errnum <= 4095; errnum++)
		assert_int_equal(err_number(err_name(errnum)), errnum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_set),
	        cmocka_unit_test(test_sys),
	        cmocka_unit_test(test_wrap_and_append),
	        cmocka_unit_test(test_own_text),
	        cmocka_unit_test(test_long_texts_are_cut),
	        cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
