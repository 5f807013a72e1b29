/*
 * A line is made of what happened since the line before: rate and mean latency
 * are of that stretch, so a volume that slows down is seen to. Counters start
 * anew with every phase; the first line of a phase covers it from its start.
 *
 * On a terminal the line is redrawn in place: carriage return, text, erase to the
 * end. It is cut to the terminal's width, since a line that wraps cannot be redrawn.
 */
#include "out/progress.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/units.h"
#include "out/text.h"

#define PLAIN_INTERVAL_NS (5 * NSEC_PER_SEC)
#define LIVE_INTERVAL_NS  (NSEC_PER_SEC / 2)
#define STALL_NS          (3 * NSEC_PER_SEC) /* a pause that is worth a line at once */
#define PAUSE_NS          (1 * NSEC_PER_SEC) /* a pause that a line mentions */
#define LEFT_MAX_NS       1e17               /* three years */
#define COLUMNS_DEFAULT   80
#define LINE_MAX_BYTES    1024
/* Requests of a probe are told one by one where a look sees one at a time, and not for ever. */
#define EACH_INTERVAL_NS (NSEC_PER_SEC / 10)
#define EACH_MAX         1000

static const char *const phase_name[] = {
        [PHASE_LAYOUT] = "layout",
        [PHASE_SEARCH] = "search step (not counted)",
        [PHASE_RAMP] = "ramp",
        [PHASE_RUN] = "run",
        [PHASE_DRAIN] = "drain",
        [PHASE_VERIFY] = "reading back",
        [PHASE_PROBE] = "probe of limits (not counted)",
        [PHASE_CACHE] = "probe of caches (not counted)",
        [PHASE_LOOK] = "looking",
        [PHASE_WARMUP] = "warm-up (not counted)",
        [PHASE_REQUESTS] = "run",
};

/* Take the live line off the screen. */
static void clear(struct progress_view *view)
{
	if (view->live)
		fputs("\r\033[K", view->out);
	view->live = false;
}

static void write_line(struct progress_view *view, const char *text)
{
	clear(view);
	fprintf(view->out, "%s\n", text);
	fflush(view->out);
}

static unsigned terminal_columns(const struct progress_view *view)
{
	struct winsize size;

	if (view->columns)
		return view->columns;
	if (ioctl(fileno(view->out), TIOCGWINSZ, &size) || !size.ws_col)
		return COLUMNS_DEFAULT;
	return size.ws_col;
}

static void redraw(struct progress_view *view, const char *text)
{
	unsigned columns = terminal_columns(view);

	fprintf(view->out, "\r%.*s\033[K", (int)columns - 1, text);
	fflush(view->out);
	view->live = true;
}

static void start_text(const struct progress_view *view, char *out)
{
	out[0] = '\0';
	text_append(out, LINE_MAX_BYTES, "[%u/%u] %s: ", view->test, view->n_tests, view->name);
}

static void append_amount(const struct test *test, char *out)
{
	char text[UNITS_TEXT_MAX];

	if (plan_is_probe(test) && test->requests)
		text_append(out, LINE_MAX_BYTES, "%llu requests",
		            (unsigned long long)test->requests);
	else if (test->loops)
		text_append(out, LINE_MAX_BYTES, "%llu pass%s", (unsigned long long)test->loops,
		            test->loops > 1 ? "es" : "");
	else if (test->io_size)
		text_append(out, LINE_MAX_BYTES, "%s per job",
		            units_format_size(test->io_size, text));
	else
		text_append(out, LINE_MAX_BYTES, "%s%s",
		            test->latency_target_ns ? "search, at most " : "",
		            units_format_time(test->ramp_time_ns + test->runtime_ns, text));
}

static void append_load(const struct test *test, char *out)
{
	char bs[UNITS_TEXT_MAX];

	text_append(out, LINE_MAX_BYTES, "%s %s depth %llu x %llu job%s, ", plan_rw_name(test->rw),
	            text_size(test->bs, bs), (unsigned long long)test->iodepth,
	            (unsigned long long)test->numjobs, test->numjobs > 1 ? "s" : "");
	append_amount(test, out);
}

