/* links: base/err.c base/workers.c io/claim.c io/heartbeat.c io/host.c io/whole.c */
/*
 * What is read is what was written; nothing else that lies there is taken for a claim; who
 * lives is told by the process.
 */
#include "io/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "io/heartbeat.h"

static char work_dir[32];
static int dirfd_;
static struct claim claim;
static uint64_t beat_ns;

static int set_up(void **state)
{
	(void)state;
	strcpy(work_dir, "/tmp/t_claim.XXXXXX");
	if (!mkdtemp(work_dir))
		return -1;
	dirfd_ = open(work_dir, O_RDONLY | O_DIRECTORY);
	return dirfd_ < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	close(dirfd_);
	snprintf(command, sizeof(command), "rm -rf %s", work_dir);
	return system(command);
}

static void write_text(const char *text, size_t n)
{
	int fd = openat(dirfd_, CLAIM_FILE, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), n);
	close(fd);
}

static bool reads(const char *text)
{
	write_text(text, strlen(text));
	return claim_read(dirfd_, &claim, &beat_ns);
}

static void test_both_ways(void **state)
{
	struct claim written;

	(void)state;
	setenv("PVCBENCH_JOB", "pvcbench-x", 1);
	setenv("PVCBENCH_JOB_UID", "0b6e\nrun=forged", 1);
	setenv("JOB_COMPLETION_INDEX", "7", 1);
	claim_describe(&written, "r1");
	written.attempt = 3;
	assert_int_equal(claim_write(dirfd_, &written), 0);
	assert_true(claim_read(dirfd_, &claim, &beat_ns));
	assert_memory_equal(&claim, &written, sizeof(claim));
	assert_string_equal(claim.run_id, "r1");
	assert_string_equal(claim.job_uid, "0b6e_run=forged");
	assert_int_equal(claim.pid, getpid());
	assert_true(claim.pid_start > 0);
	assert_in_range(beat_ns / NSEC_PER_SEC, time(NULL) - 10, time(NULL) + 10);
	/* A claim is made once. */
	assert_int_equal(claim_write(dirfd_, &written), EEXIST);
}

#define HEAD "pvcbench-claim=1\n"
#define BODY "run=r1\nattempt=1\npid=17\n"
#define TAIL "end=pvcbench-claim\n"

static void test_what_is_none(void **state)
{
	char long_value[CLAIM_TEXT_MAX + 100];

	(void)state;
	assert_false(claim_read(dirfd_, &claim, &beat_ns));
	assert_true(reads(HEAD BODY TAIL));
	assert_true(reads(HEAD BODY "of_a_later_version=x\n" TAIL));
	assert_false(reads(""));
	assert_false(reads(HEAD));
	assert_false(reads(HEAD BODY));
	assert_false(reads(HEAD BODY "end=pvcbench-cl"));
	assert_false(reads("pvcbench-claim=2\n" BODY TAIL));
	assert_false(reads(BODY TAIL));
	assert_false(reads(HEAD TAIL));
	assert_false(reads(HEAD "run=r1\nattempt=1\n" TAIL));
	assert_false(reads(HEAD "run=r1\nattempt=0\npid=17\n" TAIL));
	assert_false(reads(HEAD "run=r1\nattempt=1\npid=-1\n" TAIL));
	assert_false(reads(HEAD "run=r1\nattempt=1\npid=0\n" TAIL));
	assert_false(reads(HEAD "run=r1\nattempt=1\npid=99999999999999999999\n" TAIL));
	assert_false(reads(HEAD "run=r1\nattempt=1\npid=4294967297\n" TAIL));
	assert_false(reads(HEAD "run=r1\nattempt=1x\npid=17\n" TAIL));
	assert_false(reads(HEAD BODY "no value\n" TAIL));
	assert_false(reads(HEAD BODY "host=\x1b[2J\n" TAIL));
	memset(long_value, 'a', sizeof(long_value));
	memcpy(long_value, HEAD "host=", strlen(HEAD "host="));
	strcpy(long_value + sizeof(long_value) - strlen(BODY TAIL) - 2, "\n" BODY TAIL);
	assert_false(reads(long_value));
	write_text(HEAD BODY "\0\n" TAIL, sizeof(HEAD BODY "\0\n" TAIL) - 1);
	assert_false(claim_read(dirfd_, &claim, &beat_ns));
}

/* No byte may be missing at its end; what stands in another's place is read safely. */
static void test_truncated_and_changed(void **state)
{
	static const char whole[] = HEAD BODY "job=a\njob_uid=b\nhost=c\n" TAIL;
	char text[sizeof(whole)];

	(void)state;
	for (size_t n = 0; n < sizeof(whole) - 1; n++) {
		write_text(whole, n);
		assert_false(claim_read(dirfd_, &claim, &beat_ns));
	}
	for (size_t i = 0; i < sizeof(whole) - 1; i++) {
		memcpy(text, whole, sizeof(text));
		text[i] = (char)(text[i] ^ 0x81);
		write_text(text, sizeof(whole) - 1);
		if (!claim_read(dirfd_, &claim, &beat_ns))
			continue;
		/* A key that is not known any more is nobody's. */
		assert_string_equal(claim.run_id, "r1");
		assert_int_equal(claim.pid, 17);
	}
}

