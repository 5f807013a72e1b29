/*
 * What a search did, step by step, under what came of it.
 */
#include <string.h>

#include "base/units.h"
#include "out/summary.h"
#include "out/text.h"

static void rate_text(const struct search_step *step, char out[UNITS_TEXT_MAX])
{
	if (step->rate_iops)
		snprintf(out, UNITS_TEXT_MAX, "%llu", (unsigned long long)step->rate_iops);
	else
		snprintf(out, UNITS_TEXT_MAX, "closed loop");
}

static void write_step(FILE *out, const struct search *search, unsigned i)
{
	const struct search_step *step = &search->steps[i];
	char rate[UNITS_TEXT_MAX], iops[UNITS_TEXT_MAX], latency[UNITS_TEXT_MAX] = "-",
	                                                 window[UNITS_TEXT_MAX] = "-";

	rate_text(step, rate);
	if (step->latency_ns)
		units_format_time(step->latency_ns, latency);
	if (step->runtime_ns)
		units_format_time(step->runtime_ns, window);
	fprintf(out, "  %4u  %11s  %8s  %8s  %8s  %s%s\n", i + 1, rate,
	        text_rate(search_step_iops(step), iops), latency, window,
	        search_judgements[step->judgement], step->confirms ? " (confirms)" : "");
}

static void write_search(FILE *out, const struct test_result *tr)
{
	const struct search *search = &tr->search;
	char text[SEARCH_TEXT_MAX], name[UNITS_TEXT_MAX];

	fprintf(out, "search: %s: %s\n", tr->name, search_text(search, text));
	if (!search->n_steps)
		return;
	snprintf(name, sizeof(name), "p%g", search->percentile);
	fprintf(out, "  step         rate      IOPS  %8s    window\n", name);
	for (unsigned i = 0; i < search->n_steps; i++)
		write_step(out, search, i);
}

void searches_write(FILE *out, const struct result *result)
{
	for (unsigned i = 0; i < result->n_tests; i++)
		if (result->tests[i].search.target_ns)
			write_search(out, &result->tests[i]);
}
