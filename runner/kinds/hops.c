/*
 * kind: hops. Requests through chains of services, one after the other, the chains in turn: a
 * drift of the cluster meets all of them alike. Each chain has a handle, and connections, of its
 * own. Between two requests, not within one, answers are read and figures recorded.
 */
#include <string.h>

#include "kinds/hops_tally.h"
#include "kinds/kind.h"

_Static_assert(PLAN_HOPS_MAX == CHAIN_HOPS_MAX && PLAN_HEADERS_MAX <= CHAIN_HEADERS_MAX,
               "a plan names what a chain cannot hold");

#define LOOK_NS (100 * NSEC_PER_MSEC)
/* A chain of which not one of so many requests came through is not asked any more. */
#define HOPS_DOWN_AFTER 10

/* A chain while the test runs. */
struct line {
	const struct plan_chain *plan;
	struct chain_result *result;
	struct http *http;
	char *body;
	struct http_header headers[PLAN_HEADERS_MAX + 1]; /* of the client's request */
	unsigned n_headers;
};

struct hops {
	const struct test *test;
	struct kind_env *env;
	struct line lines[PLAN_CHAINS_MAX];
	unsigned n_lines;
	struct progress progress;
	uint64_t phase_start_ns;
};

/* ---- a chain ---- */

static unsigned copy_headers(const struct plan_hop *hop, struct http_header *to)
{
	for (unsigned i = 0; i < hop->n_headers; i++)
		to[i] = (struct http_header){hop->headers[i].name, hop->headers[i].value};
	return hop->n_headers;
}

static char *make_body(const struct plan_chain *chain, size_t more_bytes)
{
	struct http_header headers[PLAN_HOPS_MAX][PLAN_HEADERS_MAX];
	struct chain_step steps[PLAN_HOPS_MAX];

	for (unsigned i = 0; i < chain->n_hops; i++)
		steps[i] = (struct chain_step){
		        .url = chain->hops[i].url,
		        .headers = headers[i],
		        .n_headers = copy_headers(&chain->hops[i], headers[i]),
		};
	return chain_request(steps, chain->n_hops, more_bytes);
}

static bool names_content_type(const struct line *line)
{
	for (unsigned i = 0; i < line->n_headers; i++)
		if (!strcasecmp(line->headers[i].name, "Content-Type"))
			return true;
	return false;
}

static int line_init(struct line *line, const struct test *test, const struct plan_chain *chain,
                     struct chain_result *result, struct err *err)
{
	line->plan = chain;
	line->result = result;
	line->n_headers = copy_headers(&chain->hops[0], line->headers);
	if (!names_content_type(line))
		line->headers[line->n_headers++] =
		        (struct http_header){"Content-Type", "application/json"};
	line->body = make_body(chain, test->body_bytes);
	if (!line->body)
		return err_set(err, ERR_TEST, "out of memory for a request");
	line->http = http_new(err);
	return line->http ? 0 : -1;
}

/* What of a hop's URL may be shown: no path where a variable went into it. */
static void show_urls(const struct plan_chain *chain, struct chain_result *result)
{
	char shown[HTTP_URL_MAX];
	struct err err;

	for (unsigned i = 0; i < chain->n_hops; i++)
		if (!http_url_show(chain->hops[i].url, !chain->hops[i].url_is_secret, shown, &err))
			snprintf(result->hops[i].url, HOPS_URL_MAX, "%.*s", HOPS_URL_MAX - 1,
			         shown);
}

static int open_lines(struct hops *h, struct hops_result *result, struct err *err)
{
	const struct plan_chains *chains = h->test->chains;

	if (hops_result_init(result, chains))
		return err_set(err, ERR_TEST, "out of memory for the figures");
	for (unsigned i = 0; i < chains->n; i++) {
		show_urls(&chains->chain[i], &result->chains[i]);
		h->n_lines++;
		if (line_init(&h->lines[i], h->test, &chains->chain[i], &result->chains[i], err))
			return -1;
	}
	return 0;
}

static void close_lines(struct hops *h)
{
	for (unsigned i = 0; i < h->n_lines; i++) {
		http_free(h->lines[i].http);
		free(h->lines[i].body);
	}
}

/* ---- waiting ---- */

static void tell(struct hops *h)
{
	h->progress.elapsed_ns = clock_now_ns() - h->phase_start_ns;
	h->env->progress(h->env->arg, &h->progress);
}

static bool is_stopped(const struct hops *h)
{
	return atomic_load(h->env->stop) != 0;
}

/* Asked by a request that is under way. */
static bool give_up(void *arg)
{
	tell(arg);
	return is_stopped(arg);
}

static void wait_until(struct hops *h, uint64_t due_ns)
{
	uint64_t now_ns = clock_now_ns();

	while (now_ns < due_ns && !is_stopped(h)) {
		uint64_t left_ns = min_u64(due_ns - now_ns, LOOK_NS);

		nanosleep(&(struct timespec){.tv_nsec = (long)left_ns}, NULL);
		tell(h);
		now_ns = clock_now_ns();
	}
}

