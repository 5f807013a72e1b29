/*
 * What earlier runs left goes in three steps: who is alive by its process or dead by its
 * silence; for those of whom neither is known a watch; then each is removed or named.
 */
#include "sweep.h"

#include <string.h>

#include "base/units.h"

#define LOOK_NS (500 * NSEC_PER_MSEC)
/* How long it is waited for what was removed to be free, and how often it is asked for. */
#define FREED_NS      (5 * NSEC_PER_SEC)
#define FREED_LOOK_NS (50 * NSEC_PER_MSEC)
#define PATH_SHOWN    100 /* of a target, so that a note holds all that it says */
#define PLACE_MAX     256
#define OWNER_MAX     96
#define NOTE_MAX      1024

struct sweep {
	struct result *result;
	sweep_step *step;
	void *step_arg;
	const atomic_int *stop;
	const char *run_id;
	struct target *target;
	struct leftovers *found;
	bool clean;
	uint64_t now_ns; /* by the clock that stamps claims, else by ours */
};

/* ---- words ---- */

/* "Job 'x'", "host 'y'": whose it is. */
static const char *describe_owner(const struct claim *claim, char *out, size_t size)
{
	const char *name = claim->job[0] ? claim->job : claim->host;

	snprintf(out, size, "%s '%.64s'", claim->job[0] ? "Job" : "host", name);
	return out;
}

static const char *describe_place(const struct target *target, const struct leftover *l, char *out,
                                  size_t size)
{
	char bytes[UNITS_TEXT_MAX];

	snprintf(out, size, "'%.*s/%s' (%s)", PATH_SHOWN, target->path, l->name,
	         units_format_size(l->bytes, bytes));
	return out;
}

static const char *describe_age(const struct leftover *l, uint64_t now_ns, char *out)
{
	return units_format_time(now_ns > l->beat_ns ? now_ns - l->beat_ns : 0, out);
}

/* One that stays, and what would remove it. */
static void describe_staying(const struct target *target, const struct leftover *l, uint64_t now_ns,
                             char *out, size_t size)
{
	char place[PLACE_MAX], owner[OWNER_MAX], age[UNITS_TEXT_MAX];

	describe_place(target, l, place, sizeof(place));
	describe_owner(&l->claim, owner, sizeof(owner));
	if (l->life == CLAIM_ALIVE)
		snprintf(out, size, "%s is of a run of %s that is under way on this volume too",
		         place, owner);
	else if (l->claim.kept_for[0])
		snprintf(out, size, "%s of %s is kept for pvcbench verify %.100s", place, owner,
		         l->claim.kept_for);
	else
		snprintf(out, size,
		         "%s of %s stays, last alive %s ago (clean: true removes what is dead)",
		         place, owner, describe_age(l, now_ns, age));
}

static void ask(struct sweep *s, const char *what)
{
	char text[NOTE_MAX + TARGET_PATH_MAX];

	snprintf(text, sizeof(text), "%s in '%s'", what, s->target->path);
	s->step(s->step_arg, text, true);
}

/* ---- which ---- */

static const struct leftover *find_going(const struct sweep *s, enum claim_life life)
{
	for (unsigned i = 0; i < s->found->n; i++)
		if (leftover_may_go(&s->found->list[i], s->clean) && s->found->list[i].life == life)
			return &s->found->list[i];
	return NULL;
}

static uint64_t wall_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* ---- the watch ---- */

/* Until nobody is left of whom it is not known, or the time is up: who was silent is dead. */
static void watch(struct sweep *s)
{
	uint64_t start_ns = clock_now_ns(), waited_ns = 0;
	const struct leftover *unknown = find_going(s, CLAIM_UNKNOWN);
	char text[NOTE_MAX], most[UNITS_TEXT_MAX];

	if (unknown) {
		snprintf(text, sizeof(text), "watching '%s' for a heartbeat, %s at most",
		         unknown->name, units_format_time(LEFTOVER_WATCH_NS, most));
		s->step(s->step_arg, text, false);
	}
	while (find_going(s, CLAIM_UNKNOWN) && waited_ns < LEFTOVER_WATCH_NS &&
	       !atomic_load(s->stop)) {
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
		leftovers_look_again(s->found, s->target);
		waited_ns = clock_now_ns() - start_ns;
	}
	for (unsigned i = 0; i < s->found->n && waited_ns >= LEFTOVER_WATCH_NS; i++)
		if (s->found->list[i].life == CLAIM_UNKNOWN)
			s->found->list[i].life = CLAIM_DEAD;
}

/* ---- a target ---- */

/* Bytes that went. */
static uint64_t remove_one(struct sweep *s, struct leftover *l)
{
	char text[NOTE_MAX], place[PLACE_MAX], owner[OWNER_MAX];
	struct err err;

	ask(s, "removal of what an earlier run left");
	if (leftover_remove(l, s->target, &err)) {
		result_note(s->result, err.text);
		return 0;
	}
	describe_place(s->target, l, place, sizeof(place));
	if (l->ours)
		snprintf(text, sizeof(text), "removed %s, which attempt %llu of this Job left",
		         place, (unsigned long long)l->claim.attempt);
	else
		snprintf(text, sizeof(text), "removed %s, which a run of %s left", place,
		         describe_owner(&l->claim, owner, sizeof(owner)));
	result_note(s->result, text);
	return l->bytes;
}

