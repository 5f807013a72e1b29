/*
 * A product is counted before it is made, and its tests are numbered: the digits of a
 * test's number, in the mixed radix of the lists' lengths, say which value of each
 * list it has.
 */
#include "plan/scope.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>

int scope_no_memory(struct err *err)
{
	return err_sys(err, ERR_TEST, ENOMEM, "cannot read the plan");
}

void setting_destroy(struct setting *setting)
{
	for (unsigned i = 0; i < setting->n_values; i++)
		free(setting->values[i].text);
	free(setting->values);
	*setting = (struct setting){0};
}

int scope_init(struct scope *scope, struct err *err)
{
	scope->settings = calloc(plan_n_fields, sizeof(*scope->settings));
	scope->n = 0;
	return scope->settings ? 0 : scope_no_memory(err);
}

void scope_destroy(struct scope *scope)
{
	for (unsigned i = 0; i < scope->n; i++)
		setting_destroy(&scope->settings[i]);
	free(scope->settings);
	*scope = (struct scope){0};
}

struct setting *scope_find(const struct scope *scope, const struct field *row)
{
	for (unsigned i = 0; i < scope->n; i++)
		if (scope->settings[i].row == row)
			return &scope->settings[i];
	return NULL;
}

struct setting *scope_add(struct scope *scope)
{
	assert(scope->n < plan_n_fields);
	return &scope->settings[scope->n++];
}

void scope_put(struct scope *scope, const struct setting *setting)
{
	struct setting *slot = scope_find(scope, setting->row);

	if (!slot)
		slot = scope_add(scope);
	*slot = *setting;
}

const struct field *scope_name_row(void)
{
	return field_find(plan_fields, plan_n_fields, "name");
}

static bool multiplies(const struct setting *setting)
{
	return setting->is_list && !(setting->row->flags & FIELD_LIST);
}

/* How many tests the lists make; more than PLAN_TESTS_MAX is not counted further. */
static unsigned count_products(const struct scope *all)
{
	unsigned product = 1;

	for (unsigned i = 0; i < all->n && product <= PLAN_TESTS_MAX; i++)
		if (multiplies(&all->settings[i]))
			product *= all->settings[i].n_values;
	return product;
}

/* "c" of "/a/b/c/"; "/" of "/". */
static const char *last_component(const char *path, size_t *length)
{
	while (*length > 1 && path[*length - 1] == '/')
		--*length;
	while (memchr(path, '/', *length - 1)) {
		size_t skip = strcspn(path, "/") + 1;

		path += skip;
		*length -= skip;
	}
	return path;
}

/* "-VALUE", with `_` for what a name cannot hold; setting is NULL for a repeat's number. */
static int append_to_name(char name[PLAN_NAME_MAX], const struct setting *setting, const char *text,
                          struct err *err)
{
	size_t used = strlen(name), length = strlen(text);

	if (setting && !strcmp(setting->row->name, "target"))
		text = last_component(text, &length);
	if (length + 1 >= PLAN_NAME_MAX - used)
		return err_set(err, ERR_PLAN, "the name '%s-%.*s' is longer than %d characters",
		               name, (int)length, text, PLAN_NAME_MAX - 1);
	name[used++] = '-';
	for (size_t i = 0; i < length; i++) {
		bool fits = isalnum((unsigned char)text[i]) || text[i] == '-';

		name[used++] = fits ? text[i] : '_';
	}
	name[used] = '\0';
	return 0;
}

/* Write n of the values from the first on into the test. */
static void apply(struct test *test, const struct setting *setting, unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++) {
		struct err err;
		int ret = field_set(setting->row, test, setting->values[i].text, &err);

		assert(!ret); /* a scope holds checked text */
		(void)ret;
	}
}

