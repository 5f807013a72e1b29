/* links: io/hmac.c */
#include "io/hmac.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* RFC 4231, test cases 2, 3 and 6. */
static void test_vectors(void **state)
{
	char text[HMAC_TEXT_SIZE];
	unsigned char mac[HMAC_BYTES], key[131], data[50];

	(void)state;
	hmac_text("Jefe", "what do ya want for nothing?", text);
	assert_string_equal(text,
	                    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	memset(data, 0xdd, sizeof(data));
	hmac_sha256(key, 20, data, sizeof(data), mac);
	assert_int_equal(mac[0], 0x77);
	assert_int_equal(mac[HMAC_BYTES - 1], 0xfe);
	hmac_sha256(key, sizeof(key), "Test Using Larger Than Block-Size Key - Hash Key First", 54,
	            mac);
	assert_int_equal(mac[0], 0x60);
	assert_int_equal(mac[HMAC_BYTES - 1], 0x54);
}

static void test_equal(void **state)
{
	(void)state;
	assert_true(hmac_equal("", ""));
	assert_true(hmac_equal("abc", "abc"));
	assert_false(hmac_equal("abc", "abd"));
	assert_false(hmac_equal("abc", "bbc"));
	assert_false(hmac_equal("abc", "ab"));
	assert_false(hmac_equal("", "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_vectors),
	        cmocka_unit_test(test_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
