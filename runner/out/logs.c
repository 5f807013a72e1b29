/*
 * Line after line. A document begins with a '{' where nothing else is expected (at the start, or
 * behind another one) or with a line that is only that, as json_write begins one; it ends with the
 * brace that closes it. Where such a line comes within a document, that one was cut off.
 *
 * Of a line no more is kept than a result line can have, however long it is.
 */
#include "out/logs.h"

#include <errno.h>
#include <string.h>

#include "out/emit.h"
#include "out/json.h"

#define PREFIX_MAX KIB /* what may stand before the marker: a pod, a time */
#define LINE_MAX   (RESULT_LINE_MAX + PREFIX_MAX)
#define CHUNK_MIN  16000 /* what a runtime cut off at 16 KiB is at least so long */
#define CHUNK_MAX  16384

/* What of a JSON text is open. */
struct brackets {
	int depth;
	bool in_string, escaped;
};

struct logs {
	const char *name;
	const struct logs_reader *reader;
	struct err *err;
	uint64_t line; /* its number, from 1 */
	bool failed;   /* found said so */
	unsigned told; /* results, and what is none */

	char text[LINE_MAX + 1]; /* the line, without its end */
	size_t size;             /* of text */
	uint64_t length;         /* of the line, which may be longer */

	/* A result line that was cut: it waits for its rest. */
	char cut[RESULT_LINE_MAX + 1];
	size_t cut_size; /* 0: there is none */
	uint64_t cut_line;
	char cut_prefix[PREFIX_MAX + 1];

	char *document; /* NULL: not within one */
	size_t document_size, document_room;
	uint64_t document_line;
	struct brackets brackets; /* of it */
	bool expects_document;
};

static void damaged(struct logs *l, uint64_t line, const char *why)
{
	char text[ERR_TEXT_MAX];

	snprintf(text, sizeof(text), "%s:%llu: %s", l->name, (unsigned long long)line, why);
	emit_clean(text);
	l->told++;
	l->reader->damaged(l->reader->arg, text);
}

static void tell_nothing(const struct logs *l)
{
	char text[ERR_TEXT_MAX];

	snprintf(text, sizeof(text), "%.500s: no result in it (no document, and no line '%s{...')",
	         l->name, RESULT_LINE_PREFIX);
	emit_clean(text);
	l->reader->damaged(l->reader->arg, text);
}

static bool is_timestamp(const char *word)
{
	return strlen(word) > 10 && word[0] >= '0' && word[0] <= '9' && word[4] == '-' &&
	       word[10] == 'T';
}

/* "[pod/NAME/CONTAINER] " of kubectl, or the first word of others; "" where there is none. */
static void pod_name(const char *prefix, char *out, size_t size)
{
	int length = (int)strcspn(prefix, " \t");

	if (!strncmp(prefix, "[pod/", 5)) {
		prefix += 5;
		length = (int)strcspn(prefix, "/]");
	}
	snprintf(out, size, "%.*s", length, prefix);
	if (is_timestamp(out))
		*out = '\0';
	emit_clean(out);
}

static void give(struct logs *l, struct result *result, const char *prefix, uint64_t line)
{
	char place[ERR_TEXT_MAX / 2], pod[128];

	snprintf(place, sizeof(place), "%.200s:%llu", l->name, (unsigned long long)line);
	pod_name(prefix, pod, sizeof(pod));
	l->told++;
	l->failed = l->reader->found(l->reader->arg, result, *pod ? pod : NULL, place, l->err) < 0;
	result_destroy(result);
}

/* ---- documents ---- */

static void drop_document(struct logs *l)
{
	free(l->document);
	l->document = NULL;
	l->document_size = l->document_room = 0;
}

static void end_document(struct logs *l)
{
	struct result result;
	struct err err;

	if (l->document_size > LOGS_DOCUMENT_MAX)
		damaged(l, l->document_line, "a document larger than 64 MiB: not read");
	else if (json_read(&result, l->document, l->document_size, &err))
		damaged(l, l->document_line, err.text);
	else
		give(l, &result, "", l->document_line);
	drop_document(l);
	l->expects_document = true;
}

static void cut_document(struct logs *l)
{
	damaged(l, l->document_line, "a result document that is cut off: not read");
	drop_document(l);
}

