/*
 * `pvcbench report`: results as one page for a browser.
 */
#ifndef PVCBENCH_REPORT_H
#define PVCBENCH_REPORT_H

struct report_options {
	char *const *names; /* result documents or logs; "-": standard input */
	int n_names;
	const char *output; /* the page */
};

/*
 * Write the page; errors and what was left out go to stderr. Returns the program's exit code: 1
 * where something was left out, 2 where there is no result, or a file cannot be read or written; 4
 * where the page's file is there and is no such page.
 */
int report_run(const struct report_options *options);

#endif
