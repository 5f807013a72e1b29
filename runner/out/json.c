/*
 * The result as JSON, both ways from one set of tables: a row names a member and
 * says where in a plain struct it lies, so what is written can be read. Rows without
 * a place are derived (rates, percentiles): written for people and jq, never read.
 *
 *	histogram  counts of the buckets from the first on, in the order of hist.h;
 *	           -N stands for N empty buckets, those at the end are left out
 *	series     one array a quantity, an entry an interval, sums and maxima, so that
 *	           neighbours and pods can be added up
 *
 * What is not known is null: an empty text, a size of 0, a percentile that too few
 * samples carry. Whole numbers above 2^53 are decimal strings (emit.h), because
 * cJSON, jq and JavaScript would round them.
 */
#include <assert.h>
#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "out/emit.h"
#include "out/json.h"

/* A document being written. */
struct doc {
	struct emit emit;
	const struct test_result *tr; /* the current test */
	enum stats_op op;             /* the current operation of it */
	unsigned thin;                /* 2^thin slots of a series are written as one */
	bool omit_series, omit_histogram;
};

enum member_type {
	TEXT,   /* char[size]; empty is null */
	UINT,   /* uint64_t */
	KNOWN,  /* uint64_t; 0 is null: not known, or not asked for */
	DOUBLE, /* double; no number is null */
	BOOL,
	CHOICE, /* int: the index of a word; "" is null */
	OBJECT, /* a struct at offset, described by members */
	LIST,   /* an array at offset of up to max elements of size, described by members (NULL:
	           texts); how many there are is an unsigned at count_offset */
	CUSTOM, /* what write and read say; both get the whole object */
};

struct member {
	const char *name;
	enum member_type type;
	bool required;
	size_t offset, size;
	const char *const *words;
	const struct member *members;
	size_t count_offset;
	unsigned max;
	double percent;
	void (*write)(struct doc *doc, const struct member *row, const void *object);
	int (*read)(const cJSON *item, const struct member *row, void *object, struct err *err);
};

#define INTERVAL_MAX_S (1u << 20)  /* 4096 of these are 136 years */
#define TEXT_SIZE_MAX  (256 * MIB) /* of a document that is read */
#define THIN_SLOTS_MIN 32          /* a series is not thinned below this for the sake of the aim */

#define AT(s, m)      .offset = offsetof(s, m)
#define TEXT_AT(s, m) .type = TEXT, AT(s, m), .size = sizeof(((s *)0)->m)
#define LIST_AT(s, m, n)                                                                        \
	.type = LIST, AT(s, m), .size = sizeof(((s *)0)->m[0]), .count_offset = offsetof(s, n), \
	.max = ARRAY_SIZE(((s *)0)->m)

/* Writing */

static void write_members(struct doc *doc, const struct member *rows, const void *object);

static void write_list(struct doc *doc, const struct member *row, const char *object)
{
	unsigned n = *(const unsigned *)(object + row->count_offset);

	emit_open(&doc->emit, row->name, '[');
	for (unsigned i = 0; i < n; i++) {
		const char *element = object + row->offset + i * row->size;

		if (row->members) {
			emit_open(&doc->emit, NULL, '{');
			write_members(doc, row->members, element);
			emit_close(&doc->emit, '}');
		} else {
			emit_text(&doc->emit, NULL, element);
		}
	}
	emit_close(&doc->emit, ']');
}

static void write_text(struct emit *emit, const char *name, const char *text)
{
	if (*text)
		emit_text(emit, name, text);
	else
		emit_null(emit, name);
}

static void write_member(struct doc *doc, const struct member *row, const void *object)
{
	const void *slot = (const char *)object + row->offset;
	struct emit *emit = &doc->emit;

	switch (row->type) {
	case TEXT:
		write_text(emit, row->name, slot);
		break;
	case UINT:
		emit_uint(emit, row->name, *(const uint64_t *)slot);
		break;
	case KNOWN:
		if (*(const uint64_t *)slot)
			emit_uint(emit, row->name, *(const uint64_t *)slot);
		else
			emit_null(emit, row->name);
		break;
	case DOUBLE:
		emit_double(emit, row->name, *(const double *)slot);
		break;
	case BOOL:
		emit_bool(emit, row->name, *(const bool *)slot);
		break;
	case CHOICE:
		write_text(emit, row->name, row->words[*(const int *)slot]);
		break;
	case OBJECT:
		emit_open(emit, row->name, '{');
		write_members(doc, row->members, slot);
		emit_close(emit, '}');
		break;
	case LIST:
		write_list(doc, row, object);
		break;
	case CUSTOM:
		row->write(doc, row, object);
		break;
	}
}

