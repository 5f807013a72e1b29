/*
 * Two walks over the same table. Writing streams (emit.h); reading goes through the tree
 * that cJSON makes, whose numbers are doubles: hence whole numbers above 2^53 are strings.
 */
#include "out/member.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

static int bad(struct err *err, const char *what)
{
	return err_set(err, ERR_PLAN, "%s", what);
}

/* ---- writing ---- */

static void write_text(struct emit *emit, const char *key, const char *text)
{
	if (*text)
		emit_text(emit, key, text);
	else
		emit_null(emit, key);
}

static void write_list(struct emit *emit, const struct member *row, const char *object)
{
	const char *slot = object + row->offset;
	const char *elements = row->type == MEMBER_ARRAY ? *(char *const *)slot : slot;
	unsigned n = *(const unsigned *)(object + row->count_at);

	emit_open(emit, row->name, '[');
	for (unsigned i = 0; i < n; i++) {
		const char *element = elements + i * row->size;

		if (row->members)
			member_write_object(emit, NULL, row->members, element);
		else
			emit_text(emit, NULL, element);
	}
	emit_close(emit, ']');
}

static void write_member(struct emit *emit, const struct member *row, const void *object)
{
	const void *slot = (const char *)object + row->offset;

	switch (row->type) {
	case MEMBER_CUSTOM:
		row->write(emit, row, object);
		break;
	case MEMBER_CONSTANT:
		emit_text(emit, row->name, row->words[0]);
		break;
	case MEMBER_TEXT:
		write_text(emit, row->name, slot);
		break;
	case MEMBER_KNOWN:
		if (!*(const uint64_t *)slot) {
			emit_null(emit, row->name);
			break;
		} /* fall through */
	case MEMBER_UINT:
		emit_uint(emit, row->name, *(const uint64_t *)slot);
		break;
	case MEMBER_DOUBLE:
		emit_double(emit, row->name, *(const double *)slot);
		break;
	case MEMBER_BOOL:
		emit_bool(emit, row->name, *(const bool *)slot);
		break;
	case MEMBER_CHOICE:
		write_text(emit, row->name, row->words[*(const int *)slot]);
		break;
	case MEMBER_OBJECT:
		member_write_object(emit, row->name, row->members, slot);
		break;
	case MEMBER_PART:
		break;
	case MEMBER_LIST:
	case MEMBER_ARRAY:
		write_list(emit, row, object);
		break;
	}
}

static void write_members(struct emit *emit, const struct member *rows, const void *object)
{
	for (; rows->name; rows++) {
		if (rows->present && !rows->present(object))
			continue;
		if (rows->type == MEMBER_PART)
			write_members(emit, rows->members, object);
		else if (rows->known && !rows->known(object))
			emit_null(emit, rows->name);
		else
			write_member(emit, rows, object);
	}
}

void member_write_object(struct emit *emit, const char *key, const struct member *rows,
                         const void *object)
{
	emit_open(emit, key, '{');
	write_members(emit, rows, object);
	emit_close(emit, '}');
}

/* ---- reading ---- */

int member_read_uint(const cJSON *item, uint64_t *value, struct err *err)
{
	if (cJSON_IsNumber(item)) {
		double number = item->valuedouble;

		if (!(number >= 0 && number <= (double)EMIT_EXACT_MAX) || number != floor(number))
			return bad(err, "is no whole number from 0 to 2^53");
		*value = (uint64_t)number;
		return 0;
	}
	if (cJSON_IsString(item) && isdigit((unsigned char)item->valuestring[0])) {
		char *end;

		errno = 0;
		*value = strtoull(item->valuestring, &end, 10);
		if (!errno && !*end)
			return 0;
	}
	return bad(err, "is no whole number");
}

static int read_double(const cJSON *item, double *value, struct err *err)
{
	*value = NAN;
	if (cJSON_IsNull(item))
		return 0;
	if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
		return bad(err, "is no number");
	*value = item->valuedouble;
	return 0;
}

static int read_text(const cJSON *item, char *text, size_t size, struct err *err)
{
	if (cJSON_IsNull(item)) {
		*text = '\0';
		return 0;
	}
	if (!cJSON_IsString(item))
		return bad(err, "is no text");
	if (strlen(item->valuestring) >= size)
		return err_set(err, ERR_PLAN, "is longer than %zu bytes", size - 1);
	memcpy(text, item->valuestring, strlen(item->valuestring) + 1);
	emit_clean(text);
	return 0;
}

static int read_bool(const cJSON *item, bool *value, struct err *err)
{
	if (!cJSON_IsBool(item))
		return bad(err, "is neither true nor false");
	*value = cJSON_IsTrue(item);
	return 0;
}

static int read_choice(const cJSON *item, const char *const *words, int *value, struct err *err)
{
	const char *text = cJSON_IsNull(item) ? "" : cJSON_GetStringValue(item);

	for (int i = 0; text && words[i]; i++) {
		if (!strcmp(words[i], text)) {
			*value = i;
			return 0;
		}
	}
	return bad(err, "is none of the known words");
}

