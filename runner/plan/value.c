/*
 * A value is read by trying it on a test that is thrown away; what is kept is its text,
 * which is read again for every test that it becomes part of.
 */
#include "plan/value.h"

#include <ctype.h>
#include <string.h>

const char *shown(const char *text, size_t length, char out[SHOWN_MAX])
{
	size_t n = min_u64(length, SHOWN_MAX - 4);

	for (size_t i = 0; i < n; i++)
		out[i] = iscntrl((unsigned char)text[i]) ? '?' : text[i];
	snprintf(out + n, 4, "%s", length > n ? "..." : "");
	return out;
}

int blame_key(const struct tree *tree, const struct node *node, const char *key, struct err *err)
{
	/* the name of what has no places says the key too */
	if (!tree->no_places)
		err_wrap(err, "%s", key);
	return tree_blame(tree, node, err);
}

/* What fio calls otherwise. */
static const struct {
	const char *fio, *ours;
} fio_keys[] = {
        {"blocksize", "bs"},        {"buffered", "direct"}, {"directory", "target"},
        {"filesize", "size"},       {"loop", "loops"},      {"norandommap", "randommap"},
        {"readwrite", "rw"},        {"thread", "numjobs"},  {"time_based", "runtime"},
        {"zero_buffers", "buffer"},
};

/* By what fio calls it, else by its spelling. */
static const char *nearest_key(const char *key, bool is_top)
{
	const char *nearest = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(fio_keys); i++)
		if (!strcmp(key, fio_keys[i].fio))
			return fio_keys[i].ours;
	if (is_top)
		nearest = field_nearest(plan_top_fields, PLAN_TOP_KEYS, key);
	return nearest ? nearest : field_nearest(plan_fields, plan_n_fields, key);
}

int key_unknown(const char *key, size_t length, bool is_top, struct err *err)
{
	char text[SHOWN_MAX];

	err_set(err, ERR_PLAN, "unknown key '%s' of %s", shown(key, length, text),
	        is_top ? "the plan" : "a test");
	return field_append_nearest(plan_fields, plan_n_fields, nearest_key(key, is_top), err);
}

/* ---- one value ---- */

static int append(struct text *out, const char *bytes, size_t n, struct err *err)
{
	if (n >= sizeof(out->bytes) - out->used)
		return err_set(err, ERR_PLAN, "is too long (allowed: at most %zu bytes)",
		               sizeof(out->bytes) - 1);
	memcpy(out->bytes + out->used, bytes, n);
	out->used += n;
	out->bytes[out->used] = '\0';
	return 0;
}

/* From "${NAME}" on; *end becomes what follows. */
static int append_variable(struct text *out, const char *text, const char **end, struct err *err)
{
	const char *name = text + 2;
	size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                             "0123456789_");
	char copy[PLAN_NAME_MAX];

	if (!length || isdigit((unsigned char)*name) || name[length] != '}' ||
	    length >= sizeof(copy))
		return err_set(err, ERR_PLAN,
		               "'${' begins no variable (allowed: ${NAME}, or $${ for a plain ${)");
	snprintf(copy, sizeof(copy), "%.*s", (int)length, name);
	const char *value = getenv(copy);

	if (!value)
		return err_set(err, ERR_PLAN, "environment variable '%s' is not set", copy);
	*end = name + length + 1;
	return append(out, value, strlen(value), err);
}

/* text with ${NAME} filled in. */
static int substitute(struct text *out, const char *text, struct err *err)
{
	*out = (struct text){.used = 0};
	while (*text) {
		if (!strncmp(text, "${", 2)) {
			if (append_variable(out, text, &text, err))
				return -1;
			continue;
		}
		text += !strncmp(text, "$${", 3);
		size_t n = 1 + strcspn(text + 1, "$");

		if (append(out, text, n, err))
			return -1;
		text += n;
	}
	return 0;
}

