/*
 * The arrow from a plan to a result: read it, check every test, run each, keep
 * what was measured, send bytes where they go, clean up, whatever happens.
 */
#ifndef PVCBENCH_RUN_H
#define PVCBENCH_RUN_H

#include "outputs.h"
#include "peers/peers.h"
#include "plan/yaml.h"

struct run_options {
	const char *plan; /* a built-in plan's name or a file; NULL: see agenda.h */
	const struct plan_override *overrides;
	unsigned n_overrides;
	const char *output[OUTPUT_FORMS]; /* files for the whole result; NULL: none */
	bool quiet;                       /* no progress while a test runs */
	struct peers_options peering;     /* those that run it together, as the command line says */
};

/* Both print to stdout, errors to stderr, and return the program's exit code. */
int run_plan(const struct run_options *options);

/* Say what would run; touches nothing. */
int run_check(const struct run_options *options);

#endif
