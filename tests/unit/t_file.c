/* links: base/err.c io/file.c io/host.c io/mount.c */
/*
 * Negotiating direct I/O, and what may be opened at all.
 */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cmocka.h>

#define BLOCK 4096u

static char work_dir[32];
static struct target target;

static int set_up(void **state)
{
	(void)state;
	strcpy(work_dir, "/tmp/t_file.XXXXXX");
	if (!mkdtemp(work_dir))
		return -1;
	target = (struct target){.dirfd = open(work_dir, O_RDONLY | O_DIRECTORY),
	                         .run_dirfd = open(work_dir, O_RDONLY | O_DIRECTORY)};
	strcpy(target.path, work_dir);
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	close(target.dirfd);
	close(target.run_dirfd);
	snprintf(command, sizeof(command), "rm -rf %s", work_dir);
	return system(command);
}

static struct file_wish own(enum direct_wish direct, uint32_t block_bytes)
{
	return (struct file_wish){
	        .name = "data.0", .writable = true, .direct = direct, .block_bytes = block_bytes};
}

static struct file open_own(enum direct_wish direct, uint32_t block_bytes)
{
	struct file_wish wish = own(direct, block_bytes);
	struct file file;
	struct err err = {0};
	int ret = file_open(&file, &target, &wish, &err);

	if (ret < 0)
		print_message("%s\n", err.text);
	assert_int_equal(ret, 0);
	return file;
}

static bool is_direct(const struct file *file)
{
	return fcntl(file->fd, F_GETFL) & O_DIRECT;
}

