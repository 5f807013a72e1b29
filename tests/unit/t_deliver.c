/* links: base/err.c base/field.c base/units.c builtin.c deliver.c deliver_check.c io/host.c
 * io/http.c io/mount.c io/retry.c measure/hist.c measure/stats.c measure/student.c out/emit.c
 * out/figures.c out/json.c out/json_conditions.c out/json_derived.c out/json_hops.c
 * out/json_table.c out/json_test.c out/member.c out/metrics.c plan/expect.c plan/keys.c plan/plan.c
 * plan/published.c plan/sink.c result/entities.c result/hops.c result/knee.c result/repeats.c
 * result/result.c result/search.c */
/*
 * The rules of a delivery, and deliveries to files. Those to servers are in
 * tests/run/deliver.bats.
 */
#include "deliver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define S NSEC_PER_SEC

static char work_dir[32];
static char told[4096];
static unsigned times_told;
static atomic_int stop;

static void tell(const char *text)
{
	snprintf(told, sizeof(told), "%s", text);
	times_told++;
}

static void test_group_of_a_push(void **state)
{
	static const struct {
		const char *base, *instance, *url;
	} cases[] = {
	        {"http://gw:9091", "pvcbench-evs",
	         "http://gw:9091/metrics/job/disks/instance/pvcbench-evs"},
	        {"http://gw:9091/", "n/1 ä", "http://gw:9091/metrics/job/disks/instance/n_1___"},
	        {"https://gw/push//?t=1", "a", "https://gw/push/metrics/job/disks/instance/a?t=1"},
	        {"http://gw", "", "http://gw/metrics/job/disks/instance/unknown"},
	        {"http://gw/metrics/job/x/class/y", "a", "http://gw/metrics/job/x/class/y"},
	        {"http://gw/metrics/job@base64/eA==", "a", "http://gw/metrics/job@base64/eA=="},
	        {"http://gw?/metrics/job", "a",
	         "http://gw/metrics/job/disks/instance/a?/metrics/job"},
	};
	char url[HTTP_URL_MAX], base[HTTP_URL_MAX] = "http://";
	struct err err;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(
		        deliver_push_url(cases[i].base, "disks", cases[i].instance, url, &err), 0);
		assert_string_equal(url, cases[i].url);
	}
	memset(base + 7, 'a', sizeof(base) - 20);
	assert_int_equal(deliver_push_url(base, "disks", "a", url, &err), -1);
}

static struct result sample(void)
{
	struct result result = {.id = "20260101t000000z-0000002a"};

	return result;
}

static struct plan plan_of(struct plan_sink *sinks, unsigned n)
{
	return (struct plan){.name = "p", .sinks = sinks, .n_sinks = n};
}

static void test_files(void **state)
{
	struct plan_sink sinks[3] = {{.required = true}, {.required = true}, {.required = false}};
	struct plan plan = plan_of(sinks, 3);
	struct result result = sample();
	char path[512];
	struct stat st;

	(void)state;
	snprintf(sinks[0].file, sizeof(sinks[0].file), "%s/result.json", work_dir);
	snprintf(sinks[1].file, sizeof(sinks[1].file), "%s", work_dir);
	snprintf(sinks[2].file, sizeof(sinks[2].file), "%s/none/result.json", work_dir);
	times_told = 0;
	assert_int_equal(deliver_result(&plan, &result, &stop, tell), 0);
	assert_int_equal(stat(sinks[0].file, &st), 0);
	assert_true(st.st_size > 100);
	snprintf(path, sizeof(path), "%s/pvcbench-%s.json", work_dir, result.id);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(times_told, 1);
	assert_non_null(strstr(told, "/none/result.json: not delivered: cannot open it: No such"));
	sinks[2].required = true;
	assert_int_equal(deliver_result(&plan, &result, &stop, tell), 1);
	assert_non_null(strstr(told, "/none/result.json: required and not delivered: cannot"));
	unlink(sinks[0].file);
	unlink(path);
}

static void test_nothing_to_do(void **state)
{
	struct plan plan = plan_of(NULL, 0);
	struct result result = sample();
	struct err err;

	(void)state;
	times_told = 0;
	assert_int_equal(deliver_check(&plan, &err), 0);
	assert_int_equal(deliver_result(&plan, &result, &stop, tell), 0);
	assert_int_equal(times_told, 0);
}

/* A port that nothing listens on is tried again as long as there is time: here a second. */
static void test_stopped(void **state)
{
	struct plan_sink sink = {.webhook = "http://user:secret@127.0.0.1:1/hook?secret"};
	struct plan plan = plan_of(&sink, 1);
	struct result result = sample();
	uint64_t start_ns = clock_now_ns();

	(void)state;
	atomic_store(&stop, 15);
	assert_int_equal(deliver_result(&plan, &result, &stop, tell), 0);
	assert_true(clock_now_ns() - start_ns < 10 * S);
	assert_non_null(strstr(told, "webhook http://127.0.0.1:1/hook: not delivered: "
	                             "'127.0.0.1:1' refuses the connection"));
	assert_non_null(strstr(told, "(a signal leaves 5 s for it)"));
	assert_null(strstr(told, "secret"));
	atomic_store(&stop, 0);
}

static void refuse(struct plan_sink sink, const char *message)
{
	struct plan plan = plan_of(&sink, 1);
	struct err err;

	sink.line = 3;
	sink.column = 5;
	assert_int_equal(deliver_check(&plan, &err), -1);
	assert_string_equal(err.text, message);
	assert_int_equal(err.class, ERR_PLAN);
}

static void test_checked_before_the_run(void **state)
{
	struct plan_sink file = {.file = "/nothing/here", .required = true};
	struct plan plan = plan_of(&file, 1);
	struct err err;

	(void)state;
	refuse((struct plan_sink){.webhook = "http://host:secret/"},
	       "p:3:5: deliver: webhook: is no URL of http or https");
	refuse(file, "p:3:5: deliver: file: cannot write '/nothing/here': "
	             "No such file or directory");
	refuse((struct plan_sink){.webhook = "http://a",
	                          .authorization_file = "/nothing/token",
	                          .required = true},
	       "p:3:5: deliver: authorization_file: cannot read '/nothing/token': "
	       "No such file or directory");
	refuse((struct plan_sink){.webhook = "http://a",
	                          .ca_file = "/nothing/ca",
	                          .required = true},
	       "p:3:5: deliver: ca_file: cannot read '/nothing/ca': No such file or directory");
	file.required = false;
	assert_int_equal(deliver_check(&plan, &err), 0);
	file.required = true;
	snprintf(file.file, sizeof(file.file), "%s/new", work_dir);
	assert_int_equal(deliver_check(&plan, &err), 0);
	snprintf(file.file, sizeof(file.file), "new");
	assert_int_equal(deliver_check(&plan, &err), 0);
}

static int make_work_dir(void **state)
{
	(void)state;
	snprintf(work_dir, sizeof(work_dir), "/tmp/t_deliver.XXXXXX");
	return mkdtemp(work_dir) ? 0 : -1;
}

static int remove_work_dir(void **state)
{
	(void)state;
	return rmdir(work_dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_group_of_a_push),        cmocka_unit_test(test_files),
	        cmocka_unit_test(test_nothing_to_do),          cmocka_unit_test(test_stopped),
	        cmocka_unit_test(test_checked_before_the_run),
	};

	return cmocka_run_group_tests_name("deliver", tests, make_work_dir, remove_work_dir);
}
