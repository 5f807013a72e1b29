/*
 * From text to tests in three steps.
 *
 * 1. libyaml makes a document, after a first pass has refused what no plan is nested
 *    like; its nodes carry line and column.
 * 2. Each mapping (the plan's top, every test) becomes a scope: its keys in the
 *    order written, each with one value or a list, environment filled in and checked
 *    against the field table at once, so that an error has its exact place. Overrides
 *    are read the same way from little documents of their own.
 * 3. A test's own scope, what it inherits from the top and the overrides are put
 *    together, and lists are multiplied out.
 *
 * Nothing recurses: a plan is a mapping of lists of mappings of lists of scalars, and
 * what is nested deeper is refused where it stands. Aliases only point at nodes that
 * are there already, so they cannot blow up.
 */
#include "plan_yaml.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <yaml.h>

#include "plan_scope.h"

#define VALUE_MAX     4096 /* bytes of a value with its environment filled in */
#define PLACE_MAX     80
#define SHOWN_KEY_MAX 48 /* bytes of an unknown key in a message */
#define DEPTH_MAX     8  /* a plan needs 4 */
#define ANCHORS_MAX   256
#define MARK          "\xef\xbb\xbf"
#define AIM_PREFIX    "tests."

/* A document and what stands for it in messages. */
struct source {
	const char *name;
	bool is_override; /* the name says the key too; there is no line */
	yaml_document_t doc;
};

/* A test as written. */
struct entry {
	struct scope scope;
	const char *name; /* borrowed from the scope */
	unsigned line, column;
};

/* An override of one test. */
struct aimed {
	char test[PLAN_NAME_MAX];
	struct setting setting;
};

struct reader {
	struct scope top;
	struct scope overrides;
	struct aimed *aimed; /* owned */
	unsigned n_aimed;
	struct entry *entries; /* owned */
	unsigned n_entries;
};

/* The keys that only the top has. */
enum { TOP_VERSION, TOP_TESTS, TOP_KEYS };

static const struct field top_keys[TOP_KEYS] = {
        [TOP_VERSION] = {.name = "version", .type = FIELD_UINT, .min = 1, .max = 1},
        [TOP_TESTS] = {.name = "tests"},
};

/* What fio calls otherwise. */
static const struct {
	const char *fio, *ours;
} fio_keys[] = {
        {"blocksize", "bs"},        {"buffered", "direct"}, {"directory", "target"},
        {"filesize", "size"},       {"loop", "loops"},      {"norandommap", "randommap"},
        {"readwrite", "rw"},        {"thread", "numjobs"},  {"time_based", "runtime"},
        {"zero_buffers", "buffer"},
};

/* errors with a place */

static unsigned line_of(const yaml_node_t *node)
{
	return (unsigned)node->start_mark.line + 1;
}

static unsigned column_of(const yaml_node_t *node)
{
	return (unsigned)node->start_mark.column + 1;
}

/* Put a place, counted from 0, in front of the text that is there. */
static int at_mark(const struct source *source, size_t line, size_t column, struct err *err)
{
	if (source->is_override)
		return err_wrap(err, "%s", source->name);
	return err_wrap(err, "%s:%zu:%zu", source->name, line + 1, column + 1);
}

/* The place of a node. */
static int at(const struct source *source, const yaml_node_t *node, struct err *err)
{
	return at_mark(source, node->start_mark.line, node->start_mark.column, err);
}

/* The same with the key between; an override's place has it already. */
static int at_key(const struct source *source, const yaml_node_t *node, const char *key,
                  struct err *err)
{
	if (!source->is_override)
		err_wrap(err, "%s", key);
	return at(source, node, err);
}

/* What may be shown of text from outside: no control characters, not too much. */
static const char *shown(const char *text, size_t length, char out[SHOWN_KEY_MAX + 4])
{
	size_t n = min_u64(length, SHOWN_KEY_MAX);

	for (size_t i = 0; i < n; i++)
		out[i] = iscntrl((unsigned char)text[i]) ? '?' : text[i];
	snprintf(out + n, 4, "%s", length > n ? "..." : "");
	return out;
}

/* libyaml */

