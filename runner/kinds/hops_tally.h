/*
 * Where the time of one request went: from what the client measured and what the hops say to the
 * figures of their chain, by differences.
 */
#ifndef PVCBENCH_HOPS_TALLY_H
#define PVCBENCH_HOPS_TALLY_H

#include "kinds/chain.h"
#include "result/hops.h"

/* One that came back through all hops of its chain. */
struct hops_request {
	uint64_t late_ns; /* from the due time to the sending; 0 in a closed loop */
	uint64_t phase_ns[HTTP_PHASES];
	unsigned new_connections;
	bool is_open_loop;
};

/*
 * answers holds one of each of the chain's hops. What a hop says to have taken counts up to what
 * was waited for it: a hop that rounds to ms may say more.
 */
void hops_tally(struct chain_result *chain, const struct hops_request *request,
                const struct chain_answer *answers);

#endif
