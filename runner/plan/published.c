/*
 * A request that is larger than io_unit counts as several, so fewer of these are allowed;
 * bandwidth is bytes, whatever the requests.
 */
#include "plan/published.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/units.h"

const char *const published_scope_names[] = {[SCOPE_SUM] = "sum", [SCOPE_EACH] = "each", NULL};

static bool is_stated(double value)
{
	return value > 0 && isfinite(value);
}

static double step_value(const struct published_rule *rule, uint64_t capacity_bytes)
{
	for (unsigned i = 0; i < rule->n_steps; i++)
		if (capacity_bytes <= rule->steps[i].up_to)
			return rule->steps[i].value;
	return NAN;
}

double published_rule_value(const struct published_rule *rule, uint64_t capacity_bytes)
{
	if (rule->n_steps)
		return step_value(rule, capacity_bytes);
	if (!is_stated(rule->base))
		return NAN;

	double value = rule->base + rule->per_gib * ((double)capacity_bytes / (double)GIB);

	return is_stated(rule->max) ? fmin(value, rule->max) : value;
}

uint64_t published_count(const struct published *p, uint64_t request_bytes)
{
	if (!p->io_unit || request_bytes <= p->io_unit)
		return 1;
	return request_bytes / p->io_unit + (request_bytes % p->io_unit != 0);
}

struct published_limit published_limit(const struct published *p, enum published_figure figure,
                                       uint64_t request_bytes)
{
	bool is_bw = figure == PUBLISHED_BW;
	double base = is_bw ? p->mib_per_s : p->iops;
	double burst = is_bw ? p->burst_mib_per_s : p->burst_iops;
	double scale = is_bw ? (double)MIB : 1.0 / (double)published_count(p, request_bytes);
	struct published_limit none = {NAN, NAN};

	if (!p->source[0] || !is_stated(base))
		return none;
	return (struct published_limit){
	        .base = base * scale,
	        .burst = is_stated(burst) && burst > base ? burst * scale : NAN,
	};
}

uint64_t published_burst_ns(const struct published *p)
{
	double seconds = p->burst_credit / (p->burst_iops - p->iops);

	if (!is_stated(p->iops) || !is_stated(p->burst_credit) || !is_stated(seconds) ||
	    seconds >= (double)(UINT64_MAX / NSEC_PER_SEC))
		return 0;
	return (uint64_t)(seconds * (double)NSEC_PER_SEC);
}

char *published_format(enum published_figure figure, double value, char *out)
{
	const char *unit = figure == PUBLISHED_BW ? "MiB/s" : "IOPS";
	bool whole = value >= 1000 || value == floor(value);

	snprintf(out, UNITS_TEXT_MAX, "%.*f %s", whole ? 0 : 1, fmin(value, 1e18), unit);
	return out;
}

static void PRINTF_LIKE(2, 3) append(char *out, const char *fmt, ...)
{
	size_t used = strlen(out);
	va_list args;

	va_start(args, fmt);
	vsnprintf(out + used, PUBLISHED_TEXT_MAX - used, fmt, args);
	va_end(args);
}

static void append_figure(char *out, const char *name, enum published_figure figure, double value)
{
	char text[UNITS_TEXT_MAX];

	if (is_stated(value))
		append(out, "%s%s%s", *out ? ", " : "", name,
		       published_format(figure, value, text));
}

/* Only what is above the base, which alone is a burst. */
static void append_bursts(char *out, const struct published *p)
{
	if (!isnan(published_limit(p, PUBLISHED_IOPS, 1).burst))
		append_figure(out, "burst ", PUBLISHED_IOPS, p->burst_iops);
	if (!isnan(published_limit(p, PUBLISHED_BW, 1).burst))
		append_figure(out, "burst ", PUBLISHED_BW, p->burst_mib_per_s);
}

char *published_text(const struct published *p, char *out)
{
	char size[UNITS_TEXT_MAX];

	*out = '\0';
	if (!p->source[0]) {
		append(out, "no published limit");
		return out;
	}
	append_figure(out, "", PUBLISHED_IOPS, p->iops);
	append_figure(out, "", PUBLISHED_BW, p->mib_per_s);
	if (p->capacity_bytes)
		append(out, " for %s", units_format_size(p->capacity_bytes, size));
	append_bursts(out, p);
	append(out, ", reads and writes %s", p->scope == SCOPE_EACH ? "each" : "together");
	if (p->io_unit)
		append(out, ", a request above %s counts as several",
		       units_format_size(p->io_unit, size));
	append(out, " (%s)", p->source);
	return out;
}
