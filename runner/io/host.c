/*
 * /proc, /sys and the environment, read once. Parsers take a FILE or a root, so
 * that the odd cases (cgroup v1, nested groups) can be given to them as text.
 *
 * In a container the paths of /proc/self/cgroup may be those of the node, while
 * /sys/fs/cgroup shows only our own group. So every group from the full path up
 * to the root is tried; those that do not exist are passed over, and the least
 * limit found is the one that binds.
 */
#include "io/host.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/utsname.h>

#define LINE_BYTES 4096 /* of a path, of a line that holds one */
#define CPUS_MAX   8192

char *host_read_line(const char *path, char *out, size_t size)
{
	CLEANUP(file) FILE *in = fopen(path, "re");

	if (!in || !fgets(out, (int)size, in))
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return out;
}

/* Of a file with lines as "MemTotal:  1234 kB". */
static uint64_t read_kib(const char *path, const char *name)
{
	CLEANUP(file) FILE *in = fopen(path, "re");
	size_t n = strlen(name);
	char line[128];

	while (in && fgets(line, sizeof(line), in))
		if (!strncmp(line, name, n) && line[n] == ':')
			return strtoull(line + n + 1, NULL, 10) * KIB;
	return 0;
}

/* getrusage would tell of what was this process before it was pvcbench, too. */
uint64_t host_peak_rss_bytes(void)
{
	return read_kib("/proc/self/status", "VmHWM");
}

static double count_own_cpus(void)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	int n = 0;

	if (set && sched_getaffinity(0, size, set) == 0)
		n = CPU_COUNT_S(size, set);
	CPU_FREE(set);
	return n;
}

static void limit_cpus(struct host *host, double cpus)
{
	if (cpus > 0 && (cpus < host->cpus || host->cpus == 0)) {
		host->cpus = cpus;
		host->cpu_quota = true;
	}
}

/* A limit beyond the machine's memory limits nothing: so v1 writes "unlimited". */
static void limit_memory(struct host *host, uint64_t bytes, bool v1)
{
	if (bytes > 0 && (bytes < host->memory_bytes || host->memory_bytes == 0)) {
		host->memory_bytes = bytes;
		host->memory_limited = true;
		host->memory_v1 = v1;
	}
}

static void read_cpu_v2(struct host *host, const char *dir)
{
	char path[LINE_BYTES], text[64];
	double quota, period;

	snprintf(path, sizeof(path), "%s/cpu.max", dir);
	if (sscanf(host_read_line(path, text, sizeof(text)), "%lf %lf", &quota, &period) == 2 &&
	    period > 0)
		limit_cpus(host, quota / period);
}

static void read_cpu_v1(struct host *host, const char *dir)
{
	char path[LINE_BYTES], text[64];
	double quota, period;

	snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", dir);
	quota = strtod(host_read_line(path, text, sizeof(text)), NULL);
	snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", dir);
	period = strtod(host_read_line(path, text, sizeof(text)), NULL);
	if (quota > 0 && period > 0)
		limit_cpus(host, quota / period);
}

/* "max" reads as 0: no limit. */
static void read_memory_v2(struct host *host, const char *dir)
{
	char path[LINE_BYTES], text[64];

	snprintf(path, sizeof(path), "%s/memory.max", dir);
	limit_memory(host, strtoull(host_read_line(path, text, sizeof(text)), NULL, 10), false);
}

static void read_memory_v1(struct host *host, const char *dir)
{
	char path[LINE_BYTES], text[64];

	snprintf(path, sizeof(path), "%s/memory.limit_in_bytes", dir);
	limit_memory(host, strtoull(host_read_line(path, text, sizeof(text)), NULL, 10), true);
}

/* How a limit of a controller is read in the directory of a group. */
static const struct limit_reader {
	const char *controller;
	void (*read)(struct host *host, const char *dir);
} limit_readers[] = {
        {"", read_cpu_v2},
        {"", read_memory_v2},
        {"cpu", read_cpu_v1},
        {"memory", read_memory_v1},
};

/* Where the groups of a controller lie below the root of all. */
static const struct hierarchy {
	const char *controller, *dir;
} hierarchies[] = {
        {"", ""},
        {"cpu", "/cpu"},
        {"cpu", "/cpu,cpuacct"},
        {"memory", "/memory"},
        {"blkio", "/blkio"},
};

bool host_list_has(const char *names, const char *name, size_t n)
{
	for (const char *at = names; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == '\0'))
			return true;
	}
	return false;
}

