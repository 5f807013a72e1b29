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

/* ---- the client ---- */

#define ELAPSED_MAX_US 1e12 /* eleven days; what is more, or no number, was not measured */

static bool add_step_headers(cJSON *hop, const struct chain_step *step)
{
	cJSON *headers = cJSON_CreateObject();
	char *text = NULL;
	bool added;

	for (unsigned i = 0; i < step->n_headers; i++)
		cJSON_AddStringToObject(headers, step->headers[i].name, step->headers[i].value);
	if (!cJSON_HasObjectItem(headers, "Content-Type"))
		cJSON_AddStringToObject(headers, "Content-Type", "application/json");
	text = headers ? cJSON_PrintUnformatted(headers) : NULL;
	added = text && cJSON_AddStringToObject(hop, "headers", text);
	free(text);
	cJSON_Delete(headers);
	return added;
}

/* apicalls and lognums are choi's, which calls and logs nothing beside the chain then. */
static bool add_step(cJSON *hops, unsigned i, const struct chain_step *step)
{
	cJSON *hop = cJSON_CreateObject();

	if (!cJSON_AddItemToArray(hops, hop)) {
		cJSON_Delete(hop);
		return false;
	}
	return cJSON_AddNumberToObject(hop, "id", i + 1) &&
	       cJSON_AddStringToObject(hop, "url", step->url) &&
	       cJSON_AddNumberToObject(hop, "apicalls", 0) &&
	       cJSON_AddNumberToObject(hop, "lognums", 0) && add_step_headers(hop, step);
}

/* In the last hop, so that it goes all the way. */
static bool add_bytes(cJSON *hops, unsigned n, size_t bytes)
{
	char *filler = malloc(bytes + 1);
	bool added;

	if (!filler)
		return false;
	memset(filler, 'x', bytes);
	filler[bytes] = '\0';
	added = cJSON_AddStringToObject(cJSON_GetArrayItem(hops, (int)n - 1), "filler", filler);
	free(filler);
	return added;
}

char *chain_request(const struct chain_step *steps, unsigned n, size_t more_bytes)
{
	cJSON *hops = cJSON_CreateArray();
	bool whole = hops != NULL;
	char *text = NULL;

	for (unsigned i = 0; i < n && whole; i++)
		whole = add_step(hops, i, &steps[i]);
	if (whole && (!more_bytes || add_bytes(hops, n, more_bytes)))
		text = cJSON_PrintUnformatted(hops);
	cJSON_Delete(hops);
	return text;
}

/* A time in units of unit_ns; false where the member is no time. */
static bool read_time(const cJSON *object, const char *key, uint64_t unit_ns, uint64_t *ns)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	if (!cJSON_IsNumber(item) ||
	    !(item->valuedouble >= 0 && item->valuedouble < ELAPSED_MAX_US))
		return false;
	*ns = (uint64_t)(item->valuedouble * (double)unit_ns);
	return true;
}

static int read_code(const cJSON *hop, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(hop, key);

	return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 1000
	               ? (int)item->valuedouble
	               : 0;
}

static void read_call(const cJSON *hop, struct chain_answer *answer)
{
	const cJSON *us = cJSON_GetObjectItemCaseSensitive(hop, "next_us");
	uint64_t connections = 0;

	answer->knows_next = true;
	for (unsigned phase = 0; phase < HTTP_PHASES; phase++)
		if (!read_time(us, phase_keys[phase], NSEC_PER_USEC, &answer->next_ns[phase]))
			answer->knows_next = false;
	read_time(us, "new_connections", 1, &connections);
	answer->new_connections = (unsigned)min_u64(connections, UINT16_MAX);
}

static int read_one(const cJSON *hop, struct chain_answer *answer, struct err *err)
{
	const cJSON *error = cJSON_GetObjectItemCaseSensitive(hop, "error");

	*answer = (struct chain_answer){
	        .code = read_code(hop, "code"),
	        .next_code = read_code(hop, "resCode"),
	};
	if (!read_time(hop, "elapsed_us", NSEC_PER_USEC, &answer->elapsed_ns) &&
	    !read_time(hop, "elapsed", NSEC_PER_MSEC, &answer->elapsed_ns))
		return err_set(err, ERR_TEST, "a hop does not say how long it took");
	read_call(hop, answer);
	if (cJSON_IsString(error))
		snprintf(answer->error, sizeof(answer->error), "%s", error->valuestring);
	else if (cJSON_IsTrue(error) || cJSON_IsObject(error))
		snprintf(answer->error, sizeof(answer->error), "it says no more than 'error'");
	return 0;
}

int chain_read_answer(struct chain_answer out[CHAIN_HOPS_MAX], unsigned *n, const char *text,
                      size_t bytes, struct err *err)
{
	cJSON *hops = cJSON_ParseWithLength(text, bytes);
	const cJSON *hop;
	int ret = -1;

	*n = 0;
	if (!cJSON_IsArray(hops) || !cJSON_GetArraySize(hops) ||
	    cJSON_GetArraySize(hops) > CHAIN_HOPS_MAX) {
		err_set(err, ERR_TEST, "the answer is no array of hops");
		goto out;
	}
	cJSON_ArrayForEach(hop, hops)
	{
		if (read_one(hop, &out[*n], err))
			goto out;
		++*n;
	}
	ret = 0;
out:
	cJSON_Delete(hops);
	return ret;
}
