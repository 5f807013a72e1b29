/*
 * JSON as it is written: value after value straight into a FILE, so a document of
 * any length takes no memory, and whole numbers keep all 64 bits.
 *
 * key is the member's name within an object and NULL within an array. Texts may
 * hold any bytes: what is no valid UTF-8 and every control character but tab and
 * newline comes out as '?'. Whole numbers above 2^53 are written as decimal
 * strings, since readers that keep doubles would round them in silence. A double that is
 * no number is null.
 */
#ifndef PVCBENCH_EMIT_H
#define PVCBENCH_EMIT_H

#include "base/base.h"

#define EMIT_EXACT_MAX (1ull << 53)

struct emit {
	FILE *out;    /* NULL: only count */
	bool indent;  /* a member a line; else all in one line */
	size_t bytes; /* written so far; this and the rest are zero at first */

	/* private */
	unsigned depth;
	bool flat;
	bool filled;
};

/* bracket: '{' or '['. A flat array stays on one line and holds numbers only. */
void emit_open(struct emit *emit, const char *key, char bracket);
void emit_open_flat(struct emit *emit, const char *key);
void emit_close(struct emit *emit, char bracket);

void emit_text(struct emit *emit, const char *key, const char *text);
void emit_uint(struct emit *emit, const char *key, uint64_t value);
void emit_int(struct emit *emit, const char *key, int64_t value);
void emit_double(struct emit *emit, const char *key, double value);
void emit_bool(struct emit *emit, const char *key, bool value);
void emit_null(struct emit *emit, const char *key);

/*
 * The same cleaning in place, for texts that came from outside: what is no valid
 * UTF-8 and every control character but tab and newline becomes '?'.
 */
void emit_clean(char *text);

#endif
