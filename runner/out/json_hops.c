/*
 * What a test of kind hops gave, as JSON.
 */
#include <cjson/cJSON.h>

#include "out/figures.h"
#include "out/json_part.h"

static const struct member hist_members[] = {
        {"requests", UINT_AT(struct hist, count), .required = true},
        {"latency", PART_OF(figures_latency_members)},
        {0},
};

static bool has_range(const void *object)
{
	return ((const struct hops_range *)object)->count;
}

static void write_mean(struct emit *emit, const struct member *row, const void *object)
{
	emit_uint(emit, row->name, hops_range_mean(object));
}

static const struct member range_members[] = {
        {"requests", UINT_AT(struct hops_range, count), .required = true},
        {"min", UINT_AT(struct hops_range, min), .known = has_range},
        {"mean", .write = write_mean, .known = has_range},
        {"max", UINT_AT(struct hops_range, max), .known = has_range},
        {"sum", UINT_AT(struct hops_range, sum), .required = true},
        {0},
};

#define PART_AT(which) OBJECT_AT(struct hop_result, part[which], range_members), .required = true

static const struct member hop_members[] = {
        {"url", TEXT_AT(struct hop_result, url), .required = true},
        {"own_ns", OBJECT_AT(struct hop_result, own, hist_members), .required = true},
        {"network_ns", OBJECT_AT(struct hop_result, network, hist_members), .required = true},
        {"dns_ns", PART_AT(HOPS_DNS)},
        {"tcp_ns", PART_AT(HOPS_TCP)},
        {"tls_ns", PART_AT(HOPS_TLS)},
        {"wait_ns", PART_AT(HOPS_WAIT)},
        {"receive_ns", PART_AT(HOPS_RECEIVE)},
        {"new_connections", UINT_AT(struct hop_result, new_connections), .required = true},
        {"untold", UINT_AT(struct hop_result, untold), .required = true},
        {0},
};

static void write_errors(struct emit *emit, const struct member *row, const void *object)
{
	const struct chain_result *chain = object;

	emit_open(emit, row->name, '{');
	for (unsigned i = 0; i < HOPS_ERRORS; i++)
		if (chain->errors[i])
			emit_uint(emit, hops_error_names[i], chain->errors[i]);
	emit_close(emit, '}');
}

static int read_errors(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct chain_result *chain = object;

	(void)row;
	if (!cJSON_IsObject(item))
		return err_set(err, ERR_PLAN, "is no object");
	for (unsigned i = 0; i < HOPS_ERRORS; i++) {
		const cJSON *n = cJSON_GetObjectItemCaseSensitive(item, hops_error_names[i]);

		if (n && member_read_uint(n, &chain->errors[i], err))
			return -1;
	}
	return 0;
}

static const struct member chain_members[] = {
        {"name", TEXT_AT(struct chain_result, name), .required = true},
        {"total_ns", OBJECT_AT(struct chain_result, total, hist_members), .required = true},
        {"late_ns", OBJECT_AT(struct chain_result, late, hist_members), .required = true},
        {"unsent", UINT_AT(struct chain_result, unsent), .required = true},
        {"rounded", UINT_AT(struct chain_result, rounded), .required = true},
        {"warmup_ns", OBJECT_AT(struct chain_result, warmup, range_members), .required = true},
        {"warmup_first_ns", KNOWN_AT(struct chain_result, warmup_first_ns), .required = true},
        {"warmup_errors", UINT_AT(struct chain_result, warmup_errors), .required = true},
        {"errors", .required = true, .write = write_errors, .read = read_errors},
        {"error", TEXT_AT(struct chain_result, error), .required = true},
        {"hops", ARRAY_AT(struct chain_result, hops, n_hops, PLAN_HOPS_MAX), .members = hop_members,
         .required = true},
        {0},
};

static const struct member hops_members[] = {
        {"chains", ARRAY_AT(struct hops_result, chains, n_chains, PLAN_CHAINS_MAX),
         .members = chain_members, .required = true},
        {0},
};

void json_write_hops(struct emit *emit, const struct member *row, const void *object)
{
	if (doc_of(emit)->omit_hops)
		emit_null(emit, row->name);
	else
		member_write_object(emit, row->name, hops_members,
		                    &((const struct test_result *)object)->hops);
}

static int check_range(const struct hops_range *range, struct err *err)
{
	if (range->min > range->max || (!range->count && (range->sum || range->max)))
		return err_set(err, ERR_PLAN, "has a range that is none");
	return 0;
}

static int check_hop(const struct hop_result *hop, struct err *err)
{
	if (figures_check_latency(&hop->own, err) || figures_check_latency(&hop->network, err))
		return -1;
	for (unsigned i = 0; i < HOPS_PARTS; i++)
		if (check_range(&hop->part[i], err))
			return -1;
	return 0;
}

static int check_chain(const struct chain_result *chain, struct err *err)
{
	if (!chain->n_hops)
		return err_set(err, ERR_PLAN, "has a chain without hops");
	if (figures_check_latency(&chain->total, err) || figures_check_latency(&chain->late, err) ||
	    check_range(&chain->warmup, err))
		return -1;
	for (unsigned i = 0; i < chain->n_hops; i++)
		if (check_hop(&chain->hops[i], err))
			return -1;
	return 0;
}

int json_read_hops(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct hops_result *hops = &((struct test_result *)object)->hops;

	(void)row;
	if (cJSON_IsNull(item))
		return err_set(err, ERR_PLAN,
		               "was left out of this line, it would have been too long; "
		               "the document that --out wrote has it");
	if (member_read_object(item, hops_members, hops, err))
		return -1;
	for (unsigned i = 0; i < hops->n_chains; i++)
		if (check_chain(&hops->chains[i], err))
			return -1;
	return 0;
}
