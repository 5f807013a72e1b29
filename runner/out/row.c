/*
 * The cells of a line, by a list of columns: what the table of the log and that of the report show.
 */
#include "out/row.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "out/text.h"

#define TARGET_WIDTH 24 /* of a target's path, from its end */

#define NO_OP STATS_OPS

static const struct hist *latency_of(const struct row *row)
{
	return row->op == NO_OP ? NULL : &row->tr->stats->op[row->op].latency;
}

static void cell_name(const struct row *row, char *out)
{
	text_append(out, ROW_CELL_MAX, "%s", row->tr->name);
}

static void cell_target(const struct row *row, char *out)
{
	const char *path = row->tr->target;
	size_t length = strlen(path);

	if (length > TARGET_WIDTH)
		text_append(out, ROW_CELL_MAX, "...%s", path + length - (TARGET_WIDTH - 3));
	else
		text_append(out, ROW_CELL_MAX, "%s", path);
}

/* A test with more than one row says in each which operation it shows. */
static void cell_rw(const struct row *row, char *out)
{
	const char *name = plan_rw_name(row->tr->rw);
	unsigned rows = 0;

	for (unsigned op = 0; op < STATS_OPS; op++)
		rows += test_result_measured(row->tr, (enum stats_op)op);
	text_append(out, ROW_CELL_MAX, "%s", name);
	if (rows > 1 && strcmp(name, stats_op_name[row->op]) != 0)
		text_append(out, ROW_CELL_MAX, " %s", stats_op_name[row->op]);
}

static void cell_bs(const struct row *row, char *out)
{
	if (row->op == STATS_SYNC)
		text_append(out, ROW_CELL_MAX, "-");
	else
		text_size(row->tr->bs, out);
}

static void cell_depth(const struct row *row, char *out)
{
	text_append(out, ROW_CELL_MAX, "%llu", (unsigned long long)row->tr->iodepth);
	if (row->tr->numjobs != 1)
		text_append(out, ROW_CELL_MAX, "x%llu", (unsigned long long)row->tr->numjobs);
}

static void cell_iops(const struct row *row, char *out)
{
	if (row->op == NO_OP)
		text_append(out, ROW_CELL_MAX, "-");
	else
		text_rate(test_result_iops(row->tr, row->op), out);
}

static void cell_bw(const struct row *row, char *out)
{
	if (row->op == NO_OP || row->op == STATS_SYNC)
		text_append(out, ROW_CELL_MAX, "-");
	else
		units_format_bw(test_result_bw(row->tr, row->op), out);
}

static void cell_mean(const struct row *row, char *out)
{
	const struct hist *h = latency_of(row);

	if (h && h->count)
		units_format_time((uint64_t)llround(hist_mean(h)), out);
	else
		text_append(out, ROW_CELL_MAX, "-");
}

static void percentile_text(const struct hist *h, double percent, char *out)
{
	if (h && hist_percentile_carried(h, percent))
		units_format_time(hist_percentile(h, percent), out);
	else
		text_append(out, ROW_CELL_MAX, "-");
}

static void cell_p50(const struct row *row, char *out)
{
	percentile_text(latency_of(row), 50, out);
}

static void cell_p99(const struct row *row, char *out)
{
	percentile_text(latency_of(row), 99, out);
}

static void cell_p999(const struct row *row, char *out)
{
	percentile_text(latency_of(row), 99.9, out);
}

static void cell_max(const struct row *row, char *out)
{
	const struct hist *h = latency_of(row);

	if (h && h->count)
		units_format_time(h->max, out);
	else
		text_append(out, ROW_CELL_MAX, "-");
}

/*
 * What a verdict is about need not be a limit: a burst or a cache at the server made the
 * figure higher. The syncs of a buffered test do wait for the volume.
 */
static bool is_limit(const struct verdict *verdict, enum stats_op op)
{
	if (!strcmp(verdict->code, "burst") || !strcmp(verdict->code, "server-cache"))
		return false;
	return op != STATS_SYNC || strcmp(verdict->code, "page-cache") != 0;
}

static void cell_limit(const struct row *row, char *out)
{
	static const char *const status[] = {
	        [STATUS_FAILED] = "FAILED", [STATUS_INTERRUPTED] = "interrupted"};
	unsigned i = 0;

	if (row->tr->status != STATUS_OK) {
		text_append(out, ROW_CELL_MAX, "%s", status[row->tr->status]);
		return;
	}
	while (i < row->tr->n_verdicts && !is_limit(&row->tr->verdicts[i], row->op))
		i++;
	text_append(out, ROW_CELL_MAX, "%s",
	            i < row->tr->n_verdicts ? row->tr->verdicts[i].code : "-");
}

const struct row_column row_columns[ROW_COLUMNS] = {
        {"test", false, cell_name},
        {"target", false, cell_target},
        {"rw", false, cell_rw},
        {"bs", true, cell_bs},
        {"depth", true, cell_depth},
        {"IOPS", true, cell_iops},
        {"bandwidth", true, cell_bw},
        {"mean", true, cell_mean},
        {"p50", true, cell_p50},
        {"p99", true, cell_p99},
        {"p99.9", true, cell_p999},
        {"max", true, cell_max},
        {"limited by", false, cell_limit},
};

void row_each(const struct test_result *tr, row_fn *visit, void *arg)
{
	struct row row = {.tr = tr, .op = NO_OP};
	unsigned n = 0;

	if (!result_has_load(tr)) /* it is told apart */
		return;
	for (unsigned op = 0; op < STATS_OPS; op++) {
		if (!test_result_measured(tr, (enum stats_op)op))
			continue;
		row.op = (enum stats_op)op;
		visit(arg, &row);
		n++;
	}
	if (!n)
		visit(arg, &row);
}
