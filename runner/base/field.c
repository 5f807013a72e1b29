/*
 * Each type has a row of its own in `types`: how it is read and how its range is put
 * into words. field_set adds the range to whatever the reader complained of.
 */
#include "base/field.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"

#define FIELD_ALLOWED_MAX 256
#define GUESS_LENGTH_MAX  63

struct type {
	int (*read)(const struct field *row, void *slot, const char *text, struct err *err);
	/* NULL: the row itself says what is allowed */
	void (*allow)(const struct field *row, char *out, size_t size);
	const char *examples; /* added to what is allowed */
};

/* Whether text is one of the words in "word|synonym|synonym". */
static bool is_choice(const char *words, const char *text)
{
	size_t length = strlen(text);

	for (;;) {
		size_t n = strcspn(words, "|");

		if (n == length && !strncasecmp(words, text, n))
			return true;
		if (!words[n])
			return false;
		words += n + 1;
	}
}

static int read_bool(const struct field *row, void *slot, const char *text, struct err *err)
{
	(void)row;
	bool yes = is_choice("true|yes|on|1", text);

	if (!yes && !is_choice("false|no|off|0", text))
		return err_set(err, ERR_PLAN, "'%s' is neither true nor false", text);
	*(bool *)slot = yes;
	return 0;
}

static void allow_bool(const struct field *row, char *out, size_t size)
{
	(void)row;
	snprintf(out, size, "true, false");
}

static int store_in_range(const struct field *row, void *slot, uint64_t value, const char *text,
                          struct err *err)
{
	if (value < row->min || value > row->max)
		return err_set(err, ERR_PLAN, "'%s' is out of range", text);
	*(uint64_t *)slot = value;
	return 0;
}

static int read_uint(const struct field *row, void *slot, const char *text, struct err *err)
{
	uint64_t value;

	if (units_parse_count(text, &value, err))
		return -1;
	return store_in_range(row, slot, value, text, err);
}

static void allow_uint(const struct field *row, char *out, size_t size)
{
	if (row->max == row->min)
		snprintf(out, size, "%" PRIu64, row->min);
	else if (row->max == UINT64_MAX)
		snprintf(out, size, "%" PRIu64 " or more", row->min);
	else
		snprintf(out, size, "%" PRIu64 " to %" PRIu64, row->min, row->max);
}

static int read_size(const struct field *row, void *slot, const char *text, struct err *err)
{
	uint64_t value;

	if (units_parse_size(text, &value, err))
		return -1;
	return store_in_range(row, slot, value, text, err);
}

static void allow_size(const struct field *row, char *out, size_t size)
{
	char min[UNITS_TEXT_MAX], max[UNITS_TEXT_MAX];

	snprintf(out, size, "%s to %s", units_format_size(row->min, min),
	         units_format_size(row->max, max));
}

static int read_time(const struct field *row, void *slot, const char *text, struct err *err)
{
	uint64_t value;

	if (units_parse_time(text, &value, err))
		return -1;
	return store_in_range(row, slot, value, text, err);
}

/* As one would write it: the largest unit that needs no fraction. */
static void format_exact_time(uint64_t ns, char *out, size_t size)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {
	        {"h", 3600 * NSEC_PER_SEC}, {"m", 60 * NSEC_PER_SEC}, {"s", NSEC_PER_SEC},
	        {"ms", NSEC_PER_MSEC},      {"us", NSEC_PER_USEC},    {"ns", 1},
	};
	size_t i = 0;

	if (!ns)
		i = 2;
	else
		while (ns % units[i].ns)
			i++;
	snprintf(out, size, "%" PRIu64 "%s", ns / units[i].ns, units[i].unit);
}

static void allow_time(const struct field *row, char *out, size_t size)
{
	char min[UNITS_TEXT_MAX], max[UNITS_TEXT_MAX];

	format_exact_time(row->min, min, sizeof(min));
	format_exact_time(row->max, max, sizeof(max));
	snprintf(out, size, "%s to %s", min, max);
}

static int read_choice(const struct field *row, void *slot, const char *text, struct err *err)
{
	for (int i = 0; row->choices[i]; i++) {
		if (is_choice(row->choices[i], text)) {
			*(int *)slot = i;
			return 0;
		}
	}
	return err_set(err, ERR_PLAN, "'%s' is not known", text);
}

static void allow_choice(const struct field *row, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; row->choices[i] && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%.*s", i ? ", " : "",
		                         (int)strcspn(row->choices[i], "|"), row->choices[i]);
}

