/* links: base/err.c kinds/table_answer.c kinds/table_wire.c */
/*
 * What a Table service may answer, and keys that it may name: nothing is read beyond its end, and
 * what is sent in turn is one line of a URL.
 */
#include <assert.h>
#include <string.h>

#include "kinds/table_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_outcome(const char *text, unsigned n)
{
	struct table_outcome outcome;

	table_outcome_read(&outcome, text, n);
	assert(outcome.index < n);
	assert(!outcome.done || (!outcome.status && !outcome.code[0] && !outcome.has_index));
	assert(strlen(outcome.code) < TABLE_CODE_MAX);
}

static void check_url(const struct table_row *row)
{
	const struct table_place place = {"https://a.table.core.windows.net", "t01"};
	char url[512];
	struct wire wire = wire_of(url, sizeof(url));

	wire_entity(&wire, &place, row->partition, row->row);
	assert(strlen(url) == wire.used && wire.used < sizeof(url));
	for (const char *p = url; *p; p++)
		assert(*p > ' ' && *p < 0x7f);
	assert(wire.cut || url[wire.used - 1] == ')');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct table_page page;
	struct err err;

	assert(text);
	memcpy(text, data, size);
	text[size] = '\0';
	check_outcome(text, 1);
	check_outcome(text, TABLE_BATCH_MAX);
	if (table_page_read(&page, text, size, &err))
		assert(!page.n && err.class == ERR_TEST);
	for (unsigned i = 0; i < page.n; i++)
		check_url(&page.rows[i]);
	table_page_destroy(&page);
	free(text);
	return 0;
}
