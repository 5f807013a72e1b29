/*
 * Files of numbers in /proc and /sys: most are lines of a name and a number, a device's is
 * one line of columns.
 */
#include "io/counters.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/host.h"

#define TEXT_BYTES   4096
#define SECTOR_BYTES 512 /* of the block layer's counters, whatever the device has */

static int open_in(const char *dir, const char *name)
{
	char path[TEXT_BYTES];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* From its start, as it is now; whether there is something. */
static bool read_text(int fd, char text[TEXT_BYTES])
{
	ssize_t n = fd < 0 ? -1 : pread(fd, text, TEXT_BYTES - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The number in the line that starts with this name; whether there is such a line. */
static bool find(const char *text, const char *name, uint64_t *value)
{
	size_t n = strlen(name);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, name, n) && (at[n] == ' ' || at[n] == ':')) {
			*value = strtoull(at + n + 1, NULL, 10);
			return true;
		}
	}
	return false;
}

/* ---- opening ---- */

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void open_quota(struct counters_source *source, const char *dir)
{
	char text[TEXT_BYTES];
	uint64_t value;
	int fd = open_in(dir, "cpu.stat");

	if (read_text(fd, text) && find(text, "nr_periods", &value))
		source->quota[source->n_quotas++] = fd;
	else
		close_file(&fd);
}

/*
 * Of version 2 only what a group met itself: its memory.events has what its neighbours in a
 * group above met, too. Older kernels have no such file, and then our own group has to do.
 */
static void open_limit(struct counters_source *source, const char *controller, const char *dir)
{
	bool v2 = !controller[0], own = source->n_limits == 0;
	int fd = open_in(dir, v2 ? "memory.events.local" : "memory.failcnt");

	if (fd < 0 && v2 && own)
		fd = open_in(dir, "memory.events");
	if (fd < 0)
		return;
	if (v2 && own)
		source->pressure = open_in(dir, "memory.pressure");
	source->limit[source->n_limits++] = fd;
}

static void open_group(void *arg, const char *controller, const char *dir)
{
	struct counters_source *source = arg;

	if (source->n_quotas < COUNTERS_GROUPS_MAX && strcmp(controller, "memory") != 0)
		open_quota(source, dir);
	if (source->n_limits < COUNTERS_GROUPS_MAX && strcmp(controller, "cpu") != 0)
		open_limit(source, controller, dir);
}

void counters_open_groups(struct counters_source *source, FILE *own_cgroups, const char *sys_root)
{
	host_visit_groups(own_cgroups, sys_root, open_group, source);
}

void counters_open(struct counters_source *source, unsigned device_major, unsigned device_minor)
{
	CLEANUP(file) FILE *own_cgroups = fopen("/proc/self/cgroup", "re");
	char dir[64];

	*source = (struct counters_source){.device = -1, .pressure = -1};
	source->own_io = open_in("/proc/self", "io");
	if (device_major || device_minor) {
		snprintf(dir, sizeof(dir), "/sys/dev/block/%u:%u", device_major, device_minor);
		source->device = open_in(dir, "stat");
	}
	if (own_cgroups)
		counters_open_groups(source, own_cgroups, "/sys/fs/cgroup");
}

void counters_close(struct counters_source *source)
{
	close_file(&source->own_io);
	close_file(&source->device);
	close_file(&source->pressure);
	for (unsigned i = 0; i < source->n_quotas; i++)
		close_file(&source->quota[i]);
	for (unsigned i = 0; i < source->n_limits; i++)
		close_file(&source->limit[i]);
	source->n_quotas = source->n_limits = 0;
}

/* ---- reading ---- */

static uint64_t time_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NSEC_PER_SEC + (uint64_t)time->tv_usec * NSEC_PER_USEC;
}

static void read_cpu(struct counters *c)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		return;
	c->cpu_user_ns = time_ns(&usage.ru_utime);
	c->cpu_system_ns = time_ns(&usage.ru_stime);
}

/* schedstat is "ON-CPU READY TIMESLICES"; kernels may be built without it. */
static void read_threads(struct counters *c)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	char path[64 + sizeof(entry->d_name)], line[128];

	while (dir && c->n_threads < COUNTERS_THREADS_MAX && (entry = readdir(dir))) {
		struct counters_thread *thread = &c->threads[c->n_threads];
		unsigned long long cpu, wait;

		snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", entry->d_name);
		if (entry->d_name[0] == '.' ||
		    sscanf(host_read_line(path, line, sizeof(line)), "%llu %llu", &cpu, &wait) != 2)
			continue;
		*thread = (struct counters_thread){.tid = (pid_t)strtol(entry->d_name, NULL, 10),
		                                   .cpu_ns = cpu,
		                                   .wait_ns = wait};
		c->n_threads++;
	}
	if (dir)
		closedir(dir);
}

static void read_quota(int fd, struct counters_quota *quota)
{
	char text[TEXT_BYTES];

	read_text(fd, text);
	find(text, "nr_periods", &quota->periods);
	find(text, "nr_throttled", &quota->throttled_periods);
	if (find(text, "throttled_usec", &quota->throttled_ns))
		quota->throttled_ns *= NSEC_PER_USEC;
	else
		find(text, "throttled_time", &quota->throttled_ns);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234", in us. */
static void read_pressure(int fd, struct counters *c)
{
	char text[TEXT_BYTES];
	const char *total = read_text(fd, text) ? strstr(text, "total=") : NULL;

	c->has_pressure = total;
	if (total)
		c->stalled_ns = strtoull(total + strlen("total="), NULL, 10) * NSEC_PER_USEC;
}

static void read_limit(int fd, struct counters_limit *limit)
{
	char text[TEXT_BYTES];
	uint64_t max = 0, high = 0;

	read_text(fd, text);
	if (find(text, "max", &max)) {
		find(text, "high", &high);
		find(text, "oom_kill", &limit->kills);
		limit->met = max + high;
	} else {
		limit->met = strtoull(text, NULL, 10); /* memory.failcnt is a number alone */
	}
}

static void read_io(const struct counters_source *source, struct counters *c)
{
	char text[TEXT_BYTES];
	unsigned long long reads, writes;

	c->has_io = read_text(source->own_io, text) && find(text, "read_bytes", &c->read_bytes) &&
	            find(text, "write_bytes", &c->write_bytes);
	if (!read_text(source->device, text) ||
	    sscanf(text, "%*u %*u %llu %*u %*u %*u %llu", &reads, &writes) != 2)
		return;
	c->has_device = reads || writes;
	c->device_read_bytes = reads * SECTOR_BYTES;
	c->device_write_bytes = writes * SECTOR_BYTES;
}

void counters_read(const struct counters_source *source, struct counters *c)
{
	*c = (struct counters){.n_quotas = source->n_quotas, .n_limits = source->n_limits};
	c->at_ns = clock_now_ns();
	read_io(source, c);
	read_cpu(c);
	for (unsigned i = 0; i < source->n_quotas; i++)
		read_quota(source->quota[i], &c->quotas[i]);
	for (unsigned i = 0; i < source->n_limits; i++)
		read_limit(source->limit[i], &c->limits[i]);
	read_pressure(source->pressure, c);
	read_threads(c);
}
