/*
 * A run, in order:
 *
 *	plan -> targets -> check of all tests -> each test: run, judge, print -> summary
 *
 * Up to the end of the checks nothing is touched. From then on whatever was
 * measured is printed and what was made is removed, whether a test fails or a
 * signal comes. SIGTERM, SIGINT, SIGHUP and SIGQUIT set a flag that the running test
 * looks at.
 *
 * Whatever touches a volume is done by a thread that this one attends to. A thread that
 * a volume does not give back keeps its target: later tests of it fail, and nothing that it
 * may use is freed.
 */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>

#include "agenda.h"
#include "attend.h"
#include "base/units.h"
#include "base/workers.h"
#include "body.h"
#include "deliver.h"
#include "io/mount.h"
#include "load/verify.h"
#include "out/json.h"
#include "out/progress.h"
#include "out/text.h"
#include "sweep.h"
#include "verdict.h"

#define ECHO_NS   (5 * NSEC_PER_SEC)
#define REMOVE_NS (20 * NSEC_PER_SEC)
/* How long a thread that was left may take to obey an interrupt. */
#define KICK_NS (100 * NSEC_PER_MSEC)

struct run {
	const struct run_options *options;
	struct agenda agenda;
	struct result result;
	struct progress_view view;
	struct verify **verify; /* of each target, see kind.h; owned */
	struct outputs outputs;
	/* By target: the test whose thread was left waiting in it, and its name. */
	struct {
		struct body *body;
		const char *test;
	} held[AGENDA_TARGETS_MAX];
	struct test again; /* the first test, for the drift */
	bool sweeps;       /* it is to run, not only to be checked */
	bool abandoned;    /* a thread other than these was left */
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
	agenda_describe_class(&run->agenda, c);
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

/* Whether a thread that was left in this target is still there. */
static bool is_held(struct run *run, unsigned target)
{
	struct body *body = run->held[target].body;

	if (!body || !body_returned(body))
		return body != NULL;
	body_free(body);
	run->held[target].body = NULL;
	return false;
}

static void run_body(struct run *run, const struct test *test, struct test_result *tr)
{
	struct target *target = agenda_target(&run->agenda, test);
	unsigned t = (unsigned)(target - run->agenda.targets);
	struct body_params params = {
	        .test = test,
	        .host = &run->agenda.host,
	        .run_id = run->result.id,
	        .target = target,
	        .verify = &run->verify[target - run->agenda.targets],
	        .view = &run->view,
	        .stop = &stop_signal,
	};

	if (!is_held(run, t)) {
		run->held[t].test = test->name;
		run->held[t].body = body_run(&params, tr);
		return;
	}
	tr->status = STATUS_FAILED;
	tr->exit_class = ERR_TEST;
	snprintf(tr->error, sizeof(tr->error),
	         "the volume does not answer: a call of the test '%s' still waits for it",
	         run->held[t].test);
}

/* What was done beside the test is said, since it takes time and reaches the volume. */
static void tell_probe(struct run *run, const struct limits_probe *probe)
{
	char floor[UNITS_TEXT_MAX], iops[UNITS_TEXT_MAX];

	if (!probe->iodepth)
		return;
	units_format_iops((double)probe->ios * NSEC_PER_SEC / (double)probe->runtime_ns, iops);
	progress_note(&run->view,
	              "probe of limits: %s IOPS at depth %llu, %s at depth 1; not counted in any "
	              "figure",
	              iops, (unsigned long long)probe->iodepth,
	              probe->floor_ns ? units_format_time(probe->floor_ns, floor) : "no latency");
}

static void run_test(struct run *run, unsigned i)
{
	const struct test *test = &run->agenda.plan.tests[i];
	struct test_result *tr = &run->result.tests[i];

	run->view.test = i + 1;
	run->view.plan_left_ns = agenda_duration_ns(&run->agenda, i + 1);
	test_result_init(tr, test);
	run->result.n_tests = i + 1;
	progress_begin(&run->view, test);
	run_body(run, test, tr);
	run->result.peak_rss_bytes = host_peak_rss_bytes();
	run->result.interrupted = atomic_load(&stop_signal) != 0;
	verdict_judge(tr, result_conditions(&run->result, tr));
	verdict_expect(tr, test);
	for (unsigned c = 0; c < tr->n_concessions; c++)
		progress_note(&run->view, "concession: %s", tr->concessions[c]);
	tell_probe(run, &tr->limits_probe);
	progress_end(&run->view, tr);
	if (!run->view.terminal)
		json_write_line(stdout, &run->result, tr);
	fflush(stdout);
}

/* What the first test gives at the end of the plan, against what it gave at its beginning. */
static void run_drift(struct run *run)
{
	struct test *again = &run->again;
	const char *first = run->agenda.plan.tests[0].name;
	struct test_result tr;
	char time[UNITS_TEXT_MAX];

	if (!agenda_drift(&run->agenda, again) || run->result.tests[0].status != STATUS_OK)
		return;
	progress_note(&run->view, "drift: '%s' again for %s; not counted in any figure", first,
	              units_format_time(again->ramp_time_ns + again->runtime_ns, time));
	run->view.plan_left_ns = 0;
	test_result_init(&tr, again);
	progress_begin(&run->view, again);
	run_body(run, again, &tr);
	if (tr.status == STATUS_FAILED)
		progress_note(&run->view, "drift: not known: %s", tr.error);
	if (verdict_drift(&run->result, &tr))
		progress_note(&run->view, "drift: %s",
		              run->result.verdicts[run->result.n_verdicts - 1].text);
	test_result_destroy(&tr);
}

/* ---- the end ---- */

/* What a ledger tells of stays, for pvcbench verify. */
static int end_verify(struct run *run, unsigned i, struct err *err)
{
	struct target *target = &run->agenda.targets[i];
	struct verify *verify = run->verify[i];
	const struct ledger *ledger = verify_ledger(verify);

	if (ledger && !target->is_block)
		progress_note(&run->view, "kept for pvcbench verify %s: %s/%s", ledger_path(ledger),
		              target->path, target->run_dir);
	if (ledger)
		target_destroy(target);
	run->verify[i] = NULL;
	return verify_free(verify, err);
}

static int end_verifies(struct run *run)
{
	struct err err;
	int code = 0;

	for (unsigned i = 0; i < run->agenda.n_targets; i++)
		if (!is_held(run, i) && end_verify(run, i, &err)) {
			fprintf(stderr, "pvcbench: %s\n", err.text);
			code = (int)err.class;
		}
	return code;
}

static int exit_code(const struct run *run)
{
	int signum = atomic_load(&stop_signal);

	return signum ? 128 + signum : result_exit_code(&run->result);
}

/* The longest that a test grants its volume; 0: one sets no limit. */
static uint64_t patience_ns(const struct plan *plan)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < plan->n_tests; i++) {
		if (!plan->tests[i].answer_time_ns)
			return 0;
		most = max_u64(most, plan->tests[i].answer_time_ns);
	}
	return most;
}

