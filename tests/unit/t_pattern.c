/* links: load/buffers.c load/fill.c load/pattern.c */
/*
 * Offsets and data.
 */
#include "load/pattern.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "load/buffers.h"
#include "load/fill.h"

#define BLOCK 4096u

static struct pattern_params params(uint64_t blocks)
{
	return (struct pattern_params){
	        .offset = 7 * BLOCK,
	        .bytes = blocks * BLOCK,
	        .block_bytes = BLOCK,
	        .read_percent = 100,
	        .seed = 1,
	};
}

static void test_sequential_wraps(void **state)
{
	struct pattern_params p = params(3);
	struct pattern pattern;
	struct random random;

	(void)state;
	random_seed(&random, 1, 0);
	pattern_init(&pattern, &p);
	for (unsigned i = 0; i < 7; i++) {
		struct pattern_place place = pattern_next(&pattern, &random);

		assert_int_equal(place.offset, (7 + i % 3) * BLOCK);
		assert_int_equal(place.bytes, BLOCK);
		assert_true(place.read);
	}
}

static void test_short_tail_is_the_last_block(void **state)
{
	struct pattern_params p = params(2);
	struct pattern pattern;
	struct random random;

	(void)state;
	p.bytes = 2 * BLOCK + 100;
	p.short_tail = true;
	random_seed(&random, 1, 0);
	pattern_init(&pattern, &p);
	pattern_next(&pattern, &random);
	pattern_next(&pattern, &random);
	struct pattern_place last = pattern_next(&pattern, &random);

	assert_int_equal(last.offset, 9 * BLOCK);
	assert_int_equal(last.bytes, 100);
}

static void test_mixed_sequential_has_two_streams(void **state)
{
	struct pattern_params p = params(1000);
	struct pattern pattern;
	struct random random;
	uint64_t next[2] = {0, 0}, reads = 0;

	(void)state;
	p.read_percent = 75;
	random_seed(&random, 3, 0);
	pattern_init(&pattern, &p);
	for (unsigned i = 0; i < 1000; i++) {
		struct pattern_place place = pattern_next(&pattern, &random);

		assert_int_equal(place.offset, (7 + next[place.read]++) * BLOCK);
		reads += place.read;
	}
	assert_in_range(reads, 700, 800);
}

static void test_random_stays_in_the_region_and_is_even(void **state)
{
	enum { BLOCKS = 16, DRAWS = 160000 };
	struct pattern_params p = params(BLOCKS);
	struct pattern pattern;
	struct random random;
	unsigned hits[BLOCKS] = {0};
	double chi2 = 0;

	(void)state;
	p.random = true;
	random_seed(&random, 11, 0);
	pattern_init(&pattern, &p);
	for (unsigned i = 0; i < DRAWS; i++) {
		uint64_t block = pattern_next(&pattern, &random).offset / BLOCK - 7;

		assert_in_range(block, 0, BLOCKS - 1);
		hits[block]++;
	}
	for (unsigned i = 0; i < BLOCKS; i++) {
		double expected = (double)DRAWS / BLOCKS;

		chi2 += (hits[i] - expected) * (hits[i] - expected) / expected;
	}
	assert_true(chi2 < 37.7); /* 15 degrees of freedom, p = 0.001 */
}

static void check_permutation(uint64_t blocks)
{
	struct pattern_params p = params(blocks);
	unsigned char *seen = calloc(blocks, 1);
	struct pattern pattern;

	pattern_init(&pattern, &p);
	for (uint64_t i = 0; i < blocks; i++) {
		uint64_t block = pattern_permute(&pattern, i, 42);

		assert_true(block < blocks);
		assert_int_equal(seen[block]++, 0);
	}
	free(seen);
}

static void test_permutation_is_one(void **state)
{
	static const uint64_t blocks[] = {1, 2, 3, 4, 5, 15, 16, 17, 1000, 4096, 65537};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(blocks); i++)
		check_permutation(blocks[i]);
}