/* Bytes of the document; what is beyond its limit is counted and not kept. */
static void keep(struct logs *l, const char *text, size_t n)
{
	size_t room = l->document_room;

	l->document_size += n;
	if (l->document_size > LOGS_DOCUMENT_MAX)
		return;
	while (room < l->document_size)
		room = room ? 2 * room : 64 * KIB;
	if (room != l->document_room) {
		char *more = realloc(l->document, room);

		if (!more) {
			l->document_size = LOGS_DOCUMENT_MAX + 1;
			return;
		}
		l->document = more;
		l->document_room = room;
	}
	memcpy(l->document + l->document_size - n, text, n);
}

static void follow(struct brackets *b, char c)
{
	if (b->escaped)
		b->escaped = false;
	else if (b->in_string && c == '\\')
		b->escaped = true;
	else if (c == '"')
		b->in_string = !b->in_string;
	else if (!b->in_string && (c == '{' || c == '['))
		b->depth++;
	else if (!b->in_string && (c == '}' || c == ']'))
		b->depth--;
}

/* How much of this belongs to what the first bracket opens. */
static size_t closed_part(struct brackets *b, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		follow(b, text[i]);
		if (!b->depth)
			return i + 1;
	}
	return n;
}

static void begin_document(struct logs *l)
{
	l->document = malloc(64 * KIB);
	l->document_room = l->document ? 64 * KIB : 0;
	l->document_size = 0;
	l->document_line = l->line;
	l->brackets = (struct brackets){0};
}

static size_t feed_document(struct logs *l, const char *text, size_t n)
{
	size_t part = closed_part(&l->brackets, text, n);

	keep(l, text, part);
	if (!l->brackets.depth)
		end_document(l);
	return part;
}

/* ---- lines ---- */

static void give_up_cut(struct logs *l)
{
	size_t whole = l->cut_size + strlen(RESULT_LINE_PREFIX);
	char pod[128], why[ERR_TEXT_MAX / 2];

	if (!l->cut_size)
		return;
	pod_name(l->cut_prefix, pod, sizeof(pod));
	snprintf(
	        why, sizeof(why), "a result line%s%s is cut off after %zu bytes%s: not read",
	        *pod ? " of " : "", pod, whole,
	        whole >= CHUNK_MIN && whole <= CHUNK_MAX
	                ? " (container runtimes cut lines at 16 KiB, and their rest did not follow)"
	                : "");
	damaged(l, l->cut_line, why);
	l->cut_size = 0;
}

/* Whether all brackets are closed: else the end is missing. */
static bool is_whole(const char *text, size_t size)
{
	struct brackets brackets = {0};

	closed_part(&brackets, text, size);
	return !brackets.depth;
}

static void take_json(struct logs *l, const char *json, size_t size, const char *prefix,
                      uint64_t line)
{
	struct result result;
	struct err err;

	if (!json_read(&result, json, size, &err)) {
		give(l, &result, prefix, line);
		return;
	}
	if (is_whole(json, size) || size > RESULT_LINE_MAX) {
		damaged(l, line, err.text);
		return;
	}
	memcpy(l->cut, json, size);
	l->cut_size = size;
	l->cut_line = line;
	snprintf(l->cut_prefix, sizeof(l->cut_prefix), "%s", prefix);
}

/* What follows the prefix that the cut line had, a time of its own left out; NULL: not its pod. */
static const char *behind_prefix(const struct logs *l)
{
	size_t bracket = strncmp(l->cut_prefix, "[pod/", 5) ? 0 : strcspn(l->cut_prefix, "]") + 2;
	const char *rest = l->text + bracket, *space;

	if (bracket > l->size || strncmp(l->text, l->cut_prefix, bracket) != 0)
		return NULL;
	space = strchr(rest, ' ');
	return is_timestamp(rest) && space ? space + 1 : rest;
}

/* Whether this line is the rest of the one that was cut. */
static bool is_rest(struct logs *l)
{
	size_t whole = l->cut_size + strlen(RESULT_LINE_PREFIX), n;
	const char *rest = l->cut_size && whole >= CHUNK_MIN ? behind_prefix(l) : NULL;

	if (!rest)
		return false;
	n = l->size - (size_t)(rest - l->text);
	if (!n || l->cut_size + n > RESULT_LINE_MAX)
		return false;
	memcpy(l->cut + l->cut_size, rest, n);
	if (is_whole(l->cut, l->cut_size + n)) {
		size_t size = l->cut_size + n;

		l->cut_size = 0;
		take_json(l, l->cut, size, l->cut_prefix, l->cut_line);
		return true;
	}
	if (n < CHUNK_MIN)
		return false;
	l->cut_size += n;
	return true;
}

