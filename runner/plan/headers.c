/*
 * What may be a secret, the value of a header and a URL, comes into no message. Those that
 * always are one must not stand in the plan itself, which everyone may read who may read
 * ConfigMaps: a variable from the environment has to be in them.
 */
#include "plan/headers.h"

#include <string.h>

#include "plan/value.h"

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

static int check_header_name(const struct plan_header *headers, unsigned n, const struct node *key,
                             struct err *err)
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
	for (unsigned i = 0; i < n; i++)
		if (!strcasecmp(headers[i].name, name))
			return err_set(err, ERR_PLAN, "the header '%s' stands here twice", text);
	return 0;
}

/* Whether something was filled in. */
static bool has_variable(const struct node *node, const struct text *text)
{
	return strcmp(node_text(node), text->bytes) != 0;
}

/* Behind the n that are there. */
static int read_header(struct plan_header *headers, unsigned n, const char *also,
                       const struct tree *tree, const struct node *key, const struct node *value,
                       struct err *err)
{
	struct plan_header *header = &headers[n];
	struct text text;

	_Static_assert(sizeof(text.bytes) <= sizeof(header->value), "every value fits");
	if (check_header_name(headers, n, key, err))
		return blame_key(tree, key, PLAN_SINK_HEADERS, err);
	snprintf(header->name, sizeof(header->name), "%s", node_text(key));
	if (value_text(value, &text, err))
		return blame_key(tree, value, header->name, err);
	if (is_always_secret(header->name) && !has_variable(value, &text)) {
		err_set(err, ERR_PLAN,
		        "a secret in the plan itself (allowed: ${NAME} from the environment%s)",
		        also);
		return blame_key(tree, value, header->name, err);
	}
	memcpy(header->value, text.bytes, text.used + 1);
	return 0;
}

int plan_headers_read(struct plan_header *headers, unsigned *n, const char *also,
                      const struct tree *tree, const struct node *node, struct err *err)
{
	if (node_type(node) != NODE_MAPPING || node_count(node) > PLAN_HEADERS_MAX) {
		err_set(err, ERR_PLAN, "a mapping of at most %d names to values is wanted",
		        PLAN_HEADERS_MAX);
		return blame_key(tree, node, PLAN_SINK_HEADERS, err);
	}
	for (unsigned i = 0; i < node_count(node); i++) {
		if (read_header(headers, *n, also, tree, tree_key(tree, node, i),
		                tree_value(tree, node, i), err))
			return -1;
		++*n;
	}
	return 0;
}

int plan_url_read(void *object, bool *is_secret, const struct field *row, const struct tree *tree,
                  const struct node *node, struct err *err)
{
	struct text text;

	if (value_text(node, &text, err) || field_set(row, object, text.bytes, err))
		return blame_key(tree, node, row->name, err);
	*is_secret = has_variable(node, &text);
	if (!*is_secret && plan_url_has_password(text.bytes)) {
		err_set(err, ERR_PLAN,
		        "a password in the plan itself (allowed: ${NAME} from the environment)");
		return blame_key(tree, node, row->name, err);
	}
	return 0;
}
