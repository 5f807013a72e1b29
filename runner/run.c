/*
 * A run, in order:
 *
 *	plan -> targets -> check of all tests -> each test: run, judge, print -> summary
 *
 * Up to the end of the checks nothing is touched. From then on whatever was
 * measured is printed and what was made is removed, whether a test fails or a
 * signal comes. SIGTERM, SIGINT, SIGHUP and SIGQUIT set a flag that the running test
 * looks at.
 */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>

#include "agenda.h"
#include "base/workers.h"
#include "io/mount.h"
#include "load/verify.h"
#include "out/json.h"
#include "out/progress.h"
#include "out/text.h"
#include "verdict.h"

#define ECHO_NS   (5 * NSEC_PER_SEC)
#define REMOVE_NS (20 * NSEC_PER_SEC)

struct run {
	const struct run_options *options;
	struct agenda agenda;
	struct result result;
	struct progress_view view;
	struct verify **verify; /* of each target, see kind.h; owned */
	FILE *out; /* for the whole result as JSON; NULL: none */
};

/* The number of the signal that ended the run; 0 until then. */
static atomic_int stop_signal;

/*
 * A signal that comes soon after the first is its echo (a terminal and a wrapper
 * both send one); one that comes later is impatience, and the files stay.
 */
static void on_signal(int signum)
{
	static _Atomic uint64_t first_ns;
	int none = 0;

	if (atomic_compare_exchange_strong(&stop_signal, &none, signum))
		atomic_store(&first_ns, clock_now_ns());
	else if (clock_now_ns() - atomic_load(&first_ns) > ECHO_NS)
		_exit(128 + signum);
}

static void watch_signals(void)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
	static const int ignored[] = {SIGPIPE, SIGXFSZ};

	for (unsigned i = 0; i < ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &(struct sigaction){.sa_handler = on_signal}, NULL);
	for (unsigned i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
}

/* ---- conditions ---- */

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

#define COPY(to, from) copy_text(to, sizeof(to), from)

static void describe(const struct run *run, const struct target *target, struct conditions *c)
{
	struct mount mount;

	mount_read(&mount, target->path);
	COPY(c->target, target->path);
	COPY(c->fs, target->is_block ? "block device" : mount.fs);
	COPY(c->mount_options, mount.options);
	COPY(c->mount_source, mount.source);
	COPY(c->device, mount.device);
	COPY(c->scheduler, mount.scheduler);
	c->block_bytes = mount.block_bytes;
	c->capacity_bytes = target->capacity_bytes;
	c->free_bytes = target->free_bytes;
	COPY(c->kernel, run->agenda.host.kernel);
	COPY(c->machine, run->agenda.host.machine);
	COPY(c->node, run->agenda.host.node);
	c->cpus = run->agenda.host.cpus;
	c->memory_bytes = run->agenda.host.memory_bytes;
}

static void stamp_run(struct result *result)
{
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];
	uint32_t salt = 0;

	gmtime_r(&now, &tm);
	strftime(result->started, sizeof(result->started), "%Y-%m-%dT%H:%M:%SZ", &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dt%H%M%Sz", &tm);
	if (getrandom(&salt, sizeof(salt), GRND_NONBLOCK) != sizeof(salt))
		salt = (uint32_t)getpid();
	snprintf(result->id, sizeof(result->id), "%s-%08x", stamp, salt);
}

static int begin_result(struct run *run, struct err *err)
{
	struct result *result = &run->result;

	stamp_run(result);
	COPY(result->version, PVCBENCH_VERSION);
	COPY(result->plan, run->agenda.plan.name);
	result->tests = calloc(run->agenda.plan.n_tests, sizeof(*result->tests));
	result->targets = calloc(run->agenda.n_targets, sizeof(*result->targets));
	run->verify = calloc(run->agenda.n_targets, sizeof(*run->verify));
	if (!result->tests || !result->targets || !run->verify)
		return err_set(err, ERR_TARGET, "out of memory for the result");
	for (unsigned i = 0; i < run->agenda.n_targets; i++)
		describe(run, &run->agenda.targets[i], &result->targets[i]);
	result->n_targets = run->agenda.n_targets;
	result->conditions = result->targets[0];
	return 0;
}

