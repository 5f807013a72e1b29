/* links: base/base64.c */
#include "base/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Most of RFC 4648, section 10. */
static const struct {
	const char *bytes, *text;
} vectors[] = {
        {"", ""},
        {"f", "Zg=="},
        {"Ma", "TWE="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
};

static void test_vectors(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(vectors); i++) {
		size_t length = strlen(vectors[i].bytes), bytes = 99;
		char text[BASE64_SIZE(6)];
		unsigned char back[6];

		base64_encode(vectors[i].bytes, length, text);
		assert_string_equal(text, vectors[i].text);
		assert_true(base64_decode(text, back, sizeof(back), &bytes));
		assert_int_equal(bytes, length);
		assert_memory_equal(back, vectors[i].bytes, length);
	}
}

static void test_every_byte(void **state)
{
	unsigned char all[256], back[256];
	char text[BASE64_SIZE(sizeof(all))];
	size_t bytes;

	(void)state;
	for (unsigned i = 0; i < sizeof(all); i++)
		all[i] = (unsigned char)i;
	base64_encode(all, sizeof(all), text);
	assert_int_equal(strlen(text) + 1, sizeof(text));
	assert_true(base64_decode(text, back, sizeof(back), &bytes));
	assert_int_equal(bytes, sizeof(all));
	assert_memory_equal(back, all, sizeof(all));
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
	        "Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Z g=", "Zm9v\n", "Zm9-"};
	unsigned char out[16];
	size_t bytes;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++)
		assert_false(base64_decode(texts[i], out, sizeof(out), &bytes));
	assert_false(base64_decode("Zm9v", out, 2, &bytes));
	assert_true(base64_decode("Zm9v", out, 3, &bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_vectors),
	        cmocka_unit_test(test_every_byte),
	        cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
