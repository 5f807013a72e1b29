/*
 * /proc, /sys and the environment, read once. Parsers take a FILE or a root, so
 * that the odd cases (cgroup v1, bind mounts, escapes) can be given to them as
 * text.
 *
 * In a container the paths of /proc/self/cgroup may be those of the node, while
 * /sys/fs/cgroup shows only our own group. So every group from the full path up
 * to the root is tried; those that do not exist are passed over, and the least
 * limit found is the one that binds.
 */
#include "io/host.h"

#include <ctype.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#define PATH_MAX_HERE 4096
#define CPUS_MAX      8192

static void copy_text(char *out, size_t size, const char *text)
{
	size_t n = (size_t)min_u64(strlen(text), size - 1);

	memcpy(out, text, n);
	out[n] = '\0';
}

/* The first line of a file without its end; empty when it cannot be read. */
static char *read_line(const char *path, char *out, size_t size)
{
	CLEANUP(file) FILE *in = fopen(path, "re");

	if (!in || !fgets(out, (int)size, in))
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return out;
}

static uint64_t read_memory_total(void)
{
	CLEANUP(file) FILE *in = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "MemTotal: %llu kB", &kib) == 1)
			break;
	}
	return kib * KIB;
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
static void limit_memory(struct host *host, uint64_t bytes)
{
	if (bytes > 0 && (bytes < host->memory_bytes || host->memory_bytes == 0)) {
		host->memory_bytes = bytes;
		host->memory_limited = true;
	}
}

static void read_cpu_v2(struct host *host, const char *dir)
{
	char path[PATH_MAX_HERE], text[64];
	double quota, period;

	snprintf(path, sizeof(path), "%s/cpu.max", dir);
	if (sscanf(read_line(path, text, sizeof(text)), "%lf %lf", &quota, &period) == 2 &&
	    period > 0)
		limit_cpus(host, quota / period);
}

static void read_cpu_v1(struct host *host, const char *dir)
{
	char path[PATH_MAX_HERE], text[64];
	double quota, period;

	snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", dir);
	quota = strtod(read_line(path, text, sizeof(text)), NULL);
	snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", dir);
	period = strtod(read_line(path, text, sizeof(text)), NULL);
	if (quota > 0 && period > 0)
		limit_cpus(host, quota / period);
}

/* "max" reads as 0: no limit. */
static void read_memory_v2(struct host *host, const char *dir)
{
	char path[PATH_MAX_HERE], text[64];

	snprintf(path, sizeof(path), "%s/memory.max", dir);
	limit_memory(host, strtoull(read_line(path, text, sizeof(text)), NULL, 10));
}

static void read_memory_v1(struct host *host, const char *dir)
{
	char path[PATH_MAX_HERE], text[64];

	snprintf(path, sizeof(path), "%s/memory.limit_in_bytes", dir);
	limit_memory(host, strtoull(read_line(path, text, sizeof(text)), NULL, 10));
}

/* Where a controller's groups lie below sys_root, and how a limit is read there. */
static const struct controller {
	const char *name; /* in the second column of /proc/self/cgroup; "": v2 */
	const char *dir;
	void (*read)(struct host *host, const char *dir);
} controllers[] = {
        {"", "", read_cpu_v2},
        {"", "", read_memory_v2},
        {"cpu", "/cpu", read_cpu_v1},
        {"cpu", "/cpu,cpuacct", read_cpu_v1},
        {"memory", "/memory", read_memory_v1},
};

/* Whether name (of n bytes) is one of the comma-separated names. */
static bool list_has(const char *names, const char *name, size_t n)
{
	for (const char *at = names; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == '\0'))
			return true;
	}
	return false;
}

/* Read the limits of a group and of all above it, up to the hierarchy's root. */
static void read_upward(struct host *host, const struct controller *controller,
                        const char *sys_root, const char *group)
{
	char dir[PATH_MAX_HERE];
	int root = snprintf(dir, sizeof(dir), "%s%s", sys_root, controller->dir);
	int n = snprintf(dir, sizeof(dir), "%s%s%s", sys_root, controller->dir, group);

	if (n >= (int)sizeof(dir))
		return;
	while (n >= root) {
		dir[n] = '\0';
		controller->read(host, dir);
		while (n > root && dir[n - 1] != '/')
			n--;
		n--;
	}
}

void host_read_cgroups(struct host *host, FILE *own_cgroups, const char *sys_root)
{
	char line[PATH_MAX_HERE];

	while (fgets(line, sizeof(line), own_cgroups)) {
		char *names = strchr(line, ':');
		char *group = names ? strchr(names + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(controllers); i++) {
			if (list_has(names + 1, controllers[i].name, strlen(controllers[i].name)))
				read_upward(host, &controllers[i], sys_root, group);
		}
	}
}

