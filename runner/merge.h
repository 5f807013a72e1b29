/*
 * `pvcbench merge`: the results of several pods as one, as if one process had given it.
 */
#ifndef PVCBENCH_MERGE_COMMAND_H
#define PVCBENCH_MERGE_COMMAND_H

#include "outputs.h"

struct merge_options {
	char *const *names; /* result documents or logs; "-": standard input */
	int n_names;
	const char *output[OUTPUT_FORMS]; /* files for the merged result; NULL: none */
};

/*
 * Print the merged summary to stdout, errors and what was left out to stderr. Returns the
 * program's exit code: that of the merged result; 1 where something was left out or a pod is
 * missing; 2 where nothing can be merged.
 */
int merge_run(const struct merge_options *options);

#endif
