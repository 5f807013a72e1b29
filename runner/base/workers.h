/*
 * Threads that start together. Each runs set-up on its own, then all pass one
 * barrier, then each runs its body. The caller sees when all are ready, can
 * interrupt system calls, and can give up on threads that the kernel holds.
 */
#ifndef PVCBENCH_WORKERS_H
#define PVCBENCH_WORKERS_H

#include "base/err.h"

#define WORKERS_MAX 256u

struct workers;

struct workers_body {
	/*
	 * Runs in the thread before the barrier. A failure stops all before the start. NULL, of a
	 * single thread: there is nothing to wait for, and it runs while its starter goes on.
	 */
	int (*prepare)(void *arg, struct err *err);
	/* Runs after the barrier; start_ns is the same for all (0 without a barrier). */
	void (*run)(void *arg, uint64_t start_ns);
	size_t stack_bytes; /* of each thread; 0: 256 KiB */
	/*
	 * Called once by the starting thread when all are prepared: they start when it returns, or
	 * not at all where it fails. NULL: at once. Only with prepare.
	 */
	int (*gate)(void *arg, struct err *err);
	void *gate_arg;
};

/*
 * Call once, before the first thread: where a seccomp profile answers clone3
 * with EPERM (Docker before 20.10), glibc's pthread_create fails instead of
 * falling back to clone, so a filter of our own answers ENOSYS. Needs no
 * privilege. It is harmless where clone3 works: then nothing is done.
 */
int workers_make_threads_possible(struct err *err);

/*
 * Call main_function where its stack suffices: under a low limit on stacks (RLIMIT_STACK), which
 * binds the first thread and those that libraries start, in a thread with a stack of our own.
 * *code is what it returned; -1: there is no such thread, and nothing was called.
 */
int workers_call_main(int (*main_function)(int argc, char **argv), int argc, char **argv, int *code,
                      struct err *err);

/*
 * Start n threads (1 to WORKERS_MAX) with one arg each, wait until all are
 * prepared, release them. On failure of one no body runs and all are joined.
 * *out is freed by workers_join or abandoned.
 */
int workers_start(struct workers **out, const struct workers_body *body, void *const *args,
                  unsigned n, struct err *err);

/* Interrupt blocking system calls of those that still run (signal SIGUSR1, no restart). */
void workers_kick(struct workers *w);

/* Wait until all bodies have returned or the time is up; how many still run. */
unsigned workers_wait(struct workers *w, uint64_t timeout_ns);

/* Join all and free. Only after workers_wait returned 0. */
void workers_join(struct workers *w);

#endif
