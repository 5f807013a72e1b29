/*
 * Two tables of checks: what the pod can do, and what the volume can do. Each
 * check tries the real thing where it can be tried and prints one line; none
 * depends on another, but for the file that those on the volume share.
 *
 * Without a volume the engines are tried by reading this program's own file.
 */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/units.h"
#include "base/workers.h"
#include "io/engine.h"
#include "io/file.h"
#include "io/host.h"
#include "io/leftover.h"

#define TRY_BYTES            4096u
#define MEMORY_ENOUGH        (256 * MIB)
#define MEMLOCK_ENOUGH       (8 * MIB)
#define SPACE_ENOUGH         (1 * GIB)
#define FIGURE_MAX           512
#define TERMINATION_LOG_PATH "/dev/termination-log"

struct doctor {
	FILE *out;
	struct host host;
	struct target target;
	struct file_wish wish;
	struct file file; /* what engines are tried on */
};

static const char *const status_names[] = {"ok", "limited", "missing"};

void doctor_say(FILE *out, enum doctor_status status, const char *what, const char *remedy,
                const char *fmt, ...)
{
	va_list args;

	fprintf(out, "%s: %s (", status_names[status], what);
	va_start(args, fmt);
	vfprintf(out, fmt, args);
	va_end(args);
	fprintf(out, ")%s%s\n", remedy ? ": " : "", remedy ? remedy : "");
	fflush(out);
}

#define say(d, ...) doctor_say((d)->out, __VA_ARGS__)

static void check_user(struct doctor *d)
{
	say(d, DOCTOR_OK, "user and group", NULL, "%u:%u", geteuid(), getegid());
}

static void check_node(struct doctor *d)
{
	say(d, DOCTOR_OK, "node", NULL, "%s, kernel %s, %s", d->host.node, d->host.kernel,
	    d->host.machine);
}

static void check_cpus(struct doctor *d)
{
	bool enough = d->host.cpus >= 1;

	say(d, enough ? DOCTOR_OK : DOCTOR_LIMITED, "CPUs",
	    enough ? NULL
	           : "raise limits.cpu to 1 or more: a benchmark stops when its quota is used",
	    "%.3g%s", d->host.cpus, d->host.cpu_quota ? ", a quota" : ", no quota");
}

static void check_memory(struct doctor *d)
{
	bool enough = d->host.memory_bytes >= MEMORY_ENOUGH;
	char text[UNITS_TEXT_MAX];

	if (!d->host.memory_bytes) {
		say(d, DOCTOR_OK, "memory", NULL, "unknown: /proc and /sys do not tell");
		return;
	}
	say(d, enough ? DOCTOR_OK : DOCTOR_LIMITED, "memory",
	    enough ? NULL : "raise limits.memory: deep queues of large blocks need it", "%s%s",
	    units_format_size(d->host.memory_bytes, text),
	    d->host.memory_limited ? ", a limit" : ", no limit");
}

static void check_memlock(struct doctor *d)
{
	struct rlimit limit;
	char text[UNITS_TEXT_MAX];

	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return;
	if (limit.rlim_cur == RLIM_INFINITY)
		say(d, DOCTOR_OK, "locked memory", NULL, "no limit");
	else
		say(d, limit.rlim_cur >= MEMLOCK_ENOUGH ? DOCTOR_OK : DOCTOR_LIMITED,
		    "locked memory",
		    limit.rlim_cur >= MEMLOCK_ENOUGH
		            ? NULL
		            : "buffers may not be registered with io_uring; the container "
		              "runtime sets this limit",
		    "%s", units_format_size(limit.rlim_cur, text));
}

static void run_nothing(void *arg, uint64_t start_ns)
{
	(void)arg;
	(void)start_ns;
}

static void check_threads(struct doctor *d)
{
	const struct workers_body body = {.run = run_nothing};
	bool has_clone3 = syscall(SYS_clone3, NULL, 0) < 0 && errno == EINVAL;
	void *args[] = {NULL};
	struct workers *workers;
	struct err err;

	if (workers_make_threads_possible(&err) < 0 ||
	    workers_start(&workers, &body, args, 1, &err) < 0) {
		say(d, DOCTOR_MISSING, "threads",
		    "look at the pod's seccomp profile and its limit on pids", "%s", err.text);
		return;
	}
	workers_wait(workers, UINT64_MAX);
	workers_join(workers);
	say(d, DOCTOR_OK, "threads", NULL, "%s",
	    has_clone3 ? "by clone3" : "by clone, without clone3");
}

static void check_termination_log(struct doctor *d)
{
	const char *path = getenv("PVCBENCH_TERMINATION_LOG");

	path = path && *path ? path : TERMINATION_LOG_PATH;
	if (access(path, W_OK) == 0)
		say(d, DOCTOR_OK, "termination log", NULL, "%s", path);
	else
		say(d, DOCTOR_MISSING, "termination log",
		    "a pod has one; without it the summary is in the log only", "%s: %s", path,
		    err_words(errno));
}

