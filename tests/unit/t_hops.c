/* links: kinds/hops_tally.c measure/hist.c result/hops.c */
/*
 * Where the time of a request went: the parts add up to what the client waited, whatever the hops
 * say.
 */
#include "kinds/hops_tally.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define US(n) ((n)*NSEC_PER_USEC)

static struct hops_result result;

static struct chain_result *make(unsigned n_hops)
{
	static struct plan_hop hops[PLAN_HOPS_MAX];
	struct plan_chains plan = {.n = 1,
	                           .chain[0] = {.name = "c", .hops = hops, .n_hops = n_hops}};

	assert_int_equal(hops_result_init(&result, &plan), 0);
	return &result.chains[0];
}

static int tear_down(void **state)
{
	(void)state;
	hops_result_destroy(&result);
	return 0;
}

static struct chain_answer answer(uint64_t elapsed_us, uint64_t next_us)
{
	return (struct chain_answer){.elapsed_ns = US(elapsed_us),
	                             .knows_next = next_us != 0,
	                             .next_ns[HTTP_TOTAL] = US(next_us)};
}

static uint64_t sum_of_hops(const struct chain_result *chain)
{
	uint64_t sum = chain->late.sum;

	for (unsigned i = 0; i < chain->n_hops; i++)
		sum += chain->hops[i].own.sum + chain->hops[i].network.sum;
	return sum;
}

static void test_differences(void **state)
{
	struct chain_result *chain = make(3);
	const struct hops_request request = {.phase_ns[HTTP_TOTAL] = US(1000),
	                                     .phase_ns[HTTP_TCP] = US(70),
	                                     .new_connections = 1};
	const struct chain_answer answers[] = {answer(800, 700), answer(500, 300), answer(50, 0)};

	(void)state;
	hops_tally(chain, &request, answers);
	assert_int_equal(chain->hops[0].network.max, US(200));
	assert_int_equal(chain->hops[0].own.max, US(100));
	assert_int_equal(chain->hops[1].network.max, US(200));
	assert_int_equal(chain->hops[1].own.max, US(200));
	assert_int_equal(chain->hops[2].network.max, US(250));
	assert_int_equal(chain->hops[2].own.max, US(50));
	assert_int_equal(chain->total.sum, US(1000));
	assert_int_equal(sum_of_hops(chain), chain->total.sum);
	assert_int_equal(chain->late.count, 0);
	assert_int_equal(chain->hops[0].part[HOPS_TCP].max, US(70));
	assert_int_equal(chain->hops[0].new_connections, 1);
	assert_int_equal(chain->rounded, 0);
}

static void test_late_is_a_part_of_the_total(void **state)
{
	struct chain_result *chain = make(1);
	const struct hops_request request = {
	        .late_ns = US(40), .is_open_loop = true, .phase_ns[HTTP_TOTAL] = US(100)};
	const struct chain_answer one = answer(30, 0);

	(void)state;
	hops_tally(chain, &request, &one);
	assert_int_equal(chain->total.sum, US(140));
	assert_int_equal(sum_of_hops(chain), US(140));
	assert_int_equal(chain->late.max, US(40));
}

/* choi counts in ms, and does not tell how long it waited. */
static void test_a_hop_that_rounds_and_does_not_tell(void **state)
{
	struct chain_result *chain = make(3);
	const struct hops_request request = {.phase_ns[HTTP_TOTAL] = US(2900)};
	const struct chain_answer answers[] = {answer(3000, 0), answer(2500, 2700), answer(10, 0)};

	(void)state;
	hops_tally(chain, &request, answers);
	assert_int_equal(chain->rounded, 2);
	assert_int_equal(chain->hops[0].untold, 1);
	assert_int_equal(chain->hops[0].own.max, 0);
	assert_int_equal(chain->hops[1].part[HOPS_WAIT].count, 0);
	assert_int_equal(chain->hops[1].network.max, US(400));
	assert_int_equal(sum_of_hops(chain), chain->total.sum);
}

/* Any numbers at all add up, request by request. */
static void test_any_numbers_add_up(void **state)
{
	struct chain_result *chain = make(PLAN_HOPS_MAX);
	struct chain_answer answers[PLAN_HOPS_MAX];
	uint64_t x = 88172645463325252;

	(void)state;
	for (unsigned round = 0; round < 1000; round++) {
		struct hops_request request = {.is_open_loop = true};
		uint64_t before = sum_of_hops(chain), total = chain->total.sum;

		for (unsigned i = 0; i < PLAN_HOPS_MAX; i++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			answers[i] = answer(x >> 44, x & 1 ? x >> 45 & 0xffff : 0);
		}
		request.late_ns = x >> 40;
		request.phase_ns[HTTP_TOTAL] = x >> 34;
		hops_tally(chain, &request, answers);
		assert_int_equal(sum_of_hops(chain) - before, chain->total.sum - total);
	}
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_differences),
	        TEST(test_late_is_a_part_of_the_total),
	        TEST(test_a_hop_that_rounds_and_does_not_tell),
	        TEST(test_any_numbers_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
