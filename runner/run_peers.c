/*
 * Whoever waits for peers does so in a thread, as for a volume, so that the main thread tells whom
 * it waits for and obeys signals. What index 0 merges are the result lines themselves, so that the
 * logs give the same.
 */
#include "run_peers.h"

#include <string.h>

#include "attend.h"
#include "out/json.h"
#include "result/merge.h"
#include "signals.h"

static unsigned index_of(const struct run *run)
{
	return (unsigned)run->peering.index;
}

/* ---- begin ---- */

static int check_test(const struct test *test, const struct test *other, struct err *err)
{
	if (test->shared != other->shared && !strcmp(test->target, other->target))
		return err_set(err, ERR_PLAN,
		               "the tests '%s' and '%s' of one target differ in shared (say it for "
		               "all of them)",
		               other->name, test->name);
	return 0;
}

static int mark_tests(struct run *run, struct err *err)
{
	struct plan *plan = &run->agenda.plan;

	for (unsigned i = 0; i < plan->n_tests; i++) {
		for (unsigned other = 0; other <= i; other++)
			if (check_test(&plan->tests[i], &plan->tests[other], err))
				return -1;
		if (plan->tests[i].latency_target_ns)
			return err_set(err, ERR_PLAN,
			               "test '%s': latency_target looks for the rate of one pod, "
			               "and peers would find theirs in each other's noise (give "
			               "them a rate_iops)",
			               plan->tests[i].name);
		plan->tests[i].peers = run->peering.n;
		plan->tests[i].peer = index_of(run);
	}
	return 0;
}

int run_peers_open(struct run *run, struct err *err)
{
	run->peering = run->options->peering;
	if (!run->sweeps) /* check says what this process would do */
		return 0;
	if (peers_options_complete(&run->peering, err))
		return -1;
	if (run->peering.n <= 1)
		return 0;
	run->result.peer = (struct peer){index_of(run), run->peering.n};
	return mark_tests(run, err);
}

int run_peers_check(struct run *run, struct err *err)
{
	const struct plan *plan = &run->agenda.plan;

	for (unsigned i = 0; i < plan->n_tests && run->peering.n > 1; i++) {
		const struct test *test = &plan->tests[i];

		const struct target *target = agenda_target(&run->agenda, test);

		if (target && target->is_block && !test->filename[0])
			return err_set(err, ERR_PLAN,
			               "test '%s': peers cannot share the block device '%s' (give "
			               "them a directory)",
			               test->name, test->target);
	}
	return 0;
}

/* ---- waiting ---- */

struct wait {
	struct run *run;
	struct attended *self;
	int (*fn)(struct wait *wait);
	unsigned test;
	uint64_t limit_ns;
	struct err err;
	int ret;
};

static void on_step(void *arg, const char *what)
{
	struct wait *wait = arg;

	attended_step(wait->self, what, false);
}

static void work(void *arg, struct attended *self)
{
	struct wait *wait = arg;

	wait->self = self;
	wait->ret = wait->fn(wait);
}

/* A thread that does not come back soon after a signal keeps the peers. */
static int wait_for(const struct wait *what, const atomic_int *stop, struct err *err)
{
	struct wait *wait = malloc(sizeof(*wait));
	struct attend_params params = {
	        .work = work, .arg = wait, .view = &what->run->view, .stop = stop};
	struct attended *attended;
	int ret;

	if (!wait)
		return err_set(err, ERR_TARGET, "out of memory");
	*wait = *what;
	if (attend_start(&attended, &params, err)) {
		free(wait);
		return -1;
	}
	if (attend(attended) != ATTEND_DONE) {
		wait->run->peers_held = true;
		return 0;
	}
	ret = wait->ret;
	if (ret)
		*err = wait->err;
	attend_free(attended);
	free(wait);
	return ret;
}

static int join(struct wait *wait)
{
	return peers_join(wait->run->peers, on_step, wait, &wait->err);
}

static int gather(struct wait *wait)
{
	struct peers_meeting meeting = {0};

	return peers_meet(wait->run->peers, wait->test, PEERS_BEGIN, &meeting, on_step, wait,
	                  &wait->err);
}

static int leave(struct wait *wait)
{
	int signum = atomic_load(&signals_stop);
	char why[64] = "";

	if (signum)
		snprintf(why, sizeof(why), "%s was ended by signal %d",
		         index_of(wait->run) ? "it" : "index 0", signum);
	else if (peers_are_lost(wait->run->peers))
		snprintf(why, sizeof(why), "other peers are lost to it");
	if (!index_of(wait->run))
		on_step(wait, "waiting for the results of the other peers");
	peers_leave(wait->run->peers, why, wait->limit_ns);
	return 0;
}

/* ---- the run ---- */

/* Guests use the directory of index 0. */
static void find_host(struct run *run)
{
	const struct plan *plan = &run->agenda.plan;

	for (unsigned i = 0; i < plan->n_tests && index_of(run); i++) {
		struct target *target = agenda_target(&run->agenda, &plan->tests[i]);

		if (target && plan->tests[i].shared && !target->is_block)
			snprintf(target->guest_of, sizeof(target->guest_of), "%s",
			         peers_run_id(run->peers));
	}
}

