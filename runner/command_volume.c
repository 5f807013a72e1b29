/*
 * The commands that ask volumes, which may not answer: doctor and verify.
 */
#include "command.h"

#include <getopt.h>

#include "attend.h"
#include "audit.h"
#include "base/workers.h"
#include "doctor.h"
#include "signals.h"

/* How long a volume is waited for where no plan says it. */
#define ANSWER_NS (300 * NSEC_PER_SEC)

/* What asks volumes, with what came of it; it may outlive our patience. */
struct errand {
	int (*run)(struct errand *errand, struct err *err);
	const char *path; /* of the doctor; NULL: the pod only */
	struct audit_options audit;
	struct attended *self; /* NULL: nobody attends to it */
	struct progress_view view;
	struct err err;
	int ret;
};

static void on_errand_step(void *arg, const char *what)
{
	struct errand *errand = arg;

	if (errand->self)
		attended_step(errand->self, what, true);
}

static void run_errand(void *arg, struct attended *self)
{
	struct errand *errand = arg;

	errand->self = self;
	errand->ret = errand->run(errand, &errand->err);
}

/* What was found is told as it is found. 128 + n where signal n ended it. */
static int go(struct errand *errand)
{
	struct attend_params params = {
	        .work = run_errand,
	        .arg = errand,
	        .view = &errand->view,
	        .stop = &signals_stop,
	        .limit_ns = ANSWER_NS,
	};
	struct attended *attended = NULL;
	enum attend_end end = ATTEND_DONE;
	struct err *err = &errand->err, gave_up;
	char what[ATTEND_STEP_MAX];
	int signum;

	signals_watch();
	errand->view.out = stdout;
	/* Without threads the doctor says so, and who waits for a volume waits in silence. */
	if (workers_make_threads_possible(err) || attend_start(&attended, &params, err)) {
		run_errand(errand, NULL);
	} else {
		end = attend(attended);
		if (end == ATTEND_DONE)
			attend_free(attended);
	}
	if (end == ATTEND_DONE && !errand->ret)
		return 0;
	if (end != ATTEND_DONE) {
		attend_waits_for(attended, what);
		err = &gave_up; /* the thread may still set the other */
		err_set(err, ERR_TARGET, "%s (%s)",
		        end == ATTEND_STOPPED ? "interrupted while waiting for the volume"
		                              : "the volume does not answer",
		        what);
	}
	fflush(stdout);
	fprintf(stderr, "pvcbench: %s\n", err->text);
	signum = atomic_load(&signals_stop);
	return signum ? 128 + signum : (int)err->class;
}

static int look_around(struct errand *errand, struct err *err)
{
	int ret;

	on_errand_step(errand, "the check after the last line");
	ret = doctor_run(errand->path, stdout, err);
	if (!ret && errand->path)
		doctor_check_plan(errand->path, stdout);
	return ret;
}

int command_doctor(const struct command *command, int argc, char **argv)
{
	static struct errand errand = {.run = look_around};
	int ret = command_one_operand(command, argc, argv, &errand.path);

	if (ret)
		return ret < 0 ? command_usage_error(command) : 0;
	return go(&errand);
}

static int read_back(struct errand *errand, struct err *err)
{
	return audit_run(&errand->audit, stdout, err);
}

int command_verify(const struct command *command, int argc, char **argv)
{
	static const struct option known[] = {
	        {"target", required_argument, NULL, 't'},
	        {"remove", no_argument, NULL, 'r'},
	        {"help", no_argument, NULL, 'h'},
	        {0},
	};
	static struct errand errand = {.run = read_back};
	struct audit_options *options = &errand.audit;
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		if (option == 't')
			options->target = optarg;
		else if (option == 'r')
			options->remove = true;
		else
			return option == 'h' ? command_print_help(command)
			                     : command_usage_error(command);
	}
	options->ledger = argv[optind];
	if (argc - optind != 1)
		return command_usage_error(command);
	options->stop = &signals_stop;
	options->step = on_errand_step;
	options->arg = &errand;
	return go(&errand);
}