static void write_members(struct doc *doc, const struct member *rows, const void *object)
{
	for (; rows->name; rows++)
		write_member(doc, rows, object);
}

/* Reading */

static int bad(struct err *err, const char *what)
{
	return err_set(err, ERR_PLAN, "%s", what);
}

/* A whole number up to 2^53, or (up to all 64 bits) its decimal digits in a string. */
static int read_uint(const cJSON *item, uint64_t *value, struct err *err)
{
	if (cJSON_IsNumber(item)) {
		double number = item->valuedouble;

		if (!(number >= 0 && number <= (double)EMIT_EXACT_MAX) || number != floor(number))
			return bad(err, "is no whole number from 0 to 2^53");
		*value = (uint64_t)number;
		return 0;
	}
	if (cJSON_IsString(item) && isdigit((unsigned char)item->valuestring[0])) {
		char *end;

		errno = 0;
		*value = strtoull(item->valuestring, &end, 10);
		if (!errno && !*end)
			return 0;
	}
	return bad(err, "is no whole number");
}

static int read_double(const cJSON *item, double *value, struct err *err)
{
	*value = NAN;
	if (cJSON_IsNull(item))
		return 0;
	if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
		return bad(err, "is no number");
	*value = item->valuedouble;
	return 0;
}

static int read_text(const cJSON *item, char *text, size_t size, struct err *err)
{
	if (cJSON_IsNull(item)) {
		*text = '\0';
		return 0;
	}
	if (!cJSON_IsString(item))
		return bad(err, "is no text");
	if (strlen(item->valuestring) >= size)
		return err_set(err, ERR_PLAN, "is longer than %zu bytes", size - 1);
	memcpy(text, item->valuestring, strlen(item->valuestring) + 1);
	emit_clean(text);
	return 0;
}

static int read_choice(const cJSON *item, const char *const *words, int *value, struct err *err)
{
	const char *text = cJSON_IsNull(item) ? "" : cJSON_GetStringValue(item);

	for (int i = 0; text && words[i]; i++) {
		if (!strcmp(words[i], text)) {
			*value = i;
			return 0;
		}
	}
	return bad(err, "is none of the known words");
}

static int read_members(const cJSON *item, const struct member *rows, void *object,
                        struct err *err);

static int read_list(const cJSON *item, const struct member *row, char *object, struct err *err)
{
	unsigned *n = (unsigned *)(object + row->count_offset);
	const cJSON *element;

	if (!cJSON_IsArray(item))
		return bad(err, "is no array");
	cJSON_ArrayForEach(element, item)
	{
		char *slot = object + row->offset + *n * row->size;

		if (*n == row->max)
			return err_set(err, ERR_PLAN, "has more than %u elements", row->max);
		if (row->members ? read_members(element, row->members, slot, err)
		                 : read_text(element, slot, row->size, err))
			return err_wrap(err, "[%u]", *n);
		++*n;
	}
	return 0;
}

static int read_member(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	void *slot = (char *)object + row->offset;

	switch (row->type) {
	case TEXT:
		return read_text(item, slot, row->size, err);
	case KNOWN:
		if (cJSON_IsNull(item))
			return 0;
		return read_uint(item, slot, err);
	case UINT:
		return read_uint(item, slot, err);
	case DOUBLE:
		return read_double(item, slot, err);
	case BOOL:
		if (!cJSON_IsBool(item))
			return bad(err, "is neither true nor false");
		*(bool *)slot = cJSON_IsTrue(item);
		return 0;
	case CHOICE:
		return read_choice(item, row->words, slot, err);
	case OBJECT:
		return read_members(item, row->members, slot, err);
	case LIST:
		return read_list(item, row, object, err);
	default:
		return row->read ? row->read(item, row, object, err) : 0;
	}
}

/* Members that no row names are a newer writer's and left alone. */
static int read_members(const cJSON *item, const struct member *rows, void *object, struct err *err)
{
	if (!cJSON_IsObject(item))
		return bad(err, "is no object");
	for (; rows->name; rows++) {
		const cJSON *member = cJSON_GetObjectItemCaseSensitive(item, rows->name);

		if (!member && rows->required)
			return err_set(err, ERR_PLAN, "has no member '%s'", rows->name);
		if (member && read_member(member, rows, object, err))
			return err_wrap(err, "%s", rows->name);
	}
	return 0;
}

/* One operation: latency and series */

