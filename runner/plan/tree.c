/*
 * Two passes: libyaml's events are counted first, since it needs quadratic time for
 * nesting in flow style and for looking up anchors; then it builds the document.
 */
#include "plan/tree.h"

#include <errno.h>
#include <string.h>
#include <yaml.h>

#define MARK        "\xef\xbb\xbf"
#define DEPTH_MAX   8 /* a plan needs 4, a class 5 */
#define ANCHORS_MAX 256

static int no_memory(struct err *err)
{
	return err_sys(err, ERR_TEST, ENOMEM, "cannot read the file");
}

/* line and column count from 0. */
static int blame_mark(const struct tree *tree, size_t line, size_t column, struct err *err)
{
	if (tree->no_places)
		return err_wrap(err, "%s", tree->name);
	return err_wrap(err, "%s:%zu:%zu", tree->name, line + 1, column + 1);
}

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

static int syntax_error(const yaml_parser_t *parser, const struct tree *tree, const char *text,
                        size_t size, struct err *err)
{
	size_t line = parser->problem_mark.line, column = parser->problem_mark.column;

	if (parser->error == YAML_MEMORY_ERROR)
		return no_memory(err);
	if (parser->error == YAML_READER_ERROR)
		find_offset(text, min_u64(parser->problem_offset, size), &line, &column);
	err_set(err, ERR_PLAN, "not valid YAML: %s%s%s",
	        parser->problem ? parser->problem : "cannot be read", parser->context ? " " : "",
	        parser->context ? parser->context : "");
	return blame_mark(tree, line, column, err);
}

static int parser_init(yaml_parser_t *parser, const char *text, size_t size, struct err *err)
{
	if (!yaml_parser_initialize(parser))
		return no_memory(err);
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
		return err_set(err, ERR_PLAN, "a second document (only one is read)");
	if (census->depth > DEPTH_MAX)
		return err_set(err, ERR_PLAN, "nested deeper than %d levels", DEPTH_MAX);
	if (census->anchors > ANCHORS_MAX)
		return err_set(err, ERR_PLAN, "more than %d anchors", ANCHORS_MAX);
	return 0;
}

/* From event to event, until the end or the first one that may not be. */
static int walk_events(yaml_parser_t *parser, const struct tree *tree, const char *text,
                       size_t size, struct err *err)
{
	yaml_event_type_t type = YAML_NO_EVENT;
	struct census census = {0};

	while (type != YAML_STREAM_END_EVENT) {
		yaml_event_t event;

		if (!yaml_parser_parse(parser, &event))
			return syntax_error(parser, tree, text, size, err);
		yaml_mark_t mark = event.start_mark;

		type = event.type;
		count_event(&census, &event);
		yaml_event_delete(&event);
		if (check_census(&census, err))
			return blame_mark(tree, mark.line, mark.column, err);
	}
	return 0;
}

/*
 * A first pass: one document, nested no deeper than ours are, with few anchors.
 * libyaml needs quadratic time for nesting in flow style and for looking up anchors.
 */
static int check_events(const struct tree *tree, const char *text, size_t size, struct err *err)
{
	yaml_parser_t parser;

	if (parser_init(&parser, text, size, err))
		return -1;
	int ret = walk_events(&parser, tree, text, size, err);

	yaml_parser_delete(&parser);
	return ret;
}

int tree_read(struct tree *tree, const char *text, size_t size, struct err *err)
{
	yaml_document_t *document = calloc(1, sizeof(*document));
	yaml_parser_t parser;

	tree->document = document;
	if (!document)
		return no_memory(err);
	/* some editors put a byte order mark in front of UTF-8 */
	if (size >= strlen(MARK) && !memcmp(text, MARK, strlen(MARK))) {
		text += strlen(MARK);
		size -= strlen(MARK);
	}
	if (!check_events(tree, text, size, err) && !parser_init(&parser, text, size, err)) {
		bool loaded = yaml_parser_load(&parser, document);

		if (!loaded)
			syntax_error(&parser, tree, text, size, err);
		yaml_parser_delete(&parser);
		if (loaded)
			return 0;
	}
	free(document);
	tree->document = NULL;
	return -1;
}

void tree_destroy(struct tree *tree)
{
	if (tree->document)
		yaml_document_delete(tree->document);
	free(tree->document);
	tree->document = NULL;
}

static const yaml_node_t *yaml_of(const struct node *node)
{
	return (const yaml_node_t *)node;
}

static const struct node *find(const struct tree *tree, int id)
{
	return (const struct node *)yaml_document_get_node(tree->document, id);
}

const struct node *tree_root(const struct tree *tree)
{
	return find(tree, 1);
}

enum node_type node_type(const struct node *node)
{
	switch (yaml_of(node)->type) {
	case YAML_SEQUENCE_NODE:
		return NODE_LIST;
	case YAML_MAPPING_NODE:
		return NODE_MAPPING;
	default:
		return NODE_SCALAR;
	}
}

unsigned node_count(const struct node *node)
{
	const yaml_node_t *yaml = yaml_of(node);

	if (yaml->type == YAML_SEQUENCE_NODE)
		return (unsigned)(yaml->data.sequence.items.top - yaml->data.sequence.items.start);
	return (unsigned)(yaml->data.mapping.pairs.top - yaml->data.mapping.pairs.start);
}

const struct node *tree_element(const struct tree *tree, const struct node *list, unsigned i)
{
	return find(tree, yaml_of(list)->data.sequence.items.start[i]);
}

const struct node *tree_key(const struct tree *tree, const struct node *mapping, unsigned i)
{
	return find(tree, yaml_of(mapping)->data.mapping.pairs.start[i].key);
}

const struct node *tree_value(const struct tree *tree, const struct node *mapping, unsigned i)
{
	return find(tree, yaml_of(mapping)->data.mapping.pairs.start[i].value);
}

const char *node_text(const struct node *node)
{
	return (const char *)yaml_of(node)->data.scalar.value;
}

size_t node_length(const struct node *node)
{
	return yaml_of(node)->data.scalar.length;
}

bool node_is_text(const struct node *node)
{
	return !strcmp((const char *)yaml_of(node)->tag, YAML_STR_TAG);
}

unsigned node_line(const struct node *node)
{
	return (unsigned)yaml_of(node)->start_mark.line + 1;
}

unsigned node_column(const struct node *node)
{
	return (unsigned)yaml_of(node)->start_mark.column + 1;
}

int tree_blame(const struct tree *tree, const struct node *node, struct err *err)
{
	return blame_mark(tree, yaml_of(node)->start_mark.line, yaml_of(node)->start_mark.column,
	                  err);
}