void progress_begin(struct progress_view *view, const struct test *test)
{
	char line[LINE_MAX_BYTES];

	snprintf(view->name, sizeof(view->name), "%s", test->name);
	view->by_amount = plan_by_amount(test) || (plan_is_hops(test) && test->requests);
	view->probe_ns = plan_limits_probe_ns(test);
	view->cache_probe_ns = plan_cache_probe_ns(test);
	view->time_left_ns =
	        view->by_amount ? 0 : test->ramp_time_ns + test->runtime_ns + view->probe_ns;
	view->search_ns = view->search_end_ns = 0;
	if (test->latency_target_ns) {
		view->search_ns = view->time_left_ns - plan_search_confirm_ns(test);
		view->time_left_ns = plan_search_confirm_ns(test);
	}
	view->last_phase = -1;
	view->stall_told = false;
	view->each_left =
	        test->interval_ns >= EACH_INTERVAL_NS && plan_is_probe(test) ? EACH_MAX : 0;
	view->told_ios = view->told_latency_ns = 0;
	start_text(view, line);
	if (plan_is_hops(test))
		text_chains(test, line, sizeof(line));
	else if (plan_is_persist(test))
		text_step(test, line, sizeof(line));
	else if (plan_is_table(test))
		text_deletion(test, line, sizeof(line));
	else
		append_load(test, line);
	write_line(view, line);
}

/* A new phase starts from zero, at the time its first news came less what has passed. */
static void enter_phase(struct progress_view *view, const struct progress *p, uint64_t now_ns)
{
	view->last_phase = p->phase;
	if (p->phase == PHASE_SEARCH && !view->search_end_ns)
		view->search_end_ns = now_ns - min_u64(now_ns, p->elapsed_ns) + view->search_ns;
	view->last_ns = now_ns - min_u64(now_ns, p->elapsed_ns);
	view->last_ios = view->last_bytes = view->last_latency_ns = 0;
}

/*
 * What is left of this phase: by the clock, or by the amount at the mean pace so
 * far, whichever ends it. False where that is not known.
 */
static bool phase_left(const struct progress *p, uint64_t *left_ns)
{
	double pace_ns;
	uint64_t by_pace_ns;

	*left_ns = 0;
	if (p->expected_ns)
		*left_ns = p->expected_ns - min_u64(p->expected_ns, p->elapsed_ns);
	if (!p->total_bytes)
		return p->expected_ns || p->phase == PHASE_DRAIN;
	if (!p->bytes)
		return false;
	pace_ns = (double)p->elapsed_ns / (double)p->bytes;
	by_pace_ns =
	        (uint64_t)fmin(LEFT_MAX_NS, pace_ns * (double)(p->total_bytes -
	                                                       min_u64(p->bytes, p->total_bytes)));
	*left_ns = p->expected_ns ? min_u64(*left_ns, by_pace_ns) : by_pace_ns;
	return true;
}

/* When the whole plan ends; nothing where something of unknown length is still ahead. */
static void append_end(const struct progress_view *view, const struct progress *p, uint64_t now_ns,
                       char *out)
{
	uint64_t left_ns, later_ns = 0;
	char text[UNITS_TEXT_MAX];

	if (!phase_left(p, &left_ns) || (view->by_amount && p->phase == PHASE_LAYOUT))
		return;
	if (p->phase == PHASE_LAYOUT)
		later_ns = view->search_ns + view->time_left_ns + view->cache_probe_ns;
	else if (p->phase == PHASE_SEARCH) /* in so many steps as the search takes */
		left_ns = view->search_end_ns - min_u64(view->search_end_ns, now_ns) +
		          view->time_left_ns;
	else if (p->phase == PHASE_RAMP)
		later_ns = view->time_left_ns - min_u64(view->time_left_ns, p->expected_ns);
	else if (p->phase == PHASE_RUN || p->phase == PHASE_DRAIN)
		later_ns = view->probe_ns;
	if (left_ns + later_ns + view->plan_left_ns == 0) /* it should have ended */
		return;
	text_append(out, LINE_MAX_BYTES, ", plan ends in %s",
	            units_format_time(left_ns + later_ns + view->plan_left_ns, text));
}