static void write_extreme(struct doc *doc, const struct member *row, const void *object)
{
	const struct hist *h = object;

	if (h->count)
		emit_uint(&doc->emit, row->name,
		          *(const uint64_t *)((const char *)object + row->offset));
	else
		emit_null(&doc->emit, row->name);
}

static int read_extreme(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	if (cJSON_IsNull(item))
		return 0;
	return read_uint(item, (uint64_t *)((char *)object + row->offset), err);
}

static void write_mean(struct doc *doc, const struct member *row, const void *object)
{
	const struct hist *h = object;

	emit_double(&doc->emit, row->name, h->count ? hist_mean(h) : NAN);
}

static void write_stddev(struct doc *doc, const struct member *row, const void *object)
{
	const struct hist *h = object;

	emit_double(&doc->emit, row->name, h->count > 1 ? hist_stddev(h) : NAN);
}

static void write_percentile(struct doc *doc, const struct member *row, const void *object)
{
	const struct hist *h = object;

	if (hist_percentile_carried(h, row->percent))
		emit_uint(&doc->emit, row->name, hist_percentile(h, row->percent));
	else
		emit_null(&doc->emit, row->name);
}

static void write_histogram(struct doc *doc, const struct member *row, const void *object)
{
	const struct hist *h = object;
	unsigned empty = 0;

	if (doc->omit_histogram) {
		emit_null(&doc->emit, row->name);
		return;
	}
	emit_open_flat(&doc->emit, row->name);
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i]) {
			empty++;
			continue;
		}
		if (empty)
			emit_int(&doc->emit, NULL, -(int64_t)empty);
		empty = 0;
		emit_uint(&doc->emit, NULL, h->bucket[i]);
	}
	emit_close(&doc->emit, ']');
}

static int read_histogram(const cJSON *item, const struct member *row, void *object,
                          struct err *err)
{
	struct hist *h = object;
	unsigned at = 0;
	const cJSON *entry;

	(void)row;
	if (cJSON_IsNull(item))
		return bad(err, "was left out of this line, it would have been too long; "
		                "the document that --out wrote has it");
	if (!cJSON_IsArray(item))
		return bad(err, "is no array");
	cJSON_ArrayForEach(entry, item)
	{
		double empty = cJSON_IsNumber(entry) ? -entry->valuedouble : 0;

		if (empty > 0 && (empty > HIST_BUCKETS || empty != floor(empty)))
			return bad(err, "has an entry that is no whole number or too large");
		if (at + (empty > 0 ? (unsigned)empty : 1) > HIST_BUCKETS)
			return err_set(err, ERR_PLAN, "has more than %u buckets", HIST_BUCKETS);
		if (empty > 0)
			at += (unsigned)empty;
		else if (read_uint(entry, &h->bucket[at++], err))
			return -1;
	}
	return 0;
}

/* One quantity of all slots; row->offset is its place in a slot. */
static void write_slots(struct doc *doc, const struct member *row, const void *object)
{
	const struct series *series = object;
	uint64_t window = series_slots(series, doc->tr->runtime_ns);
	uint64_t group = 1ull << doc->thin;

	emit_open_flat(&doc->emit, row->name);
	for (uint64_t start = 0; start < window; start += group) {
		uint64_t end = min_u64(start + group, series->used);
		struct series_slot sum = {0};

		for (uint64_t i = start; i < end; i++)
			series_slot_add(&sum, &series->slot[i]);
		emit_uint(&doc->emit, NULL, *(const uint64_t *)((const char *)&sum + row->offset));
	}
	emit_close(&doc->emit, ']');
}

static int read_slots(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct series *series = object;
	unsigned n = 0;
	const cJSON *entry;

	if (!cJSON_IsArray(item))
		return bad(err, "is no array");
	cJSON_ArrayForEach(entry, item)
	{
		if (n == SERIES_SLOTS)
			return err_set(err, ERR_PLAN, "has more than %u slots", SERIES_SLOTS);
		if (read_uint(entry, (uint64_t *)((char *)&series->slot[n] + row->offset), err))
			return err_wrap(err, "[%u]", n);
		n++;
	}
	if (series->used && series->used != n)
		return bad(err, "differs in length from the others");
	series->used = n;
	return 0;
}

static void write_interval(struct doc *doc, const struct member *row, const void *object)
{
	const struct series *series = object;

	emit_uint(&doc->emit, row->name, series->interval_ns << doc->thin);
}