static void put(const char *name, const char *text)
{
	int fd = openat(target.dirfd, name, O_CREAT | O_WRONLY | O_TRUNC, 0640);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void test_own_file(void **state)
{
	struct file file = open_own(DIRECT_FALSE, BLOCK);
	struct stat st;

	(void)state;
	assert_int_equal(fstat(file.fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(file.size_bytes, 0);
	assert_int_equal(file.align, 1);
	assert_false(file.direct);
	assert_false(is_direct(&file));
	assert_string_equal(file.direct_reason, "direct: false");
	assert_int_equal(pwrite(file.fd, "hello", 5, 0), 5);
	file_close(&file);
	assert_int_equal(file.fd, -1);
	file_close(&file);
	/* A second opening finds what is there. */
	file = open_own(DIRECT_FALSE, BLOCK);
	assert_int_equal(file.size_bytes, 5);
	file_close(&file);
}

static void test_direct(void **state)
{
	struct file file = open_own(DIRECT_AUTO, BLOCK);
	struct file_wish wish = own(DIRECT_AUTO, BLOCK);
	struct err err;

	(void)state;
	if (!file.direct) {
		print_message("no O_DIRECT in /tmp: %s\n", file.direct_reason);
		file_close(&file);
		skip();
	}
	assert_true(is_direct(&file));
	assert_in_range(file.align, 1, BLOCK);
	assert_int_equal(file_try_direct(&file, &target, &wish, 0, &err), 0);
	assert_true(file.direct);
	/* The trial leaves no trace. */
	assert_int_equal(lseek(file.fd, 0, SEEK_END), 0);
	file_close(&file);
}

static void test_unsuited_block(void **state)
{
	struct file file = open_own(DIRECT_AUTO, 2300);
	struct file_wish wish = own(DIRECT_TRUE, 2300);
	struct err err = {0};

	(void)state;
	assert_false(file.direct);
	assert_false(is_direct(&file));
	assert_int_equal(file.align, 1);
	if (!strstr(file.direct_reason, "refused at open"))
		assert_non_null(strstr(file.direct_reason, "blocks of 2300 bytes do not suit"));
	file_close(&file);

	assert_int_equal(file_open(&file, &target, &wish, &err), -1);
	assert_int_equal(file.fd, -1);
	assert_int_equal(err.class, ERR_TARGET);
	assert_non_null(strstr(err.text, "direct: auto"));
	assert_non_null(strstr(err.text, "'data.0'"));
}

/* A misaligned offset stands for a file system that takes the open and refuses the request. */
static void test_refused_at_first_request(void **state)
{
	struct file file = open_own(DIRECT_AUTO, BLOCK);
	struct file_wish wish = own(DIRECT_AUTO, BLOCK);
	struct err err = {0};

	(void)state;
	if (!file.direct) {
		file_close(&file);
		skip();
	}
	assert_int_equal(file_try_direct(&file, &target, &wish, 7, &err), 0);
	if (file.direct) {
		print_message("this file system serves a misaligned direct request\n");
		file_close(&file);
		skip();
	}
	assert_non_null(strstr(file.direct_reason, "first request"));
	assert_false(is_direct(&file));
	assert_int_equal(file.align, 1);
	assert_int_equal(file_try_direct(&file, &target, &wish, 7, &err), 0);
	file_close(&file);

	wish.direct = DIRECT_TRUE;
	assert_int_equal(file_open(&file, &target, &wish, &err), 0);
	assert_int_equal(file_try_direct(&file, &target, &wish, 7, &err), -1);
	assert_int_equal(err.class, ERR_TARGET);
	assert_int_equal(file.fd, -1);
}

static void test_sync_flags(void **state)
{
	struct file_wish wish = own(DIRECT_FALSE, BLOCK);
	struct file file;
	struct err err;

	(void)state;
	wish.sync_flags = O_DSYNC;
	assert_int_equal(file_open(&file, &target, &wish, &err), 0);
	assert_int_equal(fcntl(file.fd, F_GETFL) & O_SYNC, O_DSYNC);
	file_close(&file);
}

/* Nobody gets us to write through a link that lies in our directory. */
static void test_no_links(void **state)
{
	struct file_wish wish = own(DIRECT_AUTO, BLOCK);
	struct file file;
	struct err err;

	(void)state;
	put("precious", "text");
	assert_int_equal(symlinkat("precious", target.run_dirfd, "data.0"), 0);
	assert_int_equal(file_open(&file, &target, &wish, &err), -1);
	assert_int_equal(err.errnum, ELOOP);
}

static void test_existing(void **state)
{
	struct file_wish wish = {
	        .name = "theirs", .existing = true, .direct = DIRECT_AUTO, .block_bytes = BLOCK};
	struct file file;
	struct err err = {0};
	char path[64];

	(void)state;
	assert_int_equal(file_open(&file, &target, &wish, &err), -1);
	assert_int_equal(err.errnum, ENOENT);
	assert_int_equal(faccessat(target.dirfd, "theirs", F_OK, 0), -1);

	put("theirs", "some text");
	assert_int_equal(file_open(&file, &target, &wish, &err), 0);
	assert_int_equal(file.size_bytes, 9);
	assert_int_equal(fcntl(file.fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	/* A trial reads; it never makes the user's file longer. */
	wish.writable = true;
	assert_int_equal(file_try_direct(&file, &target, &wish, 0, &err), 0);
	assert_int_equal(lseek(file.fd, 0, SEEK_END), 9);
	file_close(&file);

	snprintf(path, sizeof(path), "%s/theirs", work_dir);
	wish.name = path;
	assert_int_equal(file_open(&file, &target, &wish, &err), 0);
	assert_int_equal(fcntl(file.fd, F_GETFL) & O_ACCMODE, O_RDWR);
	file_close(&file);
}

static void refuse_kind(const char *name)
{
	struct file_wish wish = {
	        .name = name, .existing = true, .direct = DIRECT_AUTO, .block_bytes = BLOCK};
	struct file file;
	struct err err = {0};

	assert_int_equal(file_open(&file, &target, &wish, &err), -1);
	assert_int_equal(err.class, ERR_TARGET);
	assert_non_null(strstr(err.text, "neither a file nor a block device"));
}

static void test_odd_kinds(void **state)
{
	(void)state;
	assert_int_equal(mkfifoat(target.dirfd, "fifo", 0600), 0);
	refuse_kind("fifo");
	refuse_kind("/dev/null");
	refuse_kind(".");
}

static void test_holes(void **state)
{
	struct file file = open_own(DIRECT_FALSE, BLOCK);
	char block[BLOCK];
	int pipe_fds[2];

	(void)state;
	memset(block, 1, sizeof(block));
	for (uint64_t i = 0; i < 16; i++)
		assert_int_equal(pwrite(file.fd, block, BLOCK, (off_t)(i * BLOCK)), BLOCK);
	assert_int_equal(fsync(file.fd), 0);
	assert_false(file_has_hole(file.fd, 0, 16 * BLOCK));
	/* What lies beyond the end is no data. */
	assert_true(file_has_hole(file.fd, 0, 17 * BLOCK));
	assert_true(file_has_hole(file.fd, 99 * BLOCK, BLOCK));
	assert_int_equal(ftruncate(file.fd, 64 * BLOCK), 0);
	assert_int_equal(pwrite(file.fd, block, BLOCK, 63 * BLOCK), BLOCK);
	assert_true(file_has_hole(file.fd, 0, 64 * BLOCK));
	assert_false(file_has_hole(file.fd, 63 * BLOCK, BLOCK));
	file_close(&file);

	assert_int_equal(pipe(pipe_fds), 0);
	assert_false(file_has_hole(pipe_fds[0], 0, 1));
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void test_the_span_of_holes(void **state)
{
	struct file file = open_own(DIRECT_FALSE, BLOCK);
	uint64_t from, to;
	char block[BLOCK];

	(void)state;
	memset(block, 1, sizeof(block));
	for (uint64_t i = 0; i < 64; i += i == 7 || i == 31 ? 8 : 1)
		assert_int_equal(pwrite(file.fd, block, BLOCK, (off_t)(i * BLOCK)), BLOCK);
	assert_int_equal(fsync(file.fd), 0);
	assert_true(file_find_holes(file.fd, 0, 64 * BLOCK, &from, &to));
	assert_int_equal(from, 8 * BLOCK);
	assert_int_equal(to, 39 * BLOCK);
	assert_true(file_find_holes(file.fd, 16 * BLOCK, 48 * BLOCK, &from, &to));
	assert_int_equal(from, 32 * BLOCK);
	assert_true(file_find_holes(file.fd, 40 * BLOCK, 60 * BLOCK, &from, &to));
	assert_int_equal(from, 64 * BLOCK);
	assert_int_equal(to, 100 * BLOCK);
	assert_false(file_find_holes(file.fd, 40 * BLOCK, 24 * BLOCK, &from, &to));

	assert_false(file_reads_zero(file.fd, 0, BLOCK));
	assert_true(file_reads_zero(file.fd, 8 * BLOCK, BLOCK));
	assert_true(file_reads_zero(file.fd, 64 * BLOCK, BLOCK));
	file_close(&file);
}

static void test_what_piles_up(void **state)
{
	int memory = memfd_create("t_file", MFD_CLOEXEC);
	int proc = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(memory >= 0 && proc >= 0);
	assert_false(file_piles_up(memory, true));
	assert_false(file_piles_up(memory, false));
	/* Not known to be throttled. */
	assert_true(file_piles_up(proc, true));
	assert_true(file_piles_up(proc, false));
	close(memory);
	close(proc);
}

/* Allocated is not written. */
static void test_unwritten(void **state)
{
	struct file file = open_own(DIRECT_FALSE, BLOCK);

	(void)state;
	if (fallocate(file.fd, 0, 0, 64 * BLOCK) < 0) {
		print_message("no fallocate in /tmp\n");
		file_close(&file);
		skip();
	}
	assert_true(file_has_hole(file.fd, 0, 64 * BLOCK));
	file_close(&file);
}

static bool is_cached(int fd)
{
	unsigned char resident = 0;
	void *map = mmap(NULL, BLOCK, PROT_READ, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(mincore(map, BLOCK, &resident), 0);
	munmap(map, BLOCK);
	return resident & 1;
}

static void test_drop_cache(void **state)
{
	struct file file = open_own(DIRECT_FALSE, BLOCK);
	char block[BLOCK] = {1};

	(void)state;
	assert_int_equal(pwrite(file.fd, block, BLOCK, 0), BLOCK);
	assert_true(is_cached(file.fd));
	file_drop_cache(file.fd);
	if (is_cached(file.fd))
		print_message("this file system keeps its pages\n");
	file_close(&file);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        IN_DIR(test_own_file),       IN_DIR(test_direct),
	        IN_DIR(test_unsuited_block), IN_DIR(test_refused_at_first_request),
	        IN_DIR(test_sync_flags),     IN_DIR(test_no_links),
	        IN_DIR(test_existing),       IN_DIR(test_odd_kinds),
	        IN_DIR(test_holes),          IN_DIR(test_the_span_of_holes),
	        IN_DIR(test_unwritten),      IN_DIR(test_what_piles_up),
	        IN_DIR(test_drop_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
