/*
 *	client: |<------------------------- total -------------------------->|
 *	hop 1:       |<-------------- elapsed -------------->|
 *	               own  |<----- its call of hop 2 ---->|
 *	hop 2:                  |<--- elapsed --->|
 *
 * network to a hop = what its caller waited - elapsed; own = elapsed - its call of the next hop.
 * Each difference is of two durations by one clock, or by two that only count.
 */
#include "kinds/hops_tally.h"

_Static_assert((int)HOPS_DNS == (int)HTTP_DNS && (int)HOPS_TCP == (int)HTTP_TCP &&
                       (int)HOPS_TLS == (int)HTTP_TLS && (int)HOPS_WAIT == (int)HTTP_WAIT &&
                       (int)HOPS_RECEIVE == (int)HTTP_RECEIVE,
               "the parts are the phases before the total");

/* Not more than `most`. */
static uint64_t bound(struct chain_result *chain, uint64_t ns, uint64_t most_ns)
{
	if (ns <= most_ns)
		return ns;
	chain->rounded++;
	return most_ns;
}

static void add_call(struct hop_result *hop, const uint64_t phase_ns[HTTP_PHASES],
                     unsigned new_connections)
{
	for (unsigned part = 0; part < HOPS_PARTS; part++)
		hops_range_add(&hop->part[part], phase_ns[part]);
	hop->new_connections += new_connections;
}

/* How long hop i waited for the next one; of the last one 0. */
static uint64_t next_wait_ns(struct chain_result *chain, unsigned i,
                             const struct chain_answer *answer, uint64_t elapsed_ns)
{
	if (i + 1 == chain->n_hops)
		return 0;
	if (!answer->knows_next) {
		chain->hops[i].untold++;
		return elapsed_ns;
	}
	add_call(&chain->hops[i + 1], answer->next_ns, answer->new_connections);
	return bound(chain, answer->next_ns[HTTP_TOTAL], elapsed_ns);
}

void hops_tally(struct chain_result *chain, const struct hops_request *request,
                const struct chain_answer *answers)
{
	uint64_t waited_ns = request->phase_ns[HTTP_TOTAL];

	hist_record(&chain->total, request->late_ns + waited_ns);
	if (request->is_open_loop)
		hist_record(&chain->late, request->late_ns);
	add_call(&chain->hops[0], request->phase_ns, request->new_connections);
	for (unsigned i = 0; i < chain->n_hops; i++) {
		uint64_t elapsed_ns = bound(chain, answers[i].elapsed_ns, waited_ns);
		uint64_t next_ns = next_wait_ns(chain, i, &answers[i], elapsed_ns);

		hist_record(&chain->hops[i].network, waited_ns - elapsed_ns);
		hist_record(&chain->hops[i].own, elapsed_ns - next_ns);
		waited_ns = next_ns;
	}
}
