/*
 * The service answers 503 (ServerBusy) or 500 (OperationTimedOut) above its limits, and the same
 * within a batch's answer of status 202: an operation's status is judged as that of a request.
 *
 * A request may have been done although it failed: where its answer was lost, or the service ran
 * out of time over it. Whoever sends it again may then find nothing to do.
 */
#include "kinds/table_call.h"

#include <string.h>

#include "base/units.h"
#include "io/retry.h"

#define API_VERSION "2019-02-02"
#define HEADERS_MAX 9
#define SLICE_NS    (50 * NSEC_PER_MSEC)
#define SKEW_MAX_S  (15 * 60) /* a request that is older is refused */

int table_client_init(struct table_client *client, const struct table_service *service,
                      bool measured, struct err *err)
{
	memset(client, 0, sizeof(*client));
	client->service = service;
	client->http = http_new(err);
	if (!client->http)
		return -1;
	if (measured)
		client->stats = stats_new();
	if (measured && !client->stats)
		return err_set(err, ERR_TEST, "out of memory for statistics");
	return 0;
}

void table_client_destroy(struct table_client *client)
{
	http_free(client->http);
	stats_free(client->stats);
	client->http = NULL;
	client->stats = NULL;
}

const char *table_header(struct table_client *client, const char *name)
{
	return http_header(client->http, name);
}

bool table_is_absent(const struct table_reply *reply)
{
	return reply->status == 404 && !strcmp(reply->code, "ResourceNotFound");
}

static bool is_stopped(void *arg)
{
	const struct table_service *service = arg;

	return atomic_load(service->stop) || (service->given_up && atomic_load(service->given_up));
}

/* ---- sending ---- */

/* "/account/t01()" of the URL. */
static size_t path_of(const char *url, const char **path)
{
	const char *host = strstr(url, "://");

	*path = host ? strchr(host + 3, '/') : NULL;
	if (!*path)
		*path = url + strlen(url);
	return strcspn(*path, "?");
}

static void add_sas(const struct azure *azure, const char *url, struct wire *out)
{
	wire_append(out, "%s%c%s", url, strchr(url, '?') ? '&' : '?', azure->sas);
}

static unsigned add_headers(const struct table_request *request, const char *date,
                            const char *authorization, struct http_header *out)
{
	const struct http_header all[HEADERS_MAX] = {
	        {"x-ms-date", date},
	        {"x-ms-version", API_VERSION},
	        {"Accept", "application/json;odata=nometadata"},
	        {"DataServiceVersion", "3.0"},
	        {"MaxDataServiceVersion", "3.0;NetFx"},
	        {"Authorization", authorization},
	        {"Content-Type", request->type},
	        {"Prefer", request->type ? "return-no-content" : NULL},
	        {"If-Match", request->any_version ? "*" : NULL},
	};
	unsigned n = 0;

	for (unsigned i = 0; i < HEADERS_MAX; i++)
		if (all[i].value)
			out[n++] = all[i];
	return n;
}

static int send_once(struct table_client *client, const struct table_request *request,
                     struct http_response *response, struct err *err)
{
	const struct table_service *service = client->service;
	char date[AZURE_DATE_SIZE], authorization[AZURE_AUTHORIZATION_MAX];
	char url[TABLE_URL_MAX + AZURE_SAS_MAX];
	struct wire whole = wire_of(url, sizeof(url));
	struct http_header headers[HEADERS_MAX];
	const char *path;
	size_t path_bytes = path_of(request->url, &path);
	bool by_key = service->azure.key_bytes;

	azure_date(time(NULL), date);
	if (by_key)
		azure_sign(&service->azure, path, path_bytes, date, authorization);
	else
		add_sas(&service->azure, request->url, &whole);
	return http_send(client->http,
	                 &(struct http_request){
	                         .method = request->method,
	                         .url = by_key ? request->url : url,
	                         .headers = headers,
	                         .n_headers = add_headers(request, date,
	                                                  by_key ? authorization : NULL, headers),
	                         .body = request->body,
	                         .body_size = request->body_bytes,
	                         .ca_file = service->ca_file,
	                         .timeout_ns = service->timeout_ns,
	                         .answer_max = TABLE_PAGE_BYTES_MAX,
	                         .cancelled = is_stopped,
	                         .cancelled_arg = (void *)service,
	                 },
	                 response, err);
}

