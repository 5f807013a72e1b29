/*
 * A shape says what stands at a place of the document: a mapping, by the fields that it
 * may have and what those hold that are no plain values, or a list of such mappings. The
 * reader walks shapes and nodes together, so what nests is bounded by the tables at the
 * end of this file, whatever the document does.
 */
#include "plan/class.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/field.h"
#include "base/units.h"
#include "plan/tree.h"
#include "plan/value.h"

#define KEYS_MAX     8 /* of a mapping */
#define CAPACITY_MAX (1ull << 60)
#define FIGURE_MAX   1e12

struct shape {
	const char *what; /* in messages */
	const struct field *fields;
	size_t n_fields;
	const struct shape *const *inner; /* by field; NULL, or one of NULL: a plain value */
	unsigned required;                /* 1 << field */

	/* What the fields together say that cannot be; seen: 1 << field. NULL: nothing. */
	int (*check)(const void *object, unsigned seen, struct err *err);

	/* Of a list: at most max elements of size, counted by the unsigned at count_at. */
	unsigned max;
	size_t size, count_at;
};

/* ---- the reader ---- */

static int read_node(const struct tree *tree, const struct shape *shape, const char *key,
                     const struct node *node, void *object, struct err *err);

static int unknown_key(const struct shape *shape, const struct node *key, struct err *err)
{
	const char *name = node_text(key);
	char text[SHOWN_MAX];

	err_set(err, ERR_PLAN, "unknown key '%s' of %s", shown(name, node_length(key), text),
	        shape->what);
	return field_append_nearest(shape->fields, shape->n_fields,
	                            field_nearest(shape->fields, shape->n_fields, name), err);
}

/* The field that a key names, or -1; seen[] has the keys before it. */
static int find_field(const struct shape *shape, const struct node *key,
                      const struct node *const seen[KEYS_MAX], struct err *err)
{
	if (node_type(key) != NODE_SCALAR)
		return err_set(err, ERR_PLAN, "a key must be a word");

	const char *name = node_text(key);
	const struct field *row = field_find(shape->fields, shape->n_fields, name);

	if (!row || strlen(name) != node_length(key))
		return unknown_key(shape, key, err);
	if (seen[row - shape->fields])
		return err_set(err, ERR_PLAN, "key '%s' stands here twice (first in line %u)", name,
		               node_line(seen[row - shape->fields]));
	return (int)(row - shape->fields);
}

static int read_plain(const struct tree *tree, const struct field *row, const struct node *node,
                      void *object, struct err *err)
{
	struct text text;

	if (value_text(node, &text, err) || field_set(row, object, text.bytes, err))
		return blame_key(tree, node, row->name, err);
	return 0;
}

static int check_required(const struct shape *shape, unsigned seen, struct err *err)
{
	for (unsigned i = 0; i < shape->n_fields; i++)
		if (shape->required & ~seen & 1u << i)
			return err_set(err, ERR_PLAN, "%s has no key '%s'", shape->what,
			               shape->fields[i].name);
	return 0;
}

static int read_mapping(const struct tree *tree, const struct shape *shape, const struct node *node,
                        void *object, struct err *err)
{
	const struct node *keys[KEYS_MAX] = {NULL};
	unsigned seen = 0;

	for (unsigned i = 0; i < node_count(node); i++) {
		const struct node *key = tree_key(tree, node, i),
		                  *value = tree_value(tree, node, i);
		int n = find_field(shape, key, keys, err);

		if (n < 0)
			return tree_blame(tree, key, err);
		keys[n] = key;
		seen |= 1u << n;

		const struct field *row = &shape->fields[n];
		const struct shape *inner = shape->inner ? shape->inner[n] : NULL;

		if (inner ? read_node(tree, inner, row->name, value, (char *)object + row->offset,
		                      err)
		          : read_plain(tree, row, value, object, err))
			return -1;
	}
	if (check_required(shape, seen, err) || (shape->check && shape->check(object, seen, err)))
		return tree_blame(tree, node, err);
	return 0;
}

static int read_list(const struct tree *tree, const struct shape *shape, const struct node *node,
                     void *object, struct err *err)
{
	unsigned n = node_count(node);

	if (!n || n > shape->max) {
		err_set(err, ERR_PLAN, "%s: a list of %u (allowed: 1 to %u)", shape->what, n,
		        shape->max);
		return tree_blame(tree, node, err);
	}
	for (unsigned i = 0; i < n; i++) {
		const struct node *element = tree_element(tree, node, i);

		if (node_type(element) != NODE_MAPPING) {
			err_set(err, ERR_PLAN, "%s: an element is a mapping", shape->what);
			return tree_blame(tree, element, err);
		}
		if (read_mapping(tree, shape, element, (char *)object + i * shape->size, err))
			return -1;
	}
	*(unsigned *)((char *)object + shape->count_at) = n;
	return 0;
}

