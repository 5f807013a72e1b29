/*
 * What was measured on, and how: first what is the same for the whole run, then what the
 * tests may differ in.
 */
#include <stdarg.h>
#include <string.h>

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
	if (tr->size_class)
		text_append(out, size, " (class.yaml leaves %s)",
		            units_format_size(tr->size_class, asked));
	if (tr->fits_memory)
		text_append(out, size, " (buffered, and memory may hold all of it)");
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
	char bytes[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX], rate[UNITS_TEXT_MAX];
	double seconds = (double)tr->layout_ns / NSEC_PER_SEC;

	if (index)
		return;
	if (tr->first_write)
		text_append(out, size, "none: first write, the file was not laid out");
	else if (tr->layout_bytes)
		text_append(out, size, "%s written in %s, %s, not counted",
		            units_format_size(tr->layout_bytes, bytes),
		            units_format_time(tr->layout_ns, time),
		            units_format_bw(seconds > 0 ? (double)tr->layout_bytes / seconds : 0,
		                            rate));
}

static void remark_verify(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	char block[UNITS_TEXT_MAX];

	if (index || tr->verify == VERIFY_NONE)
		return;
	text_append(out, size, "crc32c, %llu blocks", (unsigned long long)tr->verify_checked);
	if (tr->verify_block_bytes)
		text_append(out, size, " of %s", text_size(tr->verify_block_bytes, block));
	text_append(out, size, " checked, %llu mismatches",
	            (unsigned long long)tr->verify_mismatches);
	if (tr->verify_crossed)
		text_append(out, size, ", %llu not judged where requests crossed",
		            (unsigned long long)tr->verify_crossed);
	if (tr->ledger[0])
		text_append(out, size, "; ledger %s", tr->ledger);
}

/* ---- what makes a test other than a closed loop of plain requests ---- */

typedef void phrase_fn(const struct test_result *tr, char *out, size_t size);

