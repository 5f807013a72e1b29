/*
 *	POST /join    who a peer is and what it is to run       200, or 403 and why not
 *	POST /arrive  it is at a gate                           200 and how that stands, held back
 *	GET  /clock   what the clock says here                  200
 *	POST /ready   it knows the clock                        200 and when it goes on, held back
 *	POST /result  what a test gave, as in its log           200
 *	POST /bye     it ends                                   200
 *
 * Without the token all is 401; a peer that has not joined, or that is not the one that has, is
 * 409.
 */
#include "peers/coordinator.h"

#include <string.h>

#include "io/hmac.h"
#include "io/serve.h"
#include "peers/message.h"

#define BODY_MAX   (4 * MIB)
#define RECEIVE_NS (10 * NSEC_PER_SEC)
#define SLICE_NS   (500 * NSEC_PER_MSEC)
#define STRANGERS  32 /* connections beside two of each peer */

struct coordinator {
	struct coordinator_params params;
	struct serve *serve;
};

static void say(struct serve_answer *answer, int status, const char *text)
{
	answer->status = status;
	answer->body = strdup(text);
	answer->body_bytes = answer->body ? strlen(text) : 0;
}

static bool knows_token(const struct coordinator *c, const struct serve_request *request)
{
	static const char scheme[] = PEER_SCHEME " ";
	const char *value = serve_header(request, "Authorization");

	return value && !strncmp(value, scheme, strlen(scheme)) &&
	       hmac_equal(value + strlen(scheme), c->params.token);
}

/* An index from 1 on; 0: there is none that may be. */
static unsigned index_of(const struct coordinator *c, const struct serve_request *request)
{
	const char *text = serve_header(request, PEER_HEADER_INDEX);
	unsigned long index = text ? strtoul(text, NULL, 10) : 0;

	return index < c->params.n ? (unsigned)index : 0;
}

static const char *session_of(const struct serve_request *request)
{
	const char *session = serve_header(request, PEER_HEADER_SESSION);

	return session ? session : "";
}

/* ---- joining ---- */

/* The name of the first test whose line differs. */
static void name_difference(const char *ours, const char *theirs, char text[ROSTER_TEXT_MAX])
{
	unsigned line = 0;

	while (*ours && strcspn(ours, "\n") == strcspn(theirs, "\n") &&
	       !strncmp(ours, theirs, strcspn(ours, "\n"))) {
		ours += strcspn(ours, "\n") + 1;
		theirs += strcspn(theirs, "\n") + 1;
		line++;
	}
	snprintf(text, ROSTER_TEXT_MAX,
	         "its plan is another one: test %u is '%.*s' at index 0 and '%.*s' there, or has "
	         "other settings or another target",
	         line + 1, (int)min_u64(strcspn(ours, " \n"), 60), ours,
	         (int)min_u64(strcspn(theirs, " \n"), 60), theirs);
}

/* Why a peer may not take part; "" where it may. */
static void check_peer(const struct coordinator *c, const char *body, char text[ROSTER_TEXT_MAX])
{
	const char *plan = strstr(body, "\n\n");
	char version[64];
	uint64_t n = 0;

	text[0] = '\0';
	message_get(body, "version", version, sizeof(version));
	message_get_uint(body, "peers", &n);
	if (strcmp(version, PVCBENCH_VERSION) != 0)
		snprintf(text, ROSTER_TEXT_MAX,
		         "it is pvcbench %s, and index 0 is pvcbench " PVCBENCH_VERSION, version);
	else if (n != c->params.n)
		snprintf(text, ROSTER_TEXT_MAX, "it is of %llu peers, and index 0 of %u",
		         (unsigned long long)n, c->params.n);
	else if (!plan || strcmp(plan + 2, c->params.plan) != 0)
		name_difference(c->params.plan, plan ? plan + 2 : "", text);
}

static void join(struct coordinator *c, const struct serve_request *request,
                 struct serve_answer *answer)
{
	char text[ROSTER_TEXT_MAX], host[ROSTER_HOST_MAX], welcome[MESSAGE_MAX] = "";
	unsigned index = index_of(c, request);

	message_get(request->body, "host", host, sizeof(host));
	check_peer(c, request->body, text);
	if (!text[0] && !index)
		snprintf(text, sizeof(text), "its index is not one of 1 to %u", c->params.n - 1);
	if (text[0]) {
		if (index)
			roster_refuse(c->params.roster, index, text);
	} else if (roster_join(c->params.roster, index, host, session_of(request),
	                       request->connection, text)) {
		message_add(welcome, sizeof(welcome), "run", c->params.run_id);
		answer->lasting = true;
		say(answer, 200, welcome);
		return;
	}
	say(answer, 403, text);
}

/* ---- gates ---- */

/* In slices, so that a client that has hung up is noticed. */
static void wait_at(const struct coordinator *c, const struct serve_request *request,
                    unsigned index, uint64_t gate, int known, struct gate_news *news)
{
	uint64_t until_ns = clock_now_ns() + PEER_HOLD_NS;

	do
		roster_wait(c->params.roster, index, gate, known, SLICE_NS, news);
	while (news->state == known && clock_now_ns() < until_ns && !serve_is_gone(request));
}