/* A group and all above it, up to the hierarchy's root. */
static void visit_upward(const struct hierarchy *hierarchy, const char *sys_root, const char *group,
                         host_visit *visit, void *arg)
{
	char dir[LINE_BYTES];
	int root = snprintf(dir, sizeof(dir), "%s%s", sys_root, hierarchy->dir);
	int n = snprintf(dir, sizeof(dir), "%s%s%s", sys_root, hierarchy->dir, group);

	if (n >= (int)sizeof(dir))
		return;
	while (n >= root) {
		dir[n] = '\0';
		visit(arg, hierarchy->controller, dir);
		while (n > root && dir[n - 1] != '/')
			n--;
		n--;
	}
}

void host_visit_groups(FILE *own_cgroups, const char *sys_root, host_visit *visit, void *arg)
{
	char line[LINE_BYTES];

	while (fgets(line, sizeof(line), own_cgroups)) {
		char *names = strchr(line, ':');
		char *group = names ? strchr(names + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(hierarchies); i++) {
			const char *controller = hierarchies[i].controller;

			if (host_list_has(names + 1, controller, strlen(controller)))
				visit_upward(&hierarchies[i], sys_root, group, visit, arg);
		}
	}
}

static void read_limits(void *arg, const char *controller, const char *dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(limit_readers); i++)
		if (!strcmp(limit_readers[i].controller, controller))
			limit_readers[i].read(arg, dir);
}

void host_read_cgroups(struct host *host, FILE *own_cgroups, const char *sys_root)
{
	host_visit_groups(own_cgroups, sys_root, read_limits, host);
}

/* "2", "0.5" or "500m", as Kubernetes writes CPUs; 0 for anything else. */
static double parse_cpus(const char *text)
{
	char *end;
	double cpus = strtod(text, &end);

	if (end == text)
		return 0;
	if (strcmp(end, "m") == 0) {
		cpus /= 1000;
		end++;
	}
	return *end == '\0' && isfinite(cpus) && cpus > 0 ? cpus : 0;
}

/* As Kubernetes writes activeDeadlineSeconds; 0 when text is no such number. */
static uint64_t parse_seconds(const char *text)
{
	char *end;
	unsigned long seconds = strtoul(text, &end, 10);

	return *end == '\0' && seconds <= UINT32_MAX ? seconds * NSEC_PER_SEC : 0;
}

char *host_copy_graphic(char *out, size_t size, const char *text)
{
	size_t n = 0;

	for (; text && text[n] && n < size - 1; n++)
		out[n] = text[n] > ' ' && text[n] < 0x7f ? text[n] : '_';
	out[n] = '\0';
	return out;
}

static void override_from_environment(struct host *host)
{
	const char *node = getenv("PVCBENCH_NODE");
	const char *cpus_text = getenv("PVCBENCH_CPUS");
	const char *deadline_text = getenv("PVCBENCH_DEADLINE");
	double cpus = cpus_text ? parse_cpus(cpus_text) : 0;

	if (deadline_text)
		host->deadline_ns = parse_seconds(deadline_text);
	if (node && *node)
		host_copy_graphic(host->node, sizeof(host->node), node);
	/* Of two limits the smaller: Kubernetes rounds its variable up to whole CPUs. */
	if (cpus > 0)
		limit_cpus(host, cpus);
}

void host_read(struct host *host)
{
	CLEANUP(file) FILE *own_cgroups = fopen("/proc/self/cgroup", "re");
	struct utsname names;

	*host = (struct host){0};
	if (uname(&names) == 0) {
		snprintf(host->kernel, sizeof(host->kernel), "%s", names.release);
		snprintf(host->machine, sizeof(host->machine), "%s", names.machine);
		snprintf(host->node, sizeof(host->node), "%s", names.nodename);
	}
	host->cpus = count_own_cpus();
	host->host_memory_bytes = read_kib("/proc/meminfo", "MemTotal");
	host->memory_bytes = host->host_memory_bytes;
	if (own_cgroups)
		host_read_cgroups(host, own_cgroups, "/sys/fs/cgroup");
	override_from_environment(host);
}

bool host_in_pod(void)
{
	return getenv("KUBERNETES_SERVICE_HOST") != NULL;
}

/* "42 (a name) D 1 ...": the name may hold anything. */
static bool is_in_kernel(const char *stat)
{
	const char *after_name = strrchr(stat, ')');

	return after_name && strncmp(after_name, ") D", 3) == 0;
}

unsigned host_threads_in_kernel(void)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	char path[64 + sizeof(entry->d_name)], stat[LINE_BYTES];
	unsigned n = 0;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat", entry->d_name);
		n += is_in_kernel(host_read_line(path, stat, sizeof(stat)));
	}
	if (dir)
		closedir(dir);
	return n;
}