/* libyaml's reader names a byte, its scanner and parser a line. */
static void find_offset(const char *text, size_t offset, size_t *line, size_t *column)
{
	*line = 0;
	*column = 0;
	for (size_t i = 0; i < offset; i++) {
		*column = text[i] == '\n' ? 0 : *column + 1;
		*line += text[i] == '\n';
	}
}

static int syntax_error(const yaml_parser_t *parser, const struct source *source, const char *text,
                        size_t size, struct err *err)
{
	size_t line = parser->problem_mark.line, column = parser->problem_mark.column;

	if (parser->error == YAML_MEMORY_ERROR)
		return scope_no_memory(err);
	if (parser->error == YAML_READER_ERROR)
		find_offset(text, min_u64(parser->problem_offset, size), &line, &column);
	err_set(err, ERR_PLAN, "not valid YAML: %s%s%s",
	        parser->problem ? parser->problem : "cannot be read", parser->context ? " " : "",
	        parser->context ? parser->context : "");
	return at_mark(source, line, column, err);
}

static int parser_init(yaml_parser_t *parser, const char *text, size_t size, struct err *err)
{
	if (!yaml_parser_initialize(parser))
		return scope_no_memory(err);
	yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(parser, (const unsigned char *)text, size);
	return 0;
}

/* What the first pass counts. */
struct census {
	int depth, documents, anchors;
};

static void count_event(struct census *census, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		census->documents++;
		break;
	case YAML_SEQUENCE_START_EVENT:
		census->depth++;
		census->anchors += event->data.sequence_start.anchor != NULL;
		break;
	case YAML_MAPPING_START_EVENT:
		census->depth++;
		census->anchors += event->data.mapping_start.anchor != NULL;
		break;
	case YAML_SCALAR_EVENT:
		census->anchors += event->data.scalar.anchor != NULL;
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		census->depth--;
		break;
	default:
		break;
	}
}

static int check_census(const struct census *census, struct err *err)
{
	if (census->documents > 1)
		return err_set(err, ERR_PLAN, "a second document (a plan is one)");
	if (census->depth > DEPTH_MAX)
		return err_set(err, ERR_PLAN, "nested deeper than %d levels", DEPTH_MAX);
	if (census->anchors > ANCHORS_MAX)
		return err_set(err, ERR_PLAN, "more than %d anchors", ANCHORS_MAX);
	return 0;
}

/* From event to event, until the end or the first one that a plan may not have. */
static int walk_events(yaml_parser_t *parser, const struct source *source, const char *text,
                       size_t size, struct err *err)
{
	yaml_event_type_t type = YAML_NO_EVENT;
	struct census census = {0};

	while (type != YAML_STREAM_END_EVENT) {
		yaml_event_t event;

		if (!yaml_parser_parse(parser, &event))
			return syntax_error(parser, source, text, size, err);
		yaml_mark_t mark = event.start_mark;

		type = event.type;
		count_event(&census, &event);
		yaml_event_delete(&event);
		if (check_census(&census, err))
			return at_mark(source, mark.line, mark.column, err);
	}
	return 0;
}

/*
 * A first pass: one document, nested no deeper than a plan can be, with few anchors.
 * libyaml needs quadratic time for nesting in flow style and for looking up anchors.
 */
static int check_events(const struct source *source, const char *text, size_t size, struct err *err)
{
	yaml_parser_t parser;

	if (parser_init(&parser, text, size, err))
		return -1;
	int ret = walk_events(&parser, source, text, size, err);

	yaml_parser_delete(&parser);
	return ret;
}

/* On success the caller deletes source->doc. */
static int load_document(struct source *source, const char *text, size_t size, struct err *err)
{
	yaml_parser_t parser;
	int ret = 0;

	if (check_events(source, text, size, err) || parser_init(&parser, text, size, err))
		return -1;
	if (!yaml_parser_load(&parser, &source->doc))
		ret = syntax_error(&parser, source, text, size, err);
	yaml_parser_delete(&parser);
	return ret;
}

static yaml_node_t *node_of(const struct source *source, int id)
{
	return yaml_document_get_node((yaml_document_t *)&source->doc, id);
}

static unsigned item_count(const yaml_node_t *sequence)
{
	return (unsigned)(sequence->data.sequence.items.top - sequence->data.sequence.items.start);
}

