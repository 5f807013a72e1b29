/*
 * The loop. A turn is: gather what may be sent now, stamp and submit it in one
 * call, wait for at least one completion, stamp and record what came.
 *
 *	free places --gather--> batch --submit--> in flight --reap--> record
 *	      ^                   ^                                      |
 *	      |                   +------- short, EAGAIN ----------------+
 *	      +--------------------------- complete ---------------------+
 *
 * Nothing is allocated and nothing shared is written in it, but for the job's
 * ticket and cursor, which threads of one job take from.
 *
 * An open loop numbers its requests: number n is due at start + n * period, is
 * sent then or as soon as a place is free, and is measured from when it was due.
 * The loop sleeps until shortly before that and spins the rest; how late it is
 * although a place was free is recorded as its own fault.
 */
#include "load/worker.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

/* Sleeping wakes some 60 us late; the last stretch is spun. */
#define SPIN_NS (100 * NSEC_PER_USEC)
/* How often an idle thread looks whether the load was ended. */
#define LOOK_NS (100 * NSEC_PER_MSEC)
/*
 * Completions taken in one go, as bytes of their blocks. They are all replaced before the
 * next are taken, so that as good as iodepth requests stay outstanding even where
 * sending them, with their data, takes longer than the volume does.
 */
#define REAP_BYTES     (512 * KIB)
#define RETRY_PAUSE_NS (100 * NSEC_PER_USEC)

struct request {
	struct io io;        /* first: an engine's io is our request */
	unsigned char *base; /* its buffer */
	uint64_t offset;
	uint32_t bytes, moved; /* asked; done by earlier, short transfers */
	uint64_t start_ns;     /* 0: not yet stamped */
	bool in_flight;
	struct verify_request verify;
};

struct worker_state {
	void *engine;
	struct request *requests;
	struct request **free;
	struct io **batch; /* prepared and not yet taken by the engine */
	struct io **done;
	unsigned n_free, n_batch, n_in_flight;
	unsigned reap_most;
	struct buffers buffers;
	struct random random;
	bool numbered;  /* requests carry tickets */
	bool exhausted; /* no ticket is left */
	bool has_ticket;
	uint64_t due_ns;        /* of that ticket; 0 in a closed loop */
	uint64_t not_before_ns; /* thinking until then */
	uint64_t free_since_ns; /* since when a place has been free without a break */
	uint64_t writes_since_sync;
	bool sync_due;
	bool syncing_at_end;                 /* nothing but the last sync is left */
	uint64_t ios, bytes, latency_sum_ns; /* for the live counters */
};

uint64_t worker_due_ns(const struct load_params *params, uint64_t n)
{
	return (uint64_t)((uint128)n * params->period_num_ns / params->period_den);
}

/* ---- set-up and end ---- */

static int allocate(struct worker *w, struct worker_state *s)
{
	const struct pattern_params *pattern = &w->params->jobs[w->job->index].pattern;
	const struct buffers_params buffers = {
	        .depth = w->depth,
	        .block_bytes = pattern->block_bytes,
	        .reads = pattern->read_percent > 0,
	        .writes = pattern->read_percent < 100,
	        .zero = w->params->data == LOAD_DATA_ZERO,
	        .seed = w->params->seed,
	        .stream = 2 * w->thread + 1,
	        .threads = w->params->depth / w->depth,
	};

	s->requests = calloc(w->depth, sizeof(*s->requests));
	s->free = calloc(w->depth, sizeof(*s->free));
	s->batch = calloc(w->depth, sizeof(*s->batch));
	s->done = calloc(w->depth, sizeof(*s->done));
	if (buffers_init(&s->buffers, &buffers) || !s->requests || !s->free || !s->batch ||
	    !s->done)
		return -1;
	for (unsigned i = 0; i < w->depth; i++)
		s->free[s->n_free++] = &s->requests[i];
	return 0;
}