static void check_writable(struct doctor *d)
{
	if (d->target.is_block)
		say(d, DOCTOR_OK, "target", NULL, "block device '%s', not written to",
		    d->target.path);
	else if (d->target.is_container_root)
		say(d, DOCTOR_LIMITED, "target", "mount a volume and name its path",
		    "'%s' is writable, on the container's own root file system", d->target.path);
	else
		say(d, DOCTOR_OK, "target", NULL, "'%s' is writable", d->target.path);
}

static void check_file_system(struct doctor *d)
{
	const struct mount *mount = &d->target.mount;

	say(d, DOCTOR_OK, "file system", NULL, "%s from %s%s%s%s%s, %s",
	    mount->fs[0] ? mount->fs : "unknown", mount->source[0] ? mount->source : "unknown",
	    mount->device[0] ? ", device " : "", mount->device,
	    mount->scheduler[0] ? ", scheduler " : "", mount->scheduler,
	    mount->options[0] ? mount->options : "no options");
}

static void check_space(struct doctor *d)
{
	static const char *const remedies[] = {
	        [DOCTOR_LIMITED] =
	                "files are shrunk to what fits; a larger volume gives figures that count",
	        [DOCTOR_MISSING] =
	                "no test fits beside what stays free; a larger or emptier volume is needed",
	};
	uint64_t budget = target_budget(&d->target);
	enum doctor_status status = budget >= SPACE_ENOUGH ? DOCTOR_OK
	                            : budget >= TRY_BYTES  ? DOCTOR_LIMITED
	                                                   : DOCTOR_MISSING;
	char capacity[UNITS_TEXT_MAX], free_space[UNITS_TEXT_MAX], usable[UNITS_TEXT_MAX];

	say(d, status, "space", remedies[status], "%s, %s free, %s for us%s",
	    d->target.capacity_bytes ? units_format_size(d->target.capacity_bytes, capacity)
	                             : "unknown capacity",
	    units_format_size(d->target.free_bytes, free_space), units_format_size(budget, usable),
	    d->target.is_node_local ? ", on a disk that the node's pods share" : "");
}

/* Of a device: what a run with destroy: true would refuse. */
static void check_content(struct doctor *d)
{
	if (!d->target.is_block)
		return;
	if (!d->target.device_content[0])
		say(d, DOCTOR_OK, "content", NULL,
		    "both ends are zero; destroy: true is needed to write");
	else
		say(d, DOCTOR_LIMITED, "content",
		    "tests that write are refused; zero both ends, or say destroy: anything",
		    "its ends hold %s", d->target.device_content);
}

static void check_leftovers(struct doctor *d)
{
	struct leftovers found;
	struct claim own;
	uint64_t bytes = 0;
	unsigned alive = 0;
	char text[UNITS_TEXT_MAX];

	if (d->target.is_block)
		return;
	claim_describe(&own, "");
	leftovers_find(&found, &d->target, &own);
	for (unsigned i = 0; i < found.n; i++) {
		alive += found.list[i].life == CLAIM_ALIVE;
		bytes += found.list[i].bytes;
	}
	if (!found.n)
		say(d, DOCTOR_OK, "leftovers", NULL, "no other run has files here");
	else
		say(d, DOCTOR_LIMITED, "leftovers",
		    "clean: true in the plan removes those of dead runs before the first test",
		    "%u other runs have %s here, %u of them are seen to be alive", found.n,
		    units_format_size(bytes, text), alive);
	leftovers_destroy(&found);
}

static void check_heartbeat(struct doctor *d)
{
	uint64_t now_ns;

	if (d->target.is_block)
		return;
	if (leftover_clock(&d->target, &now_ns) == 0)
		say(d, DOCTOR_OK, "heartbeat", NULL, "the file system stamps it");
	else
		say(d, DOCTOR_LIMITED, "heartbeat",
		    "what a dead run leaves here is removed by hand, since none can be told from "
		    "one that is alive",
		    "no time of change can be set");
}

static void check_direct(struct doctor *d)
{
	if (d->file.direct)
		say(d, DOCTOR_OK, "O_DIRECT", NULL, "alignment %u bytes", d->file.align);
	else
		say(d, DOCTOR_LIMITED, "O_DIRECT", "figures may be those of the page cache", "%s",
		    d->file.direct_reason);
}

static void check_nowait(struct doctor *d)
{
	if (file_supports_nowait(d->file.fd))
		say(d, DOCTOR_OK, "RWF_NOWAIT", NULL, "taken");
	else
		say(d, DOCTOR_LIMITED, "RWF_NOWAIT",
		    "this file system serves io_uring by kernel threads; auto takes psync",
		    "refused");
}

