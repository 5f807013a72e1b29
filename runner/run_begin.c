/*
 * From the plan to the first test. Looking at a target waits for as long as its volume likes,
 * so it is the work of a thread; the main thread tells what it waits for, and gives it up.
 */
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "attend.h"
#include "base/workers.h"
#include "deliver.h"
#include "io/throttle.h"
#include "run_peers.h"
#include "run_state.h"
#include "signals.h"
#include "sweep.h"

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

#define COPY(to, from) copy_text(to, sizeof(to), from)

static void describe_host(const struct host *host, struct conditions *c)
{
	COPY(c->kernel, host->kernel);
	COPY(c->machine, host->machine);
	COPY(c->node, host->node);
	c->cpus = host->cpus;
	c->memory_bytes = host->memory_bytes;
	c->cpu_quota = host->cpu_quota;
	if (host->memory_limited)
		c->host_memory_bytes = host->host_memory_bytes;
}

static void describe(const struct run *run, const struct target *target, struct conditions *c)
{
	const struct mount *mount = &target->mount;
	struct throttle throttle;

	throttle_read(&throttle, mount->major, mount->minor);
	COPY(c->target, target->path);
	COPY(c->fs, target->is_block ? "block device" : mount->fs);
	COPY(c->mount_options, mount->options);
	COPY(c->mount_source, mount->source);
	COPY(c->device, mount->device);
	COPY(c->scheduler, mount->scheduler);
	COPY(c->write_cache, mount->write_cache);
	c->io_limits = (struct io_limits){throttle.read_iops, throttle.write_iops,
	                                  throttle.read_bytes, throttle.write_bytes};
	c->block_bytes = mount->block_bytes;
	c->capacity_bytes = target->capacity_bytes;
	c->free_bytes = target->free_bytes;
	describe_host(&run->agenda.host, c);
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
	char name[HOST_TEXT_MAX];

	stamp_run(result);
	if (!gethostname(name, sizeof(name)))
		host_copy_graphic(result->host, sizeof(result->host), name);
	COPY(result->version, PVCBENCH_VERSION);
	COPY(result->plan, run->agenda.plan.name);
	result->tests = calloc(run->agenda.plan.n_tests, sizeof(*result->tests));
	result->targets = calloc(run->agenda.n_targets + 1, sizeof(*result->targets));
	run->verify = calloc(run->agenda.n_targets + 1, sizeof(*run->verify));
	if (!result->tests || !result->targets || !run->verify)
		return err_set(err, ERR_TARGET, "out of memory for the result");
	for (unsigned i = 0; i < run->agenda.n_targets; i++)
		describe(run, &run->agenda.targets[i], &result->targets[i]);
	result->n_targets = run->agenda.n_targets;
	if (result->n_targets)
		result->conditions = result->targets[0];
	else
		describe_host(&run->agenda.host, &result->conditions);
	return 0;
}

uint64_t run_patience_ns(const struct plan *plan)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < plan->n_tests; i++) {
		if (!plan->tests[i].answer_time_ns)
			return 0;
		most = max_u64(most, plan->tests[i].answer_time_ns);
	}
	return most;
}

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
		look->ret = run_peers_check(look->run, &look->err);
	if (!look->ret)
		look->ret = begin_result(look->run, &look->err);
	if (!look->ret && look->run->sweeps)
		sweep(&look->run->agenda, &look->run->result, on_sweep_step, look, &signals_stop);
}

/* A thread that is left here keeps all that was read, so it is the end of the run. */
static int give_up_look(struct run *run, struct attended *looking, enum attend_end end,
                        struct err *err)
{
	char what[ATTEND_STEP_MAX];

	run->abandoned = true;
	run_name_leftovers(run);
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
	        .stop = &signals_stop,
	        .limit_ns = run_patience_ns(&run->agenda.plan),
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

static void show(struct run *run)
{
	run->view = (struct progress_view){
	        .out = stdout,
	        .terminal = isatty(STDOUT_FILENO),
	        .quiet = run->options->quiet,
	        .n_tests = run->agenda.plan.n_tests,
	};
}

int run_begin(struct run *run, struct err *err)
{
	signals_watch();
	if (workers_make_threads_possible(err) || read_agenda(&run->agenda, run->options, err) ||
	    run_peers_open(run, err))
		return -1;
	show(run);
	if (look(run, err))
		return -1;
	return run->sweeps ? run_peers_join(run, err) : 0;
}
