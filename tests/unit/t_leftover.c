/* links: base/err.c base/workers.c io/claim.c io/device.c io/heartbeat.c io/host.c io/leftover.c
 * io/mount.c io/rundir.c io/target.c io/whole.c */
/*
 * What is found of other runs, and that only that is removed.
 */
#include "io/leftover.h"
#include "io/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char work_dir[32];
static struct target target;
static struct leftovers found;
static struct claim own;

static int set_up(void **state)
{
	struct err err;

	(void)state;
	setenv("PVCBENCH_JOB_UID", "ours", 1);
	strcpy(work_dir, "/tmp/t_leftover.XXXXXX");
	if (!mkdtemp(work_dir) || target_init(&target, work_dir, &err))
		return -1;
	claim_describe(&own, "own");
	found = (struct leftovers){0};
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	leftovers_destroy(&found);
	target_destroy(&target);
	snprintf(command, sizeof(command), "rm -rf %s", work_dir);
	return system(command);
}

static int make_dir(const char *name)
{
	assert_int_equal(mkdirat(target.dirfd, name, 0700), 0);
	return openat(target.dirfd, name, O_RDONLY | O_DIRECTORY);
}

static void put_file(int dirfd, const char *name, size_t bytes)
{
	static const char zeros[8192];
	CLEANUP(fd) int fd = openat(dirfd, name, O_CREAT | O_WRONLY, 0600);

	assert_true(bytes <= sizeof(zeros));
	assert_int_equal(write(fd, zeros, bytes), bytes);
}

/* What a run on another machine, of this Job, left: its claim, and 8 KiB. */
static void leave(const char *name, const char *id, const char *job_uid)
{
	CLEANUP(fd) int fd = make_dir(name);
	struct claim claim;

	claim_describe(&claim, id);
	snprintf(claim.job_uid, sizeof(claim.job_uid), "%s", job_uid);
	snprintf(claim.boot, sizeof(claim.boot), "elsewhere");
	assert_int_equal(claim_write(fd, &claim), 0);
	put_file(fd, "data.0", 8192);
}

static void set_beat(const char *name, time_t seconds)
{
	const struct timespec times[] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
	char path[128];

	snprintf(path, sizeof(path), "%s/" CLAIM_FILE, name);
	assert_int_equal(utimensat(target.dirfd, path, times, 0), 0);
}

static bool exists(const char *name)
{
	return faccessat(target.dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void look(unsigned n)
{
	leftovers_destroy(&found);
	leftovers_find(&found, &target, &own);
	assert_int_equal(found.n, n);
}

static void test_finds(void **state)
{
	(void)state;
	look(0);
	leave("pvcbench-a", "a", "ours");
	look(1);
	assert_string_equal(found.list[0].name, "pvcbench-a");
	assert_true(found.list[0].ours);
	assert_int_equal(found.list[0].life, CLAIM_UNKNOWN);
	/* The claim counts too, and blocks of it that the file system makes whole. */
	assert_in_range(found.list[0].bytes, 8192, 16384);
	leave("pvcbench-b", "b", "others");
	look(2);
	assert_false(found.partial);
	assert_int_equal(found.unclaimed, 0);
	assert_int_not_equal(found.list[0].ours, found.list[1].ours);
}

static void test_what_is_nobodys(void **state)
{
	int fd = make_dir("pvcbench-without");

	(void)state;
	put_file(fd, "data.0", 100);
	close(fd);
	put_file(target.dirfd, "pvcbench-file", 100);
	close(make_dir("elsewhere"));
	leave("other", "a", "ours");
	leave("pvcbench-copied", "a", "ours");
	assert_int_equal(symlinkat("elsewhere", target.dirfd, "pvcbench-link"), 0);
	assert_int_equal(renameat(target.dirfd, "other", target.dirfd, "elsewhere"), 0);
	look(0);
	assert_int_equal(found.unclaimed, 2);
}

static void test_own_is_none(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(target_enter(&target, "own", &err), 0);
	look(0);
	assert_int_equal(found.unclaimed, 0);
	assert_int_equal(target_leave(&target, &err), 0);
}

/* Bounded, however many there are. */
static void test_many(void **state)
{
	char name[32];

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "pvcbench-%d", i);
		leave(name, name + strlen("pvcbench-"), "others");
	}
	look(LEFTOVERS_MAX);
	assert_int_equal(found.unlisted, 100 - LEFTOVERS_MAX);
}

static void test_age(void **state)
{
	const uint64_t then_ns = 1000 * NSEC_PER_SEC;

	(void)state;
	leave("pvcbench-a", "a", "ours");
	set_beat("pvcbench-a", 1000);
	look(1);
	leftovers_age(&found, then_ns - 1);
	leftovers_age(&found, then_ns + LEFTOVER_SILENT_NS - 1);
	assert_int_equal(found.list[0].life, CLAIM_UNKNOWN);
	leftovers_age(&found, then_ns + LEFTOVER_SILENT_NS);
	assert_int_equal(found.list[0].life, CLAIM_DEAD);
	found.list[0].life = CLAIM_ALIVE;
	leftovers_age(&found, then_ns + 2 * LEFTOVER_SILENT_NS);
	assert_int_equal(found.list[0].life, CLAIM_ALIVE);
}

