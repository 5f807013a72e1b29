/*
 * A request is handled in the thread of its connection. Handles of libcurl keep connections to
 * the next hop open, so who has used one puts it back for the next request, whoever brings that.
 */
#include "relay.h"

#include <pthread.h>
#include <string.h>

#include "base/workers.h"
#include "io/host.h"
#include "io/serve.h"
#include "kinds/chain.h"
#include "signals.h"

#define RECEIVE_NS (60 * NSEC_PER_SEC) /* also of a connection that rests */
#define LOOK_NS    (100 * NSEC_PER_MSEC)
#define SHOWN_MAX  200 /* bytes of a URL in the log */

struct relay {
	const struct relay_options *options;
	struct serve *serve;
	pthread_mutex_t lock; /* of the handles that nobody uses */
	struct http *idle[RELAY_CONNECTIONS_MAX];
	unsigned n_idle;
};

/* ---- whom it may call ---- */

/* The host ends where it ends in the prefix, and so does a part of the path. */
static bool begins_with(const char *url, const char *prefix)
{
	size_t length = strlen(prefix);

	if (strncmp(url, prefix, length) != 0)
		return false;
	return prefix[length - 1] == '/' || strchr("/?", url[length]); /* or its end */
}

/* What libcurl takes out of a path could lead out of the prefix. */
static bool climbs(const char *url)
{
	return strstr(url, "..") || strcasestr(url, "%2e");
}

static bool is_allowed(const struct relay_options *options, const char *url)
{
	if (climbs(url))
		return false;
	for (unsigned i = 0; i < options->n_allow; i++)
		if (begins_with(url, options->allow[i]))
			return true;
	return false;
}

/* ---- handles ---- */

static struct http *take_handle(struct relay *relay, struct err *err)
{
	struct http *http = NULL;

	pthread_mutex_lock(&relay->lock);
	if (relay->n_idle)
		http = relay->idle[--relay->n_idle];
	pthread_mutex_unlock(&relay->lock);
	return http ? http : http_new(err);
}

static void give_back(struct relay *relay, struct http *http)
{
	pthread_mutex_lock(&relay->lock);
	if (http && relay->n_idle < RELAY_CONNECTIONS_MAX) {
		relay->idle[relay->n_idle++] = http;
		http = NULL;
	}
	pthread_mutex_unlock(&relay->lock);
	http_free(http);
}

/* ---- a request ---- */

static bool is_stopped(void *arg)
{
	(void)arg;
	return atomic_load(&signals_stop);
}

static void rest(uint64_t ns)
{
	uint64_t end_ns = clock_now_ns() + ns;

	while (clock_now_ns() < end_ns && !is_stopped(NULL)) {
		uint64_t left_ns = min_u64(end_ns - min_u64(end_ns, clock_now_ns()), LOOK_NS);

		nanosleep(&(struct timespec){.tv_nsec = (long)left_ns}, NULL);
	}
}

static void answer_text(struct serve_answer *answer, int status, const char *text)
{
	answer->status = status;
	if (asprintf(&answer->body, "%s\n", text) < 0)
		answer->body = NULL;
	answer->body_bytes = answer->body ? strlen(answer->body) : 0;
}

static void log_refusal(const char *url)
{
	char shown[SHOWN_MAX];

	host_copy_graphic(shown, sizeof(shown), url);
	fprintf(stderr, "pvcbench: relay: refused to call '%s' (--allow it)\n", shown);
}

static int call_next(struct relay *relay, struct http *http, const struct chain *chain,
                     struct http_response *response, struct err *err)
{
	const struct chain_hop *hop = chain_first(chain);
	CLEANUP(mem) char *body = chain_rest(chain);
	struct http_request request = {
	        .url = hop->next_url,
	        .headers = hop->headers,
	        .n_headers = hop->n_headers,
	        .body = body,
	        .body_size = body ? strlen(body) : 0,
	        .ca_file = relay->options->ca_file,
	        .timeout_ns = relay->options->timeout_ns,
	        .no_proxy = true,
	        .answer_max = RELAY_BODY_MAX,
	        .cancelled = is_stopped,
	};

