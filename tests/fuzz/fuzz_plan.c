/* links: base/err.c base/field.c base/units.c builtin.c plan/chains.c plan/expect.c
 * plan/headers.c plan/hop.c plan/keys.c plan/plan.c plan/check.c plan/deliver.c plan/override.c
 * plan/scope.c plan/sink.c plan/value.c plan/yaml.c plan/tree.c */
/*
 * The plan reader on hostile text. What it reads must keep what plan/plan.h promises;
 * what it refuses must say so and hold nothing. A line "#!set KEY=VALUE" at the start is an
 * override, so that those are reached too.
 *
 * Without libFuzzer: -DFUZZ_MAIN gives a main that reads the files named.
 */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "plan/chains.h"
#include "plan/yaml.h"

#define SET_PREFIX "#!set "
#define SETS_MAX   4
#define SET_MAX    256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct set {
	char key[SET_MAX];
	const char *value;
};

/* Take one override line off the front; false when there is none. */
static bool take_set(const char **text, size_t *size, struct set *set)
{
	size_t prefix = strlen(SET_PREFIX);
	const char *end = memchr(*text, '\n', *size);

	if (!end || *size < prefix || memcmp(*text, SET_PREFIX, prefix) != 0 ||
	    end - *text >= SET_MAX)
		return false;
	size_t length = (size_t)(end - *text) - prefix;

	memcpy(set->key, *text + prefix, length);
	set->key[length] = '\0';
	char *equals = strchr(set->key, '=');

	*size -= (size_t)(end - *text) + 1;
	*text = end + 1;
	if (!equals)
		return false;
	*equals = '\0';
	set->value = equals + 1;
	return true;
}

static void check_chains(const struct plan_chains *chains)
{
	assert(chains->n >= 1 && chains->n <= PLAN_CHAINS_MAX);
	for (unsigned i = 0; i < chains->n; i++) {
		const struct plan_chain *chain = &chains->chain[i];

		assert(chain->name[0] && chain->n_hops >= 1 && chain->n_hops <= PLAN_HOPS_MAX);
		for (unsigned h = 0; h < chain->n_hops; h++) {
			assert(chain->hops[h].url[0]);
			assert(chain->hops[h].n_headers <= PLAN_HEADERS_MAX);
		}
	}
}

static void check_test(const struct plan *plan, unsigned i)
{
	const struct test *test = &plan->tests[i];
	struct err err;

	assert(test->name[0] && strlen(test->name) < PLAN_NAME_MAX);
	for (const char *p = test->name; *p; p++)
		assert(isalnum((unsigned char)*p) || *p == '_' || *p == '-');
	for (unsigned j = 0; j < i; j++)
		assert(strcmp(plan->tests[j].name, test->name) != 0);
	assert(test->bs && test->iodepth && test->numjobs && test->numjobs <= PLAN_JOBS_MAX);
	assert(test->iodepth <= PLAN_DEPTH_MAX && test->n_expect <= PLAN_EXPECT_MAX);
	assert(test->kind[0] && test->ioengine[0]);
	assert((plan_is_hops(test) || plan_is_table(test)) == !test->target[0]);
	assert(plan_is_hops(test) == !!test->chains);
	if (test->chains)
		check_chains(test->chains);
	assert(plan_rw_name(test->rw));
	assert(!plan_check_test(test, &err));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plan_override overrides[SETS_MAX];
	struct set sets[SETS_MAX];
	const char *text = (const char *)data;
	unsigned n = 0;
	struct plan plan;
	struct err err;

	while (n < SETS_MAX && take_set(&text, &size, &sets[n])) {
		overrides[n] = (struct plan_override){sets[n].key, sets[n].value, false, "--set"};
		n++;
	}
	if (plan_yaml_read(&plan, "plan.yaml", text, size, overrides, n, &err)) {
		assert(err.class == ERR_PLAN && err.text[0]);
		assert(!plan.tests && !plan.n_tests);
		for (const char *p = err.text; *p; p++)
			assert(!iscntrl((unsigned char)*p));
		return 0;
	}
	assert(plan.n_tests >= 1 && plan.n_tests <= PLAN_TESTS_MAX);
	for (unsigned i = 0; i < plan.n_tests; i++)
		check_test(&plan, i);
	plan_destroy(&plan);
	return 0;
}

#ifdef FUZZ_MAIN
int main(int argc, char **argv)
{
	static uint8_t data[PLAN_FILE_MAX + 2];

	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");

		assert(file);
		LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof(data), file));
		fclose(file);
	}
	return 0;
}
#endif
