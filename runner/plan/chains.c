/*
 * A mapping of names to lists of hops, each a mapping of its own.
 */
#include "plan/chains.h"

#include <string.h>

#include "plan/headers.h"
#include "plan/value.h"

static const struct field *const url_row = &plan_hop_fields[0];

static int unknown_key(const struct node *key, struct err *err)
{
	char text[SHOWN_MAX];

	err_set(err, ERR_PLAN, "unknown key '%s' of a hop",
	        shown(node_text(key), node_length(key), text));
	return field_append_nearest(
	        plan_hop_fields, plan_n_hop_fields,
	        field_nearest(plan_hop_fields, plan_n_hop_fields, node_text(key)), err);
}

static int read_key(struct plan_hop *hop, const struct tree *tree, const struct node *key,
                    const struct node *value, struct err *err)
{
	const struct field *row;

	if (node_type(key) != NODE_SCALAR) {
		err_set(err, ERR_PLAN, "a key must be a word");
		return tree_blame(tree, key, err);
	}
	row = field_find(plan_hop_fields, plan_n_hop_fields, node_text(key));
	if (!row || strlen(row->name) != node_length(key)) {
		unknown_key(key, err);
		return tree_blame(tree, key, err);
	}
	if (row == url_row ? hop->url[0] != '\0' : hop->n_headers > 0) {
		err_set(err, ERR_PLAN, "key '%s' stands here twice", row->name);
		return tree_blame(tree, key, err);
	}
	if (row == url_row)
		return plan_url_read(hop, &hop->url_is_secret, row, tree, value, err);
	return plan_headers_read(hop->headers, &hop->n_headers, "", tree, value, err);
}

static int read_hop(struct plan_hop *hop, const struct tree *tree, const struct node *node,
                    struct err *err)
{
	if (node_type(node) != NODE_MAPPING) {
		err_set(err, ERR_PLAN, "a hop is a mapping (such as {url: http://app2/})");
		return tree_blame(tree, node, err);
	}
	for (unsigned i = 0; i < node_count(node); i++)
		if (read_key(hop, tree, tree_key(tree, node, i), tree_value(tree, node, i), err))
			return -1;
	if (hop->url[0])
		return 0;
	err_set(err, ERR_PLAN, "a hop without a url");
	return tree_blame(tree, node, err);
}

static int read_name(struct plan_chains *chains, const struct tree *tree, const struct node *key,
                     struct err *err)
{
	struct plan_chain *chain = &chains->chain[chains->n];
	struct test scratch;

	if (node_type(key) != NODE_SCALAR) {
		err_set(err, ERR_PLAN, "a chain's name must be a word");
		return tree_blame(tree, key, err);
	}
	if (strlen(node_text(key)) != node_length(key) ||
	    field_set(scope_name_row(), &scratch, node_text(key), err)) {
		err_set(err, ERR_PLAN, "no name of a chain (allowed: %s)",
		        scope_name_row()->allowed);
		return blame_key(tree, key, PLAN_CHAINS, err);
	}
	snprintf(chain->name, sizeof(chain->name), "%s", scratch.name);
	for (unsigned i = 0; i < chains->n; i++) {
		if (strcmp(chains->chain[i].name, chain->name) != 0)
			continue;
		err_set(err, ERR_PLAN, "the chain '%s' stands here twice", chain->name);
		return tree_blame(tree, key, err);
	}
	return 0;
}

static int read_chain(struct plan_chains *chains, const struct tree *tree, const struct node *key,
                      const struct node *list, struct err *err)
{
	struct plan_chain *chain = &chains->chain[chains->n];

	if (read_name(chains, tree, key, err))
		return -1;
	if (node_type(list) != NODE_LIST || !node_count(list) || node_count(list) > PLAN_HOPS_MAX) {
		err_set(err, ERR_PLAN, "%s: a list of 1 to %d hops is wanted", chain->name,
		        PLAN_HOPS_MAX);
		return blame_key(tree, list, PLAN_CHAINS, err);
	}
	chain->hops = calloc(node_count(list), sizeof(*chain->hops));
	if (!chain->hops)
		return scope_no_memory(err);
	chains->n++;
	for (; chain->n_hops < node_count(list); chain->n_hops++)
		if (read_hop(&chain->hops[chain->n_hops], tree,
		             tree_element(tree, list, chain->n_hops), err))
			return -1;
	return 0;
}

int plan_chains_read(struct plan *plan, const struct plan_chains **out, const struct tree *tree,
                     const struct node *mapping, struct err *err)
{
	struct plan_chains *chains;

	if (node_type(mapping) != NODE_MAPPING || !node_count(mapping) ||
	    node_count(mapping) > PLAN_CHAINS_MAX) {
		err_set(err, ERR_PLAN, "a mapping of 1 to %d names to lists of hops is wanted",
		        PLAN_CHAINS_MAX);
		return blame_key(tree, mapping, PLAN_CHAINS, err);
	}
	chains = calloc(1, sizeof(*chains));
	if (!chains)
		return scope_no_memory(err);
	chains->next = plan->chains;
	plan->chains = chains;
	for (unsigned i = 0; i < node_count(mapping); i++)
		if (read_chain(chains, tree, tree_key(tree, mapping, i),
		               tree_value(tree, mapping, i), err))
			return -1;
	*out = chains;
	return 0;
}
