/*
 * What a run leaves: nothing, but what a ledger tells of and what a volume does not give back.
 * A thread that a volume holds keeps its target, and nothing that it may use is freed.
 */
#include <time.h>

#include "attend.h"
#include "load/verify.h"
#include "run_peers.h"

#define REMOVE_NS (20 * NSEC_PER_SEC)
/* How long a thread that was left may take to obey an interrupt. */
#define KICK_NS (100 * NSEC_PER_MSEC)

bool run_is_held(struct run *run, unsigned target)
{
	struct body *body = run->held[target].body;

	if (!body || !body_returned(body))
		return body != NULL;
	body_free(body);
	run->held[target].body = NULL;
	return false;
}

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

int run_end_verify(struct run *run)
{
	struct err err;
	int code = 0;

	for (unsigned i = 0; i < run->agenda.n_targets; i++)
		if (!run_is_held(run, i) && end_verify(run, i, &err)) {
			fprintf(stderr, "pvcbench: %s\n", err.text);
			code = (int)err.class;
		}
	return code;
}

static void remove_files(void *arg, struct attended *self)
{
	struct run *run = arg;
	struct err err;

	attended_step(self, "removal of our files", true);
	for (unsigned i = 0; i < run->agenda.n_targets; i++)
		if (!run->held[i].body && !run->held[i].in_flight &&
		    !verify_ledger(run->verify[i]) && target_leave(&run->agenda.targets[i], &err))
			fprintf(stderr, "pvcbench: %s\n", err.text);
}

/*
 * To remove a file waits for the requests to it, in the kernel, where nothing can end the process:
 * so it is not tried while some are in flight. A directory whose mkdir still waits may come to be.
 */
static bool may_stay(const struct run *run, unsigned target)
{
	if (run->agenda.targets[target].guest_of[0])
		return false;
	if (run->held[target].body || run->held[target].in_flight)
		return run->agenda.targets[target].run_dir[0];
	return run->abandoned && run->agenda.targets[target].run_dirfd >= 0;
}

void run_name_leftovers(const struct run *run)
{
	for (unsigned i = 0; i < run->agenda.n_targets; i++)
		if (may_stay(run, i))
			fprintf(stderr,
			        "pvcbench: the volume does not answer: '%s/%s' was not removed\n",
			        run->agenda.targets[i].path, run->agenda.targets[i].run_dir);
}

/* The summary is the last on standard output, so what is told here goes to the other. */
void run_clean_up(struct run *run, bool patiently)
{
	struct attend_params params = {
	        .work = remove_files,
	        .arg = run,
	        .view = &run->view,
	        .limit_ns = patiently ? run_patience_ns(&run->agenda.plan) : REMOVE_NS,
	};
	struct attended *removal;
	struct err err;

	for (unsigned i = 0; i < run->agenda.n_targets; i++)
		run_is_held(run, i);
	run->view.out = stderr;
	run->view.terminal = false;
	run->view.test = 0;
	run->abandoned = attend_start(&removal, &params, &err) || attend(removal) != ATTEND_DONE;
	if (!run->abandoned)
		attend_free(removal);
	run_name_leftovers(run);
}

/* Threads that were left are told to come back; those that the kernel keeps are told of. */
static bool leave_threads(struct run *run)
{
	struct timespec pause = {.tv_nsec = KICK_NS};
	bool left = run->abandoned;
	unsigned n;

	/* that of tests without a target included */
	for (unsigned i = 0; i <= run->agenda.n_targets; i++) {
		if (!run_is_held(run, i))
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

void run_free(struct run *run)
{
	if (leave_threads(run))
		return; /* they may still use all this */
	run_peers_free(run);
	agenda_destroy(&run->agenda);
	result_destroy(&run->result);
	free(run->verify);
	free(run);
}