	if (!body)
		return err_set(err, ERR_TEST, "out of memory");
	return http_send(http, &request, response, err);
}

static void answer_chain(const struct chain *chain, struct chain_report *report, uint64_t begin_ns,
                         struct serve_answer *answer)
{
	report->elapsed_ns = clock_now_ns() - begin_ns;
	answer->status = report->code;
	answer->type = "application/json";
	answer->body = chain_answer(chain, report);
	answer->body_bytes = answer->body ? strlen(answer->body) : 0;
}

/* A hop that cannot reach the next one has answered all the same: the chain ends with its error. */
static void pass_on(struct relay *relay, const struct chain *chain, uint64_t begin_ns,
                    struct serve_answer *answer)
{
	const char *url = chain_first(chain)->next_url;
	struct chain_report report = {.code = 200};
	struct http_response response = {0};
	struct http *http = NULL;
	struct err err;

	rest(chain_first(chain)->delay_ns);
	if (url && !is_allowed(relay->options, url)) {
		log_refusal(url);
		report.code = 403;
		report.error = "this relay may not call the url of the next hop";
	} else if (url) {
		http = take_handle(relay, &err);
		if (http)
			report.next = &response;
		if (!http || call_next(relay, http, chain, &response, &err))
			report.error = err.text;
	}
	answer_chain(chain, &report, begin_ns, answer);
	give_back(relay, http);
}

static void handle(void *arg, const struct serve_request *request, struct serve_answer *answer)
{
	uint64_t begin_ns = clock_now_ns();
	struct chain *chain;
	struct err err;

	if (!request->body_bytes) {
		answer_text(answer, 200, "ok");
	} else if (chain_read(&chain, request->body, request->body_bytes, &err)) {
		answer_text(answer, 400, err.text);
	} else {
		pass_on(arg, chain, begin_ns, answer);
		chain_free(chain);
	}
}

/* ---- the command ---- */

/* Without the passwords that may stand in a URL. */
static void tell(const struct relay *relay)
{
	const struct relay_options *options = relay->options;
	char shown[HTTP_URL_MAX];
	struct err err;

	printf("pvcbench: relay: listens on port %u, may call", serve_port(relay->serve));
	for (unsigned i = 0; i < options->n_allow; i++)
		if (!http_url_show(options->allow[i], true, shown, &err))
			printf(" %s", shown);
	printf("%s\n", options->n_allow ? "" : " nobody (--allow URL)");
	fflush(stdout);
}

static int serve(struct relay *relay, struct err *err)
{
	const struct serve_params params = {
	        .address = relay->options->listen,
	        .connections_max = RELAY_CONNECTIONS_MAX,
	        .body_max = RELAY_BODY_MAX,
	        .receive_ns = RECEIVE_NS,
	        .handle = handle,
	        .arg = relay,
	};

	if (serve_start(&relay->serve, &params, err))
		return -1;
	tell(relay);
	while (!is_stopped(NULL))
		nanosleep(&(struct timespec){.tv_nsec = (long)LOOK_NS}, NULL);
	serve_stop(relay->serve);
	return 0;
}

static int check_allowed(const struct relay_options *options, struct err *err)
{
	char shown[HTTP_URL_MAX];

	for (unsigned i = 0; i < options->n_allow; i++)
		if (http_url_show(options->allow[i], true, shown, err))
			return err_wrap(err, "--allow, number %u", i + 1);
	return 0;
}

int relay_run(const struct relay_options *options)
{
	static struct relay relay = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct err err;
	int ret;

	relay.options = options;
	signals_watch();
	ret = check_allowed(options, &err);
	if (!ret)
		ret = workers_make_threads_possible(&err);
	if (!ret)
		ret = serve(&relay, &err);
	while (relay.n_idle)
		http_free(relay.idle[--relay.n_idle]);
	if (!ret)
		return 0;
	fprintf(stderr, "pvcbench: relay: %s\n", err.text);
	return (int)err.class;
}
