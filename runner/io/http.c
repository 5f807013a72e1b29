/*
 * libcurl's easy interface. The handle is reset before each request, which keeps its
 * connections, the names it has resolved and its TLS sessions.
 *
 * libcurl's times count from the start of the transfer, and those of a connection that was
 * open already are 0, so a phase is a difference only where a connection was made.
 */
#include "io/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#ifdef PVCBENCH_STATIC
#include <nss.h>
#endif

#include "base/units.h"

#define CONNECT_TIMEOUT_NS (5 * NSEC_PER_SEC)
#define TIMEOUT_NS         (15 * NSEC_PER_SEC)
#define HEADER_LINE_MAX    (16 * KIB)
#define BODY_ROOM_MIN      (4 * KIB)

struct http {
	CURL *curl;
	struct curl_slist *headers; /* of the request under way */
	const struct http_request *request;
	char *body;
	size_t used, room;
	bool too_large;
	char error[CURL_ERROR_SIZE];
	char place[HTTP_URL_MAX]; /* "host:port" */
	const char *ca_file;      /* NULL: none was found */
};

/* ---- a handle ---- */

/*
 * A static program must not load what nsswitch.conf names: those libraries belong to
 * another libc. Files and DNS are built in.
 */
static void init_once(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
#ifdef PVCBENCH_STATIC
	__nss_configure_lookup("hosts", "files dns");
#endif
}

struct http *http_new(struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct http *http = calloc(1, sizeof(*http));

	pthread_once(&once, init_once);
	if (http)
		http->curl = curl_easy_init();
	if (http && http->curl)
		return http;
	http_free(http);
	err_set(err, ERR_TEST, "out of memory for HTTP");
	return NULL;
}

void http_free(struct http *http)
{
	if (!http)
		return;
	curl_easy_cleanup(http->curl);
	free(http->body);
	free(http);
}

/* ---- URLs ---- */

static void cleanup_url(CURLU **url)
{
	curl_url_cleanup(*url);
}

/* A part of a URL into out, "" where it has none; false where it does not fit. */
static bool url_part(CURLU *url, CURLUPart part, unsigned flags, char *out, size_t size)
{
	char *text = NULL;
	size_t length = 0;

	out[0] = '\0';
	if (!curl_url_get(url, part, &text, flags) && text) {
		length = strlen(text);
		snprintf(out, size, "%s", text);
	}
	curl_free(text);
	return length < size;
}

static int parse_url(CURLU *url, const char *text, char scheme[8], char host[HTTP_URL_MAX],
                     struct err *err)
{
	if (curl_url_set(url, CURLUPART_URL, text, 0) ||
	    !url_part(url, CURLUPART_SCHEME, 0, scheme, 8) ||
	    (strcmp(scheme, "http") && strcmp(scheme, "https")) ||
	    !url_part(url, CURLUPART_HOST, 0, host, HTTP_URL_MAX) || !host[0])
		return err_set(err, ERR_PLAN, "is no URL of http or https");
	return 0;
}

int http_url_show(const char *text, bool with_path, char out[HTTP_URL_MAX], struct err *err)
{
	CLEANUP(url) CURLU *url = curl_url();
	char scheme[8], host[HTTP_URL_MAX], port[8], path[HTTP_URL_MAX];

	if (parse_url(url, text, scheme, host, err))
		return -1;
	if (!url_part(url, CURLUPART_PORT, 0, port, sizeof(port)) ||
	    !url_part(url, CURLUPART_PATH, 0, path, sizeof(path)) ||
	    (size_t)snprintf(out, HTTP_URL_MAX, "%s://%s%s%s%s", scheme, host, port[0] ? ":" : "",
	                     port, with_path ? path : "") >= HTTP_URL_MAX)
		return err_set(err, ERR_PLAN, "is too long for a URL");
	return 0;
}

/* Where the request goes, for messages. */
static int find_place(struct http *http, struct err *err)
{
	CLEANUP(url) CURLU *url = curl_url();
	char scheme[8], host[HTTP_URL_MAX], port[8];

	if (parse_url(url, http->request->url, scheme, host, err))
		return -1;
	url_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT, port, sizeof(port));
	snprintf(http->place, sizeof(http->place), "%.*s:%s", (int)(sizeof(http->place) - 16), host,
	         port);
	return 0;
}

/* ---- the request ---- */

