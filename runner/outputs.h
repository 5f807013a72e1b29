/*
 * The files that the command line names for a whole result, each in its own form.
 */
#ifndef PVCBENCH_OUTPUTS_H
#define PVCBENCH_OUTPUTS_H

#include "result/result.h"

enum output_form { OUTPUT_JSON, OUTPUT_METRICS, OUTPUT_FORMS };

struct outputs {
	const char *path[OUTPUT_FORMS]; /* borrowed; NULL: none of this form */
	FILE *file[OUTPUT_FORMS];       /* private */
};

/*
 * Open all that have a path. To be called before the first test: a path that cannot be written
 * is no news for the end of a run. A block device, and a file that holds anything but a result of
 * the same form, is ERR_REFUSED and stays; other errors are ERR_PLAN.
 */
int outputs_open(struct outputs *outputs, struct err *err);

/* Write and close all; tell is given a line for each that failed. How many did. */
unsigned outputs_write(struct outputs *outputs, const struct result *result,
                       void (*tell)(const char *text));

#endif
