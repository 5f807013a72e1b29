/*
 * Kind table in words: a paragraph for each test.
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "out/summary.h"
#include "out/text.h"
#include "result/entities.h"

#define COST_PER 1e6 /* transactions, as they are priced */

static unsigned long long ull(uint64_t n)
{
	return n;
}

void text_deletion(const struct test *test, char *out, size_t size)
{
	const struct plan_table *plan = &test->table;
	char bytes[UNITS_TEXT_MAX];

	if (plan->fill)
		text_append(out, size, "insert %llu x %llu entities of %s, then ",
		            ull(plan->partitions), ull(plan->entities),
		            text_size(plan->entity_bytes, bytes));
	if (plan->strategy == STRATEGY_DROP_TABLE) {
		text_append(out, size, "drop table '%s'", plan->name);
		return;
	}
	text_append(out, size, "delete %llu x %llu of '%s', ", ull(plan->partitions),
	            ull(plan_table_share(plan)), plan->name);
	if (plan->strategy == STRATEGY_BATCH)
		text_append(out, size, "%llu a transaction, ", ull(plan->batch));
	else
		text_append(out, size, "one by one, ");
	text_append(out, size, "%llu partitions at a time", ull(plan->concurrency));
}

void entities_headline(const struct test_result *tr, char *out, size_t size)
{
	const struct table_result *table = &tr->table;
	struct entities e = entities_of(tr);
	char time[UNITS_TEXT_MAX], bw[UNITS_TEXT_MAX];

	if (!tr->stats)
		return;
	text_append(out, size, "%sdeleted %llu entities in %s", *out ? "; " : "",
	            ull(table_deleted(table)), units_format_time(tr->runtime_ns, time));
	if (table->strategy == STRATEGY_DROP_TABLE)
		text_append(out, size, ", which the service removes later");
	else if (!isnan(e.per_second))
		text_append(out, size, ": %.0f entities/s, %.4g transactions/s, %s", e.per_second,
		            e.transactions_per_second, units_format_bw(e.bytes_per_second, bw));
	if (!isnan(e.bytes_per_entity))
		text_append(out, size, ", %.0f bytes an entity", e.bytes_per_entity);
	if (table->throttled)
		text_append(out, size, ", throttled %llu", ull(table->throttled));
}

/* ---- the paragraph ---- */

static void write_latency(FILE *out, const char *what, const struct hist *h)
{
	static const double percents[] = {50, 95, 99};
	char text[UNITS_TEXT_MAX];

	if (!h->count)
		return;
	fprintf(out, "    %-12s %llu", what, ull(h->count));
	for (unsigned i = 0; i < ARRAY_SIZE(percents); i++)
		if (hist_percentile_carried(h, percents[i]))
			fprintf(out, ", p%.0f %s", percents[i],
			        units_format_time(hist_percentile(h, percents[i]), text));
	fprintf(out, ", max %s\n", units_format_time(h->max, text));
}

static void write_requests(FILE *out, const struct table_result *table)
{
	char time[UNITS_TEXT_MAX] = "0s";

	if (table->backoff_ns)
		units_format_time(table->backoff_ns, time);
	fprintf(out,
	        "    %-12s %llu answered, %llu throttled, %llu failed, %llu without an answer, "
	        "%llu sent again after %s of waiting (all threads added up)\n",
	        "requests", ull(table->answered), ull(table->throttled), ull(table->failed),
	        ull(table->unanswered), ull(table->retried), time);
}

static void write_rest(FILE *out, const struct table_result *table)
{
	fprintf(out,
	        "    %-12s %llu found, %llu deleted, %llu of them seen only later, %llu gone "
	        "by another hand, ",
	        "entities", ull(table->found), ull(table_deleted(table)), ull(table->confirmed),
	        ull(table->gone));
	if (table->complete)
		fputs("none remains\n", out);
	else if (table->filled)
		fprintf(out, "at most %llu remain\n", ull(table->remaining));
	else
		fputs("how many remain is not known\n", out);
}

static void write_cost(FILE *out, const struct test_result *tr)
{
	const struct table_result *table = &tr->table;
	uint64_t deleted = table_deleted(table);
	struct entities e = entities_of(tr);

	if (!isnan(e.cpus))
		fprintf(out, "    %-12s %.3g CPUs\n", "client", e.cpus);
	if (deleted && table->strategy != STRATEGY_DROP_TABLE)
		fprintf(out, "    %-12s %.4g transactions for a million entities\n", "price",
		        (double)table->answered / (double)deleted * COST_PER);
}

static void write_test(FILE *out, const struct test_result *tr)
{
	char headline[REMARK_MAX];

	text_headline(tr, headline, sizeof(headline));
	fprintf(out, "  %s  %s  %s\n", tr->name, plan_strategy_names[tr->table.strategy], headline);
	if (!tr->stats)
		return;
	write_latency(out, "queries", &tr->stats->op[STATS_READ].latency);
	write_latency(out, "deletions", &tr->stats->op[STATS_WRITE].latency);
	write_requests(out, &tr->table);
	write_rest(out, &tr->table);
	write_cost(out, tr);
}

void entities_write(FILE *out, const struct result *result)
{
	bool any = false;

	for (unsigned i = 0; i < result->n_tests; i++) {
		if (!result_is_table(&result->tests[i]))
			continue;
		if (!any)
			fputs("table storage:\n", out);
		any = true;
		write_test(out, &result->tests[i]);
	}
}
