/*
 * The heartbeat of a claim: a thread that has the file system stamp it every
 * HEARTBEAT_NS. On a volume that does not answer it stops, and holds nobody.
 */
#ifndef PVCBENCH_HEARTBEAT_H
#define PVCBENCH_HEARTBEAT_H

#include "base/err.h"

#define HEARTBEAT_NS (10 * NSEC_PER_SEC)

struct heartbeat;

/*
 * Sync the claim in dirfd, then keep it beating. dirfd may be closed before the heartbeat ends.
 * *out is freed by heartbeat_stop.
 */
int heartbeat_start(struct heartbeat **out, int dirfd, struct err *err);

/* End it, within a second: a thread that the kernel holds is left to it. NULL is legal. */
void heartbeat_stop(struct heartbeat *heartbeat);

#endif
