/*
 * What is removed is removed through the descriptor of the directory that was looked at,
 * never through its path.
 */
#include "io/rundir.h"

#include "io/claim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define DIGITS_MAX 9
#define NAMES_MAX  4096 /* that are looked at for their size */

bool rundir_has_name(const char *name)
{
	size_t prefix = strcspn(RUNDIR_FILE_FORMAT, "%");
	size_t digits;

	if (strcmp(name, CLAIM_FILE) == 0)
		return true;
	if (strncmp(name, RUNDIR_FILE_FORMAT, prefix) != 0)
		return false;
	digits = strspn(name + prefix, "0123456789");
	if (!digits || digits > DIGITS_MAX || name[prefix + digits])
		return false;
	return name[prefix] != '0' || digits == 1;
}

/* Another open file of the directory, whose place in the listing is our own. */
static DIR *open_listing(int fd)
{
	int listing = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = listing >= 0 ? fdopendir(listing) : NULL;
	int errnum = errno;

	if (!dir && listing >= 0)
		close(listing);
	errno = errnum;
	return dir;
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A list of names for a message; the buffer's end is the limit. */
struct rest {
	char text[ERR_TEXT_MAX / 2];
	size_t used;
	unsigned n;
};

static void add_rest(struct rest *rest, const char *name, const char *why)
{
	size_t room = sizeof(rest->text) - rest->used;
	int n = snprintf(rest->text + rest->used, room, "%s'%s': %s", rest->n ? ", " : "", name,
	                 why);

	rest->n++;
	rest->used += min_u64((uint64_t)n, room - 1);
}

/* Remove one name; whether this call did it. */
static bool remove_file(int dirfd, const char *name, bool all, struct rest *rest)
{
	struct stat st;
	int ret = fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW);

	if (ret == 0 && !S_ISREG(st.st_mode)) {
		add_rest(rest, name, "not a regular file");
		return false;
	}
	if (!all && !rundir_has_name(name)) {
		add_rest(rest, name, "not a file that a run makes");
		return false;
	}
	if (ret == 0 && unlinkat(dirfd, name, 0) == 0)
		return true;
	/* Object stores may list a name for a while after it is gone. */
	if (errno != ENOENT)
		add_rest(rest, name, err_words(errno));
	return false;
}

/* One pass over all but the claim: how many were removed. What stays is in *rest. */
static unsigned remove_files(DIR *dir, bool all, struct rest *rest)
{
	const struct dirent *entry;
	unsigned removed = 0;

	*rest = (struct rest){0};
	rewinddir(dir);
	while ((entry = readdir(dir)))
		if (!is_dot(entry->d_name) && strcmp(entry->d_name, CLAIM_FILE) != 0)
			removed += remove_file(dirfd(dir), entry->d_name, all, rest);
	return removed;
}

/* Whether the name in the target still means this directory. */
static bool is_still_named(const struct rundir *dir)
{
	struct stat ours, named;

	return fstat(dir->fd, &ours) == 0 &&
	       fstatat(dir->parent, dir->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

/* The claim goes last: a directory that lost it is nobody's. */
static int remove_emptied(const struct rundir *dir, struct err *err)
{
	struct rest rest = {0};

	remove_file(dir->fd, CLAIM_FILE, true, &rest);
	if (rest.n)
		return err_set(err, ERR_TARGET, "cannot remove '%s/%s', in it stay: %s", dir->path,
		               dir->name, rest.text);
	if (!is_still_named(dir))
		return err_set(err, ERR_TARGET, "'%s/%s' is no longer the directory we made",
		               dir->path, dir->name);
	if (unlinkat(dir->parent, dir->name, AT_REMOVEDIR) < 0)
		return err_sys(err, ERR_TARGET, errno, "cannot remove '%s/%s'", dir->path,
		               dir->name);
	return 0;
}

int rundir_remove(const struct rundir *dir, bool all, struct err *err)
{
	struct rest rest;
	DIR *listing = open_listing(dir->fd);

	if (!listing)
		return err_sys(err, ERR_TARGET, errno, "cannot list '%s/%s' to remove it",
		               dir->path, dir->name);
	/* Removing while listing makes some file systems skip names: again until none is found. */
	while (remove_files(listing, all, &rest) > 0)
		;
	closedir(listing);
	if (rest.n)
		return err_set(err, ERR_TARGET, "cannot remove '%s/%s', in it stay: %s", dir->path,
		               dir->name, rest.text);
	return remove_emptied(dir, err);
}

/* An object store may count no blocks. */
static uint64_t file_bytes(const struct stat *st)
{
	uint64_t size = st->st_size > 0 ? (uint64_t)st->st_size : 0;

	return st->st_blocks ? min_u64(size, (uint64_t)st->st_blocks * 512) : size;
}

uint64_t rundir_bytes(int fd)
{
	DIR *listing = open_listing(fd);
	const struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	for (unsigned n = 0; listing && n < NAMES_MAX && (entry = readdir(listing)); n++)
		if (rundir_has_name(entry->d_name) &&
		    fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			bytes += file_bytes(&st);
	if (listing)
		closedir(listing);
	return bytes;
}
