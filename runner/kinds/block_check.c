/*
 * Before a block test: whether it may touch what it names, what of it fits, what it
 * would do.
 */
#include "kinds/block.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

bool block_own_file(const struct test *test)
{
	return !test->filename[0];
}

bool block_lays_out(const struct test *test)
{
	return block_own_file(test) && test->layout == LAYOUT_FULL;
}

/* The user's file: absolute, or in the target. */
void block_existing_path(const struct test *test, const struct target *target, char *out,
                         size_t size)
{
	if (test->filename[0] == '/')
		snprintf(out, size, "%s", test->filename);
	else
		snprintf(out, size, "%s/%s", target->path, test->filename);
}

static bool overwrites_device(const struct test *test, const struct target *target)
{
	return target->is_block && block_own_file(test) &&
	       (plan_writes(test) || block_lays_out(test));
}

static int refuse_content(const struct target *target, const char *content, struct err *err)
{
	return err_set(err, ERR_REFUSED,
	               "device '%s' holds %s: its first or last MiB is not zero (zero both if "
	               "nothing on it is needed, or say destroy: anything)",
	               target->path, content);
}

static int check_safety(const struct test *test, const struct target *target, struct err *err)
{
	if (overwrites_device(test, target) && !test->destroy)
		return err_set(err, ERR_REFUSED,
		               "'%s' is a block device and its contents would be overwritten (say "
		               "destroy: true if that is meant; layout: none reads what is there)",
		               target->path);
	if (overwrites_device(test, target) && target->device_content[0] &&
	    test->destroy != DESTROY_ANYTHING)
		return refuse_content(target, target->device_content, err);
	if (!block_own_file(test) && plan_writes(test) && !test->destroy)
		return err_set(
		        err, ERR_REFUSED,
		        "'%s' is an existing file and would be overwritten (say destroy: true if "
		        "that is meant)",
		        test->filename);
	return 0;
}

/* The check before the run may lie hours back. */
int block_guard_device(const struct block *b, struct err *err)
{
	const struct target *target = b->env->target;
	char content[DEVICE_FOUND_MAX];
	int errnum;

	if (!overwrites_device(b->test, target) || b->test->destroy == DESTROY_ANYTHING)
		return 0;
	errnum = device_look(b->files[0].fd, b->files[0].size_bytes, content);
	if (errnum)
		return err_sys(err, ERR_TARGET, errnum, "cannot read the ends of '%s'",
		               target->path);
	return content[0] ? refuse_content(target, content, err) : 0;
}

/*
 * A user's file is the one that is named: no symbolic link, and below the target
 * where its name is relative. Whatever lies on a volume may have been put there by others.
 */
static int check_existing(const struct test *test, const struct target *target, const char *path,
                          struct err *err)
{
	char real[PATH_MAX], root[PATH_MAX];
	struct stat st;

	if (lstat(path, &st) || !realpath(path, real) || !realpath(target->path, root))
		return err_sys(err, ERR_TARGET, errno, "cannot use the file '%s'", path);
	if (S_ISLNK(st.st_mode))
		return err_set(err, ERR_REFUSED,
		               "'%s' is a symbolic link to '%s' (name the file itself)", path,
		               real);
	if (test->filename[0] != '/' &&
	    (strncmp(real, root, strlen(root)) != 0 || (root[1] && real[strlen(root)] != '/')))
		return err_set(
		        err, ERR_REFUSED,
		        "'%s' leads out of the target to '%s' (name the file by its absolute "
		        "path if that is meant)",
		        path, real);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_TARGET, "'%s' is not a regular file", path);
	return 0;
}

int block_fit(struct geometry *geometry, const struct test *test, const struct target *target,
              const struct host *host, struct err *err)
{
	char path[PLAN_PATH_MAX + TARGET_PATH_MAX + 1];
	struct stat st;

	if (block_own_file(test))
		return geometry_fit(geometry, test, target, host, err);
	block_existing_path(test, target, path, sizeof(path));
	if (check_existing(test, target, path, err))
		return -1;
	if (stat(path, &st))
		return err_sys(err, ERR_TARGET, errno, "cannot use the file '%s'", path);
	return geometry_fit_existing(geometry, test, (uint64_t)st.st_size, host, err);
}

static int check_strict(const struct test *test, const struct geometry *g, struct err *err)
{
	const char *note = g->size_note[0] ? g->size_note : g->depth_note;

	if (!test->strict || !note[0])
		return 0;
	return err_set(err, ERR_TARGET, "%s (strict: true allows no concession)", note);
}

static void concede_in_preview(struct preview *preview, const char *note)
{
	if (note[0])
		snprintf(preview->concessions[preview->n_concessions++], RESULT_TEXT_MAX, "%s",
		         note);
}

static void fill_preview(struct preview *preview, const struct test *test, const struct geometry *g)
{
	struct search search;

	*preview = (struct preview){.size_asked = g->size_asked, .size = g->size};
	if (!plan_by_amount(test))
		preview->duration_ns = plan_cache_probe_ns(test) + test->ramp_time_ns +
		                       test->runtime_ns + plan_limits_probe_ns(test);
	else if (plan_writes(test))
		preview->write_bytes =
		        test->numjobs * (test->io_size ? test->io_size : test->loops * g->size);
	preview->duration_ns += test->requests * test->interval_ns;
	if (block_lays_out(test))
		preview->layout_bytes = g->files * g->file_bytes;
	search_init(&search, test);
	if (search.target_ns)
		search_plan_text(&search, preview->search);
	concede_in_preview(preview, g->size_note);
	concede_in_preview(preview, g->depth_note);
}

int block_check(const struct test *test, const struct target *target, const struct host *host,
                struct preview *preview, struct err *err)
{
	struct geometry geometry;

	if (check_safety(test, target, err) || block_fit(&geometry, test, target, host, err) ||
	    check_strict(test, &geometry, err) ||
	    block_verify_check(test, &geometry, target, host, err))
		return -1;
	if (target->is_block && test->file_per_job)
		return err_set(err, ERR_PLAN,
		               "file_per_job needs a directory, and '%s' is a block device (use "
		               "offset_increment)",
		               target->path);
	if (preview)
		fill_preview(preview, test, &geometry);
	return 0;
}