static int read_interval(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct series *series = object;
	uint64_t seconds;

	(void)row;
	if (read_uint(item, &series->interval_ns, err))
		return -1;
	seconds = series->interval_ns / NSEC_PER_SEC;
	if (!seconds || series->interval_ns % NSEC_PER_SEC || (seconds & (seconds - 1)) ||
	    seconds > INTERVAL_MAX_S)
		return bad(err, "is not 1 s times a power of two up to 2^20");
	return 0;
}

#define SLOTS_AT(member)                                                                        \
	.type = CUSTOM, AT(struct series_slot, member), .required = true, .write = write_slots, \
	.read = read_slots

static const struct member series_members[] = {
        {"interval_ns", CUSTOM, .required = true, .write = write_interval, .read = read_interval},
        {"ios", SLOTS_AT(ios)},
        {"bytes", SLOTS_AT(bytes)},
        {"lat_sum_ns", SLOTS_AT(lat_sum_ns)},
        {"lat_max_ns", SLOTS_AT(lat_max_ns)},
        {0},
};

#define PERCENTILE(value) .type = CUSTOM, .percent = value, .write = write_percentile

static const struct member latency_members[] = {
        {"min", CUSTOM, AT(struct hist, min), .write = write_extreme, .read = read_extreme},
        {"mean", CUSTOM, .write = write_mean},
        {"max", CUSTOM, AT(struct hist, max), .write = write_extreme, .read = read_extreme},
        {"stddev", CUSTOM, .write = write_stddev},
        {"p50", PERCENTILE(50)},
        {"p90", PERCENTILE(90)},
        {"p95", PERCENTILE(95)},
        {"p99", PERCENTILE(99)},
        {"p99.9", PERCENTILE(99.9)},
        {"p99.99", PERCENTILE(99.99)},
        {"sum", UINT, AT(struct hist, sum), .required = true},
        {"overflow", UINT, AT(struct hist, overflow), .required = true},
        {"histogram", CUSTOM, .required = true, .write = write_histogram, .read = read_histogram},
        {0},
};

static void write_iops(struct doc *doc, const struct member *row, const void *object)
{
	(void)object;
	emit_double(&doc->emit, row->name, test_result_iops(doc->tr, doc->op));
}

static void write_bw(struct doc *doc, const struct member *row, const void *object)
{
	(void)object;
	emit_double(&doc->emit, row->name, test_result_bw(doc->tr, doc->op));
}

static void write_series(struct doc *doc, const struct member *row, const void *object)
{
	const struct op_stats *op = object;
	unsigned thin = doc->thin;

	if (doc->omit_series) {
		emit_null(&doc->emit, row->name);
		return;
	}
	/* a window whose last part saw no completion may be longer than the slots reach */
	while (series_slots(&op->series, doc->tr->runtime_ns) > (uint64_t)SERIES_SLOTS << doc->thin)
		doc->thin++;
	emit_open(&doc->emit, row->name, '{');
	write_members(doc, series_members, &op->series);
	emit_close(&doc->emit, '}');
	doc->thin = thin;
}

static int read_series(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct op_stats *op = object;

	(void)row;
	return cJSON_IsNull(item) ? 0 : read_members(item, series_members, &op->series, err);
}

static const struct member op_members[] = {
        {"ios", UINT, AT(struct op_stats, latency.count), .required = true},
        {"bytes", UINT, AT(struct op_stats, bytes), .required = true},
        {"iops", CUSTOM, .write = write_iops},
        {"bw_bytes", CUSTOM, .write = write_bw},
        {"lat_ns", OBJECT, AT(struct op_stats, latency), .members = latency_members,
         .required = true},
        {"series", CUSTOM, .write = write_series, .read = read_series},
        {0},
};

/* What an honest writer cannot have written is a damaged document. */
static int check_latency(const struct hist *h, struct err *err)
{
	uint64_t total = h->overflow;
	unsigned first = HIST_BUCKETS, last = 0;

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		first = first == HIST_BUCKETS ? i : first;
		last = i;
		if (__builtin_add_overflow(total, h->bucket[i], &total))
			return bad(err, "counts too much");
	}
	if (total != h->count)
		return bad(err, "its buckets and overflow do not add up to ios");
	if (!h->count)
		return h->min || h->max || h->sum ? bad(err, "has figures of no samples") : 0;
	if (h->min > h->max || (h->overflow != 0) != (h->max >> HIST_MAX_BITS != 0) ||
	    (first < HIST_BUCKETS && (h->min >> HIST_MAX_BITS || hist_index(h->min) != first)) ||
	    (!h->overflow && hist_index(h->max) != last))
		return bad(err, "min and max do not fit the histogram");
	if ((long double)h->sum < (long double)h->min * h->count * 0.999999L ||
	    (long double)h->sum > (long double)h->max * h->count * 1.000001L)
		return bad(err, "sum does not fit min and max");
	return 0;
}

