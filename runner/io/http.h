/*
 * HTTP as a client: one request after the other on a handle that keeps its connections
 * open. The only user of libcurl.
 *
 * http and https, HTTP/1.1 (or 2, where it is asked for), TLS 1.2 and later. A certificate is
 * always verified: by the bundle that the request names, else that of SSL_CERT_FILE, else this
 * machine's; the directory of SSL_CERT_DIR is looked into besides. Proxies are taken from the
 * environment as curl does (http_proxy, https_proxy, all_proxy, no_proxy).
 *
 * Names are resolved in a thread: see workers_make_threads_possible.
 */
#ifndef PVCBENCH_HTTP_H
#define PVCBENCH_HTTP_H

#include "base/err.h"

#define HTTP_ANSWER_MAX MIB /* bytes of an answer, unless the request says otherwise */
#define HTTP_URL_MAX    2048

struct http; /* belongs to one thread */

struct http_header {
	const char *name, *value;
};

struct http_request {
	const char *method; /* NULL: GET, with a body POST */
	const char *url;    /* user and password in it are sent as basic authorization */
	const struct http_header *headers;
	unsigned n_headers;
	const void *body; /* NULL: none */
	size_t body_size;
	const char *ca_file;         /* PEM; NULL: as above */
	uint64_t connect_timeout_ns; /* name, connection and TLS; 0: 5 s */
	uint64_t timeout_ns;         /* of the whole; 0: 15 s */
	uint64_t idle_max_ns;        /* a connection idle for longer is not used again; 0: 118 s */
	bool fresh;                  /* a connection, a lookup and a TLS session of its own */
	bool http_2;                 /* where TLS agrees on it; else HTTP/1.1 */
	bool no_proxy;               /* whatever the environment says */
	unsigned redirects_max;      /* 0: a redirect is an answer like any other */
	size_t answer_max;           /* bytes; 0: HTTP_ANSWER_MAX */

	/* Asked about once a second: true ends the request. NULL: never. */
	bool (*cancelled)(void *arg);
	void *cancelled_arg;
};

/* What an outcome was, for who has to decide what to do about it. */
enum http_outcome {
	HTTP_ANSWERED,    /* there is a status, whatever it is */
	HTTP_REFUSED,     /* the request itself is wrong: the URL, a header, the CA file */
	HTTP_UNRESOLVED,  /* no address for the name */
	HTTP_UNREACHABLE, /* no connection */
	HTTP_UNTRUSTED,   /* the certificate is not valid for that name and bundle */
	HTTP_TLS_FAILED,  /* the handshake broke for another reason */
	HTTP_TIMED_OUT,
	HTTP_BROKEN,    /* the connection ended, or what came is no HTTP */
	HTTP_TOO_LARGE, /* answered, with a status, but by more than the request takes */
	HTTP_CANCELLED,
};

/*
 * HTTP_TOTAL begins with the call; dns, tcp and tls are 0 on a connection kept open; wait is from
 * the moment that the request is handed over to the first byte of the answer. All are whole us.
 */
enum http_phase { HTTP_DNS, HTTP_TCP, HTTP_TLS, HTTP_WAIT, HTTP_RECEIVE, HTTP_TOTAL, HTTP_PHASES };

struct http_response {
	enum http_outcome outcome;
	int status;        /* 0 when nothing was answered */
	const char *body;  /* ends with a NUL; valid until the next request on the handle */
	size_t body_bytes; /* without the NUL */
	uint64_t phase_ns[HTTP_PHASES];
	unsigned new_connections;
	uint64_t up_bytes, down_bytes; /* headers included, TLS and below not */
	uint64_t retry_after_ns;       /* 0: not asked for */
};

struct http *http_new(struct err *err);
void http_free(struct http *http);

/*
 * 0: answered, with any status. -1: err (class ERR_TEST) says in words what failed, where,
 * and what may help; it never holds a header, a body, or of the URL more than host and port.
 * response is filled in as far as it is known in both cases.
 */
int http_send(struct http *http, const struct http_request *request, struct http_response *response,
              struct err *err);

/* The first header of that name (in any case) of the last answer, or NULL; as valid as its body. */
const char *http_header(struct http *http, const char *name);

/*
 * What may be shown of a URL: scheme, host, port and, if wanted, the path, never user,
 * password and query. The error (class ERR_PLAN) is that of text that is no URL of http or
 * https, and does not repeat it.
 */
int http_url_show(const char *url, bool with_path, char out[HTTP_URL_MAX], struct err *err);

/* Whether libcurl was built with HTTP/2. */
bool http_has_2(void);

/* "OpenSSL/3.0.19": what libcurl does TLS with. Static storage. */
const char *http_tls_library(void);

#endif
