/*
 * How a test went over time, from the series of its requests, reads and writes together,
 * by whole intervals (a second each, in windows of up to 4096 s).
 *
 * What is far off in single intervals, the first one above all, shall not decide: before a
 * level or a trend is looked for, the few most extreme values at either end are clipped
 * to the next one, half as many as a level must have lasted for.
 *
 *	burst       one change point, by least squares, downwards: both levels last, they are
 *	            apart in nearly all of their intervals, and a step fits better than a line
 *	queue-depth twice the depth gave more than the late seconds, which have settled
 *	not-steady  five rounds in the manner of SNIA's steady state window, as verdict.h says
 *	noisy       the range of the intervals, without a tenth at either end; or the mean far
 *	            above their middle, by intervals that are too few for a level
 *
 * Each of them also has to be more than the chance that few requests leave: counts of c
 * scatter by the root of c.
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "result/verdict_part.h"

/* Of standard errors: what is beyond is no chance. */
#define STEP_SIGMAS  5.0
#define TREND_SIGMAS 5.0
#define RANGE_SIGMAS 6.0 /* of five rounds, whose range is 2.3 on the average */
/* Of the scatter of the intervals around their levels. */
#define STEP_SCATTERS 4.0
/* The range of a tenth to nine tenths is 2.6 roots where chance alone makes it. */
#define NOISE_ROOTS 4.0
#define PROBE_ROOTS 3.0
#define LATE_MIN    4 /* intervals; with fewer the mean of the window has to do */
/* Of a level's intervals, those that may lie nearer to the other level: one in so many. */
#define STRAYS_ONE_IN 5
/* What is left of the squares by a step, of what is left by a line. */
#define STEP_BEATS_LINE 0.75
/* As in SNIA's window; the line through them knows it. */
#define ROUNDS 5

struct course {
	unsigned n; /* whole intervals of the window; 0: not to be judged */
	double seconds;
	double x[SERIES_SLOTS]; /* requests in each */
};

struct step {
	unsigned at; /* intervals before it; 0: there is none */
	double upper, lower;
};

/* ---- the course ---- */

static double requests_in(const struct test_result *tr, uint64_t interval_ns, uint64_t index)
{
	uint64_t ios = 0;

	for (unsigned op = STATS_READ; op <= STATS_WRITE; op++) {
		const struct series *series = &tr->stats->op[op].series;
		uint64_t ratio = interval_ns / series->interval_ns;

		for (uint64_t i = index * ratio; i < min_u64(series->used, (index + 1) * ratio);
		     i++)
			ios += series->slot[i].ios;
	}
	return (double)ios;
}

/*
 * Not of what memory answers and of what no volume does; a load that keeps its own pace shows
 * that pace, and one by amount ends with fewer and fewer requests.
 */
static bool tells_of_volume(const struct test_result *tr)
{
	bool by_amount = tr->loops || tr->io_size;

	return tr->stats && tr->status != STATUS_FAILED && tr->direct && !by_amount &&
	       strcmp(tr->ioengine, "null") != 0 && !verdict_paces_itself(tr);
}

static void course_read(struct course *course, const struct test_result *tr)
{
	uint64_t interval_ns = NSEC_PER_SEC;

	course->n = 0;
	if (!tells_of_volume(tr))
		return;
	for (unsigned op = STATS_READ; op <= STATS_WRITE; op++)
		interval_ns = max_u64(interval_ns, tr->stats->op[op].series.interval_ns);
	course->n = (unsigned)min_u64(tr->runtime_ns / interval_ns, SERIES_SLOTS);
	course->seconds = (double)interval_ns / NSEC_PER_SEC;
	for (unsigned i = 0; i < course->n; i++)
		course->x[i] = requests_in(tr, interval_ns, i);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sorted(const double *x, unsigned n, double *out)
{
	memcpy(out, x, n * sizeof(*x));
	qsort(out, n, sizeof(*out), compare);
}

static double median(const double *x, unsigned n)
{
	double by_size[SERIES_SLOTS];

	sorted(x, n, by_size);
	return (by_size[(n - 1) / 2] + by_size[n / 2]) / 2;
}

static double mean(const double *x, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += x[i];
	return sum / n;
}

/* Intervals that a level has to last for. */
static unsigned level_min(unsigned n)
{
	return n / VERDICT_LEVEL_SHARE > VERDICT_LEVEL_MIN ? n / VERDICT_LEVEL_SHARE
	                                                   : VERDICT_LEVEL_MIN;
}

static void clip(struct course *course)
{
	unsigned n = course->n, off = level_min(n) / 2;
	double by_size[SERIES_SLOTS];

	sorted(course->x, n, by_size);
	for (unsigned i = 0; i < n; i++)
		course->x[i] = fmin(fmax(course->x[i], by_size[off]), by_size[n - 1 - off]);
}

/* ---- burst ---- */

/* The place that leaves the least squares around the means of both sides. */
static unsigned change_point(const struct course *course)
{
	unsigned n = course->n, least = level_min(n), at = 0;
	double whole = mean(course->x, n) * n, before = 0, most = 0;

	for (unsigned k = 1; k <= n - least; k++) {
		double apart, between;

		before += course->x[k - 1];
		apart = before / k - (whole - before) / (n - k);
		between = apart * apart * k * (n - k);
		if (k < least || between <= most)
			continue;
		most = between;
		at = k;
	}
	return at;
}

/* The squares around the mean. */
static double squares(const double *x, unsigned n)
{
	double middle = mean(x, n), sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += (x[i] - middle) * (x[i] - middle);
	return sum;
}

/* The squares around the line that fits best. */
static double squares_of_line(const double *x, unsigned n)
{
	double middle = (n - 1) / 2.0, covariance = 0, variance = 0;

	for (unsigned i = 0; i < n; i++) {
		covariance += (i - middle) * x[i];
		variance += (i - middle) * (i - middle);
	}
	return squares(x, n) - covariance * covariance / variance;
}

/* Intervals on the other level's side of the middle. */
static unsigned strays(const double *x, unsigned n, double middle, bool above)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++)
		count += above ? x[i] <= middle : x[i] >= middle;
	return count;
}

