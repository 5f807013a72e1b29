/*
 * kind: block, between its own files: block.c runs a test, block_check.c says
 * beforehand whether it can, block_layout.c writes the files that it reads, block_verify.c
 * checks their data, block_cache.c reads blocks twice before it, block_search.c looks for the
 * rate that keeps a latency, block_probe.c loads the volume once more after it.
 */
#ifndef PVCBENCH_BLOCK_H
#define PVCBENCH_BLOCK_H

#include "io/engine.h"
#include "io/file.h"
#include "kinds/geometry.h"
#include "kinds/kind.h"
#include "load/load.h"

/* A test while it runs. */
struct block {
	const struct test *test;
	struct kind_env *env;
	struct test_result *tr;
	struct geometry geometry;
	struct engine_choice choice;
	struct verify *verify; /* the run's, of this target; NULL: the test has none */
	uint64_t seed;
	uint64_t sync_every; /* writes of a thread, by the plan or for the memory; 0: never */
	bool unanswered;     /* requests did not come back: closing the files would wait for them */
	unsigned n_files;
	struct file files[]; /* room for one per job */
};

/* Whether it uses the run's own file, not one that the user names. */
bool block_own_file(const struct test *test);

/* Whether that file is written before the test. */
bool block_lays_out(const struct test *test);

/* The path of the user's file: absolute, or in the target. */
void block_existing_path(const struct test *test, const struct target *target, char *out,
                         size_t size);

/* Sizes that fit; refuses a user's file that is not what its name says. Touches nothing. */
int block_fit(struct geometry *geometry, const struct test *test, const struct target *target,
              const struct host *host, struct err *err);

/* The check of the kind. */
int block_check(const struct test *test, const struct target *target, const struct host *host,
                struct preview *preview, struct err *err);

/* ERR_REFUSED where a device that is open and would be overwritten holds something by now. */
int block_guard_device(const struct block *b, struct err *err);

/* Add a note to the test's concessions (none where it is empty); with strict it is the error. */
int block_concede(struct block *b, const char *note, struct err *err);

/* Write the whole of every file that is not written yet, within layout_time. */
int block_lay_out(struct block *b, struct err *err);

/* For a test that writes first: nothing of an earlier test may lie there. */
int block_empty_files(struct block *b, struct err *err);

/*
 * How many writes of `bytes` one of so many threads may leave to the page cache before it has to
 * sync them, lest the kernel kill us for the memory that they take. 0: any.
 */
uint64_t block_cached_writes(const struct block *b, uint64_t threads, uint64_t bytes);

/* Of its requests, and how many are outstanding: as memory allows. */
#define BLOCK_LAYOUT_BYTES (1 * MIB)
unsigned block_layout_depth(const struct host *host);

/* The most bytes up to `most` that are whole blocks of verify. */
uint64_t block_layout_bytes(const struct block *b, uint64_t most);

/* The load that is measured. Into jobs, of PLAN_JOBS_MAX; params point to them. */
void block_load(const struct block *b, struct load_job *jobs, struct load_params *params);

/* The load whose figures are the test's, with the evidence; those of an earlier one are replaced.
 */
int block_measure(struct block *b, const struct load_params *params, struct err *err);

/* In place of one load those of a search, into tr->search; the last one is measured. */
int block_search(struct block *b, struct err *err);

/* After the measured load: a step at twice its depth, one at depth 1, into tr->limits_probe. */
void block_probe_limits(struct block *b);

/* Before the measured load: some blocks are read twice, into tr->cache_probe. */
void block_probe_cache(struct block *b);

/* Whether a test with verify can be run with this geometry. Touches nothing. */
int block_verify_check(const struct test *test, const struct geometry *geometry,
                       const struct target *target, const struct host *host, struct err *err);

/* Before the layout: what is known of the files is there, and the ledger; or it is forgotten. */
int block_verify_prepare(struct block *b, struct err *err);

/* Around the measured load; `measured`: it was no failure, so that what it wrote is read back. */
void block_verify_begin(struct block *b);
int block_verify_end(struct block *b, bool measured, struct err *err);

#endif