/* "2", "0.5" or "500m", as Kubernetes writes CPUs; 0 for anything else. */
static double parse_cpus(const char *text)
{
	char *end;
	double cpus = strtod(text, &end);

	if (end != text && strcmp(end, "m") == 0)
		return cpus / 1000;
	return end != text && *end == '\0' && cpus > 0 ? cpus : 0;
}

static void override_from_environment(struct host *host)
{
	const char *node = getenv("PVCBENCH_NODE");
	const char *cpus_text = getenv("PVCBENCH_CPUS");
	double cpus = cpus_text ? parse_cpus(cpus_text) : 0;

	if (node && *node)
		copy_text(host->node, sizeof(host->node), node);
	if (cpus > 0) {
		host->cpus = cpus;
		host->cpu_quota = true;
	}
}

void host_read(struct host *host)
{
	CLEANUP(file) FILE *own_cgroups = fopen("/proc/self/cgroup", "re");
	struct utsname names;

	*host = (struct host){0};
	if (uname(&names) == 0) {
		copy_text(host->kernel, sizeof(host->kernel), names.release);
		copy_text(host->machine, sizeof(host->machine), names.machine);
		copy_text(host->node, sizeof(host->node), names.nodename);
	}
	host->cpus = count_own_cpus();
	host->host_memory_bytes = read_memory_total();
	host->memory_bytes = host->host_memory_bytes;
	if (own_cgroups)
		host_read_cgroups(host, own_cgroups, "/sys/fs/cgroup");
	override_from_environment(host);
}

bool host_in_pod(void)
{
	return getenv("KUBERNETES_SERVICE_HOST") != NULL;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Undo mountinfo's \040 and the like, in place. */
static char *unescape(char *text)
{
	char *out = text;
	const char *in = text;

	while (*in) {
		if (in[0] == '\\' && is_octal(in[1]) && is_octal(in[2]) && is_octal(in[3])) {
			*out++ = (char)((in[1] - '0') << 6 | (in[2] - '0') << 3 | (in[3] - '0'));
			in += 4;
		} else {
			*out++ = *in++;
		}
	}
	*out = '\0';
	return text;
}

/*
 * A line of mountinfo, cut in place:
 *
 *	36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 *	id up dev  root  point options   [optional]* - fs  source    super options
 */
struct mount_line {
	unsigned major, minor;
	char *root, *point, *options, *fs, *source, *super_options;
};

static bool parse_mount_line(struct mount_line *out, char *line)
{
	char *rest = line, *word;
	char *words[6] = {0};

	line[strcspn(line, "\n")] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = strsep(&rest, " ");
	if (!words[5] || sscanf(words[2], "%u:%u", &out->major, &out->minor) != 2)
		return false;
	do {
		word = strsep(&rest, " ");
	} while (word && strcmp(word, "-") != 0);
	out->fs = strsep(&rest, " ");
	out->source = strsep(&rest, " ");
	out->super_options = rest;
	if (!out->super_options)
		return false;
	out->root = unescape(words[3]);
	out->point = unescape(words[4]);
	out->options = words[5];
	unescape(out->source);
	return true;
}

/* Whether path is dir or lies below it. */
static bool lies_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (strcmp(dir, "/") == 0)
		return path[0] == '/';
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* The mount's options, then those of the superblock that are not among them. */
static void join_options(char *out, size_t size, const char *options, const char *super)
{
	copy_text(out, size, options);
	for (const char *at = super; *at;) {
		size_t n = strcspn(at, ",");
		size_t used = strlen(out);

		if (!list_has(options, at, n))
			snprintf(out + used, size - used, ",%.*s", (int)n, at);
		at += n + (at[n] == ',');
	}
}

static void take_line(struct mount *mount, const struct mount_line *line)
{
	mount->major = line->major;
	mount->minor = line->minor;
	copy_text(mount->fs, sizeof(mount->fs), line->fs);
	copy_text(mount->source, sizeof(mount->source), line->source);
	copy_text(mount->mount_point, sizeof(mount->mount_point), line->point);
	copy_text(mount->root, sizeof(mount->root), line->root);
	join_options(mount->options, sizeof(mount->options), line->options, line->super_options);
}

bool mount_find(struct mount *mount, FILE *mountinfo, const char *path, unsigned major,
                unsigned minor)
{
	CLEANUP(mem) char *text = NULL;
	size_t size = 0, best_length = 0;
	bool found = false, best_has_device = false;

	while (getline(&text, &size, mountinfo) > 0) {
		struct mount_line line;

		if (!parse_mount_line(&line, text) || !lies_below(path, line.point))
			continue;

		bool has_device = line.major == major && line.minor == minor;
		size_t length = strlen(line.point);

		if (found && (has_device < best_has_device ||
		              (has_device == best_has_device && length < best_length)))
			continue;
		found = true;
		best_has_device = has_device;
		best_length = length;
		take_line(mount, &line);
	}
	return found;
}

char *host_read_queue(unsigned major, unsigned minor, const char *attribute, char *out, size_t size)
{
	static const char *const places[] = {"queue", "../queue"}; /* a disk; a partition */
	char path[256];

	out[0] = '\0';
	for (size_t i = 0; out[0] == '\0' && i < ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s/%s", major, minor, places[i],
		         attribute);
		read_line(path, out, size);
	}
	return out;
}

