/*
 * What is written: data that neither compresses nor repeats.
 */
#ifndef PVCBENCH_FILL_H
#define PVCBENCH_FILL_H

#include "load/random.h"

/* Random bytes; buf is 8-byte aligned. */
void fill_random(struct random *random, void *buf, size_t bytes);

/*
 * Make other random bytes of random ones: every 8-byte word is combined with a
 * key of this write. A key that is new makes a block that was never written,
 * and shares no run of bytes with the one before, so that neither a compressor
 * nor a deduplicator finds the earlier one in it. One pass over the buffer,
 * several times faster than making random bytes: a writer must not wait for its
 * data. buf is 8-byte aligned.
 */
void fill_renew(void *buf, size_t bytes, uint64_t key);

#endif
