/*
 * Adding results. The tests of one run are found by its id and host, those that belong to one
 * `repeat` by its name.
 */
#include "result/compare.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "result/verdict.h"

const char *const compare_figure_names[] = {"iops", "bw", "p50", "p99", NULL};

void compare_clean(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

struct compare *compare_new(void)
{
	struct compare *c = calloc(1, sizeof(*c));

	if (c)
		c->tests = calloc(COMPARE_TESTS_MAX, sizeof(*c->tests));
	if (c && !c->tests) {
		free(c);
		return NULL;
	}
	return c;
}

void compare_free(struct compare *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->n_results; i++) {
		for (unsigned t = 0; t < c->n_tests; t++)
			free(c->results[i]->entries[t]);
		free(c->results[i]);
	}
	free(c->tests);
	free(c);
}

void compare_note(struct compare *c, const char *fmt, ...)
{
	va_list args;

	if (c->n_notes == COMPARE_NOTES_MAX) {
		snprintf(c->notes[COMPARE_NOTES_MAX - 1], sizeof(c->notes[0]),
		         "there is more to know than fits here");
		return;
	}
	va_start(args, fmt);
	vsnprintf(c->notes[c->n_notes++], sizeof(c->notes[0]), fmt, args);
	va_end(args);
}

int compare_add_gate(struct compare *c, const char *text, struct err *err)
{
	struct compare_gate *gate = &c->gates[c->n_gates];
	unsigned column;

	if (c->n_gates == COMPARE_GATES_MAX)
		return err_set(err, ERR_PLAN, "at most %d of them", COMPARE_GATES_MAX);
	if (expect_parse_beside(&gate->beside, text, &column, err))
		return err_wrap(err, "column %u", column);
	snprintf(gate->text, sizeof(gate->text), "%s", text);
	c->n_gates++;
	return 0;
}

/* ---- whose it is ---- */

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

static struct compare_result *make_result(const struct result *part, const char *source,
                                          const char *pod)
{
	struct compare_result *r = calloc(1, sizeof(*r));
	const struct conditions *conditions = &part->conditions;

	if (!r)
		return NULL;
	copy(r->source, sizeof(r->source), source);
	copy(r->pod, sizeof(r->pod), pod);
	copy(r->id, sizeof(r->id), part->id);
	copy(r->host, sizeof(r->host), part->host);
	copy(r->class, sizeof(r->class), conditions->class);
	copy(r->node, sizeof(r->node), conditions->node);
	copy(r->started, sizeof(r->started), part->started);
	r->peer = part->peer;
	r->pods = part->merged.pods;
	if (conditions->class_limits.source[0])
		published_text(&conditions->class_limits, r->limits);
	compare_take_values(compare_site, COMPARE_SITE_ROWS, part, r->site);
	return r;
}

static bool is_same_run(const struct compare_result *r, const struct result *part)
{
	return !strcmp(r->id, part->id) && !strcmp(r->host, part->host) &&
	       r->peer.index == part->peer.index && r->pods == part->merged.pods;
}

static struct compare_result *find_result(const struct compare *c, const struct result *part)
{
	for (unsigned i = 0; part->id[0] && i < c->n_results; i++)
		if (is_same_run(c->results[i], part))
			return c->results[i];
	return NULL;
}

static int left_out(const char *name, const char *why, struct err *err)
{
	return err_set(err, ERR_PLAN, "its '%s' is left out: %s", name, why);
}

/* Told once: what is too much is so for many lines of a log. */
static int no_room(struct compare *c, struct err *err)
{
	if (c->is_full)
		return 0;
	c->is_full = true;
	return err_set(err, ERR_PLAN,
	               "left out, as more of the kind: at most %d results are compared, %d tests "
	               "of different names, %d of all results",
	               COMPARE_RESULTS_MAX, COMPARE_TESTS_MAX, COMPARE_ENTRIES_MAX);
}

/* *out is NULL where there is no room for one more. */
static int result_of(struct compare *c, const struct result *part, const char *source,
                     const char *pod, struct compare_result **out, struct err *err)
{
	*out = find_result(c, part);
	if (*out)
		return 0;
	if (c->n_results == COMPARE_RESULTS_MAX)
		return no_room(c, err);
	*out = make_result(part, source, pod);
	if (!*out)
		return err_set(err, ERR_PLAN, "left out: out of memory");
	c->results[c->n_results++] = *out;
	return 0;
}

/* The same of a test in a result. */
static int entry_of(struct compare *c, struct compare_result *r, const char *name,
                    struct compare_entry **out, struct err *err)
{
	unsigned t = 0;

	while (t < c->n_tests && strcmp(c->tests[t], name) != 0)
		t++;
	bool is_new = t == c->n_tests;

	*out = is_new ? NULL : r->entries[t];
	if (*out)
		return 0;
	if ((is_new && c->n_tests == COMPARE_TESTS_MAX) || c->n_entries == COMPARE_ENTRIES_MAX)
		return no_room(c, err);
	*out = r->entries[t] = calloc(1, sizeof(**out));
	if (!*out)
		return left_out(name, "out of memory", err);
	c->n_entries++;
	if (is_new)
		snprintf(c->tests[c->n_tests++], sizeof(c->tests[0]), "%s", name);
	return 0;
}

/* ---- what it gave ---- */

/* Because O_DIRECT was refused: then the reason is one of the concessions. */
static bool fell_back_to_buffers(const struct test_result *tr)
{
	for (unsigned i = 0; !tr->direct && i < tr->n_concessions; i++)
		if (!strcmp(tr->concessions[i], tr->direct_reason))
			return true;
	return false;
}

