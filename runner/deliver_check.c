/*
 * Deliveries before the run: what they are, and what would make them fail.
 */
#include "deliver.h"

#include <errno.h>
#include <string.h>

char *deliver_name(const struct plan_sink *sink, char name[DELIVER_NAME_MAX])
{
	char shown[HTTP_URL_MAX];
	struct err err;

	if (sink->file[0])
		snprintf(shown, sizeof(shown), "%s", sink->file);
	else if (http_url_show(plan_sink_url(sink), !sink->url_is_secret, shown, &err))
		shown[0] = '\0'; /* deliver_check refuses it */
	snprintf(name, DELIVER_NAME_MAX, "%s %s", plan_sink_type(sink), shown);
	return name;
}

void deliver_write(FILE *out, const struct plan *plan)
{
	char name[DELIVER_NAME_MAX];

	for (unsigned i = 0; i < plan->n_sinks; i++)
		fprintf(out, "deliver: %s%s\n", deliver_name(&plan->sinks[i], name),
		        plan->sinks[i].required ? ", required" : "");
}

static int check_readable(const char *key, const char *path, struct err *err)
{
	if (path[0] && access(path, R_OK))
		return err_sys(err, ERR_PLAN, errno, "%s: cannot read '%s'", key, path);
	return 0;
}

/* The directory that a file is made in. */
static int check_writable(const char *file, struct err *err)
{
	char path[PLAN_PATH_MAX];
	char *slash;

	if (!file[0] || !access(file, W_OK))
		return 0;
	snprintf(path, sizeof(path), "%s", file);
	slash = strrchr(path, '/');
	if (slash)
		slash[slash == path] = '\0';
	if (errno != ENOENT || access(slash ? path : ".", W_OK | X_OK))
		return err_sys(err, ERR_PLAN, errno, "file: cannot write '%s'", file);
	return 0;
}

static int check_sink(const struct plan_sink *sink, struct err *err)
{
	char shown[HTTP_URL_MAX];

	if (!sink->file[0] && http_url_show(plan_sink_url(sink), false, shown, err))
		return err_wrap(err, "%s", plan_sink_type(sink));
	if (!sink->required)
		return 0;
	if (check_writable(sink->file, err) || check_readable("ca_file", sink->ca_file, err))
		return -1;
	return check_readable("authorization_file", sink->authorization_file, err);
}

int deliver_check(const struct plan *plan, struct err *err)
{
	for (unsigned i = 0; i < plan->n_sinks; i++) {
		const struct plan_sink *sink = &plan->sinks[i];

		if (check_sink(sink, err))
			return err_wrap(err, "%s:%u:%u: deliver", plan->name, sink->line,
			                sink->column);
	}
	return 0;
}
