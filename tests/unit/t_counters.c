/* links: base/err.c io/counters.c io/host.c */
/* Counters of made-up control groups, and those of this process. */
#include "io/counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char work_dir[32];

/* Write text to work_dir/path, making the directories on the way. */
static void put(const char *path, const char *text)
{
	char full[256];

	snprintf(full, sizeof(full), "%s/%s", work_dir, path);
	for (char *at = full + strlen(work_dir) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(full, 0700);
		*at = '/';
	}

	FILE *file = fopen(full, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int make_work_dir(void **state)
{
	(void)state;
	strcpy(work_dir, "/tmp/t_counters.XXXXXX");
	return mkdtemp(work_dir) ? 0 : -1;
}

static int remove_work_dir(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", work_dir);
	return system(command);
}

static void open_groups(struct counters_source *source, const char *own_cgroups)
{
	FILE *file = fmemopen((void *)(uintptr_t)own_cgroups, strlen(own_cgroups), "r");

	assert_non_null(file);
	*source = (struct counters_source){.own_io = -1, .device = -1, .pressure = -1};
	counters_open_groups(source, file, work_dir);
	fclose(file);
}

static void test_v2(void **state)
{
	struct counters_source source;
	struct counters c;

	(void)state;
	put("cpu.stat", "usage_usec 17\n");
	put("pod/cpu.stat", "usage_usec 9\nnr_periods 8\nnr_throttled 1\nthrottled_usec 900\n");
	put("pod/memory.events", "low 0\nhigh 0\nmax 99\noom 0\noom_kill 0\n");
	put("pod/memory.events.local", "low 0\nhigh 0\nmax 9\noom 0\noom_kill 0\n");
	put("pod/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=77\n");
	put("pod/abc/cpu.stat",
	    "usage_usec 10\nuser_usec 4\nsystem_usec 6\ncore_sched.force_idle_usec 0\n"
	    "nr_periods 50\nnr_throttled 40\nthrottled_usec 3200000\nnr_bursts 0\n");
	put("pod/abc/memory.events.local", "low 7\nhigh 3\nmax 4\noom 5\noom_kill 2\n");
	put("pod/abc/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500\n"
	                               "full avg10=0.00 avg60=0.00 avg300=0.00 total=99\n");

	open_groups(&source, "0::/pod/abc\n");
	counters_read(&source, &c);
	assert_int_equal(c.n_quotas, 2);
	assert_int_equal(c.quotas[0].periods, 50);
	assert_int_equal(c.quotas[0].throttled_periods, 40);
	assert_int_equal(c.quotas[0].throttled_ns, 3200 * NSEC_PER_MSEC);
	assert_int_equal(c.quotas[1].throttled_ns, 900 * NSEC_PER_USEC);
	assert_int_equal(c.n_limits, 2);
	assert_int_equal(c.limits[0].met, 7);
	assert_int_equal(c.limits[0].kills, 2);
	assert_true(c.has_pressure);
	assert_int_equal(c.stalled_ns, 1500 * NSEC_PER_USEC);
	assert_int_equal(c.limits[1].met, 9);

	/* read again from the start: it is what stands there now */
	put("pod/abc/cpu.stat", "nr_periods 60\nnr_throttled 48\nthrottled_usec 4000000\n");
	counters_read(&source, &c);
	assert_int_equal(c.quotas[0].periods, 60);
	counters_close(&source);
}

/* An older kernel has one kind of events only: those of a group above are its neighbours' too. */
static void test_v2_without_local_events(void **state)
{
	struct counters_source source;
	struct counters c;

	(void)state;
	put("pod/memory.events", "max 9\n");
	put("pod/abc/memory.events", "max 4\n");
	open_groups(&source, "0::/pod/abc\n");
	counters_read(&source, &c);
	assert_int_equal(c.n_limits, 1);
	assert_int_equal(c.limits[0].met, 4);
	assert_false(c.has_pressure);
	counters_close(&source);
}

/* In a container the path is the node's, and the files lie at the root. */
static void test_v1_in_container(void **state)
{
	struct counters_source source;
	struct counters c;

	(void)state;
	put("cpu,cpuacct/cpu.stat", "nr_periods 16\nnr_throttled 15\nthrottled_time 1234567\n");
	put("memory/memory.failcnt", "42\n");
	open_groups(&source, "11:memory:/kubepods/pod1/abc\n4:cpu,cpuacct:/kubepods/pod1/abc\n");
	counters_read(&source, &c);
	assert_int_equal(c.n_quotas, 1);
	assert_int_equal(c.quotas[0].periods, 16);
	assert_int_equal(c.quotas[0].throttled_periods, 15);
	assert_int_equal(c.quotas[0].throttled_ns, 1234567);
	assert_int_equal(c.n_limits, 1);
	assert_int_equal(c.limits[0].met, 42);
	assert_int_equal(c.limits[0].kills, 0);
	counters_close(&source);
}

static void test_nothing_and_nonsense(void **state)
{
	struct counters_source source;
	struct counters c;

	(void)state;
	open_groups(&source, "0::/nowhere\n");
	counters_read(&source, &c);
	assert_int_equal(c.n_quotas + c.n_limits, 0);
	assert_false(c.has_io || c.has_device);
	counters_close(&source);

	put("cpu.stat", "nr_periodsx 1\n");
	put("memory.events", "");
	put("deep/1/2/3/4/5/6/7/8/9/cpu.stat", "nr_periods 1\n");
	open_groups(&source, "nonsense\n::\n0::/deep/1/2/3/4/5/6/7/8/9\n0::/../x\n");
	counters_read(&source, &c);
	assert_int_equal(c.n_quotas, 1);
	assert_int_equal(c.quotas[0].throttled_ns, 0);
	assert_true(c.n_limits <= COUNTERS_GROUPS_MAX);
	counters_close(&source);
}

static void test_more_groups_than_are_kept(void **state)
{
	struct counters_source source;
	char path[64] = "";

	(void)state;
	for (unsigned i = 0; i < 2 * COUNTERS_GROUPS_MAX; i++) {
		char file[96];

		snprintf(path + strlen(path), sizeof(path) - strlen(path), "d/");
		snprintf(file, sizeof(file), "%scpu.stat", path);
		put(file, "nr_periods 1\n");
		snprintf(file, sizeof(file), "%smemory.events.local", path);
		put(file, "max 1\n");
	}

	char own[96];

	snprintf(own, sizeof(own), "0::/%.*s\n", (int)strlen(path) - 1, path);
	open_groups(&source, own);
	assert_int_equal(source.n_quotas, COUNTERS_GROUPS_MAX);
	assert_int_equal(source.n_limits, COUNTERS_GROUPS_MAX);
	counters_close(&source);
}

static uint64_t most_cpu_ns(const struct counters *c)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < c->n_threads; i++)
		most = max_u64(most, c->threads[i].cpu_ns);
	return most;
}

