/* links: base/crc32c.c base/err.c io/host.c io/marker.c io/whole.c */
/*
 * What was written is found whole; whatever else lies there is told apart, and stays as it is.
 */
#include "io/marker.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define NAME MARKER_PREFIX "k"
#define HEAD 1024

static char work_dir[32];
static int dirfd_, from_dirfd;
static unsigned steps_left;
static struct marker found;
static enum marker_state state_;

static int set_up(void **state)
{
	(void)state;
	strcpy(work_dir, "/tmp/t_marker.XXXXXX");
	if (!mkdtemp(work_dir))
		return -1;
	dirfd_ = open(work_dir, O_RDONLY | O_DIRECTORY);
	if (dirfd_ < 0 || mkdirat(dirfd_, "from", 0700))
		return -1;
	from_dirfd = openat(dirfd_, "from", O_RDONLY | O_DIRECTORY);
	steps_left = 1000;
	return from_dirfd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	close(dirfd_);
	close(from_dirfd);
	snprintf(command, sizeof(command), "rm -rf %s", work_dir);
	return system(command);
}

static bool step(void *arg)
{
	(void)arg;
	return steps_left && steps_left--;
}

static int write_marker(uint64_t bytes, const char *run_id)
{
	struct marker marker = {.bytes = bytes};

	marker_describe(&marker, run_id);
	return marker_write(from_dirfd, dirfd_, "k", &marker, step, NULL);
}

static enum marker_state read_marker(void)
{
	assert_int_equal(marker_read(dirfd_, "k", &state_, &found, step, NULL), 0);
	return state_;
}

static uint64_t size_of(const char *name)
{
	struct stat st;

	return fstatat(dirfd_, name, &st, AT_SYMLINK_NOFOLLOW) ? 0 : (uint64_t)st.st_size;
}

static void put(const char *name, const char *text, size_t n)
{
	int fd = openat(dirfd_, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), n);
	close(fd);
}

static void test_written_is_found(void **state)
{
	static const uint64_t sizes[] = {0, 1, 262143, 262144, 262145, 3000000};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		assert_int_equal(write_marker(sizes[i], "run-1"), 0);
		assert_int_equal(read_marker(), MARKER_INTACT);
		assert_int_equal(found.bytes, sizes[i]);
		assert_string_equal(found.run_id, "run-1");
		assert_true(found.host[0] && found.written_ns > NSEC_PER_SEC);
		assert_int_equal(size_of(NAME), HEAD + sizes[i]);
		assert_int_equal(size_of("from/data.256"), 0);
	}
}

static void test_nothing_is_absent(void **state)
{
	(void)state;
	assert_int_equal(read_marker(), MARKER_ABSENT);
	assert_int_equal(marker_look(dirfd_, "k", &state_, &found), 0);
	assert_int_equal(state_, MARKER_ABSENT);
	assert_int_equal(marker_remove(dirfd_, "k"), ENOENT);
}

static void test_an_earlier_one_is_replaced_and_removed(void **state)
{
	(void)state;
	assert_int_equal(write_marker(100000, "run-1"), 0);
	assert_int_equal(write_marker(10, "run-2"), 0);
	assert_int_equal(read_marker(), MARKER_INTACT);
	assert_string_equal(found.run_id, "run-2");
	assert_int_equal(marker_remove(dirfd_, "k"), 0);
	assert_int_equal(read_marker(), MARKER_ABSENT);
}

/* One byte at this place is another. */
static void spoil(off_t at)
{
	int fd = openat(dirfd_, NAME, O_RDWR);
	char byte;

	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte = (char)(byte ^ 1);
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static void test_other_bytes_are_broken(void **state)
{
	static const off_t places[] = {HEAD, HEAD + 5, HEAD + 299999};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		assert_int_equal(write_marker(300000, "run-1"), 0);
		spoil(places[i]);
		assert_int_equal(read_marker(), MARKER_BROKEN);
	}
}

static void test_another_size_is_broken(void **state)
{
	static const off_t sizes[] = {HEAD, HEAD + 299999, HEAD + 300001, HEAD + 900000};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		char path[64];

		assert_int_equal(write_marker(300000, "run-1"), 0);
		snprintf(path, sizeof(path), "%s/" NAME, work_dir);
		assert_int_equal(truncate(path, sizes[i]), 0);
		assert_int_equal(read_marker(), MARKER_BROKEN);
	}
}

/* A head says nothing that its checksum does not cover; without its first line it is foreign. */
static void test_another_head_is_not_taken(void **state)
{
	const off_t first_line = (off_t)strlen("pvcbench-persist=1\n");

	(void)state;
	for (off_t at = HEAD - 1; at >= 0; at -= at > 150 ? 50 : 1) {
		assert_int_equal(write_marker(10, "run-1"), 0);
		spoil(at);
		assert_int_equal(read_marker(), at < first_line ? MARKER_FOREIGN : MARKER_BROKEN);
		assert_int_equal(unlinkat(dirfd_, NAME, 0), 0);
	}
}

