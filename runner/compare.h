/*
 * `pvcbench compare`: results beside each other.
 */
#ifndef PVCBENCH_COMPARE_COMMAND_H
#define PVCBENCH_COMPARE_COMMAND_H

#include "out/compare.h"

struct compare_options {
	char *const *names; /* result documents or logs; "-": standard input */
	int n_names;
	enum compare_form form;
	const char *baseline;                 /* NULL: the first result */
	const char *gates[COMPARE_GATES_MAX]; /* expressions, see plan/expect.h */
	unsigned n_gates;
};

/*
 * Print the comparison to stdout, errors and what was left out to stderr. Returns the program's
 * exit code: 0; 1 where something was left out; 99 where a gate's condition holds or could not be
 * judged; 2 where nothing can be compared.
 */
int compare_run(const struct compare_options *options);

#endif
