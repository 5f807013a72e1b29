/* links: base/err.c base/workers.c */
/*
 * Starting together, failing together, interrupting, giving up.
 */
#include "base/workers.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

struct job {
	int prepare_result;
	unsigned delay_us; /* of set-up */
	int pipe_fd;       /* to read from; -1: none */
	uint64_t start_ns;
	ssize_t read_result;
	int read_errno;
	bool blocks_sigterm;
};

static atomic_uint n_prepared, n_run;

static int prepare(void *arg, struct err *err)
{
	struct job *job = arg;

	usleep(job->delay_us);
	n_prepared++;
	return job->prepare_result < 0 ? err_set(err, ERR_TARGET, "job failed") : 0;
}

static void run(void *arg, uint64_t start_ns)
{
	struct job *job = arg;
	sigset_t mask;
	char byte;

	n_run++;
	job->start_ns = start_ns;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	job->blocks_sigterm = sigismember(&mask, SIGTERM) && !sigismember(&mask, SIGUSR1);
	if (job->pipe_fd >= 0) {
		job->read_result = read(job->pipe_fd, &byte, 1);
		job->read_errno = errno;
	}
}

static const struct workers_body body = {.prepare = prepare, .run = run};

static struct job jobs[WORKERS_MAX];
static void *args[WORKERS_MAX];

static int reset(void **state)
{
	(void)state;
	n_prepared = n_run = 0;
	for (unsigned i = 0; i < WORKERS_MAX; i++) {
		jobs[i] = (struct job){.pipe_fd = -1};
		args[i] = &jobs[i];
	}
	return 0;
}

static void start_and_join(unsigned n)
{
	struct workers *w;
	struct err err;
	uint64_t before_ns = clock_now_ns();

	assert_int_equal(workers_start(&w, &body, args, n, &err), 0);
	assert_int_equal(n_prepared, n);
	assert_int_equal(workers_wait(w, UINT64_MAX), 0);
	workers_join(w);
	assert_int_equal(n_run, n);
	for (unsigned i = 0; i < n; i++) {
		assert_in_range(jobs[i].start_ns, before_ns, clock_now_ns());
		assert_int_equal(jobs[i].start_ns, jobs[0].start_ns);
		assert_true(jobs[i].blocks_sigterm);
	}
}

static void test_one(void **state)
{
	(void)state;
	start_and_join(1);
}

static void test_many(void **state)
{
	(void)state;
	jobs[7].delay_us = 20000; /* the others wait for it */
	start_and_join(WORKERS_MAX);
}

static void test_failed_set_up(void **state)
{
	struct workers *w = NULL;
	struct err err = {0};

	(void)state;
	jobs[3].prepare_result = -1;
	jobs[5].delay_us = 20000;
	assert_int_equal(workers_start(&w, &body, args, 8, &err), -1);
	assert_null(w);
	assert_int_equal(n_prepared, 8);
	assert_int_equal(n_run, 0);
	assert_int_equal(err.class, ERR_TARGET);
	assert_string_equal(err.text, "job failed");
}

static void test_wait_and_kick(void **state)
{
	struct workers *w;
	struct err err;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	jobs[0].pipe_fd = jobs[1].pipe_fd = fds[0];
	assert_int_equal(workers_start(&w, &body, args, 3, &err), 0);

	uint64_t start_ns = clock_now_ns();

	assert_int_equal(workers_wait(w, 30 * NSEC_PER_MSEC), 2);
	assert_true(clock_now_ns() - start_ns >= 30 * NSEC_PER_MSEC);
	assert_int_equal(workers_wait(w, 0), 2);
	workers_kick(w);
	assert_int_equal(workers_wait(w, 5 * NSEC_PER_SEC), 0);
	workers_kick(w); /* harmless when none is left */
	workers_join(w);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(jobs[i].read_result, -1);
		assert_int_equal(jobs[i].read_errno, EINTR);
	}
	close(fds[0]);
	close(fds[1]);
}

/* Answer clone3 with EPERM, as Docker before 20.10 does. */
static void forbid_clone3(void)
{
	struct sock_filter code[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = ARRAY_SIZE(code), .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		_exit(77);
}

/* In a child: 0 when a thread could be started. */
static int start_in_child(bool with_help)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct workers *w;
		struct err err;

		forbid_clone3();
		if (with_help && workers_make_threads_possible(&err) < 0)
			_exit(2);
		if (workers_start(&w, &body, args, 2, &err) < 0)
			_exit(strstr(err.text, "cannot start thread 1 of 2") ? 1 : 3);
		workers_wait(w, UINT64_MAX);
		workers_join(w);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_clone3_forbidden(void **state)
{
	int ret = start_in_child(true);

	(void)state;
	if (ret == 77) {
		print_message("no seccomp filter can be installed here\n");
		skip();
	}
	assert_int_equal(ret, 0);

	/* Without help: shows that the filter bites, where libc uses clone3 at all. */
	ret = start_in_child(false);
	assert_true(ret == 1 || ret == 0);
}

static void test_nothing_to_help(void **state)
{
	struct err err;
	int before = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);

	(void)state;
	assert_int_equal(workers_make_threads_possible(&err), 0);
	assert_int_equal(prctl(PR_GET_SECCOMP, 0, 0, 0, 0), before);
}

struct gate {
	int result;
	unsigned prepared, run; /* when it was asked */
	uint64_t passed_ns;
};

static int pass(void *arg, struct err *err)
{
	struct gate *gate = arg;

	gate->prepared = n_prepared;
	gate->run = n_run;
	usleep(1000);
	gate->passed_ns = clock_now_ns();
	return gate->result ? err_set(err, ERR_TEST, "the gate is shut") : 0;
}

static void test_gate(void **state)
{
	struct gate gate = {0};
	struct workers_body gated = {
	        .prepare = prepare, .run = run, .gate = pass, .gate_arg = &gate};
	void *two[] = {&jobs[0], &jobs[1]};
	struct workers *w;
	struct err err;

	(void)state;
	assert_int_equal(workers_start(&w, &gated, two, 2, &err), 0);
	while (workers_wait(w, NSEC_PER_SEC))
		;
	workers_join(w);
	assert_int_equal(gate.prepared, 2);
	assert_int_equal(gate.run, 0);
	assert_int_equal(n_run, 2);
	assert_true(jobs[0].start_ns >= gate.passed_ns);
	gate.result = -1;
	assert_int_equal(workers_start(&w, &gated, two, 2, &err), -1);
	assert_string_equal(err.text, "the gate is shut");
	assert_int_equal(n_run, 2);
}

static void test_without_set_up(void **state)
{
	static const struct workers_body plain = {.run = run};
	struct workers *w;
	struct err err;

	(void)state;
	jobs[0].start_ns = 1;
	assert_int_equal(workers_start(&w, &plain, args, 1, &err), 0);
	while (workers_wait(w, NSEC_PER_SEC))
		;
	workers_join(w);
	assert_int_equal(n_prepared, 0);
	assert_int_equal(n_run, 1);
	assert_int_equal(jobs[0].start_ns, 0);
	assert_true(jobs[0].blocks_sigterm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(test_one, reset),
	        cmocka_unit_test_setup(test_many, reset),
	        cmocka_unit_test_setup(test_failed_set_up, reset),
	        cmocka_unit_test_setup(test_wait_and_kick, reset),
	        cmocka_unit_test_setup(test_gate, reset),
	        cmocka_unit_test_setup(test_without_set_up, reset),
	        cmocka_unit_test_setup(test_clone3_forbidden, reset),
	        cmocka_unit_test_setup(test_nothing_to_help, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