int worker_prepare(void *worker, struct err *err)
{
	struct worker *w = worker;
	const struct load_params *params = w->params;
	struct worker_state *s = w->state = calloc(1, sizeof(*s));

	w->stats = stats_new();
	if (!s || !w->stats || allocate(w, s))
		return err_set(err, ERR_TARGET,
		               "cannot allocate buffers for %u requests of %u bytes: out of memory "
		               "(lower iodepth, numjobs or bs, or raise the memory limit)",
		               w->depth, params->jobs[w->job->index].pattern.block_bytes);
	random_seed(&s->random, params->seed, 2 * w->thread);
	s->reap_most =
	        (unsigned)max_u64(REAP_BYTES / params->jobs[w->job->index].pattern.block_bytes, 1);
	s->numbered = params->requests || params->period_num_ns;
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	return params->engine->open(&s->engine,
	                            &(struct engine_params){
	                                    .fd = w->job->fd,
	                                    .depth = w->depth,
	                                    .arena = s->buffers.arena,
	                                    .arena_size = s->buffers.arena_size,
	                            },
	                            err);
}

void worker_release(struct worker *w)
{
	struct worker_state *s = w->state;

	stats_free(w->stats);
	if (!s)
		return;
	if (s->engine)
		w->params->engine->close(s->engine);
	buffers_destroy(&s->buffers);
	free(s->requests);
	free(s->free);
	free(s->batch);
	free(s->done);
	free(s);
}

unsigned worker_unfinished(const struct worker *w, uint64_t now_ns, uint64_t *age_ns)
{
	const struct worker_state *s = w->state;
	unsigned n = 0;

	*age_ns = 0;
	for (unsigned i = 0; i < w->depth; i++) {
		const struct request *r = &s->requests[i];

		if (!r->in_flight)
			continue;
		n++;
		*age_ns = max_u64(*age_ns, now_ns > r->start_ns ? now_ns - r->start_ns : 0);
	}
	return n;
}

static void lower(_Atomic uint64_t *limit, uint64_t to)
{
	uint64_t known = atomic_load(limit);

	while (to < known && !atomic_compare_exchange_weak(limit, &known, to))
		;
}

void worker_clock_end(struct worker_clock *clock, uint64_t end_ns, uint64_t drain_ns)
{
	lower(&clock->end_ns, end_ns);
	worker_clock_give_up(clock, end_ns + drain_ns);
}

void worker_clock_give_up(struct worker_clock *clock, uint64_t at_ns)
{
	lower(&clock->give_up_ns, at_ns);
}

/* No space and no permission to write are the volume's state; all else is a failed test. */
static enum err_class class_of(int errnum)
{
	static const int target[] = {ENOSPC, EDQUOT, EFBIG, EROFS};

	for (unsigned i = 0; i < ARRAY_SIZE(target); i++)
		if (target[i] == errnum)
			return ERR_TARGET;
	return ERR_TEST;
}

/*
 * The first error is the load's; all are counted. errnum is the request's, or the engine's
 * when r is NULL.
 */
static void fail(struct worker *w, int errnum, const struct request *r, uint64_t now)
{
	static const char *const what[] = {"read", "write", "fsync", "fdatasync"};

	stats_error(w->stats, errnum);
	if (w->failed)
		return;
	w->failed = true;
	worker_clock_end(w->clock, now, LOAD_DRAIN_STOPPED_NS);
	if (!r)
		err_sys(&w->err, ERR_TEST, errnum, "%s cannot take requests",
		        w->params->engine->name);
	else if (r->io.res < 0)
		err_sys(&w->err, class_of(errnum), errnum, "%s of %u bytes at offset %llu failed",
		        what[r->io.op], r->io.len, (unsigned long long)r->io.offset);
	else
		err_set(&w->err, ERR_TEST,
		        "%s of %u bytes at offset %llu moved only %d (does the file end there? was "
		        "it cut?)",
		        what[r->io.op], r->io.len, (unsigned long long)r->io.offset, r->io.res);
}

/* ---- verify ---- */

static struct verify_data data_of(const struct worker *w, const struct request *r)
{
	return (struct verify_data){w->params->jobs[w->job->index].file, r->offset, r->bytes,
	                            r->base};
}

static void verify_before(const struct worker *w, struct request *r)
{
	const struct verify_data data = data_of(w, r);

	verify_sent(w->params->verify, r->io.op, &data, &r->verify);
}

/* After the stamp: its time is not the request's. */
static void verify_after(const struct worker *w, struct request *r, bool ok)
{
	const struct verify_data data = data_of(w, r);

	verify_done(w->params->verify, r->io.op, &data, &r->verify, ok);
}

static bool is_of_interest(const struct worker *w, const struct pattern_place *place)
{
	return !w->params->read_back ||
	       verify_wrote(w->params->verify, w->params->jobs[w->job->index].file, place->offset,
	                    place->bytes);
}

