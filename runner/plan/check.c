/*
 * What contradicts itself within a test: a rule is a condition that breaks it and a text.
 */
#include <string.h>

#include "plan/plan.h"

static bool has_two_rates(const struct test *test)
{
	return test->rate && test->rate_iops;
}

static bool pauses_with_rate(const struct test *test)
{
	return test->thinktime_ns && (test->rate || test->rate_iops);
}

static bool has_two_amounts(const struct test *test)
{
	return test->loops && test->io_size;
}

static bool is_smaller_than_block(const struct test *test)
{
	return test->size.unit == SIZE_BYTES && test->size.value < test->bs;
}

static bool does_less_than_block(const struct test *test)
{
	return test->io_size && test->io_size < test->bs;
}

static bool splits_named_file(const struct test *test)
{
	return test->filename[0] && test->file_per_job;
}

/* A device holds something to read whether we wrote it or not. */
static bool has_fresh_file(const struct test *test)
{
	return test->layout == LAYOUT_NONE && !test->filename[0] &&
	       strncmp(test->target, "/dev/", 5) != 0;
}

static bool reads_nothing_laid_out(const struct test *test)
{
	return has_fresh_file(test) && plan_reads(test);
}

static bool shares_file_per_job(const struct test *test)
{
	return test->shared && test->file_per_job;
}

static bool shares_named_file(const struct test *test)
{
	return test->shared && test->filename[0];
}

static bool verifies_shared_file(const struct test *test)
{
	return test->verify && test->shared;
}

static bool verifies_named_file(const struct test *test)
{
	return test->verify && test->filename[0];
}

static bool verifies_zeros(const struct test *test)
{
	return test->verify && test->buffer == BUFFER_ZERO;
}

static bool verifies_nothing(const struct test *test)
{
	return test->verify && !strcmp(test->ioengine, "null");
}

static bool keeps_ledger_of_nothing(const struct test *test)
{
	return test->ledger[0] && !test->verify;
}

static bool searches_at_rate(const struct test *test)
{
	return test->latency_target_ns && (test->rate || test->rate_iops || test->thinktime_ns);
}

static bool searches_by_amount(const struct test *test)
{
	return test->latency_target_ns && plan_by_amount(test);
}

static bool searches_too_briefly(const struct test *test)
{
	return test->latency_target_ns && test->runtime_ns < PLAN_SEARCH_LEAST_NS;
}

/* The second step would overwrite. */
static bool searches_fresh_space(const struct test *test)
{
	return test->latency_target_ns && has_fresh_file(test) && plan_writes(test);
}

static bool searches_and_verifies(const struct test *test)
{
	return test->latency_target_ns && test->verify;
}

static bool spreads_sequence(const struct test *test)
{
	return !plan_random(test) && test->random_distribution.shape != DISTRIBUTION_UNIFORM;
}

static bool maps_sequence(const struct test *test)
{
	return !plan_random(test) && test->randommap;
}

static bool maps_zipf(const struct test *test)
{
	return test->randommap && test->random_distribution.shape != DISTRIBUTION_UNIFORM;
}

static bool has_chains_of_others(const struct test *test)
{
	return test->chains && !plan_is_hops(test);
}

static bool has_no_chains(const struct test *test)
{
	return plan_is_hops(test) && !test->chains;
}

static bool pauses_at_rate(const struct test *test)
{
	return test->requests_rate && test->pause_ns;
}

static bool expects_of(const struct test *test, enum expect_subject subject)
{
	for (unsigned i = 0; i < test->n_expect; i++)
		if (test->expect[i].subject == (int)subject)
			return true;
	return false;
}

static bool expects_no_reads(const struct test *test)
{
	bool none = plan_rw_mixes(test->rw) && !test->rwmixread;

	return expects_of(test, EXPECT_READ) && (none || !plan_reads(test));
}

static bool never_writes(const struct test *test)
{
	return !plan_writes(test) || (plan_rw_mixes(test->rw) && test->rwmixread == 100);
}

