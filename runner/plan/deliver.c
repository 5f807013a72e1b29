/*
 * What may be a secret, the value of a header and a URL, comes into no message. Those that
 * always are one must not stand in the plan itself, which everyone may read who may read
 * ConfigMaps: a variable from the environment has to be in them.
 */
#include "plan/deliver.h"

#include <assert.h>
#include <string.h>

#include "plan/value.h"

/* ---- headers ---- */

static bool is_always_secret(const char *name)
{
	static const char *const names[] = {"Authorization", "Proxy-Authorization", "Cookie",
	                                    "X-Api-Key", "Api-Key"};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcasecmp(names[i], name))
			return true;
	return false;
}

/* What the client itself writes. */
static bool is_ours(const char *name)
{
	static const char *const names[] = {"Connection", "Content-Length", "Expect", "Host",
	                                    "Transfer-Encoding"};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcasecmp(names[i], name))
			return true;
	return false;
}

static int check_header_name(const struct plan_sink *sink, const struct node *key, struct err *err)
{
	static const char token[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                            "0123456789!#$%&'*+-.^_`|~";

	if (node_type(key) != NODE_SCALAR)
		return err_set(err, ERR_PLAN, "a header's name must be a word");
	const char *name = node_text(key);
	char text[SHOWN_MAX];

	shown(name, node_length(key), text);
	if (!*name || strlen(name) != node_length(key) || strspn(name, token) != strlen(name) ||
	    strlen(name) >= PLAN_HEADER_NAME_MAX)
		return err_set(err, ERR_PLAN, "'%s' is no header's name", text);
	if (is_ours(name))
		return err_set(err, ERR_PLAN, "the header '%s' cannot be set", text);
	for (unsigned i = 0; i < sink->n_headers; i++)
		if (!strcasecmp(sink->headers[i].name, name))
			return err_set(err, ERR_PLAN, "the header '%s' stands here twice", text);
	return 0;
}

/* Whether something was filled in. */
static bool has_variable(const struct node *node, const struct text *text)
{
	return strcmp(node_text(node), text->bytes) != 0;
}

static int read_header(struct plan_sink *sink, const struct tree *tree, const struct node *key,
                       const struct node *value, struct err *err)
{
	struct plan_header *header = &sink->headers[sink->n_headers];
	struct text text;

	_Static_assert(sizeof(text.bytes) <= sizeof(header->value), "every value fits");
	if (check_header_name(sink, key, err))
		return blame_key(tree, key, PLAN_SINK_HEADERS, err);
	snprintf(header->name, sizeof(header->name), "%s", node_text(key));
	if (value_text(value, &text, err))
		return blame_key(tree, value, header->name, err);
	if (is_always_secret(header->name) && !has_variable(value, &text)) {
		err_set(err, ERR_PLAN,
		        "a secret in the plan itself (allowed: ${NAME} from the environment, or "
		        "authorization_file)");
		return blame_key(tree, value, header->name, err);
	}
	memcpy(header->value, text.bytes, text.used + 1);
	sink->n_headers++;
	return 0;
}

static int read_headers(struct plan_sink *sink, const struct tree *tree, const struct node *node,
                        struct err *err)
{
	if (node_type(node) != NODE_MAPPING || node_count(node) > PLAN_HEADERS_MAX) {
		err_set(err, ERR_PLAN, "a mapping of at most %d names to values is wanted",
		        PLAN_HEADERS_MAX);
		return blame_key(tree, node, PLAN_SINK_HEADERS, err);
	}
	for (unsigned i = 0; i < node_count(node); i++)
		if (read_header(sink, tree, tree_key(tree, node, i), tree_value(tree, node, i),
		                err))
			return -1;
	return 0;
}

/* ---- a sink ---- */

static int read_plain(struct plan_sink *sink, const struct field *row, const struct tree *tree,
                      const struct node *node, struct err *err)
{
	bool is_url = !strcmp(row->name, "webhook") || !strcmp(row->name, "pushgateway");
	struct text text;

	if (value_text(node, &text, err) || field_set(row, sink, text.bytes, err))
		return blame_key(tree, node, row->name, err);
	if (!is_url)
		return 0;
	sink->url_is_secret = has_variable(node, &text);
	if (!sink->url_is_secret && plan_url_has_password(text.bytes)) {
		err_set(err, ERR_PLAN,
		        "a password in the plan itself (allowed: ${NAME} from the environment)");
		return blame_key(tree, node, row->name, err);
	}
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
		return read_headers(sink, tree, value, err);
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
