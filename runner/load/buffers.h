/*
 * The memory of a worker: a buffer to read into for every place, and a pool of
 * buffers to write from, some more than places, so that the next write finds its
 * data made while the one before it was in flight.
 */
#ifndef PVCBENCH_BUFFERS_H
#define PVCBENCH_BUFFERS_H

#include "load/fill.h"

struct buffers_params {
	unsigned depth;
	uint32_t block_bytes;
	bool reads, writes;
	bool zero; /* write zeros, not random data */
	uint64_t seed, stream;
	unsigned threads; /* of the job: so many have such buffers */
};

/* First in, first out: a buffer comes round after all others that are not in flight. */
struct buffer_queue {
	unsigned char **slots; /* owned */
	unsigned size, first, n;
};

struct buffers {
	unsigned char *arena; /* all of them; page aligned */
	size_t arena_size, place;
	uint32_t block_bytes;
	bool zero;
	enum fill_share share;     /* of a written buffer that is made anew */
	struct buffer_queue fresh; /* to write from, their data never written */
	struct buffer_queue stale; /* the same, their data written already */
	struct random random;
};

/* What they take in all, bytes. */
uint64_t buffers_bytes(const struct buffers_params *params);

/* -1 when out of memory; buffers_destroy is legal in any case. */
int buffers_init(struct buffers *buffers, const struct buffers_params *params);
void buffers_destroy(struct buffers *buffers);

/* The buffer that place i reads into. */
static inline unsigned char *buffers_read(const struct buffers *b, unsigned i)
{
	return b->arena + i * b->place;
}

/* A buffer whose data was never written; it is made now where none is ready. */
unsigned char *buffers_take(struct buffers *buffers);

/* Its write is done. */
void buffers_give(struct buffers *buffers, unsigned char *buffer);

/* Make new data for a few written buffers (one, or 16 KiB); false when all have it. */
bool buffers_renew(struct buffers *buffers);

#endif