static void remove_files(void *arg, struct attended *self)
{
	struct run *run = arg;
	struct err err;

	attended_step(self, "removal of our files", true);
	for (unsigned i = 0; i < run->agenda.n_targets; i++)
		if (!run->held[i].body && !verify_ledger(run->verify[i]) &&
		    target_leave(&run->agenda.targets[i], &err))
			fprintf(stderr, "pvcbench: %s\n", err.text);
}

/* A directory whose mkdir still waits may come to be. */
static bool may_stay(const struct run *run, unsigned target)
{
	if (run->held[target].body)
		return run->agenda.targets[target].run_dir[0];
	return run->abandoned && run->agenda.targets[target].run_dirfd >= 0;
}

static void name_leftovers(const struct run *run)
{
	for (unsigned i = 0; i < run->agenda.n_targets; i++)
		if (may_stay(run, i))
			fprintf(stderr,
			        "pvcbench: the volume does not answer: '%s/%s' was not removed\n",
			        run->agenda.targets[i].path, run->agenda.targets[i].run_dir);
}

/* A signal came, or a test failed: the volume may be why. A threshold is no trouble. */
static bool is_in_trouble(const struct run *run)
{
	int code = exit_code(run);

	return code && code != EXIT_THRESHOLD;
}

/*
 * What a volume that does not answer keeps is named. The summary is the last on standard
 * output, so what is told here goes to the other.
 */
