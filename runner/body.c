/*
 * The thread writes a result of its own. It is handed over when the thread returns, or
 * when the kind has said that it is complete; a thread that was left before that may
 * still write to it, so nothing of it counts.
 */
#include "body.h"

#include "attend.h"
#include "base/units.h"

struct body {
	struct body_params params;
	struct test test;
	struct kind_env env;
	struct attended *attended; /* of the main thread */
	struct attended *self;     /* the same, of the body's own */
	struct test_result tr;
	struct err err;
	int ret;
	atomic_bool measured; /* before a signal came */
	atomic_bool settled;  /* tr, err and ret stay as they are */
	bool taken;           /* tr was handed over */
};

static void on_progress(void *arg, const struct progress *progress)
{
	struct body *body = arg;

	attended_progress(body->self, progress);
}

static void on_step(void *arg, const char *what, bool of_volume)
{
	struct body *body = arg;

	attended_step(body->self, what, of_volume);
}

static void on_say(void *arg, const char *line)
{
	struct body *body = arg;

	attended_say(body->self, line);
}

static void on_measured(void *arg)
{
	struct body *body = arg;

	atomic_store(&body->measured, !atomic_load(body->params.stop));
}

static void on_peers(void *arg, const char *what)
{
	struct body *body = arg;

	attended_step(body->self, what, false);
}

static int on_share(void *arg, struct kind_extent *extent, struct err *err)
{
	struct body *body = arg;
	struct peers_meeting meeting = {0};
	unsigned long long v[4] = {extent->size, extent->offset, extent->increment,
	                           extent->file_bytes};

	snprintf(meeting.note, sizeof(meeting.note), "%llu %llu %llu %llu", v[0], v[1], v[2], v[3]);
	if (peers_meet(body->params.peers, body->params.number, PEERS_LAID_OUT, &meeting, on_peers,
	               body, err))
		return -1;
	if (atomic_load(body->params.stop))
		return 0;
	if (sscanf(meeting.note, "%llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3]) != 4)
		return err_set(err, ERR_TEST, "peer 0 does not tell what it has laid out");
	*extent = (struct kind_extent){v[0], v[1], v[2], v[3]};
	return 0;
}

static int on_start(void *arg, struct err *err)
{
	struct body *body = arg;
	struct peers_meeting meeting = {0};
	char within[UNITS_TEXT_MAX], line[ROSTER_TEXT_MAX];

	if (peers_meet(body->params.peers, body->params.number, PEERS_START, &meeting, on_peers,
	               body, err))
		return -1;
	if (!meeting.within_ns)
		return 0;
	body->tr.released_within_ns = meeting.within_ns;
	snprintf(line, sizeof(line), "%u peers start within %s of each other, by the round trips",
	         body->test.peers, units_format_time(meeting.within_ns, within));
	on_say(body, line);
	return 0;
}

static void on_settle(void *arg, int ret)
{
	struct body *body = arg;

	body->ret = ret;
	atomic_store(&body->settled, true);
}

static void work(void *arg, struct attended *self)
{
	struct body *body = arg;
	int ret;

	body->self = self;
	ret = kind_find(body->test.kind)->run(&body->test, &body->env, &body->tr, &body->err);
	if (!atomic_load(&body->settled))
		on_settle(body, ret);
}

static struct body *body_new(const struct body_params *params)
{
	struct body *body = calloc(1, sizeof(*body));

	if (!body)
		return NULL;
	body->params = *params;
	body->test = *params->test;
	body->env = (struct kind_env){
	        .run_id = params->run_id,
	        .host = params->host,
	        .target = params->target,
	        .verify = params->verify,
	        .stop = params->stop,
	        .answer_ns = params->test->answer_time_ns,
	        .progress = on_progress,
	        .step = on_step,
	        .measured = on_measured,
	        .settle = on_settle,
	        .say = on_say,
	        .share = params->peers ? on_share : NULL,
	        .start = params->peers ? on_start : NULL,
	        .arg = body,
	};
	test_result_init(&body->tr, params->test);
	return body;
}

static void fail(struct test_result *tr, const struct err *err)
{
	tr->status = STATUS_FAILED;
	tr->exit_class = err->class;
	snprintf(tr->error, sizeof(tr->error), "%.*s", RESULT_STATUS_TEXT_MAX - 1, err->text);
}

/* What the thread has left behind, where that is complete. */
static void take(struct body *body, struct test_result *tr)
{
	if (!atomic_load(&body->settled))
		return;
	test_result_destroy(tr);
	*tr = body->tr;
	body->taken = true;
	if (body->ret)
		fail(tr, &body->err);
}

static void fail_silent(struct body *body, struct test_result *tr)
{
	char what[ATTEND_STEP_MAX], limit[UNITS_TEXT_MAX];
	struct err err;

	attend_waits_for(body->attended, what);
	err_set(&err, ERR_TEST, "the volume does not answer: no reply to %s in %s (answer_time)",
	        what[0] ? what : "a call", units_format_time(body->test.answer_time_ns, limit));
	fail(tr, &err);
}

static struct body *run_attended(struct body *body, struct test_result *tr)
{
	enum attend_end end = attend(body->attended);

	take(body, tr);
	if (end == ATTEND_SILENT)
		fail_silent(body, tr);
	else if (tr->status == STATUS_OK && atomic_load(body->params.stop) &&
	         !(body->taken && atomic_load(&body->measured)))
		tr->status = STATUS_INTERRUPTED;
	if (end != ATTEND_DONE)
		return body;
	body_free(body);
	return NULL;
}

struct body *body_run(const struct body_params *params, struct test_result *tr)
{
	struct body *body = body_new(params);
	struct attend_params attend_params = {
	        .work = work,
	        .arg = body,
	        .view = params->view,
	        .stop = params->stop,
	        .limit_ns = params->test->answer_time_ns,
	};
	struct err err;

	if (!body)
		err_set(&err, ERR_TARGET, "out of memory");
	else if (!attend_start(&body->attended, &attend_params, &err))
		return run_attended(body, tr);
	fail(tr, &err);
	body_free(body);
	return NULL;
}

bool body_returned(struct body *body)
{
	return attend_returned(body->attended);
}

void body_kick(struct body *body)
{
	attend_kick(body->attended);
}

void body_free(struct body *body)
{
	if (!body)
		return;
	attend_free(body->attended);
	if (!body->taken)
		test_result_destroy(&body->tr);
	free(body);
}