static void check_engine(struct doctor *d, const struct engine *engine, const char *otherwise)
{
	struct err err;
	int ret = engine_try(engine, d->file.fd, IO_READ, 0, TRY_BYTES, &err);
	const char *cause = ret < 0 ? engine_cause(engine, -ret) : NULL;
	char remedy[FIGURE_MAX];

	if (ret >= 0) {
		say(d, DOCTOR_OK, engine->name, NULL, "a read was served");
		return;
	}
	snprintf(remedy, sizeof(remedy), "%s%s%s", cause ? cause : "", cause ? "; " : "",
	         otherwise);
	say(d, DOCTOR_LIMITED, engine->name, remedy, "%s", err.text);
}

static void check_uring(struct doctor *d)
{
	check_engine(d, &engine_uring,
	             "the component io-uring-localhost allows it, auto goes on with libaio");
}

static void check_aio(struct doctor *d)
{
	check_engine(d, &engine_aio, "auto goes on with psync");
}

static void check_psync(struct doctor *d)
{
	check_engine(d, &engine_psync, "no engine is left");
}

/* Of the engine that auto takes here. */
static void check_depth(struct doctor *d)
{
	struct engine_wish wish = {.name = "auto",
	                           .fd = d->file.fd,
	                           .direct = d->file.direct,
	                           .bytes = TRY_BYTES,
	                           .depth = 1,
	                           .jobs = 1};
	struct engine_choice choice;
	struct err err;

	if (engine_choose(&choice, &wish, &err) < 0)
		say(d, DOCTOR_MISSING, "queue depth", "no test can run here", "%s", err.text);
	else if (choice.engine->max_depth > 1)
		say(d, DOCTOR_OK, "queue depth", NULL, "auto takes %s, any depth",
		    choice.engine->name);
	else
		say(d, DOCTOR_LIMITED, "queue depth",
		    "a deeper test is lowered to that; see the lines of the other engines",
		    "auto takes %s, a thread for each of %u requests at most in all jobs",
		    choice.engine->name, WORKERS_MAX);
}

typedef void check(struct doctor *d);

static check *const pod_checks[] = {
        check_user,
        check_node,
        check_cpus,
        check_memory,
        check_memlock,
        check_threads,
        check_termination_log,
};

static check *const volume_checks[] = {
        check_writable,  check_file_system, check_space,  check_content,
        check_leftovers, check_heartbeat,   check_direct, check_nowait,
};

static check *const engine_checks[] = {check_uring, check_aio, check_psync, check_depth};

static void run_checks(struct doctor *d, check *const *checks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		checks[i](d);
}

/* A block of our own to read, so that engines have something to show. */
static int write_block(struct doctor *d, struct err *err)
{
	int ret = engine_try(&engine_psync, d->file.fd, IO_WRITE, 0, TRY_BYTES, err);

	if (ret >= 0)
		return 0;
	err->class = ERR_TARGET;
	return err_wrap(err, "cannot write to '%s'", d->target.path);
}

static int open_file(struct doctor *d, struct err *err)
{
	if (file_open(&d->file, &d->target, &d->wish, err) < 0 ||
	    file_try_direct(&d->file, &d->target, &d->wish, 0, err) < 0)
		return -1;
	return d->target.is_block ? 0 : write_block(d, err);
}

static int look_at_volume(struct doctor *d, struct err *err)
{
	char id[TARGET_RUN_ID_MAX];

	snprintf(id, sizeof(id), "doctor-%d-%llx", getpid(), (unsigned long long)clock_now_ns());
	d->wish = (struct file_wish){.name = d->target.is_block ? NULL : "data.0",
	                             .writable = !d->target.is_block,
	                             .block_bytes = TRY_BYTES};
	if (target_enter(&d->target, id, err) < 0)
		return -1;

	int ret = open_file(d, err);

	if (ret == 0) {
		run_checks(d, volume_checks, ARRAY_SIZE(volume_checks));
		run_checks(d, engine_checks, ARRAY_SIZE(engine_checks));
	}
	file_close(&d->file);

	struct err leave_err;

	if (target_leave(&d->target, &leave_err) < 0 && ret == 0) {
		*err = leave_err;
		ret = -1;
	}
	return ret;
}

static void look_at_engines(struct doctor *d)
{
	d->file.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (d->file.fd >= 0)
		run_checks(d, engine_checks, ARRAY_SIZE(engine_checks));
	file_close(&d->file);
}

int doctor_run(const char *path, FILE *out, struct err *err)
{
	struct doctor d = {.out = out, .file = {.fd = -1}};

	if (path && (target_init(&d.target, path, err) || target_check_writable(&d.target, err))) {
		target_destroy(&d.target);
		return -1;
	}
	host_read(&d.host);
	run_checks(&d, pod_checks, ARRAY_SIZE(pod_checks));
	if (!path) {
		look_at_engines(&d);
		return 0;
	}

	int ret = look_at_volume(&d, err);

	target_destroy(&d.target);
	return ret;
}
