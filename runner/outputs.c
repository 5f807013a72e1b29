/*
 * A form is a row: how it is written.
 */
#include "outputs.h"

#include <errno.h>

#include "out/json.h"
#include "out/metrics.h"

static void (*const writers[OUTPUT_FORMS])(FILE *out, const struct result *result) = {
        [OUTPUT_JSON] = json_write,
        [OUTPUT_METRICS] = metrics_write,
};

static int cannot_write(const char *path, enum err_class class, struct err *err)
{
	return err_sys(err, class, errno, "cannot write the result to '%s'", path);
}

int outputs_open(struct outputs *outputs, struct err *err)
{
	for (unsigned i = 0; i < OUTPUT_FORMS; i++) {
		if (!outputs->path[i])
			continue;
		outputs->file[i] = fopen(outputs->path[i], "we");
		if (!outputs->file[i])
			return cannot_write(outputs->path[i], ERR_PLAN, err);
	}
	return 0;
}

static int write_one(struct outputs *outputs, unsigned form, const struct result *result,
                     struct err *err)
{
	FILE *file = outputs->file[form];
	int failed;

	writers[form](file, result);
	failed = ferror(file);
	failed |= fclose(file);
	outputs->file[form] = NULL;
	return failed ? cannot_write(outputs->path[form], ERR_TEST, err) : 0;
}

unsigned outputs_write(struct outputs *outputs, const struct result *result,
                       void (*tell)(const char *text))
{
	unsigned failures = 0;
	struct err err;

	for (unsigned i = 0; i < OUTPUT_FORMS; i++) {
		if (!outputs->file[i] || !write_one(outputs, i, result, &err))
			continue;
		tell(err.text);
		failures++;
	}
	return failures;
}
