/*
 * The files that the command line names for a whole result, each in its own form.
 */
#ifndef PVCBENCH_OUTPUTS_H
#define PVCBENCH_OUTPUTS_H

#include "result/result.h"

enum output_form { OUTPUT_JSON, OUTPUT_METRICS, OUTPUT_FIO, OUTPUT_FORMS };

struct outputs {
	const char *path[OUTPUT_FORMS]; /* borrowed; NULL: none of this form */
	FILE *file[OUTPUT_FORMS];       /* private */
};

/*
 * Open a file to write what always begins as `begins`, at most 63 bytes. A block device, and a
 * file that holds anything else, is ERR_REFUSED and stays; other errors are ERR_PLAN.
 */
int output_open(FILE **file, const char *path, const char *begins, struct err *err);

/* Close it. ERR_TEST where not all of it was written. */
int output_close(FILE *file, const char *path, struct err *err);

/*
 * Open all that have a path. To be called before the first test: a path that cannot be written
 * is no news for the end of a run. Errors as above; a result goes into the place of one of the
 * same form only.
 */
int outputs_open(struct outputs *outputs, struct err *err);

/* Write and close all; tell is given a line for each that failed. How many did. */
unsigned outputs_write(struct outputs *outputs, const struct result *result,
                       void (*tell)(const char *text));

#endif
