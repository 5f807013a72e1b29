/* links: base/err.c base/field.c base/units.c builtin.c plan/class.c plan/expect.c
 * plan/keys.c plan/plan.c plan/check.c plan/scope.c plan/value.c plan/published.c plan/tree.c */
/*
 * The classes in tests/plans/bad/class: each is wrong, and has its exact error beside it; UPDATE=1
 * writes these anew. The classes that we ship are all read. Runs from the top folder.
 */
#include "plan/class.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char text[2 * CLASS_FILE_MAX];

static size_t read_file(const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	size_t size = fread(text, 1, sizeof(text) - 1, file);

	fclose(file);
	text[size] = '\0';
	return size;
}

static void write_file(const char *path, const char *content)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(content, file);
	fclose(file);
}

static void for_each_class(const char *pattern, size_t least, int (*check)(const char *path))
{
	int failures = 0;
	glob_t found;

	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= least);
	for (size_t i = 0; i < found.gl_pathc; i++)
		failures += check(found.gl_pathv[i]);
	globfree(&found);
	assert_int_equal(failures, 0);
}

static bool is_zero(const struct class *class)
{
	static const struct class none;

	return !memcmp(class, &none, sizeof(none));
}

static int check_bad(const char *path)
{
	char got[ERR_TEXT_MAX + 2], beside[512];
	size_t size = read_file(path);
	struct class class;
	struct err err;

	if (!class_read(&class, strrchr(path, '/') + 1, text, size, &err)) {
		print_error("%s is read\n", path);
		return 1;
	}
	assert_int_equal(err.class, ERR_PLAN);
	assert_true(is_zero(&class));
	snprintf(got, sizeof(got), "%s\n", err.text);
	snprintf(beside, sizeof(beside), "%.*serr", (int)(strlen(path) - strlen("yaml")), path);
	if (getenv("UPDATE"))
		write_file(beside, got);
	read_file(beside);
	if (!strcmp(text, got))
		return 0;
	print_error("%s differs, it should be\n%s", beside, got);
	return 1;
}

static void test_bad_classes(void **state)
{
	(void)state;
	for_each_class("tests/plans/bad/class/*.yaml", 50, check_bad);
}

/* The name is that of the folder. */
static int check_shipped(const char *path)
{
	size_t size = read_file(path);
	struct class class;
	struct err err;
	char folder[512];

	if (class_read(&class, path, text, size, &err)) {
		print_error("%s\n", err.text);
		return 1;
	}
	snprintf(folder, sizeof(folder), "%.*s", (int)(strlen(path) - strlen("/class.yaml")), path);
	assert_string_equal(strrchr(folder, '/') + 1, class.name);

	struct published p = class_figures(&class);

	assert_true(!p.source[0] || p.iops > 0 || p.mib_per_s > 0);
	return 0;
}

static void test_shipped_classes(void **state)
{
	(void)state;
	for_each_class("storageclasses/*/*/class.yaml", 20, check_shipped);
}

static struct class shipped(const char *folder)
{
	char path[256];
	struct class class;
	struct err err;

	snprintf(path, sizeof(path), "storageclasses/%s/class.yaml", folder);
	size_t size = read_file(path);

	if (class_read(&class, path, text, size, &err))
		fail_msg("%s", err.text);
	return class;
}

static void test_every_key_is_read(void **state)
{
	static const char all[] = "\xef\xbb\xbf"
	                          "name: a-class\n"
	                          "capacity: 100GiB\n"
	                          "size: 2GiB\n"
	                          "note: >-\n  two\n  lines\n"
	                          "published:\n"
	                          "  iops: {base: 1800, per_gib: 0.5, max: 5000}\n"
	                          "  mib_per_s: {steps: [{up_to: 64GiB, value: 1},\n"
	                          "    {up_to: 128GiB, value: 2.5}]}\n"
	                          "  burst: {iops: 9000, mib_per_s: 7, credit: 11}\n"
	                          "  io_unit: 256KiB\n"
	                          "  scope: each\n"
	                          "  source: the provider\n";
	struct class class;
	struct err err;

	(void)state;
	if (class_read(&class, "c", all, strlen(all), &err))
		fail_msg("%s", err.text);
	assert_string_equal(class.name, "a-class");
	assert_int_equal(class.capacity_bytes, 100 * GIB);
	assert_int_equal(class.size_bytes, 2 * GIB);
	assert_string_equal(class.note, "two lines");

	struct published p = class_figures(&class);

	assert_int_equal(p.capacity_bytes, 100 * GIB);
	assert_true(p.iops == 1850 && p.mib_per_s == 2.5);
	assert_true(p.burst_iops == 9000 && p.burst_mib_per_s == 7 && p.burst_credit == 11);
	assert_int_equal(p.io_unit, 256 * KIB);
	assert_int_equal(p.scope, SCOPE_EACH);
	assert_string_equal(p.source, "the provider");
}

