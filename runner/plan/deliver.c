/*
 * One sink after the other, each by the rows of plan/sink.c.
 */
#include "plan/deliver.h"

#include <assert.h>
#include <string.h>

#include "plan/headers.h"
#include "plan/value.h"

static int read_plain(struct plan_sink *sink, const struct field *row, const struct tree *tree,
                      const struct node *node, struct err *err)
{
	struct text text;

	if (!strcmp(row->name, "webhook") || !strcmp(row->name, "pushgateway"))
		return plan_url_read(sink, &sink->url_is_secret, row, tree, node, err);
	if (value_text(node, &text, err) || field_set(row, sink, text.bytes, err))
		return blame_key(tree, node, row->name, err);
	return 0;
}

static int unknown_key(const struct node *key, struct err *err)
{
	const char *nearest = field_nearest(plan_sink_fields, plan_n_sink_fields, node_text(key));
	char text[SHOWN_MAX];

	err_set(err, ERR_PLAN, "unknown key '%s' of a delivery",
	        shown(node_text(key), node_length(key), text));
	if (nearest)
		return err_append(err, " (did you mean '%s'?)", nearest);
	err_append(err, " (known:");
	for (size_t i = 0; i < plan_n_sink_fields; i++)
		err_append(err, "%s %s", i ? "," : "", plan_sink_fields[i].name);
	return err_append(err, ")");
}

/* Bits of the rows that were written. */
static bool has(unsigned long seen, const char *name)
{
	const struct field *row = field_find(plan_sink_fields, plan_n_sink_fields, name);

	assert(row);
	return seen >> (row - plan_sink_fields) & 1;
}

static int read_key(struct plan_sink *sink, const struct tree *tree, const struct node *key,
                    const struct node *value, unsigned long *seen, struct err *err)
{
	if (node_type(key) != NODE_SCALAR) {
		err_set(err, ERR_PLAN, "a key must be a word");
		return tree_blame(tree, key, err);
	}
	const char *name = node_text(key);
	const struct field *row = field_find(plan_sink_fields, plan_n_sink_fields, name);

	if (!row || strlen(name) != node_length(key)) {
		unknown_key(key, err);
		return tree_blame(tree, key, err);
	}
	if (has(*seen, name)) {
		err_set(err, ERR_PLAN, "key '%s' stands here twice", name);
		return tree_blame(tree, key, err);
	}
	*seen |= 1ul << (row - plan_sink_fields);
	if (!strcmp(name, PLAN_SINK_HEADERS))
		return plan_headers_read(sink->headers, &sink->n_headers, ", or authorization_file",
		                         tree, value, err);
	return read_plain(sink, row, tree, value, err);
}

/* What belongs together. */
static int check_sink(const struct plan_sink *sink, unsigned long seen, struct err *err)
{
	static const char *const of_urls[] = {PLAN_SINK_HEADERS, "authorization_file", "ca_file"};

	if (has(seen, "file") + has(seen, "webhook") + has(seen, "pushgateway") != 1)
		return err_set(err, ERR_PLAN,
		               "a delivery is one of 'file', 'webhook' and 'pushgateway'");
	if (has(seen, "job") && !has(seen, "pushgateway"))
		return err_set(err, ERR_PLAN, "'job' belongs to a pushgateway");
	for (unsigned i = 0; i < ARRAY_SIZE(of_urls); i++)
		if (has(seen, "file") && has(seen, of_urls[i]))
			return err_set(err, ERR_PLAN, "'%s' has no meaning for a file", of_urls[i]);
	for (unsigned i = 0; i < sink->n_headers; i++)
		if (sink->authorization_file[0] &&
		    !strcasecmp(sink->headers[i].name, "Authorization"))
			return err_set(err, ERR_PLAN,
			               "'authorization_file' and a header 'Authorization' exclude "
			               "each other");
	return 0;
}

static int read_sink(struct plan_sink *sink, const struct tree *tree, const struct node *node,
                     struct err *err)
{
	unsigned long seen = 0;

	if (node_type(node) != NODE_MAPPING) {
		err_set(err, ERR_PLAN, "a delivery is a mapping (such as {webhook: https://...})");
		return tree_blame(tree, node, err);
	}
	field_set_defaults(plan_sink_fields, plan_n_sink_fields, sink);
	sink->line = node_line(node);
	sink->column = node_column(node);
	for (unsigned i = 0; i < node_count(node); i++)
		if (read_key(sink, tree, tree_key(tree, node, i), tree_value(tree, node, i), &seen,
		             err))
			return -1;
	return check_sink(sink, seen, err) ? tree_blame(tree, node, err) : 0;
}

int plan_deliver_read(struct plan *plan, const struct tree *tree, const struct node *list,
                      struct err *err)
{
	if (node_type(list) != NODE_LIST || !node_count(list) ||
	    node_count(list) > PLAN_SINKS_MAX) {
		err_set(err, ERR_PLAN, "deliver: a list of 1 to %d deliveries is wanted",
		        PLAN_SINKS_MAX);
		return tree_blame(tree, list, err);
	}
	plan->sinks = calloc(node_count(list), sizeof(*plan->sinks));
	if (!plan->sinks)
		return scope_no_memory(err);
	for (unsigned i = 0; i < node_count(list); i++) {
		if (read_sink(&plan->sinks[i], tree, tree_element(tree, list, i), err))
			return -1;
		plan->n_sinks++;
	}
	return 0;
}
