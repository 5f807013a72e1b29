/* links: result/words.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "result/words.h"

static void check(const struct words *words, bool counts, size_t size, const char *expected)
{
	char out[4096];

	words_join(words, counts, out, size);
	assert_string_equal(out, expected);
}

static void test_join(void **unused)
{
	struct words words = {0};

	(void)unused;
	check(&words, true, 64, "");
	words_add(&words, "psync");
	words_add(&words, "aio");
	words_add(&words, "psync");
	check(&words, false, 64, "aio, psync");
	check(&words, true, 64, "aio (1), psync (2)");
	check(&words, true, 16, "aio (1), ...");
	check(&words, true, 8, "...");
}

/* Those that come first in the alphabet are kept, with all their counts. */
static void test_limit(void **unused)
{
	struct words up = {0}, down = {0};
	char text[8];

	(void)unused;
	for (unsigned twice = 0; twice < 2; twice++)
		for (unsigned i = 0; i < 3 * WORDS_MAX; i++) {
			snprintf(text, sizeof(text), "%03u", i);
			words_add(&up, text);
			snprintf(text, sizeof(text), "%03u", 3 * WORDS_MAX - 1 - i);
			words_add(&down, text);
		}
	assert_memory_equal(&up, &down, sizeof(up));
	assert_int_equal(up.n, WORDS_MAX);
	assert_true(up.more);
	assert_string_equal(up.word[WORDS_MAX - 1].text, "015");
	assert_int_equal(up.word[WORDS_MAX - 1].n, 2);
}

static void test_long_texts(void **unused)
{
	struct words words = {0};
	char text[2 * RESULT_TEXT_MAX];

	(void)unused;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	words_add(&words, text);
	words_add(&words, text);
	assert_int_equal(words.n, 1);
	assert_int_equal(strlen(words.word[0].text), RESULT_TEXT_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_join),
	        cmocka_unit_test(test_limit),
	        cmocka_unit_test(test_long_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