/* Of "mq-deadline [none] bfq" the chosen one. */
static void choose_scheduler(char *text)
{
	char *open = strchr(text, '[');
	char *close = open ? strchr(open, ']') : NULL;

	if (!close)
		return;
	*close = '\0';
	memmove(text, open + 1, strlen(open + 1) + 1);
}

static void read_device(struct mount *mount, unsigned major, unsigned minor)
{
	char path[64], link[PATH_MAX_HERE];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major, minor);

	ssize_t n = readlink(path, link, sizeof(link) - 1);

	if (n <= 0)
		return;
	link[n] = '\0';
	copy_text(mount->device, sizeof(mount->device), strrchr(link, '/') + 1);
	host_read_queue(major, minor, "scheduler", mount->scheduler, sizeof(mount->scheduler));
	choose_scheduler(mount->scheduler);
}

/* In a pod the kubelet mounts a file of its own directory at /etc/hosts. */
static bool is_on_kubelet_disk(const struct mount *mount)
{
	CLEANUP(file) FILE *in = fopen("/proc/self/mountinfo", "re");
	struct mount hosts = {0};

	return in && mount->major != 0 &&
	       mount_find(&hosts, in, "/etc/hosts", mount->major, mount->minor) &&
	       strcmp(hosts.mount_point, "/etc/hosts") == 0 && hosts.major == mount->major &&
	       hosts.minor == mount->minor;
}

static void read_block_device(struct mount *mount, const char *path, dev_t dev)
{
	char text[HOST_TEXT_MAX];

	mount->major = major(dev);
	mount->minor = minor(dev);
	copy_text(mount->fs, sizeof(mount->fs), "block device");
	copy_text(mount->source, sizeof(mount->source), path);
	read_device(mount, mount->major, mount->minor);
	host_read_queue(mount->major, mount->minor, "logical_block_size", text, sizeof(text));
	mount->block_bytes = strtoull(text, NULL, 10);
}

/* btrfs and overlays number their devices themselves: the source may be the real one. */
static void read_device_below(struct mount *mount)
{
	struct stat st;

	read_device(mount, mount->major, mount->minor);
	if (!mount->device[0] && stat(mount->source, &st) == 0 && S_ISBLK(st.st_mode))
		read_device(mount, major(st.st_rdev), minor(st.st_rdev));
}

void mount_read(struct mount *mount, const char *path)
{
	CLEANUP(file) FILE *in = fopen("/proc/self/mountinfo", "re");
	CLEANUP(mem) char *resolved = realpath(path, NULL);
	struct stat st;
	struct statfs fs;

	*mount = (struct mount){0};
	if (!resolved || stat(resolved, &st) < 0)
		return;
	if (S_ISBLK(st.st_mode)) {
		read_block_device(mount, path, st.st_rdev);
		return;
	}
	if (statfs(resolved, &fs) == 0)
		mount->block_bytes = (uint64_t)fs.f_bsize;
	if (!in || !mount_find(mount, in, resolved, major(st.st_dev), minor(st.st_dev)))
		return;
	read_device_below(mount);
	mount->on_kubelet_disk = is_on_kubelet_disk(mount);
}

static const char *const layered[] = {"overlay", "aufs", "fuse.fuse-overlayfs", NULL};
static const char *const in_memory[] = {"tmpfs", "ramfs", NULL};

static bool is_one_of(const char *fs, const char *const *names)
{
	while (*names && strcmp(*names, fs) != 0)
		names++;
	return *names != NULL;
}

bool mount_is_memory(const struct mount *mount)
{
	return is_one_of(mount->fs, in_memory);
}

bool mount_is_node_local(const struct mount *mount)
{
	bool on_device = mount->major != 0 || mount->device[0];

	return is_one_of(mount->fs, layered) || mount->on_kubelet_disk ||
	       (on_device && strstr(mount->root, "/kubernetes.io~empty-dir/"));
}

bool mount_is_container_root(const struct mount *mount, bool in_pod)
{
	return strcmp(mount->mount_point, "/") == 0 && (is_one_of(mount->fs, layered) || in_pod);
}
