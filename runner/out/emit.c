/*
 * The state is one bit a level, "something stands here already", and only that of the
 * innermost level is needed: whoever closes a level has thereby filled the one
 * around it.
 */
#include "out/emit.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_bytes(struct emit *emit, const char *text, size_t n)
{
	emit->bytes += n;
	if (emit->out)
		fwrite(text, 1, n, emit->out);
}

static void put(struct emit *emit, const char *text)
{
	put_bytes(emit, text, strlen(text));
}

static void newline(struct emit *emit)
{
	if (!emit->indent || emit->flat)
		return;
	put(emit, "\n");
	for (unsigned i = 0; i < emit->depth; i++)
		put(emit, "  ");
}

/*
 * How many bytes make up the UTF-8 character at s (NUL-terminated), 0 when they
 * are none: no overlong forms, no surrogates, nothing beyond U+10FFFF.
 */
static unsigned utf8_length(const unsigned char *s)
{
	static const struct {
		unsigned char lead_from, lead_to, second_from, second_to, length;
	} forms[] = {
	        {0x01, 0x7f, 0x00, 0xff, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2},
	        {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
	        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
	        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
	        {0xf4, 0xf4, 0x80, 0x8f, 4},
	};
	unsigned form = 0;

	while (form < ARRAY_SIZE(forms) && s[0] > forms[form].lead_to)
		form++;
	if (form == ARRAY_SIZE(forms) || s[0] < forms[form].lead_from)
		return 0;
	if (forms[form].length == 1)
		return 1;
	if (s[1] < forms[form].second_from || s[1] > forms[form].second_to)
		return 0;
	for (unsigned i = 2; i < forms[form].length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return forms[form].length;
}

/* As utf8_length, and 0 too for what may not be printed; the C1 range is U+0080 to U+009F. */
static unsigned printable_length(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned length = utf8_length(s);
	bool c0 = s[0] < 0x20 && s[0] != '\t' && s[0] != '\n';
	bool c1 = s[0] == 0xc2 && s[1] < 0xa0;

	return c0 || c1 || s[0] == 0x7f ? 0 : length;
}

void emit_clean(char *text)
{
	while (*text) {
		unsigned length = printable_length(text);

		if (!length)
			*text = '?';
		text += length ? length : 1;
	}
}

static void put_text(struct emit *emit, const char *text)
{
	static const char special[] = "\"\\\n\t";
	static const char *const escaped[] = {"\\\"", "\\\\", "\\n", "\\t"};

	put(emit, "\"");
	while (*text) {
		unsigned length = printable_length(text);
		const char *found = strchr(special, *text);

		if (found)
			put(emit, escaped[found - special]);
		else if (length)
			put_bytes(emit, text, length);
		else
			put(emit, "?");
		text += length ? length : 1;
	}
	put(emit, "\"");
}

/* Everything that stands before a value. */
static void begin(struct emit *emit, const char *key)
{
	if (emit->filled)
		put(emit, emit->flat && emit->indent ? ", " : ",");
	if (emit->depth)
		newline(emit);
	emit->filled = true;
	if (!key)
		return;
	put_text(emit, key);
	put(emit, emit->indent ? ": " : ":");
}

void emit_open(struct emit *emit, const char *key, char bracket)
{
	assert(!emit->flat);
	begin(emit, key);
	put_bytes(emit, &bracket, 1);
	emit->depth++;
	emit->filled = false;
}

void emit_open_flat(struct emit *emit, const char *key)
{
	emit_open(emit, key, '[');
	emit->flat = true;
}

void emit_close(struct emit *emit, char bracket)
{
	assert(emit->depth);
	emit->depth--;
	if (emit->filled)
		newline(emit);
	put_bytes(emit, &bracket, 1);
	emit->flat = false;
	emit->filled = true;
}

void emit_text(struct emit *emit, const char *key, const char *text)
{
	begin(emit, key);
	put_text(emit, text);
}

void emit_uint(struct emit *emit, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), value > EMIT_EXACT_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64,
	         value);
	begin(emit, key);
	put(emit, text);
}

void emit_int(struct emit *emit, const char *key, int64_t value)
{
	char text[32];

	assert(value >= -(int64_t)EMIT_EXACT_MAX && value <= (int64_t)EMIT_EXACT_MAX);
	snprintf(text, sizeof(text), "%" PRId64, value);
	begin(emit, key);
	put(emit, text);
}

/* The fewest digits that read back as the same double. */
void emit_double(struct emit *emit, const char *key, double value)
{
	char text[32];
	int digits = 15;

	if (!isfinite(value)) {
		emit_null(emit, key);
		return;
	}
	begin(emit, key);
	do
		snprintf(text, sizeof(text), "%.*g", digits, value);
	while (strtod(text, NULL) != value && digits++ < 17);
	put(emit, text);
}

void emit_bool(struct emit *emit, const char *key, bool value)
{
	begin(emit, key);
	put(emit, value ? "true" : "false");
}

void emit_null(struct emit *emit, const char *key)
{
	begin(emit, key);
	put(emit, "null");
}