/* ---- one test ---- */

static void on_progress(void *view, const struct progress *progress)
{
	progress_tell(view, progress, clock_now_ns());
}

static int run_kind(struct run *run, const struct test *test, struct test_result *tr,
                    struct err *err)
{
	struct target *target = agenda_target(&run->agenda, test);
	struct kind_env env = {
	        .run_id = run->result.id,
	        .host = &run->agenda.host,
	        .target = target,
	        .verify = &run->verify[target - run->agenda.targets],
	        .stop = &stop_signal,
	        .progress = on_progress,
	        .progress_arg = &run->view,
	};

	return kind_find(test->kind)->run(test, &env, tr, err);
}

static void run_test(struct run *run, unsigned i)
{
	const struct test *test = &run->agenda.plan.tests[i];
	struct test_result *tr = &run->result.tests[i];
	struct err err;

	run->view.test = i + 1;
	run->view.plan_left_ns = agenda_duration_ns(&run->agenda, i + 1);
	test_result_init(tr, test);
	run->result.n_tests = i + 1;
	progress_begin(&run->view, test);
	if (run_kind(run, test, tr, &err)) {
		tr->status = STATUS_FAILED;
		tr->exit_class = err.class;
		COPY(tr->error, err.text);
	} else if (atomic_load(&stop_signal)) {
		tr->status = STATUS_INTERRUPTED;
	}
	run->result.interrupted = atomic_load(&stop_signal) != 0;
	verdict_judge(tr);
	verdict_expect(tr, test);
	for (unsigned c = 0; c < tr->n_concessions; c++)
		progress_note(&run->view, "concession: %s", tr->concessions[c]);
	progress_end(&run->view, tr);
	if (!run->view.terminal)
		json_write_line(stdout, &run->result, tr);
	fflush(stdout);
}

/* ---- the end ---- */

/* What a ledger tells of stays, for pvcbench verify. */
static int end_verify(struct run *run, unsigned i, struct err *err)
{
	struct target *target = &run->agenda.targets[i];
	const struct ledger *ledger = verify_ledger(run->verify[i]);

	if (ledger && !target->is_block)
		progress_note(&run->view, "kept for pvcbench verify %s: %s/%s", ledger_path(ledger),
		              target->path, target->run_dir);
	if (ledger)
		target_destroy(target);
	return verify_free(run->verify[i], err);
}

static int end_verifies(struct run *run)
{
	struct err err;
	int code = 0;

	for (unsigned i = 0; i < run->agenda.n_targets; i++)
		if (end_verify(run, i, &err)) {
			fprintf(stderr, "pvcbench: %s\n", err.text);
			code = (int)err.class;
		}
	return code;
}

static int remove_in_thread(void *arg, struct err *err)
{
	(void)arg;
	(void)err;
	return 0;
}

static void remove_files(void *arg, uint64_t start_ns)
{
	struct run *run = arg;
	struct err err;

	(void)start_ns;
	for (unsigned i = 0; i < run->agenda.n_targets; i++)
		if (target_leave(&run->agenda.targets[i], &err))
			fprintf(stderr, "pvcbench: %s\n", err.text);
}

/* In a thread of its own, since a volume that does not answer holds whoever asks it. */
static void clean_up(struct run *run)
{
	static const struct workers_body body = {remove_in_thread, remove_files};
	struct workers *workers;
	void *arg = run;
	struct err err;

	if (workers_start(&workers, &body, &arg, 1, &err)) {
		remove_files(run, 0);
		return;
	}
	if (!workers_wait(workers, REMOVE_NS)) {
		workers_join(workers);
		return;
	}
	for (unsigned i = 0; i < run->agenda.n_targets; i++)
		if (run->agenda.targets[i].run_dirfd >= 0)
			fprintf(stderr,
			        "pvcbench: the volume does not answer: '%s/%s' was not removed\n",
			        run->agenda.targets[i].path, run->agenda.targets[i].run_dir);
}

