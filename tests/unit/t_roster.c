/* links: base/err.c base/units.c peers/roster.c peers/message.c */
/* One thread is all peers: it looks at a gate for each without waiting. */
#include "peers/roster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "peers/message.h"

static struct roster *roster;

static struct roster *start(unsigned n)
{
	char text[ROSTER_TEXT_MAX], host[16], session[16];

	roster = roster_new(n, "host-0");
	for (unsigned i = 1; i < n; i++) {
		snprintf(host, sizeof(host), "host-%u", i);
		snprintf(session, sizeof(session), "s%u", i);
		assert_true(roster_join(roster, i, host, session, 100 + i, text));
	}
	return roster;
}

static void arrive(unsigned index, uint64_t gate, bool timed, const char *skipped)
{
	const struct arrival arrival = {.gate = gate,
	                                .timed = timed,
	                                .skipped = skipped,
	                                .note = "a note",
	                                .limit_ns = 3600 * NSEC_PER_SEC};

	roster_arrive(roster, index, &arrival);
}

static struct gate_news look(unsigned index, uint64_t gate)
{
	struct gate_news news;

	roster_wait(roster, index, gate, GATE_WAIT, 0, &news);
	return news;
}

#define assert_state(index, gate, wanted) assert_int_equal(look(index, gate).state, wanted)

/* Index 0 is at the next gate before the others have been told that this one is open. */
static void test_a_note_waits_for_who_is_slow(void **state)
{
	const struct arrival next = {.gate = 2, .timed = true, .skipped = "", .note = ""};

	(void)state;
	start(2);
	arrive(0, 1, false, "");
	arrive(1, 1, false, "");
	assert_state(0, 1, GATE_OPEN);
	roster_arrive(roster, 0, &next);
	assert_string_equal(look(1, 1).note, "a note");
	roster_free(roster);
}

static void test_opens_when_all_are_there(void **state)
{
	(void)state;
	start(3);
	arrive(0, 1, false, "");
	arrive(2, 1, false, "");
	assert_state(0, 1, GATE_WAIT);
	assert_string_equal(look(2, 1).text, "1 of 3 peers: 1 (host-1)");
	arrive(1, 1, false, "");
	assert_state(1, 1, GATE_OPEN);
	assert_string_equal(look(1, 1).note, "a note");
	/* one that is quick is no reason for the others to fail */
	arrive(1, 2, false, "");
	assert_state(0, 1, GATE_OPEN);
	assert_state(2, 1, GATE_OPEN);
	assert_state(1, 2, GATE_WAIT);
	roster_free(roster);
}

static void test_starts_at_one_time(void **state)
{
	static const uint64_t trips[] = {0, 100000, 300000, 200000};
	struct gate_news first;

	(void)state;
	start(4);
	for (unsigned i = 0; i < 4; i++)
		arrive(i, 1, true, "");
	for (unsigned i = 0; i < 4; i++) {
		assert_state(i, 1, GATE_TIMED);
		roster_ready(roster, i, 1, trips[i]);
	}
	first = look(2, 1);
	assert_int_equal(first.state, GATE_GO);
	assert_int_equal(first.within_ns, 250000);
	assert_true(first.start_ns > clock_now_ns());
	arrive(0, 2, false, ""); /* quick */
	for (unsigned i = 1; i < 4; i++) {
		assert_state(i, 1, GATE_GO);
		assert_int_equal(look(i, 1).start_ns, first.start_ns);
	}
	roster_free(roster);
}

static void test_names_who_could_not_start(void **state)
{
	(void)state;
	start(3);
	arrive(0, 2, true, "");
	arrive(1, 4, false, "no space");
	assert_state(0, 2, GATE_WAIT);
	arrive(2, 2, true, "");
	assert_string_equal(look(0, 2).text, "peer 1 (host-1) did not start this test: no space");
	assert_state(0, 2, GATE_FAILED);
	arrive(0, 4, false, "peer 1 (host-1) did not start this test: no space");
	assert_string_equal(look(2, 2).text, "peer 1 (host-1) did not start this test: no space");
	arrive(2, 4, false, "");
	for (unsigned i = 0; i < 3; i++)
		assert_state(i, 4, GATE_OPEN); /* the next test */
	roster_free(roster);
}