/* As docs/storage-classes.md has them. */
static void test_figures_of_shipped_classes(void **state)
{
	static const struct {
		const char *folder;
		double iops, mib_per_s;
	} cases[] = {
	        {"cce/evs-high-io", 5000, 150},     {"cce/evs-ultra", 50000, 350},
	        {"cce/sfs-turbo", 4200, 143},       {"aks/managed-csi-premium", 5000, 190},
	        {"aks/azurefile-nfs", 4024, 202.4},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct class class = shipped(cases[i].folder);
		struct published p = class_figures(&class);

		assert_true(fabs(p.iops - cases[i].iops) < 0.001);
		assert_true(fabs(p.mib_per_s - cases[i].mib_per_s) < 0.001);
	}
	assert_int_equal(shipped("cce/obs-pfs").size_bytes, 2 * GIB);
	assert_int_equal(shipped("generic/emptydir-memory").size_bytes, 1 * GIB);
}

/* ---- where it is looked for ---- */

static char folder[] = "/tmp/pvcbench-class.XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char path[sizeof(folder) + sizeof("/class.yaml")];

	(void)state;
	snprintf(path, sizeof(path), "%s/class.yaml", folder);
	unlink(path);
	return rmdir(folder);
}

static void test_beside_the_plan(void **state)
{
	char plan[sizeof(folder) + sizeof("/plan.yaml")];
	char path[sizeof(folder) + sizeof("/class.yaml")], message[256];
	struct class class;
	struct err err;

	(void)state;
	snprintf(plan, sizeof(plan), "%s/plan.yaml", folder);
	snprintf(path, sizeof(path), "%s/class.yaml", folder);
	write_file(path, "name: beside\n");
	assert_int_equal(class_load(&class, plan, &err), 0);
	assert_string_equal(class.name, "beside");

	write_file(path, "name: BESIDE\n");
	assert_int_equal(class_load(&class, plan, &err), -1);
	snprintf(message, sizeof(message), "%s:1:7: name: 'BESIDE' is not a class's name", path);
	assert_int_equal(strncmp(err.text, message, strlen(message)), 0);
	assert_true(is_zero(&class));

	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(class_load(&class, plan, &err), -1);
	snprintf(message, sizeof(message), "cannot read the class '%s': Is a directory", path);
	assert_string_equal(err.text, message);
	assert_int_equal(err.class, ERR_PLAN);
	rmdir(path);

	assert_int_equal(mkfifo(path, 0600), 0); /* would be waited for */
	assert_int_equal(class_load(&class, plan, &err), -1);
	snprintf(message, sizeof(message), "cannot read the class '%s': it is no file", path);
	assert_string_equal(err.text, message);
}

static void test_in_the_plans_own_folder(void **state)
{
	struct class class;
	struct err err;
	char *back = get_current_dir_name();

	(void)state;
	assert_int_equal(chdir("storageclasses/cce/evs-ultra"), 0);
	assert_int_equal(class_load(&class, "plan.yaml", &err), 0);
	assert_string_equal(class.name, "evs-ultra");
	assert_int_equal(chdir(back), 0);
	free(back);
}

static void test_none(void **state)
{
	struct class class;
	struct err err;

	(void)state;
	if (!access(CLASS_MOUNTED, F_OK))
		skip();
	assert_int_equal(class_load(&class, NULL, &err), 0);
	assert_true(is_zero(&class));
	assert_int_equal(class_load(&class, "/nowhere/plan.yaml", &err), 0);
	assert_true(is_zero(&class));
}

static void test_too_large(void **state)
{
	struct class class;
	struct err err;

	(void)state;
	memset(text, '#', CLASS_FILE_MAX + 1);
	assert_int_equal(class_read(&class, "c", text, CLASS_FILE_MAX + 1, &err), -1);
	assert_string_equal(err.text, "c: larger than 65536 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_bad_classes),
	        cmocka_unit_test(test_shipped_classes),
	        cmocka_unit_test(test_every_key_is_read),
	        cmocka_unit_test(test_figures_of_shipped_classes),
	        cmocka_unit_test_setup_teardown(test_beside_the_plan, make_folder, remove_folder),
	        cmocka_unit_test(test_in_the_plans_own_folder),
	        cmocka_unit_test(test_none),
	        cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