/* Whether requests are counted, where otherwise bytes are. */
static bool asks(const struct progress *p)
{
	return p->phase == PHASE_WARMUP || p->phase == PHASE_REQUESTS;
}

static void append_done(const struct progress *p, char *out)
{
	char done[UNITS_TEXT_MAX] = "0s", whole[UNITS_TEXT_MAX];

	if (p->total_bytes && asks(p)) {
		text_append(out, LINE_MAX_BYTES, "%s %llu of %llu requests", phase_name[p->phase],
		            (unsigned long long)p->bytes, (unsigned long long)p->total_bytes);
		return;
	}
	if (p->total_bytes) {
		text_append(out, LINE_MAX_BYTES, "%s %s of %s", phase_name[p->phase],
		            units_format_size(p->bytes, done),
		            units_format_size(p->total_bytes, whole));
		return;
	}
	if (p->phase == PHASE_RUN && p->expected_ns && p->elapsed_ns > p->expected_ns) {
		text_append(out, LINE_MAX_BYTES, "waiting %s for the last requests",
		            units_format_time(p->elapsed_ns - p->expected_ns, done));
		return;
	}
	if (p->elapsed_ns)
		units_format_time(p->elapsed_ns, done);
	text_append(out, LINE_MAX_BYTES, "%s %s", phase_name[p->phase], done);
	if (p->expected_ns)
		text_append(out, LINE_MAX_BYTES, " of %s",
		            units_format_time(p->expected_ns, whole));
}

/* Rates since the line before. */
static void append_rates(const struct progress_view *view, const struct progress *p,
                         uint64_t now_ns, char *out)
{
	double seconds = (double)(now_ns - view->last_ns) / NSEC_PER_SEC;
	uint64_t ios = p->ios - view->last_ios;
	uint64_t bytes = p->bytes - view->last_bytes;
	char text[UNITS_TEXT_MAX];

	if (seconds <= 0 || p->phase == PHASE_LOOK)
		return;
	if (asks(p))
		text_append(out, LINE_MAX_BYTES, ", %s requests/s",
		            text_rate((double)ios / seconds, text));
	else if (p->phase != PHASE_LAYOUT && p->phase != PHASE_VERIFY)
		text_append(out, LINE_MAX_BYTES, ", %s IOPS",
		            units_format_iops((double)ios / seconds, text));
	if (!asks(p))
		text_append(out, LINE_MAX_BYTES, ", %s",
		            units_format_bw((double)bytes / seconds, text));
	if (ios)
		text_append(
		        out, LINE_MAX_BYTES, ", mean %s",
		        units_format_time((p->latency_sum_ns - view->last_latency_ns) / ios, text));
}

static void describe(const struct progress_view *view, const struct progress *p, uint64_t now_ns,
                     char *line)
{
	char text[UNITS_TEXT_MAX];

	start_text(view, line);
	append_done(p, line);
	append_rates(view, p, now_ns, line);
	if (p->stalled_ns >= PAUSE_NS)
		text_append(line, LINE_MAX_BYTES, ", no completion for %s",
		            units_format_time(p->stalled_ns, text));
	append_end(view, p, now_ns, line);
}

/* Those that came back since the last ones were told. */
static void tell_each(struct progress_view *view, uint64_t ios, uint64_t latency_sum_ns)
{
	uint64_t n = ios - min_u64(ios, view->told_ios);
	char line[LINE_MAX_BYTES], text[UNITS_TEXT_MAX];

	if (!n || !view->each_left || view->quiet)
		return;
	view->each_left -= min_u64(n, view->each_left);
	start_text(view, line);
	if (n > 1)
		text_append(line, LINE_MAX_BYTES, "requests %llu to ",
		            (unsigned long long)view->told_ios + 1);
	else
		text_append(line, LINE_MAX_BYTES, "request ");
	text_append(line, LINE_MAX_BYTES, "%llu: %s%s%s", (unsigned long long)ios,
	            n > 1 ? "mean " : "",
	            units_format_time((latency_sum_ns - view->told_latency_ns) / n, text),
	            view->each_left ? "" : "; later ones are told in sum");
	write_line(view, line);
	view->told_ios = ios;
	view->told_latency_ns = latency_sum_ns;
}