static unsigned pair_count(const yaml_node_t *mapping)
{
	return (unsigned)(mapping->data.mapping.pairs.top - mapping->data.mapping.pairs.start);
}

static const char *scalar_text(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

/* values */

struct text {
	char bytes[VALUE_MAX];
	size_t used;
};

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

static int check_characters(const struct text *value, struct err *err)
{
	for (size_t i = 0; i < value->used; i++)
		if (iscntrl((unsigned char)value->bytes[i]))
			return err_set(err, ERR_PLAN, "control character 0x%02x in the value",
			               (unsigned char)value->bytes[i]);
	return value->used ? 0 : err_set(err, ERR_PLAN, "has no value");
}

static int check_scalar(const yaml_node_t *node, struct err *err)
{
	if (node->type != YAML_SCALAR_NODE)
		return err_set(err, ERR_PLAN, "a %s where a plain value is wanted",
		               node->type == YAML_MAPPING_NODE ? "mapping" : "list");
	if (strcmp((const char *)node->tag, YAML_STR_TAG) != 0)
		return err_set(err, ERR_PLAN, "YAML tags have no meaning here");
	if (memchr(scalar_text(node), '\0', node->data.scalar.length))
		return err_set(err, ERR_PLAN, "control character 0x00 in the value");
	return 0;
}

/* The text of a value that may be shown and read. */
static int take_text(const yaml_node_t *node, struct text *text, struct err *err)
{
	if (check_scalar(node, err) || substitute(text, scalar_text(node), err))
		return -1;
	return check_characters(text, err);
}

/* Read one value and try it on a test that is thrown away. */
static int read_value(const struct field *row, const yaml_node_t *node, struct test *scratch,
                      struct value *value, struct err *err)
{
	struct text text;

	if (take_text(node, &text, err) || field_set(row, scratch, text.bytes, err))
		return -1;
	value->line = line_of(node);
	value->text = strdup(text.bytes);
	return value->text ? 0 : scope_no_memory(err);
}

/* keys with their values */

static int check_list(const struct field *row, const yaml_node_t *node, struct err *err)
{
	uint64_t max = row->flags & FIELD_LIST ? row->max : PLAN_TESTS_MAX;

	if (row->flags & FIELD_SINGLE)
		return err_set(err, ERR_PLAN, "a list where one value is wanted");
	if (!item_count(node))
		return err_set(err, ERR_PLAN, "an empty list");
	if (item_count(node) > max)
		return err_set(err, ERR_PLAN, "a list of %u values (allowed: at most %u)",
		               item_count(node), (unsigned)max);
	return 0;
}

static int read_values(const struct source *source, struct setting *setting,
                       const yaml_node_t *node, struct err *err)
{
	const char *key = setting->row->name;
	unsigned n = setting->is_list ? item_count(node) : 1;
	CLEANUP(mem) struct test *scratch = calloc(1, sizeof(*scratch));

	setting->values = calloc(n, sizeof(*setting->values));
	if (!setting->values || !scratch)
		return scope_no_memory(err);
	for (unsigned i = 0; i < n; i++) {
		const yaml_node_t *item = node;

		if (setting->is_list)
			item = node_of(source, node->data.sequence.items.start[i]);
		if (read_value(setting->row, item, scratch, &setting->values[i], err))
			return at_key(source, item, key, err);
		setting->n_values++;
	}
	return 0;
}

/* On failure *setting holds nothing. */
static int setting_read(const struct source *source, struct setting *setting,
                        const struct field *row, const yaml_node_t *node, struct err *err)
{
	*setting = (struct setting){.row = row, .is_list = node->type == YAML_SEQUENCE_NODE};
	if (setting->is_list && check_list(row, node, err))
		return at_key(source, node, row->name, err);
	if (read_values(source, setting, node, err)) {
		setting_destroy(setting);
		return -1;
	}
	return 0;
}

static const char *nearest_key(const char *key, bool is_top)
{
	const char *nearest = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(fio_keys); i++)
		if (!strcmp(key, fio_keys[i].fio))
			return fio_keys[i].ours;
	if (is_top)
		nearest = field_nearest(top_keys, TOP_KEYS, key);
	return nearest ? nearest : field_nearest(plan_fields, plan_n_fields, key);
}

