/*
 * One lock, one condition variable, one phase that all threads wait for:
 *
 *	PREPARING --(all prepared)--> RUNNING
 *	          --(one failed)----> ABORTED
 *
 * The starter counts those that are through their set-up, takes the one start
 * time and turns the phase. Nothing here is touched while bodies run; the lock
 * is taken again when one ends.
 *
 * Worker threads block every signal but SIGUSR1, so that SIGTERM and SIGINT
 * reach the thread that handles them.
 */
#include "base/workers.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define STACK_BYTES (256 * KIB)
/* Of the first thread: what it takes with its libraries (name resolution), and then some. */
#define MAIN_STACK_BYTES (1 * MIB)

#if defined(__x86_64__)
#define AUDIT_ARCH_OURS AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define AUDIT_ARCH_OURS AUDIT_ARCH_AARCH64
#endif

enum phase { PREPARING, RUNNING, ABORTED };

struct worker {
	struct workers *all;
	void *arg;
	pthread_t thread;
	bool finished;
};

struct workers {
	struct workers_body body;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum phase phase;
	uint64_t start_ns;
	unsigned n;        /* threads that exist */
	unsigned prepared; /* through their set-up, well or badly */
	unsigned running;  /* not yet returned */
	bool failed;
	struct err first_err; /* of set-up */
	struct worker worker[];
};

/* Whether the answer to a malformed clone3 shows that a profile forbids it. */
static bool clone3_is_forbidden(void)
{
#ifdef SYS_clone3
	return syscall(SYS_clone3, NULL, 0) < 0 && (errno == EPERM || errno == EACCES);
#else
	return false;
#endif
}

#if defined(SYS_clone3) && defined(AUDIT_ARCH_OURS)
static int answer_enosys_to_clone3(struct err *err)
{
	struct sock_filter code[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_OURS, 0, 3),
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = ARRAY_SIZE(code), .filter = code};

	/* Of two filters that both answer an errno, the later one's is given. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return err_sys(err, ERR_TEST, errno,
		               "cannot start threads: the seccomp profile refuses clone3, "
		               "and a filter against that");
	return 0;
}
#else
static int answer_enosys_to_clone3(struct err *err)
{
	return err_set(err, ERR_TEST, "cannot start threads: the seccomp profile refuses clone3");
}
#endif

int workers_make_threads_possible(struct err *err)
{
	return clone3_is_forbidden() ? answer_enosys_to_clone3(err) : 0;
}

struct main_call {
	int (*function)(int, char **);
	int argc;
	char **argv;
	int code;
};

static void *call_main(void *arg)
{
	struct main_call *call = arg;

	call->code = call->function(call->argc, call->argv);
	return NULL;
}

int workers_call_main(int (*main_function)(int, char **), int argc, char **argv, int *code,
                      struct err *err)
{
	struct main_call call = {.function = main_function, .argc = argc, .argv = argv};
	struct rlimit limit;
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all;
	int ret;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= MAIN_STACK_BYTES) {
		*code = main_function(argc, argv);
		return 0;
	}
	if (workers_make_threads_possible(err))
		return -1;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, MAIN_STACK_BYTES);
	pthread_setattr_default_np(&attr);
	ret = pthread_create(&thread, &attr, call_main, &call);
	pthread_attr_destroy(&attr);
	if (ret)
		return err_sys(err, ERR_TARGET, ret,
		               "cannot start a thread with a stack of 1MiB (the limit on stacks, "
		               "RLIMIT_STACK, is only %llu bytes)",
		               (unsigned long long)limit.rlim_cur);
	/* Signals interrupt the one that works. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_join(thread, NULL);
	*code = call.code;
	return 0;
}

/* Report set-up as done, then wait for the start. Whether to run the body. */
static bool pass_barrier(struct workers *w, bool prepared, const struct err *err)
{
	pthread_mutex_lock(&w->lock);
	if (!prepared && !w->failed) {
		w->failed = true;
		w->first_err = *err;
	}
	w->prepared++;
	pthread_cond_broadcast(&w->changed);
	while (w->phase == PREPARING)
		pthread_cond_wait(&w->changed, &w->lock);

	bool run = w->phase == RUNNING;
	pthread_mutex_unlock(&w->lock);
	return run;
}

/* Whether to run the body. */
static bool prepare(struct worker *me)
{
	struct err err;
	bool prepared = me->all->body.prepare(me->arg, &err) == 0;

	return pass_barrier(me->all, prepared, &err);
}

