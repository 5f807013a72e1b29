/* links: base/err.c kinds/chain.c out/emit.c out/member.c */
/*
 * Chains as they travel, and what others may send in their place.
 */
#include "kinds/chain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "out/member.h"

static struct chain *chain;
static struct err err;

static int tear_down(void **state)
{
	(void)state;
	chain_free(chain);
	chain = NULL;
	return 0;
}

static void read_ok(const char *text)
{
	if (chain_read(&chain, text, strlen(text), &err))
		fail_msg("%s", err.text);
}

static void assert_refused(const char *text, const char *why)
{
	assert_int_equal(chain_read(&chain, text, strlen(text), &err), -1);
	assert_int_equal(err.class, ERR_TEST);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	chain = NULL;
}

static void test_the_next_hop(void **state)
{
	const struct chain_hop *hop;
	char *rest;

	(void)state;
	read_ok("[{\"id\":1,\"url\":\"http://a/\",\"delay\":1.5},"
	        "{\"id\":2,\"url\":\"http://b/x\",\"apicalls\":0,"
	        "\"headers\":\"{\\\"dapr-app-id\\\":\\\"b\\\"}\"},{\"id\":3,\"url\":\"http://c/"
	        "\"}]");
	hop = chain_first(chain);
	assert_int_equal(hop->delay_ns, 1500000);
	assert_string_equal(hop->next_url, "http://b/x");
	assert_int_equal(hop->n_headers, 2);
	assert_string_equal(hop->headers[0].name, "dapr-app-id");
	assert_string_equal(hop->headers[0].value, "b");
	assert_string_equal(hop->headers[1].value, "application/json");
	rest = chain_rest(chain);
	assert_string_equal(rest, "[{\"id\":2,\"url\":\"http://b/x\",\"apicalls\":0,"
	                          "\"headers\":\"{\\\"dapr-app-id\\\":\\\"b\\\"}\"},"
	                          "{\"id\":3,\"url\":\"http://c/\"}]");
	free(rest);
}

/* An object is as good as its text, and a type that is given is not given again. */
static void test_headers_as_an_object(void **state)
{
	const struct chain_hop *hop;

	(void)state;
	read_ok("[{}, {\"url\":\"http://b/\",\"headers\":{\"content-type\":\"text/json\"}}]");
	hop = chain_first(chain);
	assert_int_equal(hop->n_headers, 1);
	assert_string_equal(hop->headers[0].value, "text/json");
}

static void test_the_last_hop(void **state)
{
	const struct chain_report report = {.code = 200, .elapsed_ns = 2345678};
	char *answer;

	(void)state;
	read_ok("[{\"id\":\"x\",\"url\":\"http://a/\"}]");
	assert_null(chain_first(chain)->next_url);
	assert_int_equal(chain_first(chain)->delay_ns, 0);
	answer = chain_answer(chain, &report);
	assert_string_equal(answer, "[{\"id\":\"x\",\"url\":\"http://a/\",\"code\":200,"
	                            "\"resCode\":200,\"elapsed\":2,\"elapsed_us\":2345}]");
	free(answer);
}

static void assert_answer(struct http_response next, const char *error, const char *want)
{
	const struct chain_report report = {.code = 200, .error = error, .next = &next};
	char *answer;

	next.body_bytes = next.body ? strlen(next.body) : 0;
	answer = chain_answer(chain, &report);
	if (!strstr(answer, want))
		fail_msg("'%s' does not have '%s'", answer, want);
	free(answer);
}

static void test_what_comes_back(void **state)
{
	(void)state;
	read_ok("[{\"id\":1},{\"id\":2,\"url\":\"http://b/\"}]");
	assert_answer((struct http_response){.status = 200,
	                                     .body = "[{\"id\":2,\"their\":1}]",
	                                     .phase_ns = {[HTTP_TOTAL] = 7000},
	                                     .new_connections = 1},
	              NULL,
	              "\"next_us\":{\"dns\":0,\"tcp\":0,\"tls\":0,\"wait\":0,\"receive\":0,"
	              "\"total\":7,\"new_connections\":1}},{\"id\":2,\"their\":1}]");
	assert_answer((struct http_response){.status = 200, .body = "<html>"}, NULL,
	              "\"error\":\"the next hop's answer is no array of hops\"");
	assert_answer((struct http_response){.status = 200, .body = "{\"id\":2}"}, NULL,
	              "\"error\":\"the next hop's answer is no array of hops\"");
	assert_answer((struct http_response){.status = 0}, "it is down",
	              "\"resCode\":0,\"elapsed\":0,\"elapsed_us\":0,\"error\":\"it is down\"");
}

static void test_what_is_no_chain(void **state)
{
	char many[CHAIN_HOPS_MAX * 3 + 8] = "[{}";

	(void)state;
	assert_refused("", "no JSON");
	assert_refused("[", "no JSON");
	assert_refused("{}", "no JSON array");
	assert_refused("7", "no JSON array");
	assert_refused("[]", "it is empty");
	assert_refused("[1]", "a hop is no object");
	assert_refused("[{},{}]", "the next hop has no url");
	assert_refused("[{},{\"url\":7}]", "the next hop has no url");
	assert_refused("[{},{\"url\":\"http://b/\",\"headers\":\"x\"}]", "no JSON object");
	assert_refused("[{},{\"url\":\"http://b/\",\"headers\":{\"a\":1}}]", "value is no text");
	for (unsigned i = 0; i < CHAIN_HOPS_MAX; i++)
		strcat(many, ",{}");
	strcat(many, "]");
	assert_refused(many, "more than 16 hops");
}

