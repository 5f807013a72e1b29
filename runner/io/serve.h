/*
 * HTTP as a server: requests are handed to a function, those of each connection in a thread of
 * its own, so that it may wait before it answers. The only user of libmicrohttpd. No TLS.
 *
 * Whoever connects may be anybody: the sum of connections, the bytes of a request, and the time
 * that it takes to come in are bounded.
 */
#ifndef PVCBENCH_SERVE_H
#define PVCBENCH_SERVE_H

#include "base/err.h"

struct serve;

struct serve_request {
	const char *method, *path; /* without the query */
	const char *body;          /* ends with a NUL that is not counted */
	size_t body_bytes;
	uint64_t connection; /* a number that no other connection of this server has */
	void *line;          /* of serve_header, serve_is_gone */
};

struct serve_answer {
	int status;       /* 200 unless it is set */
	const char *type; /* NULL: text/plain */
	char *body;       /* from malloc; the server frees it; NULL: none */
	size_t body_bytes;
	/* The connection may then be idle for as long as the client likes. */
	bool lasting;
};

struct serve_params {
	const char *address;      /* "127.0.0.1:8080", "[::1]:8080", ":8080" all; port 0: any */
	unsigned connections_max; /* others are closed at once */
	size_t body_max;          /* of a request, in bytes; a larger one is answered with 413 */
	/* How long a request may take to come in, from the connection or the last answer on. */
	uint64_t receive_ns;

	/* In a thread of the connection, any number at once. */
	void (*handle)(void *arg, const struct serve_request *request, struct serve_answer *answer);
	/* A connection has ended; NULL: nobody cares. */
	void (*closed)(void *arg, uint64_t connection);
	void *arg;
};

/* Listen. The error (class ERR_PLAN) names the address. *out is freed by serve_stop. */
int serve_start(struct serve **out, const struct serve_params *params, struct err *err);

unsigned serve_port(const struct serve *serve);

/* A header of a request by its name, in any case; NULL: it has none. As valid as the request. */
const char *serve_header(const struct serve_request *request, const char *name);

/* Whether the client has hung up meanwhile, for a function that waits. */
bool serve_is_gone(const struct serve_request *request);

/*
 * End all connections. Functions that wait are waited for, so the caller has them return. NULL is
 * legal.
 */
void serve_stop(struct serve *serve);

#endif