static void tell(const struct gate_news *news, struct serve_answer *answer)
{
	char text[MESSAGE_MAX] = "";

	message_add_uint(text, sizeof(text), "state", (uint64_t)news->state);
	message_add(text, sizeof(text), "text", news->text);
	message_add(text, sizeof(text), "note", news->note);
	message_add_uint(text, sizeof(text), "start", news->start_ns);
	message_add_uint(text, sizeof(text), "within", news->within_ns);
	say(answer, 200, text);
}

static void arrive(struct coordinator *c, const struct serve_request *request, unsigned index,
                   struct serve_answer *answer)
{
	char skipped[ROSTER_TEXT_MAX];
	struct arrival arrival = {.skipped = skipped};
	struct gate_news news;

	message_get(request->body, "skipped", skipped, sizeof(skipped));
	if (!message_get_uint(request->body, "gate", &arrival.gate)) {
		say(answer, 400, "no gate\n");
		return;
	}
	roster_arrive(c->params.roster, index, &arrival);
	wait_at(c, request, index, arrival.gate, GATE_WAIT, &news);
	tell(&news, answer);
}

static void ready(struct coordinator *c, const struct serve_request *request, unsigned index,
                  struct serve_answer *answer)
{
	uint64_t gate, round_trip_ns;
	struct gate_news news;

	if (!message_get_uint(request->body, "gate", &gate) ||
	    !message_get_uint(request->body, "round_trip", &round_trip_ns)) {
		say(answer, 400, "no gate, or no round_trip\n");
		return;
	}
	roster_ready(c->params.roster, index, gate, round_trip_ns);
	wait_at(c, request, index, gate, GATE_TIMED, &news);
	tell(&news, answer);
}

static void tell_clock(struct serve_answer *answer)
{
	char text[MESSAGE_MAX] = "";

	message_add_uint(text, sizeof(text), "now", clock_now_ns());
	say(answer, 200, text);
}

/* ---- all ---- */

static void take_result(struct coordinator *c, const struct serve_request *request, unsigned index,
                        struct serve_answer *answer)
{
	bool taken = roster_hand(c->params.roster, index, request->body, request->body_bytes);

	say(answer, taken ? 200 : 507, taken ? "" : "index 0 has no room for more results\n");
}

static void take_leave(struct coordinator *c, const struct serve_request *request, unsigned index,
                       struct serve_answer *answer)
{
	char why[ROSTER_TEXT_MAX], skipped[ROSTER_TEXT_MAX];

	message_get(request->body, "why", why, sizeof(why));
	message_get(request->body, "skipped", skipped, sizeof(skipped));
	roster_leave(c->params.roster, index, why, skipped);
	say(answer, 200, "");
}

static bool asks(const struct serve_request *request, const char *method, const char *path)
{
	return !strcmp(request->method, method) && !strcmp(request->path, path);
}

static void handle(void *arg, const struct serve_request *request, struct serve_answer *answer)
{
	struct coordinator *c = arg;
	unsigned index;

	if (!knows_token(c, request)) {
		say(answer, 401, "not the token of this run\n");
		return;
	}
	if (asks(request, "POST", "/join")) {
		join(c, request, answer);
		return;
	}
	index = index_of(c, request);
	if (!roster_knows(c->params.roster, index, session_of(request), request->connection)) {
		say(answer, 409, "not a peer that has joined this run\n");
		return;
	}
	answer->lasting = true;
	if (asks(request, "POST", "/arrive"))
		arrive(c, request, index, answer);
	else if (asks(request, "GET", "/clock"))
		tell_clock(answer);
	else if (asks(request, "POST", "/ready"))
		ready(c, request, index, answer);
	else if (asks(request, "POST", "/result"))
		take_result(c, request, index, answer);
	else if (asks(request, "POST", "/bye"))
		take_leave(c, request, index, answer);
	else
		say(answer, 404, "no such thing\n");
}

static void on_closed(void *arg, uint64_t connection)
{
	const struct coordinator *c = arg;

	roster_close(c->params.roster, connection);
}

int coordinator_start(struct coordinator **out, const struct coordinator_params *params,
                      struct err *err)
{
	struct coordinator *c = calloc(1, sizeof(*c));
	struct serve_params serve = {
	        .address = params->address,
	        .connections_max = 2 * params->n + STRANGERS,
	        .body_max = BODY_MAX,
	        .receive_ns = RECEIVE_NS,
	        .handle = handle,
	        .closed = on_closed,
	        .arg = c,
	};

	if (!c)
		return err_set(err, ERR_TARGET, "out of memory");
	c->params = *params;
	if (serve_start(&c->serve, &serve, err)) {
		free(c);
		return -1;
	}
	*out = c;
	return 0;
}

void coordinator_stop(struct coordinator *c)
{
	if (!c)
		return;
	serve_stop(c->serve);
	free(c);
}
