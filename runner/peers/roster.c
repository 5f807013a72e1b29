/*
 * One lock, one condition. Whoever waits is woken when all are there or one is lost, lest each of
 * many that come wake all the others; and it looks now and then, since time alone changes a state.
 * The first peer that is lost ends the run for all: a load of fewer is another load.
 */
#include "peers/roster.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "base/units.h"

#define SESSION_MAX 64
#define LOOK_NS     (100 * NSEC_PER_MSEC)
/* Between the decision and the start: what the answers need to reach all. */
#define LEAD_NS          (20 * NSEC_PER_MSEC)
#define LEAD_EACH_NS     (500 * NSEC_PER_USEC)
#define LEAD_ROUND_TRIPS 2

enum peer_state { PEER_ABSENT, PEER_HERE, PEER_ENDED, PEER_LOST };

struct seat {
	int state; /* enum peer_state */
	char host[ROSTER_HOST_MAX], session[SESSION_MAX];
	uint64_t connection;
	uint64_t gone_ns;          /* since when it has none; 0: it has */
	uint64_t gate, ready_gate; /* the last that it came to, was ready for */
	uint64_t round_trip_ns;
	char skipped[ROSTER_TEXT_MAX], refused[ROSTER_TEXT_MAX];
	char *lines;
	size_t bytes;
};

struct roster {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned n;
	uint64_t limit_ns, since_ns; /* of index 0's wait at the gate it is at */
	char note[ROSTER_NOTE_MAX];
	bool timed;                                 /* that gate */
	uint64_t started_gate, start_ns, within_ns; /* the last that went on at a time */
	uint64_t open_gate, failed_gate; /* the last that was opened, and that could not be */
	char failed[ROSTER_TEXT_MAX], lost[ROSTER_TEXT_MAX];
	unsigned n_lost;
	size_t bytes;
	struct seat peers[];
};

struct roster *roster_new(unsigned n, const char *host)
{
	struct roster *r = calloc(1, sizeof(*r) + n * sizeof(r->peers[0]));
	pthread_condattr_t attr;

	if (!r)
		return NULL;
	r->n = n;
	r->peers[0].state = PEER_HERE;
	snprintf(r->peers[0].host, ROSTER_HOST_MAX, "%s", host);
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->changed, &attr);
	pthread_condattr_destroy(&attr);
	return r;
}

void roster_free(struct roster *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->n; i++)
		free(r->peers[i].lines);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void lock(struct roster *r)
{
	pthread_mutex_lock(&r->lock);
}

static void unlock(struct roster *r)
{
	pthread_mutex_unlock(&r->lock);
}

static void unlock_changed(struct roster *r)
{
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

/* Until something changes, or the time comes. */
static void sleep_until(struct roster *r, uint64_t at_ns)
{
	uint64_t look_ns = min_u64(at_ns, clock_now_ns() + LOOK_NS);
	struct timespec until = {(time_t)(look_ns / NSEC_PER_SEC), (long)(look_ns % NSEC_PER_SEC)};

	pthread_cond_timedwait(&r->changed, &r->lock, &until);
}

PRINTF_LIKE(2, 3) static void add(char text[ROSTER_TEXT_MAX], const char *fmt, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + used, ROSTER_TEXT_MAX - used, fmt, args);
	va_end(args);
}

/* "3 (pvcbench-3)" */
static void add_peer(char text[ROSTER_TEXT_MAX], const struct roster *r, unsigned i)
{
	add(text, "%u", i);
	if (r->peers[i].host[0])
		add(text, " (%.64s)", r->peers[i].host);
}

/* ---- coming ---- */

bool roster_join(struct roster *r, unsigned index, const char *host, const char *session,
                 uint64_t connection, char text[ROSTER_TEXT_MAX])
{
	struct seat *peer = &r->peers[index];
	bool same, may;

	lock(r);
	same = !strcmp(peer->session, session);
	may = peer->state == PEER_ABSENT || (peer->state == PEER_HERE && same);
	text[0] = '\0';
	if (!may) {
		add(text, "index %u is taken: ", index);
		add_peer(text, r, index);
		add(text, " has it");
	} else {
		peer->state = PEER_HERE;
		peer->connection = connection;
		peer->gone_ns = 0;
		snprintf(peer->host, sizeof(peer->host), "%s", host);
		snprintf(peer->session, sizeof(peer->session), "%s", session);
	}
	unlock(r);
	return may;
}

