/*
 * Prints what docs/ says of a plan's keys from the runner's own table, so that it
 * cannot differ: `plan_reference table` a Markdown table, `plan_reference deliver` that of a
 * delivery's keys, `plan_reference hops` that of a hop's, `plan_reference schema` a JSON Schema.
 * docs/generate builds and runs it.
 */
#include <inttypes.h>
#include <string.h>

#include "plan/chains.h"

#define ALLOWED_MAX  256
#define TIME_PATTERN "[0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h)?"
#define SIZE_PATTERN "[0-9]+(\\.[0-9]+)?([bB]|[kKmMgGtTpP]([iI]?[bB]?))?"
#define UINT_PATTERN "[0-9]+(\\.[0-9]+)?[kKmMgG]?"

/* plan/plan.c looks for built-in plans; here there are none. */
const struct plan_builtin plan_builtins[] = {{NULL, NULL, 0}};

/* Markdown */

static void print_cell(const char *text)
{
	for (; *text; text++)
		printf(*text == '|' ? "\\|" : "%c", *text);
}

static bool is_mapping(const struct field *row)
{
	return !strcmp(row->name, PLAN_SINK_HEADERS);
}

/* with_kinds: a column tells which kinds of test have the key. */
static void print_table(const struct field *rows, size_t n, bool with_kinds)
{
	printf("| Key | %sValue | Default | Meaning |\n", with_kinds ? "Kinds | " : "");
	printf("| --- | %s--- | --- | --- |\n", with_kinds ? "--- | " : "");
	for (size_t i = 0; i < n; i++) {
		const struct field *row = &rows[i];
		char allowed[ALLOWED_MAX] = "names and values";

		printf("| `%s` | ", row->name);
		if (with_kinds)
			printf("%s | ", row->kinds ? row->kinds : "all");
		if (!is_mapping(row))
			field_allowed(row, allowed, sizeof(allowed));
		print_cell(allowed);
		printf(row->default_text ? " | `%s` | " : " | %s | ",
		       row->default_text ? row->default_text : "");
		print_cell(row->help);
		printf(" |\n");
	}
}

/* JSON Schema */

static void print_string(const char *text)
{
	putchar('"');
	for (; *text; text++)
		printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	putchar('"');
}

static void print_pattern(const char *pattern)
{
	char whole[2 * ALLOWED_MAX];

	snprintf(whole, sizeof(whole), "^(%s)$", pattern);
	printf("{\"type\": \"string\", \"pattern\": ");
	print_string(whole);
	printf("}");
}

/* A bare number from min to max; UINT64_MAX is no limit. */
static void print_number(const char *type, uint64_t min, uint64_t max, uint64_t unit)
{
	printf("{\"type\": \"%s\", \"minimum\": %.9g", type, (double)min / (double)unit);
	if (max != UINT64_MAX)
		printf(", \"maximum\": %" PRIu64, max / unit);
	printf("}, ");
}

/* YAML makes some words into booleans and numbers. */
static void print_words(const char *words)
{
	static const char *const also[] = {"true", "false", "0", "1", "1.1", "2"};
	const char *separator = "";

	while (*words) {
		size_t length = strcspn(words, "|");

		printf("%s\"%.*s\"", separator, (int)length, words);
		separator = ", ";
		for (size_t i = 0; i < ARRAY_SIZE(also); i++)
			if (length == strlen(also[i]) && !strncmp(words, also[i], length))
				printf(", %s", also[i]);
		words += length + (words[length] == '|');
	}
}

static void print_choices(const struct field *row)
{
	printf("{\"enum\": [");
	for (int i = 0; row->choices[i]; i++) {
		printf("%s", i ? ", " : "");
		print_words(row->choices[i]);
	}
	printf("]}");
}

static void print_bool(const struct field *row)
{
	(void)row;
	printf("{\"enum\": [");
	print_words("true|false|yes|no|on|off|1|0");
	printf("]}");
}

static void print_uint(const struct field *row)
{
	print_number("integer", row->min, row->max, 1);
	print_pattern(UINT_PATTERN);
}

static void print_size(const struct field *row)
{
	print_number("integer", row->min, row->max, 1);
	print_pattern(SIZE_PATTERN);
}

