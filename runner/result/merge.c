/*
 * Pods are found by a tree of their keys, tests and targets by their names. A part is checked as
 * a whole before any of it is added.
 */
#include "result/merge.h"

#include <search.h>
#include <string.h>

#include "result/merge_site.h"
#include "result/merge_test.h"

struct merge {
	void *tree; /* of pods, by key */
	struct pod *pod[MERGE_PODS_MAX];
	unsigned n_pods;
	struct test_sum *test[PLAN_TESTS_MAX];
	unsigned n_tests;
	struct site *site[PLAN_TESTS_MAX];
	unsigned n_sites;
	struct words version, plan, note;
	struct codes codes;            /* on runs as a whole */
	char started[RESULT_TEXT_MAX]; /* of the first run */
	uint64_t peak_rss_bytes, attempt;
	uint64_t peers; /* how many there should be; 0: not known */
	bool interrupted;
};

struct merge *merge_new(void)
{
	return calloc(1, sizeof(struct merge));
}

static void pod_free(struct pod *pod)
{
	free(pod->key);
	free(pod);
}

static void keep_node(void *node)
{
	(void)node;
}

void merge_free(struct merge *m)
{
	if (!m)
		return;
	tdestroy(m->tree, keep_node);
	for (unsigned i = 0; i < m->n_pods; i++)
		pod_free(m->pod[i]);
	for (unsigned i = 0; i < m->n_tests; i++) {
		merge_test_destroy(m->test[i]);
		free(m->test[i]);
	}
	for (unsigned i = 0; i < m->n_sites; i++)
		free(m->site[i]);
	free(m);
}

unsigned merge_pods(const struct merge *m)
{
	return m->n_pods;
}

/* ---- pods ---- */

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct pod *)a)->key, ((const struct pod *)b)->key);
}

static void name_pod(struct pod *pod, const struct result *part, const char *name)
{
	const char *host = name ? name : part->host[0] ? part->host : "pod";

	if (pod->peer.count)
		snprintf(pod->name, sizeof(pod->name), "%.*s (index %llu)", POD_NAME_MAX - 32, host,
		         (unsigned long long)pod->peer.index);
	else if (name)
		snprintf(pod->name, sizeof(pod->name), "%s", name);
	else
		snprintf(pod->name, sizeof(pod->name), "%.64s (%.100s)", host, part->id);
}

static struct pod *pod_new(const struct result *part, const char *name)
{
	struct pod *pod = calloc(1, sizeof(*pod));

	if (!pod)
		return NULL;
	pod->peer = part->peer;
	name_pod(pod, part, name);
	if (asprintf(&pod->key, "%s\n%s\n%llu", part->id, part->host,
	             (unsigned long long)part->peer.index) < 0) {
		free(pod);
		return NULL;
	}
	return pod;
}

/* The one that is known, or this one, which is then the tree's. */
static struct pod *find_or_keep(struct merge *m, struct pod *pod)
{
	struct pod **found = tsearch(pod, &m->tree, by_key);

	if (!found)
		return NULL;
	if (*found == pod)
		m->pod[m->n_pods++] = pod;
	return *found;
}

static int check_peers(const struct merge *m, const struct pod *pod, struct err *err)
{
	if (pod->peer.count && pod->peer.index >= pod->peer.count)
		return err_set(err, ERR_PLAN, "it is number %llu of %llu",
		               (unsigned long long)pod->peer.index,
		               (unsigned long long)pod->peer.count);
	if (!m->n_pods || m->peers == pod->peer.count)
		return 0;
	return err_set(
	        err, ERR_PLAN,
	        "it is of a run of %llu pods, and others of one of %llu (0: each for itself)",
	        (unsigned long long)pod->peer.count, (unsigned long long)m->peers);
}

/* ---- adding ---- */

static unsigned find_test(const struct merge *m, const char *name)
{
	unsigned i = 0;

	while (i < m->n_tests && strcmp(m->test[i]->plan.name, name) != 0)
		i++;
	return i;
}

