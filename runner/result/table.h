/*
 * What kind table gave besides its two series: queries are the reads of its statistics,
 * transactions that delete are the writes, bytes are those of requests and answers with their
 * headers. What failed is in neither.
 */
#ifndef PVCBENCH_RESULT_TABLE_H
#define PVCBENCH_RESULT_TABLE_H

#include "plan/table.h"

#define TABLE_HOST_MAX 256

struct table_result {
	/* As planned. */
	char host[TABLE_HOST_MAX]; /* scheme, host and port */
	char table[64];
	uint64_t partitions, entities, entity_bytes, cutoff, concurrency, batch;
	int select, strategy;

	uint64_t filled, fill_ns; /* entities that were inserted first; 0: none */

	/* Entities. Each is counted once. */
	uint64_t found;     /* that queries answered; of drop-table those that were inserted */
	uint64_t deleted;   /* that the service said it deleted */
	uint64_t confirmed; /* deleted by a request without an answer, as was seen later */
	uint64_t gone;      /* that somebody else deleted meanwhile */
	bool complete;      /* every partition was asked to its end: none of them remains */
	uint64_t remaining; /* else: where the run inserted them itself; 0: not known */

	/* Requests, every try of one counted. */
	uint64_t answered;   /* transactions, whatever their answer */
	uint64_t throttled;  /* of these: 503, 429, or 500 for want of time */
	uint64_t failed;     /* of these: other answers that are no success */
	uint64_t unanswered; /* no whole answer came */
	uint64_t retried;
	uint64_t backoff_ns; /* waits before a retry, all threads added up */
	uint64_t up_bytes, down_bytes;
	uint64_t wait_ns, receive_ns; /* of answers: to their first byte, and from there on */
};

/* Both ways of being deleted. */
static inline uint64_t table_deleted(const struct table_result *table)
{
	return table->deleted + table->confirmed;
}

#endif