/* A test */

static const char *const status_words[] = {"ok", "failed", "interrupted", NULL};
static const char *const expect_words[] = {"pass", "fail", "not-judged", NULL};
static const char *const sync_words[] = {"none", "sync", "dsync", NULL};
static const char *const class_words[] = {"", "test", "plan", "target", "refused", NULL};

static int make_stats(struct test_result *tr, struct err *err)
{
	if (!tr->stats)
		tr->stats = stats_new();
	return tr->stats ? 0 : bad(err, "out of memory");
}

static void write_rw(struct doc *doc, const struct member *row, const void *object)
{
	const struct test_result *tr = object;

	emit_text(&doc->emit, row->name, plan_rw_name(tr->rw));
}

static int read_rw(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct test_result *tr = object;
	const char *text = cJSON_GetStringValue(item);

	(void)row;
	for (tr->rw = RW_READ; text && tr->rw <= RW_RANDRW; tr->rw++)
		if (!strcmp(plan_rw_name(tr->rw), text))
			return 0;
	tr->rw = RW_READ;
	return bad(err, "is none of the known words");
}

/* Before a file was opened nothing is known about it. */
static void write_direct(struct doc *doc, const struct member *row, const void *object)
{
	const struct test_result *tr = object;

	if (tr->ioengine[0])
		emit_bool(&doc->emit, row->name, tr->direct);
	else
		emit_null(&doc->emit, row->name);
}

static int read_direct(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct test_result *tr = object;

	(void)row;
	if (!cJSON_IsBool(item) && !cJSON_IsNull(item))
		return bad(err, "is neither true nor false");
	tr->direct = cJSON_IsTrue(item);
	return 0;
}

#define OTHER_ERRORS "others"

static void write_errors(struct doc *doc, const struct member *row, const void *object)
{
	const struct test_result *tr = object;

	emit_open(&doc->emit, row->name, '{');
	for (unsigned i = 0; tr->stats && i < STATS_ERRORS_MAX && tr->stats->errors[i].n; i++) {
		const struct error_count *count = &tr->stats->errors[i];

		emit_uint(&doc->emit, count->errnum ? err_name(count->errnum) : OTHER_ERRORS,
		          count->n);
	}
	emit_close(&doc->emit, '}');
}

static int read_errors(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct test_result *tr = object;
	unsigned kinds = 0;
	const cJSON *entry;

	(void)row;
	if (!cJSON_IsObject(item))
		return bad(err, "is no object");
	cJSON_ArrayForEach(entry, item)
	{
		int errnum = err_number(entry->string);
		uint64_t n;

		if (++kinds > STATS_ERRORS_MAX)
			return err_set(err, ERR_PLAN, "has more than %d members", STATS_ERRORS_MAX);
		if (!errnum && strcmp(entry->string, OTHER_ERRORS))
			return bad(err, "has a name that is no errno");
		if (make_stats(tr, err) || read_uint(entry, &n, err))
			return -1;
		stats_error_add(tr->stats, errnum, n);
	}
	return 0;
}

static const struct member counter_members[] = {
        {"short_transfers", UINT, AT(struct stats, short_transfers)},
        {"retries", UINT, AT(struct stats, retries)},
        {"drained", UINT, AT(struct stats, drained)},
        {"drained_max_ns", UINT, AT(struct stats, drained_max_ns)},
        {"unfinished", UINT, AT(struct stats, unfinished)},
        {"unfinished_age_ns", UINT, AT(struct stats, unfinished_age_ns)},
        {"unsent", UINT, AT(struct stats, unsent)},
        {"unsent_age_ns", UINT, AT(struct stats, unsent_age_ns)},
        {"late", UINT, AT(struct stats, late_count)},
        {"late_sum_ns", UINT, AT(struct stats, late_sum_ns)},
        {"late_max_ns", UINT, AT(struct stats, late_max_ns)},
        {0},
};

/* null: the test never started */
static void write_counters(struct doc *doc, const struct member *row, const void *object)
{
	const struct test_result *tr = object;

	if (!tr->stats) {
		emit_null(&doc->emit, row->name);
		return;
	}
	emit_open(&doc->emit, row->name, '{');
	write_members(doc, counter_members, tr->stats);
	emit_close(&doc->emit, '}');
}