static int check_text(const char *text, struct err *err)
{
	for (const char *p = text; *p; p++)
		if (iscntrl((unsigned char)*p))
			return err_set(err, ERR_PLAN, "control character 0x%02x in the value",
			               (unsigned char)*p);
	return *text ? 0 : err_set(err, ERR_PLAN, "has no value");
}

static int check_scalar(const struct node *node, struct err *err)
{
	if (node_type(node) != NODE_SCALAR)
		return err_set(err, ERR_PLAN, "a %s where a plain value is wanted",
		               node_type(node) == NODE_MAPPING ? "mapping" : "list");
	if (!node_is_text(node))
		return err_set(err, ERR_PLAN, "YAML tags have no meaning here");
	if (strlen(node_text(node)) != node_length(node))
		return err_set(err, ERR_PLAN, "control character 0x00 in the value");
	return 0;
}

int value_text(const struct node *node, struct text *text, struct err *err)
{
	if (check_scalar(node, err) || substitute(text, node_text(node), err))
		return -1;
	return check_text(text->bytes, err);
}

static int value_keep(struct value *value, const struct field *row, const char *text,
                      struct test *scratch, struct err *err)
{
	if (field_set(row, scratch, text, err))
		return -1;
	value->text = strdup(text);
	return value->text ? 0 : scope_no_memory(err);
}

static int value_read(struct value *value, const struct field *row, const struct node *node,
                      struct test *scratch, struct err *err)
{
	struct text text;

	if (value_text(node, &text, err))
		return -1;
	value->line = node_line(node);
	return value_keep(value, row, text.bytes, scratch, err);
}

/* ---- the values of a key ---- */

static int check_list(const struct field *row, const struct node *node, struct err *err)
{
	uint64_t max = row->flags & FIELD_LIST ? row->max : PLAN_TESTS_MAX;

	if (row->flags & FIELD_SINGLE)
		return err_set(err, ERR_PLAN, "a list where one value is wanted");
	if (!node_count(node))
		return err_set(err, ERR_PLAN, "an empty list");
	if (node_count(node) > max)
		return err_set(err, ERR_PLAN, "a list of %u values (allowed: at most %u)",
		               node_count(node), (unsigned)max);
	return 0;
}

static int read_values(const struct tree *tree, struct setting *setting, const struct node *node,
                       struct err *err)
{
	unsigned n = setting->is_list ? node_count(node) : 1;
	CLEANUP(mem) struct test *scratch = calloc(1, sizeof(*scratch));

	setting->values = calloc(n, sizeof(*setting->values));
	if (!setting->values || !scratch)
		return scope_no_memory(err);
	for (unsigned i = 0; i < n; i++) {
		const struct node *item = setting->is_list ? tree_element(tree, node, i) : node;

		if (value_read(&setting->values[i], setting->row, item, scratch, err))
			return blame_key(tree, item, setting->row->name, err);
		setting->n_values++;
	}
	return 0;
}

int setting_read(const struct tree *tree, struct setting *setting, const struct field *row,
                 const struct node *node, struct err *err)
{
	*setting = (struct setting){.row = row, .is_list = node_type(node) == NODE_LIST};
	if (setting->is_list && check_list(row, node, err))
		return blame_key(tree, node, row->name, err);
	if (read_values(tree, setting, node, err)) {
		setting_destroy(setting);
		return -1;
	}
	return 0;
}

int setting_read_text(struct setting *setting, const struct field *row, const char *text,
                      struct err *err)
{
	CLEANUP(mem) struct test *scratch = calloc(1, sizeof(*scratch));

	*setting = (struct setting){.row = row, .values = calloc(1, sizeof(struct value))};
	if (!setting->values || !scratch)
		scope_no_memory(err);
	else if (!check_text(text, err) && !value_keep(setting->values, row, text, scratch, err))
		setting->n_values = 1;
	if (setting->n_values)
		return 0;
	setting_destroy(setting);
	return -1;
}
