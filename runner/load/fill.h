/*
 * What is written: data that neither compresses nor repeats.
 */
#ifndef PVCBENCH_FILL_H
#define PVCBENCH_FILL_H

#include "load/random.h"

/* Random bytes; buf is 8-byte aligned. */
void fill_random(struct random *random, void *buf, size_t bytes);

/* Of every 512 bytes, as many 64-byte pieces as are made anew. */
enum fill_share { FILL_ALL = 8, FILL_PIECE = 1 };

/*
 * Make other random bytes of random ones: 8-byte words are combined with a key of
 * this write. A key that is new makes a block that was never written, in every
 * aligned 512 bytes of it. FILL_ALL leaves no run of the old bytes for a compressor to
 * find; FILL_PIECE leaves some and takes an eighth of the time. buf is 8-byte aligned.
 */
void fill_renew(void *buf, size_t bytes, uint64_t key, enum fill_share share);

#endif