/* key stands for it in messages. */
static int read_node(const struct tree *tree, const struct shape *shape, const char *key,
                     const struct node *node, void *object, struct err *err)
{
	if (node_type(node) != (shape->max ? NODE_LIST : NODE_MAPPING)) {
		err_set(err, ERR_PLAN, "%s: a %s is wanted, with the keys", key,
		        shape->max ? "list of mappings" : "mapping");
		for (unsigned i = 0; i < shape->n_fields; i++)
			err_append(err, "%s %s", i ? "," : "", shape->fields[i].name);
		return tree_blame(tree, node, err);
	}
	if (shape->max)
		return read_list(tree, shape, node, object, err);
	return read_mapping(tree, shape, node, object, err);
}

/* ---- the fields ---- */

static int parse_name(void *slot, const char *text, struct err *err)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

	if (text[length] || text[0] == '-' || text[length - 1] == '-' || length >= CLASS_NAME_MAX)
		return err_set(err, ERR_PLAN, "'%.64s' is not a class's name", text);
	memcpy(slot, text, length + 1);
	return 0;
}

static int parse_figure(void *slot, const char *text, struct err *err)
{
	double value;

	if (!units_parse_decimal(text, &value) || !(value > 0 && value <= FIGURE_MAX))
		return err_set(err, ERR_PLAN, "'%.32s' is not a figure", text);
	*(double *)slot = value;
	return 0;
}

#define FIGURE(key, owner, member)                                                    \
	{                                                                             \
		.name = key, .type = FIELD_CUSTOM, .offset = offsetof(owner, member), \
		.parse = parse_figure,                                                \
		.allowed = "a number above 0, up to 1e12, such as 5000 or 0.5",       \
	}

#define BYTES(key, owner, member)                                                             \
	{                                                                                     \
		.name = key, .type = FIELD_SIZE, .offset = offsetof(owner, member), .min = 1, \
		.max = CAPACITY_MAX,                                                          \
	}

#define TEXT(key, owner, member)                                                      \
	{                                                                             \
		.name = key, .type = FIELD_STRING, .offset = offsetof(owner, member), \
		.size = sizeof(((owner *)0)->member),                                 \
	}

#define INNER(key, owner, member)                              \
	{                                                      \
		.name = key, .offset = offsetof(owner, member) \
	}

enum { STEP_UP_TO, STEP_VALUE, STEP_KEYS };

static const struct field step_fields[STEP_KEYS] = {
        [STEP_UP_TO] = BYTES("up_to", struct published_step, up_to),
        [STEP_VALUE] = FIGURE("value", struct published_step, value),
};

static const struct shape steps_shape = {
        .what = "steps",
        .fields = step_fields,
        .n_fields = STEP_KEYS,
        .required = 1u << STEP_UP_TO | 1u << STEP_VALUE,
        .max = PUBLISHED_STEPS_MAX,
        .size = sizeof(struct published_step),
        .count_at =
                offsetof(struct published_rule, n_steps) - offsetof(struct published_rule, steps),
};

enum { LIMIT_BASE, LIMIT_PER_GIB, LIMIT_MAX, LIMIT_STEPS, LIMIT_KEYS };

static const struct field limit_fields[LIMIT_KEYS] = {
        [LIMIT_BASE] = FIGURE("base", struct published_rule, base),
        [LIMIT_PER_GIB] = FIGURE("per_gib", struct published_rule, per_gib),
        [LIMIT_MAX] = FIGURE("max", struct published_rule, max),
        [LIMIT_STEPS] = INNER("steps", struct published_rule, steps),
};

static int check_limit(const void *object, unsigned seen, struct err *err)
{
	const struct published_rule *rule = object;
	bool steps = seen & 1u << LIMIT_STEPS, base = seen & 1u << LIMIT_BASE;
	bool per_gib = seen & 1u << LIMIT_PER_GIB, max = seen & 1u << LIMIT_MAX;

	if (steps ? seen != 1u << LIMIT_STEPS : !base)
		return err_set(err, ERR_PLAN,
		               "a limit has either the key 'base' or the key 'steps' alone");
	if (per_gib != max)
		return err_set(err, ERR_PLAN, "a limit has 'per_gib' and 'max' both or neither");
	if (max && rule->max < rule->base)
		return err_set(err, ERR_PLAN,
		               "'max' is below 'base', which then says nothing (allowed: max is "
		               "base or more)");
	for (unsigned i = 1; i < rule->n_steps; i++)
		if (rule->steps[i].up_to <= rule->steps[i - 1].up_to)
			return err_set(err, ERR_PLAN,
			               "step %u is not above the one before it (allowed: up_to "
			               "ascends)",
			               i + 1);
	return 0;
}

