#include "result/hops.h"

#include <string.h>

const char *const hops_part_names[HOPS_PARTS] = {
        [HOPS_DNS] = "dns",   [HOPS_TCP] = "tcp",         [HOPS_TLS] = "tls",
        [HOPS_WAIT] = "wait", [HOPS_RECEIVE] = "receive",
};

const char *const hops_error_names[HOPS_ERRORS] = {
        [HOPS_UNRESOLVED] = "unresolved", [HOPS_UNREACHABLE] = "unreachable",
        [HOPS_UNTRUSTED] = "untrusted",   [HOPS_TLS_FAILED] = "tls",
        [HOPS_TIMED_OUT] = "timed-out",   [HOPS_BROKEN] = "broken",
        [HOPS_TOO_LARGE] = "too-large",   [HOPS_STATUS] = "status",
        [HOPS_FORMAT] = "format",         [HOPS_HOP] = "hop",
};

static int chain_init(struct chain_result *chain, const struct plan_chain *plan)
{
	snprintf(chain->name, sizeof(chain->name), "%s", plan->name);
	chain->hops = calloc(plan->n_hops, sizeof(*chain->hops));
	if (!chain->hops)
		return -1;
	chain->n_hops = plan->n_hops;
	return 0;
}

int hops_result_init(struct hops_result *hops, const struct plan_chains *chains)
{
	hops->chains = calloc(chains->n, sizeof(*hops->chains));
	if (!hops->chains)
		return -1;
	for (unsigned i = 0; i < chains->n; i++) {
		hops->n_chains++;
		if (chain_init(&hops->chains[i], &chains->chain[i]))
			return -1;
	}
	return 0;
}

void hops_result_destroy(struct hops_result *hops)
{
	for (unsigned i = 0; i < hops->n_chains; i++)
		free(hops->chains[i].hops);
	free(hops->chains);
	*hops = (struct hops_result){0};
}

void hops_range_add(struct hops_range *range, uint64_t ns)
{
	range->min = range->count ? min_u64(range->min, ns) : ns;
	range->max = max_u64(range->max, ns);
	range->sum += ns;
	range->count++;
}

uint64_t hops_range_mean(const struct hops_range *range)
{
	return range->count ? range->sum / range->count : 0;
}

uint64_t chain_errors(const struct chain_result *chain)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < HOPS_ERRORS; i++)
		sum += chain->errors[i];
	return sum;
}
