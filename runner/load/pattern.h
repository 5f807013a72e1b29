/*
 * Which block a request goes to, and whether it reads or writes. A pattern is
 * shared by the threads of one job: all that changes in it are atomic cursors.
 */
#ifndef PVCBENCH_PATTERN_H
#define PVCBENCH_PATTERN_H

#include <stdatomic.h>

#include "load/random.h"

struct pattern_params {
	uint64_t offset; /* of the region in the file, bytes */
	uint64_t bytes;  /* of the region: at least block_bytes, or short_tail */
	uint32_t block_bytes;
	bool short_tail;       /* sequential only: the last block may be shorter than the others */
	bool random;           /* else sequential, wrapping at the region's end */
	bool every_block_once; /* random: no block again before all were (fio's random map) */
	double zipf_theta;     /* random: skew, 0 is uniform */
	unsigned read_percent; /* 0 writes only, 100 reads only */
	uint64_t seed;
};

struct pattern {
	struct pattern_params params;
	uint64_t blocks;
	unsigned half_bits; /* of the permutation's domain */
	double zipf_h_low, zipf_h_high, zipf_shift;
	/* Of reads, of writes; random ones use the first. */
	_Alignas(64) _Atomic uint64_t cursor[2];
};

struct pattern_place {
	uint64_t offset;
	uint32_t bytes;
	bool read;
};

void pattern_init(struct pattern *pattern, const struct pattern_params *params);

/* The next request's place; random is the calling thread's own. */
struct pattern_place pattern_next(struct pattern *pattern, struct random *random);

/*
 * A permutation of [0, blocks) chosen by key: four Feistel rounds over the next
 * even power of two, walked until the value lies in the domain.
 */
uint64_t pattern_permute(const struct pattern *pattern, uint64_t block, uint64_t key);

#endif