static const struct shape limit_shape = {
        .what = "a limit",
        .fields = limit_fields,
        .n_fields = LIMIT_KEYS,
        .inner = (const struct shape *const[LIMIT_KEYS]){[LIMIT_STEPS] = &steps_shape},
        .check = check_limit,
};

enum { BURST_IOPS, BURST_MIB_PER_S, BURST_CREDIT, BURST_KEYS };

static const struct field burst_fields[BURST_KEYS] = {
        [BURST_IOPS] = FIGURE("iops", struct class_burst, iops),
        [BURST_MIB_PER_S] = FIGURE("mib_per_s", struct class_burst, mib_per_s),
        [BURST_CREDIT] = FIGURE("credit", struct class_burst, credit),
};

static int check_burst(const void *object, unsigned seen, struct err *err)
{
	(void)object;
	if (!seen)
		return err_set(err, ERR_PLAN, "burst is empty");
	if (seen & 1u << BURST_CREDIT && !(seen & 1u << BURST_IOPS))
		return err_set(err, ERR_PLAN, "'credit' needs the key 'iops' beside it");
	return 0;
}

static const struct shape burst_shape = {
        .what = "burst",
        .fields = burst_fields,
        .n_fields = BURST_KEYS,
        .check = check_burst,
};

enum { PUB_IOPS, PUB_MIB_PER_S, PUB_BURST, PUB_IO_UNIT, PUB_SCOPE, PUB_SOURCE, PUB_KEYS };

static const struct field published_fields[PUB_KEYS] = {
        [PUB_IOPS] = INNER("iops", struct class_published, iops),
        [PUB_MIB_PER_S] = INNER("mib_per_s", struct class_published, mib_per_s),
        [PUB_BURST] = INNER("burst", struct class_published, burst),
        [PUB_IO_UNIT] = BYTES("io_unit", struct class_published, io_unit),
        [PUB_SCOPE] = {.name = "scope",
                       .type = FIELD_CHOICE,
                       .offset = offsetof(struct class_published, scope),
                       .choices = published_scope_names},
        [PUB_SOURCE] = TEXT("source", struct class_published, source),
};

/* What says something only of a limit that is not there would be ignored. */
static int check_published(const void *object, unsigned seen, struct err *err)
{
	const struct class_published *published = object;
	bool iops = seen & 1u << PUB_IOPS, bw = seen & 1u << PUB_MIB_PER_S;
	const char *alone = NULL;

	if (!iops && !bw)
		return err_set(err, ERR_PLAN, "published has neither 'iops' nor 'mib_per_s'");
	if (published->burst.iops > 0 && !iops)
		alone = "'burst.iops' needs the key 'iops'";
	else if (published->burst.mib_per_s > 0 && !bw)
		alone = "'burst.mib_per_s' needs the key 'mib_per_s'";
	else if (published->io_unit && !iops)
		alone = "'io_unit' needs the key 'iops'";
	return alone ? err_set(err, ERR_PLAN, "%s in published", alone) : 0;
}

static const struct shape published_shape = {
        .what = "published",
        .fields = published_fields,
        .n_fields = PUB_KEYS,
        .inner = (const struct shape *const[PUB_KEYS]){[PUB_IOPS] = &limit_shape,
                                                       [PUB_MIB_PER_S] = &limit_shape,
                                                       [PUB_BURST] = &burst_shape},
        .required = 1u << PUB_SCOPE | 1u << PUB_SOURCE,
        .check = check_published,
};

enum { CLASS_NAME, CLASS_CAPACITY, CLASS_SIZE, CLASS_NOTE, CLASS_PUBLISHED, CLASS_KEYS };

static const struct field class_fields[CLASS_KEYS] = {
        [CLASS_NAME] = {.name = "name",
                        .type = FIELD_CUSTOM,
                        .offset = offsetof(struct class, name),
                        .parse = parse_name,
                        .allowed = "at most 52 of a-z, 0-9 and, within, -"},
        [CLASS_CAPACITY] = BYTES("capacity", struct class, capacity_bytes),
        [CLASS_SIZE] = BYTES("size", struct class, size_bytes),
        [CLASS_NOTE] = TEXT("note", struct class, note),
        [CLASS_PUBLISHED] = INNER("published", struct class, published),
};