static int unknown_key(const char *key, size_t length, bool is_top, struct err *err)
{
	const char *nearest = nearest_key(key, is_top);
	char text[SHOWN_KEY_MAX + 4];

	err_set(err, ERR_PLAN, "unknown key '%s' of %s", shown(key, length, text),
	        is_top ? "the plan" : "a test");
	if (nearest)
		return err_append(err, " (did you mean '%s'?)", nearest);
	err_append(err, " (known:");
	for (size_t i = 0; i < plan_n_fields; i++)
		err_append(err, "%s %s", i ? "," : "", plan_fields[i].name);
	return err_append(err, ")");
}

static int check_key(const yaml_node_t *key, struct err *err)
{
	if (key->type != YAML_SCALAR_NODE)
		return err_set(err, ERR_PLAN, "a key must be a word");
	return 0;
}

/* One key with its value into the scope. */
static int scope_read(const struct source *source, struct scope *scope, const yaml_node_t *key,
                      const yaml_node_t *value, bool is_top, struct err *err)
{
	const char *name = scalar_text(key);
	const struct field *row = field_find(plan_fields, plan_n_fields, name);

	if (!row || strlen(name) != key->data.scalar.length) {
		unknown_key(name, key->data.scalar.length, is_top, err);
		return at(source, key, err);
	}
	if (scope_find(scope, row)) {
		err_set(err, ERR_PLAN, "key '%s' stands here twice (first in line %u)", name,
		        scope_find(scope, row)->values[0].line);
		return at(source, key, err);
	}
	struct setting setting;

	if (setting_read(source, &setting, row, value, err))
		return -1;
	*scope_add(scope) = setting;
	return 0;
}

/* the plan's text */

static int entry_read(const struct source *source, struct entry *entry, const yaml_node_t *node,
                      struct err *err)
{
	if (node->type != YAML_MAPPING_NODE) {
		err_set(err, ERR_PLAN, "a test is a mapping (such as {name: x, rw: randread})");
		return at(source, node, err);
	}
	entry->line = line_of(node);
	entry->column = column_of(node);
	if (scope_init(&entry->scope, err))
		return -1;
	for (unsigned i = 0; i < pair_count(node); i++) {
		const yaml_node_pair_t *pair = &node->data.mapping.pairs.start[i];
		const yaml_node_t *key = node_of(source, pair->key);

		if (check_key(key, err))
			return at(source, key, err);
		if (scope_read(source, &entry->scope, key, node_of(source, pair->value), false,
		               err))
			return -1;
	}
	const struct setting *name = scope_find(&entry->scope, scope_name_row());

	if (!name) {
		err_set(err, ERR_PLAN, "a test without a name");
		return at(source, node, err);
	}
	entry->name = name->values[0].text;
	return 0;
}

static int read_tests(struct reader *reader, const struct source *source, const yaml_node_t *node,
                      struct err *err)
{
	if (node->type != YAML_SEQUENCE_NODE || !item_count(node)) {
		err_set(err, ERR_PLAN, "tests: a list of at least one test is wanted");
		return at(source, node, err);
	}
	unsigned n = item_count(node);

	if (n > PLAN_TESTS_MAX) {
		err_set(err, ERR_PLAN, "tests: %u tests (allowed: at most %u in all)", n,
		        PLAN_TESTS_MAX);
		return at(source, node, err);
	}
	reader->entries = calloc(n, sizeof(*reader->entries));
	if (!reader->entries)
		return scope_no_memory(err);
	for (unsigned i = 0; i < n; i++) {
		/* counted first, so that a half-read one is destroyed as well */
		struct entry *entry = &reader->entries[reader->n_entries++];

		if (entry_read(source, entry, node_of(source, node->data.sequence.items.start[i]),
		               err))
			return -1;
	}
	return 0;
}

static int check_version(const struct source *source, const yaml_node_t *node, struct err *err)
{
	struct text text;
	uint64_t version;

	if (take_text(node, &text, err) ||
	    field_set(&top_keys[TOP_VERSION], &version, text.bytes, err))
		return at_key(source, node, "version", err);
	return 0;
}