static int read_counters(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct test_result *tr = object;

	(void)row;
	if (cJSON_IsNull(item))
		return 0;
	if (make_stats(tr, err))
		return -1;
	return read_members(item, counter_members, tr->stats, err);
}

static enum stats_op op_of(const struct member *row)
{
	unsigned op = 0;

	while (strcmp(stats_op_name[op], row->name))
		op++;
	return (enum stats_op)op;
}

/* null: nothing was measured, so there is no figure */
static void write_op(struct doc *doc, const struct member *row, const void *object)
{
	const struct test_result *tr = object;

	doc->op = op_of(row);
	if (!test_result_measured(tr, doc->op)) {
		emit_null(&doc->emit, row->name);
		return;
	}
	emit_open(&doc->emit, row->name, '{');
	write_members(doc, op_members, &tr->stats->op[doc->op]);
	emit_close(&doc->emit, '}');
}

static int read_op(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct test_result *tr = object;
	struct op_stats *op;

	if (cJSON_IsNull(item))
		return 0;
	if (make_stats(tr, err))
		return -1;
	op = &tr->stats->op[op_of(row)];
	if (read_members(item, op_members, op, err))
		return -1;
	return check_latency(&op->latency, err) ? err_wrap(err, "lat_ns") : 0;
}

/* What had to be left out of a line to keep it short enough. */
static void write_omitted(struct doc *doc, const struct member *row, const void *object)
{
	(void)object;
	if (!doc->omit_series && !doc->omit_histogram)
		return;
	emit_open(&doc->emit, row->name, '[');
	if (doc->omit_series)
		emit_text(&doc->emit, NULL, "series");
	if (doc->omit_histogram)
		emit_text(&doc->emit, NULL, "histogram");
	emit_close(&doc->emit, ']');
}

static const struct member expect_members[] = {
        {"expr", TEXT_AT(struct expectation, expr), .required = true},
        {"result", CHOICE, AT(struct expectation, result), .words = expect_words, .required = true},
        {"value", DOUBLE, AT(struct expectation, value), .required = true},
        {0},
};

static const struct member verdict_members[] = {
        {"code", TEXT_AT(struct verdict, code), .required = true},
        {"figure", DOUBLE, AT(struct verdict, figure), .required = true},
        {"text", TEXT_AT(struct verdict, text), .required = true},
        {0},
};

static const struct member test_members[] = {
        {"name", TEXT_AT(struct test_result, name), .required = true},
        {"kind", TEXT_AT(struct test_result, kind)},
        {"target", TEXT_AT(struct test_result, target)},
        {"status", CHOICE, AT(struct test_result, status), .words = status_words, .required = true},
        {"error", TEXT_AT(struct test_result, error)},
        {"error_class", CHOICE, AT(struct test_result, exit_class), .words = class_words},
        {"rw", CUSTOM, .write = write_rw, .read = read_rw},
        {"rwmixread", UINT, AT(struct test_result, rwmixread)},
        {"bs", UINT, AT(struct test_result, bs)},
        {"iodepth", UINT, AT(struct test_result, iodepth)},
        {"numjobs", UINT, AT(struct test_result, numjobs)},
        {"ioengine", TEXT_AT(struct test_result, ioengine)},
        {"ioengine_reason", TEXT_AT(struct test_result, ioengine_reason)},
        {"direct", CUSTOM, .write = write_direct, .read = read_direct},
        {"direct_reason", TEXT_AT(struct test_result, direct_reason)},
        {"open_sync", CHOICE, AT(struct test_result, sync), .words = sync_words},
        {"fsync", KNOWN, AT(struct test_result, fsync)},
        {"fdatasync", KNOWN, AT(struct test_result, fdatasync)},
        {"rate_iops", KNOWN, AT(struct test_result, rate_iops)},
        {"size_asked", KNOWN, AT(struct test_result, size_asked)},
        {"size", KNOWN, AT(struct test_result, size)},
        {"ramp_time_ns", UINT, AT(struct test_result, ramp_time_ns)},
        {"runtime_asked_ns", UINT, AT(struct test_result, runtime_asked_ns)},
        {"runtime_ns", UINT, AT(struct test_result, runtime_ns)},
        {"layout_bytes", UINT, AT(struct test_result, layout_bytes)},
        {"layout_ns", UINT, AT(struct test_result, layout_ns)},
        {"concessions", LIST_AT(struct test_result, concessions, n_concessions)},
        {"errors", CUSTOM, .write = write_errors, .read = read_errors},
        {"counters", CUSTOM, .write = write_counters, .read = read_counters},
        {"omitted", CUSTOM, .write = write_omitted},
        {"read", CUSTOM, .write = write_op, .read = read_op},
        {"write", CUSTOM, .write = write_op, .read = read_op},
        {"sync", CUSTOM, .write = write_op, .read = read_op},
        {"expect", LIST_AT(struct test_result, expect, n_expect), .members = expect_members},
        {"verdicts", LIST_AT(struct test_result, verdicts, n_verdicts), .members = verdict_members},
        {0},
};