static void test_loses_who_does_not_come(void **state)
{
	char text[ROSTER_TEXT_MAX];
	const struct arrival arrival = {.gate = 1, .limit_ns = 1};

	(void)state;
	roster = roster_new(4, "host-0");
	assert_true(roster_join(roster, 1, "host-1", "s1", 101, text));
	roster_refuse(roster, 3, "it is old");
	assert_string_equal(look(1, 1).text,
	                    "4 of 4 peers: 0 (host-0), 1 (host-1), 2 (never came) ...");
	roster_arrive(roster, 1, &(struct arrival){.gate = 1});
	roster_arrive(roster, 0, &arrival);
	nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
	assert_state(0, 1, GATE_LOST);
	assert_string_equal(
	        look(1, 1).text,
	        "peer 2 did not come within 1ns (peers_timeout); peer 3 was refused: it "
	        "is old");
	assert_int_equal(roster_lost(roster, text), 2);
	roster_arrive(roster, 2, &(struct arrival){.gate = 1}); /* too late */
	assert_state(2, 1, GATE_LOST);
	roster_free(roster);
}

/* Those that wait are not to blame when a timed gate is overdue. */
static void test_blames_the_missing_only(void **state)
{
	char text[ROSTER_TEXT_MAX];

	(void)state;
	start(3);
	roster_arrive(roster, 0, &(struct arrival){.gate = 1, .timed = true, .limit_ns = 1});
	roster_arrive(roster, 1, &(struct arrival){.gate = 1, .timed = true});
	nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
	assert_state(1, 1, GATE_LOST);
	assert_int_equal(roster_lost(roster, text), 1);
	assert_string_equal(text, "peer 2 (host-2) did not come within 1ns (peers_timeout)");
	roster_free(roster);
}

static void test_loses_who_is_gone(void **state)
{
	struct gate_news news;

	(void)state;
	start(3);
	roster_close(roster, 102);
	roster_close(roster, 101);
	assert_true(roster_knows(roster, 1, "s1", 201)); /* it is back */
	roster_close(roster, 101);                       /* its old connection */
	arrive(0, 1, false, "");
	arrive(1, 1, false, "");
	assert_state(0, 1, GATE_WAIT);
	roster_wait(roster, 0, 1, GATE_WAIT, 2 * ROSTER_GONE_NS, &news);
	assert_int_equal(news.state, GATE_LOST);
	assert_string_equal(news.text, "peer 2 (host-2) is gone: its connection has ended");
	roster_free(roster);
}

static void test_loses_who_ends_early(void **state)
{
	(void)state;
	start(3);
	roster_leave(roster, 2, "it was ended by signal 15", "");
	arrive(0, 1, false, "");
	arrive(1, 1, false, "");
	assert_string_equal(look(1, 1).text,
	                    "peer 2 (host-2) has ended: it was ended by signal 15");
	roster_free(roster);
}

/* The last test: who could not start it is through with the plan. */
static void test_end_of_plan(void **state)
{
	char text[ROSTER_TEXT_MAX];
	size_t bytes;

	(void)state;
	start(3);
	arrive(0, 2, true, "");
	arrive(2, 2, true, "");
	roster_leave(roster, 1, "", "no space");
	assert_string_equal(look(0, 2).text, "peer 1 (host-1) did not start this test: no space");
	assert_true(roster_hand(roster, 2, "one\n", 4));
	assert_true(roster_hand(roster, 2, "two\n", 4));
	assert_string_equal(roster_lines(roster, 2, &bytes), "one\ntwo\n");
	assert_int_equal(bytes, 8);
	assert_string_equal(roster_lines(roster, 1, &bytes), "");
	assert_false(roster_hand(roster, 1, "x", ROSTER_LINES_MAX));
	assert_false(roster_wait_ends(roster, 0, false));
	roster_leave(roster, 2, "", "");
	assert_true(roster_wait_ends(roster, 0, false));
	assert_int_equal(roster_lost(roster, text), 0);
	roster_free(roster);
}

