/*
 * How plain structs stand in JSON. A table of rows drives writing and reading alike, so
 * that what is written can be read: a row names a member and says where in the struct
 * it lies. What no type describes is CUSTOM; without a reader it is derived (a rate, a
 * percentile), written for people and never read.
 *
 * What is not known is null: an empty text, a KNOWN of 0, a DOUBLE that is no number.
 */
#ifndef PVCBENCH_MEMBER_H
#define PVCBENCH_MEMBER_H

#include "base/err.h"
#include "out/emit.h"

struct cJSON;

enum member_type {
	MEMBER_CUSTOM,   /* what write and read say; both get the whole object */
	MEMBER_CONSTANT, /* words[0], and nothing else */
	MEMBER_TEXT,     /* char[size] */
	MEMBER_UINT,     /* uint64_t */
	MEMBER_KNOWN,    /* uint64_t; 0: not known, or not asked for */
	MEMBER_DOUBLE,   /* double */
	MEMBER_BOOL,     /* bool */
	MEMBER_CHOICE,   /* int: the index of a word; "" is null */
	MEMBER_PART,     /* the members of the same object that are there together, or (see
	                    present) not; its name is in no document */
	MEMBER_OBJECT,   /* a struct at offset, described by members */
	MEMBER_LIST,     /* an array at offset of elements of size, described by members (NULL:
	                    texts), at most max of them; how many is an unsigned at count_at */
	MEMBER_ARRAY,    /* the same behind a pointer at offset; reading allocates it */
};

struct member {
	const char *name;
	enum member_type type;
	bool required; /* a document without it is not read */
	size_t offset, size;
	const char *const *words; /* ended by NULL */
	const struct member *members;
	size_t count_at;
	unsigned max;

	/* NULL: always. Else null stands for what is not known, and is read as that. */
	bool (*known)(const void *object);
	/* NULL: always. Else the member is left out where this is false. */
	bool (*present)(const void *object);

	void (*write)(struct emit *emit, const struct member *row, const void *object);
	int (*read)(const struct cJSON *item, const struct member *row, void *object,
	            struct err *err);
};

#define SLOT(s, m)              ((s *)0)->m
#define AT(s, m)                .offset = offsetof(s, m)
#define TEXT_AT(s, m)           .type = MEMBER_TEXT, AT(s, m), .size = sizeof(SLOT(s, m))
#define UINT_AT(s, m)           .type = MEMBER_UINT, AT(s, m)
#define KNOWN_AT(s, m)          .type = MEMBER_KNOWN, AT(s, m)
#define DOUBLE_AT(s, m)         .type = MEMBER_DOUBLE, AT(s, m)
#define BOOL_AT(s, m)           .type = MEMBER_BOOL, AT(s, m)
#define CHOICE_AT(s, m, list)   .type = MEMBER_CHOICE, AT(s, m), .words = list
#define OBJECT_AT(s, m, table)  .type = MEMBER_OBJECT, AT(s, m), .members = table
#define MANY_AT(s, m, n)        AT(s, m), .size = sizeof(SLOT(s, m[0])), .count_at = offsetof(s, n)
#define PART_OF(table)          .type = MEMBER_PART, .members = table
#define LIST_AT(s, m, n)        .type = MEMBER_LIST, MANY_AT(s, m, n), .max = ARRAY_SIZE(SLOT(s, m))
#define ARRAY_AT(s, m, n, most) .type = MEMBER_ARRAY, MANY_AT(s, m, n), .max = most

/* *object as an object in braces, by a table that ends with an empty row. */
void member_write_object(struct emit *emit, const char *key, const struct member *rows,
                         const void *object);

/*
 * Fill *object, which is zero, from JSON. Members that no row names are a newer writer's
 * and left alone. Arrays that were allocated are the object's also after a failure. The
 * error names the member, class ERR_PLAN.
 */
int member_read_object(const struct cJSON *item, const struct member *rows, void *object,
                       struct err *err);

/* The same from text, which holds one document and nothing else. */
int member_read_text(const char *text, size_t size, const struct member *rows, void *object,
                     struct err *err);

/* A whole number up to 2^53, or (up to all 64 bits) its decimal digits in a string. */
int member_read_uint(const struct cJSON *item, uint64_t *value, struct err *err);

#endif
