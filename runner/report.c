/*
 * Reads all, and only then opens the page: what is one of its results is not written over.
 */
#include "report.h"

#include "gather.h"
#include "out/html.h"
#include "outputs.h"

#define BEGINS "<!doctype html>\n<!-- pvcbench report -->"

static void tell(const char *text)
{
	fprintf(stderr, "pvcbench: %s\n", text);
}

static int write_page(FILE *file, const struct gathered *gathered, struct err *err)
{
	const struct result *results[HTML_RESULTS_MAX];

	for (unsigned i = 0; i < gathered->n; i++)
		results[i] = &gathered->results[i];
	return html_write(file, results, gathered->n, err);
}

static int report(const struct report_options *options, struct gathered *gathered, struct err *err)
{
	FILE *file;

	if (gather(gathered, options->names, options->n_names, HTML_RESULTS_MAX, tell, err))
		return -1;
	if (!gathered->n)
		return err_set(err, ERR_PLAN, "there is no result to report");
	if (output_open(&file, options->output, BEGINS, err))
		return -1;
	if (write_page(file, gathered, err)) {
		fclose(file);
		return -1;
	}
	return output_close(file, options->output, err);
}

int report_run(const struct report_options *options)
{
	struct gathered gathered;
	struct err err;
	int code = 0;

	if (report(options, &gathered, &err)) {
		tell(err.text);
		code = (int)err.class;
	} else if (gathered.n_left_out) {
		code = ERR_TEST;
	}
	gathered_destroy(&gathered);
	return code;
}
