/*
 * After the last result: labels, what is best, ratios to the baseline, which differences are
 * shown, which gates are not passed.
 */
#include <math.h>
#include <string.h>

#include "result/compare.h"
#include "result/verdict.h"

/* Of these a difference may be claimed. */
static const enum compare_figure claimed[] = {COMPARE_IOPS, COMPARE_P50, COMPARE_P99};

static bool higher_is_better(enum compare_figure figure)
{
	return figure == COMPARE_IOPS || figure == COMPARE_BW;
}

double compare_mean(const struct compare_op *op, enum compare_figure figure)
{
	const struct sample *runs = &op->cell[figure].runs;

	return op->n && runs->n == op->n ? runs->mean : NAN;
}

bool compare_suffices(const struct compare_op *op, enum compare_figure figure)
{
	return op->n >= COMPARE_RUNS_MIN && !isnan(compare_mean(op, figure));
}

bool compare_has_op(const struct compare *c, unsigned test, enum stats_op op)
{
	for (unsigned i = 0; i < c->n_results; i++)
		if (c->results[i]->entries[test] && c->results[i]->entries[test]->op[op].n)
			return true;
	return false;
}

/* ---- labels ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What tells it from others of its class. */
static const char *origin(const struct compare_result *r)
{
	if (r->pod[0])
		return r->pod;
	if (strcmp(r->source, "-") != 0)
		return base_name(r->source);
	return r->host[0] ? r->host : r->id;
}

static const char *first_name(const struct compare_result *r)
{
	return r->class[0] ? r->class : origin(r);
}

/* Of the first so many results. */
static unsigned count_named(const struct compare *c, const char *name, unsigned n_first)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_first; i++)
		n += !strcmp(first_name(c->results[i]), name);
	return n;
}

static bool is_taken(const struct compare *c, unsigned n_first, const char *wish)
{
	for (unsigned i = 0; i < n_first; i++)
		if (!strcmp(c->results[i]->label, wish))
			return true;
	return false;
}

/* Its class; where several have that, with what tells it from them. */
static void label(struct compare *c, unsigned i)
{
	struct compare_result *r = c->results[i];
	const char *name = first_name(r);
	char wish[COMPARE_LABEL_MAX - 16];

	if (r->class[0] && count_named(c, name, c->n_results) > 1)
		snprintf(wish, sizeof(wish), "%.60s (%.80s)", name, origin(r));
	else
		snprintf(wish, sizeof(wish), "%.140s", *name ? name : "unnamed");
	compare_clean(wish);
	snprintf(r->label, sizeof(r->label), "%s", wish);
	for (unsigned n = 2; is_taken(c, i, r->label); n++)
		snprintf(r->label, sizeof(r->label), "%s #%u", wish, n);
}

static void label_all(struct compare *c)
{
	for (unsigned i = 0; i < c->n_results; i++) {
		const char *name = first_name(c->results[i]);
		unsigned n = count_named(c, name, c->n_results);

		label(c, i);
		if (n > 1 && count_named(c, name, i + 1) == 1)
			compare_note(c,
			             "'%.60s' is there %u times: runs of their own, beside each "
			             "other",
			             name, n);
	}
}

/* Its rates are a part of what the volume gave. */
static void note_peers(struct compare *c)
{
	for (unsigned i = 0; i < c->n_results; i++) {
		const struct compare_result *r = c->results[i];

		if (r->peer.count < 2 || r->pods)
			continue;
		compare_note(c,
		             "'%s' is one of %llu pods that ran together, each with a part of the "
		             "rate: pvcbench merge makes one result of them",
		             r->label, (unsigned long long)r->peer.count);
		return;
	}
}

/* ---- the baseline ---- */

static bool is_called(const struct compare_result *r, const char *name)
{
	const char *const names[] = {r->label, r->class, r->source, base_name(r->source),
	                             r->pod,   r->id};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i][0] && !strcmp(names[i], name))
			return true;
	return false;
}

