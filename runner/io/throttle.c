/*
 * A line for each device:
 *
 *	io.max                            8:16 rbps=2097152 wbps=max riops=max wiops=120
 *	blkio.throttle.read_iops_device   8:16 120
 */
#include "io/throttle.h"

#include <string.h>
#include <unistd.h>

#include "io/host.h"

#define PATH_BYTES 4096

struct search {
	struct throttle *throttle;
	char device[32]; /* "8:16" */
};

static const struct key {
	size_t member;
	const char *v2, *v1;
} keys[] = {
        {offsetof(struct throttle, read_iops), "riops", "read_iops_device"},
        {offsetof(struct throttle, write_iops), "wiops", "write_iops_device"},
        {offsetof(struct throttle, read_bytes), "rbps", "read_bps_device"},
        {offsetof(struct throttle, write_bytes), "wbps", "write_bps_device"},
};

/* "max" reads as 0, which is none. */
static void lower(struct throttle *throttle, const struct key *key, const char *text)
{
	uint64_t *limit = (uint64_t *)((char *)throttle + key->member);
	uint64_t value = strtoull(text, NULL, 10);

	if (value && (!*limit || value < *limit))
		*limit = value;
}

/* What stands behind the device in its line of the file; NULL where there is none. */
static char *find_line(const struct search *search, const char *path, char *line, size_t size)
{
	CLEANUP(file) FILE *in = fopen(path, "re");
	size_t n = strlen(search->device);

	while (in && fgets(line, (int)size, in))
		if (!strncmp(line, search->device, n) && line[n] == ' ')
			return line + n + 1;
	return NULL;
}

static void read_v2(const struct search *search, const char *dir)
{
	char path[PATH_BYTES], line[256], *save = NULL, *text;

	if (snprintf(path, sizeof(path), "%s/io.max", dir) >= (int)sizeof(path))
		return;
	text = find_line(search, path, line, sizeof(line));
	for (text = text ? strtok_r(text, " \n", &save) : NULL; text;
	     text = strtok_r(NULL, " \n", &save))
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			size_t n = strlen(keys[i].v2);

			if (!strncmp(text, keys[i].v2, n) && text[n] == '=')
				lower(search->throttle, &keys[i], text + n + 1);
		}
}

static void read_v1(const struct search *search, const char *dir)
{
	char path[PATH_BYTES], line[256];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *text = NULL;

		if (snprintf(path, sizeof(path), "%s/blkio.throttle.%s", dir, keys[i].v1) <
		    (int)sizeof(path))
			text = find_line(search, path, line, sizeof(line));
		if (text)
			lower(search->throttle, &keys[i], text);
	}
}

static void visit(void *arg, const char *controller, const char *dir)
{
	if (!controller[0])
		read_v2(arg, dir);
	else if (!strcmp(controller, "blkio"))
		read_v1(arg, dir);
}

void throttle_read_groups(struct throttle *throttle, FILE *own_cgroups, const char *sys_root,
                          unsigned major, unsigned minor)
{
	struct search search = {.throttle = throttle};

	snprintf(search.device, sizeof(search.device), "%u:%u", major, minor);
	host_visit_groups(own_cgroups, sys_root, visit, &search);
}

static void read_device(struct throttle *throttle, unsigned major, unsigned minor)
{
	CLEANUP(file) FILE *own_cgroups = fopen("/proc/self/cgroup", "re");

	if (own_cgroups)
		throttle_read_groups(throttle, own_cgroups, "/sys/fs/cgroup", major, minor);
}

void throttle_read(struct throttle *throttle, unsigned major, unsigned minor)
{
	char path[64], disk[32];

	*throttle = (struct throttle){0};
	if (!major)
		return;
	read_device(throttle, major, minor);
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", major, minor);
	if (access(path, F_OK))
		return;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", major, minor);
	if (sscanf(host_read_line(path, disk, sizeof(disk)), "%u:%u", &major, &minor) == 2)
		read_device(throttle, major, minor);
}
