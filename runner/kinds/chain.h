/*
 * A chain of HTTP hops as it travels: a JSON array of the hops that are still ahead. Each hop takes
 * the first one, itself, off, sends the rest to the url of the next one, and puts what it has to
 * say in front of the array that comes back. The format is that of choi, a relay for container
 * apps, and works with it both ways. Of a hop in a request are read
 *
 *	id       any number or text, and comes back as it is
 *	url      where the hop before finds it
 *	headers  to send along to that url: an object, or its JSON in a string
 *	delay    ms that it waits before it goes on
 *
 * and all else is passed on and left alone. In an answer stand id, url, code, resCode (that of the
 * next hop), elapsed (whole ms from receipt to answer, all that is behind it included), error
 * where something went wrong; beside choi's own the same in us (elapsed_us) and how the call of the
 * next hop went (next_us: dns, tcp, tls, wait, receive, total, and new_connections).
 */
#ifndef PVCBENCH_CHAIN_H
#define PVCBENCH_CHAIN_H

#include "io/http.h"

#define CHAIN_HOPS_MAX    16
#define CHAIN_HEADERS_MAX 16
#define CHAIN_ERROR_MAX   256 /* bytes of a hop's error that are kept */
#define CHAIN_DELAY_MAX   (10 * NSEC_PER_SEC)

struct chain;

/* The first hop's own. */
struct chain_hop {
	uint64_t delay_ns;                             /* at most CHAIN_DELAY_MAX */
	const char *next_url;                          /* NULL: it is the last one */
	struct http_header headers[CHAIN_HEADERS_MAX]; /* for next_url */
	unsigned n_headers;
};

/* What a hop says of itself. */
struct chain_report {
	int code;                         /* it answers with */
	uint64_t elapsed_ns;              /* since it was asked */
	const char *error;                /* NULL: none */
	const struct http_response *next; /* NULL: it called nobody */
};

/*
 * Of a request's body, which is text from anybody. The error (class ERR_TEST) says what is wrong
 * with it. *out is freed by chain_free.
 */
int chain_read(struct chain **out, const char *text, size_t bytes, struct err *err);
void chain_free(struct chain *chain);

/* Valid until chain_free. */
const struct chain_hop *chain_first(const struct chain *chain);

/* The body for the next hop. From malloc; NULL: out of memory. */
char *chain_rest(const struct chain *chain);

/*
 * The body of the answer: the report of the first hop, then what the next one answered, if that is
 * an array of hops; else the report has an error that says so. From malloc; NULL: out of memory.
 */
char *chain_answer(const struct chain *chain, const struct chain_report *report);

/* ---- of the client, who begins a chain ---- */

/* What one hop answered, as far as it tells. */
struct chain_answer {
	int code, next_code;
	uint64_t elapsed_ns;
	char error[CHAIN_ERROR_MAX]; /* "": none */
	bool knows_next;             /* next_ns holds the call of the next hop */
	uint64_t next_ns[HTTP_PHASES];
	unsigned new_connections;
};

/* A hop that the client sends the request through. */
struct chain_step {
	const char *url;
	const struct http_header *headers;
	unsigned n_headers;
};

/*
 * The body that goes to the first of n hops; with more_bytes of letters in its last hop. From
 * malloc; NULL: out of memory.
 */
char *chain_request(const struct chain_step *steps, unsigned n, size_t more_bytes);

/*
 * The answers of *n hops, the first one first, out of a body that may hold anything; the error
 * (class ERR_TEST) is that of a body that is no array of hops.
 */
int chain_read_answer(struct chain_answer out[CHAIN_HOPS_MAX], unsigned *n, const char *text,
                      size_t bytes, struct err *err);

#endif
