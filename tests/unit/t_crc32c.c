/* links: base/crc32c.c */
/*
 * The checksum against the vectors of RFC 3720 (iSCSI), both ways of computing it.
 */
#include "base/crc32c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void check(const void *data, size_t bytes, uint32_t wanted)
{
	assert_int_equal(crc32c(0, data, bytes), wanted);
	assert_int_equal(crc32c_by_table(0, data, bytes), wanted);
}

static void test_vectors(void **state)
{
	unsigned char data[32];

	(void)state;
	check("", 0, 0);
	check("123456789", 9, 0xe3069283);
	memset(data, 0, sizeof(data));
	check(data, sizeof(data), 0x8a9136aa);
	memset(data, 0xff, sizeof(data));
	check(data, sizeof(data), 0x62a8ab43);
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)i;
	check(data, sizeof(data), 0x46dd794e);
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(31 - i);
	check(data, sizeof(data), 0x113fdb5c);
}

/* A command of iSCSI, as in the same RFC. */
static void test_command(void **state)
{
	static const unsigned char command[48] = {
	        [0] = 0x01,  [1] = 0xc0,  [16] = 0x14, [22] = 0x04,
	        [27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02,
	};

	(void)state;
	check(command, sizeof(command), 0xd9963a56);
}

static void test_both_ways_at_any_alignment_in_any_pieces(void **state)
{
	unsigned char data[300];

	(void)state;
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 131 + i / 7);
	for (size_t from = 0; from < 9; from++) {
		for (size_t bytes = 0; bytes < sizeof(data) - 9; bytes += 13) {
			uint32_t whole = crc32c_by_table(0, data + from, bytes);
			uint32_t half = crc32c(0, data + from, bytes / 2);

			assert_int_equal(crc32c(0, data + from, bytes), whole);
			assert_int_equal(crc32c(half, data + from + bytes / 2, bytes - bytes / 2),
			                 whole);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_vectors),
	        cmocka_unit_test(test_command),
	        cmocka_unit_test(test_both_ways_at_any_alignment_in_any_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
