/*
 * Requests to index 0 on one connection, which is the sign of life of this peer.
 *
 * Clocks: of a few requests the one with the shortest round trip says by how much index 0's clock
 * is ahead. It was read at some moment of that round trip, so that half of it bounds the error.
 */
#include "peers/member.h"

#include <string.h>
#include <sys/random.h>

#include "io/http.h"
#include "peers/coordinator.h"
#include "peers/message.h"

#define RETRY_NS      (500 * NSEC_PER_MSEC)
#define ANSWER_NS     (15 * NSEC_PER_SEC)
#define BYE_NS        (2 * NSEC_PER_SEC)
#define CONNECTION_NS (24 * 3600 * NSEC_PER_SEC) /* a test may take long, without a word */
#define TRIES         4
#define PINGS         5
/* The pod of an earlier run may still have the name of index 0. */
#define TOKEN_NS (15 * NSEC_PER_SEC)

struct member {
	struct member_params params;
	struct http *http;
	char authorization[128], index[16], session[33];
	struct http_header headers[3];
	uint64_t ahead_ns, round_trip_ns; /* index 0's clock, modulo 2^64 */
};

int member_new(struct member **out, const struct member_params *params, struct err *err)
{
	struct member *m = calloc(1, sizeof(*m));
	uint64_t salt[2] = {clock_now_ns(), (uint64_t)getpid()};

	if (!m)
		return err_set(err, ERR_TARGET, "out of memory");
	m->params = *params;
	m->http = http_new(err);
	if (!m->http) {
		free(m);
		return -1;
	}
	/* that of no other peer, with or without randomness */
	if (getrandom(salt, sizeof(salt), GRND_NONBLOCK) < 0)
		salt[0] ^= (uint64_t)params->index << 48;
	snprintf(m->session, sizeof(m->session), "%016llx%016llx", (unsigned long long)salt[0],
	         (unsigned long long)salt[1]);
	snprintf(m->authorization, sizeof(m->authorization), PEER_SCHEME " %s", params->token);
	snprintf(m->index, sizeof(m->index), "%u", params->index);
	m->headers[0] = (struct http_header){"Authorization", m->authorization};
	m->headers[1] = (struct http_header){PEER_HEADER_INDEX, m->index};
	m->headers[2] = (struct http_header){PEER_HEADER_SESSION, m->session};
	*out = m;
	return 0;
}

void member_free(struct member *m)
{
	if (!m)
		return;
	http_free(m->http);
	free(m);
}

static bool is_stopped(void *arg)
{
	const struct member *m = arg;

	return atomic_load(m->params.stop) != 0;
}

static void rest(uint64_t ns)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* body NULL: GET. Asked even after a signal where it is brief. */
static int ask(struct member *m, const char *path, const char *body, size_t bytes,
               uint64_t timeout_ns, struct http_response *response, struct err *err)
{
	char url[HTTP_URL_MAX];
	struct http_request request = {
	        .url = url,
	        .headers = m->headers,
	        .n_headers = ARRAY_SIZE(m->headers),
	        .body = body,
	        .body_size = bytes,
	        .timeout_ns = timeout_ns,
	        .no_proxy = true,
	        .idle_max_ns = CONNECTION_NS,
	        .cancelled = timeout_ns > BYE_NS ? is_stopped : NULL,
	        .cancelled_arg = m,
	};

	snprintf(url, sizeof(url), "http://%s%s", m->params.coordinator, path);
	return http_send(m->http, &request, response, err);
}

/* The same, where anything but 200 is a failure, and one of the network is tried again. */
static int insist(struct member *m, const char *path, const char *body, size_t bytes,
                  struct http_response *response, struct err *err)
{
	for (unsigned tries = 0; tries < TRIES && !is_stopped(m); tries++) {
		if (tries)
			rest(RETRY_NS);
		if (ask(m, path, body, bytes, ANSWER_NS, response, err))
			continue;
		if (response->status == 200)
			return 0;
		return err_set(err, ERR_TEST, "'%s' answers with %d: %.*s", m->params.coordinator,
		               response->status, (int)strcspn(response->body, "\n"),
		               response->body);
	}
	return is_stopped(m) ? err_set(err, ERR_TEST, "interrupted") : -1;
}

/* ---- joining ---- */

/* 1: joined, 0: not yet, -1: never. */
static int try_to_join(struct member *m, const char *body, bool impatient,
                       char run_id[ROSTER_TEXT_MAX], struct err *err)
{
	struct http_response response;

	if (ask(m, "/join", body, strlen(body), ANSWER_NS, &response, err))
		return 0;
	if (response.status == 200) {
		message_get(response.body, "run", run_id, ROSTER_TEXT_MAX);
		return 1;
	}
	if (response.status == 403) {
		err_set(err, ERR_PLAN, "index 0 at '%s' refuses this peer: %.300s",
		        m->params.coordinator, response.body);
		return -1;
	}
	if (response.status == 401)
		err_set(err, ERR_PLAN,
		        "index 0 at '%s' is of another run: it refuses our token, which comes from "
		        "PVCBENCH_JOB_UID",
		        m->params.coordinator);
	else
		err_set(err, ERR_PLAN, "'%s' is no index 0 of pvcbench: it answers with %d",
		        m->params.coordinator, response.status);
	return impatient ? -1 : 0;
}

