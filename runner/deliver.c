/*
 * Each sink gets its first try before any gets its second; the one that is due first is
 * next. All share one end, which a signal moves closer.
 *
 * A run that a signal ended is delivered too, marked as interrupted: a deleted pod's log is
 * deleted with it, so this may be the only copy. Kubernetes gives 30 seconds from the signal
 * on; removing the run's files, which comes first, may take 20 of them.
 *
 * Nothing that is told holds a header's value, a URL's user, password or query, or the path of
 * a URL that a variable went into; and nothing of what was answered to a request
 * that held a secret, since servers repeat what they do not like.
 */
#include "deliver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/units.h"
#include "io/host.h"
#include "io/retry.h"
#include "out/emit.h"
#include "out/json.h"
#include "out/metrics.h"

#define ALL_NS      (60 * NSEC_PER_SEC)
#define STOPPED_NS  (5 * NSEC_PER_SEC)
#define CONNECT_NS  (5 * NSEC_PER_SEC)
#define TRY_NS      (15 * NSEC_PER_SEC)
#define SLICE_NS    (50 * NSEC_PER_MSEC)
#define QUIET_NS    (9 * NSEC_PER_SEC)
#define TRIES_MAX   5
#define ANSWER_MAX  (4 * KIB)
#define EXCERPT_MAX 200
#define OWN_HEADERS 3

struct text {
	char *bytes; /* owned */
	size_t size;
};

/* A sink, and how far it got. */
struct parcel {
	const struct plan_sink *sink;
	char name[DELIVER_NAME_MAX]; /* for messages */
	unsigned tries;
	uint64_t due_ns; /* of the next one */
	bool is_done;    /* delivered or given up */
	bool is_delivered;
	struct err err; /* of the last try */
};

struct delivery {
	const struct result *result;
	const atomic_int *stop;
	void (*tell)(const char *text);
	uint64_t told_ns;             /* when something was, last */
	const struct parcel *current; /* what is being waited for */
	uint64_t end_ns;
	bool is_stopped;
	struct http *http;
	struct text json, metrics;
	struct parcel parcels[PLAN_SINKS_MAX];
	unsigned n_parcels;
};

/* ---- the group of a Pushgateway ---- */

int deliver_push_url(const char *base, const char *job, const char *instance,
                     char out[HTTP_URL_MAX], struct err *err)
{
	size_t path = strcspn(base, "?#"), used = path;
	char label[HOST_TEXT_MAX];
	int length;

	snprintf(label, sizeof(label), "%s", *instance ? instance : "unknown");
	for (char *p = label; *(p += strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                       "abcdefghijklmnopqrstuvwxyz0123456789_.-"));)
		*p = '_';
	while (used && base[used - 1] == '/')
		used--;
	if (memmem(base, path, "/metrics/job", strlen("/metrics/job")))
		length = snprintf(out, HTTP_URL_MAX, "%s", base);
	else
		length = snprintf(out, HTTP_URL_MAX, "%.*s/metrics/job/%s/instance/%s%s", (int)used,
		                  base, job, label, base + path);
	return length < HTTP_URL_MAX ? 0 : err_set(err, ERR_TEST, "the URL is too long");
}

static void tell(struct delivery *delivery, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void tell(struct delivery *delivery, const char *fmt, ...)
{
	char text[DELIVER_NAME_MAX + ERR_TEXT_MAX + 128];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	delivery->tell(text);
	delivery->told_ns = clock_now_ns();
}

/* ---- time ---- */

/* Until all of it must have come to an end. */
static uint64_t time_left_ns(struct delivery *delivery)
{
	uint64_t now_ns = clock_now_ns();

	if (!delivery->is_stopped && atomic_load(delivery->stop)) {
		delivery->is_stopped = true;
		delivery->end_ns = min_u64(delivery->end_ns, now_ns + STOPPED_NS);
	}
	return delivery->end_ns > now_ns ? delivery->end_ns - now_ns : 0;
}

/* What lasts is told of while it does. */
static void tell_wait(struct delivery *delivery)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns - delivery->told_ns >= QUIET_NS)
		tell(delivery, "%s: waiting %s", delivery->current->name,
		     delivery->current->due_ns > now_ns ? "to try again" : "for an answer");
}

