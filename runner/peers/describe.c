#include "peers/describe.h"

#include <string.h>

#include "io/hmac.h"

#define TEST_TEXT_MAX 4096

static bool may_differ(const struct field *row)
{
	static const char *const names[] = {"filename", "ledger",        "clean",
	                                    "strict",   "peers_timeout", "answer_time"};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(row->name, names[i]))
			return true;
	return false;
}

static void add_field(FILE *out, const struct field *row, const struct test *test)
{
	const void *slot = (const char *)test + row->offset;

	switch (row->type) {
	case FIELD_BOOL:
		fprintf(out, "%s=%d\n", row->name, *(const bool *)slot);
		break;
	case FIELD_UINT:
	case FIELD_SIZE:
	case FIELD_TIME:
		fprintf(out, "%s=%llu\n", row->name, (unsigned long long)*(const uint64_t *)slot);
		break;
	case FIELD_CHOICE:
		fprintf(out, "%s=%d\n", row->name, *(const int *)slot);
		break;
	case FIELD_STRING:
		fprintf(out, "%s=%s\n", row->name, (const char *)slot);
		break;
	case FIELD_CUSTOM: /* below */
		break;
	}
}

static void digest(const struct test *test, char out[HMAC_TEXT_SIZE])
{
	char text[TEST_TEXT_MAX] = "";
	FILE *stream = fmemopen(text, sizeof(text), "w");

	if (stream) {
		for (size_t i = 0; i < plan_n_fields; i++)
			if (!may_differ(&plan_fields[i]))
				add_field(stream, &plan_fields[i], test);
		fprintf(stream, "size=%d %llu\nioengine=%s\nrandom_distribution=%d %.17g\n",
		        (int)test->size.unit, (unsigned long long)test->size.value, test->ioengine,
		        (int)test->random_distribution.shape, test->random_distribution.theta);
		fclose(stream);
	}
	hmac_text("pvcbench plan", text, out);
}

char *describe_plan(const struct plan *plan)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (unsigned i = 0; i < plan->n_tests; i++) {
		char hex[HMAC_TEXT_SIZE];

		digest(&plan->tests[i], hex);
		fprintf(out, "%s %s\n", plan->tests[i].name, hex);
	}
	fclose(out);
	return text;
}