void roster_refuse(struct roster *r, unsigned index, const char *why)
{
	lock(r);
	if (r->peers[index].state == PEER_ABSENT)
		snprintf(r->peers[index].refused, ROSTER_TEXT_MAX, "%s", why);
	unlock(r);
}

bool roster_knows(struct roster *r, unsigned index, const char *session, uint64_t connection)
{
	struct seat *peer = &r->peers[index];
	bool known;

	lock(r);
	known = index && peer->session[0] && !strcmp(peer->session, session);
	if (known) {
		peer->connection = connection;
		peer->gone_ns = 0;
	}
	unlock(r);
	return known;
}

void roster_close(struct roster *r, uint64_t connection)
{
	lock(r);
	for (unsigned i = 1; i < r->n; i++)
		if (r->peers[i].state == PEER_HERE && r->peers[i].connection == connection)
			r->peers[i].gone_ns = clock_now_ns();
	unlock_changed(r);
}

/* ---- gates ---- */

static void set_text(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text ? text : "");
}

/* Whether all have come to this gate, or passed it by. */
static bool all_at(const struct roster *r, uint64_t gate)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->peers[i].gate < gate)
			return false;
	return true;
}

static bool all_ready(const struct roster *r, uint64_t gate)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->peers[i].ready_gate < gate)
			return false;
	return true;
}

void roster_arrive(struct roster *r, unsigned index, const struct arrival *arrival)
{
	struct seat *peer = &r->peers[index];
	bool wake = false;

	lock(r);
	if (peer->gate < arrival->gate) {
		peer->gate = arrival->gate;
		set_text(peer->skipped, sizeof(peer->skipped), arrival->skipped);
		if (!index) {
			r->timed = arrival->timed;
			r->limit_ns = arrival->limit_ns;
			r->since_ns = clock_now_ns();
			/* The gate before may still owe its note to a slow peer. */
			if (arrival->note && arrival->note[0])
				set_text(r->note, sizeof(r->note), arrival->note);
		}
		wake = all_at(r, arrival->gate);
	}
	if (wake)
		pthread_cond_broadcast(&r->changed);
	unlock(r);
}

void roster_ready(struct roster *r, unsigned index, uint64_t gate, uint64_t round_trip_ns)
{
	lock(r);
	r->peers[index].ready_gate = gate;
	r->peers[index].round_trip_ns = round_trip_ns;
	if (all_ready(r, gate))
		pthread_cond_broadcast(&r->changed);
	unlock(r);
}

static void lose(struct roster *r, unsigned i, const char *why)
{
	r->peers[i].state = PEER_LOST;
	r->n_lost++;
	add(r->lost, "%speer ", r->lost[0] ? "; " : "");
	add_peer(r->lost, r, i);
	add(r->lost, " %s", why);
}

/* Whether index 0 has waited long enough at this gate. */
static bool is_overdue(const struct roster *r, uint64_t gate, uint64_t now_ns)
{
	return r->peers[0].gate == gate && r->limit_ns && now_ns - r->since_ns >= r->limit_ns;
}

/* Whether it is this one that the others wait for. */
static bool holds_up(const struct roster *r, const struct seat *peer, uint64_t gate)
{
	return all_at(r, gate) ? r->timed && peer->ready_gate < gate : peer->gate < gate;
}

static void lose_overdue(struct roster *r, unsigned i)
{
	const struct seat *peer = &r->peers[i];
	char why[ROSTER_TEXT_MAX], limit[UNITS_TEXT_MAX];

	units_format_time(r->limit_ns, limit);
	if (peer->refused[0])
		snprintf(why, sizeof(why), "was refused: %.180s", peer->refused);
	else
		snprintf(why, sizeof(why), "did not come within %s (peers_timeout)", limit);
	lose(r, i, why);
}

