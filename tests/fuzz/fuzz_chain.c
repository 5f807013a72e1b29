/* links: base/err.c kinds/chain.c */
/*
 * What a relay is sent, and what comes back to it: what is read keeps its bounds and can be passed
 * on, what is refused says so.
 */
#include <assert.h>
#include <string.h>

#include "kinds/chain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_hop(const struct chain_hop *hop)
{
	assert(hop->delay_ns <= CHAIN_DELAY_MAX);
	assert(hop->n_headers <= CHAIN_HEADERS_MAX);
	for (unsigned i = 0; i < hop->n_headers; i++)
		assert(hop->headers[i].name && hop->headers[i].value);
}

/* Who gets the rest reads it as the chain that it is. */
static void check_rest(const struct chain *chain)
{
	char *rest = chain_rest(chain);
	struct chain *again = NULL;
	struct err err;

	assert(rest && rest[0] == '[');
	if (chain_first(chain)->next_url && !chain_read(&again, rest, strlen(rest), &err))
		check_hop(chain_first(again));
	chain_free(again);
	free(rest);
}

/* The same as the answer that a client gets. */
static void check_answers(const char *text, size_t size)
{
	struct chain_answer answers[CHAIN_HOPS_MAX];
	struct err err;
	unsigned n;

	if (chain_read_answer(answers, &n, text, size, &err))
		return;
	assert(n && n <= CHAIN_HOPS_MAX);
	for (unsigned i = 0; i < n; i++)
		assert(strlen(answers[i].error) < CHAIN_ERROR_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct http_response next = {.status = 200, .body = text, .body_bytes = size};
	struct chain_report report = {.code = 200, .next = &next};
	struct chain *chain;
	struct err err;
	char *answer;

	check_answers(text, size);
	if (chain_read(&chain, text, size, &err)) {
		assert(err.class == ERR_TEST && strstr(err.text, "not a chain of hops: "));
		return 0;
	}
	check_hop(chain_first(chain));
	check_rest(chain);
	answer = chain_answer(chain, &report);
	assert(answer && answer[0] == '[');
	free(answer);
	chain_free(chain);
	return 0;
}
