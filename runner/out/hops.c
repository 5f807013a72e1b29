/*
 * A chain as a drawing: the client on top, then for each hop a line of the way to it and one of
 * itself. All hops' own and network times add up to the total of a request.
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "out/summary.h"
#include "out/text.h"
#include "plan/chains.h"

#define TIME_MAX UNITS_TEXT_MAX
#define LINE_MAX 1024

void text_chains(const struct test *test, char *out, size_t size)
{
	const struct plan_chains *chains = test->chains;
	char text[UNITS_TEXT_MAX];

	text_append(out, size, "%u chain%s of ", chains->n, chains->n > 1 ? "s" : "");
	for (unsigned i = 0; i < chains->n; i++)
		text_append(out, size, "%s%u", i ? ", " : "", chains->chain[i].n_hops);
	text_append(out, size, " hops, ");
	if (test->requests)
		text_append(out, size, "%llu request%s each", (unsigned long long)test->requests,
		            test->requests > 1 ? "s" : "");
	else
		text_append(out, size, "%s", units_format_time(test->runtime_ns, text));
	if (test->requests_rate)
		text_append(out, size, ", %llu/s in all", (unsigned long long)test->requests_rate);
	if (test->pause_ns)
		text_append(out, size, ", %s between", units_format_time(test->pause_ns, text));
}

/* ---- figures ---- */

static const char *time_or_dash(bool known, uint64_t ns, char out[TIME_MAX])
{
	if (known)
		units_format_time(ns, out);
	else
		snprintf(out, TIME_MAX, "-");
	return out;
}

static void append_percentile(const struct hist *h, double percent, char *out, size_t size)
{
	char text[TIME_MAX];
	bool known = hist_percentile_carried(h, percent);

	text_append(out, size, ", p%g %s", percent,
	            time_or_dash(known, hist_percentile(h, percent), text));
}

/* "mean 1.2ms, min 1ms, p50 1.1ms, p99 -, max 3ms" */
static void append_hist(const struct hist *h, char *out, size_t size)
{
	char text[TIME_MAX];

	if (!h->count) {
		text_append(out, size, "no request");
		return;
	}
	text_append(out, size, "mean %s", units_format_time((uint64_t)llround(hist_mean(h)), text));
	text_append(out, size, ", min %s", units_format_time(h->min, text));
	append_percentile(h, 50, out, size);
	append_percentile(h, 99, out, size);
	text_append(out, size, ", max %s", units_format_time(h->max, text));
}

/* Means of the parts of a call, those that took any time. */
static void append_parts(const struct hop_result *hop, char *out, size_t size)
{
	char text[TIME_MAX];

	for (unsigned i = 0; i < HOPS_PARTS; i++)
		if (hop->part[i].sum)
			text_append(out, size, "%s%s %s", *out ? ", " : "", hops_part_names[i],
			            units_format_time(hops_range_mean(&hop->part[i]), text));
	if (hop->part[HOPS_WAIT].count)
		text_append(out, size, "%s%llu new connection%s", *out ? ", " : "",
		            (unsigned long long)hop->new_connections,
		            hop->new_connections == 1 ? "" : "s");
	else
		text_append(out, size, "its caller does not tell more");
}

/* ---- the drawing ---- */

static void write_hop(FILE *out, unsigned number, const struct hop_result *hop)
{
	char network[LINE_MAX] = "", own[LINE_MAX] = "", parts[LINE_MAX] = "";
	bool is_untold = hop->untold && hop->untold == hop->own.count;

	append_hist(&hop->network, network, sizeof(network));
	append_hist(&hop->own, own, sizeof(own));
	append_parts(hop, parts, sizeof(parts));
	fprintf(out, "      |  network  %s\n", network);
	if (hop->network.count)
		fprintf(out, "      |           of the call: %s\n", parts);
	fprintf(out, "    [%u] %s\n", number, or_unknown(hop->url));
	fprintf(out, "      |  own      %s\n",
	        is_untold ? "not told: in the network of the next" : own);
}

static void write_warmup(FILE *out, const struct chain_result *chain)
{
	char first[TIME_MAX], most[TIME_MAX];

	if (!chain->warmup.count && !chain->warmup_errors)
		return;
	fprintf(out, "    warm-up: %llu request%s (not measured), the first %s, max %s",
	        (unsigned long long)chain->warmup.count, chain->warmup.count == 1 ? "" : "s",
	        time_or_dash(chain->warmup_first_ns, chain->warmup_first_ns, first),
	        time_or_dash(chain->warmup.count, chain->warmup.max, most));
	if (chain->warmup_errors)
		fprintf(out, ", %llu failed", (unsigned long long)chain->warmup_errors);
	fputc('\n', out);
}

static void write_errors(FILE *out, const struct chain_result *chain)
{
	const char *separator = "";

	if (!chain_errors(chain) && !chain->warmup_errors)
		return;
	fputs("    errors: ", out);
	for (unsigned i = 0; i < HOPS_ERRORS; i++) {
		if (!chain->errors[i])
			continue;
		fprintf(out, "%s%s %llu", separator, hops_error_names[i],
		        (unsigned long long)chain->errors[i]);
		separator = ", ";
	}
	fprintf(out, "%sthe first: %s\n", *separator ? "; " : "", or_unknown(chain->error));
}

static void write_remarks(FILE *out, const struct chain_result *chain)
{
	char late[LINE_MAX] = "";

	append_hist(&chain->late, late, sizeof(late));
	if (chain->late.count)
		fprintf(out, "    sent late: %s\n", late);
	if (chain->unsent)
		fprintf(out, "    unsent: %llu requests were due and not sent\n",
		        (unsigned long long)chain->unsent);
	if (chain->rounded)
		fprintf(out,
		        "    rounded: %llu times a hop says that it took longer than was waited "
		        "for "
		        "it\n",
		        (unsigned long long)chain->rounded);
}

static void write_chain(FILE *out, const struct chain_result *chain)
{
	char total[LINE_MAX] = "";

	append_hist(&chain->total, total, sizeof(total));
	fprintf(out, "  %s: %llu request%s: %s\n", chain->name,
	        (unsigned long long)chain->total.count, chain->total.count == 1 ? "" : "s", total);
	write_warmup(out, chain);
	write_remarks(out, chain);
	write_errors(out, chain);
	fputs("    client\n", out);
	for (unsigned i = 0; i < chain->n_hops; i++)
		write_hop(out, i + 1, &chain->hops[i]);
}

void hops_write(FILE *out, const struct result *result)
{
	for (unsigned i = 0; i < result->n_tests; i++) {
		const struct test_result *tr = &result->tests[i];

		if (!tr->hops.n_chains)
			continue;
		fprintf(out, "hops: %s\n", tr->name);
		for (unsigned c = 0; c < tr->hops.n_chains; c++)
			write_chain(out, &tr->hops.chains[c]);
	}
}

void hops_headline(const struct hops_result *hops, char *out, size_t size)
{
	for (unsigned i = 0; i < hops->n_chains; i++) {
		const struct chain_result *chain = &hops->chains[i];

		text_append(out, size, "%s%s %llu request%s, ", *out ? "; " : "", chain->name,
		            (unsigned long long)chain->total.count,
		            chain->total.count == 1 ? "" : "s");
		append_hist(&chain->total, out, size);
		if (chain_errors(chain))
			text_append(out, size, ", %llu failed",
			            (unsigned long long)chain_errors(chain));
	}
}