static bool may_be_relied_on(const struct test_result *tr, enum stats_op op)
{
	const struct expect rate = {.subject = (int)op, .metric = METRIC_IOPS};

	return verdict_measured(tr, &rate).known && !fell_back_to_buffers(tr) &&
	       !(op != STATS_SYNC && tr->direct && verdict_has(tr, "page-cache"));
}

static double rate_of(const struct test_result *tr, enum stats_op op, enum published_figure figure)
{
	return figure == PUBLISHED_BW ? test_result_bw(tr, op) : test_result_iops(tr, op);
}

/*
 * The larger of its shares of both limits. Buffered requests are not those that the provider
 * counts; reads and writes of a mixed load may share a limit.
 */
static double limit_share(const struct test_result *tr, const struct published *p, enum stats_op op)
{
	bool shared = plan_rw_mixes(tr->rw) && p->scope == SCOPE_SUM;
	double most = NAN;

	for (unsigned f = tr->direct ? PUBLISHED_IOPS : PUBLISHED_BW; f <= PUBLISHED_BW; f++) {
		enum published_figure figure = (enum published_figure)f;
		double rate =
		        shared ? rate_of(tr, STATS_READ, figure) + rate_of(tr, STATS_WRITE, figure)
		               : rate_of(tr, op, figure);

		most = fmax(most, rate / published_limit(p, figure, tr->bs).base);
	}
	return most;
}

static void record_op(struct compare_op *o, const struct test_result *tr,
                      const struct published *published, enum stats_op op)
{
	const struct hist *latency = &tr->stats->op[op].latency;
	double share = op == STATS_SYNC ? NAN : limit_share(tr, published, op);

	o->relied = may_be_relied_on(tr, op) && (!o->n || o->relied);
	o->n++;
	sample_add(&o->cell[COMPARE_IOPS].runs, test_result_iops(tr, op));
	if (op != STATS_SYNC)
		sample_add(&o->cell[COMPARE_BW].runs, test_result_bw(tr, op));
	if (hist_percentile_carried(latency, 50))
		sample_add(&o->cell[COMPARE_P50].runs, (double)hist_percentile(latency, 50));
	if (hist_percentile_carried(latency, 99))
		sample_add(&o->cell[COMPARE_P99].runs, (double)hist_percentile(latency, 99));
	if (!isnan(share))
		sample_add(&o->limit_share, share);
}

static void record(struct compare_entry *e, const struct result *part, const struct test_result *tr)
{
	const struct published *published = &result_conditions(part, tr)->class_limits;

	if (!e->opened && tr->ioengine[0]) {
		e->opened = true;
		compare_take_values(compare_load, COMPARE_LOAD_ROWS, tr, e->load);
	}
	for (unsigned i = 0; i < tr->n_verdicts && !e->limit[0]; i++)
		if (strcmp(tr->verdicts[i].code, "none") != 0)
			copy(e->limit, sizeof(e->limit), tr->verdicts[i].code);
	e->n_ok += tr->status == STATUS_OK && !search_failed(&tr->search);
	e->n_failed += tr->status == STATUS_FAILED ||
	               (tr->status == STATUS_OK && search_failed(&tr->search));
	e->n_interrupted += tr->status == STATUS_INTERRUPTED;
	if (tr->status != STATUS_OK || search_failed(&tr->search))
		return;
	for (unsigned op = 0; op < STATS_OPS; op++)
		if (test_result_measured(tr, (enum stats_op)op))
			record_op(&e->op[op], tr, published, (enum stats_op)op);
}

static void record_gates(struct compare *c, const struct compare_result *r, const char *name,
                         const struct test_result *tr)
{
	unsigned at = 0;

	while (c->results[at] != r)
		at++;
	for (unsigned i = 0; i < c->n_gates; i++) {
		struct compare_gate *gate = &c->gates[i];
		struct measured figure;

		if (strcmp(gate->beside.test, name) != 0)
			continue;
		figure = verdict_measured(tr, &gate->beside.expect);
		gate->of[at].n++;
		if (!figure.known || fell_back_to_buffers(tr)) {
			gate->of[at].unknown++;
			continue;
		}
		sample_add(&gate->of[at].low, figure.low);
		sample_add(&gate->of[at].high, figure.high);
	}
}

/* False where that run of it is there already. */
static bool mark_seen(struct compare_entry *e, uint64_t index)
{
	uint64_t bit = 1ull << index % 64, *word = &e->seen[index / 64];
	bool seen = *word & bit;

	*word |= bit;
	return !seen;
}

static int add_test(struct compare *c, struct compare_result *r, const struct result *part,
                    const struct test_result *tr, struct err *err)
{
	const char *name = tr->repeat.count ? tr->repeat.of : tr->name;
	uint64_t index = tr->repeat.count ? tr->repeat.index : 0;
	struct compare_entry *e;

	if (index > PLAN_REPEATS_MAX)
		return left_out(tr->name, "its number is none that a repeat has", err);
	if (entry_of(c, r, name, &e, err))
		return -1;
	if (!e)
		return 0;
	if (!mark_seen(e, index)) {
		if (r->told_twice)
			return 0;
		r->told_twice = true;
		return err_set(err, ERR_PLAN, "its '%s' was given before%s: not counted twice",
		               tr->name, r->id[0] ? " by the same run" : "");
	}
	e->planned = max_u64(tr->repeat.count, 1);
	e->persists = result_is_persist(tr);
	if (e->persists)
		return 0;
	record(e, part, tr);
	record_gates(c, r, name, tr);
	return 0;
}

int compare_add(struct compare *c, const struct result *part, const char *source, const char *pod,
                struct err *err)
{
	struct compare_result *r;
	int ret = result_of(c, part, source, pod, &r, err);

	for (unsigned i = 0; r && i < part->n_tests; i++)
		if (add_test(c, r, part, &part->tests[i], err))
			ret = -1;
	return ret;
}