/*
 * Whether both levels are held. The interval in which it falls lies between them: on whichever
 * side it was put, it counts only where the level would be too short without it.
 */
static bool holds(const struct course *course, const struct step *step, double middle)
{
	unsigned least = level_min(course->n), end = step->at, begin = step->at, n_after;

	if (end > least)
		end--;
	if (course->n - begin > least)
		begin++;
	n_after = course->n - begin;
	return strays(course->x, end, middle, true) <= end / STRAYS_ONE_IN &&
	       strays(course->x + begin, n_after, middle, false) <= n_after / STRAYS_ONE_IN;
}

static bool is_step(const struct course *course, const struct step *step)
{
	const double *before = course->x, *after = course->x + step->at;
	unsigned n_before = step->at, n_after = course->n - step->at;
	double middle = (step->upper + step->lower) / 2;
	double chance = sqrt(step->upper / n_before + step->lower / n_after);
	double left = squares(before, n_before) + squares(after, n_after);

	return step->lower > 0 && step->lower <= VERDICT_BURST_DROP * step->upper &&
	       step->upper - step->lower > STEP_SIGMAS * chance &&
	       step->upper - step->lower > STEP_SCATTERS * sqrt(left / course->n) &&
	       holds(course, step, middle) &&
	       left <= STEP_BEATS_LINE * squares_of_line(course->x, course->n);
}

static struct step find_step(const struct test_result *tr, struct course *course)
{
	struct step step = {0};

	course_read(course, tr);
	if (course->n < VERDICT_INTERVALS_MIN)
		return step;
	clip(course);
	step.at = change_point(course);
	if (!step.at)
		return step;
	step.upper = median(course->x, step.at);
	step.lower = median(course->x + step.at, course->n - step.at);
	if (!is_step(course, &step))
		step.at = 0;
	return step;
}

uint64_t verdict_settles_at(const struct test_result *tr)
{
	struct course course;
	struct step step = find_step(tr, &course);

	/* of the interval in which it fell a part belongs to the upper level */
	return step.at ? (uint64_t)((step.at + 1) * course.seconds * NSEC_PER_SEC) : 0;
}

/* A credit is spent above the base only. */
static bool below_base(const struct test_result *tr, const struct published *p, double iops)
{
	bool known = false;

	for (unsigned f = PUBLISHED_IOPS; f <= PUBLISHED_BW && p->source[0]; f++) {
		enum published_figure figure = (enum published_figure)f;
		double rate = figure == PUBLISHED_BW ? iops * (double)tr->bs : iops;
		struct published_limit limit = published_limit(p, figure, tr->bs);

		if (!(limit.base > 0))
			continue;
		known = true;
		if (rate >= VERDICT_LIMITED * limit.base)
			return false;
	}
	return known;
}

/* Small requests are told by their number, large ones by their bytes. */
static char *level_text(const struct test_result *tr, double iops, char *out)
{
	if (tr->bs > 16 * KIB)
		return units_format_bw(iops * (double)tr->bs, out);
	units_format_iops(iops, out);
	snprintf(out + strlen(out), UNITS_TEXT_MAX - strlen(out), " IOPS");
	return out;
}

/* A step down that is no burst leaves at 0. */
static struct step find_burst(const struct test_result *tr, const struct conditions *conditions,
                              struct course *course)
{
	struct step step = find_step(tr, course);