static size_t take_body(char *bytes, size_t size, size_t n, void *arg)
{
	struct http *http = arg;
	size_t max = http->request->answer_max ? http->request->answer_max : HTTP_ANSWER_MAX;

	(void)size; /* always 1 */
	if (n > max - http->used) {
		http->too_large = true;
		return 0;
	}
	if (http->used + n >= http->room) {
		size_t room = max_u64(2 * (http->used + n), BODY_ROOM_MIN);
		char *body = realloc(http->body, room);

		if (!body)
			return 0;
		http->body = body;
		http->room = room;
	}
	memcpy(http->body + http->used, bytes, n);
	http->used += n;
	http->body[http->used] = '\0';
	return n;
}

static int ask_cancelled(void *arg, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                         curl_off_t up)
{
	const struct http_request *request = ((struct http *)arg)->request;

	(void)down_total;
	(void)down;
	(void)up_total;
	(void)up;
	return request->cancelled(request->cancelled_arg);
}

static int no_memory(struct err *err)
{
	return err_sys(err, ERR_TEST, ENOMEM, "cannot send an HTTP request");
}

static int add_line(struct http *http, const char *line, struct err *err)
{
	struct curl_slist *headers = curl_slist_append(http->headers, line);

	if (!headers)
		return no_memory(err);
	http->headers = headers;
	return 0;
}

static int add_headers(struct http *http, struct err *err)
{
	const struct http_request *request = http->request;
	bool has_type = false;

	for (unsigned i = 0; i < request->n_headers; i++) {
		const struct http_header *header = &request->headers[i];
		char line[HEADER_LINE_MAX];

		has_type |= !strcasecmp(header->name, "Content-Type");
		if (strpbrk(header->value, "\r\n"))
			return err_set(err, ERR_TEST, "the header '%s' has a line break in it",
			               header->name);
		if ((size_t)snprintf(line, sizeof(line), "%s: %s", header->name, header->value) >=
		    sizeof(line))
			return err_set(err, ERR_TEST, "the header '%s' is longer than %llu bytes",
			               header->name, HEADER_LINE_MAX);
		if (add_line(http, line, err))
			return -1;
	}
	/* libcurl would name a type of its own, and wait for a word before it sends a body */
	if (request->body && !has_type && add_line(http, "Content-Type:", err))
		return -1;
	return add_line(http, "Expect:", err);
}

static void set_method(struct http *http)
{
	const struct http_request *request = http->request;
	CURL *curl = http->curl;

	if (request->body) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_size);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
	}
	if (request->method && !strcmp(request->method, "HEAD"))
		curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
	else if (request->method)
		curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Where distributions have it; the image as Debian. */
static const char *find_ca_file(const struct http_request *request)
{
	static const char *const files[] = {
	        "/etc/ssl/certs/ca-certificates.crt",
	        "/etc/pki/tls/certs/ca-bundle.crt",
	        "/etc/ssl/ca-bundle.pem",
	        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	        "/etc/ssl/cert.pem",
	};

	if (request->ca_file)
		return request->ca_file;
	if (variable("SSL_CERT_FILE"))
		return variable("SSL_CERT_FILE");
	for (unsigned i = 0; i < ARRAY_SIZE(files); i++)
		if (!access(files[i], R_OK))
			return files[i];
	return NULL;
}

static void set_tls(struct http *http)
{
	CURL *curl = http->curl;

	http->ca_file = find_ca_file(http->request);
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(curl, CURLOPT_CAINFO, http->ca_file);
	curl_easy_setopt(curl, CURLOPT_CAPATH, variable("SSL_CERT_DIR"));
}

static long milliseconds(uint64_t ns, uint64_t unset_ns)
{
	return (long)max_u64((ns ? ns : unset_ns) / NSEC_PER_MSEC, 1);
}

static void set_limits(struct http *http)
{
	const struct http_request *request = http->request;
	CURL *curl = http->curl;

	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
	                 milliseconds(request->connect_timeout_ns, CONNECT_TIMEOUT_NS));
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, milliseconds(request->timeout_ns, TIMEOUT_NS));
	if (request->idle_max_ns)
		curl_easy_setopt(curl, CURLOPT_MAXAGE_CONN,
		                 (long)(request->idle_max_ns / NSEC_PER_SEC));
	if (request->fresh) {
		curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
		curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
		curl_easy_setopt(curl, CURLOPT_SSL_SESSIONID_CACHE, 0L);
		curl_easy_setopt(curl, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
	}
	if (request->no_proxy)
		curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, (long)(request->redirects_max > 0));
	curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)request->redirects_max);
	if (request->cancelled) {
		curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, ask_cancelled);
		curl_easy_setopt(curl, CURLOPT_XFERINFODATA, http);
		curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	}
	/* or a DNS server that is silent would hold us long after the time is up */
	curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
}