static bool has_given(const struct pod *pod, unsigned test)
{
	return pod->seen[test / 64] >> test % 64 & 1;
}

static int check_test(const struct merge *m, const struct pod *pod, const struct test_result *tr,
                      struct err *err)
{
	static const struct test_sum none;
	unsigned i = find_test(m, tr->name);

	if (i == PLAN_TESTS_MAX)
		return err_set(err, ERR_PLAN, "more than %d tests", PLAN_TESTS_MAX);
	if (i < m->n_tests && has_given(pod, i))
		return err_set(err, ERR_PLAN, "it gave '%s' before", tr->name);
	if (i < m->n_tests && merge_same(m->test[i], tr, err))
		return -1;
	return merge_fits(i < m->n_tests ? m->test[i] : &none, tr, err);
}

static int check_part(const struct merge *m, const struct pod *pod, const struct result *part,
                      struct err *err)
{
	if (part->merged.pods)
		return err_set(err, ERR_PLAN,
		               "it is merged already, and of what it was made of only sums are "
		               "left: name the results that were merged");
	if (check_peers(m, pod, err))
		return -1;
	for (unsigned i = 0; i < part->n_tests; i++) {
		for (unsigned j = 0; j < i; j++)
			if (!strcmp(part->tests[i].name, part->tests[j].name))
				return err_set(err, ERR_PLAN, "it has two tests '%s'",
				               part->tests[i].name);
		if (check_test(m, pod, &part->tests[i], err))
			return -1;
	}
	return 0;
}

static int add_site(struct merge *m, const struct conditions *c)
{
	unsigned i = 0;

	while (i < m->n_sites && strcmp(m->site[i]->one.target, c->target) != 0)
		i++;
	if (i == PLAN_TESTS_MAX)
		return 0; /* of more than all tests' targets nobody is told */
	if (i == m->n_sites) {
		m->site[i] = calloc(1, sizeof(*m->site[i]));
		if (!m->site[i])
			return -1;
		m->n_sites++;
	}
	merge_site_add(m->site[i], c);
	return 0;
}

static int add_test(struct merge *m, struct pod *pod, const struct test_result *tr)
{
	unsigned i = find_test(m, tr->name);

	if (i == m->n_tests) {
		m->test[i] = calloc(1, sizeof(*m->test[i]));
		if (!m->test[i])
			return -1;
		m->n_tests++;
	}
	pod->seen[i / 64] |= 1ull << i % 64;
	pod->n_tests++;
	return merge_test_add(m->test[i], tr, pod);
}

/* Of a run as a whole, from whichever of its parts. */
static void add_run(struct merge *m, const struct result *part, const struct pod *pod)
{
	m->peers = pod->peer.count;
	m->interrupted |= part->interrupted;
	m->peak_rss_bytes = max_u64(m->peak_rss_bytes, part->peak_rss_bytes);
	m->attempt = max_u64(m->attempt, part->attempt);
	if (!m->started[0] || strcmp(part->started, m->started) < 0)
		memcpy(m->started, part->started, sizeof(m->started));
	words_add(&m->version, part->version);
	words_add(&m->plan, part->plan);
	for (unsigned i = 0; i < part->n_notes; i++)
		words_add(&m->note, part->notes[i]);
	if (pod->n_tests)
		return; /* its first part said what there is to say of the run */
	for (unsigned i = 0; i < part->n_verdicts; i++)
		merge_codes_add(&m->codes, &part->verdicts[i], pod->name);
}

static int add_part(struct merge *m, const struct result *part, struct pod *pod)
{
	add_run(m, part, pod);
	for (unsigned i = 0; i < part->n_tests; i++)
		if (add_site(m, result_conditions(part, &part->tests[i])) ||
		    add_test(m, pod, &part->tests[i]))
			return -1;
	return 0;
}