	if (step.at && below_base(tr, &conditions->class_limits, step.upper / course->seconds))
		step.at = 0;
	return step;
}

void verdict_judge_burst(struct test_result *tr, const struct conditions *conditions)
{
	struct course course;
	struct step step = find_burst(tr, conditions, &course);
	char upper[UNITS_TEXT_MAX], lower[UNITS_TEXT_MAX], fell[UNITS_TEXT_MAX];

	if (!step.at)
		return;
	verdict_add(tr, "burst", step.upper / step.lower,
	            "%s for %s of the window, then %s to its end: what lasts is the latter, the "
	            "mean is neither (a longer ramp_time measures past the burst)",
	            level_text(tr, step.upper / course.seconds, upper),
	            units_format_time((uint64_t)(step.at * course.seconds * NSEC_PER_SEC), fell),
	            level_text(tr, step.lower / course.seconds, lower));
}

/* ---- queue depth ---- */

/* What it gave at last: the middle of these intervals, and the best but one. */
struct late {
	double iops, best_iops;
};

static struct late late_rates(const struct test_result *tr)
{
	double iops = test_result_iops(tr, STATS_READ) + test_result_iops(tr, STATS_WRITE);
	double by_size[SERIES_SLOTS];
	struct course course;
	unsigned first = find_step(tr, &course).at, n;

	course_read(&course, tr);
	first = first > course.n / 2 ? first : course.n / 2;
	n = course.n - first;
	if (n < LATE_MIN)
		return (struct late){iops, iops};
	sorted(course.x + first, n, by_size);
	return (struct late){
	        .iops = median(course.x + first, n) / course.seconds,
	        .best_iops = by_size[n - 2] / course.seconds,
	};
}

void verdict_judge_queue_depth(struct test_result *tr)
{
	const struct limits_probe *probe = &tr->limits_probe;
	char iops[UNITS_TEXT_MAX], floor[UNITS_TEXT_MAX], jobs[32] = "";
	double seconds = (double)probe->runtime_ns / NSEC_PER_SEC, ios = (double)probe->ios, more;
	struct late late;

	if (!probe->iodepth || !probe->runtime_ns)
		return;
	late = late_rates(tr);
	more = ios / seconds / late.iops;
	if (!(more >= VERDICT_DEEPER) || more > VERDICT_DEEPER_MOST || verdict_saw_cache(tr) ||
	    ios / seconds < VERDICT_OVER_BEST * late.best_iops ||
	    ios - late.iops * seconds < PROBE_ROOTS * sqrt(ios))
		return;
	if (tr->numjobs > 1)
		snprintf(jobs, sizeof(jobs), " x %llu jobs", (unsigned long long)tr->numjobs);
	if (probe->floor_ns)
		units_format_time(probe->floor_ns, floor);
	verdict_add(
	        tr, "queue-depth", more,
	        "depth %llu%s limits: %llu gives %.2g x, %s IOPS%s%s (more requests at once need "
	        "a higher iodepth or numjobs)",
	        (unsigned long long)tr->iodepth, jobs, (unsigned long long)probe->iodepth, more,
	        units_format_iops(ios / seconds, iops),
	        probe->floor_ns ? "; latency floor at depth 1 is " : "",
	        probe->floor_ns ? floor : "");
}

/* ---- steady, noisy ---- */

/* The intervals in five rounds. */
struct rounds {
	double mean, range, excursion; /* the latter of the line through them, end to end */
	double error;                  /* standard, of a round's mean */
};

static struct rounds rounds_of(const struct course *course)
{
	double means[ROUNDS], slope = 0, within = 0;
	struct rounds rounds = {0};

	for (unsigned r = 0; r < ROUNDS; r++) {
		unsigned from = r * course->n / ROUNDS, to = (r + 1) * course->n / ROUNDS;

		means[r] = mean(course->x + from, to - from);
		within += squares(course->x + from, to - from);
	}
	rounds.mean = mean(means, ROUNDS);
	for (unsigned r = 0; r < ROUNDS; r++)
		slope += (r - 2.0) * means[r] / 10;
	rounds.excursion = fabs((ROUNDS - 1) * slope);
	qsort(means, ROUNDS, sizeof(*means), compare);
	rounds.range = means[ROUNDS - 1] - means[0];
	rounds.error = sqrt(fmax(within / (course->n - ROUNDS), rounds.mean) * ROUNDS / course->n);
	return rounds;
}