static char *introduce(const struct member *m)
{
	size_t size = MESSAGE_MAX + strlen(m->params.plan) + 2;
	char *body = calloc(1, size);

	if (!body)
		return NULL;
	message_add(body, MESSAGE_MAX, "version", PVCBENCH_VERSION);
	message_add_uint(body, MESSAGE_MAX, "peers", m->params.n);
	message_add(body, MESSAGE_MAX, "host", m->params.host);
	snprintf(body + strlen(body), size - strlen(body), "\n%s", m->params.plan);
	return body;
}

int member_join(struct member *m, uint64_t limit_ns, member_step *step, void *arg,
                char run_id[ROSTER_TEXT_MAX], struct err *err)
{
	CLEANUP(mem) char *body = introduce(m);
	uint64_t start_ns = clock_now_ns();
	char what[MESSAGE_MAX];

	if (!body)
		return err_set(err, ERR_TARGET, "out of memory");
	snprintf(what, sizeof(what), "waiting for index 0 at '%s'", m->params.coordinator);
	step(arg, what);
	while (!is_stopped(m)) {
		uint64_t waited_ns = clock_now_ns() - start_ns;
		int joined = try_to_join(m, body, waited_ns > TOKEN_NS, run_id, err);

		if (joined)
			return joined < 0 ? -1 : 0;
		if (limit_ns && waited_ns > limit_ns) {
			err->class = ERR_TEST;
			return err_append(err, " (index 0 of the peers; no longer waited for: "
			                       "peers_timeout)");
		}
		rest(RETRY_NS);
	}
	return 0;
}

/* ---- gates ---- */

static int read_news(const char *body, struct gate_news *news, struct err *err)
{
	uint64_t state;

	*news = (struct gate_news){0};
	if (!message_get_uint(body, "state", &state) || state > GATE_LOST ||
	    !message_get_uint(body, "start", &news->start_ns) ||
	    !message_get_uint(body, "within", &news->within_ns))
		return err_set(err, ERR_TEST, "index 0 says what is not understood");
	news->state = (int)state;
	message_get(body, "text", news->text, sizeof(news->text));
	message_get(body, "note", news->note, sizeof(news->note));
	return 0;
}

static int measure_clock(struct member *m, struct err *err)
{
	m->round_trip_ns = UINT64_MAX;
	for (unsigned i = 0; i < PINGS; i++) {
		struct http_response response;
		uint64_t there_ns, from_ns = clock_now_ns(), trip_ns;

		if (insist(m, "/clock", NULL, 0, &response, err))
			return -1;
		trip_ns = clock_now_ns() - from_ns;
		if (!message_get_uint(response.body, "now", &there_ns))
			return err_set(err, ERR_TEST, "index 0 does not tell its clock");
		if (trip_ns >= m->round_trip_ns)
			continue;
		m->round_trip_ns = trip_ns;
		m->ahead_ns = there_ns - (from_ns + trip_ns / 2);
	}
	return 0;
}

/* Ask until it is told something new. */
static int ask_for_news(struct member *m, const char *path, const char *body, int known,
                        member_step *step, void *arg, struct gate_news *news, struct err *err)
{
	char told[ROSTER_TEXT_MAX] = "";

	do {
		struct http_response response;
		char what[MESSAGE_MAX];

		if (insist(m, path, body, strlen(body), &response, err) ||
		    read_news(response.body, news, err))
			return -1;
		if (news->state != GATE_WAIT || !strcmp(told, news->text))
			continue;
		memcpy(told, news->text, sizeof(told));
		snprintf(what, sizeof(what), "waiting for %s", news->text);
		step(arg, what);
	} while (news->state == known);
	return 0;
}

static int pass_gate(struct member *m, const struct arrival *arrival, member_step *step, void *arg,
                     struct gate_news *news, struct err *err)
{
	char body[MESSAGE_MAX] = "";

	message_add_uint(body, sizeof(body), "gate", arrival->gate);
	message_add(body, sizeof(body), "skipped", arrival->skipped ? arrival->skipped : "");
	if (ask_for_news(m, "/arrive", body, GATE_WAIT, step, arg, news, err))
		return -1;
	if (news->state != GATE_TIMED)
		return 0;
	if (measure_clock(m, err))
		return -1;
	message_add_uint(body, sizeof(body), "round_trip", m->round_trip_ns);
	if (ask_for_news(m, "/ready", body, GATE_TIMED, step, arg, news, err))
		return -1;
	news->start_ns -= m->ahead_ns;
	return 0;
}

void member_arrive(struct member *m, const struct arrival *arrival, member_step *step, void *arg,
                   struct gate_news *news)
{
	struct err err;

	if (!pass_gate(m, arrival, step, arg, news, &err))
		return;
	*news = (struct gate_news){.state = GATE_LOST};
	snprintf(news->text, sizeof(news->text), "index 0: %.240s", err.text);
}

/* ---- ending ---- */

int member_hand(struct member *m, const char *lines, size_t bytes, struct err *err)
{
	struct http_response response;

	if (!is_stopped(m) && !insist(m, "/result", lines, bytes, &response, err))
		return 0;
	/* what is measured until a signal is handed over too, if that is quick */
	if (is_stopped(m) && !ask(m, "/result", lines, bytes, BYE_NS, &response, err))
		return 0;
	return err_wrap(err, "cannot hand the result to index 0");
}

void member_leave(struct member *m, const char *why, const char *skipped)
{
	char body[MESSAGE_MAX] = "";
	struct http_response response;
	struct err err;

	message_add(body, sizeof(body), "why", why);
	message_add(body, sizeof(body), "skipped", skipped);
	ask(m, "/bye", body, strlen(body), BYE_NS, &response, &err);
}
