/*
 * What comes from others is taken as text of any kind: sizes and numbers are bounded here, the
 * bytes of a body by who receives it.
 */
#include "kinds/chain.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

struct chain {
	cJSON *hops;    /* all of them, the first one included */
	cJSON *headers; /* of the next one, where they came as a text; else NULL */
	struct chain_hop first;
};

static int refuse(struct err *err, const char *what)
{
	return err_set(err, ERR_TEST, "not a chain of hops: %s", what);
}

/* ---- a request ---- */

static int add_headers(struct chain_hop *hop, const cJSON *headers, struct err *err)
{
	const cJSON *header;

	cJSON_ArrayForEach(header, headers)
	{
		if (!cJSON_IsString(header))
			return refuse(err, "a header's value is no text");
		if (hop->n_headers == CHAIN_HEADERS_MAX)
			return refuse(err, "more than 16 headers");
		hop->headers[hop->n_headers++] =
		        (struct http_header){header->string, header->valuestring};
	}
	return 0;
}

static bool has_content_type(const struct chain_hop *hop)
{
	for (unsigned i = 0; i < hop->n_headers; i++)
		if (!strcasecmp(hop->headers[i].name, "Content-Type"))
			return true;
	return false;
}

static int read_headers(struct chain *chain, const cJSON *next, struct err *err)
{
	const cJSON *headers = cJSON_GetObjectItemCaseSensitive(next, "headers");
	struct chain_hop *hop = &chain->first;

	if (cJSON_IsString(headers) && headers->valuestring[0]) {
		chain->headers = cJSON_Parse(headers->valuestring);
		headers = chain->headers;
		if (!cJSON_IsObject(headers))
			return refuse(err, "the text of headers is no JSON object");
	}
	if (cJSON_IsObject(headers) && add_headers(hop, headers, err))
		return -1;
	/* Without it the next hop would not know what it gets. */
	if (!has_content_type(hop) && hop->n_headers < CHAIN_HEADERS_MAX)
		hop->headers[hop->n_headers++] =
		        (struct http_header){"Content-Type", "application/json"};
	return 0;
}

static int read_next(struct chain *chain, struct err *err)
{
	const cJSON *next = cJSON_GetArrayItem(chain->hops, 1);
	const cJSON *url = cJSON_GetObjectItemCaseSensitive(next, "url");

	if (!next)
		return 0;
	if (!cJSON_IsString(url) || !url->valuestring[0])
		return refuse(err, "the next hop has no url");
	chain->first.next_url = url->valuestring;
	return read_headers(chain, next, err);
}

static uint64_t delay_of(const cJSON *hop)
{
	const cJSON *delay = cJSON_GetObjectItemCaseSensitive(hop, "delay");
	double ms = cJSON_IsNumber(delay) ? delay->valuedouble : 0;
	double most_ms = (double)(CHAIN_DELAY_MAX / NSEC_PER_MSEC);

	return ms > 0 ? (uint64_t)(fmin(ms, most_ms) * NSEC_PER_MSEC) : 0;
}

static int read_hops(struct chain *chain, struct err *err)
{
	int n = cJSON_GetArraySize(chain->hops);
	const cJSON *hop;

	if (!cJSON_IsArray(chain->hops))
		return refuse(err, "no JSON array");
	if (n < 1 || n > CHAIN_HOPS_MAX)
		return refuse(err, n ? "more than 16 hops" : "it is empty");
	cJSON_ArrayForEach(hop, chain->hops)
	{
		if (!cJSON_IsObject(hop))
			return refuse(err, "a hop is no object");
	}
	chain->first.delay_ns = delay_of(chain->hops->child);
	return read_next(chain, err);
}

int chain_read(struct chain **out, const char *text, size_t bytes, struct err *err)
{
	struct chain *chain = calloc(1, sizeof(*chain));

	if (!chain)
		return refuse(err, "out of memory");
	chain->hops = cJSON_ParseWithLength(text, bytes);
	if (!chain->hops || read_hops(chain, err)) {
		if (!chain->hops)
			refuse(err, "no JSON");
		chain_free(chain);
		return -1;
	}
	*out = chain;
	return 0;
}

void chain_free(struct chain *chain)
{
	if (!chain)
		return;
	cJSON_Delete(chain->hops);
	cJSON_Delete(chain->headers);
	free(chain);
}

const struct chain_hop *chain_first(const struct chain *chain)
{
	return &chain->first;
}

char *chain_rest(const struct chain *chain)
{
	cJSON *rest = cJSON_Duplicate(chain->hops, true);
	char *text = NULL;

	cJSON_DeleteItemFromArray(rest, 0);
	if (rest)
		text = cJSON_PrintUnformatted(rest);
	cJSON_Delete(rest);
	return text;
}

/* ---- an answer ---- */

static const char *const phase_keys[HTTP_PHASES] = {
        [HTTP_DNS] = "dns",   [HTTP_TCP] = "tcp",         [HTTP_TLS] = "tls",
        [HTTP_WAIT] = "wait", [HTTP_RECEIVE] = "receive", [HTTP_TOTAL] = "total",
};

static void add_call(cJSON *own, const struct http_response *next)
{
	cJSON *us = cJSON_AddObjectToObject(own, "next_us");

	for (unsigned phase = 0; phase < HTTP_PHASES; phase++)
		cJSON_AddNumberToObject(us, phase_keys[phase],
		                        (double)(next->phase_ns[phase] / NSEC_PER_USEC));
	cJSON_AddNumberToObject(us, "new_connections", next->new_connections);
}

/* What the next hop answered; NULL: no array of hops. */
static cJSON *answer_of_next(const struct chain_report *report)
{
	const struct http_response *next = report->next;
	cJSON *answer =
	        next && next->body ? cJSON_ParseWithLength(next->body, next->body_bytes) : NULL;

	if (cJSON_IsArray(answer) && cJSON_GetArraySize(answer) < CHAIN_HOPS_MAX)
		return answer;
	cJSON_Delete(answer);
	return NULL;
}

static cJSON *describe(const struct chain *chain, const struct chain_report *report,
                       const char *error)
{
	const cJSON *hop = chain->hops->child;
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(hop, "id");
	const cJSON *url = cJSON_GetObjectItemCaseSensitive(hop, "url");
	const struct http_response *next = report->next;
	cJSON *own = cJSON_CreateObject();

	if (cJSON_IsNumber(id) || cJSON_IsString(id))
		cJSON_AddItemToObject(own, "id", cJSON_Duplicate(id, false));
	if (cJSON_IsString(url))
		cJSON_AddStringToObject(own, "url", url->valuestring);
	cJSON_AddNumberToObject(own, "code", report->code);
	cJSON_AddNumberToObject(own, "resCode", next ? next->status : report->code);
	cJSON_AddNumberToObject(own, "elapsed", (double)(report->elapsed_ns / NSEC_PER_MSEC));
	cJSON_AddNumberToObject(own, "elapsed_us", (double)(report->elapsed_ns / NSEC_PER_USEC));
	if (error)
		cJSON_AddStringToObject(own, "error", error);
	if (next)
		add_call(own, next);
	return own;
}

char *chain_answer(const struct chain *chain, const struct chain_report *report)
{
	cJSON *answer = answer_of_next(report);
	const char *error = report->error;
	char *text = NULL;

	if (!error && report->next && !answer)
		error = "the next hop's answer is no array of hops";
	if (!answer)
		answer = cJSON_CreateArray();
	cJSON_InsertItemInArray(answer, 0, describe(chain, report, error));
	if (answer)
		text = cJSON_PrintUnformatted(answer);
	cJSON_Delete(answer);
	return text;
}