/* ---- a request ---- */

static const enum hops_error error_of[] = {
        [HTTP_REFUSED] = HOPS_BROKEN,          [HTTP_UNRESOLVED] = HOPS_UNRESOLVED,
        [HTTP_UNREACHABLE] = HOPS_UNREACHABLE, [HTTP_UNTRUSTED] = HOPS_UNTRUSTED,
        [HTTP_TLS_FAILED] = HOPS_TLS_FAILED,   [HTTP_TIMED_OUT] = HOPS_TIMED_OUT,
        [HTTP_BROKEN] = HOPS_BROKEN,           [HTTP_TOO_LARGE] = HOPS_TOO_LARGE,
        [HTTP_CANCELLED] = HOPS_BROKEN,
};

static int send_request(struct hops *h, struct line *line, struct http_response *response,
                        struct err *err)
{
	const struct test *test = h->test;
	const struct http_request request = {
	        .url = line->plan->hops[0].url,
	        .headers = line->headers,
	        .n_headers = line->n_headers,
	        .body = line->body,
	        .body_size = strlen(line->body),
	        .ca_file = test->ca_file[0] ? test->ca_file : NULL,
	        .connect_timeout_ns = test->timeout_ns,
	        .timeout_ns = test->timeout_ns,
	        .fresh = !test->keepalive,
	        .http_2 = test->http_version == PLAN_HTTP_2,
	        .no_proxy = true,
	        .cancelled = give_up,
	        .cancelled_arg = h,
	};

	return http_send(line->http, &request, response, err);
}

/* Whether all hops have answered; else why not. */
static int check_answers(const struct line *line, const struct chain_answer *answers, unsigned n,
                         struct err *err)
{
	const struct chain_result *chain = line->result;

	for (unsigned i = 0; i < n && i < chain->n_hops; i++)
		if (answers[i].error[0])
			return err_set(err, ERR_TEST, "hop %u, '%s': %s", i + 1, chain->hops[i].url,
			               answers[i].error);
	if (n != chain->n_hops)
		return err_set(err, ERR_TEST, "%u hops have answered, not %u", n, chain->n_hops);
	return 0;
}

/* 0: answers holds one of each hop. Else *error says of which kind err is. */
static int ask(struct hops *h, struct line *line, struct http_response *response,
               struct chain_answer *answers, enum hops_error *error, struct err *err)
{
	unsigned n;

	if (send_request(h, line, response, err)) {
		*error = error_of[response->outcome];
		return -1;
	}
	*error = HOPS_STATUS;
	if (response->status != 200)
		return err_set(err, ERR_TEST, "'%s' answers with status %d",
		               line->result->hops[0].url, response->status);
	*error = HOPS_FORMAT;
	if (chain_read_answer(answers, &n, response->body, response->body_bytes, err))
		return -1;
	*error = HOPS_HOP;
	return check_answers(line, answers, n, err);
}

static void keep_error(struct chain_result *chain, const struct err *err)
{
	if (!chain->error[0])
		snprintf(chain->error, sizeof(chain->error), "%.*s", HOPS_ERROR_MAX - 1, err->text);
}

/* due_ns is 0 in a closed loop. */
static void measure_one(struct hops *h, struct line *line, uint64_t due_ns)
{
	struct chain_answer answers[CHAIN_HOPS_MAX];
	struct hops_request request = {.is_open_loop = due_ns != 0};
	struct http_response response;
	uint64_t sent_ns = clock_now_ns();
	enum hops_error error;
	struct err err;
	int ret = ask(h, line, &response, answers, &error, &err);

	if (ret && response.outcome == HTTP_CANCELLED)
		return;
	if (ret) {
		line->result->errors[error]++;
		keep_error(line->result, &err);
		return;
	}
	request.late_ns = due_ns ? sent_ns - min_u64(sent_ns, due_ns) : 0;
	memcpy(request.phase_ns, response.phase_ns, sizeof(request.phase_ns));
	request.new_connections = response.new_connections;
	hops_tally(line->result, &request, answers);
	h->progress.ios++;
	h->progress.latency_sum_ns += request.late_ns + request.phase_ns[HTTP_TOTAL];
}

static void warm_up_one(struct hops *h, struct line *line)
{
	struct chain_answer answers[CHAIN_HOPS_MAX];
	struct chain_result *chain = line->result;
	bool is_first = !chain->warmup.count && !chain->warmup_errors;
	struct http_response response;
	enum hops_error error;
	struct err err;

	if (ask(h, line, &response, answers, &error, &err)) {
		if (response.outcome == HTTP_CANCELLED)
			return;
		chain->warmup_errors++;
		keep_error(chain, &err);
		return;
	}
	hops_range_add(&chain->warmup, response.phase_ns[HTTP_TOTAL]);
	if (is_first)
		chain->warmup_first_ns = response.phase_ns[HTTP_TOTAL];
	h->progress.ios++;
	h->progress.latency_sum_ns += response.phase_ns[HTTP_TOTAL];
}

