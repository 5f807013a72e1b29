/*
 * Bounded in names, in directories opened and in time, since a volume may hold
 * anything. A directory is opened without following links, and on the target's own file
 * system only; what is said of it is said of that descriptor.
 */
#include "io/leftover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define NAMES_MAX       1000000
#define DIRECTORIES_MAX 4096
#define LOOK_NS         (10 * NSEC_PER_SEC)

/* The directory, or -1 where it is none, is on another file system, or may not be read. */
static int open_run_dir(const struct target *target, const char *name)
{
	int fd = openat(target->dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat there, here;

	if (fd < 0)
		return -1;
	if (fstat(fd, &there) == 0 && fstat(target->dirfd, &here) == 0 &&
	    there.st_dev == here.st_dev)
		return fd;
	close(fd);
	return -1;
}

/* A claim says which directory it is of: one that was copied elsewhere is none. */
static bool read_claim(int fd, const char *name, struct claim *claim, uint64_t *beat_ns)
{
	return claim_read(fd, claim, beat_ns) &&
	       strcmp(claim->run_id, name + strlen(RUNDIR_PREFIX)) == 0;
}

static void add(struct leftovers *found, const struct leftover *leftover)
{
	struct leftover *list;

	if (found->n == LEFTOVERS_MAX) {
		found->unlisted++;
		return;
	}
	list = realloc(found->list, (found->n + 1) * sizeof(*list));
	if (!list) {
		found->unlisted++;
		return;
	}
	found->list = list;
	found->list[found->n++] = *leftover;
}

static void look_at(struct leftovers *found, const struct target *target, const char *name,
                    const struct claim *own)
{
	struct leftover leftover = {0};
	CLEANUP(fd) int fd = open_run_dir(target, name);

	/* A file, where the listing does not tell what is a directory. */
	if (fd < 0 && errno == ENOTDIR)
		return;
	if (strlen(name) >= sizeof(leftover.name) || fd < 0 ||
	    !read_claim(fd, name, &leftover.claim, &leftover.beat_ns)) {
		found->unclaimed++;
		return;
	}
	memcpy(leftover.name, name, strlen(name) + 1);
	leftover.bytes = rundir_bytes(fd);
	leftover.life = claim_life(&leftover.claim, own);
	leftover.ours = claim_same_job(&leftover.claim, own);
	add(found, &leftover);
}

static bool may_be_run_dir(const struct target *target, const struct dirent *entry)
{
	return strncmp(entry->d_name, RUNDIR_PREFIX, strlen(RUNDIR_PREFIX)) == 0 &&
	       strcmp(entry->d_name, target->run_dir) != 0 &&
	       (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

void leftovers_find(struct leftovers *found, const struct target *target, const struct claim *own)
{
	int fd = target->is_block ? -1
	                          : openat(target->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	uint64_t end_ns = clock_now_ns() + LOOK_NS;
	const struct dirent *entry;
	unsigned names = 0, directories = 0;

	*found = (struct leftovers){0};
	if (!dir && fd >= 0)
		close(fd);
	if (!dir)
		return;
	while (!found->partial && (entry = readdir(dir))) {
		if (may_be_run_dir(target, entry)) {
			look_at(found, target, entry->d_name, own);
			directories++;
		}
		found->partial = ++names >= NAMES_MAX || directories >= DIRECTORIES_MAX ||
		                 clock_now_ns() >= end_ns;
	}
	closedir(dir);
}

bool leftover_may_go(const struct leftover *leftover, bool clean)
{
	bool useless = leftover->ours && !leftover->claim.kept_for[0];

	return !leftover->gone && leftover->life != CLAIM_ALIVE && (useless || clean);
}

void leftovers_destroy(struct leftovers *found)
{
	free(found->list);
	*found = (struct leftovers){0};
}

void leftovers_age(struct leftovers *found, uint64_t now_ns)
{
	for (unsigned i = 0; i < found->n; i++) {
		struct leftover *l = &found->list[i];

		if (l->life == CLAIM_UNKNOWN && now_ns > l->beat_ns &&
		    now_ns - l->beat_ns >= LEFTOVER_SILENT_NS)
			l->life = CLAIM_DEAD;
	}
}

/* 1: as it was found; 0: changed; -1: gone, or another in its place. */
static int compare(const struct leftover *leftover, int fd)
{
	struct claim claim;
	uint64_t beat_ns;

	if (fd < 0 || !read_claim(fd, leftover->name, &claim, &beat_ns))
		return -1;
	return beat_ns == leftover->beat_ns && claim.pid == leftover->claim.pid &&
	       claim.pid_start == leftover->claim.pid_start;
}

void leftovers_look_again(struct leftovers *found, const struct target *target)
{
	for (unsigned i = 0; i < found->n; i++) {
		struct leftover *l = &found->list[i];

		if (l->life != CLAIM_UNKNOWN || l->gone)
			continue;

		CLEANUP(fd) int fd = open_run_dir(target, l->name);
		int same = compare(l, fd);

		l->gone = same < 0;
		if (same == 0)
			l->life = CLAIM_ALIVE;
	}
}

int leftover_remove(struct leftover *leftover, const struct target *target, struct err *err)
{
	CLEANUP(fd) int fd = open_run_dir(target, leftover->name);
	const struct rundir dir = {target->path, leftover->name, target->dirfd, fd};

	if (compare(leftover, fd) != 1)
		return err_set(err, ERR_REFUSED, "'%s/%s' changed meanwhile and stays",
		               target->path, leftover->name);
	leftover->bytes = rundir_bytes(fd);
	if (rundir_remove(&dir, false, err) < 0)
		return -1;
	leftover->gone = true;
	return 0;
}

int leftover_clock(const struct target *target, uint64_t *now_ns)
{
	struct claim own;

	if (target->run_dirfd < 0 || claim_beat(target->run_dirfd) != 0 ||
	    !claim_read(target->run_dirfd, &own, now_ns))
		return -1;
	return 0;
}
