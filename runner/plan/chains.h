/*
 * The chains of a test of kind hops, as the plan's key `chains` names them: services that are
 * called one through the other.
 */
#ifndef PVCBENCH_PLAN_CHAINS_H
#define PVCBENCH_PLAN_CHAINS_H

#include "plan/sink.h"
#include "plan/tree.h"

#define PLAN_CHAINS_MAX 8  /* of a test */
#define PLAN_HOPS_MAX   16 /* of a chain */

struct plan_hop {
	char url[PLAN_URL_MAX];
	bool url_is_secret; /* a variable went into it: its path is not shown */
	struct plan_header headers[PLAN_HEADERS_MAX]; /* of the request to url */
	unsigned n_headers;
};

struct plan_chain {
	char name[PLAN_NAME_MAX];
	struct plan_hop *hops; /* owned; the first one is called by this program */
	unsigned n_hops;       /* at least 1 */
};

struct plan_chains {
	struct plan_chains *next; /* of the same plan */
	struct plan_chain chain[PLAN_CHAINS_MAX];
	unsigned n; /* at least 1 */
};

/* The keys of a hop; `headers` is a mapping of names to values, read apart. */
extern const struct field plan_hop_fields[];
extern const size_t plan_n_hop_fields;

/*
 * Read the value of the key. *out is put in front of plan->chains, which plan_destroy frees. The
 * error has its place and repeats nothing that may be a secret.
 */
int plan_chains_read(struct plan *plan, const struct plan_chains **out, const struct tree *tree,
                     const struct node *mapping, struct err *err);

#endif