static void test_this_process(void **state)
{
	struct counters_source source;
	struct counters before, after;
	bool has_schedstat = access("/proc/self/schedstat", R_OK) == 0;

	(void)state;
	counters_open(&source, 0, 0);
	counters_read(&source, &before);
	while (clock_now_ns() < before.at_ns + 50 * NSEC_PER_MSEC)
		;
	counters_read(&source, &after);
	counters_close(&source);
	counters_close(&source);
	assert_true(after.at_ns >= before.at_ns + 50 * NSEC_PER_MSEC);
	assert_true(after.cpu_user_ns + after.cpu_system_ns >
	            before.cpu_user_ns + before.cpu_system_ns);
	assert_false(after.has_device);
	if (!has_schedstat)
		return;
	assert_int_equal(after.n_threads, 1);
	assert_int_equal(after.threads[0].tid, getpid());
	assert_true(most_cpu_ns(&after) > most_cpu_ns(&before));
}

/* A device's line, read through the file of a made-up one. */
static void test_device(void **state)
{
	struct counters_source source = {.own_io = -1, .device = -1, .pressure = -1};
	struct counters c;
	char path[64];

	(void)state;
	put("stat", "   100    2   4096   30   7   1   512   9 0 0 0 0 0 0 0 0 0\n");
	snprintf(path, sizeof(path), "%s/stat", work_dir);

	FILE *file = fopen(path, "r");

	assert_non_null(file);
	source.device = dup(fileno(file));
	fclose(file);
	counters_read(&source, &c);
	assert_true(c.has_device);
	assert_int_equal(c.device_read_bytes, 4096 * 512);
	assert_int_equal(c.device_write_bytes, 512 * 512);
	put("stat", "0 0 0 0 0 0 0 0 0 0 0\n"); /* does not count: brd, iostats off */
	counters_read(&source, &c);
	assert_false(c.has_device);
	counters_close(&source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_v2, make_work_dir, remove_work_dir),
	        cmocka_unit_test_setup_teardown(test_v2_without_local_events, make_work_dir,
	                                        remove_work_dir),
	        cmocka_unit_test_setup_teardown(test_v1_in_container, make_work_dir,
	                                        remove_work_dir),
	        cmocka_unit_test_setup_teardown(test_nothing_and_nonsense, make_work_dir,
	                                        remove_work_dir),
	        cmocka_unit_test_setup_teardown(test_more_groups_than_are_kept, make_work_dir,
	                                        remove_work_dir),
	        cmocka_unit_test(test_this_process),
	        cmocka_unit_test_setup_teardown(test_device, make_work_dir, remove_work_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
