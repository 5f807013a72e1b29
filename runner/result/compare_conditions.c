/*
 * What should be the same where figures are compared.
 */
#include <math.h>
#include <string.h>

#include "result/compare.h"

#define ROW_AT(type_of, called, member, kind)                                             \
	{                                                                                 \
		.name = called, .type = kind, .offset = offsetof(struct type_of, member), \
		.size = sizeof(((struct type_of *)NULL)->member),                         \
	}
#define SITE(called, member, kind) ROW_AT(result, called, member, kind)
#define LOAD(called, member, kind) ROW_AT(test_result, called, member, kind)

const struct compare_condition compare_site[COMPARE_SITE_ROWS] = {
        SITE("kernel", conditions.kernel, VALUE_TEXT),
        SITE("machine", conditions.machine, VALUE_TEXT),
        SITE("cpus", conditions.cpus, VALUE_MILLI),
        SITE("memory", conditions.memory_bytes, VALUE_SIZE),
        SITE("version", version, VALUE_TEXT),
        SITE("plan", plan, VALUE_TEXT),
};

const struct compare_condition compare_load[COMPARE_LOAD_ROWS] = {
        LOAD("rw", rw, VALUE_RW),
        LOAD("rwmixread", rwmixread, VALUE_UINT),
        LOAD("bs", bs, VALUE_SIZE),
        LOAD("iodepth", iodepth, VALUE_UINT),
        LOAD("numjobs", numjobs, VALUE_UINT),
        LOAD("rate_iops", rate_iops, VALUE_UINT),
        LOAD("rate", rate, VALUE_SIZE),
        LOAD("thinktime", thinktime_ns, VALUE_TIME),
        LOAD("random_distribution", random_distribution, VALUE_TEXT),
        LOAD("size", size, VALUE_SIZE),
        LOAD("ioengine", ioengine, VALUE_TEXT),
        LOAD("direct", direct, VALUE_BOOL),
        LOAD("file_per_job", file_per_job, VALUE_BOOL),
        LOAD("fsync", fsync, VALUE_UINT),
        LOAD("fdatasync", fdatasync, VALUE_UINT),
        LOAD("end_fsync", end_fsync, VALUE_BOOL),
        LOAD("first_write", first_write, VALUE_BOOL),
        LOAD("ramp_time", ramp_time_ns, VALUE_TIME),
        LOAD("runtime", runtime_asked_ns, VALUE_TIME),
        LOAD("io_size", io_size, VALUE_SIZE),
        LOAD("loops", loops, VALUE_UINT),
        LOAD("pods", pods.n, VALUE_UINT),
};

static void take_value(const struct compare_condition *row, const void *object,
                       struct compare_value *value)
{
	const void *at = (const char *)object + row->offset;

	switch (row->type) {
	case VALUE_TEXT:
		snprintf(value->text, sizeof(value->text), "%s", (const char *)at);
		break;
	case VALUE_RW:
		value->number = (uint64_t) * (const int *)at;
		break;
	case VALUE_BOOL:
		value->number = *(const bool *)at;
		break;
	case VALUE_MILLI:
		value->number = (uint64_t)fmin(fmax(1000 * *(const double *)at, 0), 1e15);
		break;
	default:
		value->number = *(const uint64_t *)at;
		break;
	}
}

void compare_take_values(const struct compare_condition *rows, unsigned n, const void *object,
                         struct compare_value *values)
{
	memset(values, 0, n * sizeof(*values));
	for (unsigned i = 0; i < n; i++)
		take_value(&rows[i], object, &values[i]);
}

bool compare_same_value(const struct compare_value *a, const struct compare_value *b)
{
	return a->number == b->number && !strcmp(a->text, b->text);
}

/* ---- beside the baseline ---- */

static bool is_known(const struct compare_value *value)
{
	return value->number || value->text[0];
}

static void each_site_difference(const struct compare *c, unsigned result,
                                 compare_difference_fn *visit, void *arg)
{
	for (unsigned i = 0; i < COMPARE_SITE_ROWS; i++) {
		struct compare_difference d = {
		        .condition = &compare_site[i],
		        .result = result,
		        .test = COMPARE_TESTS_MAX,
		        .here = &c->results[result]->site[i],
		        .there = &c->results[c->baseline]->site[i],
		};

		if (is_known(d.here) && is_known(d.there) && !compare_same_value(d.here, d.there))
			visit(arg, &d);
	}
}

/* False where both values are the same, or one is not known. */
static bool load_difference(const struct compare *c, unsigned result, unsigned test, unsigned row,
                            struct compare_difference *d)
{
	const struct compare_entry *here = c->results[result]->entries[test];
	const struct compare_entry *there = c->results[c->baseline]->entries[test];

	if (!here || !there || !here->opened || !there->opened)
		return false;
	*d = (struct compare_difference){
	        .condition = &compare_load[row],
	        .result = result,
	        .test = test,
	        .here = &here->load[row],
	        .there = &there->load[row],
	};
	return !compare_same_value(d->here, d->there);
}

void compare_differences_of(const struct compare *c, unsigned result, unsigned test,
                            compare_difference_fn *visit, void *arg)
{
	struct compare_difference d;

	if (result == c->baseline)
		return;
	each_site_difference(c, result, visit, arg);
	for (unsigned row = 0; row < COMPARE_LOAD_ROWS; row++)
		if (load_difference(c, result, test, row, &d))
			visit(arg, &d);
}

bool compare_differs_alike(const struct compare *c, const struct compare_difference *d,
                           unsigned test)
{
	unsigned row = (unsigned)(d->condition - compare_load);
	struct compare_difference other;

	return load_difference(c, d->result, test, row, &other) &&
	       compare_same_value(d->here, other.here) && compare_same_value(d->there, other.there);
}

static bool is_first(const struct compare *c, const struct compare_difference *d)
{
	for (unsigned t = 0; t < d->test; t++)
		if (compare_differs_alike(c, d, t))
			return false;
	return true;
}

void compare_each_difference(const struct compare *c, compare_difference_fn *visit, void *arg)
{
	struct compare_difference d;

	for (unsigned i = 0; i < c->n_results; i++) {
		if (i == c->baseline)
			continue;
		each_site_difference(c, i, visit, arg);
		for (unsigned row = 0; row < COMPARE_LOAD_ROWS; row++)
			for (unsigned t = 0; t < c->n_tests; t++)
				if (load_difference(c, i, t, row, &d) && is_first(c, &d))
					visit(arg, &d);
	}
}