static bool judge_steady(struct test_result *tr, struct course course)
{
	const double error_of_excursion = (ROUNDS - 1) / sqrt(10);
	struct rounds rounds;
	bool ranges, leans;

	if (course.n < VERDICT_STEADY_MIN)
		return false;
	clip(&course);
	rounds = rounds_of(&course);
	ranges = rounds.range > VERDICT_STEADY_RANGE * rounds.mean &&
	         rounds.range > RANGE_SIGMAS * rounds.error;
	leans = rounds.excursion > VERDICT_STEADY_SLOPE * rounds.mean &&
	        rounds.excursion > TREND_SIGMAS * error_of_excursion * rounds.error;
	if (!ranges && !leans)
		return false;
	verdict_add(tr, "not-steady", rounds.range / rounds.mean,
	            "five fifths of the window range over %.0f %% of their mean, their line over "
	            "%.0f %% (at most %.0f and %.0f are steady): repeat it with a longer ramp_time",
	            100 * rounds.range / rounds.mean, 100 * rounds.excursion / rounds.mean,
	            100 * VERDICT_STEADY_RANGE, 100 * VERDICT_STEADY_SLOPE);
	return true;
}

/* So few seconds that they are no level, and so far off that they make the mean. */
static bool judge_few_seconds(struct test_result *tr, const struct course *course,
                              const double *by_size)
{
	double middle = median(course->x, course->n), all = mean(course->x, course->n);
	/* By chance they lie apart as the mean scatters, and by a request where there are few. */
	double chance = 1 + NOISE_ROOTS * sqrt(all / course->n);
	char most[UNITS_TEXT_MAX], usual[UNITS_TEXT_MAX];

	if (all - middle <= VERDICT_FEW_SECONDS * all || all - middle <= chance)
		return false;
	verdict_add(tr, "noisy", (by_size[course->n - 1] - by_size[0]) / all,
	            "half of its seconds gave %s or less, a few up to %s: these few make the mean, "
	            "which is neither (a burst or a cache at first: a longer ramp_time)",
	            level_text(tr, middle / course->seconds, usual),
	            level_text(tr, by_size[course->n - 1] / course->seconds, most));
	return true;
}

static void judge_noise(struct test_result *tr, const struct course *course)
{
	double by_size[SERIES_SLOTS], low, high, middle = mean(course->x, course->n);
	char low_text[UNITS_TEXT_MAX], high_text[UNITS_TEXT_MAX];
	unsigned n = course->n, off = n / 10 ? n / 10 : 1;

	sorted(course->x, n, by_size);
	if (judge_few_seconds(tr, course, by_size))
		return;
	low = by_size[off];
	high = by_size[n - 1 - off];
	if (high - low <= VERDICT_NOISE * middle ||
	    high - low <= NOISE_ROOTS * sqrt(fmax(middle, 1)))
		return;
	verdict_add(tr, "noisy", (high - low) / middle,
	            "its seconds lie between %s and %s, without a tenth at either end: the mean "
	            "says little of any of them (something else uses the volume or this node: "
	            "repeat it alone)",
	            level_text(tr, low / course->seconds, low_text),
	            level_text(tr, high / course->seconds, high_text));
}

void verdict_judge_steadiness(struct test_result *tr, const struct conditions *conditions)
{
	struct course course;

	if (verdict_has(tr, "suspended") || verdict_has(tr, "stalls") ||
	    verdict_has(tr, "not-steady") || find_burst(tr, conditions, &course).at)
		return;
	course_read(&course, tr);
	if (course.n >= VERDICT_INTERVALS_MIN && !judge_steady(tr, course))
		judge_noise(tr, &course);
}

/* ---- the run ---- */

/* Requests a second: what lasted of a burst, else the mean of the window. */
static double lasting_iops(const struct test_result *tr)
{
	struct course course;
	struct step step = find_step(tr, &course);

	if (step.at)
		return step.lower / course.seconds;
	return test_result_iops(tr, STATS_READ) + test_result_iops(tr, STATS_WRITE);
}

bool verdict_drift(struct result *result, const struct test_result *again)
{
	const struct test_result *first = result->tests;
	double before = lasting_iops(first), after = lasting_iops(again), ratio = after / before;
	struct verdict *verdict = &result->verdicts[result->n_verdicts];

	if (first->status != STATUS_OK || again->status != STATUS_OK || !(before > 0) ||
	    !(after > 0) || result->n_verdicts == RESULT_VERDICTS_MAX)
		return false;
	result->n_verdicts++;
	snprintf(verdict->code, sizeof(verdict->code), "drift");
	verdict->figure = ratio;
	snprintf(verdict->text, sizeof(verdict->text),
	         fabs(ratio - 1) <= VERDICT_DRIFT
	                 ? "%.80s again at the end of the plan: %.2f x, none to speak of"
	                 : "%.80s again at the end of the plan: %.2f x: the volume or the machine "
	                   "drifted, or a credit is used up: do not hold this run's tests against "
	                   "each other",
	         first->name, ratio);
	return true;
}