/* One key of the plan's top. */
static int read_top_key(struct reader *reader, const struct source *source, const yaml_node_t *key,
                        const yaml_node_t *value, const yaml_node_t *seen[TOP_KEYS],
                        struct err *err)
{
	if (check_key(key, err))
		return at(source, key, err);
	const char *name = scalar_text(key);
	const struct field *own = field_find(top_keys, TOP_KEYS, name);

	if (field_find(plan_fields, plan_n_fields, name) == scope_name_row()) {
		err_set(err, ERR_PLAN, "key 'name' belongs to a test, not to the plan");
		return at(source, key, err);
	}
	if (!own)
		return scope_read(source, &reader->top, key, value, true, err);
	if (seen[own - top_keys]) {
		err_set(err, ERR_PLAN, "key '%s' stands here twice (first in line %u)", name,
		        line_of(seen[own - top_keys]));
		return at(source, key, err);
	}
	seen[own - top_keys] = value;
	return 0;
}

static int read_top(struct reader *reader, const struct source *source, struct err *err)
{
	const yaml_node_t *seen[TOP_KEYS] = {NULL};
	const yaml_node_t *root = node_of(source, 1);

	if (!root)
		return err_set(err, ERR_PLAN, "%s:1:1: the plan is empty", source->name);
	if (root->type != YAML_MAPPING_NODE) {
		err_set(err, ERR_PLAN, "a plan is a mapping with the key 'tests'");
		return at(source, root, err);
	}
	for (unsigned i = 0; i < pair_count(root); i++) {
		const yaml_node_pair_t *pair = &root->data.mapping.pairs.start[i];

		if (read_top_key(reader, source, node_of(source, pair->key),
		                 node_of(source, pair->value), seen, err))
			return -1;
	}
	if (seen[TOP_VERSION] && check_version(source, seen[TOP_VERSION], err))
		return -1;
	if (!seen[TOP_TESTS]) {
		err_set(err, ERR_PLAN, "the plan has no key 'tests'");
		return at(source, root, err);
	}
	return read_tests(reader, source, seen[TOP_TESTS], err);
}

static int read_plan(struct reader *reader, const char *name, const char *text, size_t size,
                     struct err *err)
{
	struct source source = {.name = name};

	if (size > PLAN_FILE_MAX)
		return err_set(err, ERR_PLAN, "%s: larger than %llu bytes", name, PLAN_FILE_MAX);
	/* some editors put a byte order mark in front of UTF-8 */
	if (size >= strlen(MARK) && !memcmp(text, MARK, strlen(MARK))) {
		text += strlen(MARK);
		size -= strlen(MARK);
	}
	if (load_document(&source, text, size, err))
		return -1;
	int ret = read_top(reader, &source, err);

	yaml_document_delete(&source.doc);
	return ret;
}

/* overrides */

#define QUOTED_MAX (2 * PLAN_PATH_MAX + 3)

/* "tests.NAME.KEY" has a test and a key, "KEY" only a key. */
static int split_aim(const char *key, char test[PLAN_NAME_MAX], const char **rest, struct err *err)
{
	test[0] = '\0';
	*rest = key;
	if (strncmp(key, AIM_PREFIX, strlen(AIM_PREFIX)) != 0)
		return 0;
	const char *name = key + strlen(AIM_PREFIX);
	size_t length = strcspn(name, ".");

	if (!length || length >= PLAN_NAME_MAX || !name[length])
		return err_set(err, ERR_PLAN, "no key of a test (allowed: KEY, tests.NAME.KEY)");
	snprintf(test, PLAN_NAME_MAX, "%.*s", (int)length, name);
	*rest = name + length + 1;
	return 0;
}

static const struct field *override_row(const char *key, bool is_aimed, struct err *err)
{
	const struct field *row = field_find(plan_fields, plan_n_fields, key);

	if (!row)
		unknown_key(key, strlen(key), !is_aimed, err);
	else if (row == scope_name_row())
		err_set(err, ERR_PLAN, "a test's name cannot be overridden");
	else
		return row;
	return NULL;
}

/* Text as YAML that means it: in single quotes, with its own doubled. */
static int quote(const char *text, char out[QUOTED_MAX], struct err *err)
{
	size_t n = 0;

	out[n++] = '\'';
	for (; *text && n < QUOTED_MAX - 3; text++) {
		if (*text == '\'')
			out[n++] = '\'';
		out[n++] = *text;
	}
	if (*text)
		return err_set(err, ERR_PLAN, "longer than %d bytes", PLAN_PATH_MAX - 1);
	out[n++] = '\'';
	out[n] = '\0';
	return 0;
}

