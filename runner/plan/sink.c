/*
 * The field table of a sink; docs/deliver.md is printed from it. A URL may hold a secret, so
 * no message repeats it.
 */
#include "plan/sink.h"

#include <ctype.h>
#include <string.h>

/* "HOST..." behind the scheme, or NULL. */
static const char *authority_of(const char *url)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (unsigned i = 0; i < ARRAY_SIZE(schemes); i++)
		if (!strncmp(url, schemes[i], strlen(schemes[i])))
			return url + strlen(schemes[i]);
	return NULL;
}

static size_t authority_length(const char *authority)
{
	return strcspn(authority, "/?#");
}

/*
 * An @ further on is most likely that of a password with a / in it: half of it would be
 * taken for the host.
 */
int plan_url_parse(void *slot, const char *text, struct err *err)
{
	const char *authority = authority_of(text);
	size_t length = strlen(text);

	if (length >= PLAN_URL_MAX)
		return err_set(err, ERR_PLAN, "is longer than %d bytes", PLAN_URL_MAX - 1);
	if (!authority || !authority_length(authority))
		return err_set(err, ERR_PLAN, "is no URL");
	for (const char *p = text; *p; p++)
		if (!isgraph((unsigned char)*p))
			return err_set(err, ERR_PLAN, "has a space or a letter that no URL has");
	if (strchr(authority + authority_length(authority), '@'))
		return err_set(err, ERR_PLAN, "has an @ behind the host");
	memcpy(slot, text, length + 1);
	return 0;
}

/* A word that needs no escape in a URL's path. */
static int parse_job(void *slot, const char *text, struct err *err)
{
	size_t length = strlen(text);

	if (length >= PLAN_NAME_MAX ||
	    strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") !=
	            length)
		return err_set(err, ERR_PLAN, "is no job's name");
	memcpy(slot, text, length + 1);
	return 0;
}

#define AT(member)   .offset = offsetof(struct plan_sink, member)
#define TEXT(member) AT(member), .size = sizeof(((struct plan_sink *)0)->member)

const struct field plan_sink_fields[] = {
        {.name = "file",
         .type = FIELD_STRING,
         TEXT(file),
         .help = "Write the result as JSON to this path; where it is a directory, to a new file "
                 "`pvcbench-RUN.json` in it."},
        {.name = "webhook",
         .type = FIELD_CUSTOM,
         AT(webhook),
         .parse = plan_url_parse,
         .pattern = PLAN_URL_PATTERN,
         .allowed = PLAN_URL_ALLOWED,
         .help = "POST the result as JSON to this URL, with the run's id as `Idempotency-Key`."},
        {.name = "pushgateway",
         .type = FIELD_CUSTOM,
         AT(pushgateway),
         .parse = plan_url_parse,
         .pattern = PLAN_URL_PATTERN,
         .allowed = PLAN_URL_ALLOWED,
         .help = "PUT the figures to the Prometheus Pushgateway at this URL, in the group of `job` "
                 "and `instance`; a URL with `/metrics/job/` in its path names the group itself."},
        {.name = "job",
         .type = FIELD_CUSTOM,
         AT(job),
         .parse = parse_job,
         .pattern = "[A-Za-z0-9_.-]{1,127}",
         .allowed = "up to 127 characters of A-Z a-z 0-9 _ . -",
         .default_text = "pvcbench",
         .help = "The label `job` of the Pushgateway's group."},
        {.name = PLAN_SINK_HEADERS,
         .help = "More headers of the request, a mapping of names to values. `Authorization` and "
                 "its like take a value only with a `${NAME}` in it."},
        {.name = "authorization_file",
         .type = FIELD_STRING,
         TEXT(authorization_file),
         .help = "A file, such as a mounted Secret, whose first line is the value of the header "
                 "`Authorization`. It is read when the result is sent."},
        {.name = "ca_file",
         .type = FIELD_STRING,
         TEXT(ca_file),
         .help = "The certificates (PEM) to trust for this URL, in place of `SSL_CERT_FILE` or "
                 "those of the image."},
        {.name = "required",
         .type = FIELD_BOOL,
         AT(required),
         .default_text = "false",
         .help = "The exit code is 1 where the result could not be delivered. Otherwise that is "
                 "said and changes nothing."},
};
const size_t plan_n_sink_fields = ARRAY_SIZE(plan_sink_fields);

const char *plan_sink_url(const struct plan_sink *sink)
{
	return sink->webhook[0] ? sink->webhook : sink->pushgateway;
}

const char *plan_sink_type(const struct plan_sink *sink)
{
	return sink->file[0] ? "file" : sink->webhook[0] ? "webhook" : "pushgateway";
}

bool plan_url_has_password(const char *url)
{
	const char *authority = authority_of(url);
	const char *at = memchr(authority, '@', authority_length(authority));

	return at && memchr(authority, ':', (size_t)(at - authority));
}