void progress_tell(struct progress_view *view, const struct progress *p, uint64_t now_ns)
{
	uint64_t interval_ns = view->terminal ? LIVE_INTERVAL_NS : PLAIN_INTERVAL_NS;
	bool stall = p->stalled_ns >= STALL_NS;
	char line[LINE_MAX_BYTES];

	if (view->quiet)
		return;
	if (view->last_phase < 0)
		view->line_ns = now_ns;
	if (p->phase != view->last_phase || p->ios < view->last_ios) /* or its next load */
		enter_phase(view, p, now_ns);
	if (p->phase == PHASE_RUN)
		tell_each(view, p->ios, p->latency_sum_ns);
	if (now_ns - view->line_ns < interval_ns && (!stall || view->stall_told))
		return;
	describe(view, p, now_ns, line);
	if (view->terminal)
		redraw(view, line);
	else
		write_line(view, line);
	view->stall_told = stall;
	view->line_ns = view->last_ns = now_ns;
	view->last_ios = p->ios;
	view->last_bytes = p->bytes;
	view->last_latency_ns = p->latency_sum_ns;
}

static void describe_wait(const struct progress_view *view, const char *what, bool of_volume,
                          uint64_t waited_ns, char *line)
{
	char text[UNITS_TEXT_MAX];

	line[0] = '\0';
	if (view->test)
		start_text(view, line);
	units_format_time(waited_ns, text);
	if (!of_volume)
		text_append(line, LINE_MAX_BYTES, "%s, since %s", what, text);
	else
		text_append(line, LINE_MAX_BYTES, "waiting for the volume since %s", text);
	if (of_volume && what[0])
		text_append(line, LINE_MAX_BYTES, " (%s)", what);
}

void progress_wait(struct progress_view *view, const char *what, bool of_volume, uint64_t waited_ns,
                   uint64_t now_ns)
{
	uint64_t interval_ns = view->terminal ? LIVE_INTERVAL_NS : PLAIN_INTERVAL_NS;
	char line[LINE_MAX_BYTES];

	if (view->quiet || waited_ns < STALL_NS || now_ns - view->line_ns < interval_ns)
		return;
	describe_wait(view, what, of_volume, waited_ns / NSEC_PER_SEC * NSEC_PER_SEC, line);
	if (view->terminal)
		redraw(view, line);
	else
		write_line(view, line);
	view->line_ns = now_ns;
}

/* The last requests of a probe came back after the last look at it. */
static void tell_last(struct progress_view *view, const struct stats *stats)
{
	uint64_t ios = 0, latency_sum_ns = 0;

	for (unsigned op = 0; stats && op < STATS_SYNC; op++) {
		ios += stats->op[op].latency.count;
		latency_sum_ns += stats->op[op].latency.sum;
	}
	tell_each(view, ios, latency_sum_ns);
}

void progress_end(struct progress_view *view, const struct test_result *tr)
{
	char line[LINE_MAX_BYTES], headline[LINE_MAX_BYTES];

	tell_last(view, tr->stats);
	start_text(view, line);
	text_headline(tr, headline, sizeof(headline));
	text_append(line, LINE_MAX_BYTES, "%s", headline);
	write_line(view, line);
}

void progress_say(struct progress_view *view, const char *text)
{
	char line[LINE_MAX_BYTES];

	if (view->quiet)
		return;
	start_text(view, line);
	text_append(line, LINE_MAX_BYTES, "%s", text);
	write_line(view, line);
}

void progress_note(struct progress_view *view, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	write_line(view, line);
}
