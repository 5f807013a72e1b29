/*
 * What a thread of kind table does: between kinds/table.c and its parts only. Partitions are
 * numbered; each is the work of one thread.
 */
#ifndef PVCBENCH_TABLE_WORK_H
#define PVCBENCH_TABLE_WORK_H

#include "kinds/table_call.h"
#include "plan/plan.h"

struct table_worker {
	const struct plan_table *plan;
	struct table_client client;
	atomic_uint *next;      /* partition, of all threads */
	unsigned number;        /* of this thread */
	uint64_t sequence;      /* of its batches */
	struct table_page page; /* of rows that are being deleted */
	char *bytes;            /* owned; the body of a batch */
	size_t room;
	char *entity;    /* owned; JSON of one that is inserted */
	uint64_t unsure; /* rows of this partition that may have been deleted already */
};

int table_worker_init(struct table_worker *worker, const struct table_service *service,
                      bool measured, struct err *err);
void table_worker_destroy(struct table_worker *worker);

/* A batch is told apart by thread and sequence. */
static inline uint64_t table_batch_id(struct table_worker *worker)
{
	return (uint64_t)worker->number << 48 | ++worker->sequence;
}

#define TABLE_KEY_MAX 32 /* "pvcbench-000017", "0000000042" */
void table_partition_name(unsigned partition, char out[TABLE_KEY_MAX]);
void table_row_name(uint64_t row, char out[TABLE_KEY_MAX]);

/*
 * Make the table (fill), or see whether it is one that pvcbench made: no other is written to. A
 * refusal is of class ERR_REFUSED. wait is called with what is waited for, before each wait.
 */
int table_claim(struct table_client *client, bool fill, void (*wait)(void *arg, const char *what),
                void *arg, struct err *err);

/* All entities of a partition, as inserts or replacements. */
int table_fill_partition(struct table_worker *worker, unsigned partition, struct err *err);

/* Query and delete, page by page, up to the partition's end. */
int table_empty_partition(struct table_worker *worker, unsigned partition, struct err *err);

/* The table as a whole, which held so many entities. */
int table_drop(struct table_client *client, uint64_t entities, struct err *err);

#endif