static int override_value(const struct plan_override *override, const char *place,
                          const struct field *row, struct setting *setting, struct err *err)
{
	struct source source = {.name = place, .is_override = true};
	const char *value = override->value;
	char quoted[QUOTED_MAX];

	if (override->is_plain) {
		if (quote(value, quoted, err))
			return err_wrap(err, "%s", place);
		value = quoted;
	}
	if (load_document(&source, value, strlen(value), err))
		return -1;
	const yaml_node_t *root = node_of(&source, 1);
	int ret = root ? setting_read(&source, setting, row, root, err)
	               : err_set(err, ERR_PLAN, "%s: has no value", place);

	yaml_document_delete(&source.doc);
	return ret;
}

/* The last one of a key wins. */
static void override_keep(struct reader *reader, const char *test, const struct setting *setting)
{
	struct setting *slot;

	if (test[0]) {
		struct aimed *aimed = &reader->aimed[reader->n_aimed++];

		snprintf(aimed->test, sizeof(aimed->test), "%s", test);
		slot = &aimed->setting;
	} else {
		slot = scope_find(&reader->overrides, setting->row);
		if (slot)
			setting_destroy(slot);
		else
			slot = scope_add(&reader->overrides);
	}
	*slot = *setting;
}

static int unknown_test(const struct reader *reader, const char *name, struct err *err)
{
	const char *nearest = NULL;
	unsigned least = FIELD_TOO_FAR;

	char text[SHOWN_KEY_MAX + 4];

	err_set(err, ERR_PLAN, "no test is named '%s'", shown(name, strlen(name), text));
	for (unsigned i = 0; i < reader->n_entries; i++) {
		unsigned distance = field_distance(name, reader->entries[i].name);

		if (distance < least) {
			least = distance;
			nearest = reader->entries[i].name;
		}
	}
	if (nearest)
		return err_append(err, " (did you mean '%s'?)", nearest);
	err_append(err, " (known:");
	for (unsigned i = 0; i < reader->n_entries; i++)
		err_append(err, "%s %s", i ? "," : "", reader->entries[i].name);
	return err_append(err, ")");
}

static bool has_entry(const struct reader *reader, const char *name)
{
	for (unsigned i = 0; i < reader->n_entries; i++)
		if (!strcmp(reader->entries[i].name, name))
			return true;
	return false;
}

/* What stands for it in messages: "--set bs", "--target". */
static void override_place(const struct plan_override *override, char place[PLACE_MAX])
{
	char key[SHOWN_KEY_MAX + 4];

	if (!strcmp(override->from, "--set"))
		snprintf(place, PLACE_MAX, "--set %s",
		         shown(override->key, strlen(override->key), key));
	else
		snprintf(place, PLACE_MAX, "%s", override->from);
}

static int read_override(struct reader *reader, const struct plan_override *override,
                         struct err *err)
{
	char place[PLACE_MAX], test[PLAN_NAME_MAX];
	const struct field *row = NULL;
	struct setting setting;
	const char *key;

	override_place(override, place);
	if (!split_aim(override->key, test, &key, err))
		row = override_row(key, test[0], err);
	if (row && test[0] && !has_entry(reader, test)) {
		unknown_test(reader, test, err);
		row = NULL;
	}
	if (!row)
		return err_wrap(err, "%s", place);
	if (override_value(override, place, row, &setting, err))
		return -1;
	override_keep(reader, test, &setting);
	return 0;
}

static int read_overrides(struct reader *reader, const struct plan_override *overrides, unsigned n,
                          struct err *err)
{
	if (!n)
		return 0;
	reader->aimed = calloc(n, sizeof(*reader->aimed));
	if (!reader->aimed)
		return scope_no_memory(err);
	for (unsigned i = 0; i < n; i++)
		if (read_override(reader, &overrides[i], err))
			return -1;
	return 0;
}

/* from scopes to tests */