static void clean_up(struct run *run)
{
	struct attend_params params = {
	        .work = remove_files,
	        .arg = run,
	        .view = &run->view,
	        .limit_ns = is_in_trouble(run) ? REMOVE_NS : patience_ns(&run->agenda.plan),
	};
	struct attended *removal;
	struct err err;

	for (unsigned i = 0; i < run->agenda.n_targets; i++)
		is_held(run, i);
	run->view.out = stderr;
	run->view.terminal = false;
	run->view.test = 0;
	run->abandoned = attend_start(&removal, &params, &err) || attend(removal) != ATTEND_DONE;
	if (!run->abandoned)
		attend_free(removal);
	name_leftovers(run);
}

static void tell(const char *text)
{
	fprintf(stderr, "pvcbench: %s\n", text);
}

/* The exit code with what became of it. */
static int deliver(const struct run *run, int code)
{
	unsigned missed = deliver_result(&run->agenda.plan, &run->result, &stop_signal, tell);

	return missed && (!code || code == EXIT_THRESHOLD) ? ERR_TEST : code;
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

static void tell_notes(struct run *run)
{
	struct result *result = &run->result;
	char note[RESULT_TEXT_MAX];

	if (agenda_exceeds_deadline(&run->agenda, note))
		result_note(result, note);
	if (result->attempt)
		progress_note(&run->view,
		              "attempt %llu of this Job: an earlier one left files in the volume",
		              (unsigned long long)result->attempt);
	for (unsigned i = 0; i < result->n_notes; i++)
		progress_note(&run->view, "%s", result->notes[i]);
}

static int run_tests(struct run *run)
{
	char note[RESULT_TEXT_MAX];
	int code, ledger_code;

	tell_notes(run);
	for (unsigned i = 0; i < run->agenda.plan.n_tests && !atomic_load(&stop_signal); i++)
		run_test(run, i);
	run->result.interrupted = atomic_load(&stop_signal) != 0;
	if (!run->result.interrupted)
		run_drift(run);
	ledger_code = end_verifies(run);
	if (verdict_too_short(&run->result, note))
		result_note(&run->result, note);
	print_summary(run);
	code = exit_code(run);
	code = code ? code : ledger_code;
	if (outputs_write(&run->outputs, &run->result, tell))
		code = code ? code : ERR_TEST;
	clean_up(run);
	return deliver(run, code);
}

/* ---- the beginning ---- */

static int read_agenda(struct agenda *agenda, const struct run_options *options, struct err *err)
{
	if (agenda_read(agenda, options->plan, options->overrides, options->n_overrides, err))
		return -1;
	return deliver_check(&agenda->plan, err);
}

/* The first look at the targets, and what it came to. */
struct look {
	struct run *run;
	struct attended *self;
	struct err err;
	int ret;
};

static void on_look_step(void *arg, const char *what)
{
	struct look *look = arg;

	attended_step(look->self, what, true);
}

static void on_sweep_step(void *arg, const char *what, bool of_volume)
{
	struct look *look = arg;

	attended_step(look->self, what, of_volume);
}

static void look_at_targets(void *arg, struct attended *self)
{
	struct look *look = arg;

	look->self = self;
	look->ret = agenda_look(&look->run->agenda, on_look_step, look, &look->err);
	if (!look->ret)
		look->ret = begin_result(look->run, &look->err);
	if (!look->ret && look->run->sweeps)
		sweep(&look->run->agenda, &look->run->result, on_sweep_step, look, &stop_signal);
}

/* A thread that is left here keeps all that was read, so it is the end of the run. */
static int give_up_look(struct run *run, struct attended *looking, enum attend_end end,
                        struct err *err)
{
	char what[ATTEND_STEP_MAX];

	run->abandoned = true;
	name_leftovers(run);
	attend_waits_for(looking, what);
	return err_set(err, ERR_TARGET, "%s (%s)",
	               end == ATTEND_STOPPED ? "interrupted while waiting for the volume"
	                                     : "the volume does not answer within answer_time",
	               what);
}

static int look(struct run *run, struct err *err)
{
	struct look *look = calloc(1, sizeof(*look));
	struct attend_params params = {
	        .work = look_at_targets,
	        .arg = look,
	        .view = &run->view,
	        .stop = &stop_signal,
	        .limit_ns = patience_ns(&run->agenda.plan),
	};
	struct attended *looking;
	enum attend_end end;
	int ret;

	if (!look)
		return err_set(err, ERR_TARGET, "out of memory");
	look->run = run;
	if (attend_start(&looking, &params, err)) {
		free(look);
		return -1;
	}
	end = attend(looking);
	if (end != ATTEND_DONE)
		return give_up_look(run, looking, end, err);
	ret = look->ret;
	if (ret)
		*err = look->err;
	attend_free(looking);
	free(look);
	return ret;
}

/* Threads that were left are told to come back; those that the kernel keeps are told of. */
static bool leave_threads(struct run *run)
{
	struct timespec pause = {.tv_nsec = KICK_NS};
	bool left = run->abandoned;
	unsigned n;

	for (unsigned i = 0; i < run->agenda.n_targets; i++) {
		if (!is_held(run, i))
			continue;
		body_kick(run->held[i].body);
		left = true;
	}
	if (left)
		nanosleep(&pause, NULL);
	n = host_threads_in_kernel();
	if (n)
		fprintf(stderr,
		        "pvcbench: the kernel holds %u thread(s) of this process (state D), so it "
		        "may end only when the volume answers\n",
		        n);
	return left;
}

static void run_destroy(struct run *run)
{
	if (leave_threads(run))
		return; /* they may still use all this */
	agenda_destroy(&run->agenda);
	result_destroy(&run->result);
	free(run->verify);
	free(run);
}

static void show(struct run *run)
{
	run->view = (struct progress_view){
	        .out = stdout,
	        .terminal = isatty(STDOUT_FILENO),
	        .quiet = run->options->quiet,
	        .n_tests = run->agenda.plan.n_tests,
	};
}

static int begin(struct run *run, struct err *err)
{
	watch_signals();
	if (workers_make_threads_possible(err) || read_agenda(&run->agenda, run->options, err))
		return -1;
	show(run);
	return look(run, err);
}

/* The class of an error is the exit code, unless a signal came first. */
static int failed(const struct err *err)
{
	int signum = atomic_load(&stop_signal);

	return signum ? 128 + signum : (int)err->class;
}

int run_plan(const struct run_options *options)
{
	struct run *run = calloc(1, sizeof(*run));
	struct err err;
	int code;

	if (!run)
		return ERR_TARGET;
	run->options = options;
	run->sweeps = true;
	memcpy(run->outputs.path, options->output, sizeof(run->outputs.path));
	if (begin(run, &err)) {
		print_error(&err);
		code = failed(&err);
	} else if (outputs_open(&run->outputs, &err)) {
		print_error(&err);
		code = failed(&err);
		clean_up(run); /* the sweep may have made our directory */
	} else {
		code = run_tests(run);
	}
	run_destroy(run);
	return code;
}

int run_check(const struct run_options *options)
{
	struct run *run = calloc(1, sizeof(*run));
	struct err err;
	int code = 0;

	if (!run)
		return ERR_TARGET;
	run->options = options;
	if (begin(run, &err)) {
		fprintf(stderr, "pvcbench: %s\n", err.text);
		code = failed(&err);
	} else {
		agenda_write(stdout, &run->agenda);
		sweep_write(stdout, &run->agenda);
		deliver_write(stdout, &run->agenda.plan);
	}
	run_destroy(run);
	return code;
}
