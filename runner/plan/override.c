/*
 * A value is a little YAML document of its own, so that it may be a list; what is plain
 * never meets YAML.
 */
#include "plan/override.h"

#include <string.h>

#include "plan/value.h"

#define AIM_PREFIX "tests."
#define PLACE_MAX  80

/* "tests.NAME.KEY" has a test and a key, "KEY" only a key. */
static int split_aim(const char *key, char test[PLAN_NAME_MAX], const char **rest, struct err *err)
{
	test[0] = '\0';
	*rest = key;
	if (strncmp(key, AIM_PREFIX, strlen(AIM_PREFIX)) != 0)
		return 0;
	const char *name = key + strlen(AIM_PREFIX);
	size_t length = strcspn(name, ".");

	if (!length || length >= PLAN_NAME_MAX || !name[length])
		return err_set(err, ERR_PLAN, "no key of a test (allowed: KEY, tests.NAME.KEY)");
	snprintf(test, PLAN_NAME_MAX, "%.*s", (int)length, name);
	*rest = name + length + 1;
	return 0;
}

static const struct field *override_row(const char *key, bool is_aimed, struct err *err)
{
	const struct field *row = field_find(plan_fields, plan_n_fields, key);

	if (!row && !is_aimed && field_find(plan_top_fields, PLAN_TOP_KEYS, key))
		err_set(err, ERR_PLAN, "only the plan itself can say it");
	else if (!row)
		key_unknown(key, strlen(key), !is_aimed, err);
	else if (row == scope_name_row())
		err_set(err, ERR_PLAN, "a test's name cannot be overridden");
	else
		return row;
	return NULL;
}

static int read_value(const struct plan_override *override, const char *place,
                      const struct field *row, struct setting *setting, struct err *err)
{
	struct tree tree = {.name = place, .no_places = true};

	if (override->is_plain)
		return setting_read_text(setting, row, override->value, err)
		               ? err_wrap(err, "%s", place)
		               : 0;
	if (tree_read(&tree, override->value, strlen(override->value), err))
		return -1;
	const struct node *root = tree_root(&tree);
	int ret = root ? setting_read(&tree, setting, row, root, err)
	               : err_set(err, ERR_PLAN, "%s: has no value", place);

	tree_destroy(&tree);
	return ret;
}

/* The last one of a key wins. */
static void keep(struct overrides *overrides, const char *test, const struct setting *setting)
{
	struct setting *slot;

	if (test[0]) {
		struct aimed *aimed = &overrides->aimed[overrides->n_aimed++];

		snprintf(aimed->test, sizeof(aimed->test), "%s", test);
		slot = &aimed->setting;
	} else {
		slot = scope_find(&overrides->all_tests, setting->row);
		if (slot)
			setting_destroy(slot);
		else
			slot = scope_add(&overrides->all_tests);
	}
	*slot = *setting;
	slot->is_own = test[0];
}

static const struct entry *find_entry(const struct entry *entries, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(entries[i].name, name))
			return &entries[i];
	return NULL;
}

static int unknown_test(const char *name, const struct entry *entries, unsigned n, struct err *err)
{
	const char *nearest = NULL;
	unsigned least = FIELD_TOO_FAR;
	char text[SHOWN_MAX];

	err_set(err, ERR_PLAN, "no test is named '%s'", shown(name, strlen(name), text));
	for (unsigned i = 0; i < n; i++) {
		unsigned distance = field_distance(name, entries[i].name);

		if (distance < least) {
			least = distance;
			nearest = entries[i].name;
		}
	}
	if (nearest)
		return err_append(err, " (did you mean '%s'?)", nearest);
	err_append(err, " (known:");
	for (unsigned i = 0; i < n; i++)
		err_append(err, "%s %s", i ? "," : "", entries[i].name);
	return err_append(err, ")");
}

/* What stands for it in messages: "--set bs", "--target". */
static void make_place(const struct plan_override *override, char place[PLACE_MAX])
{
	char key[SHOWN_MAX];

	if (!strcmp(override->from, "--set"))
		snprintf(place, PLACE_MAX, "--set %s",
		         shown(override->key, strlen(override->key), key));
	else
		snprintf(place, PLACE_MAX, "%s", override->from);
}

static int read_one(struct overrides *overrides, const struct plan_override *override,
                    const struct entry *entries, unsigned n_entries, struct err *err)
{
	char place[PLACE_MAX], test[PLAN_NAME_MAX];
	const struct field *row = NULL;
	struct setting setting;
	const char *key;

	make_place(override, place);
	if (!split_aim(override->key, test, &key, err))
		row = override_row(key, test[0], err);
	if (row && test[0] && !find_entry(entries, n_entries, test)) {
		unknown_test(test, entries, n_entries, err);
		row = NULL;
	}
	if (!row)
		return err_wrap(err, "%s", place);
	if (read_value(override, place, row, &setting, err))
		return -1;
	keep(overrides, test, &setting);
	return 0;
}

int overrides_read(struct overrides *overrides, const struct plan_override *list, unsigned n,
                   const struct entry *entries, unsigned n_entries, struct err *err)
{
	*overrides = (struct overrides){.aimed = calloc(n + 1, sizeof(*overrides->aimed))};
	if (scope_init(&overrides->all_tests, err))
		return -1;
	if (!overrides->aimed)
		return scope_no_memory(err);
	for (unsigned i = 0; i < n; i++)
		if (read_one(overrides, &list[i], entries, n_entries, err))
			return -1;
	return 0;
}

void overrides_destroy(struct overrides *overrides)
{
	for (unsigned i = 0; i < overrides->n_aimed; i++)
		setting_destroy(&overrides->aimed[i].setting);
	free(overrides->aimed);
	scope_destroy(&overrides->all_tests);
	*overrides = (struct overrides){.aimed = NULL};
}

void overrides_apply(const struct overrides *overrides, const struct entry *entry,
                     struct scope *scope)
{
	for (unsigned i = 0; i < overrides->all_tests.n; i++)
		scope_put(scope, &overrides->all_tests.settings[i]);
	for (unsigned i = 0; i < overrides->n_aimed; i++)
		if (!strcmp(overrides->aimed[i].test, entry->name))
			scope_put(scope, &overrides->aimed[i].setting);
}