static void end_line(struct logs *l)
{
	static const char marker[] = RESULT_LINE_PREFIX "{";
	char *found = memmem(l->text, min_u64(l->size, PREFIX_MAX), marker, strlen(marker));
	char prefix[PREFIX_MAX + 1];

	l->text[l->size] = '\0';
	if (!found && is_rest(l))
		return;
	give_up_cut(l);
	if (!found)
		return;
	if (l->length > LINE_MAX) {
		damaged(l, l->line, "a line longer than any result line: not read");
		return;
	}
	snprintf(prefix, sizeof(prefix), "%.*s", (int)(found - l->text), l->text);
	found += strlen(RESULT_LINE_PREFIX);
	take_json(l, found, l->size - (size_t)(found - l->text), prefix, l->line);
}

/* A document that begins in the middle of another one, at the start of a line. */
static bool begins_anew(const struct logs *l, const char *text, size_t n)
{
	return l->document && !l->length && n > 1 && text[0] == '{' && text[1] == '\n';
}

/* A piece of a line, or all of it; ends says that its end is the line's. */
static void take_piece(struct logs *l, const char *text, size_t n)
{
	size_t room = min_u64(n, LINE_MAX - l->size);

	memcpy(l->text + l->size, text, room);
	l->size += room;
	l->length += n;
}

static bool begins_document(const struct logs *l, const char *text, size_t n)
{
	return !l->length && text[0] == '{' && (l->expects_document || (n > 1 && text[1] == '\n'));
}

static void next_line(struct logs *l)
{
	l->line++;
	l->size = 0;
	l->length = 0;
}

/* Bytes up to the end of a line, its newline included, or fewer. Returns how many were taken. */
static size_t take(struct logs *l, const char *text, size_t n)
{
	bool ends = text[n - 1] == '\n';

	if (begins_anew(l, text, n))
		cut_document(l);
	if (!l->document && begins_document(l, text, n)) {
		give_up_cut(l);
		begin_document(l);
	}
	if (l->document) {
		n = feed_document(l, text, n);
		l->length += n;
		if (text[n - 1] == '\n')
			next_line(l);
		else if (!l->document)
			l->length = 0;
		return n;
	}
	take_piece(l, text, ends ? n - 1 : n);
	if (ends && l->length) {
		l->expects_document = false;
		end_line(l);
	}
	if (ends)
		next_line(l);
	return n;
}

static void take_all(struct logs *l, const char *bytes, size_t n)
{
	while (n && !l->failed) {
		const char *newline = memchr(bytes, '\n', n);
		size_t took = take(l, bytes, newline ? (size_t)(newline + 1 - bytes) : n);

		bytes += took;
		n -= took;
	}
}

static void finish(struct logs *l)
{
	if (l->document)
		cut_document(l);
	else if (l->length)
		end_line(l);
	give_up_cut(l);
}

/* A brace alone does not say what it begins. */
static size_t read_some(FILE *in, char bytes[LINE_MAX])
{
	size_t n = fread(bytes, 1, LINE_MAX - 1, in);
	int c = n && bytes[n - 1] == '{' ? getc(in) : EOF;

	if (c != EOF)
		bytes[n++] = (char)c;
	return n;
}

int logs_read(FILE *in, const char *name, const struct logs_reader *reader, struct err *err)
{
	CLEANUP(mem) struct logs *l = calloc(1, sizeof(*l));
	CLEANUP(mem) char *bytes = malloc(LINE_MAX);
	size_t n;

	if (!l || !bytes)
		return err_set(err, ERR_PLAN, "out of memory");
	l->name = name;
	l->reader = reader;
	l->err = err;
	l->line = 1;
	l->expects_document = true;
	while (!l->failed && (n = read_some(in, bytes)) > 0)
		take_all(l, bytes, n);
	if (!l->failed && ferror(in))
		return err_sys(err, ERR_PLAN, errno, "cannot read '%s'", name);
	if (!l->failed)
		finish(l);
	drop_document(l);
	if (!l->failed && !l->told)
		tell_nothing(l);
	return l->failed ? -1 : 0;
}

int logs_read_file(const char *name, const struct logs_reader *reader, struct err *err)
{
	bool is_stdin = !strcmp(name, "-");
	CLEANUP(file) FILE *file = is_stdin ? NULL : fopen(name, "re");

	if (!is_stdin && !file)
		return err_sys(err, ERR_PLAN, errno, "cannot read '%s'", name);
	return logs_read(is_stdin ? stdin : file, is_stdin ? "standard input" : name, reader, err);
}