/* ---- gather ---- */

static bool take_ticket(struct worker *w, struct worker_state *s)
{
	uint64_t ticket;

	if (s->exhausted)
		return false;
	ticket = atomic_fetch_add_explicit(&w->job->tickets, 1, memory_order_relaxed);
	if (w->params->requests && ticket >= w->params->requests) {
		s->exhausted = true;
		return false;
	}
	s->has_ticket = true;
	if (w->params->period_num_ns)
		s->due_ns = w->start_ns + worker_due_ns(w->params, ticket);
	return true;
}

static bool may_send(struct worker *w, struct worker_state *s, uint64_t now)
{
	if (s->sync_due)
		return false;
	if (w->params->thinktime_ns && (s->n_in_flight || s->n_batch || now < s->not_before_ns))
		return false;
	if (!s->numbered)
		return true;
	return (s->has_ticket || take_ticket(w, s)) && now >= s->due_ns;
}

static void count_write(struct worker *w, struct worker_state *s)
{
	if (w->params->sync_every && ++s->writes_since_sync == w->params->sync_every)
		s->sync_due = true;
}

static void prepare(struct worker *w, struct worker_state *s)
{
	struct pattern_place place = pattern_next(&w->job->pattern, &s->random);
	struct request *r;

	s->has_ticket = false;
	if (!is_of_interest(w, &place))
		return;
	r = s->free[--s->n_free];
	r->base = place.read ? buffers_read(&s->buffers, (unsigned)(r - s->requests))
	                     : buffers_take(&s->buffers);
	r->offset = place.offset;
	r->bytes = place.bytes;
	r->moved = 0;
	r->start_ns = s->due_ns;
	r->io = (struct io){
	        .op = place.read ? IO_READ : IO_WRITE,
	        .len = place.bytes,
	        .offset = place.offset,
	        .buf = r->base,
	};
	if (!place.read)
		count_write(w, s);
	if (w->params->verify)
		verify_before(w, r);
	s->batch[s->n_batch++] = &r->io;
}

static void prepare_sync(const struct worker *w, struct worker_state *s, enum io_op op)
{
	struct request *r = s->free[--s->n_free];

	r->io = (struct io){.op = op};
	r->bytes = r->moved = 0;
	r->start_ns = 0;
	if (w->params->verify)
		verify_before(w, r);
	s->batch[s->n_batch++] = &r->io;
}

static void gather(struct worker *w, struct worker_state *s, uint64_t now)
{
	while (s->n_free && may_send(w, s, now))
		prepare(w, s);
	/* A sync covers the writes before it, so these complete first. */
	if (s->sync_due && !s->n_in_flight && !s->n_batch)
		prepare_sync(w, s, w->params->sync_op);
}

/* ---- submit ---- */

static void stamp_late(struct worker *w, const struct worker_state *s, uint64_t due, uint64_t now)
{
	uint64_t could = max_u64(due, s->free_since_ns);
	uint64_t late = now > could ? now - could : 0;

	w->stats->late_count++;
	w->stats->late_sum_ns += late;
	w->stats->late_max_ns = max_u64(w->stats->late_max_ns, late);
}

static void stamp(struct worker *w, struct worker_state *s, uint64_t now)
{
	for (unsigned i = 0; i < s->n_batch; i++) {
		struct request *r = (struct request *)s->batch[i];

		if (r->in_flight) /* a continued one keeps its start */
			continue;
		r->in_flight = true;
		if (!r->start_ns)
			r->start_ns = now;
		else
			stamp_late(w, s, r->start_ns, now);
		w->sent++;
	}
}

static void submit(struct worker *w, struct worker_state *s)
{
	uint64_t now = clock_now_ns();
	int taken;

	stamp(w, s, now);
	/* A blocking engine is inside submit for the whole request, so that is told before. */
	s->n_in_flight += s->n_batch;
	taken = w->params->engine->submit(s->engine, s->batch, s->n_batch);
	if (taken < 0) {
		if (taken == -EAGAIN || taken == -EINTR)
			w->stats->retries++;
		else
			fail(w, -taken, NULL, now);
		taken = 0;
	}
	s->n_batch -= (unsigned)taken;
	s->n_in_flight -= s->n_batch;
	memmove(s->batch, s->batch + taken, s->n_batch * sizeof(struct io *));
}