/* Opened before the first test: a path that cannot be written is no news for the end of a run. */
static int open_out(struct run *run, struct err *err)
{
	const char *path = run->options->out_path;

	if (!path)
		return 0;
	run->out = fopen(path, "we");
	if (!run->out)
		return err_sys(err, ERR_PLAN, errno, "cannot write the result to '%s'", path);
	return 0;
}

static int write_out(struct run *run, struct err *err)
{
	int failed;

	if (!run->out)
		return 0;
	json_write(run->out, &run->result);
	failed = ferror(run->out);
	failed |= fclose(run->out);
	run->out = NULL;
	if (failed)
		return err_sys(err, ERR_TEST, errno, "cannot write the result to '%s'",
		               run->options->out_path);
	return 0;
}

/* The kubelet makes this file; where it is missing nobody reads it. */
static FILE *open_termination_log(void)
{
	const char *path = getenv("PVCBENCH_TERMINATION_LOG");
	int fd;

	if (path && *path)
		return fopen(path, "we");
	fd = open("/dev/termination-log", O_WRONLY | O_TRUNC | O_CLOEXEC);
	return fd < 0 ? NULL : fdopen(fd, "w");
}

static void print_error(const struct err *err)
{
	CLEANUP(file) FILE *log = open_termination_log();

	fprintf(stderr, "pvcbench: %s\n", err->text);
	if (log)
		fprintf(log, "pvcbench: %s\n", err->text);
}

static void print_summary(const struct run *run)
{
	CLEANUP(file) FILE *log = open_termination_log();

	if (log)
		text_write_termination(log, &run->result);
	text_write(stdout, &run->result);
	fflush(stdout);
}

static int exit_code(const struct run *run)
{
	int signum = atomic_load(&stop_signal);

	return signum ? 128 + signum : result_exit_code(&run->result);
}

static int run_tests(struct run *run)
{
	struct err err;
	int code, ledger_code;

	for (unsigned i = 0; i < run->agenda.plan.n_tests && !atomic_load(&stop_signal); i++)
		run_test(run, i);
	run->result.interrupted = atomic_load(&stop_signal) != 0;
	ledger_code = end_verifies(run);
	print_summary(run);
	code = exit_code(run);
	code = code ? code : ledger_code;
	if (write_out(run, &err)) {
		fprintf(stderr, "pvcbench: %s\n", err.text);
		code = code ? code : (int)err.class;
	}
	clean_up(run);
	return code;
}

static int read_agenda(struct agenda *agenda, const struct run_options *options, struct err *err)
{
	return agenda_read(agenda, options->plan, options->overrides, options->n_overrides, err);
}

int run_plan(const struct run_options *options)
{
	struct run run = {.options = options};
	struct err err;
	int code;

	watch_signals();
	if (workers_make_threads_possible(&err) || read_agenda(&run.agenda, options, &err) ||
	    begin_result(&run, &err) || open_out(&run, &err)) {
		print_error(&err);
		code = (int)err.class;
	} else {
		run.view = (struct progress_view){
		        .out = stdout,
		        .terminal = isatty(STDOUT_FILENO),
		        .quiet = options->quiet,
		        .n_tests = run.agenda.plan.n_tests,
		};
		code = run_tests(&run);
	}
	agenda_destroy(&run.agenda);
	result_destroy(&run.result);
	free(run.verify);
	return code;
}

int run_check(const struct run_options *options)
{
	struct agenda agenda = {0};
	struct err err;
	int code = 0;

	if (read_agenda(&agenda, options, &err)) {
		fprintf(stderr, "pvcbench: %s\n", err.text);
		code = (int)err.class;
	} else {
		agenda_write(stdout, &agenda);
	}
	agenda_destroy(&agenda);
	return code;
}
