/*
 * What is written: data that neither compresses nor repeats, or zeros.
 */
#ifndef PVCBENCH_FILL_H
#define PVCBENCH_FILL_H

#include "base/base.h"

#define FILL_LANES 4

/* Several generators side by side, so that the compiler can use vector registers. */
struct fill {
	uint64_t s0[FILL_LANES], s1[FILL_LANES];
};

/* Streams of one seed differ from each other. */
void fill_init(struct fill *fill, uint64_t seed, uint64_t stream);

/* The next bytes of the stream; buf is 8-byte aligned. */
void fill_random(struct fill *fill, void *buf, size_t bytes);

#endif