/* ---- complete ---- */

static void record(struct worker *w, struct worker_state *s, struct request *r, uint64_t now)
{
	static const enum stats_op op[] = {
	        [IO_READ] = STATS_READ,
	        [IO_WRITE] = STATS_WRITE,
	        [IO_FSYNC] = STATS_SYNC,
	        [IO_FDATASYNC] = STATS_SYNC,
	};
	uint64_t latency = now - r->start_ns;

	assert(now >= r->start_ns);
	if (r->io.op == IO_READ || r->io.op == IO_WRITE) { /* syncs move nothing */
		s->ios++;
		s->bytes += r->bytes;
		s->latency_sum_ns += latency;
	}
	if (now < w->window_ns)
		return;
	if (now >= atomic_load_explicit(&w->clock->end_ns, memory_order_relaxed)) {
		if (!s->syncing_at_end) {
			w->stats->drained++;
			w->stats->drained_max_ns = max_u64(w->stats->drained_max_ns, latency);
		}
		return;
	}
	w->last_ns = now;
	stats_record(w->stats, op[r->io.op], r->bytes, latency, now - w->window_ns);
}

static void give_back(struct worker_state *s, struct request *r)
{
	if (r->io.op == IO_WRITE)
		buffers_give(&s->buffers, r->base);
	r->in_flight = false;
	s->free[s->n_free++] = r;
}

/* Send the rest of a request (all of it when nothing was moved). */
static void resend(struct worker_state *s, struct request *r)
{
	r->io.buf = r->base + r->moved;
	r->io.offset = r->offset + r->moved;
	r->io.len = r->bytes - r->moved;
	s->batch[s->n_batch++] = &r->io;
}

/* Whether the rest of a short transfer can be sent: it moved at least one aligned piece. */
static bool continue_short(struct worker *w, struct request *r)
{
	uint32_t moved = (r->moved + (uint32_t)r->io.res) / w->params->align * w->params->align;

	if (moved == r->moved)
		return false;
	r->moved = moved;
	w->stats->short_transfers++;
	return true;
}

static void complete(struct worker *w, struct worker_state *s, struct request *r, uint64_t now)
{
	int res = r->io.res;

	s->n_in_flight--;
	if (res == -EAGAIN || res == -EINTR) {
		w->stats->retries++;
		resend(s, r);
		return;
	}
	if (res >= 0 && (uint32_t)res < r->io.len && continue_short(w, r)) {
		resend(s, r);
		return;
	}
	if (res < 0 || (uint32_t)res < r->io.len)
		fail(w, res < 0 ? -res : ENODATA, r, now);
	else
		record(w, s, r, now);
	if (w->params->verify)
		verify_after(w, r, res >= 0 && (uint32_t)res >= r->io.len);
	if (r->io.op == IO_FSYNC || r->io.op == IO_FDATASYNC) {
		s->sync_due = false;
		s->writes_since_sync = 0;
	}
	give_back(s, r);
	s->not_before_ns = now + w->params->thinktime_ns;
}

static void publish(struct worker *w, const struct worker_state *s, uint64_t now)
{
	atomic_store_explicit(&w->live.ios, s->ios, memory_order_relaxed);
	atomic_store_explicit(&w->live.bytes, s->bytes, memory_order_relaxed);
	atomic_store_explicit(&w->live.latency_sum_ns, s->latency_sum_ns, memory_order_relaxed);
	atomic_store_explicit(&w->live.last_ns, now, memory_order_relaxed);
}

/* False when the engine is broken: nothing in flight will come back. */
static bool reap(struct worker *w, struct worker_state *s, unsigned min, uint64_t timeout_ns)
{
	int n = w->params->engine->reap(s->engine, s->done, min,
	                                (unsigned)min_u64(s->n_in_flight, s->reap_most),
	                                timeout_ns);
	uint64_t now = clock_now_ns();

	if (n < 0) {
		fail(w, -n, NULL, now);
		return false;
	}
	if (!n)
		return true;
	if (!s->n_free)
		s->free_since_ns = now;
	for (int i = 0; i < n; i++)
		complete(w, s, (struct request *)s->done[i], now);
	publish(w, s, now);
	return true;
}

/* ---- wait ---- */