int run_peers_join(struct run *run, struct err *err)
{
	struct peers_params params = {
	        .n = run->peering.n,
	        .index = index_of(run),
	        .coordinator = run->peering.coordinator,
	        .run_id = run->result.id,
	        .plan = &run->agenda.plan,
	        .stop = &signals_stop,
	};

	if (run->peering.n <= 1)
		return 0;
	if (peers_new(&run->peers, &params, err))
		return -1;
	progress_note(&run->view, "peer %u of %u; index 0 is at '%s'", params.index, params.n,
	              params.coordinator);
	if (!params.index && peers_are_open(run->peers))
		progress_note(&run->view, "whoever reaches this port may take part (say the same "
		                          "PVCBENCH_JOB_UID to all peers)");
	if (wait_for(&(struct wait){.run = run, .fn = join}, &signals_stop, err))
		return -1;
	find_host(run);
	return 0;
}

bool run_peers_gather(struct run *run, unsigned test, struct test_result *tr)
{
	struct err err;

	if (!run->peers)
		return true;
	if (!run->peers_held &&
	    !wait_for(&(struct wait){.run = run, .fn = gather, .test = test}, &signals_stop, &err))
		return !atomic_load(&signals_stop);
	tr->status = STATUS_FAILED;
	tr->exit_class = ERR_TEST;
	snprintf(tr->error, sizeof(tr->error), "%.*s", RESULT_STATUS_TEXT_MAX - 1, err.text);
	return false;
}

bool run_peers_lost(const struct run *run)
{
	return run->peers && (run->peers_held || peers_are_lost(run->peers));
}

void run_peers_hand(struct run *run, const struct test_result *tr)
{
	CLEANUP(mem) char *line = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&line, &bytes);
	struct err err;

	if (!out)
		return;
	json_write_line(out, &run->result, tr);
	fclose(out);
	if (!run->view.terminal)
		fwrite(line, 1, bytes, stdout);
	if (!run->peers || run->peers_held)
		return;
	if (tr->status == STATUS_FAILED)
		peers_skip(run->peers, tr->error);
	if (peers_hand(run->peers, line, bytes, &err))
		progress_note(&run->view, "%s", err.text);
}

/* ---- the end ---- */

/* The lines of one peer. */
static int add_lines(struct merge *merge, const char *text, size_t bytes, struct err *err)
{
	const char *end = text + bytes;

	while (text < end) {
		size_t length = strcspn(text, "\n"), prefix = strlen(RESULT_LINE_PREFIX);
		struct result part;
		int ret;

		if (length <= prefix || strncmp(text, RESULT_LINE_PREFIX, prefix) != 0)
			return err_set(err, ERR_TEST, "what it handed over is no result line");
		if (json_read(&part, text + prefix, length - prefix, err))
			return -1;
		ret = merge_add(merge, &part, NULL, err);
		result_destroy(&part);
		if (ret)
			return -1;
		text += length + 1;
	}
	return 0;
}

static int merge_all(struct run *run, struct merge *merge, struct err *err)
{
	for (unsigned i = 0; i < run->peering.n; i++) {
		size_t bytes;
		const char *lines = peers_lines(run->peers, i, &bytes);

		if (add_lines(merge, lines, bytes, err))
			return err_wrap(err, "cannot merge the results: peer %u", i);
	}
	if (merge_finish(merge, &run->merged, err))
		return err_wrap(err, "cannot merge the results");
	run->is_merged = true;
	return 0;
}

/* Who did not take part to the end, in the log and in the result. */
static bool tell_lost(struct run *run)
{
	char lost[ROSTER_TEXT_MAX], note[RESULT_TEXT_MAX];
	unsigned n = peers_present(run->peers, lost);

	if (n == run->peering.n)
		return false;
	snprintf(note, sizeof(note), "%u of %u peers took part to the end: %.180s", n,
	         run->peering.n, lost);
	progress_note(&run->view, "%s", note);
	result_note(run->is_merged ? &run->merged : &run->result, note);
	return true;
}

static int merge_results(struct run *run)
{
	struct merge *merge = merge_new();
	struct err err;
	int code = 0;

	if (!merge)
		err_set(&err, ERR_TEST, "cannot merge the results: out of memory");
	if (!merge || merge_all(run, merge, &err)) {
		fprintf(stderr, "pvcbench: %s (the summary is that of this peer alone)\n",
		        err.text);
		code = ERR_TEST;
	}
	merge_free(merge);
	return tell_lost(run) ? ERR_TEST : code;
}

int run_peers_end(struct run *run)
{
	const struct plan *plan = &run->agenda.plan;
	struct wait wait = {
	        .run = run,
	        .fn = leave,
	        .limit_ns = plan->tests[plan->n_tests - 1].peers_timeout_ns,
	};
	struct err err;

	if (!run->peers || run->peers_held)
		return 0;
	/* it obeys a signal itself, and then still brings home what was measured */
	if (wait_for(&wait, NULL, &err))
		fprintf(stderr, "pvcbench: %s\n", err.text);
	if (run->peers_held || index_of(run))
		return 0;
	return merge_results(run);
}

const struct result *run_peers_result(const struct run *run)
{
	return run->is_merged ? &run->merged : &run->result;
}

bool run_peers_delivers_not(const struct run *run)
{
	return run->peering.n > 1 && index_of(run);
}

void run_peers_free(struct run *run)
{
	if (run->peers_held)
		return;
	peers_free(run->peers);
	if (run->is_merged)
		result_destroy(&run->merged);
}
