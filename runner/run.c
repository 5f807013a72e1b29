/*
 * A run, in order:
 *
 *	plan -> targets -> check of all tests -> each test: run, judge, print -> summary
 *
 * Up to the end of the checks nothing is touched. From then on whatever was
 * measured is printed and what was made is removed, whether a test fails or a
 * signal comes: the running test looks at signals_stop.
 *
 * Whatever touches a volume is done by a thread that this one attends to. A thread that
 * a volume does not give back keeps its target: later tests of it fail.
 */
#include "run.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "deliver.h"
#include "out/json.h"
#include "out/text.h"
#include "result/verdict.h"
#include "run_peers.h"
#include "signals.h"
#include "sweep.h"

/* A request that is older when a test ends is not expected any more. */
#define SILENCE_NS (10 * NSEC_PER_SEC)

/* A volume that does not give them back does not let go of their file either. */
static bool is_in_flight(const struct test_result *tr)
{
	return tr->stats && tr->stats->unfinished && tr->stats->unfinished_age_ns >= SILENCE_NS;
}

static void run_body(struct run *run, const struct test *test, struct test_result *tr)
{
	struct target *target = agenda_target(&run->agenda, test);
	unsigned t = target ? (unsigned)(target - run->agenda.targets) : run->agenda.n_targets;
	struct body_params params = {
	        .test = test,
	        .host = &run->agenda.host,
	        .run_id = run->result.id,
	        .target = target,
	        .verify = &run->verify[t],
	        .view = &run->view,
	        .stop = &signals_stop,
	        .peers = run->peers,
	        .number = (unsigned)(test - run->agenda.plan.tests),
	};

	if (!run_is_held(run, t)) {
		run->held[t].test = test->name;
		run->held[t].body = body_run(&params, tr);
		run->held[t].in_flight = is_in_flight(tr);
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

static void tell_cache_probe(struct run *run, const struct cache_probe *probe)
{
	char first[UNITS_TEXT_MAX], again[UNITS_TEXT_MAX];

	if (probe->blocks)
		progress_note(&run->view,
		              "probe of caches: %llu blocks, %s the first time, %s the second; not "
		              "counted in any figure",
		              (unsigned long long)probe->blocks,
		              units_format_time(probe->first_ns, first),
		              units_format_time(probe->again_ns, again));
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

/* Who is killed cannot say anything any more. */
static void leave_message(const struct run *run)
{
	CLEANUP(file) FILE *log = open_termination_log();

	if (log)
		text_write_termination_if_killed(log, &run->result, run->agenda.plan.n_tests);
}

static void run_test(struct run *run, unsigned i)
{
	const struct test *test = &run->agenda.plan.tests[i];
	struct test_result *tr = &run->result.tests[i];
	bool all_here;

	run->view.test = i + 1;
	run->view.plan_left_ns = agenda_duration_ns(&run->agenda, i + 1);
	snprintf(run->view.name, sizeof(run->view.name), "%s", test->name);
	test_result_init(tr, test);
	run->result.n_tests = i + 1;
	all_here = run_peers_gather(run, i, tr);
	progress_begin(&run->view, test);
	if (all_here)
		run_body(run, test, tr);
	else if (atomic_load(&signals_stop))
		tr->status = STATUS_INTERRUPTED;
	run->result.peak_rss_bytes = host_peak_rss_bytes();
	run->result.interrupted = atomic_load(&signals_stop) != 0;
	verdict_judge(tr, result_conditions(&run->result, tr));
	verdict_expect(tr, test);
	for (unsigned c = 0; c < tr->n_concessions; c++)
		progress_note(&run->view, "concession: %s", tr->concessions[c]);
	tell_cache_probe(run, &tr->cache_probe);
	tell_probe(run, &tr->limits_probe);
	progress_end(&run->view, tr);
	run_peers_hand(run, tr);
	fflush(stdout);
	leave_message(run);
}

/* What the first test gives at the end of the plan, against what it gave at its beginning. */
static void run_drift(struct run *run)
{
	struct test *again = &run->again;
	const char *first = run->agenda.plan.tests[0].name;
	struct test_result tr;
	char time[UNITS_TEXT_MAX];

	if (run->peers || !agenda_drift(&run->agenda, again) ||
	    run->result.tests[0].status != STATUS_OK)
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

static int exit_code(const struct run *run)
{
	int signum = atomic_load(&signals_stop);

	return signum ? 128 + signum : result_exit_code(run_peers_result(run));
}

/* A signal came, or a test failed: the volume may be why. A threshold is no trouble. */
static bool is_in_trouble(const struct run *run)
{
	int code = exit_code(run);

	return code && code != EXIT_THRESHOLD;
}

static void tell(const char *text)
{
	fprintf(stderr, "pvcbench: %s\n", text);
}

/* The exit code with what became of it. */
static int deliver(const struct run *run, int code)
{
	unsigned missed =
	        deliver_result(&run->agenda.plan, run_peers_result(run), &signals_stop, tell);

	return missed && (!code || code == EXIT_THRESHOLD) ? ERR_TEST : code;
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
		text_write_termination(log, run_peers_result(run));
	text_write(stdout, run_peers_result(run));
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
	int code, ledger_code, peers_code;

	tell_notes(run);
	for (unsigned i = 0;
	     i < run->agenda.plan.n_tests && !atomic_load(&signals_stop) && !run_peers_lost(run);
	     i++)
		run_test(run, i);
	run->result.interrupted = atomic_load(&signals_stop) != 0;
	if (!run->result.interrupted)
		run_drift(run);
	peers_code = run_peers_end(run);
	ledger_code = run_end_verify(run);
	if (verdict_too_short(&run->result, note))
		result_note(&run->result, note);
	print_summary(run);
	code = exit_code(run);
	code = code ? code : peers_code ? peers_code : ledger_code;
	if (outputs_write(&run->outputs, run_peers_result(run), tell))
		code = code ? code : ERR_TEST;
	run_clean_up(run, !is_in_trouble(run));
	return run_peers_delivers_not(run) ? code : deliver(run, code);
}

/* The class of an error is the exit code, unless a signal came first. */
static int failed(const struct err *err)
{
	int signum = atomic_load(&signals_stop);

	return signum ? 128 + signum : (int)err->class;
}

static int open_outputs(struct run *run, struct err *err)
{
	if (run_peers_delivers_not(run))
		return 0;
	memcpy(run->outputs.path, run->options->output, sizeof(run->outputs.path));
	return outputs_open(&run->outputs, err);
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
	if (run_begin(run, &err)) {
		print_error(&err);
		code = failed(&err);
	} else if (open_outputs(run, &err)) {
		print_error(&err);
		code = failed(&err);
		run_clean_up(run, !is_in_trouble(run)); /* the sweep may have made our directory */
	} else {
		code = run_tests(run);
	}
	run_free(run);
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
	if (run_begin(run, &err)) {
		fprintf(stderr, "pvcbench: %s\n", err.text);
		code = failed(&err);
	} else {
		agenda_write(stdout, &run->agenda);
		sweep_write(stdout, &run->agenda);
		deliver_write(stdout, &run->agenda.plan);
	}
	run_free(run);
	return code;
}
