/*
 * What kind table is to do: a part of struct test. The keys stand in plan/keys.c.
 */
#ifndef PVCBENCH_PLAN_TABLE_H
#define PVCBENCH_PLAN_TABLE_H

#include "base/base.h"

#define PLAN_KIND_TABLE "table"

#define PLAN_TABLE_TEXT_MAX       512
#define PLAN_TABLE_PARTITIONS_MAX 999999
#define PLAN_TABLE_ENTITIES_MAX   1000000000
#define PLAN_TABLE_ENTITY_MAX     (30 * KIB)
#define PLAN_TABLE_THREADS_MAX    256
#define PLAN_TABLE_BATCH_MAX      100
#define PLAN_TABLE_RETRIES_MAX    20

enum plan_strategy { STRATEGY_BATCH, STRATEGY_SINGLE, STRATEGY_DROP_TABLE };
enum plan_select { SELECT_KEYS, SELECT_ALL };

struct plan_table {
	char endpoint[PLAN_TABLE_TEXT_MAX]; /* "": that of the account in Azure */
	char account[PLAN_TABLE_TEXT_MAX];  /* "": of AZURE_STORAGE_ACCOUNT */
	char key_file[PLAN_TABLE_TEXT_MAX]; /* "": of AZURE_STORAGE_KEY */
	char sas_file[PLAN_TABLE_TEXT_MAX]; /* "": of AZURE_STORAGE_SAS_TOKEN */
	char name[64];
	uint64_t partitions;
	uint64_t entities;     /* of each partition */
	uint64_t entity_bytes; /* of its one property */
	bool fill;             /* first insert them all */
	uint64_t cutoff;       /* of each partition the first so many are deleted; 0: all */
	uint64_t concurrency;  /* partitions at a time, a thread and a connection each */
	uint64_t batch;        /* entities of a transaction */
	int select;            /* enum plan_select */
	int strategy;          /* enum plan_strategy */
	uint64_t retries;      /* of a request, at most */
};

/* By their enums, ended by NULL. */
extern const char *const plan_strategy_names[];
extern const char *const plan_select_names[];

/* Entities of a partition that are to be deleted. */
static inline uint64_t plan_table_share(const struct plan_table *table)
{
	return table->cutoff ? table->cutoff : table->entities;
}

#endif
