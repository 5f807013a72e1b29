/*
 *	fresh --take--> written --give--> stale --renew--> fresh
 */
#include "load/buffers.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#include "load/fill.h"

#define PAGE 4096u
/* More write buffers than places: at most so many, and at most so much. */
#define SPARE_MAX   8u
#define SPARE_BYTES (16 * MIB)
/* So much is made in one go: completions wait for it. */
#define RENEW_BYTES (16 * KIB)

static unsigned spares(const struct buffers_params *params, size_t place)
{
	uint64_t most = max_u64(SPARE_BYTES / place, 1);

	return (unsigned)min_u64(min_u64(params->depth, SPARE_MAX), most);
}

int buffers_init(struct buffers *b, const struct buffers_params *params)
{
	size_t place = (params->block_bytes + PAGE - 1) / PAGE * PAGE;
	unsigned to_read = params->reads ? params->depth : 0;
	unsigned to_write = params->writes ? params->depth + spares(params, place) : 0;

	*b = (struct buffers){
	        .place = place,
	        .block_bytes = params->block_bytes,
	        .zero = params->zero,
	        .arena_size = place * (to_read + to_write),
	};
	random_seed(&b->random, params->seed, params->stream);
	b->fresh = calloc(to_write + 1, sizeof(*b->fresh));
	b->stale = calloc(to_write + 1, sizeof(*b->stale));
	b->arena = mmap(NULL, b->arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	                -1, 0);
	if (b->arena == MAP_FAILED) {
		b->arena = NULL;
		return -1;
	}
	if (!b->fresh || !b->stale)
		return -1;
	for (unsigned i = 0; i < to_write; i++) {
		unsigned char *buffer = b->arena + (to_read + i) * place;

		if (!b->zero)
			fill_random(&b->random, buffer, place);
		b->fresh[b->n_fresh++] = buffer;
	}
	return 0;
}

void buffers_destroy(struct buffers *b)
{
	if (b->arena)
		munmap(b->arena, b->arena_size);
	free(b->fresh);
	free(b->stale);
}

static void renew_one(struct buffers *b)
{
	unsigned char *buffer = b->stale[--b->n_stale];

	fill_renew(buffer, b->block_bytes, random_next(&b->random));
	b->fresh[b->n_fresh++] = buffer;
}

unsigned char *buffers_take(struct buffers *b)
{
	if (!b->n_fresh)
		renew_one(b);
	assert(b->n_fresh);
	return b->fresh[--b->n_fresh];
}

void buffers_give(struct buffers *b, unsigned char *buffer)
{
	if (b->zero)
		b->fresh[b->n_fresh++] = buffer;
	else
		b->stale[b->n_stale++] = buffer;
}

bool buffers_renew(struct buffers *b)
{
	if (!b->n_stale)
		return false;
	for (uint64_t made = 0; b->n_stale && made < RENEW_BYTES; made += b->block_bytes)
		renew_one(b);
	return true;
}
