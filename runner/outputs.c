/*
 * A form is a row: how it is written, and how what is written begins.
 */
#include "outputs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "out/json.h"
#include "out/metrics.h"

static const struct form {
	void (*write)(FILE *out, const struct result *result);
	const char *begins;
} forms[OUTPUT_FORMS] = {
        [OUTPUT_JSON] = {json_write, "{\n  \"schema\": \"pvcbench.result/"},
        [OUTPUT_METRICS] = {metrics_write, "# HELP pvcbench_"},
};

static int cannot_write(const char *path, enum err_class class, struct err *err)
{
	return err_sys(err, class, errno, "cannot write the result to '%s'", path);
}

static bool begins_as(const char *path, const char *begins)
{
	CLEANUP(file) FILE *file = fopen(path, "re");
	char read[64] = "";

	return file && fread(read, 1, strlen(begins), file) == strlen(begins) &&
	       strcmp(read, begins) == 0;
}

/* What is there goes only where it is a result too: it may be the plan, a ledger or a disk. */
static int may_overwrite(const char *path, const char *begins, struct err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	if (S_ISBLK(st.st_mode))
		return err_set(err, ERR_REFUSED,
		               "'%s' is a block device, and no place for the result", path);
	if (!S_ISREG(st.st_mode) || !st.st_size || begins_as(path, begins))
		return 0;
	return err_set(err, ERR_REFUSED,
	               "'%s' is there already and holds no such result: it is not overwritten "
	               "(name another file, or remove it)",
	               path);
}

/* Of two forms in one file the second would be written over the first. */
static int is_taken(const struct outputs *outputs, unsigned form, struct err *err)
{
	struct stat own, other;

	for (unsigned i = 0; i < form; i++)
		if (outputs->file[i] && fstat(fileno(outputs->file[i]), &other) == 0 &&
		    S_ISREG(other.st_mode) && stat(outputs->path[form], &own) == 0 &&
		    own.st_dev == other.st_dev && own.st_ino == other.st_ino)
			return err_set(err, ERR_PLAN, "'%s' is named for two results",
			               outputs->path[form]);
	return 0;
}

int outputs_open(struct outputs *outputs, struct err *err)
{
	for (unsigned i = 0; i < OUTPUT_FORMS; i++) {
		if (!outputs->path[i])
			continue;
		if (may_overwrite(outputs->path[i], forms[i].begins, err) ||
		    is_taken(outputs, i, err))
			return -1;
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

	forms[form].write(file, result);
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