/* All that holds for one entry, borrowed: its own keys first, then those it inherits. */
static void scope_collect(struct scope *all, const struct reader *reader, const struct entry *entry)
{
	all->n = 0;
	for (unsigned i = 0; i < entry->scope.n; i++)
		scope_put(all, &entry->scope.settings[i]);
	for (unsigned i = 0; i < reader->top.n; i++)
		if (!scope_find(all, reader->top.settings[i].row))
			scope_put(all, &reader->top.settings[i]);
	for (unsigned i = 0; i < reader->overrides.n; i++)
		scope_put(all, &reader->overrides.settings[i]);
	for (unsigned i = 0; i < reader->n_aimed; i++)
		if (!strcmp(reader->aimed[i].test, entry->name))
			scope_put(all, &reader->aimed[i].setting);
}

static int expand(struct plan *plan, const char *name, const struct reader *reader, struct err *err)
{
	struct scope all;
	int ret = 0;

	if (scope_init(&all, err))
		return -1;
	for (unsigned i = 0; i < reader->n_entries && !ret; i++) {
		const struct entry *entry = &reader->entries[i];

		scope_collect(&all, reader, entry);
		ret = scope_expand(&all, plan, entry->line, entry->column, err);
		if (ret)
			err_wrap(err, "%s:%u:%u", name, entry->line, entry->column);
	}
	free(all.settings);
	return ret;
}

/* all together */

static void reader_destroy(struct reader *reader)
{
	for (unsigned i = 0; i < reader->n_entries; i++)
		scope_destroy(&reader->entries[i].scope);
	for (unsigned i = 0; i < reader->n_aimed; i++)
		setting_destroy(&reader->aimed[i].setting);
	free(reader->entries);
	free(reader->aimed);
	scope_destroy(&reader->top);
	scope_destroy(&reader->overrides);
}

int plan_yaml_read(struct plan *plan, const char *name, const char *text, size_t size,
                   const struct plan_override *overrides, unsigned n_overrides, struct err *err)
{
	struct reader reader = {0};
	int ret = -1;

	*plan = (struct plan){0};
	snprintf(plan->name, sizeof(plan->name), "%s", name);
	if (scope_init(&reader.top, err) || scope_init(&reader.overrides, err) ||
	    read_plan(&reader, name, text, size, err) ||
	    read_overrides(&reader, overrides, n_overrides, err) ||
	    expand(plan, name, &reader, err))
		goto out;
	ret = 0;
out:
	if (ret)
		plan_destroy(plan);
	reader_destroy(&reader);
	return ret;
}

/* The whole of a file, at most one byte more than a plan may have. */
static int read_file(FILE *file, char **text, size_t *size)
{
	char *bytes = malloc(PLAN_FILE_MAX + 1);

	if (!bytes)
		return -1;
	*size = fread(bytes, 1, PLAN_FILE_MAX + 1, file);
	*text = bytes;
	return ferror(file) ? -1 : 0;
}

static int no_such_plan(const char *name, struct err *err)
{
	int errnum = errno;

	err_sys(err, ERR_PLAN, errnum, "cannot read plan '%s'", name);
	if (errnum != ENOENT)
		return -1;
	err_append(err, " (built-in plans:");
	for (const struct plan_builtin *builtin = plan_builtins; builtin->name; builtin++)
		err_append(err, "%s %s", builtin == plan_builtins ? "" : ",", builtin->name);
	return err_append(err, ")");
}

int plan_yaml_load(struct plan *plan, const char *name_or_path,
                   const struct plan_override *overrides, unsigned n_overrides, struct err *err)
{
	const struct plan_builtin *builtin = plan_builtin_find(name_or_path);
	bool is_stdin = !strcmp(name_or_path, "-");
	CLEANUP(file) FILE *file = NULL;
	CLEANUP(mem) char *text = NULL;
	size_t size;

	*plan = (struct plan){0};
	if (builtin)
		return plan_yaml_read(plan, name_or_path, builtin->text, builtin->size, overrides,
		                      n_overrides, err);
	if (!is_stdin) {
		file = fopen(name_or_path, "re");
		if (!file)
			return no_such_plan(name_or_path, err);
	}
	if (read_file(is_stdin ? stdin : file, &text, &size))
		return no_such_plan(name_or_path, err);
	return plan_yaml_read(plan, is_stdin ? "stdin" : name_or_path, text, size, overrides,
	                      n_overrides, err);
}
