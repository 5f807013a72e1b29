/*
 * A result document (docs/result.schema.json) on top of member.h, and how long a result line
 * may become.
 */
#include "out/json.h"

#include <string.h>

#include "out/figures.h"
#include "out/json_part.h"

#define TEXT_SIZE_MAX  (256 * MIB) /* of a document that is read */
#define THIN_SLOTS_MIN 32          /* a series is not thinned below this for the sake of the aim */

/* ---- the document ---- */

/* What a run may not have: these members are only there where it has. */
static bool has_attempt(const void *object)
{
	return ((const struct result *)object)->attempt;
}

static bool has_peak_rss(const void *object)
{
	return ((const struct result *)object)->peak_rss_bytes;
}

static bool has_notes(const void *object)
{
	return ((const struct result *)object)->n_notes;
}

static bool has_host(const void *object)
{
	return ((const struct result *)object)->host[0];
}

static bool is_peer(const void *object)
{
	return ((const struct result *)object)->peer.count;
}

static bool is_merged(const void *object)
{
	return ((const struct result *)object)->merged.pods;
}

static const struct member peer_members[] = {
        {"index", UINT_AT(struct peer, index), .required = true},
        {"count", UINT_AT(struct peer, count), .required = true},
        {0},
};

static const struct member merged_members[] = {
        {"pods", UINT_AT(struct merged, pods), .required = true},
        {"of", KNOWN_AT(struct merged, of), .required = true},
        {"missing", TEXT_AT(struct merged, missing), .required = true},
        {0},
};

static const struct member run_members[] = {
        {"id", TEXT_AT(struct result, id)},
        {"host", TEXT_AT(struct result, host), .present = has_host},
        {"peer", OBJECT_AT(struct result, peer, peer_members), .present = is_peer},
        {"merged", OBJECT_AT(struct result, merged, merged_members), .present = is_merged},
        {"started", TEXT_AT(struct result, started)},
        {"version", TEXT_AT(struct result, version)},
        {"plan", TEXT_AT(struct result, plan)},
        {"attempt", KNOWN_AT(struct result, attempt), .present = has_attempt},
        {"peak_rss_bytes", KNOWN_AT(struct result, peak_rss_bytes), .present = has_peak_rss},
        {"notes", LIST_AT(struct result, notes, n_notes), .present = has_notes},
        {0},
};

/* Only of a run with several targets; else "conditions" says it all. */
static bool has_targets(const void *object)
{
	const struct result *result = object;

	return result->n_targets > 1;
}

static const char *const schema_words[] = {RESULT_SCHEMA, NULL};

static const struct member document_members[] = {
        {"schema", .type = MEMBER_CONSTANT, .words = schema_words, .required = true},
        {"run", .type = MEMBER_OBJECT, .members = run_members, .required = true},
        {"conditions", OBJECT_AT(struct result, conditions, json_condition_members),
         .required = true},
        {"targets", ARRAY_AT(struct result, targets, n_targets, PLAN_TESTS_MAX),
         .members = json_condition_members, .present = has_targets},
        {"interrupted", BOOL_AT(struct result, interrupted)},
        {"verdicts", LIST_AT(struct result, verdicts, n_verdicts), .members = json_verdict_members},
        {"knees", .present = json_has_knees, .write = json_write_knees},
        {"repeats", .present = json_has_repeats, .write = json_write_repeats},
        {"tests", ARRAY_AT(struct result, tests, n_tests, PLAN_TESTS_MAX),
         .members = json_test_members, .required = true},
        {0},
};

void json_write(FILE *out, const struct result *result)
{
	struct doc doc = {.emit = {.out = out, .indent = true}};

	member_write_object(&doc.emit, NULL, document_members, result);
	fputc('\n', out);
}

/* ---- a line ---- */

/*
 * Without series and histogram only texts and some hundred numbers are left, those of a
 * search among them. A text at most doubles by its escapes, so the structs that hold them bound the
 * line; what kind hops gave is left out too where it would be too long. The texts of kinds persist
 * and table stand in the place of longer ones, which only loads have.
 */
#define LINE_NUMBERS_MAX (15 * KIB)
#define LINE_TEXTS_MAX                                                                     \
	(2 * (sizeof(struct result) + sizeof(struct test_result) - sizeof(struct search) - \
	      sizeof(struct persist_result) - sizeof(struct hops_result) -                 \
	      sizeof(struct table_result)))
_Static_assert(LINE_TEXTS_MAX + LINE_NUMBERS_MAX <= RESULT_LINE_MAX,
               "a line without series and histogram may pass its limit");

/* Bytes that the line takes. */
static size_t line_bytes(struct doc doc, const struct result *one)
{
	member_write_object(&doc.emit, NULL, document_members, one);
	return strlen(RESULT_LINE_PREFIX) + doc.emit.bytes + 1;
}

static uint64_t longest_series(const struct test_result *tr)
{
	uint64_t slots = 0;

	for (unsigned op = 0; tr->stats && op < STATS_OPS; op++)
		slots = max_u64(slots, series_slots(&tr->stats->op[op].series, tr->runtime_ns));
	return min_u64(slots, SERIES_SLOTS);
}

void json_write_line(FILE *out, const struct result *result, const struct test_result *tr)
{
	struct result one = *result;
	struct test_result test = *tr;
	struct doc doc = {0};

	one.conditions = *result_conditions(result, tr);
	one.targets = NULL;
	one.n_targets = 0;
	one.tests = &test;
	one.n_tests = 1;
	while (longest_series(tr) >> doc.thin > THIN_SLOTS_MIN &&
	       line_bytes(doc, &one) > RESULT_LINE_AIM)
		doc.thin++;
	doc.omit_series = line_bytes(doc, &one) > RESULT_LINE_MAX;
	doc.omit_histogram = line_bytes(doc, &one) > RESULT_LINE_MAX;
	doc.omit_hops = line_bytes(doc, &one) > RESULT_LINE_MAX;
	doc.emit.out = out;
	fputs(RESULT_LINE_PREFIX, out);
	member_write_object(&doc.emit, NULL, document_members, &one);
	fputc('\n', out);
}

int json_read(struct result *result, const char *text, size_t size, struct err *err)
{
	memset(result, 0, sizeof(*result));
	if (size > TEXT_SIZE_MAX)
		return err_set(err, ERR_PLAN, "larger than %llu MiB", TEXT_SIZE_MAX / MIB);
	if (member_read_text(text, size, document_members, result, err)) {
		result_destroy(result);
		return -1;
	}
	return 0;
}
