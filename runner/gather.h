/*
 * All results that some documents and logs hold, each of them whole: the lines of one run, one test
 * each, become one result again.
 */
#ifndef PVCBENCH_GATHER_H
#define PVCBENCH_GATHER_H

#include "result/result.h"

struct gathered {
	struct result *results; /* owned; in the order in which they were met */
	unsigned n;
	unsigned n_left_out; /* of what should have been one, or was there before */
};

/*
 * Read n_names documents or logs, "-" is standard input. What is damaged, and a test that its run
 * has given already, is left out and told; the rest is read. Ends with an error of class ERR_PLAN
 * where a file cannot be read, and where there are more than `most` results. gathered_destroy frees
 * what was read in either case.
 */
int gather(struct gathered *gathered, char *const *names, int n_names, unsigned most,
           void (*tell)(const char *text), struct err *err);
void gathered_destroy(struct gathered *gathered);

#endif
