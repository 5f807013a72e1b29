/*
 * An expression is read from left to right: a measure is a subject and a metric
 * from tables, a comparison is the longest operator that fits, and what kind of
 * value may follow depends on the metric.
 */
#include "plan/expect.h"

#include <string.h>

#include "base/units.h"

#define WORD_MAX EXPECT_TEXT_MAX

struct word {
	const char *text;
	int value;
};

static const struct word subjects[] = {
        {"read", EXPECT_READ},     {"write", EXPECT_WRITE}, {"sync", EXPECT_SYNC},
        {"errors", EXPECT_ERRORS}, {"stall", EXPECT_STALL}, {NULL, 0},
};

static const struct word metrics[] = {
        {"iops", METRIC_IOPS},
        {"bw", METRIC_BW},
        {"mean", METRIC_MEAN},
        {"min", METRIC_MIN},
        {"max", METRIC_MAX},
        {"stddev", METRIC_STDDEV},
        {NULL, 0},
};

/* Longer ones first. */
static const struct word operators[] = {
        {">=", OP_GE}, {"<=", OP_LE}, {"==", OP_EQ}, {">", OP_GT}, {"<", OP_LT}, {NULL, 0},
};

static bool find_word(const struct word *words, const char *text, int *value)
{
	for (; words->text; words++) {
		if (!strcmp(words->text, text)) {
			*value = words->value;
			return true;
		}
	}
	return false;
}

/* "99.9" of "p99.9". */
static bool parse_percentile(const char *text, double *percentile)
{
	return units_parse_decimal(text, percentile) && *percentile > 0 && *percentile <= 100;
}

static int parse_metric(struct expect *expect, const char *metric, struct err *err)
{
	if (find_word(metrics, metric, &expect->metric))
		return 0;
	expect->metric = METRIC_PERCENTILE;
	if (metric[0] == 'p' && parse_percentile(metric + 1, &expect->percentile))
		return 0;
	return err_set(err, ERR_PLAN,
	               "'%s' is not measured (known: iops, bw, mean, min, max, stddev, p50, p99, "
	               "p99.9 and the like)",
	               metric);
}

/* "read.p99" or "errors". */
static int parse_measure(struct expect *expect, char *measure, struct err *err)
{
	char *point = strchr(measure, '.');

	if (point)
		*point = '\0';
	if (!find_word(subjects, measure, &expect->subject))
		return err_set(err, ERR_PLAN,
		               "'%s' is not measured (known: read, write, sync, errors, stall)",
		               measure);
	bool has_metric = expect->subject <= EXPECT_SYNC;

	if (has_metric && !point)
		return err_set(err, ERR_PLAN, "'%s' of what (such as %s.iops, %s.p99)", measure,
		               measure, measure);
	if (!has_metric && point)
		return err_set(err, ERR_PLAN, "'%s' stands alone, without '.%s'", measure,
		               point + 1);
	if (has_metric && parse_metric(expect, point + 1, err))
		return -1;
	if (expect->subject == EXPECT_SYNC && expect->metric == METRIC_BW)
		return err_set(err, ERR_PLAN,
		               "a sync moves no bytes of its own (such as write.bw, sync.p99)");
	if (has_metric)
		return 0;
	expect->metric = expect->subject == EXPECT_STALL ? METRIC_MAX : METRIC_COUNT;
	return 0;
}

/* A size a second; the "/s" may be left out. */
static int parse_bandwidth(const char *text, uint64_t *value, struct err *err)
{
	char bytes[WORD_MAX];
	size_t length = strlen(text);

	if (length > 2 && !strcmp(text + length - 2, "/s"))
		length -= 2;
	snprintf(bytes, sizeof(bytes), "%.*s", (int)length, text);
	if (units_parse_size(bytes, value, err))
		return err_set(err, ERR_PLAN, "'%s' is not a bandwidth (such as 300MiB/s)", text);
	return 0;
}

static int parse_time(const char *text, uint64_t *value, struct err *err)
{
	if (units_parse_time(text, value, err))
		return err_append(err, " (such as 5ms, 800us, 1s)");
	return 0;
}

static int parse_count(const char *text, uint64_t *value, struct err *err)
{
	if (units_parse_count(text, value, err))
		return err_append(err, " (such as 20000, 20k)");
	return 0;
}

static int parse_value(struct expect *expect, const char *text, struct err *err)
{
	uint64_t value;
	int ret;

	if (expect->metric == METRIC_BW)
		ret = parse_bandwidth(text, &value, err);
	else if (expect->metric == METRIC_IOPS || expect->metric == METRIC_COUNT)
		ret = parse_count(text, &value, err);
	else
		ret = parse_time(text, &value, err);
	if (!ret)
		expect->value = (double)value;
	return ret;
}

static const char *skip_spaces(const char *text)
{
	return text + strspn(text, " \t");
}

/* The next run of characters that are in no operator and no space, into word. */
static const char *take_word(const char *text, char *word)
{
	size_t length = strcspn(text, " \t<>=!");

	snprintf(word, WORD_MAX, "%.*s", (int)length, text);
	return skip_spaces(text + length);
}

static const char *take_operator(const char *text, int *op)
{
	for (const struct word *o = operators; o->text; o++) {
		if (!strncmp(text, o->text, strlen(o->text))) {
			*op = o->value;
			return skip_spaces(text + strlen(o->text));
		}
	}
	return NULL;
}

int expect_parse(struct expect *expect, const char *text, struct err *err)
{
	struct expect e = {0};
	char measure[WORD_MAX], value[WORD_MAX];

	if (strlen(text) >= sizeof(e.text))
		return err_set(err, ERR_PLAN, "'%.32s...' is longer than %zu bytes", text,
		               sizeof(e.text) - 1);
	const char *p = take_word(skip_spaces(text), measure);

	p = take_operator(p, &e.op);
	if (!p)
		return err_set(err, ERR_PLAN,
		               "'%s' compares nothing (by >=, <=, >, < or ==, such as read.p99 <= "
		               "5ms)",
		               text);
	p = take_word(p, value);
	if (!measure[0] || !value[0])
		return err_set(err, ERR_PLAN, "'%s' lacks %s (such as read.p99 <= 5ms)", text,
		               measure[0] ? "a value to compare with" : "what is compared");
	if (*p)
		return err_set(err, ERR_PLAN, "'%s' has more than one value: '%s'", text, p);
	if (parse_measure(&e, measure, err) || parse_value(&e, value, err))
		return -1;
	snprintf(e.text, sizeof(e.text), "%s", text);
	*expect = e;
	return 0;
}
