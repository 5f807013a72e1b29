/*
 * The requests of Azure's Table service as text: URLs, and the body of a batch (there: an entity
 * group transaction), which is applied as a whole or not at all.
 *
 * Whoever writes past the room of a wire gets a text that is cut, and wire.cut says so; it stays
 * set until wire_reset.
 */
#ifndef PVCBENCH_TABLE_WIRE_H
#define PVCBENCH_TABLE_WIRE_H

#include "base/base.h"

#define TABLE_BATCH_MAX      100  /* operations of a batch; the service takes no more */
#define TABLE_PAGE_MAX       1000 /* rows of an answer; the same */
#define TABLE_BATCH_END_MAX  128  /* bytes of the end of a batch */
#define TABLE_BATCH_TYPE_MAX 80

struct wire {
	char *bytes; /* the caller's; ends with a NUL */
	size_t used, room;
	bool cut;
};

static inline struct wire wire_of(char *bytes, size_t room)
{
	bytes[0] = '\0';
	return (struct wire){.bytes = bytes, .room = room};
}

void wire_reset(struct wire *wire);
void wire_append(struct wire *wire, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Percent-encoded, all but letters, digits and -._~ */
void wire_escape(struct wire *wire, const char *text);

/* Where a table is. */
struct table_place {
	const char *base; /* URL of the service, without a / at its end */
	const char *table;
};

/* "BASE/TABLE(PartitionKey='p',RowKey='r')" */
void wire_entity(struct wire *wire, const struct table_place *place, const char *partition,
                 const char *row);

/* Which rows are asked for, from which place on. */
struct table_query {
	const char *partition;                 /* NULL: all, and below is not looked at */
	const char *below;                     /* rows before this one */
	bool keys_only;                        /* of each row nothing but its keys */
	unsigned top;                          /* at most so many; 0: a page */
	const char *next_partition, *next_row; /* as the last answer said; NULL: it did not */
};

void wire_query(struct wire *wire, const struct table_place *place,
                const struct table_query *query);

/* A batch: its beginning, its operations, all of one partition, its end. id tells it apart. */
void wire_batch_begin(struct wire *wire, uint64_t id);
void wire_batch_delete(struct wire *wire, uint64_t id, const struct table_place *place,
                       const char *partition, const char *row);
/* Inserts, or replaces what is there. */
void wire_batch_put(struct wire *wire, uint64_t id, const struct table_place *place,
                    const char *partition, const char *row, const char *entity);
void wire_batch_end(struct wire *wire, uint64_t id);

/* The Content-Type that goes with it. */
void wire_batch_type(struct wire *wire, uint64_t id);

#endif
