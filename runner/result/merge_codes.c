/*
 * What was said of pods stays true of these pods, whatever their sum is. What is said of the sum
 * takes the place of what was said of a part of it.
 */
#include <math.h>
#include <string.h>

#include "result/merge_test.h"

/* In this order they explain a figure, as verdict_judge asks for them. */
static const char *const order[] = {
        "suspended",       "errors", "cpu-quota",    "engine",     "stalls",
        "published-limit", "burst",  "server-cache", "io-limit",   "page-cache",
        "queue-depth",     "memory", "cpu",          "not-steady", "noisy",
};

static bool says_more(const struct verdict *a, const struct verdict *b)
{
	if (isnan(a->figure) != isnan(b->figure))
		return isnan(b->figure);
	if (!isnan(a->figure) && (a->figure < b->figure || a->figure > b->figure))
		return a->figure > b->figure;
	return strcmp(a->text, b->text) < 0;
}

/* Of equal words those of the pod whose name comes first. */
static void say(struct code *code, const struct verdict *verdict, const char *pod)
{
	bool more = says_more(verdict, &code->verdict);
	bool equal = !more && !says_more(&code->verdict, verdict);

	code->n++;
	if (code->n > 1 && !more && !(equal && strcmp(pod, code->pod) < 0))
		return;
	code->verdict = *verdict;
	snprintf(code->pod, sizeof(code->pod), "%s", pod);
}

/* As words_add: what falls out is larger than what stays. */
void merge_codes_add(struct codes *codes, const struct verdict *verdict, const char *pod)
{
	unsigned i = 0;

	while (i < codes->n && strcmp(codes->code[i].verdict.code, verdict->code) < 0)
		i++;
	if (i == MERGE_CODES_MAX)
		return;
	if (i == codes->n || strcmp(codes->code[i].verdict.code, verdict->code) != 0) {
		if (codes->n < MERGE_CODES_MAX)
			codes->n++;
		memmove(&codes->code[i + 1], &codes->code[i],
		        (codes->n - i - 1) * sizeof(codes->code[0]));
		codes->code[i].n = 0;
	}
	say(&codes->code[i], verdict, pod);
}

static unsigned rank(const struct code *code)
{
	unsigned i = 0;

	while (i < ARRAY_SIZE(order) && strcmp(order[i], code->verdict.code) != 0)
		i++;
	return i;
}

/* Of the sum, or what the sum's own standing takes the place of: a pod's share of a limit. */
static bool is_said(const struct verdict *verdicts, unsigned n, const char *code, bool held)
{
	if (held && !strcmp(code, "published-limit"))
		return true;
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(verdicts[i].code, code))
			return true;
	return false;
}

static void tell(const struct code *code, uint64_t of, struct verdict *out)
{
	char text[2 * RESULT_TEXT_MAX + POD_NAME_MAX];

	*out = code->verdict;
	if (of == 1)
		return;
	snprintf(text, sizeof(text), "in %llu of %llu pods, in %s: %s", (unsigned long long)code->n,
	         (unsigned long long)of, code->pod, code->verdict.text);
	snprintf(out->text, sizeof(out->text), "%.255s", text);
}

/* What is true of most pods comes first. */
void merge_verdicts(const struct codes *codes, uint64_t of, bool held, struct verdict *verdicts,
                    unsigned *n)
{
	unsigned said = *n;

	for (unsigned most = 2; most-- > 0;)
		for (unsigned r = 0; r <= ARRAY_SIZE(order); r++)
			for (unsigned i = 0; i < codes->n; i++) {
				const struct code *code = &codes->code[i];

				if (rank(code) == r && (2 * code->n >= of) == most &&
				    *n < RESULT_VERDICTS_MAX &&
				    !is_said(verdicts, said, code->verdict.code, held))
					tell(code, of, &verdicts[(*n)++]);
			}
}
