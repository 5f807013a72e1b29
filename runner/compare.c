/*
 * Reads one result after the other and keeps what is compared of it. What cannot be read is told,
 * noted, and the rest compared.
 */
#include "compare.h"

#include "out/logs.h"

#define TELL_NS (10 * NSEC_PER_SEC)

struct comparing {
	struct compare *compare;
	const char *source; /* that is being read */
	uint64_t n_results, n_left_out, told_ns;
};

static void tell(const char *text)
{
	fprintf(stderr, "pvcbench: %s\n", text);
}

static void leave_out(void *arg, const char *text)
{
	struct comparing *m = arg;

	tell(text);
	m->n_left_out++;
	compare_note(m->compare, "%s", text);
}

static int add(void *arg, struct result *result, const char *pod, const char *place,
               struct err *err)
{
	struct comparing *m = arg;
	uint64_t now = clock_now_ns();

	if (now - m->told_ns >= TELL_NS) {
		fprintf(stderr, "pvcbench: %llu results so far\n",
		        (unsigned long long)m->n_results);
		m->told_ns = now;
	}
	m->n_results++;
	if (compare_add(m->compare, result, m->source, pod, err)) {
		err_wrap(err, "%s", place);
		leave_out(m, err->text);
	}
	return 0;
}

static void read_all(struct comparing *m, const struct compare_options *options)
{
	const struct logs_reader reader = {.found = add, .damaged = leave_out, .arg = m};
	struct err err;

	for (int i = 0; i < options->n_names; i++) {
		m->source = options->names[i];
		if (logs_read_file(m->source, &reader, &err))
			leave_out(m, err.text);
	}
}

static int compare_all(struct comparing *m, const struct compare_options *options)
{
	struct err err;

	for (unsigned i = 0; i < options->n_gates; i++) {
		if (compare_add_gate(m->compare, options->gates[i], &err)) {
			err_wrap(&err, "--fail-if");
			tell(err.text);
			return (int)err.class;
		}
	}
	read_all(m, options);
	if (compare_finish(m->compare, options->baseline, &err)) {
		tell(err.text);
		return (int)err.class;
	}
	compare_write(stdout, m->compare, options->form);
	return m->n_left_out ? ERR_TEST : compare_exit_code(m->compare);
}

int compare_run(const struct compare_options *options)
{
	struct comparing m = {.compare = compare_new(), .told_ns = clock_now_ns()};
	int code = ERR_TARGET;

	if (m.compare)
		code = compare_all(&m, options);
	else
		tell("out of memory");
	compare_free(m.compare);
	return code;
}