/* ---- all of them ---- */

static void begin_phase(struct hops *h, enum progress_phase phase, uint64_t requests,
                        uint64_t expected_ns)
{
	h->phase_start_ns = clock_now_ns();
	h->progress = (struct progress){
	        .phase = phase, .total_bytes = requests * h->n_lines, .expected_ns = expected_ns};
	tell(h);
}

static void warm_up(struct hops *h)
{
	begin_phase(h, PHASE_WARMUP, h->test->warmup, 0);
	for (uint64_t i = 0; i < h->test->warmup; i++)
		for (unsigned l = 0; l < h->n_lines && !is_stopped(h); l++) {
			warm_up_one(h, &h->lines[l]);
			h->progress.bytes++;
			tell(h);
		}
}

/* When request k of all chains is due; 0: when the one before is back. */
static uint64_t due_of(const struct hops *h, uint64_t k)
{
	uint64_t rate = h->test->requests_rate;

	if (!rate)
		return 0;
	return h->phase_start_ns + k / rate * NSEC_PER_SEC + k % rate * NSEC_PER_SEC / rate;
}

static bool is_over(const struct hops *h, uint64_t k)
{
	if (is_stopped(h))
		return true;
	if (h->test->requests)
		return k == h->test->requests * h->n_lines;
	return max_u64(clock_now_ns(), due_of(h, k)) >= h->phase_start_ns + h->test->runtime_ns;
}

/* Those due before the end of the time, from the k-th on. */
static void count_unsent(struct hops *h, uint64_t k)
{
	uint64_t end_ns = h->phase_start_ns + h->test->runtime_ns;

	for (; h->test->requests_rate && !h->test->requests && due_of(h, k) < end_ns; k++)
		h->lines[k % h->n_lines].result->unsent++;
}

/* Each request may take its timeout. */
static bool is_down(const struct chain_result *chain)
{
	return !chain->total.count && chain_errors(chain) >= HOPS_DOWN_AFTER;
}

static bool are_all_down(const struct hops *h)
{
	for (unsigned i = 0; i < h->n_lines; i++)
		if (!is_down(h->lines[i].result))
			return false;
	return true;
}

static void measure(struct hops *h, struct test_result *tr)
{
	uint64_t k = 0;

	begin_phase(h, PHASE_REQUESTS, h->test->requests, h->test->runtime_ns);
	for (; !is_over(h, k) && !are_all_down(h); k++) {
		struct line *line = &h->lines[k % h->n_lines];
		uint64_t due_ns = due_of(h, k);

		wait_until(h, due_ns);
		if (is_stopped(h))
			break;
		if (!is_down(line->result))
			measure_one(h, line, due_ns);
		h->progress.bytes++;
		tell(h);
		if (h->test->pause_ns && !is_over(h, k + 1))
			wait_until(h, clock_now_ns() + h->test->pause_ns / h->n_lines);
	}
	tr->runtime_ns = clock_now_ns() - h->phase_start_ns;
	if (!is_stopped(h)) {
		kind_measured(h->env);
		count_unsent(h, k);
	}
}

static int judge(const struct hops *h, struct err *err)
{
	for (unsigned i = 0; i < h->n_lines; i++) {
		const struct chain_result *chain = h->lines[i].result;

		if (!chain->total.count && chain_errors(chain))
			return err_set(err, ERR_TEST, "chain '%s': no request came through: %s",
			               chain->name, chain->error);
	}
	return 0;
}

static int run(const struct test *test, struct kind_env *env, struct test_result *tr,
               struct err *err)
{
	struct hops *h = calloc(1, sizeof(*h));
	int ret = -1;

	if (!h)
		return err_set(err, ERR_TEST, "out of memory");
	h->test = test;
	h->env = env;
	if (!open_lines(h, &tr->hops, err)) {
		warm_up(h);
		if (!is_stopped(h))
			measure(h, tr);
		ret = is_stopped(h) ? 0 : judge(h, err);
	}
	close_lines(h);
	free(h);
	return ret;
}

static uint64_t duration_ns(const struct test *test)
{
	if (!test->requests)
		return test->runtime_ns;
	if (test->requests_rate)
		return test->requests * test->chains->n * NSEC_PER_SEC / test->requests_rate;
	return (test->requests * test->chains->n - 1) * (test->pause_ns / test->chains->n);
}

static int check(const struct test *test, const struct target *target, const struct host *host,
                 struct preview *preview, struct err *err)
{
	(void)target;
	(void)host;
	if (test->peers > 1)
		return err_set(err, ERR_PLAN,
		               "kind hops has no sum over several peers (run it in one pod)");
	if (test->http_version == PLAN_HTTP_2 && !http_has_2())
		return err_set(err, ERR_PLAN,
		               "this build has no HTTP/2 (leave http_version out, or say 1.1)");
	if (preview)
		*preview = (struct preview){.duration_ns = duration_ns(test)};
	return 0;
}

const struct kind kind_hops = {
        .name = PLAN_KIND_HOPS,
        .check = check,
        .run = run,
};
