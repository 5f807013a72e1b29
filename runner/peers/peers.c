/*
 * Index 0 asks its roster directly, the others ask it over HTTP; the rest is the same for both.
 */
#include "peers/peers.h"

#include <netdb.h>
#include <string.h>

#include "io/hmac.h"
#include "peers/coordinator.h"
#include "peers/describe.h"

#define TOKEN_MESSAGE "pvcbench-peer-1"
#define LOOK_NS       (200 * NSEC_PER_MSEC)
/* How long index 0 waits for what the others have measured, after a signal. */
#define STOPPED_NS (5 * NSEC_PER_SEC)

struct peers {
	struct peers_params params;
	char host[ROSTER_HOST_MAX], token[HMAC_TEXT_SIZE], run_id[ROSTER_TEXT_MAX];
	char skipped[ROSTER_TEXT_MAX];
	char *plan;
	bool open, lost;
	struct roster *roster; /* of index 0 */
	struct coordinator *coordinator;
	struct member *member; /* of the others */
};

/* ---- options ---- */

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static int read_number(const char *name, unsigned most, unsigned *out, struct err *err)
{
	const char *text = variable(name);
	char *end;
	unsigned long value = text ? strtoul(text, &end, 10) : 0;

	if (!text)
		return 0;
	if (text[0] < '0' || text[0] > '9' || *end || value > most)
		return err_set(err, ERR_PLAN, "%s: '%s' is no number from 0 to %u", name, text,
		               most);
	*out = (unsigned)value;
	return 0;
}