static int refuse_baseline(const struct compare *c, const char *name, unsigned n, struct err *err)
{
	err_set(err, ERR_PLAN, "the baseline '%.100s' %s (there are:", name,
	        n ? "may be several results" : "is none of the results");
	for (unsigned i = 0; i < c->n_results; i++)
		err_append(err, " '%s'", c->results[i]->label);
	return err_append(err, ")");
}

static int find_baseline(struct compare *c, const char *name, struct err *err)
{
	unsigned n = 0;

	c->baseline = 0;
	for (unsigned i = 0; name && i < c->n_results; i++) {
		if (!strcmp(c->results[i]->label, name)) {
			c->baseline = i;
			return 0;
		}
		if (is_called(c->results[i], name)) {
			c->baseline = i;
			n++;
		}
	}
	return !name || n == 1 ? 0 : refuse_baseline(c, name, n, err);
}

/* ---- each operation of each test ---- */

static struct compare_op *op_at(const struct compare *c, unsigned result, unsigned test,
                                enum stats_op op)
{
	struct compare_entry *e = c->results[result]->entries[test];

	return e && e->op[op].n ? &e->op[op] : NULL;
}

typedef void visit_fn(struct compare *c, struct compare_op *o, struct compare_op *baseline,
                      enum compare_figure figure);

/* Those of which a difference may be claimed, beside the baseline's. */
static void each_pair(struct compare *c, unsigned test, enum stats_op op, visit_fn *visit)
{
	struct compare_op *baseline = op_at(c, c->baseline, test, op);

	for (unsigned i = 0; baseline && i < c->n_results; i++) {
		struct compare_op *o = op_at(c, i, test, op);

		for (unsigned f = 0; o && i != c->baseline && f < ARRAY_SIZE(claimed); f++)
			visit(c, o, baseline, claimed[f]);
	}
}

static void each_claim(struct compare *c, visit_fn *visit)
{
	for (unsigned t = 0; t < c->n_tests; t++)
		for (unsigned op = 0; op < STATS_OPS; op++)
			each_pair(c, t, (enum stats_op)op, visit);
}

static bool is_comparable(const struct compare_op *o, const struct compare_op *baseline,
                          enum compare_figure figure)
{
	return o->relied && baseline->relied && compare_mean(o, figure) >= 0 &&
	       compare_mean(baseline, figure) > 0;
}

static void count(struct compare *c, struct compare_op *o, struct compare_op *baseline,
                  enum compare_figure figure)
{
	if (!is_comparable(o, baseline, figure))
		return;
	if (compare_suffices(o, figure) && compare_suffices(baseline, figure))
		c->n_intervals++;
	else
		c->n_too_few++;
}

static int claim_of(const struct ratio *ratio)
{
	bool far = fabs(ratio->value - 1) > COMPARE_DIFFERENCE;

	if (far && ratio->low > 1)
		return CLAIM_HIGHER;
	return far && ratio->high < 1 ? CLAIM_LOWER : CLAIM_NO_DIFFERENCE;
}

static void judge(struct compare *c, struct compare_op *o, struct compare_op *baseline,
                  enum compare_figure figure)
{
	struct compare_cell *cell = &o->cell[figure];
	struct ratio ratio;

	if (!is_comparable(o, baseline, figure))
		return;
	cell->claim = CLAIM_TOO_FEW;
	if (!compare_suffices(o, figure) || !compare_suffices(baseline, figure) ||
	    !ratio_of_means(&cell->runs, &baseline->cell[figure].runs,
	                    (1 - COMPARE_CONFIDENCE) / c->n_intervals, &ratio))
		return;
	cell->claim = claim_of(&ratio);
	cell->low = ratio.low;
	cell->high = ratio.high;
}

static void take_ratios(struct compare_op *o, const struct compare_op *baseline)
{
	for (unsigned f = 0; f < COMPARE_FIGURES; f++) {
		enum compare_figure figure = (enum compare_figure)f;
		double base = baseline ? compare_mean(baseline, figure) : NAN;

		o->cell[f].ratio = base > 0 ? compare_mean(o, figure) / base : NAN;
		o->cell[f].low = o->cell[f].high = NAN;
	}
}

