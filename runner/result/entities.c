#include "result/entities.h"

#include <math.h>

static double ratio(double a, double b)
{
	return b > 0 ? a / b : (double)NAN;
}

struct entities entities_of(const struct test_result *tr)
{
	const struct table_result *table = &tr->table;
	double seconds = (double)tr->runtime_ns / NSEC_PER_SEC;
	double bytes = (double)(table->up_bytes + table->down_bytes);
	bool drops = table->strategy == STRATEGY_DROP_TABLE; /* they are removed later */
	double deleted = drops ? NAN : (double)table_deleted(table);

	return (struct entities){
	        .per_second = ratio(deleted, seconds),
	        .transactions_per_second = ratio((double)table->answered, seconds),
	        .bytes_per_second = ratio(bytes, seconds),
	        .bytes_per_entity = ratio(bytes, deleted),
	        .cpus = ratio(tr->usage.cpu_user_ns + tr->usage.cpu_system_ns,
	                      (double)tr->usage.span_ns),
	};
}