/* ---- what became of a try ---- */

static bool is_throttled(const struct table_reply *reply)
{
	return reply->status == 503 || reply->status == 429 ||
	       (reply->status == 500 && !strcmp(reply->code, "OperationTimedOut"));
}

static void read_code(struct table_client *client, const struct http_response *response,
                      struct table_reply *reply)
{
	const char *code = table_header(client, "x-ms-error-code");

	if (code)
		snprintf(reply->code, sizeof(reply->code), "%s", code);
	else
		table_code_read(response->body, reply->code);
}

/* Whether it was done, all of it. */
static bool read_reply(struct table_client *client, const struct table_request *request,
                       const struct http_response *response, struct table_reply *reply)
{
	struct table_outcome outcome;

	reply->status = response->status;
	reply->code[0] = '\0';
	reply->has_index = false;
	reply->body = response->body;
	reply->body_bytes = response->body_bytes;
	if (response->status / 100 != 2) {
		read_code(client, response, reply);
		return false;
	}
	if (!request->operations)
		return true;
	table_outcome_read(&outcome, response->body, request->operations);
	reply->status = outcome.done ? response->status : outcome.status;
	reply->has_index = outcome.has_index;
	reply->index = outcome.index;
	memcpy(reply->code, outcome.code, sizeof(reply->code));
	return outcome.done;
}

static void count(struct table_client *client, const struct table_request *request,
                  const struct http_response *response, const struct table_reply *reply, bool done)
{
	struct table_result *counts = &client->counts;
	uint64_t bytes = response->up_bytes + response->down_bytes, now_ns = clock_now_ns();

	counts->up_bytes += response->up_bytes;
	counts->down_bytes += response->down_bytes;
	if (response->outcome != HTTP_ANSWERED) {
		counts->unanswered++;
		return;
	}
	counts->answered++;
	counts->wait_ns += response->phase_ns[HTTP_WAIT];
	counts->receive_ns += response->phase_ns[HTTP_RECEIVE];
	if (is_throttled(reply))
		counts->throttled++;
	else if (!done)
		counts->failed++;
	if (done && client->stats)
		stats_record(client->stats, request->op, (uint32_t)min_u64(bytes, UINT32_MAX),
		             response->phase_ns[HTTP_TOTAL],
		             now_ns - min_u64(client->start_ns, now_ns));
	atomic_fetch_add_explicit(&client->live_transactions, 1, memory_order_relaxed);
}

/*
 * Whether libcurl may have sent it twice: where a connection that it used before ends without an
 * answer, it sends the request again on a new one, and does not say so.
 */
static bool may_be_resent(struct table_client *client, const struct http_response *response)
{
	bool before = client->connected;

	client->connected |= response->outcome == HTTP_ANSWERED;
	return before && response->new_connections;
}

/* A request whose end is not known. */
static bool may_be_done(const struct http_response *response, const struct table_reply *reply)
{
	switch (response->outcome) {
	case HTTP_TIMED_OUT:
	case HTTP_BROKEN:
	case HTTP_TOO_LARGE:
	case HTTP_CANCELLED:
		return true;
	case HTTP_ANSWERED:
		return reply->status == 0 || reply->status == 408 ||
		       (reply->status >= 500 && reply->status != 503);
	default:
		return false;
	}
}

/* As of a request, of an operation in a batch, whose status stands in the reply. */
static bool may_help(const struct http_response *response, const struct table_reply *reply)
{
	struct http_response judged = *response;

	if (response->outcome == HTTP_ANSWERED && !reply->status)
		return true; /* an answer that does not say what was done */
	judged.status = reply->status;
	return retry_may_help(&judged);
}

/* ---- in words ---- */