static void mark_best(struct compare *c, unsigned test, enum stats_op op,
                      enum compare_figure figure)
{
	double sign = higher_is_better(figure) ? 1 : -1, best = -INFINITY;
	unsigned n = 0;

	for (unsigned i = 0; i < c->n_results; i++) {
		const struct compare_op *o = op_at(c, i, test, op);

		if (!o || !o->relied || isnan(compare_mean(o, figure)))
			continue;
		best = fmax(best, sign * compare_mean(o, figure));
		n++;
	}
	for (unsigned i = 0; n > 1 && i < c->n_results; i++) {
		struct compare_op *o = op_at(c, i, test, op);

		if (o && o->relied && sign * compare_mean(o, figure) == best)
			o->cell[figure].best = true;
	}
}

static void prepare(struct compare *c, unsigned test, enum stats_op op)
{
	for (unsigned i = 0; i < c->n_results; i++) {
		struct compare_op *o = op_at(c, i, test, op);

		if (o)
			take_ratios(o, op_at(c, c->baseline, test, op));
	}
	for (unsigned f = 0; f < COMPARE_FIGURES; f++)
		mark_best(c, test, op, (enum compare_figure)f);
}

/* ---- gates ---- */

/* Both bounds of what the baseline gave have to give the same answer. */
static void judge_gate(const struct compare *c, struct compare_gate *gate, unsigned i)
{
	struct measured figure = {
	        .known = gate->of[i].n && !gate->of[i].unknown,
	        .low = gate->of[i].low.mean,
	        .high = gate->of[i].high.mean,
	};
	struct expect expect = gate->beside.expect;
	struct expectation *outcome = &gate->of[i].outcome;
	double factor = gate->beside.factor;
	int first;

	gate->of[i].judged = true;
	if (factor > 0) {
		expect.value = factor * gate->of[c->baseline].low.mean;
		figure.known &= gate->of[c->baseline].n && !gate->of[c->baseline].unknown;
	}
	verdict_hold(outcome, &expect, figure);
	first = outcome->result;
	if (factor > 0) {
		expect.value = factor * gate->of[c->baseline].high.mean;
		verdict_hold(outcome, &expect, figure);
	}
	if (outcome->result != first)
		outcome->result = EXPECT_NOT_JUDGED;
}

static bool has_test(const struct compare *c, const char *name)
{
	for (unsigned t = 0; t < c->n_tests; t++)
		if (!strcmp(c->tests[t], name))
			return true;
	return false;
}

static void judge_gates(struct compare *c)
{
	for (unsigned g = 0; g < c->n_gates; g++) {
		const struct expect_beside *beside = &c->gates[g].beside;

		for (unsigned i = 0; i < c->n_results; i++)
			if (i != c->baseline || !(beside->factor > 0))
				judge_gate(c, &c->gates[g], i);
		if (!has_test(c, beside->test))
			compare_note(c, "no result has a test '%s', which is asked for",
			             beside->test);
	}
}

static bool gate_passed(const struct compare *c, const struct compare_gate *gate)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->n_results; i++) {
		if (gate->of[i].judged && gate->of[i].outcome.result != EXPECT_FAIL)
			return false;
		n += gate->of[i].judged;
	}
	return n > 0;
}

int compare_exit_code(const struct compare *c)
{
	for (unsigned g = 0; g < c->n_gates; g++)
		if (!gate_passed(c, &c->gates[g]))
			return EXIT_THRESHOLD;
	return 0;
}

int compare_finish(struct compare *c, const char *baseline, struct err *err)
{
	if (!c->n_results)
		return err_set(err, ERR_PLAN, "there is no result to compare");
	label_all(c);
	note_peers(c);
	if (find_baseline(c, baseline, err))
		return -1;
	for (unsigned t = 0; t < c->n_tests; t++)
		for (unsigned op = 0; op < STATS_OPS; op++)
			prepare(c, t, (enum stats_op)op);
	c->n_intervals = c->n_too_few = 0;
	each_claim(c, count);
	each_claim(c, judge);
	judge_gates(c);
	if (c->n_results == 1)
		compare_note(c, "there is one result only: nothing to compare it with");
	return 0;
}
