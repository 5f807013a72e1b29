/*
 * What a result document says beside its tests and can be derived from them, so that it is
 * written and never read.
 */
#include <math.h>

#include "out/json_part.h"
#include "result/knee.h"
#include "result/repeats.h"

/* ---- knees ---- */

static void write_knee(struct emit *emit, const struct curve *curve)
{
	emit_open(emit, NULL, '{');
	emit_open(emit, "tests", '[');
	for (unsigned i = 0; i < curve->n_points; i++)
		emit_text(emit, NULL, curve->points[i]->name);
	emit_close(emit, ']');
	if (curve->grows)
		emit_null(emit, "iodepth");
	else
		emit_uint(emit, "iodepth", curve->knee->iodepth);
	emit_double(emit, "iops", curve->grows ? NAN : curve->knee_iops);
	emit_uint(emit, "best_iodepth", curve->best->iodepth);
	emit_double(emit, "best_iops", curve->best_iops);
	emit_close(emit, '}');
}

void json_write_knees(struct emit *emit, const struct member *row, const void *object)
{
	const struct result *result = object;
	struct curve curve;

	emit_open(emit, row->name, '[');
	for (unsigned i = 0; i < result->n_tests; i++)
		if (curve_at(&curve, result, i))
			write_knee(emit, &curve);
	emit_close(emit, ']');
}

bool json_has_knees(const void *object)
{
	const struct result *result = object;
	struct curve curve;

	for (unsigned i = 0; i < result->n_tests; i++)
		if (curve_at(&curve, result, i))
			return true;
	return false;
}

/* ---- repeats ---- */

static void write_spread(struct emit *emit, const char *key, const struct spread *spread)
{
	emit_open(emit, key, '{');
	emit_double(emit, "mean", spread->mean);
	emit_double(emit, "stddev", spread->stddev);
	emit_double(emit, "ci95", spread->margin);
	emit_close(emit, '}');
}

static void write_repeated(struct emit *emit, const struct repeats *repeats)
{
	emit_open(emit, NULL, '{');
	emit_text(emit, "of", repeats->runs[0]->repeat.of);
	emit_uint(emit, "count", repeats->runs[0]->repeat.count);
	emit_uint(emit, "runs", repeats->n);
	for (const struct repeats_figure *figure = repeats_figures; figure->name; figure++) {
		struct spread spread;

		if (repeats_spread(repeats, figure, &spread))
			write_spread(emit, figure->name, &spread);
	}
	emit_close(emit, '}');
}

void json_write_repeats(struct emit *emit, const struct member *row, const void *object)
{
	const struct result *result = object;
	struct repeats repeats;

	emit_open(emit, row->name, '[');
	for (unsigned i = 0; i < result->n_tests; i++)
		if (repeats_at(&repeats, result, i))
			write_repeated(emit, &repeats);
	emit_close(emit, ']');
}

bool json_has_repeats(const void *object)
{
	const struct result *result = object;
	struct repeats repeats;

	for (unsigned i = 0; i < result->n_tests; i++)
		if (repeats_at(&repeats, result, i))
			return true;
	return false;
}
