/* links: base/err.c base/units.c builtin.c measure/hist.c measure/stats.c measure/student.c
 * plan/expect.c plan/plan.c plan/published.c result/compare.c result/compare_conditions.c
 * result/compare_judge.c result/entities.c result/hops.c result/repeats.c result/result.c
 * result/search.c result/verdict.c result/verdict_cache.c result/verdict_expect.c
 * result/verdict_host.c result/verdict_pause.c result/verdict_published.c result/verdict_series.c
 * result/verdict_table.c */
/* What is compared, and which differences are shown. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "load/random.h"
#include "result/compare.h"
#include "sample.h"

#define RUNS_MAX   10
#define LATENCY_NS 1000000
#define WINDOW_S   60

static struct compare *compare;
static struct random rng;

static int set_up(void **unused)
{
	(void)unused;
	compare = compare_new();
	random_seed(&rng, 42, 0);
	return compare ? 0 : -1;
}

static int tear_down(void **unused)
{
	(void)unused;
	compare_free(compare);
	return 0;
}

/* A run's result, as its process gave it. */
struct made {
	struct result result;
	struct test_result tests[RUNS_MAX];
};

static struct made *make(const char *id, const char *class)
{
	struct made *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->result.tests = m->tests;
	snprintf(m->result.id, RESULT_TEXT_MAX, "%s", id);
	snprintf(m->result.conditions.class, RESULT_TEXT_MAX, "%s", class);
	snprintf(m->result.conditions.kernel, RESULT_TEXT_MAX, "5.10");
	return m;
}

static void record(struct hist *h, uint64_t n, uint64_t latency_ns)
{
	h->bucket[hist_index(latency_ns)] += n;
	if (!h->count || latency_ns < h->min)
		h->min = latency_ns;
	h->max = max_u64(h->max, latency_ns);
	h->count += n;
	h->sum += n * latency_ns;
}

/* One test more; of several runs where count is not 0. Half of its requests take 1 % longer. */
static struct test_result *add_run(struct made *m, const char *name, uint64_t count, double iops,
                                   double latency_ns)
{
	struct test test = sample_test(name, RW_RANDREAD);
	struct test_result *tr = &m->tests[m->result.n_tests++];
	struct op_stats *read;
	uint64_t n = (uint64_t)llround(iops * WINDOW_S);

	assert_true(m->result.n_tests <= RUNS_MAX);
	if (count) {
		test.nth = (struct plan_repeat){.index = m->result.n_tests, .count = count};
		snprintf(test.nth.of, sizeof(test.nth.of), "%s", name);
		snprintf(test.name, sizeof(test.name), "%.100s-%u", name, m->result.n_tests);
	}
	sample_result(tr, &test);
	read = &tr->stats->op[STATS_READ];
	record(&read->latency, n - n / 2, (uint64_t)latency_ns);
	record(&read->latency, n / 2, (uint64_t)(latency_ns * 1.01));
	read->bytes = 4096 * n;
	return tr;
}

static void give_up(struct made *m)
{
	for (unsigned i = 0; i < m->result.n_tests; i++)
		test_result_destroy(&m->tests[i]);
	free(m);
}

static void give(struct made *m)
{
	struct err err;

	if (compare_add(compare, &m->result, "a.log", NULL, &err))
		fail_msg("%s", err.text);
	give_up(m);
}