/* A limit by capacity has a value at the class's own. */
static int check_capacity(const struct class *class, const char *key,
                          const struct published_rule *rule, struct err *err)
{
	uint64_t last = rule->n_steps ? rule->steps[rule->n_steps - 1].up_to : 0;
	char capacity[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX];

	if (!class->capacity_bytes && (rule->n_steps || rule->per_gib > 0))
		return err_set(err, ERR_PLAN,
		               "published.%s depends on the capacity, and the class has no key "
		               "'capacity'",
		               key);
	if (rule->n_steps && class->capacity_bytes > last)
		return err_set(err, ERR_PLAN,
		               "published.%s has no step for the capacity of %s (its last is up to "
		               "%s)",
		               key, units_format_size(class->capacity_bytes, capacity),
		               units_format_size(last, most));
	return 0;
}

static int check_class(const void *object, unsigned seen, struct err *err)
{
	const struct class *class = object;

	(void)seen;
	if (check_capacity(class, "iops", &class->published.iops, err))
		return -1;
	return check_capacity(class, "mib_per_s", &class->published.mib_per_s, err);
}

static const struct shape class_shape = {
        .what = "a class",
        .fields = class_fields,
        .n_fields = CLASS_KEYS,
        .inner = (const struct shape *const[CLASS_KEYS]){[CLASS_PUBLISHED] = &published_shape},
        .required = 1u << CLASS_NAME,
        .check = check_class,
};

_Static_assert((int)PUB_KEYS <= KEYS_MAX && (int)CLASS_KEYS <= KEYS_MAX, "too many keys");

/* ---- text and files ---- */

int class_read(struct class *class, const char *name, const char *text, size_t size,
               struct err *err)
{
	struct tree tree = {.name = name};
	int ret = -1;

	*class = (struct class){0};
	if (size > CLASS_FILE_MAX)
		return err_set(err, ERR_PLAN, "%s: larger than %llu bytes", name, CLASS_FILE_MAX);
	if (tree_read(&tree, text, size, err))
		return -1;
	if (tree_root(&tree))
		ret = read_node(&tree, &class_shape, class_shape.what, tree_root(&tree), class,
		                err);
	else
		err_set(err, ERR_PLAN, "%s:1:1: the file is empty (a class has the key 'name')",
		        name);
	tree_destroy(&tree);
	if (ret)
		*class = (struct class){0};
	return ret;
}

/* A pipe would be waited for. */
static bool is_pipe(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* *found tells whether there is such a file. */
static int read_file(struct class *class, const char *path, bool *found, struct err *err)
{
	if (is_pipe(path))
		return err_set(err, ERR_PLAN, "cannot read the class '%s': it is no file", path);

	CLEANUP(file) FILE *file = fopen(path, "re");
	CLEANUP(mem) char *text = malloc(CLASS_FILE_MAX + 1);

	*found = file || (errno != ENOENT && errno != ENOTDIR);
	if (!*found)
		return 0;
	size_t size = file && text ? fread(text, 1, CLASS_FILE_MAX + 1, file) : 0;

	if (!file || !text || ferror(file))
		return err_sys(err, ERR_PLAN, errno, "cannot read the class '%s'", path);
	return class_read(class, path, text, size, err);
}

int class_load(struct class *class, const char *plan_path, struct err *err)
{
	char path[PLAN_PATH_MAX + sizeof("class.yaml")];
	bool found = false;

	*class = (struct class){0};
	if (plan_path) {
		const char *slash = strrchr(plan_path, '/');
		int folder = slash ? (int)(slash + 1 - plan_path) : 0;

		snprintf(path, sizeof(path), "%.*sclass.yaml", folder, plan_path);
		if (read_file(class, path, &found, err))
			return -1;
	}
	return found ? 0 : read_file(class, CLASS_MOUNTED, &found, err);
}

struct published class_figures(const struct class *class)
{
	const struct class_published *from = &class->published;
	struct published p = {
	        .capacity_bytes = class->capacity_bytes,
	        .iops = published_rule_value(&from->iops, class->capacity_bytes),
	        .mib_per_s = published_rule_value(&from->mib_per_s, class->capacity_bytes),
	        .burst_iops = from->burst.iops > 0 ? from->burst.iops : NAN,
	        .burst_mib_per_s = from->burst.mib_per_s > 0 ? from->burst.mib_per_s : NAN,
	        .burst_credit = from->burst.credit > 0 ? from->burst.credit : NAN,
	        .io_unit = from->io_unit,
	        .scope = from->scope,
	};

	memcpy(p.source, from->source, sizeof(p.source));
	return p;
}