static bool is_over(void *delivery)
{
	tell_wait(delivery);
	return !time_left_ns(delivery);
}

/* False where there is no time for it. */
static bool wait_until(struct delivery *delivery, uint64_t due_ns)
{
	const struct timespec slice = {.tv_nsec = SLICE_NS};

	while (clock_now_ns() < due_ns) {
		if (due_ns > clock_now_ns() + time_left_ns(delivery))
			return false;
		tell_wait(delivery);
		nanosleep(&slice, NULL);
	}
	return time_left_ns(delivery);
}

/* ---- what is sent ---- */

static int make_text(struct text *text, void (*write)(FILE *out, const struct result *result),
                     const struct result *result, struct err *err)
{
	FILE *out;

	if (text->bytes)
		return 0;
	out = open_memstream(&text->bytes, &text->size);
	if (out) {
		write(out, result);
		if (!fclose(out))
			return 0;
	}
	return err_set(err, ERR_TEST, "out of memory for what is sent");
}

static bool has_header(const struct plan_sink *sink, const char *name)
{
	for (unsigned i = 0; i < sink->n_headers; i++)
		if (!strcasecmp(sink->headers[i].name, name))
			return true;
	return false;
}

/* "Bearer TOKEN" of a file that has only the token, as those of service accounts have. */
static int read_authorization(const struct plan_sink *sink, char out[PLAN_HEADER_VALUE_MAX],
                              struct err *err)
{
	static const char bearer[] = "Bearer ";
	char line[PLAN_HEADER_VALUE_MAX - sizeof(bearer)];

	host_read_line(sink->authorization_file, line, sizeof(line));
	if (!line[0])
		return err_set(err, ERR_TEST, "authorization_file '%s' is empty or cannot be read",
		               sink->authorization_file);
	if (strlen(line) == sizeof(line) - 1)
		return err_set(err, ERR_TEST, "the line in authorization_file '%s' is too long",
		               sink->authorization_file);
	snprintf(out, PLAN_HEADER_VALUE_MAX, "%s%s", strchr(line, ' ') ? "" : bearer, line);
	return 0;
}

/* The plan's headers, and those of ours that it does not name. */
static unsigned collect_headers(const struct plan_sink *sink, const char *type, const char *run_id,
                                const char *authorization, struct http_header *out)
{
	const struct http_header ours[OWN_HEADERS] = {
	        {"Content-Type", type},
	        {"Idempotency-Key", sink->webhook[0] ? run_id : ""},
	        {"Authorization", authorization},
	};
	unsigned n = 0;

	for (; n < sink->n_headers; n++)
		out[n] = (struct http_header){sink->headers[n].name, sink->headers[n].value};
	for (unsigned i = 0; i < OWN_HEADERS; i++)
		if (ours[i].value[0] && !has_header(sink, ours[i].name))
			out[n++] = ours[i];
	return n;
}

/* ---- what is told ---- */

static bool holds_secret(const struct plan_sink *sink)
{
	const char *url = plan_sink_url(sink);

	return sink->url_is_secret || sink->n_headers || sink->authorization_file[0] ||
	       strpbrk(url, "@?");
}

/* Behind " to" of a redirect, or "". */
static void append_location(struct http *http, bool with_path, struct err *err)
{
	const char *location = http_header(http, "Location");
	char shown[HTTP_URL_MAX];
	struct err no_url;

	if (location && !http_url_show(location, with_path, shown, &no_url))
		err_append(err, " to '%s'", shown);
	err_append(err, " (redirects are not followed: name that URL)");
}

