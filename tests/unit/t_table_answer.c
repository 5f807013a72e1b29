/* links: base/err.c kinds/table_answer.c */
#include "kinds/table_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define PART                                    \
	"--changesetresponse_1\r\n"             \
	"Content-Type: application/http\r\n"    \
	"Content-Transfer-Encoding: binary\r\n" \
	"\r\n"
#define DONE PART "HTTP/1.1 204 No Content\r\nDataServiceVersion: 1.0;\r\n\r\n\r\n"
#define END  "--changesetresponse_1--\r\n--batchresponse_1--\r\n"
#define FAILED(status, code, value)                                                           \
	PART "HTTP/1.1 " status "\r\nContent-ID: 2\r\n\r\n{\"odata.error\":{\"code\":\"" code \
	     "\",\"message\":{\"lang\":\"en-US\",\"value\":\"" value "\"}}}\r\n" END

static struct table_outcome read_outcome(const char *body, unsigned n)
{
	struct table_outcome outcome;

	memset(&outcome, 0xff, sizeof(outcome));
	table_outcome_read(&outcome, body, n);
	return outcome;
}

static void test_done(void **state)
{
	(void)state;
	assert_true(read_outcome(DONE DONE END, 2).done);
	assert_int_equal(read_outcome(DONE DONE END, 2).status, 0);
	assert_true(read_outcome("HTTP/1.1 201 Created", 1).done);
}

/* An answer for each operation, or it is not known what was done. */
static void test_too_few(void **state)
{
	(void)state;
	assert_false(read_outcome("", 1).done);
	assert_false(read_outcome(DONE END, 2).done);
	assert_false(read_outcome(DONE DONE END, 1).done);
	assert_false(read_outcome("x HTTP/1.1 204 No Content", 1).done);
	assert_int_equal(read_outcome(DONE END, 2).status, 0);
}

static void test_failed(void **state)
{
	struct table_outcome outcome =
	        read_outcome(FAILED("404 Not Found", "ResourceNotFound", "17:The resource"), 100);

	(void)state;
	assert_false(outcome.done);
	assert_int_equal(outcome.status, 404);
	assert_string_equal(outcome.code, "ResourceNotFound");
	assert_true(outcome.has_index);
	assert_int_equal(outcome.index, 17);
	assert_false(read_outcome(FAILED("404 x", "A", "17:The"), 17).has_index);
	assert_false(read_outcome(FAILED("404 x", "A", "The 1:"), 17).has_index);
	assert_false(read_outcome(FAILED("404 x", "A", "99999999999:"), 100).has_index);
	outcome = read_outcome(DONE PART "HTTP/1.1 busy", 2);
	assert_false(outcome.done);
	assert_int_equal(outcome.status, 0);
}

/* Azurite's answer to 101 operations has a line too many. */
static void test_stray_line(void **state)
{
	struct table_outcome outcome = read_outcome(
	        PART "--changesetresponse_1\r\nHTTP/1.1 400 Bad Request\r\n\r\n"
	             "{\"odata.error\":{\"code\":\"InvalidInput\",\"message\":{\"value\":\"x\"}}}",
	        101);

	(void)state;
	assert_int_equal(outcome.status, 400);
	assert_string_equal(outcome.code, "InvalidInput");
}

static void test_code(void **state)
{
	static const struct {
		const char *body, *code;
	} answers[] = {
	        {"{\"odata.error\":{\"code\":\"TableNotFound\",\"message\":{}}}", "TableNotFound"},
	        {"<?xml version=\"1.0\"?><Error><Code>AuthenticationFailed</Code></Error>",
	         "AuthenticationFailed"},
	        {"<m:error><m:code>ServerBusy</m:code></m:error>", "ServerBusy"},
	        {"<html>502 Bad Gateway</html>", ""},
	        {"{\"code\":\"\"}", ""},
	        {"", ""},
	};
	char code[TABLE_CODE_MAX], longer[100] = "<Code>";

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(answers); i++) {
		table_code_read(answers[i].body, code);
		assert_string_equal(code, answers[i].code);
	}
	memset(longer + strlen(longer), 'x', 80);
	table_code_read(longer, code);
	assert_int_equal(strlen(code), TABLE_CODE_MAX - 1);
}

static int read_page(struct table_page *page, const char *body, struct err *err)
{
	return table_page_read(page, body, strlen(body), err);
}

static void test_page(void **state)
{
	struct table_page page;
	struct err err;

	(void)state;
	assert_int_equal(read_page(&page,
	                           "{\"value\":[{\"PartitionKey\":\"p\",\"RowKey\":\"1\"},"
	                           "{\"RowKey\":\"\\u00e9\\\"\",\"PartitionKey\":\"q\",\"n\":1}]}",
	                           &err),
	                 0);
	assert_int_equal(page.n, 2);
	assert_string_equal(page.rows[0].partition, "p");
	assert_string_equal(page.rows[0].row, "1");
	assert_string_equal(page.rows[1].partition, "q");
	assert_string_equal(page.rows[1].row, "\xc3\xa9\"");
	table_page_destroy(&page);
	assert_int_equal(read_page(&page, "{\"value\":[]}", &err), 0);
	assert_int_equal(page.n, 0);
	table_page_destroy(&page);
	table_page_destroy(&page);
}

static void test_no_page(void **state)
{
	static const char *const bodies[] = {
	        "",
	        "{",
	        "[]",
	        "{\"value\":1}",
	        "{\"value\":[1]}",
	        "{\"value\":[{\"PartitionKey\":\"p\"}]}",
	        "{\"value\":[{\"PartitionKey\":\"p\",\"RowKey\":1}]}",
	        "{\"value\":[{\"PartitionKey\":\"p\",\"RowKey\":\"1\"},{}]}",
	};
	struct table_page page;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(bodies); i++) {
		assert_int_equal(read_page(&page, bodies[i], &err), -1);
		assert_int_equal(err.class, ERR_TEST);
		assert_int_equal(page.n, 0);
		table_page_destroy(&page);
	}
}

static void test_too_many_rows(void **state)
{
	static const char row[] = "{\"PartitionKey\":\"p\",\"RowKey\":\"1\"},";
	char *body = NULL;
	size_t size;
	FILE *out = open_memstream(&body, &size);
	struct table_page page;
	struct err err;

	(void)state;
	fputs("{\"value\":[", out);
	for (unsigned i = 0; i < TABLE_PAGE_MAX; i++)
		fputs(row, out);
	fprintf(out, "%.*s]}", (int)sizeof(row) - 2, row);
	fclose(out);
	assert_int_equal(read_page(&page, body, &err), -1);
	assert_non_null(strstr(err.text, "more than 1000 entities"));
	table_page_destroy(&page);
	free(body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_done),    cmocka_unit_test(test_too_few),
	        cmocka_unit_test(test_failed),  cmocka_unit_test(test_stray_line),
	        cmocka_unit_test(test_code),    cmocka_unit_test(test_page),
	        cmocka_unit_test(test_no_page), cmocka_unit_test(test_too_many_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