static bool expects_no_writes(const struct test *test)
{
	return expects_of(test, EXPECT_WRITE) && never_writes(test);
}

static bool expects_no_syncs(const struct test *test)
{
	bool syncs = test->fsync || test->fdatasync || test->end_fsync;

	return expects_of(test, EXPECT_SYNC) && (!syncs || never_writes(test));
}

static bool drops_what_it_did_not_fill(const struct test *test)
{
	return plan_is_table(test) && test->table.strategy == STRATEGY_DROP_TABLE &&
	       (!test->table.fill || test->table.cutoff);
}

static bool cuts_off_beyond_its_end(const struct test *test)
{
	return plan_is_table(test) && test->table.cutoff > test->table.entities;
}

static bool has_key_and_sas(const struct test *test)
{
	return plan_is_table(test) && test->table.key_file[0] && test->table.sas_file[0];
}

static const struct rule {
	bool (*broken)(const struct test *test);
	const char *text;
} rules[] = {
        {has_two_rates, "rate and rate_iops exclude each other"},
        {pauses_with_rate, "thinktime contradicts rate and rate_iops: the rate sets the pauses"},
        {has_two_amounts, "loops and io_size exclude each other"},
        {is_smaller_than_block, "size is smaller than bs"},
        {does_less_than_block, "io_size is smaller than bs"},
        {splits_named_file, "filename names one file, file_per_job wants several"},
        {reads_nothing_laid_out,
         "layout: none leaves nothing to read (allowed: on writes and devices)"},
        {shares_file_per_job, "shared wants one file, file_per_job wants several"},
        {shares_named_file, "filename names one file for all peers, so shared says nothing"},
        {verifies_shared_file, "verify knows only what this process wrote, not what other peers "
                               "write to a shared file"},
        {verifies_named_file, "verify checks files of the run's own, and filename names another"},
        {verifies_zeros, "verify writes data that differs from block to block, not buffer: zero"},
        {verifies_nothing, "verify has nothing to check: ioengine null moves no data"},
        {keeps_ledger_of_nothing, "ledger tells of verified writes (set verify: crc32c)"},
        {searches_at_rate, "latency_target searches for a rate: rate, rate_iops and thinktime "
                           "contradict it (leave them out)"},
        {searches_by_amount, "latency_target searches by time: loops and io_size contradict it "
                             "(say runtime)"},
        {searches_too_briefly, "latency_target needs a runtime of 5s or more: its steps are a "
                               "twentieth of it"},
        {searches_fresh_space, "layout: none writes to fresh space only once, and latency_target "
                               "writes in many steps (leave layout out)"},
        {searches_and_verifies, "verify slows down the requests that latency_target times (two "
                                "tests, one with each)"},
        {spreads_sequence, "random_distribution has no meaning for a sequential rw"},
        {maps_sequence, "randommap has no meaning for a sequential rw"},
        {maps_zipf, "randommap contradicts random_distribution: zipf hits places again"},
        {has_chains_of_others, "chains is no key of this kind (of: hops)"},
        {has_no_chains, "kind hops needs the key chains: names, each with a list of hops"},
        {pauses_at_rate, "interval contradicts rate, which says when a request is due"},
        {drops_what_it_did_not_fill, "strategy: drop-table deletes all that fill inserted (say "
                                     "fill: true, and no cutoff)"},
        {cuts_off_beyond_its_end, "cutoff is more than the entities of a partition"},
        {has_key_and_sas, "key_file and sas_file exclude each other"},
        {expects_no_reads, "expect asks about reads, but there are none (rw only writes, "
                           "or rwmixread is 0)"},
        {expects_no_writes, "expect asks about writes, but there are none (rw only reads, "
                            "or rwmixread is 100)"},
        {expects_no_syncs, "expect asks about syncs, but there are none (set fsync, fdatasync or "
                           "end_fsync on a test that writes)"},
};

int plan_check_test(const struct test *test, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].broken(test))
			return err_set(err, ERR_PLAN, "test '%s': %s", test->name, rules[i].text);
	return 0;
}