static void test_last_wait(void **state)
{
	char text[ROSTER_TEXT_MAX];

	(void)state;
	start(3);
	roster_leave(roster, 1, "", "");
	assert_true(roster_wait_ends(roster, 0, true));
	assert_int_equal(roster_lost(roster, text), 1);
	assert_string_equal(text, "peer 2 (host-2) did not end with the others");
	roster_end(roster, "it is over");
	roster_free(roster);
}

static void test_end_wakes(void **state)
{
	(void)state;
	start(2);
	arrive(1, 1, false, "");
	roster_end(roster, "index 0 was ended");
	assert_string_equal(look(1, 1).text, "index 0 was ended");
	assert_state(1, 1, GATE_LOST);
	roster_free(roster);
}

static void test_identity(void **state)
{
	char text[ROSTER_TEXT_MAX];

	(void)state;
	start(3);
	assert_false(roster_join(roster, 1, "other", "s9", 300, text));
	assert_string_equal(text, "index 1 is taken: 1 (host-1) has it");
	assert_true(roster_join(roster, 1, "host-1", "s1", 300, text)); /* it asks again */
	assert_true(roster_knows(roster, 2, "s2", 1));
	assert_false(roster_knows(roster, 2, "s1", 1));
	assert_false(roster_knows(roster, 2, "", 1));
	assert_false(roster_knows(roster, 0, "", 1));
	roster_free(roster);
	roster_free(NULL);
}

static void test_messages(void **state)
{
	char text[64] = "", value[8];
	uint64_t n;

	(void)state;
	message_add(text, sizeof(text), "a", "one\ntwo");
	message_add_uint(text, sizeof(text), "n", UINT64_MAX);
	message_add(text, sizeof(text), "empty", "");
	assert_string_equal(text, "a=one two\nn=18446744073709551615\nempty=\n");
	assert_true(message_get(text, "a", value, sizeof(value)));
	assert_string_equal(value, "one two");
	assert_true(message_get_uint(text, "n", &n));
	assert_true(n == UINT64_MAX);
	assert_true(message_get(text, "empty", value, sizeof(value)));
	assert_string_equal(value, "");
	assert_false(message_get(text, "n", value, sizeof(value))); /* does not fit */
	assert_false(message_get(text, "b", value, sizeof(value)));
	assert_false(message_get(text, "one", value, sizeof(value)));
	assert_false(message_get_uint(text, "a", &n));
	assert_false(message_get_uint("n=18446744073709551616\n", "n", &n));
	assert_false(message_get_uint("n=-1\n", "n", &n));
	assert_false(message_get_uint("n=1x", "n", &n));
	assert_false(message_get_uint("n", "n", &n));
	assert_false(message_get_uint("", "n", &n));
	message_add(text, sizeof(text), "long", "0123456789012345678901234567890123456789");
	assert_int_equal(strlen(text), sizeof(text) - 1);
	assert_int_equal(text[sizeof(text) - 2], '\n');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_opens_when_all_are_there),
	        cmocka_unit_test(test_a_note_waits_for_who_is_slow),
	        cmocka_unit_test(test_starts_at_one_time),
	        cmocka_unit_test(test_names_who_could_not_start),
	        cmocka_unit_test(test_loses_who_does_not_come),
	        cmocka_unit_test(test_blames_the_missing_only),
	        cmocka_unit_test(test_loses_who_is_gone),
	        cmocka_unit_test(test_loses_who_ends_early),
	        cmocka_unit_test(test_end_of_plan),
	        cmocka_unit_test(test_last_wait),
	        cmocka_unit_test(test_end_wakes),
	        cmocka_unit_test(test_identity),
	        cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
