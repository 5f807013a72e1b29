/*
 * Kind table in the document of a result. Its two series stand as "read" (queries) and "write"
 * (transactions that delete), as those of other kinds do.
 */
#include <string.h>

#include "out/json_part.h"
#include "result/entities.h"

static bool has_rest(const void *object)
{
	const struct table_result *table = &((const struct test_result *)object)->table;

	return !table->complete && table->filled;
}

static void write_figure(struct emit *emit, const struct member *row, const void *object)
{
	struct entities e = entities_of(object);
	const struct {
		const char *name;
		double value;
	} figures[] = {
	        {"entities_per_second", e.per_second},
	        {"transactions_per_second", e.transactions_per_second},
	        {"bytes_per_second", e.bytes_per_second},
	        {"bytes_per_entity", e.bytes_per_entity},
	        {"client_cpus", e.cpus},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(figures); i++)
		if (!strcmp(row->name, figures[i].name))
			emit_double(emit, row->name, figures[i].value);
}

const struct member json_table_members[] = {
        {"host", TEXT_AT(struct test_result, table.host)},
        {"table", TEXT_AT(struct test_result, table.table), .required = true},
        {"strategy", CHOICE_AT(struct test_result, table.strategy, plan_strategy_names),
         .required = true},
        {"select", CHOICE_AT(struct test_result, table.select, plan_select_names)},
        {"partitions", UINT_AT(struct test_result, table.partitions), .required = true},
        {"entities", UINT_AT(struct test_result, table.entities), .required = true},
        {"entity_bytes", UINT_AT(struct test_result, table.entity_bytes)},
        {"cutoff", KNOWN_AT(struct test_result, table.cutoff)},
        {"concurrency", UINT_AT(struct test_result, table.concurrency)},
        {"batch", UINT_AT(struct test_result, table.batch)},
        {"filled", UINT_AT(struct test_result, table.filled)},
        {"fill_ns", UINT_AT(struct test_result, table.fill_ns)},
        {"found", UINT_AT(struct test_result, table.found)},
        {"deleted", UINT_AT(struct test_result, table.deleted)},
        {"confirmed", UINT_AT(struct test_result, table.confirmed)},
        {"gone", UINT_AT(struct test_result, table.gone)},
        {"complete", BOOL_AT(struct test_result, table.complete)},
        {"remaining_at_most", UINT_AT(struct test_result, table.remaining), .present = has_rest},
        {"answered", UINT_AT(struct test_result, table.answered)},
        {"throttled", UINT_AT(struct test_result, table.throttled)},
        {"failed", UINT_AT(struct test_result, table.failed)},
        {"unanswered", UINT_AT(struct test_result, table.unanswered)},
        {"retried", UINT_AT(struct test_result, table.retried)},
        {"backoff_ns", UINT_AT(struct test_result, table.backoff_ns)},
        {"up_bytes", UINT_AT(struct test_result, table.up_bytes)},
        {"down_bytes", UINT_AT(struct test_result, table.down_bytes)},
        {"wait_ns", UINT_AT(struct test_result, table.wait_ns)},
        {"receive_ns", UINT_AT(struct test_result, table.receive_ns)},
        {"entities_per_second", .write = write_figure},
        {"transactions_per_second", .write = write_figure},
        {"bytes_per_second", .write = write_figure},
        {"bytes_per_entity", .write = write_figure},
        {"client_cpus", .write = write_figure},
        {0},
};
