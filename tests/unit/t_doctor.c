/* links: base/err.c base/units.c base/workers.c doctor.c io/aio.c io/claim.c io/device.c
 * io/engine.c io/file.c io/heartbeat.c io/host.c io/leftover.c io/mount.c io/null.c io/psync.c
 * io/rundir.c io/target.c io/uring.c io/whole.c */
/*
 * The form of every line, and that nothing stays behind.
 */
#include "doctor.h"

#include <dirent.h>
#include <regex.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mount.h>

#include <cmocka.h>

static char work_dir[] = "/tmp/t_doctor.XXXXXX";
static char text[16 * KIB];

/* Run it and keep what it wrote in text. */
static int look(const char *path, struct err *err)
{
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	text[0] = '\0';

	int ret = doctor_run(path, out, err);

	fclose(out);
	return ret;
}

static unsigned check_lines(void)
{
	regex_t form;
	unsigned n = 0;

	assert_int_equal(regcomp(&form, "^(ok|limited|missing): [A-Za-z_ ]+ \\(.*\\)(: [^.]+)?$",
	                         REG_EXTENDED | REG_NOSUB),
	                 0);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), n++) {
		if (regexec(&form, line, 0, NULL, 0) != 0)
			fail_msg("not of the form: %s", line);
		/* What is fine needs no remedy; what is not has one. */
		assert_int_equal(strncmp(line, "ok", 2) == 0, strstr(line, "): ") == NULL);
	}
	regfree(&form);
	return n;
}

static unsigned count_entries(void)
{
	DIR *dir = opendir(work_dir);
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void test_pod(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(look(NULL, &err), 0);
	assert_non_null(strstr(text, "psync (a read was served)"));
	assert_non_null(strstr(text, "user and group"));
	assert_null(strstr(text, "O_DIRECT"));
	assert_in_range(check_lines(), 10, 12);
}

static void test_volume(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(look(work_dir, &err), 0);
	assert_non_null(strstr(text, "O_DIRECT"));
	assert_non_null(strstr(text, work_dir));
	assert_in_range(check_lines(), 17, 19);
	assert_int_equal(count_entries(), 2);
}

/* run says that there is no space, so this is not limited but missing. */
static void test_volume_on_which_nothing_fits(void **state)
{
	struct err err;

	(void)state;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", work_dir, "tmpfs", 0, "size=4m") < 0)
		skip();
	assert_int_equal(look(work_dir, &err), 0);
	assert_non_null(strstr(text, "missing: space (4MiB, 4MiB free, 0B for us): "));
	check_lines();
	assert_int_equal(umount(work_dir), 0);
}

static void test_no_volume(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(look("/no/such/place", &err), -1);
	assert_int_equal(err.class, ERR_TARGET);
	assert_string_equal(text, "");
}

static int make_work_dir(void **state)
{
	(void)state;
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
	        cmocka_unit_test(test_pod),
	        cmocka_unit_test(test_volume),
	        cmocka_unit_test(test_volume_on_which_nothing_fits),
	        cmocka_unit_test(test_no_volume),
	};

	return cmocka_run_group_tests(tests, make_work_dir, remove_work_dir);
}