static void print_time(const struct field *row)
{
	print_number("number", row->min, row->max, NSEC_PER_SEC);
	print_pattern(TIME_PATTERN);
}

static void print_text(const struct field *row)
{
	printf("{\"type\": [\"string\", \"integer\"], \"minLength\": 1, \"maxLength\": %zu}",
	       row->size - 1);
}

/* A number is one of a range, or a size; what else it may be the pattern says. */
static void print_custom(const struct field *row)
{
	if (row->max > row->min && !(row->flags & FIELD_LIST))
		printf("{\"type\": \"number\", \"minimum\": %" PRIu64
		       ", \"exclusiveMaximum\": %" PRIu64 "}, ",
		       row->min, row->max);
	else if (row->pattern[0] == '[')
		printf("{\"type\": \"integer\"}, ");
	print_pattern(row->pattern);
}

static void (*const print_type[])(const struct field *row) = {
        [FIELD_BOOL] = print_bool,     [FIELD_UINT] = print_uint,      [FIELD_SIZE] = print_size,
        [FIELD_TIME] = print_time,     [FIELD_CHOICE] = print_choices, [FIELD_STRING] = print_text,
        [FIELD_CUSTOM] = print_custom,
};

/* One value: what the type takes, or a variable in it. */
static void print_value(const struct field *row)
{
	printf("{\"anyOf\": [");
	print_type[row->type](row);
	printf(", {\"$ref\": \"#/definitions/variable\"}]}");
}

static void print_key(const struct field *row)
{
	uint64_t max = row->flags & FIELD_LIST ? row->max : PLAN_TESTS_MAX;

	printf("    \"%s\": {\n      \"description\": ", row->name);
	print_string(row->help);
	if (row->default_text) {
		printf(",\n      \"default\": ");
		print_string(row->default_text);
	}
	printf(",\n      \"anyOf\": [\n        ");
	print_value(row);
	if (!(row->flags & FIELD_SINGLE)) {
		printf(",\n        {\"type\": \"array\", \"minItems\": 1, \"maxItems\": %" PRIu64
		       ", \"items\": ",
		       max);
		print_value(row);
		printf("}");
	}
	printf("\n      ]\n    }");
}

/* Names and values; a number is as good as its digits. */
static void print_headers(void)
{
	printf("{\"type\": \"object\", \"maxProperties\": %d, \"propertyNames\": {\"pattern\": "
	       "\"^[A-Za-z0-9!#$%%&'*+.^_`|~-]{1,%d}$\", \"not\": {\"pattern\": "
	       "\"^([Cc]onnection|[Cc]ontent-[Ll]ength|[Ee]xpect|[Hh]ost|[Tt]ransfer-[Ee]ncoding)$"
	       "\"}}, "
	       "\"additionalProperties\": {\"type\": [\"string\", \"number\", \"boolean\"]}}",
	       PLAN_HEADERS_MAX, PLAN_HEADER_NAME_MAX - 1);
}

static void print_chains(const struct field *row)
{
	printf("    \"%s\": {\n      \"description\": ", row->name);
	print_string(row->help);
	printf(",\n      \"type\": \"object\", \"minProperties\": 1, \"maxProperties\": %d,\n"
	       "      \"propertyNames\": {\"pattern\": \"^[A-Za-z0-9_-]{1,%d}$\"},\n"
	       "      \"additionalProperties\": {\"type\": \"array\", \"minItems\": 1, "
	       "\"maxItems\": %d, \"items\": {\"type\": \"object\", "
	       "\"required\": [\"url\"], \"additionalProperties\": false, \"properties\": {",
	       PLAN_CHAINS_MAX, PLAN_NAME_MAX - 1, PLAN_HOPS_MAX);
	for (size_t i = 0; i < plan_n_hop_fields; i++) {
		const struct field *key = &plan_hop_fields[i];

		printf("%s\n        \"%s\": {\"description\": ", i ? "," : "", key->name);
		print_string(key->help);
		printf(", \"allOf\": [");
		if (is_mapping(key))
			print_headers();
		else
			print_value(key);
		printf("]}");
	}
	printf("\n      }}}\n    }");
}

/* What goes with a sink's own key. */
static const char *const sink_keys[][6] = {
        {"file", "required", NULL},
        {"webhook", "headers", "authorization_file", "ca_file", "required", NULL},
        {"pushgateway", "job", "headers", "authorization_file", "ca_file", "required"},
};