static int read_string(const struct field *row, void *slot, const char *text, struct err *err)
{
	size_t length = strlen(text);

	if (!length)
		return err_set(err, ERR_PLAN, "is empty");
	if (length >= row->size)
		return err_set(err, ERR_PLAN, "'%.32s...' is too long", text);
	memcpy(slot, text, length + 1);
	return 0;
}

static void allow_string(const struct field *row, char *out, size_t size)
{
	snprintf(out, size, "at most %zu bytes", row->size - 1);
}

static int read_custom(const struct field *row, void *slot, const char *text, struct err *err)
{
	return row->parse(slot, text, err);
}

static const struct type types[] = {
        [FIELD_BOOL] = {read_bool, allow_bool, ""},
        [FIELD_UINT] = {read_uint, allow_uint, ""},
        [FIELD_SIZE] = {read_size, allow_size, ", such as 4k, 4KiB, 1MB"},
        [FIELD_TIME] = {read_time, allow_time, ", such as 500ms, 10s, 2m"},
        [FIELD_CHOICE] = {read_choice, allow_choice, ""},
        [FIELD_STRING] = {read_string, allow_string, ""},
        [FIELD_CUSTOM] = {read_custom, NULL, ""},
};

int field_set(const struct field *row, void *object, const char *text, struct err *err)
{
	const struct type *type = &types[row->type];
	char allowed[FIELD_ALLOWED_MAX];

	if (!type->read(row, (char *)object + row->offset, text, err))
		return 0;
	if (row->flags & FIELD_EXPLAINS)
		return -1;
	return err_append(err, " (allowed: %s%s)", field_allowed(row, allowed, sizeof(allowed)),
	                  type->examples);
}

void field_set_defaults(const struct field *table, size_t n, void *object)
{
	for (size_t i = 0; i < n; i++) {
		struct err err;

		if (!table[i].default_text)
			continue;
		int ret = field_set(&table[i], object, table[i].default_text, &err);

		assert(!ret);
		(void)ret;
	}
}

const struct field *field_find(const struct field *table, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

bool field_is_of(const struct field *row, const char *kind)
{
	size_t length = strlen(kind);

	for (const char *word = row->kinds; word; word = strchr(word, ' ')) {
		word += strspn(word, " ");
		if (strcspn(word, " ") == length && !strncmp(word, kind, length))
			return true;
	}
	return !row->kinds;
}

const struct field *field_find_of(const struct field *table, size_t n, const char *name,
                                  const char *kind)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(table[i].name, name) && field_is_of(&table[i], kind))
			return &table[i];
	return NULL;
}

static unsigned min_of_3(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;

	return least < c ? least : c;
}

/* Levenshtein's, a row of the table at a time. */
static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned row[GUESS_LENGTH_MAX + 1];

	for (unsigned j = 0; j <= b_length; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a_length; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= b_length; j++) {
			bool differ = tolower((unsigned char)a[i - 1]) !=
			              tolower((unsigned char)b[j - 1]);
			unsigned replaced = diagonal + differ;

			diagonal = row[j];
			row[j] = min_of_3(row[j] + 1, row[j - 1] + 1, replaced);
		}
	}
	return row[b_length];
}

unsigned field_distance(const char *name, const char *known)
{
	size_t name_length = strlen(name), known_length = strlen(known);

	if (name_length > GUESS_LENGTH_MAX || known_length > GUESS_LENGTH_MAX)
		return FIELD_TOO_FAR;
	unsigned distance = edit_distance(name, name_length, known, known_length);

	return distance < FIELD_TOO_FAR && 2 * distance < name_length ? distance : FIELD_TOO_FAR;
}

const char *field_nearest(const struct field *table, size_t n, const char *name)
{
	const char *nearest = NULL;
	unsigned least = FIELD_TOO_FAR;

	for (size_t i = 0; i < n; i++) {
		unsigned distance = field_distance(name, table[i].name);

		if (distance < least) {
			least = distance;
			nearest = table[i].name;
		}
	}
	return nearest;
}

int field_append_nearest(const struct field *table, size_t n, const char *nearest, struct err *err)
{
	if (nearest)
		return err_append(err, " (did you mean '%s'?)", nearest);
	err_append(err, " (known:");
	for (size_t i = 0; i < n; i++)
		if (field_find(table, n, table[i].name) == &table[i])
			err_append(err, "%s %s", i ? "," : "", table[i].name);
	return err_append(err, ")");
}

char *field_allowed(const struct field *row, char *out, size_t size)
{
	if (row->allowed)
		snprintf(out, size, "%s", row->allowed);
	else
		types[row->type].allow(row, out, size);
	return out;
}
