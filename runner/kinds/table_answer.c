/*
 * A batch is told by its status lines alone: each part has one, and what stands around them
 * differs between Azure and Azurite. An error's code is looked for, not parsed: it comes as JSON
 * within a part, or as XML.
 */
#include "kinds/table_answer.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <string.h>

#define STATUS_LINE "HTTP/1.1 "

/* ---- an error ---- */

static bool copy_word(const char *from, char code[TABLE_CODE_MAX])
{
	size_t n = 0;

	while (n + 1 < TABLE_CODE_MAX && isalnum((unsigned char)from[n]))
		n++;
	memcpy(code, from, n);
	code[n] = '\0';
	return n;
}

void table_code_read(const char *body, char code[TABLE_CODE_MAX])
{
	static const char *const before[] = {"\"code\":\"", "<Code>", "<m:code>"};

	code[0] = '\0';
	for (unsigned i = 0; i < ARRAY_SIZE(before); i++) {
		const char *found = strstr(body, before[i]);

		if (found && copy_word(found + strlen(before[i]), code))
			return;
	}
}

/* ---- a batch ---- */

/* The next status line at or after text, at its number; NULL: none. */
static const char *next_status(const char *body, const char *text)
{
	while ((text = strstr(text, STATUS_LINE))) {
		bool starts_line = text == body || text[-1] == '\n';

		text += strlen(STATUS_LINE);
		if (starts_line)
			return text;
	}
	return NULL;
}

/* Three digits, or 0. */
static int read_status(const char *text)
{
	int status = 0;

	for (unsigned i = 0; i < 3; i++) {
		if (!isdigit((unsigned char)text[i]))
			return 0;
		status = 10 * status + (text[i] - '0');
	}
	return status;
}

/* "value":"17:The specified ...": the number of the operation, from 0 on. */
static void read_index(struct table_outcome *outcome, const char *text, unsigned n)
{
	static const char before[] = "\"value\":\"";
	const char *found = strstr(text, before);
	unsigned index = 0, digits = 0;

	if (!found)
		return;
	for (found += strlen(before); isdigit((unsigned char)*found) && digits < 4; found++) {
		index = 10 * index + (unsigned)(*found - '0');
		digits++;
	}
	outcome->has_index = digits && *found == ':' && index < n;
	outcome->index = outcome->has_index ? index : 0;
}

void table_outcome_read(struct table_outcome *outcome, const char *body, unsigned n)
{
	unsigned done = 0;

	*outcome = (struct table_outcome){0};
	for (const char *at = body; (at = next_status(body, at));) {
		int status = read_status(at);

		if (status / 100 == 2) {
			done++;
			continue;
		}
		outcome->status = status;
		table_code_read(at, outcome->code);
		read_index(outcome, at, n);
		return;
	}
	outcome->done = done == n;
}

/* ---- a page ---- */

static const char *text_of(const cJSON *row, const char *name)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, name));
}

static int read_rows(struct table_page *page, struct err *err)
{
	const cJSON *rows = cJSON_GetObjectItemCaseSensitive(page->tree, "value"), *row;

	if (!cJSON_IsArray(rows))
		return err_set(err, ERR_TEST, "the answer to a query is no list of entities");
	cJSON_ArrayForEach(row, rows)
	{
		struct table_row keys = {text_of(row, "PartitionKey"), text_of(row, "RowKey")};

		if (!keys.partition || !keys.row)
			return err_set(err, ERR_TEST, "an entity is answered without its keys");
		if (page->n == TABLE_PAGE_MAX)
			return err_set(err, ERR_TEST,
			               "a query is answered with more than %d entities",
			               TABLE_PAGE_MAX);
		page->rows[page->n++] = keys;
	}
	return 0;
}

int table_page_read(struct table_page *page, const char *body, size_t bytes, struct err *err)
{
	page->n = 0;
	page->tree = cJSON_ParseWithLength(body, bytes);
	if (!read_rows(page, err))
		return 0;
	page->n = 0;
	return -1;
}

void table_page_destroy(struct table_page *page)
{
	cJSON_Delete(page->tree);
	page->tree = NULL;
	page->n = 0;
}
