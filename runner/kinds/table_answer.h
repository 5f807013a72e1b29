/*
 * What Azure's Table service answers: the outcome of a batch, a page of rows, the code of an
 * error. All of it is foreign text of any kind; texts end with a NUL.
 */
#ifndef PVCBENCH_TABLE_ANSWER_H
#define PVCBENCH_TABLE_ANSWER_H

#include "base/err.h"
#include "kinds/table_wire.h"

#define TABLE_CODE_MAX       48        /* bytes of "ResourceNotFound", with the NUL */
#define TABLE_PAGE_BYTES_MAX (8 * MIB) /* of a page, whole entities included */

/* An answer of status 202 to a batch of n operations: all were done, or none. */
struct table_outcome {
	bool done;
	int status;                /* else: of the operation that failed; 0: not told */
	char code[TABLE_CODE_MAX]; /* "": not told */
	bool has_index;            /* which of them it was: */
	unsigned index;            /* below n */
};

void table_outcome_read(struct table_outcome *outcome, const char *body, unsigned n);

/* The code in the body of an error, JSON or XML, or "". */
void table_code_read(const char *body, char code[TABLE_CODE_MAX]);

struct table_row {
	const char *partition, *row; /* the page's */
};

struct cJSON;

struct table_page {
	struct cJSON *tree; /* owned */
	unsigned n;
	struct table_row rows[TABLE_PAGE_MAX];
};

/* The page is empty after an error (class ERR_TEST); in any case free it by table_page_destroy. */
int table_page_read(struct table_page *page, const char *body, size_t bytes, struct err *err);
void table_page_destroy(struct table_page *page);

#endif
