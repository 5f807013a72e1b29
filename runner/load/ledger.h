/*
 * A ledger: what a run knows of its writes, kept elsewhere than on the volume, so that after
 * a crash of the machine or the server it can be said what must be there. It only grows:
 * a head, then frames of records, each frame with a checksum and synced by itself.
 *
 * It may claim less than is true, never more. That a write was acknowledged is recorded
 * after it was, and that a sync covers it after the sync; a limit of the sequences is
 * recorded, and stable, before any up to it is sent; what makes earlier claims void is
 * stable before it happens.
 */
#ifndef PVCBENCH_LEDGER_H
#define PVCBENCH_LEDGER_H

#include "base/err.h"

#define LEDGER_PATH_MAX  1024
#define LEDGER_NAME_MAX  80
#define LEDGER_FILES_MAX 256u /* files have the numbers below it */

/* Where what it tells of lies. */
struct ledger_head {
	char run_id[LEDGER_NAME_MAX];
	char target[LEDGER_PATH_MAX];  /* the directory or device, as the run knew it */
	char run_dir[LEDGER_NAME_MAX]; /* in the directory; "": a device */
};

enum ledger_kind {
	LEDGER_START = 1, /* all that was claimed before is void; blocks are of `bytes` now */
	LEDGER_CUT,       /* of file: from offset on */
	LEDGER_LIMIT,     /* no sequence above `sequence` was sent before this was stable */
	LEDGER_WRITE,     /* acknowledged: `sequence` at [offset, offset + bytes) of file */
	LEDGER_STABLE,    /* the same, of a file opened O_SYNC or O_DSYNC */
	LEDGER_SYNC,      /* of file: covers all records before number `before` */
	LEDGER_END,       /* the run ended by itself */
};

struct ledger_record {
	uint64_t sequence;
	uint64_t offset;
	/*
	 * Of a write: the oldest sequence that may lie there now, lower than its own where
	 * writes crossed. Of a sync: a record's number, from 0.
	 */
	uint64_t before;
	uint32_t bytes;
	uint16_t file, kind;
};

struct ledger;

/*
 * Make the file, which must not be there yet, and start the thread that writes it. The head
 * is stable when it returns. *out is freed by ledger_close.
 */
int ledger_create(struct ledger **out, const char *path, const struct ledger_head *head,
                  struct err *err);

const char *ledger_path(const struct ledger *ledger);

/* One more record, soon stable; never waits for the disk. Returns its number. */
uint64_t ledger_append(struct ledger *ledger, const struct ledger_record *record);

/* The number that the next record will have. */
uint64_t ledger_count(struct ledger *ledger);

/* Wait until all that was appended is stable. */
int ledger_flush(struct ledger *ledger, struct err *err);

/* Whether it cannot be written, or not as fast as the run writes; it then grows no more. */
bool ledger_is_broken(struct ledger *ledger);

/* Flush, end the thread, free. NULL is legal. */
int ledger_close(struct ledger *ledger, struct err *err);

/* Told of each record in order; number counts from 0. */
typedef void ledger_reader(void *arg, const struct ledger_record *record, uint64_t number);

/*
 * Read a ledger. What follows the last whole frame is left out: the run was killed while it
 * wrote that. -1 where there is no ledger, class ERR_PLAN.
 */
int ledger_read(const char *path, struct ledger_head *head, ledger_reader *reader, void *arg,
                struct err *err);

#endif