/* The document */

static const struct member run_members[] = {
        {"id", TEXT_AT(struct result, id)},
        {"started", TEXT_AT(struct result, started)},
        {"version", TEXT_AT(struct result, version)},
        {"plan", TEXT_AT(struct result, plan)},
        {0},
};

static const struct member condition_members[] = {
        {"target", TEXT_AT(struct conditions, target)},
        {"fs", TEXT_AT(struct conditions, fs)},
        {"mount_options", TEXT_AT(struct conditions, mount_options)},
        {"mount_source", TEXT_AT(struct conditions, mount_source)},
        {"device", TEXT_AT(struct conditions, device)},
        {"scheduler", TEXT_AT(struct conditions, scheduler)},
        {"block_bytes", KNOWN, AT(struct conditions, block_bytes)},
        {"capacity_bytes", KNOWN, AT(struct conditions, capacity_bytes)},
        {"free_bytes", KNOWN, AT(struct conditions, free_bytes)},
        {"kernel", TEXT_AT(struct conditions, kernel)},
        {"machine", TEXT_AT(struct conditions, machine)},
        {"node", TEXT_AT(struct conditions, node)},
        {"cpus", DOUBLE, AT(struct conditions, cpus)},
        {"memory_bytes", KNOWN, AT(struct conditions, memory_bytes)},
        {"class", TEXT_AT(struct conditions, class)},
        {0},
};

static void write_schema(struct doc *doc, const struct member *row, const void *object)
{
	(void)object;
	emit_text(&doc->emit, row->name, RESULT_SCHEMA);
}

static int read_schema(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	(void)row;
	(void)object;
	if (!cJSON_IsString(item) || strcmp(item->valuestring, RESULT_SCHEMA))
		return bad(err, "is not '" RESULT_SCHEMA "'");
	return 0;
}

/* Only of a run with several targets; else "conditions" says it all. */
static void write_targets(struct doc *doc, const struct member *row, const void *object)
{
	const struct result *result = object;

	if (result->n_targets < 2)
		return;
	emit_open(&doc->emit, row->name, '[');
	for (unsigned i = 0; i < result->n_targets; i++) {
		emit_open(&doc->emit, NULL, '{');
		write_members(doc, condition_members, &result->targets[i]);
		emit_close(&doc->emit, '}');
	}
	emit_close(&doc->emit, ']');
}

/* Zeroed room for the elements of an array, at most PLAN_TESTS_MAX; NULL with err set. */
static void *make_elements(const cJSON *item, size_t size, struct err *err)
{
	size_t n = 0;
	const cJSON *element;
	void *room;

	if (!cJSON_IsArray(item)) {
		bad(err, "is no array");
		return NULL;
	}
	cJSON_ArrayForEach(element, item) n++;
	if (n > PLAN_TESTS_MAX) {
		err_set(err, ERR_PLAN, "has more than %d elements", PLAN_TESTS_MAX);
		return NULL;
	}
	room = calloc(n ? n : 1, size);
	if (!room)
		bad(err, "out of memory");
	return room;
}

static int read_targets(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct result *result = object;
	const cJSON *element;

	(void)row;
	result->targets = make_elements(item, sizeof(*result->targets), err);
	if (!result->targets)
		return -1;
	cJSON_ArrayForEach(element, item)
	{
		struct conditions *conditions = &result->targets[result->n_targets++];

		if (read_members(element, condition_members, conditions, err))
			return err_wrap(err, "[%u]", result->n_targets - 1);
	}
	return 0;
}

static void write_tests(struct doc *doc, const struct member *row, const void *object)
{
	const struct result *result = object;

	emit_open(&doc->emit, row->name, '[');
	for (unsigned i = 0; i < result->n_tests; i++) {
		doc->tr = &result->tests[i];
		emit_open(&doc->emit, NULL, '{');
		write_members(doc, test_members, doc->tr);
		emit_close(&doc->emit, '}');
	}
	emit_close(&doc->emit, ']');
}

