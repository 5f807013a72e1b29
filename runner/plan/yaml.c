/*
 * From text to tests: the plan's top and every test become a scope, their keys in the
 * order written. A test's own scope, what it inherits from the top and the overrides are
 * put together, and lists are multiplied out (plan/scope.c).
 *
 * Nothing recurses: a plan is a mapping of lists of mappings of lists of scalars, and
 * what is nested deeper is refused where it stands.
 */
#include "plan/yaml.h"

#include <errno.h>
#include <string.h>

#include "plan/chains.h"
#include "plan/deliver.h"
#include "plan/value.h"

struct reader {
	struct plan *plan;
	struct scope top;
	struct overrides overrides;
	struct entry *entries; /* owned */
	unsigned n_entries;
};

static int check_key(const struct node *key, struct err *err)
{
	if (node_type(key) != NODE_SCALAR)
		return err_set(err, ERR_PLAN, "a key must be a word");
	return 0;
}

/* One key with its value into the scope. */
static int scope_read(const struct tree *tree, struct scope *scope, const struct node *key,
                      const struct node *value, bool is_top, struct err *err)
{
	const char *name = node_text(key);
	const struct field *row = field_find(plan_fields, plan_n_fields, name);

	if (!row || strlen(name) != node_length(key)) {
		key_unknown(name, node_length(key), is_top, err);
		return tree_blame(tree, key, err);
	}
	if (scope_find(scope, row)) {
		err_set(err, ERR_PLAN, "key '%s' stands here twice (first in line %u)", name,
		        scope_find(scope, row)->values[0].line);
		return tree_blame(tree, key, err);
	}
	struct setting setting;

	if (setting_read(tree, &setting, row, value, err))
		return -1;
	setting.is_own = !is_top;
	*scope_add(scope) = setting;
	return 0;
}

static bool is_chains(const struct node *key)
{
	return !strcmp(node_text(key), PLAN_CHAINS) && node_length(key) == strlen(PLAN_CHAINS);
}

static int entry_read_chains(struct plan *plan, const struct tree *tree, struct entry *entry,
                             const struct node *key, const struct node *value, struct err *err)
{
	if (!entry->chains)
		return plan_chains_read(plan, &entry->chains, tree, value, err);
	err_set(err, ERR_PLAN, "key '%s' stands here twice", PLAN_CHAINS);
	return tree_blame(tree, key, err);
}

static int entry_read_key(struct plan *plan, const struct tree *tree, struct entry *entry,
                          const struct node *key, const struct node *value, struct err *err)
{
	if (check_key(key, err))
		return tree_blame(tree, key, err);
	if (is_chains(key))
		return entry_read_chains(plan, tree, entry, key, value, err);
	return scope_read(tree, &entry->scope, key, value, false, err);
}

static int entry_read(struct plan *plan, const struct tree *tree, struct entry *entry,
                      const struct node *node, struct err *err)
{
	if (node_type(node) != NODE_MAPPING) {
		err_set(err, ERR_PLAN, "a test is a mapping (such as {name: x, rw: randread})");
		return tree_blame(tree, node, err);
	}
	entry->line = node_line(node);
	entry->column = node_column(node);
	if (scope_init(&entry->scope, err))
		return -1;
	for (unsigned i = 0; i < node_count(node); i++)
		if (entry_read_key(plan, tree, entry, tree_key(tree, node, i),
		                   tree_value(tree, node, i), err))
			return -1;
	const struct setting *name = scope_find(&entry->scope, scope_name_row());

	if (!name) {
		err_set(err, ERR_PLAN, "a test without a name");
		return tree_blame(tree, node, err);
	}
	entry->name = name->values[0].text;
	return 0;
}

static int read_tests(struct reader *reader, const struct tree *tree, const struct node *node,
                      struct err *err)
{
	if (node_type(node) != NODE_LIST || !node_count(node)) {
		err_set(err, ERR_PLAN, "tests: a list of at least one test is wanted");
		return tree_blame(tree, node, err);
	}
	unsigned n = node_count(node);