static void *worker_main(void *arg)
{
	struct worker *me = arg;
	struct workers *w = me->all;

	if (!w->body.prepare || prepare(me))
		w->body.run(me->arg, w->start_ns);

	pthread_mutex_lock(&w->lock);
	me->finished = true;
	w->running--;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void ignore_signal(int signal_number)
{
	(void)signal_number;
}

static void install_kick_handler(void)
{
	struct sigaction action = {.sa_handler = ignore_signal};

	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
}

static struct workers *workers_new(const struct workers_body *body, unsigned n)
{
	struct workers *w = calloc(1, sizeof(*w) + n * sizeof(w->worker[0]));
	pthread_condattr_t attr;

	if (!w)
		return NULL;
	w->body = *body;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &attr);
	pthread_condattr_destroy(&attr);
	return w;
}

/* Create up to n threads; the errno that stopped it, or 0. */
static int create_threads(struct workers *w, void *const *args, unsigned n)
{
	pthread_attr_t attr;
	sigset_t all_but_kick, old;
	int ret = 0;

	sigfillset(&all_but_kick);
	sigdelset(&all_but_kick, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &all_but_kick, &old);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, w->body.stack_bytes ? w->body.stack_bytes : STACK_BYTES);
	pthread_mutex_lock(&w->lock);
	while (w->n < n) {
		struct worker *worker = &w->worker[w->n];

		*worker = (struct worker){.all = w, .arg = args[w->n]};
		ret = pthread_create(&worker->thread, &attr, worker_main, worker);
		if (ret)
			break;
		w->n++;
		w->running++;
	}
	pthread_mutex_unlock(&w->lock);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

/* All are prepared: whether they may go. */
static bool pass_gate(struct workers *w)
{
	if (!w->body.gate || !w->body.gate(w->body.gate_arg, &w->first_err))
		return true;
	w->failed = true;
	return false;
}

/* Wait for every set-up, then start or abort all. Whether they run. */
static bool release(struct workers *w, bool complete)
{
	if (!w->body.prepare)
		return complete;
	pthread_mutex_lock(&w->lock);
	while (w->prepared < w->n)
		pthread_cond_wait(&w->changed, &w->lock);
	/* whoever is prepared waits, and nobody else knows of this lock */
	bool run = complete && !w->failed && pass_gate(w);

	w->start_ns = clock_now_ns();
	w->phase = run ? RUNNING : ABORTED;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return run;
}

int workers_start(struct workers **out, const struct workers_body *body, void *const *args,
                  unsigned n, struct err *err)
{
	assert(n >= 1 && n <= WORKERS_MAX && (body->prepare || (n == 1 && !body->gate)));

	struct workers *w = workers_new(body, n);

	if (!w)
		return err_set(err, ERR_TEST, "no memory for %u threads", n);
	install_kick_handler();

	int create_errno = create_threads(w, args, n);

	if (release(w, create_errno == 0)) {
		*out = w;
		return 0;
	}
	if (w->failed)
		*err = w->first_err;
	else
		err_sys(err, ERR_TEST, create_errno,
		        "cannot start thread %u of %u (likely cause: a limit on processes or "
		        "memory)",
		        w->n + 1, n);
	workers_join(w);
	return -1;
}

void workers_kick(struct workers *w)
{
	pthread_mutex_lock(&w->lock);
	for (unsigned i = 0; i < w->n; i++) {
		if (!w->worker[i].finished)
			pthread_kill(w->worker[i].thread, SIGUSR1);
	}
	pthread_mutex_unlock(&w->lock);
}

static struct timespec deadline_after(uint64_t timeout_ns)
{
	uint64_t now_ns = clock_now_ns();
	/* 100 years: what the kernel's time can hold, and longer than anyone waits. */
	uint64_t most_ns = 100ull * 365 * 24 * 3600 * NSEC_PER_SEC;
	uint64_t at_ns = now_ns + min_u64(timeout_ns, most_ns);

	return (struct timespec){.tv_sec = (time_t)(at_ns / NSEC_PER_SEC),
	                         .tv_nsec = (long)(at_ns % NSEC_PER_SEC)};
}

unsigned workers_wait(struct workers *w, uint64_t timeout_ns)
{
	struct timespec deadline = deadline_after(timeout_ns);

	pthread_mutex_lock(&w->lock);
	while (w->running > 0 &&
	       pthread_cond_timedwait(&w->changed, &w->lock, &deadline) != ETIMEDOUT)
		;

	unsigned running = w->running;
	pthread_mutex_unlock(&w->lock);
	return running;
}

void workers_join(struct workers *w)
{
	for (unsigned i = 0; i < w->n; i++)
		pthread_join(w->worker[i].thread, NULL);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
