/* links: io/retry.c */
#include "io/retry.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define S NSEC_PER_SEC

static void test_what_is_tried_again(void **state)
{
	static const struct {
		enum http_outcome outcome;
		int status;
		bool retry;
	} cases[] = {
	        {HTTP_UNRESOLVED, 0, true},  {HTTP_UNREACHABLE, 0, true},
	        {HTTP_TLS_FAILED, 0, true},  {HTTP_TIMED_OUT, 0, true},
	        {HTTP_BROKEN, 0, true},      {HTTP_REFUSED, 0, false},
	        {HTTP_UNTRUSTED, 0, false},  {HTTP_CANCELLED, 0, false},
	        {HTTP_ANSWERED, 200, false}, {HTTP_ANSWERED, 302, false},
	        {HTTP_ANSWERED, 400, false}, {HTTP_ANSWERED, 401, false},
	        {HTTP_ANSWERED, 404, false}, {HTTP_ANSWERED, 408, true},
	        {HTTP_ANSWERED, 413, false}, {HTTP_ANSWERED, 429, true},
	        {HTTP_ANSWERED, 500, true},  {HTTP_ANSWERED, 501, false},
	        {HTTP_ANSWERED, 503, true},  {HTTP_TOO_LARGE, 400, false},
	        {HTTP_TOO_LARGE, 502, true},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct http_response response = {.outcome = cases[i].outcome,
		                                 .status = cases[i].status};

		if (retry_may_help(&response) != cases[i].retry)
			fail_msg("outcome %d, status %d", response.outcome, response.status);
	}
}

static void test_pauses(void **state)
{
	(void)state;
	assert_int_equal(retry_pause_ns(1, 0, 0.4), S);
	assert_int_equal(retry_pause_ns(1, 0, 0), S * 8 / 10);
	assert_int_equal(retry_pause_ns(1, 0, 1), S * 13 / 10);
	assert_int_equal(retry_pause_ns(3, 0, 0.4), 4 * S);
	assert_int_equal(retry_pause_ns(20, 0, 1), 30 * S);
	assert_int_equal(retry_pause_ns(1, 120 * S, 1), 120 * S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_what_is_tried_again),
	        cmocka_unit_test(test_pauses),
	};

	return cmocka_run_group_tests_name("retry", tests, NULL, NULL);
}
