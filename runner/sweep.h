/*
 * Before the first test: what other runs left in the targets is named, and what may go is
 * removed. What lies at the ends of a device that may be destroyed is zeroed.
 */
#ifndef PVCBENCH_SWEEP_H
#define PVCBENCH_SWEEP_H

#include <stdatomic.h>

#include "agenda.h"

/* What is done next, for the log; of_volume: a call that may wait for a volume. */
typedef void sweep_step(void *arg, const char *what, bool of_volume);

/*
 * Removed is what a dead attempt of the same Job left, and with clean: true what any dead
 * run left. Where that cannot be told at once the claims are watched, until one changes, at
 * most LEFTOVER_WATCH_NS, or until *stop. What was found and done is in the result's notes, the
 * space of the targets is measured anew. Nothing here fails the run.
 */
void sweep(struct agenda *agenda, struct result *result, sweep_step *step, void *step_arg,
           const atomic_int *stop);

/* For a person: what it would do, a line each; touches nothing. */
void sweep_write(FILE *out, const struct agenda *agenda);

#endif