static double normal(void)
{
	double u = random_unit(&rng), v = random_unit(&rng);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* n runs around a rate and a latency, both scattered by this share. */
static void give_runs(const char *id, const char *class, unsigned n, double iops, double latency_ns,
                      double scatter)
{
	struct made *m = make(id, class);

	for (unsigned i = 0; i < n; i++)
		add_run(m, "t", n, iops * (1 + scatter * normal()),
		        latency_ns * (1 + scatter * normal()));
	give(m);
}

static void give_one(const char *id, const char *class, double iops)
{
	struct made *m = make(id, class);

	add_run(m, "t", 0, iops, LATENCY_NS);
	give(m);
}

static void finish(const char *baseline)
{
	struct err err;

	if (compare_finish(compare, baseline, &err))
		fail_msg("%s", err.text);
}

static const struct compare_op *read_of(unsigned result)
{
	return &compare->results[result]->entries[0]->op[STATS_READ];
}

static int claim(unsigned result, enum compare_figure figure)
{
	return read_of(result)->cell[figure].claim;
}

static void anew(void)
{
	compare_free(compare);
	compare = compare_new();
	assert_non_null(compare);
}

/* ---- differences ---- */

static void test_single_runs_claim_nothing(void **unused)
{
	const struct compare_cell *cell;

	(void)unused;
	give_one("1", "slow", 1000);
	give_one("2", "fast", 4000);
	finish(NULL);
	cell = &read_of(1)->cell[COMPARE_IOPS];
	assert_true(cell->ratio == 4);
	assert_true(isnan(cell->low) && isnan(cell->high));
	assert_int_equal(cell->claim, CLAIM_TOO_FEW);
	assert_int_equal(claim(0, COMPARE_IOPS), CLAIM_NOT_COMPARED);
	assert_int_equal(compare->n_intervals, 0);
	assert_int_equal(compare->n_too_few, 3);
	assert_true(cell->best && !read_of(0)->cell[COMPARE_IOPS].best);
	/* equally quick: both are the best */
	assert_true(read_of(0)->cell[COMPARE_P50].best && read_of(1)->cell[COMPARE_P50].best);
	assert_true(compare_mean(read_of(1), COMPARE_BW) == 4096 * 4000);
}

static void test_four_runs_are_too_few(void **unused)
{
	(void)unused;
	give_runs("1", "a", 5, 1000, LATENCY_NS, 0.01);
	give_runs("2", "b", 4, 2000, LATENCY_NS, 0.01);
	finish(NULL);
	assert_int_equal(claim(1, COMPARE_IOPS), CLAIM_TOO_FEW);
}

/* Of 20 pairs of the same, whatever they scatter, none differs. */
static void test_equal_runs_do_not_differ(void **unused)
{
	static const double scatters[] = {0.005, 0.02, 0.1, 0.3};

	(void)unused;
	for (unsigned i = 0; i < 20; i++) {
		anew();
		give_runs("1", "a", 5, 10000, LATENCY_NS, scatters[i % ARRAY_SIZE(scatters)]);
		give_runs("2", "b", 5, 10000, LATENCY_NS, scatters[i % ARRAY_SIZE(scatters)]);
		finish(NULL);
		assert_int_equal(compare->n_intervals, 3);
		for (unsigned f = 0; f < COMPARE_FIGURES; f++)
			if (claim(1, (enum compare_figure)f) >= CLAIM_HIGHER)
				fail_msg("pair %u: %s differs", i, compare_figure_names[f]);
	}
}

/* Runs that scatter by 2 % show a tenth. */
static void test_a_tenth_is_found(void **unused)
{
	unsigned found = 0;

	(void)unused;
	for (unsigned i = 0; i < 20; i++) {
		anew();
		give_runs("1", "a", 5, 10000, LATENCY_NS, 0.02);
		give_runs("2", "b", 5, 9000, LATENCY_NS * 1.1, 0.02);
		finish(NULL);
		found += claim(1, COMPARE_IOPS) == CLAIM_LOWER;
		found += claim(1, COMPARE_P50) == CLAIM_HIGHER;
		found += claim(1, COMPARE_P99) == CLAIM_HIGHER;
		assert_int_not_equal(claim(1, COMPARE_IOPS), CLAIM_HIGHER);
	}
	if (found < 54)
		fail_msg("%u of 60", found);
}

/* However sure it is. */
static void test_small_differences_are_not_claimed(void **unused)
{
	(void)unused;
	give_runs("1", "a", 5, 10000, LATENCY_NS, 0.0001);
	give_runs("2", "b", 5, 10400, LATENCY_NS, 0.0001);
	give_runs("3", "c", 5, 10600, LATENCY_NS, 0.0001);
	finish(NULL);
	assert_int_equal(claim(1, COMPARE_IOPS), CLAIM_NO_DIFFERENCE);
	assert_true(read_of(1)->cell[COMPARE_IOPS].low > 1);
	assert_int_equal(claim(2, COMPARE_IOPS), CLAIM_HIGHER);
}

/* More of them hold together only when each is wider. */
static void test_many_intervals_are_wider(void **unused)
{
	double width[2];

	(void)unused;
	for (unsigned i = 0; i < 2; i++) {
		anew();
		random_seed(&rng, 7, 0);
		give_runs("1", "a", 5, 10000, LATENCY_NS, 0.02);
		give_runs("2", "b", 5, 10000, LATENCY_NS, 0.02);
		if (i)
			give_runs("3", "c", 5, 10000, LATENCY_NS, 0.02);
		finish(NULL);
		width[i] = read_of(1)->cell[COMPARE_IOPS].high - read_of(1)->cell[COMPARE_IOPS].low;
	}
	assert_int_equal(compare->n_intervals, 6);
	assert_true(width[1] > 1.1 * width[0]);
}

static void test_what_a_cache_made_is_not_claimed(void **unused)
{
	struct made *m = make("2", "b");

	(void)unused;
	give_runs("1", "a", 5, 1000, LATENCY_NS, 0.01);
	for (unsigned i = 0; i < 5; i++) {
		struct test_result *tr = add_run(m, "t", 5, 90000, LATENCY_NS / 10.0);

		if (i != 3)
			continue;
		tr->direct = false;
		snprintf(tr->direct_reason, RESULT_TEXT_MAX, "refused");
		test_result_concede(tr, "refused");
	}
	give(m);
	finish(NULL);
	assert_false(read_of(1)->relied);
	assert_int_equal(claim(1, COMPARE_IOPS), CLAIM_NOT_COMPARED);
	assert_false(read_of(1)->cell[COMPARE_IOPS].best);
	assert_true(read_of(1)->cell[COMPARE_IOPS].ratio > 80);
}

/* ---- whose it is ---- */

static void assert_note(const char *part)
{
	for (unsigned i = 0; i < compare->n_notes; i++)
		if (strstr(compare->notes[i], part))
			return;
	fail_msg("no note has '%s'", part);
}

static void test_a_run_counts_once(void **unused)
{
	struct made *m = make("1", "a");
	struct err err;

	(void)unused;
	give_one("1", "a", 1000);
	add_run(m, "t", 0, 3000, LATENCY_NS);
	add_run(m, "u", 0, 3000, LATENCY_NS);
	assert_int_equal(compare_add(compare, &m->result, "b.log", NULL, &err), -1);
	assert_string_equal(err.text,
	                    "its 't' was given before by the same run: not counted twice");
	give_up(m);
	finish(NULL);
	assert_int_equal(compare->n_results, 1);
	assert_true(compare_mean(read_of(0), COMPARE_IOPS) == 1000);
	assert_int_equal(compare->n_tests, 2); /* what is new of it counts */
	assert_note("one result only");
}

static void test_a_class_twice(void **unused)
{
	static const char *const labels[] = {"a (x.json)", "a (y.json)", "b", "a (y.json) #2"};
	static const char *const sources[] = {"d/x.json", "y.json", "z.json", "e/y.json"};
	struct err err;

	(void)unused;
	for (unsigned i = 0; i < 4; i++) {
		struct made *m = make((const char *[]){"1", "2", "3", "4"}[i], i == 2 ? "b" : "a");

		assert_int_equal(compare_add(compare, &m->result, sources[i], NULL, &err), 0);
		give_up(m);
	}
	finish("d/x.json");
	for (unsigned i = 0; i < 4; i++)
		assert_string_equal(compare->results[i]->label, labels[i]);
	assert_note("'a' is there 3 times");
}

static void test_pods_of_one_run(void **unused)
{
	struct err err;

	(void)unused;
	for (unsigned i = 0; i < 3; i++) {
		struct made *m = make("1", "a");

		m->result.peer = (struct peer){i % 2, 2};
		m->result.merged.pods = i == 2 ? 2 : 0;
		add_run(m, "t", 0, 1000, LATENCY_NS);
		assert_int_equal(compare_add(compare, &m->result, "x", NULL, &err), 0);
		give_up(m);
	}
	finish(NULL);
	assert_int_equal(compare->n_results, 3);
	assert_note("'a (x)' is one of 2 pods that ran together");
}

static void test_labels_are_clean(void **unused)
{
	(void)unused;
	give_one("1", "a\nb\x1b[31m", 1);
	finish(NULL);
	assert_string_equal(compare->results[0]->label, "a?b?[31m");
}

static void refuse_baseline(const char *name, const char *why)
{
	struct err err;

	assert_int_equal(compare_finish(compare, name, &err), -1);
	assert_int_equal(err.class, ERR_PLAN);
	assert_string_equal(err.text, why);
}

static void test_baseline(void **unused)
{
	(void)unused;
	refuse_baseline(NULL, "there is no result to compare");
	give_one("1", "slow", 1000);
	give_one("2", "fast", 4000);
	refuse_baseline("none", "the baseline 'none' is none of the results (there are: 'slow' "
	                        "'fast')");
	refuse_baseline("a.log", "the baseline 'a.log' may be several results (there are: 'slow' "
	                         "'fast')");
	finish("fast");
	assert_int_equal(compare->baseline, 1);
	assert_true(read_of(0)->cell[COMPARE_IOPS].ratio == 0.25);
	finish("1");
	assert_int_equal(compare->baseline, 0);
}

static void test_bounds(void **unused)
{
	struct made *m = make("", "a");
	struct err err;

	(void)unused;
	for (unsigned i = 0; i < COMPARE_RESULTS_MAX; i++)
		assert_int_equal(compare_add(compare, &m->result, "a", NULL, &err), 0);
	assert_int_equal(compare_add(compare, &m->result, "a", NULL, &err), -1);
	assert_string_equal(err.text,
	                    "left out, as more of the kind: at most 64 results are "
	                    "compared, 4096 tests of different names, 16384 of all results");
	/* the others are as many lines as a log has */
	assert_int_equal(compare_add(compare, &m->result, "a", NULL, &err), 0);
	assert_int_equal(compare->n_results, COMPARE_RESULTS_MAX);
	give_up(m);
	for (unsigned i = 0; i < COMPARE_NOTES_MAX + 5; i++)
		compare_note(compare, "note %u", i);
	assert_int_equal(compare->n_notes, COMPARE_NOTES_MAX);
	assert_note("more to know");
}

static void test_a_run_without_a_place(void **unused)
{
	struct made *m = make("1", "a");
	struct test_result *tr = add_run(m, "t", 5, 1000, LATENCY_NS);
	struct err err;

	(void)unused;
	tr->repeat.index = UINT64_MAX;
	assert_int_equal(compare_add(compare, &m->result, "a", NULL, &err), -1);
	assert_string_equal(err.text,
	                    "its 't-1' is left out: its number is none that a repeat has");
	give_up(m);
}

/* ---- conditions ---- */

static void append_difference(void *arg, const struct compare_difference *d)
{
	char *out = arg;
	size_t used = strlen(out);

	snprintf(out + used, 256 - used, "%s %u;", d->condition->name,
	         d->test == COMPARE_TESTS_MAX ? 99 : d->test);
}

static void test_conditions(void **unused)
{
	struct made *a = make("1", "a"), *b = make("2", "b");
	char text[256] = "";

	(void)unused;
	snprintf(b->result.conditions.kernel, RESULT_TEXT_MAX, "6.1");
	snprintf(b->result.conditions.machine, RESULT_TEXT_MAX, "known of one only");
	for (unsigned i = 0; i < 3; i++) {
		const char *name = (const char *[]){"t", "u", "v"}[i];
		struct test_result *tr;

		add_run(a, name, 0, 1000, LATENCY_NS);
		tr = add_run(b, name, 0, 1000, LATENCY_NS);
		tr->size = i < 2 ? GIB : tr->size;
		tr->iodepth += i == 2;
		snprintf(tr->ioengine, sizeof(tr->ioengine), i ? "aio" : "io_uring");
	}
	give(a);
	give(b);
	finish(NULL);
	compare_each_difference(compare, append_difference, text);
	assert_string_equal(text, "kernel 99;iodepth 2;size 0;ioengine 1;");
	*text = '\0';
	compare_differences_of(compare, 1, 2, append_difference, text);
	assert_string_equal(text, "kernel 99;iodepth 2;ioengine 2;");
}

static void test_limit_share(void **unused)
{
	struct made *m = make("1", "a");
	struct published *p = &m->result.conditions.class_limits;

	(void)unused;
	p->iops = 5000;
	p->mib_per_s = 15.625; /* 4000 of 4 KiB */
	snprintf(p->source, sizeof(p->source), "here");
	add_run(m, "t", 0, 3000, LATENCY_NS);
	give(m);
	finish(NULL);
	assert_true(fabs(read_of(0)->limit_share.mean - 0.75) < 1e-9);
}

/* ---- gates ---- */

static void gate(const char *text)
{
	struct err err;

	if (compare_add_gate(compare, text, &err))
		fail_msg("%s", err.text);
}

static int outcome(unsigned gate_number, unsigned result)
{
	const struct compare_gate *g = &compare->gates[gate_number];

	return g->of[result].judged ? g->of[result].outcome.result : -1;
}

static void test_gates(void **unused)
{
	(void)unused;
	gate("t.read.iops < 0.9 * baseline");
	gate("t.read.iops > 5000");
	gate("t.write.p99 > baseline");
	gate("t.read.p50 > 1.5*baseline");
	give_one("1", "a", 1000);
	give_one("2", "b", 899);
	give_one("3", "c", 901);
	finish(NULL);
	assert_int_equal(outcome(0, 0), -1);
	assert_int_equal(outcome(0, 1), EXPECT_PASS);
	assert_int_equal(outcome(0, 2), EXPECT_FAIL);
	assert_int_equal(outcome(1, 0), EXPECT_FAIL);
	assert_int_equal(outcome(2, 1), EXPECT_NOT_JUDGED);
	assert_int_equal(outcome(3, 1), EXPECT_FAIL);
	assert_true(compare->gates[0].of[1].outcome.value == 899);
	assert_int_equal(compare_exit_code(compare), EXIT_THRESHOLD);
}

static void test_gates_that_are_passed(void **unused)
{
	(void)unused;
	gate("t.read.iops < 0.9 * baseline");
	give_one("1", "a", 1000);
	give_one("2", "b", 950);
	finish(NULL);
	assert_int_equal(compare_exit_code(compare), 0);
}

/* A comparison that did not take place has passed nothing. */
static void test_gates_without_a_test(void **unused)
{
	(void)unused;
	gate("u.read.iops < 0.9 * baseline");
	give_one("1", "a", 1000);
	finish(NULL);
	assert_int_equal(compare_exit_code(compare), EXIT_THRESHOLD);
	assert_note("no result has a test 'u'");
}

static void test_a_failed_run_is_not_judged(void **unused)
{
	struct made *m = make("2", "b");

	(void)unused;
	gate("t.read.iops < 0.9 * baseline");
	give_runs("1", "a", 2, 1000, LATENCY_NS, 0);
	add_run(m, "t", 2, 1000, LATENCY_NS);
	add_run(m, "t", 2, 1000, LATENCY_NS)->status = STATUS_FAILED;
	give(m);
	finish(NULL);
	assert_int_equal(outcome(0, 1), EXPECT_NOT_JUDGED);
	assert_int_equal(compare->results[1]->entries[0]->n_ok, 1);
	assert_int_equal(compare->results[1]->entries[0]->n_failed, 1);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        EACH(test_single_runs_claim_nothing),
	        EACH(test_four_runs_are_too_few),
	        EACH(test_equal_runs_do_not_differ),
	        EACH(test_a_tenth_is_found),
	        EACH(test_small_differences_are_not_claimed),
	        EACH(test_many_intervals_are_wider),
	        EACH(test_what_a_cache_made_is_not_claimed),
	        EACH(test_a_run_counts_once),
	        EACH(test_a_class_twice),
	        EACH(test_pods_of_one_run),
	        EACH(test_labels_are_clean),
	        EACH(test_baseline),
	        EACH(test_bounds),
	        EACH(test_a_run_without_a_place),
	        EACH(test_conditions),
	        EACH(test_limit_share),
	        EACH(test_gates),
	        EACH(test_gates_that_are_passed),
	        EACH(test_gates_without_a_test),
	        EACH(test_a_failed_run_is_not_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