	if (n > PLAN_TESTS_MAX) {
		err_set(err, ERR_PLAN, "tests: %u tests (allowed: at most %u in all)", n,
		        PLAN_TESTS_MAX);
		return tree_blame(tree, node, err);
	}
	reader->entries = calloc(n, sizeof(*reader->entries));
	if (!reader->entries)
		return scope_no_memory(err);
	for (unsigned i = 0; i < n; i++) {
		/* counted first, so that a half-read one is destroyed as well */
		struct entry *entry = &reader->entries[reader->n_entries++];

		if (entry_read(reader->plan, tree, entry, tree_element(tree, node, i), err))
			return -1;
	}
	return 0;
}

static int check_version(const struct tree *tree, const struct node *node, struct err *err)
{
	struct text text;
	uint64_t version;

	if (value_text(node, &text, err) ||
	    field_set(&plan_top_fields[PLAN_TOP_VERSION], &version, text.bytes, err))
		return blame_key(tree, node, "version", err);
	return 0;
}

/* One key of the plan's top. */
static int read_top_key(struct reader *reader, const struct tree *tree, const struct node *key,
                        const struct node *value, const struct node *seen[PLAN_TOP_KEYS],
                        struct err *err)
{
	if (check_key(key, err))
		return tree_blame(tree, key, err);
	const char *name = node_text(key);
	const struct field *own = field_find(plan_top_fields, PLAN_TOP_KEYS, name);

	if (field_find(plan_fields, plan_n_fields, name) == scope_name_row() || is_chains(key)) {
		err_set(err, ERR_PLAN, "key '%s' belongs to a test, not to the plan", name);
		return tree_blame(tree, key, err);
	}
	if (!own)
		return scope_read(tree, &reader->top, key, value, true, err);
	if (seen[own - plan_top_fields]) {
		err_set(err, ERR_PLAN, "key '%s' stands here twice (first in line %u)", name,
		        node_line(seen[own - plan_top_fields]));
		return tree_blame(tree, key, err);
	}
	seen[own - plan_top_fields] = value;
	return 0;
}

static int read_top(struct reader *reader, const struct tree *tree, struct err *err)
{
	const struct node *seen[PLAN_TOP_KEYS] = {NULL};
	const struct node *root = tree_root(tree);

	if (!root)
		return err_set(err, ERR_PLAN, "%s:1:1: the plan is empty", tree->name);
	if (node_type(root) != NODE_MAPPING) {
		err_set(err, ERR_PLAN, "a plan is a mapping with the key 'tests'");
		return tree_blame(tree, root, err);
	}
	for (unsigned i = 0; i < node_count(root); i++) {
		if (read_top_key(reader, tree, tree_key(tree, root, i), tree_value(tree, root, i),
		                 seen, err))
			return -1;
	}
	if (seen[PLAN_TOP_VERSION] && check_version(tree, seen[PLAN_TOP_VERSION], err))
		return -1;
	if (seen[PLAN_TOP_DELIVER] &&
	    plan_deliver_read(reader->plan, tree, seen[PLAN_TOP_DELIVER], err))
		return -1;
	if (!seen[PLAN_TOP_TESTS]) {
		err_set(err, ERR_PLAN, "the plan has no key 'tests'");
		return tree_blame(tree, root, err);
	}
	return read_tests(reader, tree, seen[PLAN_TOP_TESTS], err);
}

static int read_plan(struct reader *reader, const char *name, const char *text, size_t size,
                     struct err *err)
{
	struct tree tree = {.name = name};

	if (size > PLAN_FILE_MAX)
		return err_set(err, ERR_PLAN, "%s: larger than %llu bytes", name, PLAN_FILE_MAX);
	if (tree_read(&tree, text, size, err))
		return -1;
	int ret = read_top(reader, &tree, err);

	tree_destroy(&tree);
	return ret;
}

/* ---- from scopes to tests ---- */

/* All that holds for one entry, borrowed: its own keys first, then those it inherits. */
static void scope_collect(struct scope *all, const struct reader *reader, const struct entry *entry)
{
	all->n = 0;
	for (unsigned i = 0; i < entry->scope.n; i++)
		scope_put(all, &entry->scope.settings[i]);
	for (unsigned i = 0; i < reader->top.n; i++)
		if (!scope_find(all, reader->top.settings[i].row))
			scope_put(all, &reader->top.settings[i]);
	overrides_apply(&reader->overrides, entry, all);
}