static int read_constant(const cJSON *item, const char *constant, struct err *err)
{
	if (!cJSON_IsString(item) || strcmp(item->valuestring, constant) != 0)
		return err_set(err, ERR_PLAN, "is not '%s'", constant);
	return 0;
}

static int read_list(const cJSON *item, const struct member *row, char *object, struct err *err)
{
	unsigned *n = (unsigned *)(object + row->count_at);
	char *elements = object + row->offset;
	const cJSON *element;

	if (!cJSON_IsArray(item))
		return bad(err, "is no array");
	if (cJSON_GetArraySize(item) > (int)row->max)
		return err_set(err, ERR_PLAN, "has more than %u elements", row->max);
	if (row->type == MEMBER_ARRAY) {
		elements = calloc((size_t)cJSON_GetArraySize(item) + 1, row->size);
		if (!elements)
			return bad(err, "out of memory");
		*(char **)(object + row->offset) = elements;
	}
	cJSON_ArrayForEach(element, item)
	{
		char *slot = elements + (*n)++ * row->size;

		if (row->members ? member_read_object(element, row->members, slot, err)
		                 : read_text(element, slot, row->size, err))
			return err_wrap(err, "[%u]", *n - 1);
	}
	return 0;
}

static int read_member(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	void *slot = (char *)object + row->offset;

	switch (row->type) {
	case MEMBER_CONSTANT:
		return read_constant(item, row->words[0], err);
	case MEMBER_TEXT:
		return read_text(item, slot, row->size, err);
	case MEMBER_KNOWN:
		return cJSON_IsNull(item) ? 0 : member_read_uint(item, slot, err);
	case MEMBER_UINT:
		return member_read_uint(item, slot, err);
	case MEMBER_DOUBLE:
		return read_double(item, slot, err);
	case MEMBER_BOOL:
		return read_bool(item, slot, err);
	case MEMBER_CHOICE:
		return read_choice(item, row->words, slot, err);
	case MEMBER_OBJECT:
		return member_read_object(item, row->members, slot, err);
	case MEMBER_LIST:
	case MEMBER_ARRAY:
		return read_list(item, row, object, err);
	default:
		return row->read ? row->read(item, row, object, err) : 0;
	}
}

int member_read_object(const cJSON *item, const struct member *rows, void *object, struct err *err)
{
	if (!cJSON_IsObject(item))
		return bad(err, "is no object");
	for (; rows->name; rows++) {
		const cJSON *member = cJSON_GetObjectItemCaseSensitive(item, rows->name);

		if (rows->type == MEMBER_PART) {
			if (member_read_object(item, rows->members, object, err))
				return -1;
			continue;
		}
		if (!member && rows->required)
			return err_set(err, ERR_PLAN, "has no member '%s'", rows->name);
		if (!member || (rows->known && cJSON_IsNull(member)))
			continue;
		if (read_member(member, rows, object, err))
			return err_wrap(err, "%s", rows->name);
	}
	return 0;
}

/* ---- the tree ---- */

#define BLOCK_BYTES (32 * KIB)

/* A tree has a node for every number of a histogram, and is dropped as a whole: so is its memory.
 */
struct block {
	struct block *older;
	_Alignas(max_align_t) unsigned char bytes[];
};

static _Thread_local struct {
	bool is_read; /* by this thread; whatever else it does with cJSON is no part of the tree */
	struct block *newest;
	unsigned char *rest; /* of the newest */
	size_t rest_bytes;
} tree;

static void *take(size_t bytes)
{
	if (!tree.is_read)
		return malloc(bytes);

	size_t n = (bytes + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
	unsigned char *taken;

	if (n > tree.rest_bytes) {
		size_t room = max_u64(n, BLOCK_BYTES);
		struct block *block = malloc(sizeof(*block) + room);

		if (!block)
			return NULL;
		block->older = tree.newest;
		tree.newest = block;
		tree.rest = block->bytes;
		tree.rest_bytes = room;
	}
	taken = tree.rest;
	tree.rest += n;
	tree.rest_bytes -= n;
	return taken;
}

static void give(void *bytes)
{
	if (!tree.is_read)
		free(bytes);
}

static void drop_tree(void)
{
	while (tree.newest) {
		struct block *older = tree.newest->older;

		free(tree.newest);
		tree.newest = older;
	}
	tree.rest_bytes = 0;
	tree.is_read = false;
}

static void init_once(void)
{
	cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = take, .free_fn = give});
}

static cJSON *make_tree(const char *text, size_t size, const char **end)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init_once);
	tree.is_read = true;
	return cJSON_ParseWithLengthOpts(text, size, end, false);
}

int member_read_text(const char *text, size_t size, const struct member *rows, void *object,
                     struct err *err)
{
	const char *end = NULL;
	cJSON *document = make_tree(text, size, &end);
	int ret = -1;

	while (document && end < text + size && (isspace((unsigned char)*end) || !*end))
		end++;
	if (!document)
		err_set(err, ERR_PLAN, "no JSON: damaged at byte %zu of %zu",
		        end ? (size_t)(end - text) : 0, size);
	else if (end < text + size)
		bad(err, "something follows the JSON document");
	else
		ret = member_read_object(document, rows, object, err);
	drop_tree();
	return ret;
}
