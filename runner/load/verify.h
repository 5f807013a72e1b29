/*
 * What this run wrote into its files, block by block, so that a load can check what it reads
 * (seal.h says what a block looks like). It lasts over the tests of a run on one target.
 *
 * Requests to one block at the same time are never taken for a fault of the volume. Of two
 * writes that cross either may lie there, and what is neither whole is counted apart; so
 * is what a read finds that crosses a write. Nothing is serialised for it: the load is
 * that of a test without verify.
 */
#ifndef PVCBENCH_VERIFY_H
#define PVCBENCH_VERIFY_H

#include "io/engine.h"
#include "load/ledger.h"

struct verify;

/* Blocks that were looked at. */
struct verify_counts {
	uint64_t checked;
	uint64_t mismatches;
	uint64_t crossed; /* no use in judging: writes, or a read and a write, crossed there */
};

/* Where a request's data lies in the files and in memory. */
struct verify_data {
	unsigned file;
	uint64_t offset;
	uint32_t bytes;
	void *data;
};

/* Of one request, from verify_sent to verify_done. */
struct verify_request {
	uint64_t sequence; /* of a write its own, else that of the latest write before it */
	uint64_t records;  /* of a sync: those before it are covered */
	bool crossed;      /* of a read: a write was under way */
};

/*
 * Blocks have `unit` bytes (at least SEAL_PIECE), and requests are multiples of it from the
 * file's start on. Where another unit was used before, verify_knows says that nothing is
 * known any more. *verify is made when it is NULL; freed by verify_free.
 */
int verify_prepare(struct verify **verify, const char *run_id, uint32_t unit, struct err *err);

/* Make room for a file of this size. */
int verify_cover(struct verify *verify, unsigned file, uint64_t bytes, struct err *err);

/* Memory that a file of this size takes. */
uint64_t verify_bytes(uint64_t bytes, uint32_t unit);

/* Keep a ledger from now on; it is the verify's. */
int verify_keep(struct verify *verify, struct ledger *ledger, struct err *err);
struct ledger *verify_ledger(struct verify *verify);

/* Whether what lies in the files was written with it, since verify_prepare or verify_forget. */
bool verify_knows(const struct verify *verify);

/* The file is about to be cut to this size. */
int verify_cut(struct verify *verify, unsigned file, uint64_t bytes, struct err *err);

/* The files are about to be written by others. NULL is legal. */
int verify_forget(struct verify *verify, struct err *err);

/* A test begins: counts start anew. stable: a write that was acknowledged is stable. */
void verify_begin(struct verify *verify, bool stable);

/*
 * Before a request is sent: a write gets its sequence, and its data the headers. Threads may
 * call this, and verify_done, side by side.
 */
void verify_sent(struct verify *verify, enum io_op op, const struct verify_data *data,
                 struct verify_request *request);

/* It came back, and did what it should or not; or it was not sent after all (ok is false). */
void verify_done(struct verify *verify, enum io_op op, const struct verify_data *data,
                 const struct verify_request *request, bool ok);

/* Whether the test wrote there. */
bool verify_wrote(struct verify *verify, unsigned file, uint64_t offset, uint64_t bytes);

/* Where the last block that the test wrote ends; 0: it wrote none. */
uint64_t verify_written_end(struct verify *verify, unsigned file);

/* Whether the ledger can no longer be kept. */
bool verify_is_broken(struct verify *verify);

/*
 * The counts since verify_begin. -1 where a block did not hold what it should (err names the
 * first), or the ledger could not be kept.
 */
int verify_end(struct verify *verify, struct verify_counts *counts, struct err *err);

/* Requests did not come back: what they may still use stays, and nothing is verified any more. */
void verify_hold(struct verify *verify);

/* Close the ledger and free. NULL is legal. */
int verify_free(struct verify *verify, struct err *err);

#endif