/* Whether who is dead can be told: that takes a claim of our own in the target. */
static bool look_closer(struct sweep *s)
{
	char text[NOTE_MAX];
	struct err err;

	ask(s, "mkdir");
	if (s->target->run_dirfd < 0 && target_enter(s->target, s->run_id, &err)) {
		snprintf(text, sizeof(text), "leftovers stay: %s", err.text);
		result_note(s->result, text);
		return false;
	}
	if (leftover_clock(s->target, &s->now_ns) == 0) {
		leftovers_age(s->found, s->now_ns);
		/* The clients of object stores may show for minutes what was. */
		if (!s->target->is_unbounded)
			watch(s);
	}
	return true;
}

static void note_unclaimed(struct sweep *s)
{
	char text[NOTE_MAX];

	if (s->found->unclaimed) {
		snprintf(text, sizeof(text),
		         "%u of the names '" RUNDIR_PREFIX "*' in '%.*s' bear no claim that can "
		         "be read: left alone",
		         s->found->unclaimed, PATH_SHOWN, s->target->path);
		result_note(s->result, text);
	}
	if (s->found->unlisted || s->found->partial) {
		snprintf(text, sizeof(text),
		         "'%.*s' holds more than is looked at for what earlier runs left",
		         PATH_SHOWN, s->target->path);
		result_note(s->result, text);
	}
}

/* A plan that may destroy anything makes the device one that says nothing any more. */
static void sweep_device(struct sweep *s, bool destroys)
{
	char text[NOTE_MAX];
	struct err err;

	if (!s->target->device_content[0] || !destroys)
		return;
	ask(s, "zeroing the ends");
	snprintf(text, sizeof(text), "'%.*s' held %s: its first and last MiB are zeroed",
	         PATH_SHOWN, s->target->path, s->target->device_content);
	if (target_zero_device_ends(s->target, &err))
		snprintf(text, sizeof(text), "%s", err.text);
	result_note(s->result, text);
}

/*
 * Measure the space anew. The kernel may hold the files of a process that was killed a little
 * longer, until the requests it had under way have come back: this takes until the bytes
 * that were removed are free, a few seconds at most.
 */
static void measure_space(struct sweep *s, uint64_t before_bytes, uint64_t removed_bytes)
{
	uint64_t end_ns = clock_now_ns() + FREED_NS;
	struct err err;

	do {
		nanosleep(&(struct timespec){.tv_nsec = removed_bytes ? FREED_LOOK_NS : 0}, NULL);
		if (target_measure(s->target, &err)) {
			result_note(s->result, err.text);
			return;
		}
	} while (s->target->free_bytes < before_bytes + removed_bytes / 10 * 9 &&
	         clock_now_ns() < end_ns && !atomic_load(s->stop));
}

static void sweep_target(struct sweep *s)
{
	char text[NOTE_MAX];
	bool asked = find_going(s, CLAIM_UNKNOWN) || find_going(s, CLAIM_DEAD);
	bool removing = asked && look_closer(s);
	uint64_t before_bytes = 0, removed_bytes = 0;
	struct err err;

	if (removing && !target_measure(s->target, &err))
		before_bytes = s->target->free_bytes;
	for (unsigned i = 0; i < s->found->n; i++) {
		struct leftover *l = &s->found->list[i];

		if (l->gone)
			continue;
		if (removing && leftover_may_go(l, s->clean) && l->life == CLAIM_DEAD) {
			removed_bytes += remove_one(s, l);
			continue;
		}
		describe_staying(s->target, l, s->now_ns, text, sizeof(text));
		result_note(s->result, text);
	}
	note_unclaimed(s);
	if (asked)
		measure_space(s, removed_bytes ? before_bytes : 0, removed_bytes);
}

/* ---- all of them ---- */

void sweep(struct agenda *agenda, struct result *result, sweep_step *step, void *step_arg,
           const atomic_int *stop)
{
	struct sweep s = {.result = result,
	                  .step = step,
	                  .step_arg = step_arg,
	                  .stop = stop,
	                  .run_id = result->id};

	result->attempt = agenda->attempt > 1 ? agenda->attempt : 0;
	for (unsigned i = 0; i < agenda->n_targets; i++) {
		s.target = &agenda->targets[i];
		s.found = &agenda->leftovers[i];
		s.clean = agenda_cleans(agenda, s.target);
		s.now_ns = wall_now_ns();
		if (s.target->is_block)
			sweep_device(&s, agenda_destroys_anything(agenda, s.target));
		else
			sweep_target(&s);
		result->targets[i].free_bytes = s.target->free_bytes;
	}
	if (agenda->n_targets)
		result->conditions.free_bytes = result->targets[0].free_bytes;
}

void sweep_write(FILE *out, const struct agenda *agenda)
{
	char text[NOTE_MAX], place[PLACE_MAX];

	for (unsigned t = 0; t < agenda->n_targets; t++) {
		const struct target *target = &agenda->targets[t];
		const struct leftovers *found = &agenda->leftovers[t];

		for (unsigned i = 0; i < found->n; i++) {
			const struct leftover *l = &found->list[i];

			if (leftover_may_go(l, agenda_cleans(agenda, target))) {
				describe_place(target, l, place, sizeof(place));
				snprintf(text, sizeof(text), "%s is removed first, if it is dead",
				         place);
			} else {
				describe_staying(target, l, wall_now_ns(), text, sizeof(text));
			}
			fprintf(out, "leftover: %s\n", text);
		}
	}
}