/* A part of a remark: a comma stands before it unless it is the first. */
static void PRINTF_LIKE(3, 4) say(char *out, size_t size, const char *fmt, ...)
{
	char phrase[REMARK_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(phrase, sizeof(phrase), fmt, args);
	va_end(args);
	text_append(out, size, "%s%s", *out ? ", " : "", phrase);
}

static void phrase_mix(const struct test_result *tr, char *out, size_t size)
{
	if (plan_rw_mixes(tr->rw))
		say(out, size, "%llu%% of the requests read", (unsigned long long)tr->rwmixread);
}

static void phrase_rate(const struct test_result *tr, char *out, size_t size)
{
	char rate[UNITS_TEXT_MAX];

	if (tr->rate_iops)
		say(out, size, "open loop at %llu requests/s, latency from the due time",
		    (unsigned long long)tr->rate_iops);
	if (tr->rate)
		say(out, size, "open loop at %s/s, latency from the due time",
		    text_size(tr->rate, rate));
}

static void phrase_thinktime(const struct test_result *tr, char *out, size_t size)
{
	char rest[UNITS_TEXT_MAX];

	if (tr->thinktime_ns)
		say(out, size, "a rest of %s after each request",
		    units_format_time(tr->thinktime_ns, rest));
}

static void phrase_offsets(const struct test_result *tr, char *out, size_t size)
{
	if (tr->random_distribution[0] && strcmp(tr->random_distribution, "uniform") != 0)
		say(out, size, "random offsets by %s", tr->random_distribution);
	if (tr->randommap)
		say(out, size, "each block once a pass");
}

static void phrase_data(const struct test_result *tr, char *out, size_t size)
{
	bool written = plan_rw_writes(tr->rw) || tr->layout == LAYOUT_FULL;

	if (tr->buffer == BUFFER_ZERO && written)
		say(out, size, "data of zeros");
}

static void phrase_syncs(const struct test_result *tr, char *out, size_t size)
{
	static const char *const opened[] = {[SYNC_SYNC] = "O_SYNC", [SYNC_DSYNC] = "O_DSYNC"};
	const struct {
		const char *name;
		uint64_t every;
	} syncs[] = {{"fsync", tr->fsync}, {"fdatasync", tr->fdatasync}};

	if (tr->sync != SYNC_NONE)
		say(out, size, "file opened %s", opened[tr->sync]);
	for (unsigned i = 0; i < ARRAY_SIZE(syncs); i++) {
		if (syncs[i].every == 1)
			say(out, size, "%s after each write", syncs[i].name);
		else if (syncs[i].every)
			say(out, size, "%s after every %llu writes", syncs[i].name,
			    (unsigned long long)syncs[i].every);
	}
	if (tr->end_fsync)
		say(out, size, "fsync at the end");
}

static void phrase_amount(const struct test_result *tr, char *out, size_t size)
{
	char amount[UNITS_TEXT_MAX];

	if (tr->loops)
		say(out, size, "%llu pass%s over the size", (unsigned long long)tr->loops,
		    tr->loops == 1 ? "" : "es");
	if (tr->io_size)
		say(out, size, "%s by each job", text_size(tr->io_size, amount));
}

static void phrase_place(const struct test_result *tr, char *out, size_t size)
{
	char offset[UNITS_TEXT_MAX];

	if (tr->filename[0])
		say(out, size, "file '%s'", tr->filename);
	if (tr->file_per_job && tr->numjobs > 1)
		say(out, size, "a file for each job");
	if (tr->offset)
		say(out, size, "from offset %s on", text_size(tr->offset, offset));
	if (tr->offset_increment && tr->numjobs > 1 && !tr->file_per_job)
		say(out, size, "each job %s further", text_size(tr->offset_increment, offset));
}

static void remark_load(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	static phrase_fn *const phrases[] = {
	        phrase_mix,  phrase_rate,  phrase_thinktime, phrase_offsets,
	        phrase_data, phrase_syncs, phrase_place,     phrase_amount,
	};

	for (unsigned i = 0; !index && i < ARRAY_SIZE(phrases); i++)
		phrases[i](tr, out, size);
}

static void remark_concession(const struct test_result *tr, unsigned index, char *out, size_t size)
{
	if (index < tr->n_concessions)
		text_append(out, size, "%s", tr->concessions[index]);
}

/* One that the plan gave is that of all tests; those that were drawn are in the result lines. */
static void write_seed(FILE *out, const struct result *result)
{
	uint64_t seed = result->n_tests ? result->tests[0].randseed : 0;

	for (unsigned i = 1; i < result->n_tests; i++)
		if (result->tests[i].randseed != seed)
			return;
	if (seed)
		fprintf(out, "  randseed       %llu\n", (unsigned long long)seed);
}

/* File systems take some of a volume for themselves; this is beyond that. */
static bool is_other_capacity(uint64_t stated, uint64_t published)
{
	double ratio = (double)stated / (double)published;

	return stated && published && (ratio < 0.8 || ratio > 1.25);
}

static void write_class(FILE *out, const struct conditions *c)
{
	static const char title[] = "  class          ", further[] = "                 ";
	char limits[PUBLISHED_TEXT_MAX], own[UNITS_TEXT_MAX], published[UNITS_TEXT_MAX];
	const struct published *p = &c->class_limits;

	if (c->class[0])
		fprintf(out, "%s%s: %s\n", title, c->class, published_text(p, limits));
	if (c->class[0] && p->source[0] && is_other_capacity(c->capacity_bytes, p->capacity_bytes))
		fprintf(out,
		        "%sthe volume's own capacity is %s: the limits are those of the class's "
		        "%s\n",
		        further, units_format_size(c->capacity_bytes, own),
		        units_format_size(p->capacity_bytes, published));
	if (c->class_note[0])
		fprintf(out, "%s%s\n", c->class[0] ? further : title, c->class_note);
}

static void write_io_limits(FILE *out, const struct io_limits *limits)
{
	const struct {
		const char *whose;
		uint64_t iops, bytes;
	} ops[] = {{"read", limits->read_iops, limits->read_bytes},
	           {"write", limits->write_iops, limits->write_bytes}};
	char text[REMARK_MAX] = "", rate[UNITS_TEXT_MAX];

	for (unsigned op = 0; op < ARRAY_SIZE(ops); op++) {
		if (ops[op].iops)
			say(text, sizeof(text), "%s %llu IOPS", ops[op].whose,
			    (unsigned long long)ops[op].iops);
		if (ops[op].bytes)
			say(text, sizeof(text), "%s %s", ops[op].whose,
			    units_format_bw((double)ops[op].bytes, rate));
	}
	if (text[0])
		fprintf(out, "  I/O limits     %s, by a control group\n", text);
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
		fprintf(out, "  device         %s, scheduler %s%s%s\n", c->device,
		        or_unknown(c->scheduler), c->write_cache[0] ? ", write cache " : "",
		        c->write_cache);
	else
		fputs("  device         none that the kernel shows\n", out);
	write_io_limits(out, &c->io_limits);
	write_class(out, c);
}

/* How long after the layout: a cache may still hold what is young. */
static void write_data_age(FILE *out, const struct result *result)
{
	const struct test_result *young = NULL, *old = NULL;
	char from[UNITS_TEXT_MAX], to[UNITS_TEXT_MAX];

	for (unsigned i = 0; i < result->n_tests; i++) {
		const struct test_result *tr = &result->tests[i];

		if (!tr->data_age_ns)
			continue;
		if (!young || tr->data_age_ns < young->data_age_ns)
			young = tr;
		if (!old || tr->data_age_ns > old->data_age_ns)
			old = tr;
	}
	if (!young)
		return;
	fprintf(out, "  data age       %s since the layout (%s)",
	        units_format_time(young->data_age_ns, from), young->name);
	if (old != young)
		fprintf(out, " to %s (%s)", units_format_time(old->data_age_ns, to), old->name);
	fputc('\n', out);
}

void conditions_write(FILE *out, const struct result *result)
{
	const struct conditions *c = &result->conditions;
	char memory[UNITS_TEXT_MAX];

	fputs("Conditions\n", out);
	fprintf(out, "  run            plan %s, pvcbench %s, %s, id %s\n", or_unknown(result->plan),
	        or_unknown(result->version), or_unknown(result->started), or_unknown(result->id));
	if (result->attempt)
		fprintf(out, "  attempt        %llu of the Job, after one that left files\n",
		        (unsigned long long)result->attempt);
	fprintf(out, "  node           %s, kernel %s, %s\n", or_unknown(c->node),
	        or_unknown(c->kernel), or_unknown(c->machine));
	if (c->cpus > 0)
		fprintf(out, "  limits         %.4g CPU%s, ", c->cpus,
		        c->cpu_quota ? " by a quota" : "");
	else
		fputs("  limits         CPU unknown, ", out);
	fprintf(out, "memory %s", size_or_unknown(c->memory_bytes, memory));
	if (c->host_memory_bytes)
		fprintf(out, " by a limit (the machine has %s)",
		        units_format_size(c->host_memory_bytes, memory));
	if (result->peak_rss_bytes)
		fprintf(out, ", of which pvcbench took %s at most",
		        units_format_size(result->peak_rss_bytes, memory));
	fputc('\n', out);
	if (!result->n_targets && c->target[0])
		write_target(out, c);
	for (unsigned i = 0; i < result->n_targets; i++)
		write_target(out, &result->targets[i]);
	remarks_write(out, result, "  size           ", remark_size);
	remarks_write(out, result, "  engine         ", remark_engine);
	remarks_write(out, result, "  O_DIRECT       ", remark_direct);
	remarks_write(out, result, "  load           ", remark_load);
	write_seed(out, result);
	remarks_write(out, result, "  layout         ", remark_layout);
	write_data_age(out, result);
	remarks_write(out, result, "  verify         ", remark_verify);
	remarks_write(out, result, "  window         ", remark_window);
	remarks_write(out, result, "  concession     ", remark_concession);
	for (unsigned i = 0; i < result->n_notes; i++)
		fprintf(out, "  note           %s\n", result->notes[i]);
}
