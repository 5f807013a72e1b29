/*
 * One table of named, typed members drives reading, ranges, defaults, "did you
 * mean" and the reference page. A row says where in a plain struct the value
 * lies; nobody parses a key by hand.
 */
#ifndef PVCBENCH_FIELD_H
#define PVCBENCH_FIELD_H

#include "base/err.h"

enum field_type {
	FIELD_BOOL,   /* bool: true, false (yes, no, on, off, 1, 0) */
	FIELD_UINT,   /* uint64_t: a whole number */
	FIELD_SIZE,   /* uint64_t: bytes, see units.h */
	FIELD_TIME,   /* uint64_t: nanoseconds, see units.h */
	FIELD_CHOICE, /* int: the index of a word in choices */
	FIELD_STRING, /* char[size]: not empty and not longer than the buffer */
	FIELD_CUSTOM, /* what parse() writes */
};

enum field_flag {
	FIELD_SINGLE = 1,   /* one value, never a list */
	FIELD_LIST = 2,     /* a list of at most `max` values belongs to one object */
	FIELD_EXPLAINS = 4, /* CUSTOM: what parse complains of needs no "(allowed: ...)" */
};

struct field {
	const char *name;
	enum field_type type;
	unsigned flags; /* enum field_flag; 0: a list of values means an object for each */
	size_t offset;
	size_t size;                /* STRING: bytes of the buffer */
	uint64_t min, max;          /* UINT, SIZE, TIME; both inclusive */
	const char *const *choices; /* CHOICE: words, ended by NULL; "rw|readwrite": synonyms */
	int (*parse)(void *slot, const char *text, struct err *err);
	const char *allowed;      /* in words, where type and range do not say it */
	const char *pattern;      /* CUSTOM: what parse takes, as a regular expression */
	const char *default_text; /* as it would be written in a plan; NULL: none */
	const char *help;         /* one sentence for the reference page */
	const char *kinds;        /* words: which kinds of object have it; NULL: all */
};

/*
 * Read text into the member of *object that row describes. The error says what
 * was found and what is allowed; the caller adds place and key. With FIELD_LIST the
 * values come one by one.
 */
int field_set(const struct field *row, void *object, const char *text, struct err *err);

/* Write every default of the table (of n rows) into *object. Our table, our bug: asserts. */
void field_set_defaults(const struct field *table, size_t n, void *object);

/* The first row of this name, or NULL. */
const struct field *field_find(const struct field *table, size_t n, const char *name);

/*
 * The row of this name that objects of this kind have, or NULL. Rows of one name stand for one
 * member of several kinds that differ in range or default; the first one takes what any takes.
 */
const struct field *field_find_of(const struct field *table, size_t n, const char *name,
                                  const char *kind);

#define FIELD_TOO_FAR 4u

/*
 * How many edits make name into known, ignoring case; FIELD_TOO_FAR when they are more
 * than 3 or not under half of name: then nobody could have meant it.
 */
unsigned field_distance(const char *name, const char *known);

/* Whether an object of this kind has the member. */
bool field_is_of(const struct field *row, const char *kind);

/* The name nearest to the one given, or NULL where all are too far. */
const char *field_nearest(const struct field *table, size_t n, const char *name);

/* Add to an unknown name's error the name that is meant, or (NULL) all there are. Returns -1. */
int field_append_nearest(const struct field *table, size_t n, const char *nearest, struct err *err);

/* What is allowed for this row, for messages and docs: "4KiB to 1GiB", "auto, true, false". */
char *field_allowed(const struct field *row, char *out, size_t size);

#endif
