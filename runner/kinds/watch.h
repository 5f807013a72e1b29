/*
 * A load under the eyes of the run: its progress is told while it lasts, and the
 * run's stop signal ends it early.
 */
#ifndef PVCBENCH_WATCH_H
#define PVCBENCH_WATCH_H

#include "kinds/evidence.h"
#include "kinds/kind.h"
#include "load/load.h"

/*
 * From start to outcome. phase is what the load is (PHASE_LAYOUT, PHASE_PROBE, PHASE_CACHE,
 * PHASE_SEARCH or PHASE_RUN; the latter's ramp and end are told as theirs), total_bytes its extent
 * or 0. -1 when it could not start, a request failed, or requests did not come back (not an error
 * after a stop). The caller frees outcome->stats in every case.
 */
int watch_load(struct kind_env *env, const struct load_params *params, int phase,
               uint64_t total_bytes, struct load_outcome *outcome, struct err *err);

/* The same, and evidence of what limits it is gathered (NULL: it is not). */
int watch_measured(struct kind_env *env, const struct load_params *params, int phase,
                   uint64_t total_bytes, struct evidence *evidence, struct load_outcome *outcome,
                   struct err *err);

#endif