static long clock_is_off_s(struct table_client *client)
{
	const char *date = table_header(client, "Date");
	struct tm tm = {0};

	if (!date || !strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &tm))
		return 0;
	return (long)(time(NULL) - timegm(&tm));
}

/* The answers 401 and 403. */
static int explain_refusal(struct table_client *client, const struct table_reply *reply,
                           struct err *err)
{
	const struct table_service *service = client->service;
	const char *who = service->azure.account;
	uint64_t off_s = (uint64_t)labs(clock_is_off_s(client));
	char off[UNITS_TEXT_MAX];

	err_set(err, ERR_TARGET, "'%s' refuses account '%s': %d %s", service->host, who,
	        reply->status, reply->code);
	if (off_s > SKEW_MAX_S)
		return err_append(
		        err,
		        " (this machine's clock is %s off the service's, and more than 15m is "
		        "refused)",
		        units_format_time((off_s + 30) / 60 * 60 * NSEC_PER_SEC, off));
	if (!strcmp(reply->code, "AuthorizationPermissionMismatch"))
		return err_append(err, " (the SAS lacks a permission: read, add, update and delete "
		                       "are needed)");
	if (!service->azure.key_bytes)
		return err_append(err, " (is the SAS still valid, of this account, and allowed "
		                       "from here?)");
	if (!strcmp(reply->code, "AuthorizationFailure"))
		return err_append(err, " (does the account's firewall allow this network?)");
	return err_append(err, " (is the key that of this account?)");
}

static int explain(struct table_client *client, const struct table_reply *reply, struct err *err)
{
	const struct table_service *service = client->service;

	if (reply->status == 401 || reply->status == 403)
		return explain_refusal(client, reply, err);
	if (!strcmp(reply->code, "TableNotFound"))
		return err_set(err, ERR_TARGET, "'%s' has no table '%s' (fill: true makes it)",
		               service->host, service->place.table);
	if (!reply->status)
		return err_set(err, ERR_TEST,
		               "'%s' answers a batch without saying what became of it",
		               service->host);
	return err_set(err, ERR_TEST, "'%s' answers %d%s%s", service->host, reply->status,
	               reply->code[0] ? " " : "", reply->code);
}

/* ---- a request ---- */

/* False where something else ends the wait. */
static bool back_off(struct table_client *client, uint64_t pause_ns)
{
	const struct timespec slice = {.tv_nsec = (long)SLICE_NS};
	uint64_t begin_ns = clock_now_ns();
	bool waits = true;

	while (waits && clock_now_ns() - begin_ns < pause_ns) {
		nanosleep(&slice, NULL);
		waits = !is_stopped((void *)client->service);
	}
	client->counts.backoff_ns += clock_now_ns() - begin_ns;
	return waits;
}

static uint64_t pause_ns(const struct http_response *response, unsigned tries)
{
	double jitter = (double)(clock_now_ns() % 1000) / 1000;

	return min_u64(retry_pause_ns(tries, response->retry_after_ns, jitter), TABLE_PAUSE_MAX_NS);
}

int table_call(struct table_client *client, const struct table_request *request,
               struct table_reply *reply, struct err *err)
{
	uint64_t retries = client->service->retries;
	struct http_response response;

	*reply = (struct table_reply){.body = ""};
	for (unsigned tries = 1;; tries++) {
		int ret = send_once(client, request, &response, err);
		bool done = false, resent = may_be_resent(client, &response);

		if (ret)
			reply->status = 0;
		else
			done = read_reply(client, request, &response, reply);
		count(client, request, &response, reply, done);
		if (done)
			return 0;
		if (!ret)
			explain(client, reply, err);
		reply->stopped = is_stopped((void *)client->service);
		reply->unsure |= resent || may_be_done(&response, reply);
		if (reply->stopped || !may_help(&response, reply))
			return -1;
		if (tries > retries)
			return err_append(err, " (given up after %u tries)", tries);
		if (!back_off(client, pause_ns(&response, tries))) {
			reply->stopped = true;
			return -1;
		}
		client->counts.retried++;
	}
}
