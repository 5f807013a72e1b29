/* links: base/crc32c.c load/fill.c load/seal.c */
/*
 * What a verified block looks like, and what is said of one that is not as it should be.
 */
#include "load/seal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "load/fill.h"

#define BLOCK 4096u

static struct seal_place place;
static struct seal_expected expected;
static unsigned char block[BLOCK];
static struct random random_data;

/* Block 2 of file 3, written by 7, where anything from 5 to 9 may lie. */
static int set_up(void **state)
{
	(void)state;
	place = (struct seal_place){.run = seal_run("run"), .file = 3, .offset = 2 * BLOCK};
	expected = (struct seal_expected){.place = place, .oldest = 5, .newest = 9};
	random_seed(&random_data, 1, 1);
	fill_random(&random_data, block, BLOCK);
	seal_block(block, BLOCK, &place, 7);
	return 0;
}

static void looks(enum seal_look look, const char *text)
{
	struct seal_found found = seal_check(block, BLOCK, &expected);
	char said[SEAL_TEXT_MAX];

	seal_describe(&expected, &found, said);
	assert_int_equal(found.look, look);
	assert_string_equal(said, text);
}

#define PREFIX "block at offset 8192 of file 3: expected sequence 5 or later, found "

static void test_good(void **state)
{
	struct seal_found found = seal_check(block, BLOCK, &expected);

	(void)state;
	assert_int_equal(found.look, SEAL_GOOD);
	assert_int_equal(found.sequence, 7);
	assert_int_equal(found.oldest, 7);
	assert_int_equal(found.offset, 2 * BLOCK);
}

static void test_older_and_newer(void **state)
{
	(void)state;
	expected.oldest = 8;
	looks(SEAL_OLDER, "block at offset 8192 of file 3: expected sequence 8 or later, found "
	                  "sequence 7, what lay there before (a write that was acknowledged is "
	                  "lost)");
	expected.oldest = expected.newest = 6;
	looks(SEAL_NEVER_SENT, "block at offset 8192 of file 3: expected sequence 6, found "
	                       "sequence 7, which was never sent");
}

static void test_elsewhere(void **state)
{
	(void)state;
	place.offset = 0;
	seal_block(block, BLOCK, &place, 7);
	looks(SEAL_OTHER_PLACE, PREFIX "the block at offset 0 of file 3, sequence 7 (a write or a "
	                               "read went to the wrong place)");
	place = expected.place;
	place.file = 4;
	seal_block(block, BLOCK, &place, 7);
	looks(SEAL_OTHER_PLACE, PREFIX "the block at offset 8192 of file 4, sequence 7 (a write or "
	                               "a read went to the wrong place)");
	place = expected.place;
	place.run = 1;
	seal_block(block, BLOCK, &place, 7);
	assert_int_equal(seal_check(block, BLOCK, &expected).look, SEAL_OTHER_RUN);
}

static void test_zeros(void **state)
{
	(void)state;
	memset(block, 0, BLOCK);
	looks(SEAL_ZEROS, PREFIX "zeros (the write is lost, or the range was discarded)");
}

static void test_names_the_piece(void **state)
{
	(void)state;
	memset(block + BLOCK - SEAL_PIECE, 0, SEAL_PIECE);
	looks(SEAL_ZEROS, "block at offset 11776 of file 3: expected sequence 5 or later, found "
	                  "zeros (the write is lost, or the range was discarded)");
}

static void test_every_bit_counts(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 8 * BLOCK; bit++) {
		block[bit / 8] ^= (unsigned char)(1 << bit % 8);
		assert_int_not_equal(seal_check(block, BLOCK, &expected).look, SEAL_GOOD);
		block[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	block[100] ^= 1;
	assert_int_equal(seal_check(block, BLOCK, &expected).look, SEAL_DAMAGED);
}

static void test_of_two_writes(void **state)
{
	unsigned char later[BLOCK];
	struct seal_found found;

	(void)state;
	memcpy(later, block, BLOCK);
	seal_block(later, BLOCK, &place, 9);
	memcpy(block, later, 3 * SEAL_PIECE);
	found = seal_check(block, BLOCK, &expected);
	assert_int_equal(found.look, SEAL_GOOD);
	assert_int_equal(found.sequence, 9);
	assert_int_equal(found.oldest, 7);
	expected.oldest = 9;
	found = seal_check(block, BLOCK, &expected);
	assert_int_equal(found.look, SEAL_OLDER);
	assert_int_equal(found.offset, 2 * BLOCK + 3 * SEAL_PIECE);
}

static void test_odd_sizes(void **state)
{
	static const size_t sizes[] = {512, 513, 1023, 1024, 1025, 2300};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		place.offset = expected.place.offset = 3 * sizes[i];
		seal_block(block + 1, sizes[i], &place, 7);
		assert_int_equal(seal_check(block + 1, sizes[i], &expected).look, SEAL_GOOD);
		block[sizes[i]] ^= 0x80;
		assert_int_equal(seal_check(block + 1, sizes[i], &expected).look, SEAL_DAMAGED);
		block[sizes[i]] ^= 0x80;
	}
}

/* Neither words that blocks have in common nor headers that a compressor finds. */
static void test_no_word_twice(void **state)
{
	enum { BLOCKS = 64, WORDS = BLOCKS * BLOCK / 8 };
	static uint64_t words[WORDS];
	unsigned same = 0;

	(void)state;
	fill_random(&random_data, words, sizeof(words));
	for (unsigned i = 0; i < BLOCKS; i++) {
		place.offset = (uint64_t)i * BLOCK;
		seal_block((unsigned char *)words + (size_t)i * BLOCK, BLOCK, &place, i + 1);
	}
	for (unsigned i = 0; i < WORDS; i++)
		for (unsigned j = i % 64; j < i; j += 64) /* the same place in other pieces */
			same += words[i] == words[j];
	assert_int_equal(same, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(test_good, set_up),
	        cmocka_unit_test_setup(test_older_and_newer, set_up),
	        cmocka_unit_test_setup(test_elsewhere, set_up),
	        cmocka_unit_test_setup(test_zeros, set_up),
	        cmocka_unit_test_setup(test_names_the_piece, set_up),
	        cmocka_unit_test_setup(test_every_bit_counts, set_up),
	        cmocka_unit_test_setup(test_of_two_writes, set_up),
	        cmocka_unit_test_setup(test_odd_sizes, set_up),
	        cmocka_unit_test_setup(test_no_word_twice, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