static int expand(struct plan *plan, const char *name, const struct reader *reader, struct err *err)
{
	struct scope all;
	int ret = 0;

	if (scope_init(&all, err))
		return -1;
	for (unsigned i = 0; i < reader->n_entries && !ret; i++) {
		const struct entry *entry = &reader->entries[i];
		const struct test base = {
		        .line = entry->line, .column = entry->column, .chains = entry->chains};

		scope_collect(&all, reader, entry);
		ret = scope_expand(&all, plan, &base, err);
		if (ret)
			err_wrap(err, "%s:%u:%u", name, entry->line, entry->column);
	}
	free(all.settings);
	return ret;
}

static void reader_destroy(struct reader *reader)
{
	for (unsigned i = 0; i < reader->n_entries; i++)
		scope_destroy(&reader->entries[i].scope);
	free(reader->entries);
	scope_destroy(&reader->top);
	overrides_destroy(&reader->overrides);
}

int plan_yaml_read(struct plan *plan, const char *name, const char *text, size_t size,
                   const struct plan_override *overrides, unsigned n_overrides, struct err *err)
{
	struct reader reader = {.plan = plan};
	int ret = -1;

	*plan = (struct plan){0};
	snprintf(plan->name, sizeof(plan->name), "%s", name);
	if (scope_init(&reader.top, err) || read_plan(&reader, name, text, size, err) ||
	    overrides_read(&reader.overrides, overrides, n_overrides, reader.entries,
	                   reader.n_entries, err) ||
	    expand(plan, name, &reader, err))
		goto out;
	ret = 0;
out:
	if (ret)
		plan_destroy(plan);
	reader_destroy(&reader);
	return ret;
}

/* ---- files ---- */

/*
 * The whole of a file, or the start of one that is larger than a plan may be. Nothing large is
 * allocated for a small one: glibc takes what is as large as one that was freed from its heap, and
 * zeroes it page by page where the kernel's would be zero untouched.
 */
static int read_file(FILE *file, char **text, size_t *size)
{
	size_t room = 0;

	*size = 0;
	do {
		char *more = realloc(*text, room = room ? 2 * room : 16 * KIB);

		if (!more)
			return -1;
		*text = more;
		*size += fread(more + *size, 1, room - *size, file);
	} while (*size == room && room <= PLAN_FILE_MAX);
	return ferror(file) ? -1 : 0;
}

static int no_such_plan(const char *name, struct err *err)
{
	int errnum = errno;

	err_sys(err, ERR_PLAN, errnum, "cannot read plan '%s'", name);
	if (errnum != ENOENT)
		return -1;
	err_append(err, " (built-in plans:");
	for (const struct plan_builtin *builtin = plan_builtins; builtin->name; builtin++)
		err_append(err, "%s %s", builtin == plan_builtins ? "" : ",", builtin->name);
	return err_append(err, ")");
}

int plan_yaml_load(struct plan *plan, const char *name_or_path,
                   const struct plan_override *overrides, unsigned n_overrides, struct err *err)
{
	const struct plan_builtin *builtin = plan_builtin_find(name_or_path);
	bool is_stdin = !strcmp(name_or_path, "-");
	CLEANUP(file) FILE *file = NULL;
	CLEANUP(mem) char *text = NULL;
	size_t size;

	*plan = (struct plan){0};
	if (builtin)
		return plan_yaml_read(plan, name_or_path, builtin->text, builtin->size, overrides,
		                      n_overrides, err);
	if (!is_stdin) {
		file = fopen(name_or_path, "re");
		if (!file)
			return no_such_plan(name_or_path, err);
	}
	if (read_file(is_stdin ? stdin : file, &text, &size))
		return no_such_plan(name_or_path, err);
	return plan_yaml_read(plan, is_stdin ? PLAN_STDIN : name_or_path, text, size, overrides,
	                      n_overrides, err);
}
