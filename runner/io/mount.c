/*
 * The mount that holds a path is a line of /proc/self/mountinfo, the longest mount point
 * that the path lies below; what it lies on is found in /sys by the number of its device.
 */
#include "io/mount.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "io/host.h"

#define LINK_BYTES 4096

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
	snprintf(out, size, "%s", options);
	for (const char *at = super; *at;) {
		size_t n = strcspn(at, ",");
		size_t used = strlen(out);

		if (!host_list_has(options, at, n))
			snprintf(out + used, size - used, ",%.*s", (int)n, at);
		at += n + (at[n] == ',');
	}
}

static void take_line(struct mount *mount, const struct mount_line *line)
{
	mount->major = line->major;
	mount->minor = line->minor;
	snprintf(mount->fs, sizeof(mount->fs), "%s", line->fs);
	snprintf(mount->source, sizeof(mount->source), "%s", line->source);
	snprintf(mount->mount_point, sizeof(mount->mount_point), "%s", line->point);
	snprintf(mount->root, sizeof(mount->root), "%s", line->root);
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

char *mount_read_queue(unsigned major, unsigned minor, const char *attribute, char *out,
                       size_t size)
{
	static const char *const places[] = {"queue", "../queue"}; /* a disk; a partition */
	char path[256];

	out[0] = '\0';
	for (size_t i = 0; out[0] == '\0' && i < ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s/%s", major, minor, places[i],
		         attribute);
		host_read_line(path, out, size);
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
	char path[64], link[LINK_BYTES];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major, minor);

	ssize_t n = readlink(path, link, sizeof(link) - 1);

	if (n <= 0)
		return;
	link[n] = '\0';
	snprintf(mount->device, sizeof(mount->device), "%s", strrchr(link, '/') + 1);
	mount_read_queue(major, minor, "scheduler", mount->scheduler, sizeof(mount->scheduler));
	choose_scheduler(mount->scheduler);
	mount_read_queue(major, minor, "write_cache", mount->write_cache,
	                 sizeof(mount->write_cache));
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
	snprintf(mount->fs, sizeof(mount->fs), "%s", "block device");
	snprintf(mount->source, sizeof(mount->source), "%s", path);
	read_device(mount, mount->major, mount->minor);
	mount_read_queue(mount->major, mount->minor, "logical_block_size", text, sizeof(text));
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

static const char *const fat[] = {"vfat", "msdos", "fat", NULL};
/* As a FUSE type behind "fuse.", or as the source of a mount whose type is only "fuse". */
static const char *const object_stores[] = {
        "s3fs",    "obsfs",   "ossfs",  "cosfs",    "blobfuse",      "blobfuse2", "goofys",
        "geesefs", "gcsfuse", "rclone", "s3backer", "mountpoint-s3", "s3ql",      NULL,
};

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

bool mount_is_object_store(const struct mount *mount)
{
	const char *type = mount->fs;

	if (strncmp(type, "fuse", 4) != 0)
		return false;
	return is_one_of(type[4] == '.' ? type + 5 : mount->source, object_stores);
}

uint64_t mount_file_bytes_max(const struct mount *mount)
{
	return is_one_of(mount->fs, fat) ? 4 * GIB - 1 : 0;
}

bool mount_is_node_local(const struct mount *mount)
{
	bool on_device = mount->major != 0 || mount->device[0];

	return !mount->mount_point[0] || is_one_of(mount->fs, layered) || mount->on_kubelet_disk ||
	       (on_device && strstr(mount->root, "/kubernetes.io~empty-dir/"));
}

bool mount_is_container_root(const struct mount *mount, bool in_pod)
{
	return strcmp(mount->mount_point, "/") == 0 && (is_one_of(mount->fs, layered) || in_pod);
}
