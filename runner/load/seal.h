/*
 * What a block that is verified looks like. Each 512 bytes of it, what every disk writes
 * whole or not at all, are a piece that says of itself which run wrote it, where, by which
 * write, and what the checksum of all that is:
 *
 *	bytes  0  8  random, as all the rest
 *	       8  8  the run
 *	      16  8  offset in the file of this piece
 *	      24  8  sequence of the write
 *	      32  4  a magic number and the file's number
 *	      36  4  crc32c of the piece without these four bytes
 *	      40     random data
 *
 * The last piece also takes what is left where a block is no multiple of 512. The words from
 * 8 to 36 are combined with what the first makes of itself, so that a piece is as random as
 * its data, for a compressor too. Byte order is the machine's.
 */
#ifndef PVCBENCH_SEAL_H
#define PVCBENCH_SEAL_H

#include "base/base.h"

#define SEAL_PIECE 512u /* bytes; no block is smaller */

/* Whose a block is, and where it belongs. */
struct seal_place {
	uint64_t run;    /* seal_run of the run's id */
	unsigned file;   /* its number in the run, below 65536 */
	uint64_t offset; /* of the block in the file, bytes */
};

struct seal_expected {
	struct seal_place place;
	uint64_t oldest, newest; /* sequences that may lie there, both inclusive */
};

enum seal_look {
	SEAL_GOOD,
	SEAL_OLDER,       /* a good piece of this place, of an earlier write */
	SEAL_NEVER_SENT,  /* of a write that there never was */
	SEAL_OTHER_PLACE, /* a good piece of this run that belongs elsewhere */
	SEAL_OTHER_RUN,
	SEAL_ZEROS,
	SEAL_DAMAGED, /* has a header, and its checksum is not that of its data */
	SEAL_UNKNOWN, /* has none */
};

/* What lies in a block: of the first piece that is not good, or of all. */
struct seal_found {
	enum seal_look look;
	uint64_t offset;          /* of that piece in the file */
	struct seal_place place;  /* as its header says */
	uint64_t sequence;        /* the same; the newest of all where all are good */
	uint64_t oldest;          /* of all, where all are good: lower is a block of two writes */
	uint32_t stated, counted; /* checksums: of its header, of its data */
	uint64_t word;            /* its first bytes */
};

/* The number that stands for a run in its blocks. */
uint64_t seal_run(const char *run_id);

/* Make random data (bytes >= SEAL_PIECE) the block of this place and write. */
void seal_block(void *block, size_t bytes, const struct seal_place *place, uint64_t sequence);

struct seal_found seal_check(const void *block, size_t bytes, const struct seal_expected *expected);

#define SEAL_TEXT_MAX 512

/* "block at offset 8192 of data.0: expected sequence 7, found zeros (...)"; returns out. */
char *seal_describe(const struct seal_expected *expected, const struct seal_found *found,
                    char out[SEAL_TEXT_MAX]);

#endif