static int read_tests(const cJSON *item, const struct member *row, void *object, struct err *err)
{
	struct result *result = object;
	const cJSON *element;

	(void)row;
	result->tests = make_elements(item, sizeof(*result->tests), err);
	if (!result->tests)
		return -1;
	cJSON_ArrayForEach(element, item)
	{
		struct test_result *tr = &result->tests[result->n_tests++];

		if (read_members(element, test_members, tr, err))
			return err_wrap(err, "[%u]", result->n_tests - 1);
	}
	return 0;
}

static const struct member document_members[] = {
        {"schema", CUSTOM, .write = write_schema, .read = read_schema, .required = true},
        {"run", OBJECT, .members = run_members, .required = true},
        {"conditions", OBJECT, AT(struct result, conditions), .members = condition_members,
         .required = true},
        {"targets", CUSTOM, .write = write_targets, .read = read_targets},
        {"interrupted", BOOL, AT(struct result, interrupted)},
        {"verdicts", LIST_AT(struct result, verdicts, n_verdicts), .members = verdict_members},
        {"tests", CUSTOM, .write = write_tests, .read = read_tests, .required = true},
        {0},
};

static void write_document(struct doc *doc, const struct result *result)
{
	emit_open(&doc->emit, NULL, '{');
	write_members(doc, document_members, result);
	emit_close(&doc->emit, '}');
}

void json_write(FILE *out, const struct result *result)
{
	struct doc doc = {.emit = {.out = out, .indent = true}};

	write_document(&doc, result);
	fputc('\n', out);
}

/*
 * Without series and histogram only texts and a few hundred numbers are left. A text
 * at most doubles by its escapes, so the structs that hold them bound the line.
 */
#define LINE_NUMBERS_MAX (10 * KIB)
_Static_assert(2 * (sizeof(struct result) + sizeof(struct test_result)) + LINE_NUMBERS_MAX <=
                       RESULT_LINE_MAX,
               "a line without series and histogram may pass its limit");

/* Bytes that the line takes. */
static size_t line_bytes(struct doc doc, const struct result *one)
{
	write_document(&doc, one);
	return strlen(RESULT_LINE_PREFIX) + doc.emit.bytes + 1;
}

static uint64_t longest_series(const struct test_result *tr)
{
	uint64_t slots = 0;

	for (unsigned op = 0; tr->stats && op < STATS_OPS; op++)
		slots = max_u64(slots, series_slots(&tr->stats->op[op].series, tr->runtime_ns));
	return min_u64(slots, SERIES_SLOTS);
}

void json_write_line(FILE *out, const struct result *result, const struct test_result *tr)
{
	struct result one = *result;
	struct test_result test = *tr;
	struct doc doc = {0};

	one.conditions = *result_conditions(result, tr);
	one.targets = NULL;
	one.n_targets = 0;
	one.tests = &test;
	one.n_tests = 1;
	while (longest_series(tr) >> doc.thin > THIN_SLOTS_MIN &&
	       line_bytes(doc, &one) > RESULT_LINE_AIM)
		doc.thin++;
	doc.omit_series = line_bytes(doc, &one) > RESULT_LINE_MAX;
	doc.omit_histogram = line_bytes(doc, &one) > RESULT_LINE_MAX;
	doc.emit.out = out;
	fputs(RESULT_LINE_PREFIX, out);
	write_document(&doc, &one);
	fputc('\n', out);
}

static int read_document(struct result *result, const char *text, size_t size, struct err *err)
{
	const char *end = NULL;
	cJSON *document = cJSON_ParseWithLengthOpts(text, size, &end, false);
	int ret = -1;

	if (!document) {
		err_set(err, ERR_PLAN, "no JSON: damaged at byte %zu of %zu",
		        end ? (size_t)(end - text) : 0, size);
		return -1;
	}
	while (end < text + size && (isspace((unsigned char)*end) || !*end))
		end++;
	if (end < text + size)
		bad(err, "something follows the JSON document");
	else
		ret = read_members(document, document_members, result, err);
	cJSON_Delete(document);
	return ret;
}

int json_read(struct result *result, const char *text, size_t size, struct err *err)
{
	memset(result, 0, sizeof(*result));
	if (size > TEXT_SIZE_MAX)
		return err_set(err, ERR_PLAN, "larger than %llu MiB", TEXT_SIZE_MAX / MIB);
	if (read_document(result, text, size, err)) {
		result_destroy(result);
		return -1;
	}
	return 0;
}
