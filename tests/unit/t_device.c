/* links: base/err.c io/device.c */
/*
 * What lies at the ends of a device is found and named; a plain file stands for one.
 */
#include "io/device.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define SIZE (8 * MIB)

static char found[DEVICE_FOUND_MAX];

static int new_device(uint64_t bytes)
{
	char path[] = "/tmp/t_device.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	return fd;
}

static void put(int fd, uint64_t offset, const char *bytes, size_t n)
{
	assert_int_equal(pwrite(fd, bytes, n, (off_t)offset), n);
}

static const char *look_with(uint64_t offset, const char *bytes, size_t n)
{
	CLEANUP(fd) int fd = new_device(SIZE);

	put(fd, offset, bytes, n);
	assert_int_equal(device_look(fd, SIZE, found), 0);
	return found;
}

#define LOOK(offset, text) look_with(offset, text, sizeof(text) - 1)

static void test_zeros(void **state)
{
	(void)state;
	for (uint64_t bytes = 512; bytes <= SIZE; bytes *= 2) {
		CLEANUP(fd) int fd = new_device(bytes);

		assert_int_equal(device_look(fd, bytes, found), 0);
		assert_string_equal(found, "");
	}
}

static void test_what_is_found(void **state)
{
	(void)state;
	assert_string_equal(LOOK(0, "x"), "data of no known kind");
	assert_string_equal(LOOK(MIB - 1, "x"), "data of no known kind");
	assert_string_equal(LOOK(SIZE - MIB, "x"), "data of no known kind");
	assert_string_equal(LOOK(SIZE - 1, "x"), "data of no known kind");
	assert_string_equal(LOOK(MIB, "x"), "");
	assert_string_equal(LOOK(SIZE - MIB - 1, "x"), "");
	assert_string_equal(LOOK(1080, "\x53\xef"), "an ext2, ext3 or ext4 file system");
	assert_string_equal(LOOK(0, "XFSB"), "an XFS file system");
	assert_string_equal(LOOK(510, "\x55\xaa"), "a partition table (MBR) or boot sector");
	assert_string_equal(LOOK(510, "\x55\xaa"
	                              "EFI PART"),
	                    "a partition table (GPT)");
	assert_string_equal(LOOK(SIZE - 512, "EFI PART"), "a partition table (GPT)");
	assert_string_equal(LOOK(SIZE - 4096, "EFI PART"), "a partition table (GPT)");
	assert_string_equal(LOOK(0, "LUKS\xba\xbe"), "an encrypted volume (LUKS)");
}

/* A signature that the end of a small device cuts off is none. */
static void test_small(void **state)
{
	CLEANUP(fd) int fd = new_device(512);

	(void)state;
	put(fd, 508, "EFI ", 4);
	assert_int_equal(device_look(fd, 512, found), 0);
	assert_string_equal(found, "data of no known kind");
	assert_null(device_find_signature((const unsigned char *)"EFI", 3,
	                                  (const unsigned char *)"EFI", 3));
}

static void test_zero_ends(void **state)
{
	CLEANUP(fd) int fd = new_device(SIZE);
	char byte;

	(void)state;
	put(fd, 0, "a", 1);
	put(fd, MIB, "b", 1);
	put(fd, SIZE - MIB - 1, "c", 1);
	put(fd, SIZE - 1, "d", 1);
	assert_int_equal(device_zero_ends(fd, SIZE), 0);
	assert_int_equal(device_look(fd, SIZE, found), 0);
	assert_string_equal(found, "");
	assert_int_equal(pread(fd, &byte, 1, MIB), 1);
	assert_int_equal(byte, 'b');
	assert_int_equal(pread(fd, &byte, 1, SIZE - MIB - 1), 1);
	assert_int_equal(byte, 'c');
}

static void test_unreadable(void **state)
{
	int fd = new_device(MIB / 2);

	(void)state;
	/* It ends before its end. */
	assert_int_not_equal(device_look(fd, SIZE, found), 0);
	close(fd);
	assert_int_not_equal(device_look(fd, SIZE, found), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_zeros),      cmocka_unit_test(test_what_is_found),
	        cmocka_unit_test(test_small),      cmocka_unit_test(test_zero_ends),
	        cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
