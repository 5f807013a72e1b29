/*
 * Reads one result after the other and keeps only their sum. What cannot be read is told, noted
 * in the result, and the rest merged; what does not belong together ends it.
 */
#include "merge.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "out/logs.h"
#include "out/text.h"
#include "result/merge.h"

#define TELL_NS (10 * NSEC_PER_SEC)

struct merging {
	struct merge *merge;
	struct result left_out; /* only its notes */
	unsigned n_left_out;
	uint64_t n_results, told_ns;
};

static void tell(const char *text)
{
	fprintf(stderr, "pvcbench: %s\n", text);
}

static void leave_out(void *arg, const char *text)
{
	struct merging *m = arg;

	tell(text);
	m->n_left_out++;
	result_note(&m->left_out, text);
}

static int add(void *arg, struct result *result, const char *pod, const char *place,
               struct err *err)
{
	struct merging *m = arg;
	uint64_t now = clock_now_ns();

	if (now - m->told_ns >= TELL_NS) {
		fprintf(stderr, "pvcbench: %llu results so far\n",
		        (unsigned long long)m->n_results);
		m->told_ns = now;
	}
	m->n_results++;
	return merge_add(m->merge, result, pod, err) ? err_wrap(err, "%s", place) : 0;
}

/* What was read is not what is written over. */
static int check_outputs(const struct merge_options *options, struct err *err)
{
	struct stat out, in;

	for (unsigned form = 0; form < OUTPUT_FORMS; form++) {
		if (!options->output[form] || stat(options->output[form], &out))
			continue;
		for (int i = 0; i < options->n_names; i++)
			if (!stat(options->names[i], &in) && in.st_dev == out.st_dev &&
			    in.st_ino == out.st_ino)
				return err_set(err, ERR_REFUSED,
				               "'%s' is one of the results that are merged: it is "
				               "not overwritten (name another file)",
				               options->output[form]);
	}
	return 0;
}

static int read_all(struct merging *m, const struct merge_options *options, struct result *result,
                    struct err *err)
{
	const struct logs_reader reader = {.found = add, .damaged = leave_out, .arg = m};

	for (int i = 0; i < options->n_names; i++)
		if (logs_read_file(options->names[i], &reader, err))
			return -1;
	if (merge_finish(m->merge, result, err))
		return -1;
	for (unsigned i = 0; i < m->left_out.n_notes; i++)
		result_note(result, m->left_out.notes[i]);
	return 0;
}

static int write_all(const struct merge_options *options, const struct result *result,
                     struct err *err)
{
	struct outputs outputs = {0};

	memcpy(outputs.path, options->output, sizeof(outputs.path));
	if (outputs_open(&outputs, err))
		return -1;
	text_write(stdout, result);
	return outputs_write(&outputs, result, tell) ? 1 : 0;
}

static int merge_all(struct merging *m, const struct merge_options *options)
{
	struct result result;
	struct err err;
	int code, failed;

	if (check_outputs(options, &err) || read_all(m, options, &result, &err)) {
		tell(err.text);
		return (int)err.class;
	}
	failed = write_all(options, &result, &err);
	if (failed < 0)
		tell(err.text);
	code = failed < 0 ? (int)err.class : result_exit_code(&result);
	if (failed > 0 || m->n_left_out || result.merged.missing[0])
		code = code && code != EXIT_THRESHOLD ? code : ERR_TEST;
	result_destroy(&result);
	return code;
}

int merge_run(const struct merge_options *options)
{
	struct merging *m = calloc(1, sizeof(*m));
	int code = ERR_TARGET;

	if (m)
		m->merge = merge_new();
	if (m && m->merge) {
		m->told_ns = clock_now_ns();
		code = merge_all(m, options);
	} else {
		tell("out of memory");
	}
	if (m)
		merge_free(m->merge);
	free(m);
	return code;
}