static void test_every_block_once_a_pass(void **state)
{
	enum { BLOCKS = 1000 };
	struct pattern_params p = params(BLOCKS);
	unsigned hits[BLOCKS] = {0}, moved = 0;
	uint64_t first[BLOCKS];
	struct pattern pattern;
	struct random random;

	(void)state;
	p.random = p.every_block_once = true;
	random_seed(&random, 1, 0);
	pattern_init(&pattern, &p);
	for (unsigned i = 0; i < BLOCKS; i++) {
		first[i] = pattern_next(&pattern, &random).offset;
		assert_int_equal(hits[first[i] / BLOCK - 7]++, 0);
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		moved += pattern_next(&pattern, &random).offset != first[i];
	assert_true(moved > BLOCKS * 9 / 10); /* the next pass goes another way */
}

/* The share of the most frequent block against 1 / (zeta of the sum). */
static void check_zipf(double theta)
{
	enum { BLOCKS = 1000, DRAWS = 200000 };
	struct pattern_params p = params(BLOCKS);
	unsigned hits[BLOCKS] = {0};
	struct pattern pattern;
	struct random random;
	double sum = 0;

	p.random = true;
	p.zipf_theta = theta;
	random_seed(&random, 5, 0);
	pattern_init(&pattern, &p);
	for (unsigned i = 0; i < DRAWS; i++)
		hits[pattern_next(&pattern, &random).offset / BLOCK - 7]++;
	for (unsigned k = 1; k <= BLOCKS; k++)
		sum += pow(k, -theta);
	for (unsigned rank = 0; rank < 4; rank++) {
		double expected = DRAWS * pow(rank + 1, -theta) / sum;
		double got = hits[pattern_permute(&pattern, rank, p.seed)];

		assert_true(fabs(got - expected) < 5 * sqrt(expected));
	}
}

static void test_zipf_has_its_shares(void **state)
{
	static const double theta[] = {0.5, 0.99, 1, 1.2, 2};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(theta); i++)
		check_zipf(theta[i]);
}

static void test_same_seed_same_sequence(void **state)
{
	struct pattern_params p = params(1 << 20);
	struct pattern a, b;
	struct random ra, rb, other;
	unsigned differ = 0;

	(void)state;
	p.random = true;
	random_seed(&ra, 9, 4);
	random_seed(&rb, 9, 4);
	random_seed(&other, 9, 5);
	pattern_init(&a, &p);
	pattern_init(&b, &p);
	for (unsigned i = 0; i < 100; i++) {
		uint64_t offset = pattern_next(&a, &ra).offset;

		assert_int_equal(offset, pattern_next(&b, &rb).offset);
		differ += offset != pattern_next(&b, &other).offset;
	}
	assert_true(differ > 95);
}

/* Bytes spread evenly, no word comes twice, an odd length is filled to its end. */
static void test_data_is_random(void **state)
{
	enum { BYTES = 1 << 20, TAIL = 13 };
	unsigned char *buf = calloc(1, BYTES + TAIL);
	unsigned hits[256] = {0}, zero_tails = 0;
	struct random random;
	double chi2 = 0;

	(void)state;
	random_seed(&random, 1, 0);
	fill_random(&random, buf, BYTES + TAIL);
	for (unsigned i = 0; i < BYTES; i++)
		hits[buf[i]]++;
	for (unsigned i = 0; i < 256; i++)
		chi2 += (hits[i] - BYTES / 256.0) * (hits[i] - BYTES / 256.0) / (BYTES / 256.0);
	assert_true(chi2 < 330.5); /* 255 degrees of freedom, p = 0.001 */
	for (unsigned i = 0; i < TAIL; i++)
		zero_tails += !buf[BYTES + i];
	assert_true(zero_tails < 4);
	for (unsigned i = 4096; i < BYTES; i += 4096)
		assert_memory_not_equal(buf + i, buf + i - 4096, 4096);
	free(buf);
}

/* No byte run of the old data survives, and the tail changes too. */
static void test_renewed_data_is_other_data(void **state)
{
	enum { BYTES = 4096 + 61 };
	uint64_t words[BYTES / 8 + 1], before[BYTES / 8 + 1];
	unsigned char *now = (unsigned char *)words, *then = (unsigned char *)before;
	struct random random;
	unsigned same = 0;

	(void)state;
	random_seed(&random, 1, 0);
	fill_random(&random, words, sizeof(words));
	memcpy(before, words, sizeof(words));
	fill_renew(words, BYTES, 0x0123456789abcdefull, FILL_ALL);
	for (unsigned i = 0; i < BYTES; i++)
		same += now[i] == then[i];
	assert_int_equal(same, 0);
	assert_int_equal(now[BYTES], then[BYTES]); /* not beyond the end */
	fill_renew(words, BYTES, 0x0123456789abcdefull, FILL_ALL);
	assert_memory_equal(words, before, sizeof(words));
}

