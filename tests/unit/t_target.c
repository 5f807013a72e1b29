/* links: base/err.c base/workers.c io/claim.c io/device.c io/heartbeat.c io/host.c io/mount.c
 * io/rundir.c io/target.c io/whole.c */
/*
 * What is refused and with which words; that only what is ours is removed.
 */
#include "io/target.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "io/claim.h"
#include "io/host.h"

static char work_dir[32];
static struct target target;

static int set_up(void **state)
{
	(void)state;
	strcpy(work_dir, "/tmp/t_target.XXXXXX");
	target = (struct target){.dirfd = -1, .run_dirfd = -1};
	return mkdtemp(work_dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	target_destroy(&target);
	snprintf(command, sizeof(command), "rm -rf %s", work_dir);
	return system(command);
}

static void init(void)
{
	struct err err;

	assert_int_equal(target_init(&target, work_dir, &err), 0);
}

static void enter(const char *id)
{
	struct err err;

	assert_int_equal(target_enter(&target, id, &err), 0);
}

static void touch(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_CREAT | O_WRONLY, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static bool exists(const char *name)
{
	return faccessat(target.dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void refuse(const char *path, enum err_class class, const char *words)
{
	struct err err = {0};

	if (!target_init(&target, path, &err)) {
		assert_int_equal(target_check_writable(&target, &err), -1);
		target_destroy(&target);
	}
	if (!strstr(err.text, words))
		print_message("'%s' lacks '%s'\n", err.text, words);
	assert_non_null(strstr(err.text, words));
	assert_int_equal(err.class, class);
	assert_int_equal(target.dirfd, -1);
}

static void test_bad_paths(void **state)
{
	char path[TARGET_PATH_MAX + 10];

	(void)state;
	refuse("", ERR_TARGET, "empty");
	memset(path, 'a', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	refuse(path, ERR_TARGET, "longer than");
	refuse("/tmp/..", ERR_REFUSED, "'..'");
	refuse("..", ERR_REFUSED, "'..'");
	refuse("/tmp//../etc", ERR_REFUSED, "'..'");
	refuse("/no/such/place", ERR_TARGET, "No such file or directory (mount the volume there");
	refuse("/etc/passwd/x", ERR_TARGET, "Not a directory");
	refuse("/etc/passwd", ERR_TARGET, "neither a directory nor a block device");
	refuse("/dev/null", ERR_TARGET, "neither a directory nor a block device");
}

static void test_dots_in_names_are_fine(void **state)
{
	char path[64];
	struct err err;

	(void)state;
	snprintf(path, sizeof(path), "%s/..a", work_dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(target_init(&target, path, &err), 0);
	target_destroy(&target);
	snprintf(path, sizeof(path), "%s/./..a/.", work_dir);
	assert_int_equal(target_init(&target, path, &err), 0);
}

static void test_link_to_directory(void **state)
{
	char path[64];
	struct err err;

	(void)state;
	snprintf(path, sizeof(path), "%s/link", work_dir);
	assert_int_equal(symlink("/tmp", path), 0);
	assert_int_equal(target_init(&target, path, &err), 0);
}

static void test_space(void **state)
{
	struct statvfs fs;

	(void)state;
	init();
	assert_int_equal(statvfs(work_dir, &fs), 0);
	assert_false(target.is_block);
	assert_int_equal(target.capacity_bytes, fs.f_blocks * fs.f_frsize);
	assert_true(target.free_bytes <= target.capacity_bytes);
	assert_true(target.reserve_bytes >= 64 * MIB);
	assert_in_range(target.reserve_bytes, target.capacity_bytes / 21,
	                max_u64(64 * MIB, target.capacity_bytes / 4));
}

/* What is written to memory must leave some for us. */
static void test_memory(void **state)
{
	struct host host;
	struct err err;

	(void)state;
	if (target_init(&target, "/dev/shm", &err) < 0) {
		print_message("%s\n", err.text);
		skip();
	}
	host_read(&host);
	assert_true(target_budget(&target) <= host.memory_bytes / 2);
	assert_true(target_budget(&target) <= target.free_bytes);
}

static void test_budget(void **state)
{
	struct target t = {.free_bytes = 100, .reserve_bytes = 64};

	(void)state;
	assert_int_equal(target_budget(&t), 36);
	t.free_bytes = 64;
	assert_int_equal(target_budget(&t), 0);
	t.free_bytes = 10;
	assert_int_equal(target_budget(&t), 0);
	t = (struct target){.free_bytes = TARGET_SPACE_MAX, .reserve_bytes = TARGET_SPACE_MAX / 5};
	assert_int_equal(target_budget(&t), TARGET_SPACE_MAX - TARGET_SPACE_MAX / 5);
}

static void test_enter_and_leave(void **state)
{
	struct err err;

	(void)state;
	init();
	touch(target.dirfd, "theirs");
	enter("r1");
	assert_string_equal(target.run_dir, "pvcbench-r1");
	assert_true(exists("pvcbench-r1"));
	for (int i = 0; i < 300; i++) {
		char name[32];

		snprintf(name, sizeof(name), "data.%d", i);
		touch(target.run_dirfd, name);
	}
	assert_int_equal(target_leave(&target, &err), 0);
	assert_false(exists("pvcbench-r1"));
	assert_true(exists("theirs"));
	assert_int_equal(target_leave(&target, &err), 0);
	target_destroy(&target);
	target_destroy(&target);
	assert_int_equal(target_leave(&target, &err), 0);
}

/* Run in a child, since it cannot be undone; 0 when the text was as wanted, 77 to skip. */
static void in_child(int (*child)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("needs root\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* What runs that come later tell it by. */
static void test_claim(void **state)
{
	struct claim claim;
	uint64_t beat_ns;
	struct err err;

	(void)state;
	init();
	target.attempt = 3;
	target.kept_for = "/elsewhere/ledger";
	enter("r1");
	assert_true(claim_read(target.run_dirfd, &claim, &beat_ns));
	assert_string_equal(claim.run_id, "r1");
	assert_string_equal(claim.kept_for, "/elsewhere/ledger");
	assert_int_equal(claim.attempt, 3);
	/* It is there for as long as anything is. */
	assert_int_equal(mkdirat(target.run_dirfd, "sub", 0700), 0);
	assert_int_equal(target_leave(&target, &err), -1);
	assert_true(claim_read(target.run_dirfd, &claim, &beat_ns));
	assert_int_equal(unlinkat(target.run_dirfd, "sub", AT_REMOVEDIR), 0);
	assert_int_equal(target_leave(&target, &err), 0);
	assert_false(exists("pvcbench-r1"));
}

static int be_out_of_space(void)
{
	struct err err = {0};
	struct rlimit limit = {0};

	signal(SIGXFSZ, SIG_IGN);
	init();
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		return 77;
	if (target_enter(&target, "r1", &err) == 0 || target.run_dirfd >= 0 ||
	    exists("pvcbench-r1"))
		return 1;
	return err.class == ERR_TARGET && strstr(err.text, "cannot write to our directory in") ? 0
	                                                                                       : 2;
}

static void test_no_claim_no_directory(void **state)
{
	(void)state;
	in_child(be_out_of_space);
}

static void test_enter_what_exists(void **state)
{
	struct err err;

	(void)state;
	init();
	assert_int_equal(mkdirat(target.dirfd, "pvcbench-r1", 0700), 0);
	assert_int_equal(target_enter(&target, "r1", &err), -1);
	assert_int_equal(err.class, ERR_TARGET);
	assert_int_equal(err.errnum, EEXIST);
	assert_non_null(strstr(err.text, "pvcbench-r1"));
	assert_int_equal(target_leave(&target, &err), 0);
	assert_true(exists("pvcbench-r1"));
	/* Nor through a link somewhere else. */
	assert_int_equal(symlinkat("/tmp", target.dirfd, "pvcbench-r2"), 0);
	assert_int_equal(target_enter(&target, "r2", &err), -1);
}

/* What is no file of ours stays, is named, and the next try may succeed. */
static void test_leave_with_guests(void **state)
{
	struct err err = {0};

	(void)state;
	init();
	touch(target.dirfd, "precious");
	enter("r1");
	touch(target.run_dirfd, "data.0");
	assert_int_equal(mkdirat(target.run_dirfd, "sub", 0700), 0);
	assert_int_equal(symlinkat("../precious", target.run_dirfd, "link"), 0);
	assert_int_equal(target_leave(&target, &err), -1);
	assert_int_equal(err.class, ERR_TARGET);
	assert_non_null(strstr(err.text, "'sub': not a regular file"));
	assert_non_null(strstr(err.text, "'link': not a regular file"));
	assert_null(strstr(err.text, "data.0"));
	assert_true(exists("precious"));
	assert_true(exists("pvcbench-r1/sub"));
	assert_false(exists("pvcbench-r1/data.0"));
	assert_int_equal(unlinkat(target.run_dirfd, "sub", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(target.run_dirfd, "link", 0), 0);
	assert_int_equal(target_leave(&target, &err), 0);
	assert_false(exists("pvcbench-r1"));
}

static void test_many_guests(void **state)
{
	struct err err = {0};

	(void)state;
	init();
	enter("r1");
	for (int i = 0; i < 200; i++) {
		char name[64];

		snprintf(name, sizeof(name), "a-directory-with-a-rather-long-name-%d", i);
		assert_int_equal(mkdirat(target.run_dirfd, name, 0700), 0);
	}
	assert_int_equal(target_leave(&target, &err), -1);
	assert_true(strlen(err.text) < ERR_TEXT_MAX);
}

static void test_cut_file(void **state)
{
	struct err err = {0};
	struct stat st;

	(void)state;
	init();
	enter("r1");
	touch(target.run_dirfd, "data.3");
	int fd = openat(target.run_dirfd, "data.3", O_WRONLY);

	assert_int_equal(ftruncate(fd, 5000), 0);
	close(fd);
	target.laid_out_bytes[3] = 5000;
	assert_int_equal(target_cut_file(&target, 3, 9000, &err), 0); /* it is shorter */
	assert_int_equal(target.laid_out_bytes[3], 5000);
	assert_int_equal(target_cut_file(&target, 3, 1000, &err), 0);
	assert_int_equal(target.laid_out_bytes[3], 1000);
	assert_int_equal(fstatat(target.run_dirfd, "data.3", &st, 0), 0);
	assert_int_equal(st.st_size, 1000);
	assert_int_equal(target_cut_file(&target, 4, 0, &err), 0); /* never made */
	assert_int_equal(symlinkat("../precious", target.run_dirfd, "data.5"), 0);
	assert_int_equal(target_cut_file(&target, 5, 0, &err), -1);
	assert_int_equal(unlinkat(target.run_dirfd, "data.5", 0), 0);
	assert_int_equal(target_leave(&target, &err), 0);
}

/* Somebody put another directory in the place of ours: theirs stays. */
static void test_leave_what_was_replaced(void **state)
{
	struct err err = {0};

	(void)state;
	init();
	enter("r1");
	assert_int_equal(renameat(target.dirfd, "pvcbench-r1", target.dirfd, "moved"), 0);
	assert_int_equal(mkdirat(target.dirfd, "pvcbench-r1", 0700), 0);
	assert_int_equal(target_leave(&target, &err), -1);
	assert_non_null(strstr(err.text, "no longer the directory we made"));
	assert_true(exists("pvcbench-r1"));
}

static bool become_nobody(void)
{
	return setgroups(0, NULL) == 0 && setgid(65532) == 0 && setuid(65532) == 0;
}

static int be_without_permission(void)
{
	struct err err = {0};

	if (chmod(work_dir, 0755) < 0 || !become_nobody())
		return 77;
	if (target_init(&target, work_dir, &err) || target_check_writable(&target, &err) == 0)
		return 1;
	printf("%s\n", err.text);
	return err.class == ERR_TARGET && strstr(err.text, "Permission denied (owned by 0:0 mode "
	                                                   "0755, running as 65532:65532; set "
	                                                   "fsGroup: 65532 in the pod's "
	                                                   "securityContext)")
	               ? 0
	               : 2;
}

static void test_no_permission(void **state)
{
	(void)state;
	in_child(be_without_permission);
}

/* A directory that may be written to and entered but not listed is enough. */
static int be_without_listing(void)
{
	struct err err = {0};

	if (chmod(work_dir, 0733) < 0 || !become_nobody())
		return 77;
	return target_init(&target, work_dir, &err) == 0 &&
	                       target_enter(&target, "r1", &err) == 0 &&
	                       target_leave(&target, &err) == 0
	               ? 0
	               : 1;
}

static void test_no_listing(void **state)
{
	(void)state;
	in_child(be_without_listing);
}

static int be_read_only(void)
{
	struct err err = {0};

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(work_dir, work_dir, NULL, MS_BIND, NULL) < 0 ||
	    mount(NULL, work_dir, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0)
		return 77;
	if (target_init(&target, work_dir, &err) || target_check_writable(&target, &err) == 0)
		return 1;
	printf("%s\n", err.text);
	return err.class == ERR_TARGET && err.errnum == EROFS &&
	                       strstr(err.text, "mounted read-only")
	               ? 0
	               : 2;
}

static void test_read_only(void **state)
{
	(void)state;
	in_child(be_read_only);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        IN_DIR(test_bad_paths),
	        IN_DIR(test_dots_in_names_are_fine),
	        IN_DIR(test_link_to_directory),
	        IN_DIR(test_space),
	        IN_DIR(test_memory),
	        IN_DIR(test_budget),
	        IN_DIR(test_enter_and_leave),
	        IN_DIR(test_claim),
	        IN_DIR(test_no_claim_no_directory),
	        IN_DIR(test_enter_what_exists),
	        IN_DIR(test_leave_with_guests),
	        IN_DIR(test_many_guests),
	        IN_DIR(test_leave_what_was_replaced),
	        IN_DIR(test_cut_file),
	        IN_DIR(test_no_permission),
	        IN_DIR(test_no_listing),
	        IN_DIR(test_read_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