int merge_add(struct merge *m, const struct result *part, const char *name, struct err *err)
{
	struct pod *fresh = pod_new(part, name), **known, *pod;

	if (!fresh)
		return err_set(err, ERR_PLAN, "out of memory");
	known = tfind(fresh, &m->tree, by_key);
	if (!known && m->n_pods == MERGE_PODS_MAX) {
		pod_free(fresh);
		return err_set(err, ERR_PLAN, "more than %d pods", MERGE_PODS_MAX);
	}
	if (check_part(m, known ? *known : fresh, part, err)) {
		pod_free(fresh);
		return -1;
	}
	pod = find_or_keep(m, fresh);
	if (pod != fresh)
		pod_free(fresh);
	if (!pod || add_part(m, part, pod))
		return err_set(err, ERR_PLAN, "out of memory");
	return 0;
}

/* ---- the end ---- */

static int by_peer(const void *a, const void *b)
{
	const struct pod *x = *(struct pod *const *)a, *y = *(struct pod *const *)b;
	int order = (x->peer.index > y->peer.index) - (x->peer.index < y->peer.index);

	return order ? order : strcmp(x->name, y->name);
}

static int by_start(const void *a, const void *b)
{
	const struct test_sum *x = *(struct test_sum *const *)a;
	const struct test_sum *y = *(struct test_sum *const *)b;
	int order =
	        (x->first_start_ns > y->first_start_ns) - (x->first_start_ns < y->first_start_ns);

	return order ? order : strcmp(x->plan.name, y->plan.name);
}

static int by_place(const void *a, const void *b)
{
	const struct test_sum *x = *(struct test_sum *const *)a;
	const struct test_sum *y = *(struct test_sum *const *)b;

	return x->place != y->place ? (x->place > y->place) - (x->place < y->place)
	                            : by_start(a, b);
}

/* A test without a window has no time, so then the place counts that it has in each pod's results.
 */
static void sort_tests(struct merge *m)
{
	bool all_have_a_start = true;

	for (unsigned i = 0; i < m->n_tests; i++)
		all_have_a_start &= m->test[i]->first_start_ns != UINT64_MAX;
	qsort(m->test, m->n_tests, sizeof(struct test_sum *),
	      all_have_a_start ? by_start : by_place);
}

/* "1, 4-6": the numbers from first to last, behind what is there. */
static void append_range(char *out, size_t size, uint64_t first, uint64_t last)
{
	size_t used = strlen(out);

	if (used + 64 > size)
		snprintf(out + used, size - used, "%s",
		         used && out[used - 1] == '.' ? "" : ", ...");
	else if (first == last)
		snprintf(out + used, size - used, "%s%llu", used ? ", " : "",
		         (unsigned long long)first);
	else
		snprintf(out + used, size - used, "%s%llu-%llu", used ? ", " : "",
		         (unsigned long long)first, (unsigned long long)last);
}

static int find_missing(struct merge *m, struct merged *merged, struct err *err)
{
	uint64_t next = 0;

	merged->pods = m->n_pods;
	merged->of = m->peers;
	if (!m->peers)
		return 0;
	qsort(m->pod, m->n_pods, sizeof(struct pod *), by_peer);
	for (unsigned i = 0; i < m->n_pods; i++) {
		uint64_t index = m->pod[i]->peer.index;

		if (i && index == m->pod[i - 1]->peer.index)
			return err_set(
			        err, ERR_PLAN,
			        "two runs say that they are index %llu: '%s' and '%s' (leave "
			        "one of them out)",
			        (unsigned long long)index, m->pod[i - 1]->name, m->pod[i]->name);
		if (index > next)
			append_range(merged->missing, sizeof(merged->missing), next, index - 1);
		next = index + 1;
	}
	if (next < m->peers)
		append_range(merged->missing, sizeof(merged->missing), next, m->peers - 1);
	return 0;
}

static void note_pods(struct result *result)
{
	const struct merged *merged = &result->merged;
	char text[RESULT_TEXT_MAX];

	if (!merged->missing[0])
		return;
	snprintf(text, sizeof(text), "%llu of %llu pods gave a result; missing: index %.200s",
	         (unsigned long long)merged->pods, (unsigned long long)merged->of, merged->missing);
	result_note(result, text);
}