static void append_excerpt(const struct http_response *response, struct err *err)
{
	char text[EXCERPT_MAX];

	snprintf(text, sizeof(text), "%s", response->body);
	emit_clean(text);
	text[strcspn(text, "\r\n")] = '\0';
	if (text[0])
		err_append(err, ": %s", text);
}

/* A status that is no success, in words. */
static int blame_status(struct http *http, const struct plan_sink *sink,
                        const struct http_response *response, struct err *err)
{
	bool is_secret = holds_secret(sink);

	err_set(err, ERR_TEST, "answered %d", response->status);
	if (response->status / 100 == 3)
		append_location(http, !is_secret, err);
	else if (response->status == 401 || response->status == 403)
		err_append(err, " (is the authorization right?)");
	else if (!is_secret)
		append_excerpt(response, err);
	return -1;
}

/* ---- a try ---- */

static int write_file(struct delivery *delivery, const struct plan_sink *sink, struct err *err)
{
	char path[PLAN_PATH_MAX + RESULT_TEXT_MAX + 32];
	struct stat st;
	FILE *out;
	int failed;

	snprintf(path, sizeof(path), "%s", sink->file);
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		snprintf(path, sizeof(path), "%s/pvcbench-%s.json", sink->file,
		         delivery->result->id);
	out = fopen(path, "we");
	if (!out)
		return err_sys(err, ERR_TEST, errno, "cannot open it");
	json_write(out, delivery->result);
	failed = ferror(out);
	failed |= fclose(out);
	return failed ? err_sys(err, ERR_TEST, errno, "cannot write it") : 0;
}

static const char *instance(const struct result *result)
{
	const char *job = getenv("PVCBENCH_JOB");

	return job && *job ? job : result->conditions.node;
}

/* 0: delivered. -1: err says why not; *pause_ns stays 0 where a retry makes no sense. */
static int send_request(struct delivery *delivery, struct parcel *parcel,
                        struct http_request *request, uint64_t *pause_ns, struct err *err)
{
	double jitter = (double)(clock_now_ns() % 1000) / 1000;
	struct http_response response;
	char asked[UNITS_TEXT_MAX];
	int ret = http_send(delivery->http, request, &response, err);

	/* of a large answer the status is known, and the rest is not needed */
	if (response.status / 100 == 2 &&
	    (response.outcome == HTTP_ANSWERED || response.outcome == HTTP_TOO_LARGE))
		return 0;
	if (!ret || response.outcome == HTTP_TOO_LARGE)
		blame_status(delivery->http, parcel->sink, &response, err);
	if (response.retry_after_ns > time_left_ns(delivery))
		err_append(err, " (asks for %s, more than there is)",
		           units_format_time(response.retry_after_ns, asked));
	if (retry_may_help(&response))
		*pause_ns = retry_pause_ns(parcel->tries, response.retry_after_ns, jitter);
	return -1;
}

static int send_to_url(struct delivery *delivery, struct parcel *parcel, uint64_t *pause_ns,
                       struct err *err)
{
	const struct plan_sink *sink = parcel->sink;
	bool is_push = sink->pushgateway[0];
	const struct text *body = is_push ? &delivery->metrics : &delivery->json;
	struct http_header headers[PLAN_HEADERS_MAX + OWN_HEADERS];
	char authorization[PLAN_HEADER_VALUE_MAX] = "", url[HTTP_URL_MAX];

	if (sink->authorization_file[0] && read_authorization(sink, authorization, err))
		return -1;
	snprintf(url, sizeof(url), "%s", sink->webhook);
	if (is_push &&
	    deliver_push_url(sink->pushgateway, sink->job, instance(delivery->result), url, err))
		return -1;
	if (make_text(&delivery->json, json_write, delivery->result, err) ||
	    make_text(&delivery->metrics, metrics_write, delivery->result, err))
		return -1;
	return send_request(
	        delivery, parcel,
	        &(struct http_request){
	                .method = is_push ? "PUT" : "POST",
	                .url = url,
	                .headers = headers,
	                .n_headers = collect_headers(
	                        sink, is_push ? METRICS_CONTENT_TYPE : "application/json",
	                        delivery->result->id, authorization, headers),
	                .body = body->bytes,
	                .body_size = body->size,
	                .ca_file = sink->ca_file[0] ? sink->ca_file : NULL,
	                .connect_timeout_ns = CONNECT_NS,
	                .timeout_ns = max_u64(1, min_u64(TRY_NS, time_left_ns(delivery))),
	                .answer_max = ANSWER_MAX,
	                .cancelled = is_over,
	                .cancelled_arg = delivery,
	        },
	        pause_ns, err);
}