/* "job-3.service.namespace..." becomes "job-0.service.namespace...:PORT". */
static const char *derive_coordinator(unsigned index, struct err *err)
{
	static char address[2 * ROSTER_HOST_MAX];
	char host[ROSTER_HOST_MAX] = "", suffix[16];
	struct addrinfo hints = {.ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	const char *name = host, *dot;
	size_t length, tail = (size_t)snprintf(suffix, sizeof(suffix), "-%u", index);

	gethostname(host, sizeof(host) - 1);
	if (!getaddrinfo(host, NULL, &hints, &list) && list->ai_canonname)
		name = list->ai_canonname;
	dot = strchr(name, '.');
	length = dot ? (size_t)(dot - name) : strlen(name);
	if (length <= tail || strncmp(name + length - tail, suffix, tail) != 0) {
		err_set(err, ERR_PLAN,
		        "index 0 is not known: '%s' is no host of an Indexed Job, which would end "
		        "in '%s' (say --coordinator HOST:PORT)",
		        name, suffix);
		name = NULL;
	} else {
		snprintf(address, sizeof(address), "%.*s-0%s:%u", (int)(length - tail), name,
		         dot ? dot : "", PEERS_PORT);
	}
	if (list)
		freeaddrinfo(list);
	return name ? address : NULL;
}

int peers_options_complete(struct peers_options *options, struct err *err)
{
	unsigned index = options->index < 0 ? UINT32_MAX : (unsigned)options->index;

	if (!options->n && read_number("PVCBENCH_PEERS", ROSTER_PEERS_MAX, &options->n, err))
		return -1;
	if (options->n <= 1)
		return 0;
	if (options->index < 0 &&
	    read_number("JOB_COMPLETION_INDEX", ROSTER_PEERS_MAX, &index, err))
		return -1;
	if (index >= options->n)
		return err_set(err, ERR_PLAN,
		               "which of %u peers this is, is not known (say --index 0 to %u, or "
		               "run it as an Indexed Job)",
		               options->n, options->n - 1);
	options->index = (int)index;
	if (!options->coordinator)
		options->coordinator = derive_coordinator(index, err);
	return options->coordinator ? 0 : -1;
}

/* ---- begin ---- */

/*
 * Index 0 listens where the others look for it, if that is an address; a name may be one that is
 * only made when it is ready, so it listens on all of its addresses.
 */
static void listen_address(const char *coordinator, char out[ROSTER_TEXT_MAX])
{
	const char *port = strrchr(coordinator, ':');
	bool is_address = coordinator[0] == '[' || (port && strspn(coordinator, "0123456789.") ==
	                                                            (size_t)(port - coordinator));

	if (is_address || !port || !strncmp(coordinator, "localhost:", 10))
		snprintf(out, ROSTER_TEXT_MAX, "%s", coordinator);
	else
		snprintf(out, ROSTER_TEXT_MAX, "%s", port);
}

static int open_index_0(struct peers *p, struct err *err)
{
	char address[ROSTER_TEXT_MAX];
	struct coordinator_params params = {
	        .address = address,
	        .token = p->token,
	        .n = p->params.n,
	        .plan = p->plan,
	        .run_id = p->run_id,
	};

	snprintf(p->run_id, sizeof(p->run_id), "%s", p->params.run_id);
	listen_address(p->params.coordinator, address);
	p->roster = params.roster = roster_new(p->params.n, p->host);
	if (!p->roster)
		return err_set(err, ERR_TARGET, "out of memory");
	return coordinator_start(&p->coordinator, &params, err);
}

static int open_member(struct peers *p, struct err *err)
{
	struct member_params params = {
	        .coordinator = p->params.coordinator,
	        .token = p->token,
	        .n = p->params.n,
	        .index = p->params.index,
	        .host = p->host,
	        .plan = p->plan,
	        .stop = p->params.stop,
	};

	return member_new(&p->member, &params, err);
}

int peers_new(struct peers **out, const struct peers_params *params, struct err *err)
{
	struct peers *p = calloc(1, sizeof(*p));
	const char *uid = variable("PVCBENCH_JOB_UID");
	int ret;

	if (!p)
		return err_set(err, ERR_TARGET, "out of memory");
	p->params = *params;
	p->open = !uid;
	hmac_text(uid ? uid : "", TOKEN_MESSAGE, p->token);
	gethostname(p->host, sizeof(p->host) - 1);
	p->plan = describe_plan(params->plan);
	if (!p->plan)
		ret = err_set(err, ERR_TARGET, "out of memory");
	else
		ret = params->index ? open_member(p, err) : open_index_0(p, err);
	if (ret) {
		peers_free(p);
		return -1;
	}
	*out = p;
	return 0;
}

bool peers_are_open(const struct peers *p)
{
	return p->open;
}

int peers_join(struct peers *p, member_step *step, void *arg, struct err *err)
{
	uint64_t limit_ns = p->params.plan->tests[0].peers_timeout_ns;

	return p->member ? member_join(p->member, limit_ns, step, arg, p->run_id, err) : 0;
}

const char *peers_run_id(const struct peers *p)
{
	return p->run_id;
}

/* ---- gates ---- */

/* Index 0 at a gate; GATE_WAIT: interrupted. */
static void wait_at_home(struct peers *p, const struct arrival *arrival, member_step *step,
                         void *arg, struct gate_news *news)
{
	char told[ROSTER_TEXT_MAX] = "", what[ROSTER_TEXT_MAX + 16];
	int known = GATE_WAIT;

	roster_arrive(p->roster, 0, arrival);
	while (!atomic_load(p->params.stop)) {
		roster_wait(p->roster, 0, arrival->gate, known, LOOK_NS, news);
		if (news->state == GATE_TIMED && known == GATE_WAIT) {
			known = GATE_TIMED;
			roster_ready(p->roster, 0, arrival->gate, 0);
		} else if (news->state != known) {
			return;
		} else if (news->state == GATE_WAIT && strcmp(told, news->text) != 0) {
			memcpy(told, news->text, sizeof(told));
			snprintf(what, sizeof(what), "waiting for %s", told);
			step(arg, what);
		}
	}
	news->state = GATE_WAIT;
}

static void sleep_until(uint64_t at_ns)
{
	struct timespec at = {(time_t)(at_ns / NSEC_PER_SEC), (long)(at_ns % NSEC_PER_SEC)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
		;
}

static int explain(struct peers *p, const struct gate_news *news, struct err *err)
{
	p->lost |= news->state == GATE_LOST;
	return err_set(err, ERR_TEST, "%s", news->text);
}

int peers_meet(struct peers *p, unsigned test, enum peers_gate gate, struct peers_meeting *meeting,
               member_step *step, void *arg, struct err *err)
{
	struct arrival arrival = {
	        .gate = (uint64_t)test * PEERS_GATES + gate + 1,
	        .timed = gate == PEERS_START,
	        .skipped = p->skipped,
	        .note = meeting->note,
	        .limit_ns = p->params.plan->tests[test].peers_timeout_ns,
	};
	struct gate_news news = {0};

	if (p->member)
		member_arrive(p->member, &arrival, step, arg, &news);
	else
		wait_at_home(p, &arrival, step, arg, &news);
	p->skipped[0] = '\0';
	if (atomic_load(p->params.stop))
		return 0;
	if (news.state == GATE_FAILED || news.state == GATE_LOST)
		return explain(p, &news, err);
	memcpy(meeting->note, news.note, sizeof(meeting->note));
	meeting->within_ns = news.within_ns;
	if (news.state == GATE_GO)
		sleep_until(news.start_ns);
	return 0;
}

void peers_skip(struct peers *p, const char *why)
{
	snprintf(p->skipped, sizeof(p->skipped), "%s", why);
}

bool peers_are_lost(const struct peers *p)
{
	return p->lost;
}

/* ---- end ---- */

int peers_hand(struct peers *p, const char *lines, size_t bytes, struct err *err)
{
	if (p->member)
		return p->lost ? 0 : member_hand(p->member, lines, bytes, err);
	if (roster_hand(p->roster, 0, lines, bytes))
		return 0;
	return err_set(err, ERR_TEST, "there is no room for more results of peers");
}

/* A signal, also one that comes meanwhile, leaves little time. */
static void wait_for_ends(struct peers *p, uint64_t limit_ns)
{
	uint64_t start_ns = clock_now_ns(), stop_ns = 0, now_ns = start_ns;

	while (!roster_wait_ends(p->roster, LOOK_NS, false)) {
		now_ns = clock_now_ns();
		if (!stop_ns && atomic_load(p->params.stop))
			stop_ns = now_ns;
		if ((limit_ns && now_ns - start_ns >= limit_ns) ||
		    (stop_ns && now_ns - stop_ns >= STOPPED_NS))
			break;
	}
	roster_wait_ends(p->roster, 0, true);
}

void peers_leave(struct peers *p, const char *why, uint64_t limit_ns)
{
	if (p->member) {
		member_leave(p->member, why, p->skipped);
		return;
	}
	if (why[0])
		roster_end(p->roster, why);
	else
		roster_leave(p->roster, 0, why, p->skipped);
	wait_for_ends(p, limit_ns);
}

unsigned peers_present(const struct peers *p, char lost[ROSTER_TEXT_MAX])
{
	unsigned n_lost = roster_lost(p->roster, lost);

	if (!n_lost)
		lost[0] = '\0';
	return p->params.n - n_lost;
}

const char *peers_lines(const struct peers *p, unsigned index, size_t *bytes)
{
	return roster_lines(p->roster, index, bytes);
}

void peers_free(struct peers *p)
{
	if (!p)
		return;
	if (p->roster)
		roster_end(p->roster, "index 0 has ended");
	coordinator_stop(p->coordinator);
	roster_free(p->roster);
	member_free(p->member);
	free(p->plan);
	free(p);
}
