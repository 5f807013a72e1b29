/*
 * What limited a deletion in Azure Table storage.
 */
#include <math.h>

#include "base/units.h"
#include "result/entities.h"
#include "result/verdict_part.h"

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

static bool judge_cpu(struct test_result *tr, const struct conditions *conditions)
{
	double cpus = entities_of(tr).cpus, share = ratio(cpus, conditions->cpus);

	if (!(share >= VERDICT_CLIENT_BUSY))
		return false;
	verdict_add(tr, "cpu", share,
	            "pvcbench used %.3g of %.3g CPUs: more CPU (component more-cpu)", cpus,
	            conditions->cpus);
	return true;
}

/* What is above it by more is not limited by it. */
static bool is_about(double rate, double limit)
{
	return rate >= VERDICT_LIMITED * limit && rate <= VERDICT_ABOVE * limit;
}

static bool judge_account(struct test_result *tr)
{
	double rate = entities_of(tr).transactions_per_second;

	if (!is_about(rate, VERDICT_ACCOUNT_PER_SECOND))
		return false;
	verdict_add(tr, "account-limit", rate / VERDICT_ACCOUNT_PER_SECOND,
	            "%.0f transactions/s, and a storage account may have %.0f: larger batches, or "
	            "several accounts",
	            rate, VERDICT_ACCOUNT_PER_SECOND);
	return true;
}

static bool judge_partition(struct test_result *tr)
{
	const struct table_result *table = &tr->table;
	double at_a_time = (double)min_u64(table->concurrency, table->partitions);
	double rate = ratio(entities_of(tr).per_second, at_a_time);

	if (table->strategy == STRATEGY_DROP_TABLE || !is_about(rate, VERDICT_PARTITION_PER_SECOND))
		return false;
	verdict_add(
	        tr, "partition-limit", rate / VERDICT_PARTITION_PER_SECOND,
	        "%.0f entities/s of each of %.0f partitions at a time, and a partition may have "
	        "%.0f: more partitions at a time (concurrency)",
	        rate, at_a_time, VERDICT_PARTITION_PER_SECOND);
	return true;
}

static bool judge_service(struct test_result *tr)
{
	const struct table_result *table = &tr->table;
	double share = ratio((double)table->throttled, (double)table->answered);
	char waited[UNITS_TEXT_MAX];

	if (share < VERDICT_SERVICE_THROTTLED)
		return false;
	verdict_add(tr, "service", share,
	            "the service throttled %llu of %llu transactions, and %s of waiting in all "
	            "threads went by before they were sent again",
	            (unsigned long long)table->throttled, (unsigned long long)table->answered,
	            units_format_time(table->backoff_ns, waited));
	return true;
}

static bool judge_network(struct test_result *tr)
{
	const struct table_result *table = &tr->table;
	double share = ratio((double)table->receive_ns,
	                     (double)table->receive_ns + (double)table->wait_ns);
	double each = ratio((double)table->down_bytes, (double)table->answered);
	char size[UNITS_TEXT_MAX];

	if (share < VERDICT_NETWORK || each < VERDICT_NETWORK_ANSWER)
		return false;
	verdict_add(tr, "network", share,
	            "answers, of %s each, arrived for %.3g %% of the time that they took, and were "
	            "waited for in the rest: less to fetch (select: keys), or a faster way",
	            units_format_size((uint64_t)each, size), 100 * share);
	return true;
}

static void judge_concurrency(struct test_result *tr)
{
	const struct table_result *table = &tr->table;
	uint64_t threads = min_u64(table->concurrency, table->partitions);
	double share = ratio((double)table->wait_ns, (double)threads * (double)tr->runtime_ns);
	char each[UNITS_TEXT_MAX];

	if (table->strategy == STRATEGY_DROP_TABLE || share < VERDICT_WAITED)
		return;
	verdict_add(
	        tr, "concurrency", share,
	        "%llu threads waited for the service %.3g %% of the time, %s for each answer, and "
	        "it throttled hardly any: more partitions at a time (concurrency) may give more",
	        (unsigned long long)threads, 100 * share,
	        units_format_time(table->wait_ns / max_u64(1, table->answered), each));
}

void verdict_judge_table(struct test_result *tr, const struct conditions *conditions)
{
	if (tr->status == STATUS_FAILED)
		return;
	verdict_judge_quota(tr);
	if (!judge_cpu(tr, conditions) && !judge_account(tr) && !judge_partition(tr) &&
	    !judge_service(tr) && !judge_network(tr) && !verdict_has(tr, "cpu-quota"))
		judge_concurrency(tr);
}
