/*
 * A form is a row: how it is written, and how what is written begins.
 */
#include "outputs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "out/fio.h"
#include "out/json.h"
#include "out/metrics.h"

static const struct form {
	void (*write)(FILE *out, const struct result *result);
	const char *begins;
} forms[OUTPUT_FORMS] = {
        [OUTPUT_JSON] = {json_write, "{\n  \"schema\": \"pvcbench.result/"},
        [OUTPUT_METRICS] = {metrics_write, "# HELP pvcbench_"},
        [OUTPUT_FIO] = {fio_write, "{\n  \"fio version\": \"pvcbench-"},
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

int output_open(FILE **file, const char *path, const char *begins, struct err *err)
{
	if (may_overwrite(path, begins, err))
		return -1;
	*file = fopen(path, "we");
	return *file ? 0 : cannot_write(path, ERR_PLAN, err);
}

int output_close(FILE *file, const char *path, struct err *err)
{
	int failed = ferror(file);

	failed |= fclose(file);
	return failed ? cannot_write(path, ERR_TEST, err) : 0;
}

int outputs_open(struct outputs *outputs, struct err *err)
{
	for (unsigned i = 0; i < OUTPUT_FORMS; i++) {
		if (!outputs->path[i])
			continue;
		if (is_taken(outputs, i, err) ||
		    output_open(&outputs->file[i], outputs->path[i], forms[i].begins, err))
			return -1;
	}
	return 0;
}

static int write_one(struct outputs *outputs, unsigned form, const struct result *result,
                     struct err *err)
{
	FILE *file = outputs->file[form];

	forms[form].write(file, result);
	outputs->file[form] = NULL;
	return output_close(file, outputs->path[form], err);
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
