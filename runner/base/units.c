/*
 * One decimal parser serves sizes, times and counts: digits, a fraction, a
 * suffix from a table. The fraction is kept as a whole number over a power of
 * ten, so that 0.1s is exactly 100 000 000 ns and 0.3B is refused; no floating
 * point takes part.
 */
#include "base/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define FRACTION_DIGITS_MAX 18 /* 10^18 still fits 64 bits */

struct suffix {
	const char *text;
	uint64_t factor;
};

#define TIB (KIB * GIB)
#define PIB (MIB * GIB)

#define KB 1000ull
#define MB (KB * KB)
#define GB (KB * MB)
#define TB (MB * MB)
#define PB (MB * GB)

static const struct suffix size_suffixes[] = {
        {"", 1},      {"b", 1},    {"k", KIB},   {"ki", KIB}, {"kib", KIB}, {"kb", KB},
        {"m", MIB},   {"mi", MIB}, {"mib", MIB}, {"mb", MB},  {"g", GIB},   {"gi", GIB},
        {"gib", GIB}, {"gb", GB},  {"t", TIB},   {"ti", TIB}, {"tib", TIB}, {"tb", TB},
        {"p", PIB},   {"pi", PIB}, {"pib", PIB}, {"pb", PB},  {NULL, 0},
};

static const struct suffix time_suffixes[] = {
        {"", NSEC_PER_SEC},         {"ns", 1},           {"us", NSEC_PER_USEC},
        {"ms", NSEC_PER_MSEC},      {"s", NSEC_PER_SEC}, {"m", 60 * NSEC_PER_SEC},
        {"h", 3600 * NSEC_PER_SEC}, {NULL, 0},
};

static const struct suffix count_suffixes[] = {
        {"", 1}, {"k", KB}, {"m", MB}, {"g", GB}, {NULL, 0},
};

struct decimal {
	uint64_t whole;
	uint64_t fraction; /* of `scale` */
	uint64_t scale;    /* a power of ten */
};

/* Digits with an optional fraction; the rest of the text, or NULL when there is no such number. */
static const char *parse_decimal(const char *text, struct decimal *d)
{
	const char *p = text;
	unsigned digits = 0;

	*d = (struct decimal){.scale = 1};
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(d->whole, 10, &d->whole) ||
		    __builtin_add_overflow(d->whole, (uint64_t)(*p - '0'), &d->whole))
			return NULL;
	if (p == text)
		return NULL;
	if (*p != '.')
		return p;
	for (p++; isdigit((unsigned char)*p); p++, digits++) {
		if (digits == FRACTION_DIGITS_MAX)
			return NULL;
		d->fraction = d->fraction * 10 + (uint64_t)(*p - '0');
		d->scale *= 10;
	}
	return digits ? p : NULL;
}

/* d times factor, if that is a whole number which fits. */
static bool scale_decimal(const struct decimal *d, uint64_t factor, uint64_t *value)
{
	uint64_t common = greatest_common_divisor(factor, d->scale);
	uint64_t part = d->scale / common;

	if (d->fraction % part)
		return false;
	/* fraction < scale, so this product is below factor */
	uint64_t low = d->fraction / part * (factor / common);

	return !__builtin_mul_overflow(d->whole, factor, value) &&
	       !__builtin_add_overflow(*value, low, value);
}

static bool parse(const char *text, const struct suffix *suffixes, uint64_t *value)
{
	struct decimal d;
	const char *rest = parse_decimal(text, &d);

	if (!rest)
		return false;
	for (const struct suffix *s = suffixes; s->text; s++)
		if (!strcasecmp(rest, s->text))
			return scale_decimal(&d, s->factor, value);
	return false;
}

int units_parse_size(const char *text, uint64_t *bytes, struct err *err)
{
	uint64_t value;

	if (!parse(text, size_suffixes, &value))
		return err_set(err, ERR_PLAN, "'%s' is not a size", text);
	*bytes = value;
	return 0;
}

int units_parse_time(const char *text, uint64_t *ns, struct err *err)
{
	uint64_t value;

	if (!parse(text, time_suffixes, &value))
		return err_set(err, ERR_PLAN, "'%s' is not a time", text);
	*ns = value;
	return 0;
}