static void lose_ended(struct roster *r, unsigned i)
{
	char why[ROSTER_TEXT_MAX];

	snprintf(why, sizeof(why), "has ended: %.200s", r->peers[i].skipped);
	lose(r, i, why);
}

/* Who is gone, has ended, or does not come. */
static void find_lost(struct roster *r, uint64_t gate, uint64_t now_ns)
{
	bool overdue = is_overdue(r, gate, now_ns);

	for (unsigned i = 1; i < r->n; i++) {
		struct seat *peer = &r->peers[i];

		if (peer->state == PEER_LOST)
			continue;
		if (peer->state == PEER_ENDED && peer->gate < gate) {
			lose_ended(r, i);
		} else if (peer->state == PEER_HERE && peer->gone_ns &&
		           now_ns - peer->gone_ns >= ROSTER_GONE_NS) {
			lose(r, i, "is gone: its connection has ended");
		} else if (overdue && holds_up(r, peer, gate)) {
			lose_overdue(r, i);
		}
	}
}

/* The peers that a gate waits for, in words; "" where all are there. */
static void name_missing(const struct roster *r, uint64_t gate, char text[ROSTER_TEXT_MAX])
{
	unsigned missing = 0, named = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < r->n; i++)
		missing += r->peers[i].gate < gate;
	if (!missing)
		return;
	add(text, "%u of %u peers:", missing, r->n);
	for (unsigned i = 0; i < r->n && named < 3; i++) {
		const struct seat *peer = &r->peers[i];

		if (peer->gate >= gate)
			continue;
		add(text, "%s ", named++ ? "," : "");
		add_peer(text, r, i);
		if (peer->state == PEER_ABSENT)
			add(text, peer->refused[0] ? " (refused)" : " (never came)");
	}
	if (missing > named)
		add(text, " ...");
}

/* Whoever is beyond a gate that has not opened passed it by. The first that is seen is the cause.
 */
static bool is_failed(struct roster *r, uint64_t gate)
{
	for (unsigned i = 0; i < r->n && r->failed_gate < gate; i++) {
		if (r->peers[i].gate <= gate)
			continue;
		r->failed_gate = gate;
		r->failed[0] = '\0';
		add(r->failed, "peer ");
		add_peer(r->failed, r, i);
		add(r->failed, " did not start this test: %s", r->peers[i].skipped);
	}
	return r->failed_gate == gate;
}

/* Each knows the clock to half of its round trip, so two are as far apart as two halves. */
static void set_start(struct roster *r, uint64_t gate, uint64_t now_ns)
{
	uint64_t longest = 0, second = 0;

	for (unsigned i = 0; i < r->n; i++) {
		uint64_t trip = r->peers[i].round_trip_ns;

		second = max_u64(second, min_u64(longest, trip));
		longest = max_u64(longest, trip);
	}
	r->open_gate = r->started_gate = gate;
	r->start_ns = now_ns + LEAD_NS + r->n * LEAD_EACH_NS + LEAD_ROUND_TRIPS * longest;
	r->within_ns = (longest + second + 1) / 2;
}

/* All are at this gate, which is a timed one, and know the clock or are to measure it. */
static void look_at_clocks(struct roster *r, unsigned index, uint64_t gate, struct gate_news *news)
{
	news->state = GATE_TIMED;
	if (r->peers[index].ready_gate < gate || !all_ready(r, gate))
		return;
	set_start(r, gate, clock_now_ns());
	pthread_cond_broadcast(&r->changed);
}

static void tell_open(const struct roster *r, uint64_t gate, struct gate_news *news)
{
	news->state = r->started_gate == gate ? GATE_GO : GATE_OPEN;
	news->start_ns = r->start_ns;
	news->within_ns = r->within_ns;
	memcpy(news->note, r->note, sizeof(news->note));
}

