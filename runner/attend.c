/*
 * The work leaves its news in a slot, the main thread looks at it several times a
 * second. Where there are none, the time that passes is added up look by look, so
 * that a process that was suspended does not hold its sleep against the volume.
 */
#include "attend.h"

#include <pthread.h>
#include <string.h>

#include "base/workers.h"

#define LOOK_NS (50 * NSEC_PER_MSEC)
/* So much counts of the time between two looks. */
#define LOOK_MOST_NS (500 * NSEC_PER_MSEC)
/* curl and OpenSSL want more than a thread that moves blocks. */
#define STACK_BYTES (1 * MIB)

struct attended {
	struct attend_params params;
	struct workers *workers;

	pthread_mutex_t lock; /* of the news */
	struct progress progress;
	uint64_t progress_ns; /* when that was; 0: it is told */
	char step[ATTEND_STEP_MAX];
	bool of_volume;
	unsigned n_news;
	char lines[ATTEND_LINES_MAX][ATTEND_LINE_MAX];
	unsigned n_lines;

	/* of the main thread */
	unsigned n_seen;
	uint64_t silent_ns, stopped_ns;
};

static void run(void *arg, uint64_t start_ns)
{
	struct attended *a = arg;

	(void)start_ns;
	a->params.work(a->params.arg, a);
}

int attend_start(struct attended **out, const struct attend_params *params, struct err *err)
{
	static const struct workers_body body = {.run = run, .stack_bytes = STACK_BYTES};
	struct attended *a = calloc(1, sizeof(*a));
	void *arg = a;

	if (!a)
		return err_set(err, ERR_TARGET, "out of memory");
	a->params = *params;
	a->of_volume = true;
	pthread_mutex_init(&a->lock, NULL);
	if (workers_start(&a->workers, &body, &arg, 1, err)) {
		pthread_mutex_destroy(&a->lock);
		free(a);
		return -1;
	}
	*out = a;
	return 0;
}

void attended_step(struct attended *self, const char *what, bool of_volume)
{
	pthread_mutex_lock(&self->lock);
	snprintf(self->step, sizeof(self->step), "%s", what);
	self->of_volume = of_volume;
	self->progress_ns = 0;
	self->n_news++;
	pthread_mutex_unlock(&self->lock);
}

void attended_progress(struct attended *self, const struct progress *news)
{
	pthread_mutex_lock(&self->lock);
	self->progress = *news;
	self->progress_ns = clock_now_ns();
	self->step[0] = '\0';
	self->of_volume = true;
	self->n_news++;
	pthread_mutex_unlock(&self->lock);
}

void attended_say(struct attended *self, const char *line)
{
	pthread_mutex_lock(&self->lock);
	if (self->n_lines == ATTEND_LINES_MAX)
		line = "(and more than the log kept up with)";
	else
		self->n_lines++;
	snprintf(self->lines[self->n_lines - 1], ATTEND_LINE_MAX, "%s", line);
	self->n_news++;
	pthread_mutex_unlock(&self->lock);
}

void attend_waits_for(struct attended *a, char out[ATTEND_STEP_MAX])
{
	pthread_mutex_lock(&a->lock);
	snprintf(out, ATTEND_STEP_MAX, "%s", a->step);
	pthread_mutex_unlock(&a->lock);
}

/* The lines that it said. Writing may take its time, so not under the lock. */
static void tell_lines(struct attended *a)
{
	char lines[ATTEND_LINES_MAX][ATTEND_LINE_MAX];
	unsigned n;

	pthread_mutex_lock(&a->lock);
	n = a->n_lines;
	memcpy(lines, a->lines, n * sizeof(lines[0]));
	a->n_lines = 0;
	pthread_mutex_unlock(&a->lock);
	for (unsigned i = 0; i < n; i++)
		progress_say(a->params.view, lines[i]);
}

/* Tell what is new, or that nothing is. Whether it waits for the volume. */
static bool look(struct attended *a, uint64_t now_ns, uint64_t passed_ns)
{
	struct progress progress = {0};
	char step[ATTEND_STEP_MAX];
	uint64_t progress_ns;
	bool of_volume, news;

	tell_lines(a);
	pthread_mutex_lock(&a->lock);
	progress_ns = a->progress_ns;
	if (progress_ns)
		progress = a->progress;
	a->progress_ns = 0;
	snprintf(step, sizeof(step), "%s", a->step);
	of_volume = a->of_volume;
	news = a->n_news != a->n_seen;
	a->n_seen = a->n_news;
	pthread_mutex_unlock(&a->lock);

	a->silent_ns = news ? 0 : a->silent_ns + passed_ns;
	if (progress_ns)
		progress_tell(a->params.view, &progress, progress_ns);
	else
		progress_wait(a->params.view, step, of_volume, a->silent_ns, now_ns);
	return of_volume;
}

enum attend_end attend(struct attended *a)
{
	const struct attend_params *params = &a->params;
	uint64_t last_ns = clock_now_ns();

	while (workers_wait(a->workers, LOOK_NS)) {
		uint64_t now_ns = clock_now_ns();
		uint64_t passed_ns = min_u64(now_ns - last_ns, LOOK_MOST_NS);
		bool of_volume = look(a, now_ns, passed_ns);

		last_ns = now_ns;
		if (params->stop && atomic_load(params->stop))
			a->stopped_ns += passed_ns;
		if (a->stopped_ns >= ATTEND_STOPPED_MOST_NS ||
		    (a->stopped_ns >= ATTEND_STOPPED_NS && a->silent_ns >= ATTEND_STOPPED_NS))
			return ATTEND_STOPPED;
		if (params->limit_ns && of_volume && a->silent_ns >= params->limit_ns)
			return ATTEND_SILENT;
	}
	tell_lines(a);
	return ATTEND_DONE;
}

bool attend_returned(struct attended *a)
{
	return !workers_wait(a->workers, 0);
}

void attend_kick(struct attended *a)
{
	workers_kick(a->workers);
}

void attend_free(struct attended *a)
{
	if (!a)
		return;
	workers_join(a->workers);
	pthread_mutex_destroy(&a->lock);
	free(a);
}