static void test_a_piece_of_every_sector_is_other_data(void **state)
{
	enum { BYTES = 4096 };
	uint64_t words[BYTES / 8], before[BYTES / 8];
	unsigned char *now = (unsigned char *)words, *then = (unsigned char *)before;
	struct random random;

	(void)state;
	random_seed(&random, 1, 0);
	fill_random(&random, words, sizeof(words));
	memcpy(before, words, sizeof(words));
	fill_renew(words, BYTES, 0x0123456789abcdefull, FILL_PIECE);
	for (unsigned sector = 0; sector < BYTES; sector += 512)
		assert_memory_not_equal(now + sector, then + sector, 64);
}

/* Whatever the order of takes, gives and renewals, no data is handed out twice. */
static void test_no_buffer_is_written_twice(void **state)
{
	enum { DEPTH = 4, WRITES = 1000 };
	const struct buffers_params params = {.depth = DEPTH,
	                                      .block_bytes = BLOCK,
	                                      .reads = true,
	                                      .writes = true,
	                                      .seed = 1,
	                                      .threads = 1};
	uint64_t first_word[WRITES];
	unsigned char *taken[DEPTH];
	struct buffers buffers;

	(void)state;
	assert_int_equal(buffers_init(&buffers, &params), 0);
	for (unsigned i = 0; i < WRITES; i++) {
		unsigned slot = i % DEPTH;

		if (i >= DEPTH)
			buffers_give(&buffers, taken[slot]);
		if (i % 3 == 0)
			buffers_renew(&buffers);
		taken[slot] = buffers_take(&buffers);
		assert_true(taken[slot] >= buffers_read(&buffers, DEPTH)); /* apart from reads */
		memcpy(&first_word[i], taken[slot], sizeof(first_word[i]));
		for (unsigned j = 0; j < i; j++)
			assert_int_not_equal(first_word[i], first_word[j]);
	}
	while (buffers_renew(&buffers))
		;
	assert_int_equal(buffers.stale.n, 0);
	buffers_destroy(&buffers);
}

/*
 * Where a piece of a buffer is made anew, the rest of its old bytes lies so far back that no
 * compressor finds it: however few are in flight, all others come first.
 */
static void test_a_buffer_comes_round_after_all_others(void **state)
{
	enum { DEPTH = 4, BYTES = 1 << 20, WRITES = 64 };
	const struct buffers_params params = {
	        .depth = DEPTH, .block_bytes = BYTES, .writes = true, .seed = 1, .threads = 1};
	unsigned char *written[WRITES];
	struct buffers buffers;

	(void)state;
	assert_int_equal(buffers_init(&buffers, &params), 0);
	assert_int_equal(buffers.share, FILL_PIECE);
	for (unsigned i = 0; i < WRITES; i++) {
		written[i] = buffers_take(&buffers);
		for (unsigned back = 1; back <= min_u64(i, DEPTH); back++)
			assert_ptr_not_equal(written[i], written[i - back]);
		buffers_give(&buffers, written[i]);
		if (i % 2)
			buffers_renew(&buffers);
	}
	buffers_destroy(&buffers);
}

static void test_zeros_stay_zeros(void **state)
{
	const struct buffers_params params = {
	        .depth = 1, .block_bytes = BLOCK, .writes = true, .zero = true};
	struct buffers buffers;

	(void)state;
	assert_int_equal(buffers_init(&buffers, &params), 0);
	for (unsigned i = 0; i < 5; i++) {
		unsigned char *buffer = buffers_take(&buffers);

		for (unsigned j = 0; j < BLOCK; j++)
			assert_int_equal(buffer[j], 0);
		buffers_give(&buffers, buffer);
		assert_false(buffers_renew(&buffers));
	}
	buffers_destroy(&buffers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_sequential_wraps),
	        cmocka_unit_test(test_short_tail_is_the_last_block),
	        cmocka_unit_test(test_mixed_sequential_has_two_streams),
	        cmocka_unit_test(test_random_stays_in_the_region_and_is_even),
	        cmocka_unit_test(test_permutation_is_one),
	        cmocka_unit_test(test_every_block_once_a_pass),
	        cmocka_unit_test(test_zipf_has_its_shares),
	        cmocka_unit_test(test_same_seed_same_sequence),
	        cmocka_unit_test(test_data_is_random),
	        cmocka_unit_test(test_renewed_data_is_other_data),
	        cmocka_unit_test(test_a_piece_of_every_sector_is_other_data),
	        cmocka_unit_test(test_no_buffer_is_written_twice),
	        cmocka_unit_test(test_a_buffer_comes_round_after_all_others),
	        cmocka_unit_test(test_zeros_stay_zeros),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