static void look_at(struct roster *r, unsigned index, uint64_t gate, struct gate_news *news)
{
	*news = (struct gate_news){.state = GATE_WAIT};
	if (r->open_gate < gate && !r->n_lost)
		find_lost(r, gate, clock_now_ns());
	if (r->open_gate < gate && r->lost[0]) {
		news->state = GATE_LOST;
		memcpy(news->text, r->lost, sizeof(news->text));
		return;
	}
	if (r->open_gate < gate) {
		name_missing(r, gate, news->text);
		if (news->text[0])
			return;
		if (is_failed(r, gate)) {
			news->state = GATE_FAILED;
			memcpy(news->text, r->failed, sizeof(news->text));
			return;
		}
		if (r->timed)
			look_at_clocks(r, index, gate, news);
		else
			r->open_gate = gate;
	}
	if (r->open_gate >= gate)
		tell_open(r, gate, news);
}

void roster_wait(struct roster *r, unsigned index, uint64_t gate, int known, uint64_t most_ns,
                 struct gate_news *news)
{
	uint64_t until_ns = clock_now_ns() + most_ns;

	lock(r);
	for (;;) {
		look_at(r, index, gate, news);
		if (news->state != known || clock_now_ns() >= until_ns)
			break;
		sleep_until(r, until_ns);
	}
	unlock(r);
}

/* ---- going ---- */

bool roster_hand(struct roster *r, unsigned index, const char *lines, size_t bytes)
{
	struct seat *peer = &r->peers[index];
	char *all = NULL;

	lock(r);
	if (bytes <= ROSTER_LINES_MAX - r->bytes)
		all = realloc(peer->lines, peer->bytes + bytes + 1);
	if (all) {
		memcpy(all + peer->bytes, lines, bytes);
		peer->lines = all;
		peer->bytes += bytes;
		peer->lines[peer->bytes] = '\0';
		r->bytes += bytes;
	}
	unlock(r);
	return all != NULL;
}

void roster_leave(struct roster *r, unsigned index, const char *why, const char *skipped)
{
	struct seat *peer = &r->peers[index];

	lock(r);
	if (peer->state == PEER_HERE) {
		peer->state = PEER_ENDED;
		if (!why[0])
			peer->gate = UINT64_MAX;
		set_text(peer->skipped, sizeof(peer->skipped), why[0] ? why : skipped);
		/* also where no gate comes any more at which it is missed */
		if (why[0] && !r->lost[0])
			lose_ended(r, index);
	}
	unlock_changed(r);
}

/* At the end, who has ended is not lost; who is gone without a word is. */
static bool have_ended(struct roster *r, bool is_over)
{
	bool all = true;

	for (unsigned i = 1; i < r->n; i++) {
		struct seat *peer = &r->peers[i];

		if (peer->state != PEER_HERE && peer->state != PEER_ABSENT)
			continue;
		if (peer->gone_ns && clock_now_ns() - peer->gone_ns >= ROSTER_GONE_NS)
			lose(r, i, "is gone: its connection has ended");
		else if (is_over)
			lose(r, i, "did not end with the others");
		else
			all = false;
	}
	return all;
}

bool roster_wait_ends(struct roster *r, uint64_t most_ns, bool last)
{
	uint64_t until_ns = clock_now_ns() + most_ns;
	bool ended;

	lock(r);
	for (;;) {
		ended = have_ended(r, last && clock_now_ns() >= until_ns);
		if (ended || clock_now_ns() >= until_ns)
			break;
		sleep_until(r, until_ns);
	}
	unlock(r);
	return ended;
}

void roster_end(struct roster *r, const char *why)
{
	lock(r);
	if (!r->lost[0])
		set_text(r->lost, sizeof(r->lost), why);
	unlock_changed(r);
}

const char *roster_lines(struct roster *r, unsigned index, size_t *bytes)
{
	const char *lines;

	lock(r);
	lines = r->peers[index].lines;
	*bytes = r->peers[index].bytes;
	unlock(r);
	return lines ? lines : "";
}

unsigned roster_lost(struct roster *r, char text[ROSTER_TEXT_MAX])
{
	unsigned n;

	lock(r);
	n = r->n_lost;
	memcpy(text, r->lost, ROSTER_TEXT_MAX);
	unlock(r);
	return n;
}