static void test_look_again(void **state)
{
	(void)state;
	leave("pvcbench-a", "a", "ours");
	leave("pvcbench-b", "b", "ours");
	set_beat("pvcbench-a", 1000);
	set_beat("pvcbench-b", 1000);
	look(2);
	leftovers_look_again(&found, &target);
	assert_int_equal(found.list[0].life, CLAIM_UNKNOWN);
	assert_int_equal(found.list[1].life, CLAIM_UNKNOWN);
	/* By another clock, which runs behind. */
	set_beat(found.list[0].name, 999);
	assert_int_equal(renameat(target.dirfd, found.list[1].name, target.dirfd, "away"), 0);
	leftovers_look_again(&found, &target);
	assert_int_equal(found.list[0].life, CLAIM_ALIVE);
	assert_false(found.list[0].gone);
	assert_true(found.list[1].gone);
}

static void test_remove(void **state)
{
	struct err err = {0};

	(void)state;
	leave("pvcbench-a", "a", "ours");
	look(1);
	assert_int_equal(leftover_remove(&found.list[0], &target, &err), 0);
	assert_true(found.list[0].gone);
	assert_false(exists("pvcbench-a"));
	/* Somebody else was first. */
	assert_int_equal(leftover_remove(&found.list[0], &target, &err), -1);
}

static void test_one_that_wakes_up_is_not_removed(void **state)
{
	struct err err = {0};

	(void)state;
	leave("pvcbench-a", "a", "ours");
	set_beat("pvcbench-a", 1000);
	look(1);
	set_beat("pvcbench-a", 1001);
	assert_int_equal(leftover_remove(&found.list[0], &target, &err), -1);
	assert_int_equal(err.class, ERR_REFUSED);
	assert_true(exists("pvcbench-a/data.0"));
}

static void test_guests_stay(void **state)
{
	struct err err = {0};
	int fd;

	(void)state;
	put_file(target.dirfd, "precious", 1);
	leave("pvcbench-a", "a", "ours");
	fd = openat(target.dirfd, "pvcbench-a", O_RDONLY | O_DIRECTORY);
	put_file(fd, "notes.txt", 5);
	put_file(fd, "data.12x", 5);
	put_file(fd, "data.", 5);
	put_file(fd, "data.17", 5);
	assert_int_equal(symlinkat("../precious", fd, "data.1"), 0);
	close(fd);
	look(1);
	assert_int_equal(leftover_remove(&found.list[0], &target, &err), -1);
	assert_non_null(strstr(err.text, "'notes.txt': not a file that a run makes"));
	assert_non_null(strstr(err.text, "'data.1': not a regular file"));
	assert_true(exists("precious"));
	assert_true(exists("pvcbench-a/notes.txt"));
	assert_true(exists("pvcbench-a/data.12x"));
	assert_true(exists("pvcbench-a/data."));
	assert_true(exists("pvcbench-a/data.1"));
	assert_false(exists("pvcbench-a/data.0"));
	assert_false(exists("pvcbench-a/data.17"));
	/* So that the next one knows it too. */
	assert_true(exists("pvcbench-a/" CLAIM_FILE));
}

static void test_names(void **state)
{
	static const char *const ours[] = {"claim", "data.0", "data.7", "data.10", "data.255"};
	static const char *const others[] = {"data",    "data.",    "data.00", "data.007",
	                                     "data.1x", "data.1.1", "Data.1",  "data.1234567890"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		assert_true(rundir_has_name(ours[i]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(rundir_has_name(others[i]));
}

static void test_clock(void **state)
{
	uint64_t now_ns;
	struct err err;

	(void)state;
	assert_int_equal(leftover_clock(&target, &now_ns), -1);
	assert_int_equal(target_enter(&target, "own", &err), 0);
	assert_int_equal(leftover_clock(&target, &now_ns), 0);
	assert_in_range(now_ns / NSEC_PER_SEC, time(NULL) - 10, time(NULL) + 10);
	assert_int_equal(unlinkat(target.run_dirfd, CLAIM_FILE, 0), 0);
	assert_int_equal(leftover_clock(&target, &now_ns), -1);
	assert_int_equal(target_leave(&target, &err), 0);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        IN_DIR(test_finds),       IN_DIR(test_what_is_nobodys),
	        IN_DIR(test_own_is_none), IN_DIR(test_many),
	        IN_DIR(test_age),         IN_DIR(test_look_again),
	        IN_DIR(test_remove),      IN_DIR(test_one_that_wakes_up_is_not_removed),
	        IN_DIR(test_guests_stay), cmocka_unit_test(test_names),
	        IN_DIR(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