static void test_delays_are_bounded(void **state)
{
	(void)state;
	read_ok("[{\"delay\":1e300}]");
	assert_int_equal(chain_first(chain)->delay_ns, CHAIN_DELAY_MAX);
	chain_free(chain);
	read_ok("[{\"delay\":-5}]");
	assert_int_equal(chain_first(chain)->delay_ns, 0);
	chain_free(chain);
	read_ok("[{\"delay\":\"5\"}]");
	assert_int_equal(chain_first(chain)->delay_ns, 0);
}

static void test_what_a_client_sends(void **state)
{
	const struct http_header headers[] = {{"dapr-app-id", "b"}, {"content-type", "text/json"}};
	const struct chain_step steps[] = {{"http://a/", NULL, 0}, {"http://b/", headers, 2}};
	const struct chain_hop *hop;
	char *body = chain_request(steps, 2, 1000);

	(void)state;
	assert_non_null(body);
	assert_in_range(strlen(body), 1000, 1400);
	read_ok(body);
	hop = chain_first(chain);
	assert_string_equal(hop->next_url, "http://b/");
	assert_int_equal(hop->n_headers, 2);
	assert_string_equal(hop->headers[0].name, "dapr-app-id");
	assert_string_equal(hop->headers[1].value, "text/json");
	free(body);
}

/* One of ours, one of choi, which counts in ms and does not tell of its call. */
static void test_what_a_client_gets(void **state)
{
	static const char text[] =
	        "[{\"code\":200,\"resCode\":200,\"elapsed\":0,\"elapsed_us\":512,"
	        "\"next_us\":{\"dns\":1,\"tcp\":2,\"tls\":0,\"wait\":4,\"receive\":5,"
	        "\"total\":300,\"new_connections\":1}},"
	        "{\"code\":200,\"resCode\":0,\"elapsed\":3,\"error\":\"gone\"}]";
	struct chain_answer answers[CHAIN_HOPS_MAX];
	unsigned n;

	(void)state;
	if (chain_read_answer(answers, &n, text, strlen(text), &err))
		fail_msg("%s", err.text);
	assert_int_equal(n, 2);
	assert_int_equal(answers[0].elapsed_ns, 512000);
	assert_true(answers[0].knows_next);
	assert_int_equal(answers[0].next_ns[HTTP_TCP], 2000);
	assert_int_equal(answers[0].next_ns[HTTP_TOTAL], 300000);
	assert_int_equal(answers[0].new_connections, 1);
	assert_string_equal(answers[0].error, "");
	assert_int_equal(answers[1].elapsed_ns, 3000000);
	assert_false(answers[1].knows_next);
	assert_string_equal(answers[1].error, "gone");
}

static void test_what_is_no_answer(void **state)
{
	static const char *const texts[] = {
	        "",
	        "{}",
	        "[]",
	        "[1]",
	        "[{}]",
	        "[{\"elapsed\":-1}]",
	        "[{\"elapsed\":1e300}]",
	        "[{\"elapsed\":\"5\"}]",
	        "[{\"elapsed\":1},{\"elapsed\":1},{\"elapsed\":1},{\"elapsed\":1},{\"elapsed\":1},"
	        "{\"elapsed\":1},{\"elapsed\":1},{\"elapsed\":1},{\"elapsed\":1},{\"elapsed\":1},"
	        "{\"elapsed\":1},{\"elapsed\":1},{\"elapsed\":1},{\"elapsed\":1},{\"elapsed\":1},"
	        "{\"elapsed\":1},{\"elapsed\":1}]"};
	struct chain_answer answers[CHAIN_HOPS_MAX];
	unsigned n;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(chain_read_answer(answers, &n, texts[i], strlen(texts[i]), &err),
		                 -1);
}

/* Documents are read with cJSON too, into memory of their own kind. */
static void test_a_document_was_read_before(void **state)
{
	static const struct member none[] = {{0}};
	const struct chain_step step = {"http://a/", NULL, 0};
	int object = 0;

	(void)state;
	for (int i = 0; i < 2; i++) {
		char *body;

		assert_int_equal(member_read_text("{\"a\":[1,2]}", 11, none, &object, &err), 0);
		body = chain_request(&step, 1, 0);
		assert_non_null(body);
		read_ok(body);
		free(body);
		chain_free(chain);
		chain = NULL;
	}
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_the_next_hop),        TEST(test_headers_as_an_object),
	        TEST(test_the_last_hop),        TEST(test_what_comes_back),
	        TEST(test_what_is_no_chain),    TEST(test_delays_are_bounded),
	        TEST(test_what_a_client_sends), TEST(test_what_a_client_gets),
	        TEST(test_what_is_no_answer),   TEST(test_a_document_was_read_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
