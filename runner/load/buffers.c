/*
 *	fresh --take--> written --give--> stale --renew--> fresh
 */
#include "load/buffers.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u
/* More write buffers than places: at most so many, and at most so much. */
#define SPARE_MAX   8u
#define SPARE_BYTES (16 * MIB)
/*
 * Where the buffers of a job are so many that one comes round after so much other data, what is
 * left of its old bytes lies beyond the reach of a compressor, and a piece is enough.
 */
#define REACH_BYTES (4 * MIB)
/* So much is made in one go: completions wait for it. */
#define RENEW_BYTES (16 * KIB)

static int queue_init(struct buffer_queue *q, unsigned size)
{
	*q = (struct buffer_queue){.slots = calloc(size + 1, sizeof(*q->slots)), .size = size};
	return q->slots ? 0 : -1;
}

static void put(struct buffer_queue *q, unsigned char *buffer)
{
	unsigned at = q->first + q->n;

	assert(q->n < q->size);
	q->slots[at < q->size ? at : at - q->size] = buffer;
	q->n++;
}

static unsigned char *get(struct buffer_queue *q)
{
	unsigned char *buffer = q->slots[q->first];

	assert(q->n);
	q->first = q->first + 1 < q->size ? q->first + 1 : 0;
	q->n--;
	return buffer;
}

static size_t place_of(const struct buffers_params *params)
{
	return ((size_t)params->block_bytes + PAGE - 1) / PAGE * PAGE;
}

static unsigned to_read(const struct buffers_params *params)
{
	return params->reads ? params->depth : 0;
}

static unsigned to_write(const struct buffers_params *params)
{
	uint64_t most = max_u64(SPARE_BYTES / place_of(params), 1);
	uint64_t spare = min_u64(min_u64(params->depth, SPARE_MAX), most);

	return params->writes ? params->depth + (unsigned)spare : 0;
}

uint64_t buffers_bytes(const struct buffers_params *params)
{
	return (uint64_t)place_of(params) * (to_read(params) + to_write(params));
}

int buffers_init(struct buffers *b, const struct buffers_params *params)
{
	unsigned n_write = to_write(params);
	size_t place = place_of(params);

	*b = (struct buffers){
	        .place = place,
	        .block_bytes = params->block_bytes,
	        .zero = params->zero,
	        .share = (uint64_t)params->threads * n_write * place < REACH_BYTES ? FILL_ALL
	                                                                           : FILL_PIECE,
	        .arena_size = buffers_bytes(params),
	};
	random_seed(&b->random, params->seed, params->stream);
	b->arena = mmap(NULL, b->arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	                -1, 0);
	if (b->arena == MAP_FAILED) {
		b->arena = NULL;
		return -1;
	}
	if (queue_init(&b->fresh, n_write) || queue_init(&b->stale, n_write))
		return -1;
	for (unsigned i = 0; i < n_write; i++) {
		unsigned char *buffer = b->arena + (to_read(params) + i) * place;

		if (!b->zero)
			fill_random(&b->random, buffer, place);
		put(&b->fresh, buffer);
	}
	return 0;
}

void buffers_destroy(struct buffers *b)
{
	if (b->arena)
		munmap(b->arena, b->arena_size);
	free(b->fresh.slots);
	free(b->stale.slots);
}

static void renew_one(struct buffers *b)
{
	unsigned char *buffer = get(&b->stale);

	fill_renew(buffer, b->block_bytes, random_next(&b->random), b->share);
	put(&b->fresh, buffer);
}

unsigned char *buffers_take(struct buffers *b)
{
	if (!b->fresh.n)
		renew_one(b);
	return get(&b->fresh);
}

void buffers_give(struct buffers *b, unsigned char *buffer)
{
	put(b->zero ? &b->fresh : &b->stale, buffer);
}

bool buffers_renew(struct buffers *b)
{
	if (!b->stale.n)
		return false;
	for (uint64_t made = 0; b->stale.n && made < RENEW_BYTES; made += b->block_bytes)
		renew_one(b);
	return true;
}
