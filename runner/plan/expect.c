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

/* What stands before the value, and where the value begins. */
struct head {
	const char *value; /* after a failure: where it is wrong */
	char measure[WORD_MAX];
	int op;
};

static int read_head(struct head *head, const char *text, struct err *err)
{
	const char *p = skip_spaces(text);

	head->value = p;
	if (strlen(text) >= EXPECT_TEXT_MAX)
		return err_set(err, ERR_PLAN, "'%.32s...' is longer than %d bytes", text,
		               EXPECT_TEXT_MAX - 1);
	head->value = take_word(p, head->measure);
	p = take_operator(head->value, &head->op);
	if (!p)
		return err_set(err, ERR_PLAN,
		               "'%s' compares nothing (by >=, <=, >, < or ==, such as read.p99 <= "
		               "5ms)",
		               text);
	if (head->measure[0])
		head->value = p;
	if (!head->measure[0] || !*p || strchr("<>=!", *p))
		return err_set(err, ERR_PLAN, "'%s' lacks %s (such as read.p99 <= 5ms)", text,
		               head->measure[0] ? "a value to compare with" : "what is compared");
	return 0;
}

/* *at is where text is wrong. */
static int parse(struct expect *expect, const char *text, const char **at, struct err *err)
{
	struct expect e = {0};
	struct head head;
	char value[WORD_MAX];
	int ret = read_head(&head, text, err);

	*at = head.value;
	if (ret)
		return -1;
	*at = take_word(head.value, value);
	if (**at)
		return err_set(err, ERR_PLAN, "'%s' has more than one value: '%s'", text, *at);
	*at = skip_spaces(text);
	e.op = head.op;
	if (parse_measure(&e, head.measure, err))
		return -1;
	*at = head.value;
	if (parse_value(&e, value, err))
		return -1;
	snprintf(e.text, sizeof(e.text), "%s", text);
	*expect = e;
	return 0;
}

int expect_parse(struct expect *expect, const char *text, struct err *err)
{
	const char *at;

	return parse(expect, text, &at, err);
}

/* ---- of a named test ---- */

#define BESIDE_EXAMPLE "(such as read-iops.read.iops < 0.9 * baseline)"

/* "baseline" or "0.9 * baseline"; 1: neither of them, -1: the number is none. */
static int parse_factor(const char *text, double *factor, struct err *err)
{
	char number[WORD_MAX];
	size_t length = strcspn(text, "*");
	const char *word = skip_spaces(text + length + (text[length] == '*'));

	*factor = 1;
	if (!text[length])
		word = text;
	if (strncmp(word, "baseline", 8) != 0 || *skip_spaces(word + 8))
		return 1;
	if (!text[length])
		return 0;
	while (length && strchr(" \t", text[length - 1]))
		length--;
	snprintf(number, sizeof(number), "%.*s", (int)length, text);
	if (units_parse_decimal(number, factor) && *factor > 0)
		return 0;
	return err_set(err, ERR_PLAN, "'%s' is no number above 0 " BESIDE_EXAMPLE, number);
}

/* With a baseline the value is a number of its own: read it as any that the measure can have. */
static int parse_compared(struct expect_beside *b, const char *text, const char **at,
                          struct err *err)
{
	char with_value[EXPECT_TEXT_MAX];
	struct head head;
	int ret = read_head(&head, text, err);

	*at = head.value;
	if (ret)
		return -1;
	ret = parse_factor(head.value, &b->factor, err);
	if (ret < 0)
		return -1;
	if (ret) {
		b->factor = 0;
		return parse(&b->expect, text, at, err);
	}
	snprintf(with_value, sizeof(with_value), "%.*s1", (int)(head.value - text), text);
	if (parse(&b->expect, with_value, at, err)) {
		*at = text + (*at - with_value);
		return -1;
	}
	snprintf(b->expect.text, sizeof(b->expect.text), "%s", text);
	return 0;
}

static bool begins_measure(const char *text)
{
	char word[EXPECT_TEXT_MAX];
	int value;

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, ". \t<>=!"), text);
	return find_word(subjects, word, &value);
}

/* The length of the name at its beginning; 0: there is none. */
static size_t name_length(const char *text)
{
	size_t length = strcspn(text, ". \t<>=!");

	if (text[length] != '.' || (begins_measure(text) && !begins_measure(text + length + 1)))
		return 0;
	return length;
}

int expect_parse_beside(struct expect_beside *beside, const char *text, unsigned *column,
                        struct err *err)
{
	const char *begin = skip_spaces(text), *at = begin;
	size_t length = name_length(begin);
	struct expect_beside b = {0};
	int ret = -1;

	snprintf(b.test, sizeof(b.test), "%.*s", (int)length, begin);
	if (!length)
		err_set(err, ERR_PLAN, "'%s' names no test " BESIDE_EXAMPLE, text);
	else if (length >= sizeof(b.test))
		err_set(err, ERR_PLAN, "the test's name is longer than %zu bytes",
		        sizeof(b.test) - 1);
	else
		ret = parse_compared(&b, begin + length + 1, &at, err);
	*column = (unsigned)(at - text) + 1;
	if (!ret)
		*beside = b;
	return ret;
}