static void note_differing(struct result *result, const char *name, const struct words *words)
{
	char values[RESULT_TEXT_MAX], text[RESULT_TEXT_MAX];

	if (words->n < 2)
		return;
	words_join(words, true, values, sizeof(values));
	snprintf(text, sizeof(text), "%s differs between the pods: %.200s", name, values);
	result_note(result, text);
}

static void describe_run(const struct merge *m, struct result *result)
{
	snprintf(result->id, sizeof(result->id), "merged-%u", m->n_pods);
	memcpy(result->started, m->started, sizeof(result->started));
	words_join(&m->version, false, result->version, sizeof(result->version));
	words_join(&m->plan, false, result->plan, sizeof(result->plan));
	result->peak_rss_bytes = m->peak_rss_bytes;
	result->attempt = m->attempt;
	result->interrupted = m->interrupted;
	merge_verdicts(&m->codes, m->n_pods, false, result->verdicts, &result->n_verdicts);
	note_pods(result);
	note_differing(result, "pvcbench's version", &m->version);
	note_differing(result, "the plan", &m->plan);
}

static const struct site *site_of(const struct merge *m, const char *target)
{
	for (unsigned i = 0; i < m->n_sites; i++)
		if (!strcmp(m->site[i]->one.target, target))
			return m->site[i];
	return NULL;
}

/* Targets in the order of the tests that have them. */
static int describe_targets(const struct merge *m, struct result *result)
{
	result->targets = calloc(m->n_sites + 1, sizeof(*result->targets));
	if (!result->targets)
		return -1;
	for (unsigned i = 0; i < m->n_tests; i++) {
		const struct site *site = site_of(m, m->test[i]->plan.target);
		unsigned t = 0;

		while (t < result->n_targets &&
		       strcmp(result->targets[t].target, m->test[i]->plan.target) != 0)
			t++;
		if (!site || t < result->n_targets)
			continue;
		merge_site_finish(site, &result->targets[result->n_targets++]);
		merge_site_note(site, result);
	}
	if (!result->n_targets)
		merge_site_finish(m->site[0], &result->targets[result->n_targets++]);
	result->conditions = result->targets[0];
	return 0;
}

static int finish_test(const struct merge *m, unsigned i, struct test_result *tr, struct err *err)
{
	const struct site *site = site_of(m, m->test[i]->plan.target);
	bool shared = site && merge_site_is_shared(site);

	return merge_test_finish(m->test[i], m->n_pods, shared ? &site->one : NULL, tr, err);
}

/* One that has no sum fails, and the others go on; without any sum these are no pods of one run. */
static int finish_tests(struct merge *m, struct result *result, struct err *err)
{
	unsigned n_sums = 0, n_none = 0;
	struct err why;

	result->tests = calloc(m->n_tests, sizeof(*result->tests));
	if (!result->tests)
		return err_set(err, ERR_PLAN, "out of memory");
	for (unsigned i = 0; i < m->n_tests; i++) {
		struct test_result *tr = &result->tests[result->n_tests++];

		if (finish_test(m, i, tr, &why)) {
			tr->status = STATUS_FAILED;
			tr->exit_class = ERR_TEST;
			snprintf(tr->error, sizeof(tr->error), "%.*s", RESULT_STATUS_TEXT_MAX - 1,
			         why.text);
			n_none++;
		}
		n_sums += tr->pods.n > 0;
	}
	if (!n_none || n_sums)
		return 0;
	*err = why;
	return -1;
}

int merge_finish(struct merge *m, struct result *result, struct err *err)
{
	memset(result, 0, sizeof(*result));
	if (!m->n_tests)
		return err_set(err, ERR_PLAN, "there is no result to merge");
	if (find_missing(m, &result->merged, err))
		return -1;
	sort_tests(m);
	describe_run(m, result);
	if (describe_targets(m, result) || finish_tests(m, result, err)) {
		result_destroy(result);
		return -1;
	}
	for (unsigned i = 0; i < m->note.n; i++)
		result_note(result, m->note.word[i].text);
	return 0;
}