static void print_sink(const char *const keys[6])
{
	printf("        {\"type\": \"object\", \"required\": [\"%s\"], "
	       "\"additionalProperties\": false, \"properties\": {",
	       keys[0]);
	for (int i = 0; i < 6 && keys[i]; i++) {
		const struct field *row = field_find(plan_sink_fields, plan_n_sink_fields, keys[i]);

		printf("%s\n          \"%s\": {\"description\": ", i ? "," : "", row->name);
		print_string(row->help);
		printf(", \"allOf\": [");
		if (is_mapping(row))
			print_headers();
		else
			print_value(row);
		printf("]}");
	}
	printf("\n        }}");
}

static void print_sinks(void)
{
	printf("    \"sink\": {\n      \"oneOf\": [\n");
	for (size_t i = 0; i < ARRAY_SIZE(sink_keys); i++) {
		print_sink(sink_keys[i]);
		printf("%s\n", i + 1 < ARRAY_SIZE(sink_keys) ? "," : "");
	}
	printf("      ]\n    },\n");
}

/* Rows of one name are one key: the first takes what any of them takes. */
static bool is_first(const struct field *row)
{
	return field_find(plan_fields, plan_n_fields, row->name) == row;
}

/* Of a test alone, not of the plan's top. */
static bool is_of_test(const struct field *row)
{
	return !strcmp(row->name, "name") || !strcmp(row->name, PLAN_CHAINS);
}

/* "KEY": {"$ref"}, for all keys that a test has, or that the top has as defaults. */
static void print_references(const char *indent, bool of_top)
{
	const char *separator = "";

	for (size_t i = 0; i < plan_n_fields; i++) {
		const char *name = plan_fields[i].name;

		if (!is_first(&plan_fields[i]) || (of_top && is_of_test(&plan_fields[i])))
			continue;
		printf("%s%s\"%s\": {\"$ref\": \"#/definitions/%s\"}", separator, indent, name,
		       name);
		separator = ",\n";
	}
}

static void print_schema(void)
{
	printf("{\n"
	       "  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
	       "  \"title\": \"A plan of pvcbench, version 1\",\n"
	       "  \"type\": \"object\",\n"
	       "  \"required\": [\"tests\"],\n"
	       "  \"additionalProperties\": false,\n"
	       "  \"properties\": {\n"
	       "    \"version\": {\"enum\": [1, \"1\"]},\n"
	       "    \"tests\": {\"type\": \"array\", \"minItems\": 1, \"maxItems\": %d, "
	       "\"items\": {\"$ref\": \"#/definitions/test\"}},\n"
	       "    \"deliver\": {\"type\": \"array\", \"minItems\": 1, \"maxItems\": %d, "
	       "\"items\": {\"$ref\": \"#/definitions/sink\"}},\n",
	       PLAN_TESTS_MAX, PLAN_SINKS_MAX);
	print_references("    ", true);
	printf("\n  },\n  \"definitions\": {\n"
	       "    \"variable\": {\"type\": \"string\", \"pattern\": "
	       "\"\\\\$\\\\{[A-Za-z_][A-Za-z0-9_]*\\\\}\"},\n");
	print_sinks();
	printf("    \"test\": {\n"
	       "      \"type\": \"object\",\n"
	       "      \"required\": [\"name\"],\n"
	       "      \"additionalProperties\": false,\n"
	       "      \"properties\": {\n");
	print_references("        ", false);
	printf("\n      }\n    }");
	for (size_t i = 0; i < plan_n_fields; i++) {
		if (!is_first(&plan_fields[i]))
			continue;
		printf(",\n");
		if (!strcmp(plan_fields[i].name, PLAN_CHAINS))
			print_chains(&plan_fields[i]);
		else
			print_key(&plan_fields[i]);
	}
	printf("\n  }\n}\n");
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "table")) {
		print_table(plan_fields, plan_n_fields, true);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "deliver")) {
		print_table(plan_sink_fields, plan_n_sink_fields, false);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "hops")) {
		print_table(plan_hop_fields, plan_n_hop_fields, false);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "schema")) {
		print_schema();
		return 0;
	}
	fprintf(stderr, "usage: plan_reference table | deliver | hops | schema\n");
	return 2;
}
