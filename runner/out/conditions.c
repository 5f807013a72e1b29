/*
 * What was measured on, and how: first what is the same for the whole run, then what the
 * tests may differ in.
 */
#include "base/units.h"
#include "out/summary.h"
#include "out/text.h"

static const char *size_or_unknown(uint64_t bytes, char *out)
{
	return bytes ? units_format_size(bytes, out) : "unknown";
}

static void remark_size(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	char asked[UNITS_TEXT_MAX], used[UNITS_TEXT_MAX];

	if (index || !tr->size)
		return;
	text_append(out, size, "%s", units_format_size(tr->size, used));
	if (tr->size != tr->size_asked)
		text_append(out, size, " of %s asked", size_or_unknown(tr->size_asked, asked));
}

static void remark_engine(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	if (index || !tr->ioengine[0])
		return;
	text_append(out, size, "%s", tr->ioengine);
	if (tr->ioengine_reason[0])
		text_append(out, size, " (%s)", tr->ioengine_reason);
}

static void remark_direct(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	if (index || !tr->ioengine[0])
		return;
	text_append(out, size, "%s", tr->direct ? "yes" : "no, buffered");
	if (tr->direct_reason[0])
		text_append(out, size, " (%s)", tr->direct_reason);
}

static void remark_window(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	char window[UNITS_TEXT_MAX], ramp[UNITS_TEXT_MAX];

	if (index || !tr->runtime_ns || tr->status != STATUS_OK)
		return;
	text_append(out, size, "%s", units_format_time(tr->runtime_ns, window));
	if (tr->ramp_time_ns)
		text_append(out, size, " after a ramp of %s",
		            units_format_time(tr->ramp_time_ns, ramp));
}

static void remark_layout(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	char bytes[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];

	if (!index && tr->layout_bytes)
		text_append(out, size, "%s written in %s, not counted",
		            units_format_size(tr->layout_bytes, bytes),
		            units_format_time(tr->layout_ns, time));
}

/* What makes a test other than a closed loop of plain requests. */
static void remark_load(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	static const char *const opened[] = {[SYNC_SYNC] = "O_SYNC", [SYNC_DSYNC] = "O_DSYNC"};
	const struct {
		const char *name;
		uint64_t every;
	} syncs[] = {{"fsync", tr->fsync}, {"fdatasync", tr->fdatasync}};

	if (index)
		return;
	if (tr->rate_iops)
		text_append(out, size, "open loop at %llu requests/s, latency from the due time",
		            (unsigned long long)tr->rate_iops);
	if (tr->sync != SYNC_NONE)
		text_append(out, size, "%sfile opened %s", *out ? ", " : "", opened[tr->sync]);
	for (unsigned i = 0; i < ARRAY_SIZE(syncs); i++) {
		if (!syncs[i].every)
			continue;
		text_append(out, size, "%s%s after ", *out ? ", " : "", syncs[i].name);
		if (syncs[i].every == 1)
			text_append(out, size, "each write");
		else
			text_append(out, size, "every %llu writes",
			            (unsigned long long)syncs[i].every);
	}
}

static void remark_concession(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	if (index < tr->n_concessions)
		text_append(out, size, "%s", tr->concessions[index]);
}

static void write_target(FILE *out, const struct conditions *c)
{
	char block[UNITS_TEXT_MAX], capacity[UNITS_TEXT_MAX], free_text[UNITS_TEXT_MAX];

	fprintf(out, "  target         %s\n", or_unknown(c->target));
	fprintf(out, "  file system    %s on %s, %s blocks, capacity %s, free %s\n",
	        or_unknown(c->fs), or_unknown(c->mount_source),
	        size_or_unknown(c->block_bytes, block),
	        size_or_unknown(c->capacity_bytes, capacity),
	        size_or_unknown(c->free_bytes, free_text));
	fprintf(out, "  mount options  %s\n", or_unknown(c->mount_options));
	if (c->device[0])
		fprintf(out, "  device         %s, scheduler %s\n", c->device,
		        or_unknown(c->scheduler));
	else
		fputs("  device         none that the kernel shows\n", out);
	if (c->class[0])
		fprintf(out, "  class          %s\n", c->class);
}

void conditions_write(FILE *out, const struct result *result)
{
	const struct conditions *c = &result->conditions;
	char memory[UNITS_TEXT_MAX];

	fputs("Conditions\n", out);
	fprintf(out, "  run            plan %s, pvcbench %s, %s, id %s\n", or_unknown(result->plan),
	        or_unknown(result->version), or_unknown(result->started), or_unknown(result->id));
	fprintf(out, "  node           %s, kernel %s, %s\n", or_unknown(c->node),
	        or_unknown(c->kernel), or_unknown(c->machine));
	if (c->cpus > 0)
		fprintf(out, "  limits         %.4g CPU, ", c->cpus);
	else
		fputs("  limits         CPU unknown, ", out);
	fprintf(out, "memory %s\n", size_or_unknown(c->memory_bytes, memory));
	if (!result->n_targets)
		write_target(out, c);
	for (unsigned i = 0; i < result->n_targets; i++)
		write_target(out, &result->targets[i]);
	remarks_write(out, result, "  size           ", remark_size);
	remarks_write(out, result, "  engine         ", remark_engine);
	remarks_write(out, result, "  O_DIRECT       ", remark_direct);
	remarks_write(out, result, "  load           ", remark_load);
	remarks_write(out, result, "  layout         ", remark_layout);
	remarks_write(out, result, "  window         ", remark_window);
	remarks_write(out, result, "  concession     ", remark_concession);
}
