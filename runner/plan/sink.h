/*
 * A sink: where a result goes besides the log, as the plan's key `deliver` names it. A file,
 * a webhook or a Pushgateway.
 */
#ifndef PVCBENCH_PLAN_SINK_H
#define PVCBENCH_PLAN_SINK_H

#include "base/field.h"
#include "plan/plan.h"

#define PLAN_SINKS_MAX        8
#define PLAN_URL_MAX          2048
#define PLAN_HEADERS_MAX      16
#define PLAN_HEADER_NAME_MAX  64
#define PLAN_HEADER_VALUE_MAX 4096

/* Its value may be a secret and is never shown. */
struct plan_header {
	char name[PLAN_HEADER_NAME_MAX];
	char value[PLAN_HEADER_VALUE_MAX];
};

struct plan_sink {
	/* Exactly one of these three is set. */
	char file[PLAN_PATH_MAX];
	char webhook[PLAN_URL_MAX];
	char pushgateway[PLAN_URL_MAX];
	bool url_is_secret; /* a variable went into the URL: its path is not shown either */

	char job[PLAN_NAME_MAX]; /* of a Pushgateway */
	struct plan_header headers[PLAN_HEADERS_MAX];
	unsigned n_headers;
	char authorization_file[PLAN_PATH_MAX]; /* holds the header's value; "": none */
	char ca_file[PLAN_PATH_MAX];            /* "": see io/http.h */
	bool required;                          /* without it the run has failed */

	unsigned line, column; /* where it stands in the plan */
};

/* The keys of a sink; `headers` is a mapping of names to values, read apart. */
extern const struct field plan_sink_fields[];
extern const size_t plan_n_sink_fields;
#define PLAN_SINK_HEADERS "headers"

/* "webhook" and its URL, and so on. */
const char *plan_sink_type(const struct plan_sink *sink);
const char *plan_sink_url(const struct plan_sink *sink); /* "" of a file */

/* Into char[PLAN_URL_MAX], as the parse of a field; the error does not repeat the text. */
int plan_url_parse(void *slot, const char *text, struct err *err);
#define PLAN_URL_PATTERN "https?://[^/?#\\s][^\\s]*"
#define PLAN_URL_ALLOWED \
	"http://HOST[:PORT][/PATH] or https://...; in a password / ? # @ as %2F %3F %23 %40"

/* Whether "user:password@" stands before the host. */
bool plan_url_has_password(const char *url);

#endif