static void test_odd_files(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(mkfifoat(dirfd_, CLAIM_FILE, 0600), 0);
	assert_false(claim_read(dirfd_, &claim, &beat_ns));
	assert_int_equal(unlinkat(dirfd_, CLAIM_FILE, 0), 0);
	assert_int_equal(mkdirat(dirfd_, CLAIM_FILE, 0700), 0);
	assert_false(claim_read(dirfd_, &claim, &beat_ns));
	assert_int_equal(unlinkat(dirfd_, CLAIM_FILE, AT_REMOVEDIR), 0);
	assert_true(reads(HEAD BODY TAIL));
	assert_int_equal(renameat(dirfd_, CLAIM_FILE, dirfd_, "elsewhere"), 0);
	assert_int_equal(symlinkat("elsewhere", dirfd_, CLAIM_FILE), 0);
	assert_false(claim_read(dirfd_, &claim, &beat_ns));
	assert_int_equal(unlinkat(dirfd_, CLAIM_FILE, 0), 0);
	/* As large as a disk, without being read. */
	fd = openat(dirfd_, CLAIM_FILE, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, HEAD BODY, strlen(HEAD BODY)), strlen(HEAD BODY));
	assert_int_equal(ftruncate(fd, (off_t)(1ull << 40)), 0);
	close(fd);
	assert_false(claim_read(dirfd_, &claim, &beat_ns));
}

static void test_beat(void **state)
{
	const struct timespec old[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct heartbeat *heartbeat;
	struct err err;

	(void)state;
	assert_int_equal(claim_beat(dirfd_), ENOENT);
	assert_true(reads(HEAD BODY TAIL));
	assert_int_equal(utimensat(dirfd_, CLAIM_FILE, old, 0), 0);
	assert_true(claim_read(dirfd_, &claim, &beat_ns));
	assert_int_equal(beat_ns, 1000 * NSEC_PER_SEC);
	assert_int_equal(claim_beat(dirfd_), 0);
	assert_true(claim_read(dirfd_, &claim, &beat_ns));
	assert_true(beat_ns > 2000 * NSEC_PER_SEC);
	/* It ends at once, however long its period is; and so does none. */
	uint64_t start_ns = clock_now_ns();

	assert_int_equal(heartbeat_start(&heartbeat, dirfd_, &err), 0);
	heartbeat_stop(heartbeat);
	assert_true(clock_now_ns() - start_ns < HEARTBEAT_NS / 2);
	heartbeat_stop(NULL);
}

static void test_same_job(void **state)
{
	struct claim a = {.job_uid = "u", .job_index = "1"}, b = a, none = {0};

	(void)state;
	assert_true(claim_same_job(&a, &b));
	strcpy(b.job_index, "2");
	assert_false(claim_same_job(&a, &b));
	b = a;
	strcpy(b.job_uid, "v");
	assert_false(claim_same_job(&a, &b));
	assert_false(claim_same_job(&none, &none));
}

static void test_life(void **state)
{
	struct claim own, other;
	int status;
	pid_t pid;

	(void)state;
	claim_describe(&own, "r1");
	assert_int_equal(claim_life(&own, &own), CLAIM_ALIVE);
	other = own;
	other.pid_start--; /* the number was another's before */
	assert_int_equal(claim_life(&other, &own), CLAIM_DEAD);
	other.pid_start = 0;
	assert_int_equal(claim_life(&other, &own), CLAIM_UNKNOWN);
	other = own;
	other.boot[0]++;
	assert_int_equal(claim_life(&other, &own), CLAIM_UNKNOWN);
	other = own;
	other.pid_namespace++;
	assert_int_equal(claim_life(&other, &own), CLAIM_UNKNOWN);

	pid = fork();
	if (pid == 0) {
		claim_describe(&other, "r2");
		_exit(claim_write(dirfd_, &other));
	}
	/* Ended but not waited for it is a zombie. */
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(claim_read(dirfd_, &other, &beat_ns));
	assert_int_equal(other.pid, pid);
	assert_int_equal(claim_life(&other, &own), CLAIM_DEAD);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(claim_life(&other, &own), CLAIM_DEAD);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        IN_DIR(test_both_ways),
	        IN_DIR(test_what_is_none),
	        IN_DIR(test_truncated_and_changed),
	        IN_DIR(test_odd_files),
	        IN_DIR(test_beat),
	        IN_DIR(test_same_job),
	        IN_DIR(test_life),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
