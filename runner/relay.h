/*
 * A hop of a chain of HTTP calls (kinds/chain.h): it answers those before it, and calls the next
 * one.
 *
 * Who may reach it could make it call others, so it calls nobody whose URL does not begin with one
 * that was allowed. It follows no redirect, takes no proxy from the environment, and tells nothing
 * of its environment. Requests, hops, answers, waits and connections are bounded.
 */
#ifndef PVCBENCH_RELAY_H
#define PVCBENCH_RELAY_H

#include "base/err.h"

#define RELAY_ALLOW_MAX       64
#define RELAY_CONNECTIONS_MAX 256
#define RELAY_BODY_MAX        MIB
#define RELAY_TIMEOUT_NS      (15 * NSEC_PER_SEC)

struct relay_options {
	const char *listen; /* "0.0.0.0:8080", as in io/serve.h */
	/* What URLs begin with that may be called: "http://app2" is http://app2 and http://app2/x,
	 * and neither http://app2.example.com nor http://app2:81. */
	const char *allow[RELAY_ALLOW_MAX];
	unsigned n_allow;
	const char *ca_file; /* NULL: as in io/http.h */
	uint64_t timeout_ns; /* of the call of the next hop, all behind it included */
};

/* Serve until a signal comes: 0. Else the exit code of an error, which was printed. */
int relay_run(const struct relay_options *options);

#endif