static int prepare(struct http *http, struct err *err)
{
	CURL *curl = http->curl;

	curl_easy_reset(curl);
	http->used = 0;
	http->too_large = false;
	http->error[0] = '\0';
	if (find_place(http, err)) {
		err->class = ERR_TEST;
		return err_wrap(err, "the address of an HTTP request");
	}
	if (add_headers(http, err))
		return -1;
	curl_easy_setopt(curl, CURLOPT_URL, http->request->url);
	curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION,
	                 http->request->http_2 ? (long)CURL_HTTP_VERSION_2TLS
	                                       : (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "pvcbench/" PVCBENCH_VERSION);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, http->headers);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, http);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, http->error);
	set_method(http);
	set_tls(http);
	set_limits(http);
	return 0;
}

/* ---- what became of it ---- */

static enum http_outcome outcome_of(const struct http *http, CURLcode code)
{
	switch (code) {
	case CURLE_OK:
		return HTTP_ANSWERED;
	case CURLE_URL_MALFORMAT:
	case CURLE_SSL_CACERT_BADFILE:
		return HTTP_REFUSED;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return HTTP_UNRESOLVED;
	case CURLE_COULDNT_CONNECT:
		return HTTP_UNREACHABLE;
	case CURLE_PEER_FAILED_VERIFICATION:
		return HTTP_UNTRUSTED;
	case CURLE_SSL_CONNECT_ERROR:
		return HTTP_TLS_FAILED;
	case CURLE_OPERATION_TIMEDOUT:
		return HTTP_TIMED_OUT;
	case CURLE_ABORTED_BY_CALLBACK:
		return HTTP_CANCELLED;
	default:
		return http->too_large ? HTTP_TOO_LARGE : HTTP_BROKEN;
	}
}

/* Nanoseconds from the start of the transfer; 0: never got there. */
static uint64_t mark(struct http *http, CURLINFO info)
{
	curl_off_t microseconds = 0;

	curl_easy_getinfo(http->curl, info, &microseconds);
	return (uint64_t)microseconds * NSEC_PER_USEC;
}

static uint64_t from_to(uint64_t start_ns, uint64_t end_ns)
{
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

static void read_phases(struct http *http, struct http_response *response)
{
	uint64_t name = mark(http, CURLINFO_NAMELOOKUP_TIME_T);
	uint64_t tcp = mark(http, CURLINFO_CONNECT_TIME_T);
	uint64_t tls = mark(http, CURLINFO_APPCONNECT_TIME_T);
	uint64_t sent = mark(http, CURLINFO_PRETRANSFER_TIME_T);
	uint64_t first = mark(http, CURLINFO_STARTTRANSFER_TIME_T);
	uint64_t total = mark(http, CURLINFO_TOTAL_TIME_T);

	if (response->new_connections) {
		response->phase_ns[HTTP_DNS] = name;
		response->phase_ns[HTTP_TCP] = from_to(name, tcp);
		response->phase_ns[HTTP_TLS] = from_to(tcp, tls);
	}
	response->phase_ns[HTTP_WAIT] = from_to(sent, first);
	response->phase_ns[HTTP_RECEIVE] = first ? from_to(first, total) : 0;
	response->phase_ns[HTTP_TOTAL] = total;
}

static void read_response(struct http *http, struct http_response *response)
{
	CURL *curl = http->curl;
	long status = 0, connections = 0, request = 0, header = 0;
	curl_off_t up = 0, down = 0, retry_after = 0;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &connections);
	curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &request);
	curl_easy_getinfo(curl, CURLINFO_HEADER_SIZE, &header);
	curl_easy_getinfo(curl, CURLINFO_SIZE_UPLOAD_T, &up);
	curl_easy_getinfo(curl, CURLINFO_SIZE_DOWNLOAD_T, &down);
	curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry_after);
	response->status = (int)status;
	response->new_connections = (unsigned)connections;
	response->up_bytes = (uint64_t)(request + up);
	response->down_bytes = (uint64_t)(header + down);
	response->retry_after_ns = min_u64((uint64_t)retry_after, 24 * 3600) * NSEC_PER_SEC;
	response->body = http->used ? http->body : "";
	response->body_bytes = http->used;
	read_phases(http, response);
}