/* The test number `index` of so many products. */
static int build_test(struct test *test, const struct scope *all, unsigned index, unsigned products,
                      struct err *err)
{
	field_set_defaults(plan_fields, plan_n_fields, test);
	apply(test, scope_find(all, scope_name_row()), 0, 1);
	for (unsigned i = 0; i < all->n; i++) {
		const struct setting *setting = &all->settings[i];

		if (!multiplies(setting)) {
			if (setting->row != scope_name_row())
				apply(test, setting, 0, setting->n_values);
			continue;
		}
		products /= setting->n_values;
		unsigned digit = index / products % setting->n_values;

		apply(test, setting, digit, 1);
		if (append_to_name(test->name, setting, setting->values[digit].text, err))
			return -1;
	}
	plan_complete(test);
	return plan_check_test(test, err);
}

static int add_test(struct plan *plan, const struct test *test, struct err *err)
{
	for (unsigned i = 0; i < plan->n_tests; i++)
		if (!strcmp(plan->tests[i].name, test->name))
			return err_set(err, ERR_PLAN,
			               "two tests are named '%s' (the other in line %u)",
			               test->name, plan->tests[i].line);
	if (plan->n_tests == PLAN_TESTS_MAX)
		return err_set(err, ERR_PLAN, "more than %d tests in all", PLAN_TESTS_MAX);
	/* a power of two is full */
	if (!(plan->n_tests & (plan->n_tests - 1))) {
		size_t room = plan->n_tests ? 2 * plan->n_tests : 1;
		struct test *tests = reallocarray(plan->tests, room, sizeof(*tests));

		if (!tests)
			return scope_no_memory(err);
		plan->tests = tests;
	}
	plan->tests[plan->n_tests++] = *test;
	return 0;
}

/* A test as often as it is repeated. */
static int add_repeats(struct plan *plan, const struct test *test, struct err *err)
{
	if (test->repeat == 1)
		return add_test(plan, test, err);
	for (uint64_t i = 1; i <= test->repeat; i++) {
		struct test copy = *test;
		char number[8];

		copy.nth = (struct plan_repeat){.index = i, .count = test->repeat};
		snprintf(copy.nth.of, sizeof(copy.nth.of), "%s", test->name);
		snprintf(number, sizeof(number), "%u", (unsigned)i);
		if (append_to_name(copy.name, NULL, number, err) || add_test(plan, &copy, err))
			return -1;
	}
	return 0;
}

/* A key that means something else to this kind: its values have to suit that. */
static int change_row(struct setting *setting, const struct field *row, const char *name,
                      struct err *err)
{
	struct test scratch;

	for (unsigned i = 0; i < setting->n_values; i++)
		if (field_set(row, &scratch, setting->values[i].text, err))
			return err_wrap(err, "test '%s': %s", name, row->name);
	setting->row = row;
	return 0;
}

/*
 * What is said of all tests may suit some of them only, and is left out of others; what is
 * said of one must suit it.
 */
static int fit_kind(struct scope *all, struct err *err)
{
	const struct field *kind_row = field_find(plan_fields, plan_n_fields, "kind");
	const struct setting *setting = scope_find(all, kind_row);
	const char *kind = setting ? setting->values[0].text : kind_row->default_text;
	const char *name = scope_find(all, scope_name_row())->values[0].text;
	unsigned kept = 0;

	for (unsigned i = 0; i < all->n; i++) {
		struct setting *own = &all->settings[i];
		const struct field *row = own->row;
		const struct field *of_kind =
		        field_find_of(plan_fields, plan_n_fields, row->name, kind);

		if (own->is_own && !of_kind)
			return err_set(err, ERR_PLAN, "test '%s': %s is no key of kind %s (of: %s)",
			               name, row->name, kind, row->kinds);
		if (own->is_own && of_kind != row && change_row(own, of_kind, name, err))
			return -1;
		if (own->row == of_kind)
			all->settings[kept++] = *own;
	}
	all->n = kept;
	return 0;
}

int scope_expand(struct scope *all, struct plan *plan, const struct test *base, struct err *err)
{
	if (fit_kind(all, err))
		return -1;

	unsigned products = count_products(all);

	if (products > PLAN_TESTS_MAX)
		return err_set(err, ERR_PLAN, "the lists make more than %d tests", PLAN_TESTS_MAX);
	for (unsigned i = 0; i < products; i++) {
		struct test test = *base;

		if (build_test(&test, all, i, products, err) || add_repeats(plan, &test, err))
			return -1;
	}
	return 0;
}
