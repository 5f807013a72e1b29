/*
 * Mean, deviation and interval of confidence of tests that were repeated.
 */
#include <math.h>

#include "base/units.h"
#include "out/summary.h"
#include "out/text.h"
#include "result/repeats.h"

static const char *value_text(const struct repeats_figure *figure, double value, char *out)
{
	value = fmax(value, 0);
	switch (figure->unit) {
	case REPEATS_RATE:
		return text_rate(value, out);
	case REPEATS_BW:
		return units_format_bw(value, out);
	default:
		return units_format_time((uint64_t)llround(value), out);
	}
}

static void write_figure(FILE *out, const struct repeats_figure *figure,
                         const struct spread *spread)
{
	char mean[UNITS_TEXT_MAX], low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];

	fprintf(out, "  %-10s  %9s  %7.1f %%  %9s to %s\n", figure->name,
	        value_text(figure, spread->mean, mean),
	        spread->mean > 0 ? 100 * spread->stddev / spread->mean : 0,
	        value_text(figure, spread->mean - spread->margin, low),
	        value_text(figure, spread->mean + spread->margin, high));
}

static void write_repeated(FILE *out, const struct repeats *repeats)
{
	const struct plan_repeat *first = &repeats->runs[0]->repeat;

	fprintf(out, "repeats: %s: %u of %llu runs\n", first->of, repeats->n,
	        (unsigned long long)first->count);
	fputs("  figure           mean  deviation  95 % interval of the mean\n", out);
	for (const struct repeats_figure *figure = repeats_figures; figure->name; figure++) {
		struct spread spread;

		if (repeats_spread(repeats, figure, &spread))
			write_figure(out, figure, &spread);
	}
}

void repeats_write(FILE *out, const struct result *result)
{
	struct repeats repeats;

	for (unsigned i = 0; i < result->n_tests; i++)
		if (repeats_at(&repeats, result, i))
			write_repeated(out, &repeats);
}