int units_parse_count(const char *text, uint64_t *n, struct err *err)
{
	uint64_t value;

	if (!parse(text, count_suffixes, &value))
		return err_set(err, ERR_PLAN, "'%s' is not a whole number", text);
	*n = value;
	return 0;
}

bool units_parse_decimal(const char *text, double *value)
{
	char *end;

	if (!isdigit((unsigned char)*text) || strspn(text, "0123456789.") != strlen(text))
		return false;
	*value = strtod(text, &end);
	return !*end;
}

/*
 * fio 3.33's num2str for four digits. Digits are kept up to 9999; beyond, the number is
 * divided until it fits and as many decimals are added as leave three digits. Both
 * rounding rules and their odd cases (99999 is "100.0k") are fio's, so that equal
 * measurements print equal text.
 */
static char *format_as_fio(uint64_t value, unsigned thousand, const char *const *prefixes,
                           const char *unit, char *out)
{
	unsigned index = 0, rest = 0;
	uint64_t number = value;

	while (number > 9999) {
		rest = (unsigned)(number % thousand);
		number /= thousand;
		index++;
	}
	int decimals = number > 99 ? 0 : number > 9 ? 1 : 2;

	if (!index || !decimals) {
		number += rest >= thousand / 2;
		snprintf(out, UNITS_TEXT_MAX, "%" PRIu64 "%s%s", number, prefixes[index], unit);
		return out;
	}
	char fraction[8];

	snprintf(fraction, sizeof(fraction), "%.*f", decimals, (double)rest / thousand);
	number += fraction[0] == '1';
	snprintf(out, UNITS_TEXT_MAX, "%" PRIu64 ".%s%s%s", number, fraction + 2, prefixes[index],
	         unit);
	return out;
}

/* fio counts in whole numbers and cuts off what is beyond the point. */
static uint64_t whole_part(double value)
{
	if (!(value >= 1))
		return 0;
	return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

char *units_format_iops(double iops, char *out)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};

	return format_as_fio(whole_part(iops), 1000, prefixes, "", out);
}

char *units_format_bw(double bytes_per_second, char *out)
{
	static const char *const prefixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

	return format_as_fio(whole_part(bytes_per_second), 1024, prefixes, "B/s", out);
}

/* Three digits, without zeros at the end of a fraction. */
static char *format_three_digits(double value, const char *unit, char *out)
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	int n = snprintf(out, UNITS_TEXT_MAX, "%.*f", decimals, value);

	if (strchr(out, '.')) {
		while (out[n - 1] == '0')
			n--;
		if (out[n - 1] == '.')
			n--;
	}
	snprintf(out + n, UNITS_TEXT_MAX - (size_t)n, "%s", unit);
	return out;
}

char *units_format_size(uint64_t bytes, char *out)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	unsigned index = 0;
	double value = (double)bytes;

	/* 1023.5 would round to four digits that are the next unit's 1 */
	while (value >= (index ? 1023.5 : 1024) && index + 1 < ARRAY_SIZE(units)) {
		value /= 1024;
		index++;
	}
	return format_three_digits(value, units[index], out);
}

char *units_format_time(uint64_t ns, char *out)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	uint64_t seconds = ns / NSEC_PER_SEC + (ns % NSEC_PER_SEC >= NSEC_PER_SEC / 2);
	unsigned index = 0;
	double value = (double)ns;

	if (seconds >= 3600) {
		uint64_t minutes = (seconds + 30) / 60;

		snprintf(out, UNITS_TEXT_MAX, "%" PRIu64 "h%02" PRIu64 "m", minutes / 60,
		         minutes % 60);
		return out;
	}
	if (seconds >= 60) {
		snprintf(out, UNITS_TEXT_MAX, "%" PRIu64 "m%02" PRIu64 "s", seconds / 60,
		         seconds % 60);
		return out;
	}
	while (value >= 999.5 && index + 1 < ARRAY_SIZE(units)) {
		value /= 1000;
		index++;
	}
	return format_three_digits(value, units[index], out);
}
