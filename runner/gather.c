/*
 * What is read is moved, not copied: a test's statistics are large, and hardly touched.
 */
#include "gather.h"

#include <string.h>

#include "out/logs.h"

struct gathering {
	struct gathered *gathered;
	unsigned most;
	void (*tell)(const char *text);
};

static bool is_same_run(const struct result *a, const struct result *b)
{
	return !strcmp(a->id, b->id) && !strcmp(a->host, b->host) &&
	       a->peer.index == b->peer.index && a->merged.pods == b->merged.pods;
}

static struct result *find(const struct gathered *gathered, const struct result *result)
{
	for (unsigned i = gathered->n; i-- > 0;)
		if (is_same_run(&gathered->results[i], result))
			return &gathered->results[i];
	return NULL;
}

static bool has_test(const struct result *result, const char *name)
{
	for (unsigned i = 0; i < result->n_tests; i++)
		if (!strcmp(result->tests[i].name, name))
			return true;
	return false;
}

static int out_of_memory(struct err *err)
{
	return err_set(err, ERR_TARGET, "out of memory for so many results");
}

/*
 * The tests of part, but those that are there; then part's word on the run is the newer one. What
 * is not moved stays part's.
 */
static int join(struct gathering *g, struct result *whole, struct result *part, const char *place,
                struct err *err)
{
	struct test_result *tests =
	        realloc(whole->tests, (whole->n_tests + part->n_tests + 1) * sizeof(*tests));
	char text[ERR_TEXT_MAX];

	if (!tests)
		return out_of_memory(err);
	whole->tests = tests;
	for (unsigned i = 0; i < part->n_tests; i++) {
		struct test_result *test = &part->tests[i];

		if (has_test(whole, test->name)) {
			snprintf(text, sizeof(text),
			         "%s: test '%s' of this run was there before: left out", place,
			         test->name);
			g->tell(text);
			g->gathered->n_left_out++;
			continue;
		}
		whole->tests[whole->n_tests++] = *test;
		*test = (struct test_result){0};
	}

	struct result newer = *part;

	newer.tests = whole->tests;
	newer.n_tests = whole->n_tests;
	part->targets = whole->targets;
	*whole = newer;
	return 0;
}

static int add(struct gathering *g, struct result *result, struct err *err)
{
	struct gathered *gathered = g->gathered;

	if (gathered->n == g->most)
		return err_set(err, ERR_PLAN, "there are more than %u results", g->most);

	struct result *results = realloc(gathered->results, (gathered->n + 1) * sizeof(*results));

	if (!results)
		return out_of_memory(err);
	gathered->results = results;
	results[gathered->n++] = *result;
	*result = (struct result){0};
	return 0;
}

static int found(void *arg, struct result *result, const char *pod, const char *place,
                 struct err *err)
{
	struct gathering *g = arg;
	struct result *whole = find(g->gathered, result);

	(void)pod; /* a run tells its host */
	if ((whole ? join(g, whole, result, place, err) : add(g, result, err)))
		return err_wrap(err, "%s", place);
	return 0;
}

static void damaged(void *arg, const char *text)
{
	struct gathering *g = arg;

	g->tell(text);
	g->gathered->n_left_out++;
}

int gather(struct gathered *gathered, char *const *names, int n_names, unsigned most,
           void (*tell)(const char *text), struct err *err)
{
	struct gathering g = {.gathered = gathered, .most = most, .tell = tell};

	const struct logs_reader reader = {.found = found, .damaged = damaged, .arg = &g};

	*gathered = (struct gathered){0};
	for (int i = 0; i < n_names; i++)
		if (logs_read_file(names[i], &reader, err))
			return -1;
	return 0;
}

void gathered_destroy(struct gathered *gathered)
{
	for (unsigned i = 0; i < gathered->n; i++)
		result_destroy(&gathered->results[i]);
	free(gathered->results);
	*gathered = (struct gathered){0};
}
