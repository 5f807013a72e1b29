/* links: base/base64.c base/err.c io/azure.c io/hmac.c */
#include "io/azure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Azurite's, which everybody has. */
#define ACCOUNT "devstoreaccount1"
#define KEY \
	"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
#define DATE "Sun, 06 Nov 1994 08:49:37 GMT"

static void test_date(void **state)
{
	char date[AZURE_DATE_SIZE];

	(void)state;
	azure_date(784111777, date);
	assert_string_equal(date, DATE);
	azure_date(0, date);
	assert_string_equal(date, "Thu, 01 Jan 1970 00:00:00 GMT");
}

/*
 * Made with Python's hmac and base64 from the same strings. The first account stands in the path
 * as well, as it does of Azurite.
 */
static void test_signature(void **state)
{
	static const struct {
		const char *account, *path, *signature;
	} vectors[] = {
	        {ACCOUNT, "/devstoreaccount1/t01()?$top=1000",
	         "5YAwpMHO9pZXn/dbUGRy4PT2Dfn+fagpmfR8P2whrb8="},
	        {"contoso", "/t01(PartitionKey='a%27%271',RowKey='r')",
	         "FD0rRbu/fo5omrdc5SAi07bP927Og9EBLehlyj9Q/bk="},
	};
	char authorization[AZURE_AUTHORIZATION_MAX], expected[AZURE_AUTHORIZATION_MAX];
	struct azure azure;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(vectors); i++) {
		assert_int_equal(azure_use_key(&azure, vectors[i].account, KEY, &err), 0);
		azure_sign(&azure, vectors[i].path, strcspn(vectors[i].path, "?"), DATE,
		           authorization);
		snprintf(expected, sizeof(expected), "SharedKeyLite %s:%s", vectors[i].account,
		         vectors[i].signature);
		assert_string_equal(authorization, expected);
	}
}

static void test_sas(void **state)
{
	struct azure azure;
	struct err err;

	(void)state;
	assert_int_equal(azure_use_sas(&azure, ACCOUNT, "?sv=2019-02-02&sig=a%2Bb%3D", &err), 0);
	assert_string_equal(azure.sas, "sv=2019-02-02&sig=a%2Bb%3D");
	assert_int_equal(azure.key_bytes, 0);
	assert_int_equal(azure_use_sas(&azure, ACCOUNT, "sig=x", &err), 0);
	assert_string_equal(azure.sas, "sig=x");
}

/* Nothing of what was refused is told, but for the account's name. */
static void test_refused(void **state)
{
	static const char *const tokens[] = {"", "?", "sv=SECRET", "sig=SECRET x", "sig=SECRET#"};
	char longer[AZURE_SAS_MAX + 8] = "sig=SECRET";
	struct azure azure;
	struct err err;

	(void)state;
	assert_int_equal(azure_use_key(&azure, "Contoso", KEY, &err), -1);
	assert_non_null(strstr(err.text, "'Contoso' is no storage account's name"));
	assert_int_equal(azure_use_key(&azure, "", KEY, &err), -1);
	assert_int_equal(azure_use_key(&azure, ACCOUNT, "", &err), -1);
	assert_int_equal(azure_use_key(&azure, ACCOUNT, "SECRET", &err), -1);
	assert_int_equal(err.class, ERR_PLAN);
	assert_null(strstr(err.text, "SECRET"));
	for (unsigned i = 0; i < ARRAY_SIZE(tokens); i++) {
		assert_int_equal(azure_use_sas(&azure, ACCOUNT, tokens[i], &err), -1);
		assert_null(strstr(err.text, "SECRET"));
	}
	memset(longer + strlen(longer), 'x', sizeof(longer) - 1 - strlen(longer));
	assert_int_equal(azure_use_sas(&azure, ACCOUNT, longer, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_date),
	        cmocka_unit_test(test_signature),
	        cmocka_unit_test(test_sas),
	        cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