/* When the next request may go; 0: at once, UINT64_MAX: not before a completion. */
static uint64_t next_send_ns(const struct worker *w, const struct worker_state *s)
{
	if (!s->n_free || s->sync_due || s->exhausted)
		return UINT64_MAX;
	if (w->params->thinktime_ns)
		return s->n_in_flight ? UINT64_MAX : s->not_before_ns;
	if (s->has_ticket)
		return s->due_ns;
	/* Data lacked; or the engine refused a part of the batch, and a completion helps. */
	return 0;
}

static void rest(uint64_t now, uint64_t until)
{
	if (until > now + SPIN_NS) {
		uint64_t wake = min_u64(until - SPIN_NS, now + LOOK_NS);
		struct timespec ts = {.tv_sec = (time_t)(wake / NSEC_PER_SEC),
		                      .tv_nsec = (long)(wake % NSEC_PER_SEC)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	}
}

/* Until a completion, or shortly before the next request is due. */
static void await(struct worker *w, struct worker_state *s, uint64_t now)
{
	uint64_t next = next_send_ns(w, s);

	if (!s->n_in_flight) {
		if (s->exhausted && !s->n_batch)
			return;
		/* What the engine did not take is offered again after a pause. */
		rest(now, s->n_batch ? now + SPIN_NS + RETRY_PAUSE_NS : next);
		return;
	}
	/* The wait is the time to make data; a blocking engine has waited already. */
	if (w->params->engine->max_depth > 1 && buffers_renew(&s->buffers))
		reap(w, s, 0, 0);
	else if (next == UINT64_MAX)
		reap(w, s, 1, UINT64_MAX);
	else if (next > now + SPIN_NS)
		reap(w, s, 1, next - SPIN_NS - now);
	else
		reap(w, s, 0, 0);
}

static bool running(const struct worker *w, const struct worker_state *s, uint64_t now)
{
	if (now >= atomic_load_explicit(&w->clock->end_ns, memory_order_relaxed))
		return false;
	return !s->exhausted || s->n_in_flight || s->n_batch;
}

/* What was gathered and never sent goes back. */
static void drop_unsent(const struct worker *w, struct worker_state *s)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < s->n_batch; i++) {
		struct request *r = (struct request *)s->batch[i];

		if (r->in_flight) {
			s->batch[kept++] = s->batch[i];
			continue;
		}
		if (w->params->verify)
			verify_after(w, r, false);
		give_back(s, r);
	}
	s->n_batch = kept;
}

/* Nothing new is sent; what was, and the rest of what came back short, is waited for. */
static void drain(struct worker *w, struct worker_state *s)
{
	while (s->n_in_flight || s->n_batch) {
		uint64_t now = clock_now_ns();

		if (now >= atomic_load(&w->clock->give_up_ns))
			return;
		if (s->n_batch)
			submit(w, s);
		if (!s->n_in_flight)
			rest(now, now + SPIN_NS + RETRY_PAUSE_NS);
		else if (!reap(w, s, 1, LOOK_NS))
			return;
	}
}

/* The last thread of a job to end syncs what all of them wrote. */
static void sync_at_end(struct worker *w, struct worker_state *s)
{
	bool last = atomic_fetch_sub(&w->job->threads_left, 1) == 1;

	if (!last || !w->params->end_sync || w->failed || s->n_in_flight || s->n_batch)
		return;
	s->syncing_at_end = true;
	prepare_sync(w, s, IO_FSYNC);
	submit(w, s);
	drain(w, s);
}

/*
 * A thread that ends takes its io_uring apart, and waits in the kernel for requests
 * that do not come back. It stays, is counted as held, and goes with the process.
 */
static _Noreturn void stay(void)
{
	for (;;)
		pause();
}

void worker_run(void *worker, uint64_t start_ns)
{
	struct worker *w = worker;
	struct worker_state *s = w->state;
	uint64_t now;

	w->start_ns = start_ns;
	w->window_ns = start_ns + w->params->ramp_ns;
	if (w->params->runtime_ns)
		worker_clock_end(w->clock, w->window_ns + w->params->runtime_ns,
		                 LOAD_DRAIN_MOST_NS);
	while (now = clock_now_ns(), running(w, s, now)) {
		gather(w, s, now);
		if (s->n_batch)
			submit(w, s);
		await(w, s, now);
	}
	drop_unsent(w, s);
	drain(w, s);
	sync_at_end(w, s);
	if (s->n_in_flight)
		stay();
	w->params->engine->close(s->engine);
	s->engine = NULL;
}