static void try_parcel(struct delivery *delivery, struct parcel *parcel)
{
	char pause[UNITS_TEXT_MAX];
	uint64_t pause_ns = 0;
	int ret;

	parcel->tries++;
	ret = parcel->sink->file[0] ? write_file(delivery, parcel->sink, &parcel->err)
	                            : send_to_url(delivery, parcel, &pause_ns, &parcel->err);
	parcel->is_delivered = !ret;
	parcel->is_done = !ret || !pause_ns || parcel->tries == TRIES_MAX ||
	                  pause_ns > time_left_ns(delivery);
	if (parcel->is_done)
		return;
	parcel->due_ns = clock_now_ns() + pause_ns;
	tell(delivery, "%s: %s; trying again in %s", parcel->name, parcel->err.text,
	     units_format_time(pause_ns, pause));
}

/* ---- all of them ---- */

static struct parcel *next_parcel(struct delivery *delivery)
{
	struct parcel *next = NULL;

	for (unsigned i = 0; i < delivery->n_parcels; i++) {
		struct parcel *parcel = &delivery->parcels[i];

		if (!parcel->is_done && (!next || parcel->due_ns < next->due_ns))
			next = parcel;
	}
	return next;
}

/* The one line of a delivery that failed. */
static void tell_failure(struct delivery *delivery, const struct parcel *parcel)
{
	const char *word = parcel->sink->required ? "required and not delivered" : "not delivered";
	const char *why = delivery->is_stopped ? " (a signal leaves 5 s for it)" : "";

	if (parcel->tries)
		tell(delivery, "%s: %s: %s (tries: %u)%s", parcel->name, word, parcel->err.text,
		     parcel->tries, why);
	else
		tell(delivery, "%s: %s: no time was left for it%s", parcel->name, word, why);
}

static unsigned settle(struct delivery *delivery)
{
	unsigned missed = 0;

	for (unsigned i = 0; i < delivery->n_parcels; i++) {
		const struct parcel *parcel = &delivery->parcels[i];

		if (parcel->is_delivered)
			continue;
		tell_failure(delivery, parcel);
		missed += parcel->sink->required;
	}
	return missed;
}

unsigned deliver_result(const struct plan *plan, const struct result *result,
                        const atomic_int *stop, void (*tell_line)(const char *text))
{
	struct delivery delivery = {
	        .result = result,
	        .stop = stop,
	        .tell = tell_line,
	        .told_ns = clock_now_ns(),
	        .end_ns = clock_now_ns() + ALL_NS,
	        .n_parcels = plan->n_sinks,
	};
	struct parcel *parcel;
	struct err err;
	unsigned missed;

	if (!plan->n_sinks)
		return 0;
	for (unsigned i = 0; i < plan->n_sinks; i++) {
		delivery.parcels[i].sink = &plan->sinks[i];
		deliver_name(&plan->sinks[i], delivery.parcels[i].name);
	}
	delivery.http = http_new(&err);
	if (!delivery.http)
		tell(&delivery, "%s", err.text);
	while (delivery.http && (parcel = next_parcel(&delivery))) {
		delivery.current = parcel;
		if (!wait_until(&delivery, parcel->due_ns))
			break;
		try_parcel(&delivery, parcel);
	}
	missed = settle(&delivery);
	http_free(delivery.http);
	free(delivery.json.bytes);
	free(delivery.metrics.bytes);
	return missed;
}
