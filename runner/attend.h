/*
 * Whatever asks a volume may wait for as long as the volume likes. So it runs in a
 * thread of its own, and the main thread attends to it: it alone prints, obeys
 * signals and, where the volume does not answer, goes on without that thread.
 */
#ifndef PVCBENCH_ATTEND_H
#define PVCBENCH_ATTEND_H

#include <stdatomic.h>

#include "out/progress.h"

/*
 * How long after a signal work may still take to bring home what it has measured: when it has
 * told nothing for so long, and in all.
 */
#define ATTEND_STOPPED_NS      (1500 * NSEC_PER_MSEC)
#define ATTEND_STOPPED_MOST_NS (10 * NSEC_PER_SEC)

struct attended;

struct attend_params {
	void (*work)(void *arg, struct attended *self);
	void *arg;                  /* must outlive the work */
	struct progress_view *view; /* where its progress is told */
	const atomic_int *stop;     /* a signal's number once one came; NULL: none is obeyed */
	uint64_t limit_ns;          /* of one wait for the volume; 0: none */
};

enum attend_end {
	ATTEND_DONE,    /* the work has returned */
	ATTEND_STOPPED, /* a signal came, and it did not return soon */
	ATTEND_SILENT,  /* one wait took longer than the limit */
};

/* Start the work. *out is freed by attend_free. */
int attend_start(struct attended **out, const struct attend_params *params, struct err *err);

/* Tell what the work does until it has returned or is given up: then its thread is left. */
enum attend_end attend(struct attended *a);

/* Whether work that was given up has returned since. */
bool attend_returned(struct attended *a);

/* Only after it has returned. NULL is legal. */
void attend_free(struct attended *a);

/* Interrupt a thread that was given up, which may end the call that it waits in. */
void attend_kick(struct attended *a);

/* What it waits for, in words: "mkdir". Whole even while the work goes on. */
#define ATTEND_STEP_MAX 128
void attend_waits_for(struct attended *a, char out[ATTEND_STEP_MAX]);

/*
 * From within the work. A step is what it does next, which is told where it takes long:
 * a call on the volume, or work of our own, which no limit binds. News end the step.
 */
void attended_step(struct attended *self, const char *what, bool of_volume);
void attended_progress(struct attended *self, const struct progress *news);

/*
 * A line for the log, cut where it is longer. Lines are kept in order until they are told; of
 * more than ATTEND_LINES_MAX the last place says that there were more.
 */
#define ATTEND_LINES_MAX 64
#define ATTEND_LINE_MAX  256
void attended_say(struct attended *self, const char *line);

#endif