/* Else whoever writes to the volume makes a run read for years: a file has holes for nothing. */
static void test_a_head_that_says_too_much_is_broken(void **state)
{
	char head[HEAD];
	int n = snprintf(head, sizeof(head),
	                 "pvcbench-persist=1\nrun=r\nhost=h\nwritten_ns=1\nsize=%llu\ncrc32c="
	                 "00000000\n",
	                 1ULL << 50);

	(void)state;
	memset(head + n, '\n', sizeof(head) - (size_t)n);
	put(NAME, head, sizeof(head));
	assert_int_equal(marker_look(dirfd_, "k", &state_, &found), 0);
	assert_int_equal(state_, MARKER_BROKEN);
}

static void assert_stays_foreign(void)
{
	assert_int_equal(read_marker(), MARKER_FOREIGN);
	assert_int_equal(write_marker(10, "run-1"), EEXIST);
	assert_int_equal(marker_remove(dirfd_, "k"), EEXIST);
	assert_int_equal(read_marker(), MARKER_FOREIGN);
}

static void test_foreign_files_stay(void **state)
{
	static char page[4096] = "\0theirs";

	(void)state;
	put(NAME, "theirs", 6);
	assert_stays_foreign();
	put(NAME, page, sizeof(page));
	assert_stays_foreign();
}

/* What lost writes leave is no file of others: it is told as broken, replaced and removed. */
static void test_what_lost_writes_leave_is_broken(void **state)
{
	static const char zeros[HEAD + 10];
	const struct {
		const char *text;
		size_t n;
	} remnants[] = {{"", 0}, {"pvcbench-per", 12}, {zeros, 100}, {zeros, sizeof(zeros)}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(remnants); i++) {
		put(NAME, remnants[i].text, remnants[i].n);
		assert_int_equal(read_marker(), MARKER_BROKEN);
		assert_int_equal(write_marker(10, "run-1"), 0);
		assert_int_equal(read_marker(), MARKER_INTACT);
		put(NAME, remnants[i].text, remnants[i].n);
		assert_int_equal(marker_remove(dirfd_, "k"), 0);
	}
}

static void test_what_is_no_file_stays(void **state)
{
	(void)state;
	put("theirs", "x", 1);
	assert_int_equal(symlinkat("theirs", dirfd_, NAME), 0);
	assert_stays_foreign();
	assert_int_equal(unlinkat(dirfd_, NAME, 0), 0);
	assert_int_equal(mkfifoat(dirfd_, NAME, 0600), 0);
	assert_stays_foreign();
	assert_int_equal(unlinkat(dirfd_, NAME, 0), 0);
	assert_int_equal(mkdirat(dirfd_, NAME, 0700), 0);
	assert_stays_foreign();
	assert_int_equal(unlinkat(dirfd_, NAME, AT_REMOVEDIR), 0);
	assert_int_equal(mknodat(dirfd_, NAME, S_IFSOCK | 0600, 0), 0);
	assert_stays_foreign();
}

static void test_what_is_stopped_leaves_the_earlier_one(void **state)
{
	(void)state;
	assert_int_equal(write_marker(10, "run-1"), 0);
	steps_left = 2;
	assert_int_equal(write_marker(3000000, "run-2"), ECANCELED);
	assert_int_equal(size_of("from/data.256"), 0);
	steps_left = 1000;
	assert_int_equal(read_marker(), MARKER_INTACT);
	assert_string_equal(found.run_id, "run-1");
	steps_left = 0;
	assert_int_equal(marker_read(dirfd_, "k", &state_, &found, step, NULL), ECANCELED);
}

/* The last one, since this process stays without a name. */
static void test_a_host_without_a_name(void **state)
{
	(void)state;
	if (unshare(CLONE_NEWUTS) || sethostname("", 0))
		skip();
	assert_int_equal(write_marker(10, "run-1"), 0);
	assert_int_equal(read_marker(), MARKER_INTACT);
	assert_string_equal(found.host, "unknown");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_written_is_found),
	        TEST(test_nothing_is_absent),
	        TEST(test_an_earlier_one_is_replaced_and_removed),
	        TEST(test_other_bytes_are_broken),
	        TEST(test_another_size_is_broken),
	        TEST(test_another_head_is_not_taken),
	        TEST(test_a_head_that_says_too_much_is_broken),
	        TEST(test_foreign_files_stay),
	        TEST(test_what_lost_writes_leave_is_broken),
	        TEST(test_what_is_no_file_stays),
	        TEST(test_what_is_stopped_leaves_the_earlier_one),
	        TEST(test_a_host_without_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
