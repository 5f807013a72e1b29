/*
 * What a test of kind hops gave: of each chain how long requests took, and of each of its hops
 * where that time went. Of every request that was measured
 *
 *	late + the sum over all hops of (own + network) = total
 *
 * holds to the nanosecond: `own` is what a hop took itself, `network` what whoever called it waited
 * beyond the time that it says it took: both ways, connecting, and all proxies between. All are
 * durations; clocks of different hosts are never compared.
 */
#ifndef PVCBENCH_RESULT_HOPS_H
#define PVCBENCH_RESULT_HOPS_H

#include "measure/hist.h"
#include "plan/chains.h"

#define HOPS_URL_MAX   128 /* bytes of a URL that are kept, without what may be secret */
#define HOPS_ERROR_MAX 320
#define HOPS_ALL_MAX   (PLAN_CHAINS_MAX * PLAN_HOPS_MAX)

/* The parts of a call, as the one who makes it sees them; all but wait can be 0. */
enum hops_part { HOPS_DNS, HOPS_TCP, HOPS_TLS, HOPS_WAIT, HOPS_RECEIVE, HOPS_PARTS };
extern const char *const hops_part_names[HOPS_PARTS]; /* "dns" */

/* A quantity of so many requests, ns. */
struct hops_range {
	uint64_t count, sum, min, max;
};

struct hop_result {
	char url[HOPS_URL_MAX];
	struct hist own, network;
	struct hops_range part[HOPS_PARTS]; /* none: its caller does not tell */
	uint64_t new_connections;           /* made for its calls */
	uint64_t untold; /* requests of which it did not say how long it waited for the next hop:
	                    its own time is in the network time of that one */
};

/* Why a request is not in the figures. */
enum hops_error {
	HOPS_UNRESOLVED,
	HOPS_UNREACHABLE,
	HOPS_UNTRUSTED,
	HOPS_TLS_FAILED,
	HOPS_TIMED_OUT,
	HOPS_BROKEN,
	HOPS_TOO_LARGE,
	HOPS_STATUS, /* answered, by another status than 200 */
	HOPS_FORMAT, /* by what is no answer of these hops */
	HOPS_HOP,    /* a hop tells of an error, or the chain ended at it */
	HOPS_ERRORS
};
extern const char *const hops_error_names[HOPS_ERRORS]; /* "unresolved" */

struct chain_result {
	char name[PLAN_NAME_MAX];
	struct hop_result *hops; /* owned */
	unsigned n_hops;
	struct hist total; /* of the requests in the figures; in an open loop from the due time */
	struct hist late;  /* open loop: from the due time to the sending */
	struct hops_range warmup; /* of the requests before, which are in no other figure */
	uint64_t warmup_first_ns; /* the very first; 0: it failed, or there was none */
	uint64_t warmup_errors;
	uint64_t unsent;  /* open loop: due, and not sent before the end */
	uint64_t rounded; /* hops that said they took longer than was waited for them */
	uint64_t errors[HOPS_ERRORS];
	char error[HOPS_ERROR_MAX]; /* the first one in words; "": none */
};

struct hops_result {
	struct chain_result *chains; /* owned */
	unsigned n_chains;
};

/* Chains and hops as planned, nothing measured yet. -1: out of memory. */
int hops_result_init(struct hops_result *hops, const struct plan_chains *chains);
void hops_result_destroy(struct hops_result *hops);

void hops_range_add(struct hops_range *range, uint64_t ns);
uint64_t hops_range_mean(const struct hops_range *range); /* 0 of none */

uint64_t chain_errors(const struct chain_result *chain); /* all kinds, warm-up apart */

#endif