/* How far it came within its time. */
static int explain_timeout(struct http *http, struct err *err)
{
	const struct http_request *request = http->request;
	char within[UNITS_TEXT_MAX];
	bool is_https = !strncasecmp(request->url, "https:", 6);
	long connections = 0;

	curl_easy_getinfo(http->curl, CURLINFO_NUM_CONNECTS, &connections);
	units_format_time(mark(http, CURLINFO_TOTAL_TIME_T), within);
	if (!mark(http, CURLINFO_NAMELOOKUP_TIME_T))
		return err_set(err, ERR_TEST,
		               "no address for '%s' within %s (is the pod's DNS reached?)",
		               http->place, within);
	if (connections && !mark(http, CURLINFO_CONNECT_TIME_T))
		return err_set(err, ERR_TEST,
		               "no connection to '%s' within %s (a firewall or a network policy?)",
		               http->place, within);
	if (connections && is_https && !mark(http, CURLINFO_APPCONNECT_TIME_T))
		return err_set(err, ERR_TEST, "no TLS with '%s' within %s", http->place, within);
	return err_set(err, ERR_TEST, "no whole answer from '%s' within %s", http->place, within);
}

static int explain_trust(struct http *http, struct err *err)
{
	static const char prefix[] = "SSL certificate problem: ";
	const char *why = http->error;

	if (strstr(why, "subject name"))
		return err_set(err, ERR_TEST,
		               "the certificate of '%s' is not for that name (the host in the URL "
		               "must be one that it names)",
		               http->place);
	if (!strncmp(why, prefix, strlen(prefix)))
		why += strlen(prefix);
	return err_set(err, ERR_TEST,
	               "the certificate of '%s' is not trusted: %s (trusted is what '%s' holds; "
	               "name the CA's file as ca_file or in SSL_CERT_FILE)",
	               http->place, why, http->ca_file ? http->ca_file : "no file");
}

static int explain_connect(struct http *http, struct err *err)
{
	long errnum = 0;

	curl_easy_getinfo(http->curl, CURLINFO_OS_ERRNO, &errnum);
	if (errnum == ECONNREFUSED)
		return err_set(err, ERR_TEST,
		               "'%s' refuses the connection (does anything listen there?)",
		               http->place);
	return err_set(err, ERR_TEST, "no connection to '%s': %s", http->place,
	               errnum ? err_words((int)errnum) : http->error);
}

static int explain(struct http *http, CURLcode code, enum http_outcome outcome, struct err *err)
{
	if (!http->error[0])
		snprintf(http->error, sizeof(http->error), "%s", curl_easy_strerror(code));
	switch (outcome) {
	case HTTP_UNRESOLVED:
		return err_set(err, ERR_TEST,
		               "no address for '%s' (is the name right, also as the pod's DNS "
		               "completes it?)",
		               http->place);
	case HTTP_UNREACHABLE:
		return explain_connect(http, err);
	case HTTP_UNTRUSTED:
		return explain_trust(http, err);
	case HTTP_TIMED_OUT:
		return explain_timeout(http, err);
	case HTTP_TOO_LARGE:
		return err_set(err, ERR_TEST, "the answer of '%s' is too large", http->place);
	case HTTP_CANCELLED:
		return err_set(err, ERR_TEST, "the request to '%s' was given up", http->place);
	case HTTP_REFUSED:
		if (code == CURLE_SSL_CACERT_BADFILE)
			return err_set(err, ERR_TEST,
			               "no certificates in '%s' (ca_file or "
			               "SSL_CERT_FILE names another)",
			               http->ca_file ? http->ca_file : "any file known");
		break;
	default:
		break;
	}
	return err_set(err, ERR_TEST, "no answer from '%s': %s", http->place, http->error);
}

int http_send(struct http *http, const struct http_request *request, struct http_response *response,
              struct err *err)
{
	CURLcode code = CURLE_OK;
	int ret;

	*response = (struct http_response){.outcome = HTTP_REFUSED, .body = ""};
	http->request = request;
	ret = prepare(http, err);
	if (!ret) {
		code = curl_easy_perform(http->curl);
		read_response(http, response);
		response->outcome = outcome_of(http, code);
	}
	if (code)
		ret = explain(http, code, response->outcome, err);
	curl_slist_free_all(http->headers);
	http->headers = NULL;
	http->request = NULL;
	return ret;
}

const char *http_header(struct http *http, const char *name)
{
	struct curl_header *header;

	if (curl_easy_header(http->curl, name, 0, CURLH_HEADER, -1, &header))
		return NULL;
	return header->value;
}

bool http_has_2(void)
{
	return curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_HTTP2;
}

const char *http_tls_library(void)
{
	const char *name = curl_version_info(CURLVERSION_NOW)->ssl_version;

	return name ? name : "no TLS";
}
