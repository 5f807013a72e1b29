/* links: base/err.c base/units.c base/workers.c io/claim.c io/device.c io/file.c io/heartbeat.c
 * io/host.c io/mount.c io/rundir.c io/target.c io/whole.c kinds/geometry.c load/buffers.c
 * load/fill.c */
/*
 * What fits: sizes against space, regions of jobs, depth against memory.
 */
#include "kinds/geometry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct target target;
static struct host host;
static struct test test;

/* 1 GiB of 4 KiB blocks on a volume with 10 GiB free, of which 1 GiB stays free. */
static int set_up(void **state)
{
	(void)state;
	memset(&target, 0, sizeof(target));
	snprintf(target.path, sizeof(target.path), "/data");
	target.capacity_bytes = 20 * GIB;
	target.free_bytes = 10 * GIB;
	target.reserve_bytes = 1 * GIB;
	host = (struct host){.memory_bytes = 8 * GIB};
	memset(&test, 0, sizeof(test));
	test.bs = 4 * KIB;
	test.iodepth = 4;
	test.numjobs = 1;
	test.size.value = 1 * GIB;
	return 0;
}

static struct geometry fitted(void)
{
	struct geometry g;
	struct err err;

	if (geometry_fit(&g, &test, &target, &host, &err))
		fail_msg("%s", err.text);
	return g;
}

static void test_what_fits_is_taken_as_asked(void **state)
{
	struct geometry g = fitted();

	(void)state;
	assert_int_equal(g.size, 1 * GIB);
	assert_int_equal(g.size_asked, 1 * GIB);
	assert_int_equal(g.file_bytes, 1 * GIB);
	assert_int_equal(g.files, 1);
	assert_int_equal(g.iodepth, 4);
	assert_string_equal(g.size_note, "");
	assert_string_equal(g.depth_note, "");
}

static void test_a_size_is_whole_blocks(void **state)
{
	(void)state;
	test.bs = 2300;
	test.size.value = 10000;
	assert_int_equal(fitted().size, 9200);
	assert_int_equal(fitted().size_asked, 9200);
}

static void test_too_large_shrinks_to_the_budget(void **state)
{
	(void)state;
	test.size.value = 100 * GIB;
	struct geometry g = fitted();

	assert_int_equal(g.size_asked, 100 * GIB);
	assert_in_range(g.size, 9 * GIB - MIB, 9 * GIB);
	assert_string_equal(g.size_note,
	                    "size shrunk from 100GiB to 9GiB: the volume can take 9GiB "
	                    "for the files of a test");
}

static void test_jobs_share_the_space(void **state)
{
	(void)state;
	test.numjobs = 4;
	test.file_per_job = true;
	test.size.value = 4 * GIB;
	struct geometry g = fitted();

	assert_int_equal(g.files, 4);
	assert_true(g.files * g.file_bytes <= 9 * GIB);
	assert_true(g.files * g.file_bytes > 9 * GIB - MIB);
	assert_int_equal(geometry_region(&g, 3), 0);
}

/* dbench's sequential test: four jobs 500 MiB apart need 3.5 GB where 2 GB are asked. */
static void test_regions_shrink_by_one_factor(void **state)
{
	(void)state;
	test.numjobs = 4;
	test.offset_increment = 500 * MIB;
	test.size.value = 2 * GIB;
	assert_int_equal(fitted().file_bytes, 2 * GIB + 1500 * MIB);
	assert_string_equal(fitted().size_note, "");

	target.free_bytes = 1 * GIB + (2 * GIB + 1500 * MIB) / 2;
	struct geometry g = fitted();

	assert_in_range(g.size, 1 * GIB - MIB, 1 * GIB);
	assert_in_range(g.increment, 249 * MIB, 250 * MIB);
	assert_int_equal(geometry_region(&g, 3), 3 * g.increment);
	assert_true(g.file_bytes <= target_budget(&target));
}

/* The class's working set is that of all files; what the volume holds comes after it. */
static void test_a_class_takes_its_part(void **state)
{
	struct geometry g;
	struct err err;

	(void)state;
	test.size.value = 10 * GIB;
	test.class_size = 2 * GIB;
	g = fitted();
	assert_int_equal(g.size, 2 * GIB);
	assert_int_equal(g.size_class, 2 * GIB);
	assert_int_equal(g.size_asked, 10 * GIB);
	assert_int_equal(g.file_bytes, 2 * GIB);
	assert_string_equal(g.size_note, "");

	test.numjobs = 4;
	test.file_per_job = true;
	g = fitted();
	assert_in_range(g.size, 512 * MIB - MIB, 512 * MIB);
	assert_true(g.files * g.file_bytes <= 2 * GIB);

	target.free_bytes = 2 * GIB; /* 1 GiB of it stays free */
	test.numjobs = 1;
	g = fitted();
	assert_int_equal(g.size_class, 2 * GIB);
	assert_string_equal(g.size_note, "size shrunk from 2GiB to 1GiB: the volume can take 1GiB "
	                                 "for the files of a test");

	test.size.value = 1 * GIB;
	assert_int_equal(fitted().size, 1 * GIB);
	assert_int_equal(fitted().size_class, 0);

	test.class_size = 2 * KIB;
	assert_int_equal(geometry_fit(&g, &test, &target, &host, &err), -1);
	assert_int_equal(err.class, ERR_TARGET);
	assert_string_equal(err.text, "the size of 2KiB in class.yaml does not hold 1 job(s) of "
	                              "one block of 4KiB");
}

static void test_nothing_fits(void **state)
{
	struct geometry g;
	struct err err;

	(void)state;
	target.free_bytes = target.reserve_bytes + 100;
	assert_int_equal(geometry_fit(&g, &test, &target, &host, &err), -1);
	assert_int_equal(err.class, ERR_TARGET);
	assert_non_null(
	        strstr(err.text, "no space on '/data': 1GiB free, and 1GiB are to stay free"));
}

static void test_a_percentage_and_a_multiple_of_memory(void **state)
{
	(void)state;
	test.size.unit = SIZE_PERCENT_FREE;
	test.size.value = 50;
	assert_in_range(fitted().size, 4 * GIB, 5 * GIB);
	host.memory_bytes = 2 * GIB;
	test.size.unit = SIZE_X_MEMORY;
	test.size.value = 2;
	assert_int_equal(fitted().size, 4 * GIB);
}

/* Writes hold spare buffers beside those of their depth; threads hold stacks and statistics. */
static void test_a_share_of_no_capacity_is_a_working_set(void **state)
{
	struct geometry g;

	(void)state;
	test.size = (struct plan_size){.unit = SIZE_PERCENT_FREE, .value = 50};
	target.is_unbounded = true;
	g = fitted();
	assert_int_equal(g.size, 1 * GIB);
	assert_int_equal(g.size_asked, 1 * GIB);
	assert_non_null(strstr(g.size_note, "size 50% of the free space taken as 1GiB"));
	test.size = (struct plan_size){.unit = SIZE_BYTES, .value = 3 * GIB};
	assert_int_equal(fitted().size, 3 * GIB);
	assert_string_equal(fitted().size_note, "");
}

static void test_a_file_is_no_larger_than_it_can_be(void **state)
{
	struct geometry g;
	struct err err;

	(void)state;
	target.file_bytes_max = 256 * MIB;
	target.file_limit = "RLIMIT_FSIZE";
	g = fitted();
	assert_int_equal(g.size, 256 * MIB);
	assert_int_equal(g.file_bytes, 256 * MIB);
	assert_string_equal(g.size_note, "size shrunk from 1GiB to 256MiB: a file can have 256MiB "
	                                 "at most here (RLIMIT_FSIZE)");
	test.numjobs = 4;
	test.file_per_job = true;
	assert_int_equal(fitted().size, 256 * MIB);
	/* Jobs that share a file share its limit. */
	test.file_per_job = false;
	test.offset_increment = 1 * GIB;
	g = fitted();
	assert_int_equal(g.size, 64 * MIB);
	assert_int_equal(g.increment, 64 * MIB);
	target.file_bytes_max = 1;
	assert_int_equal(geometry_fit(&g, &test, &target, &host, &err), -1);
	assert_non_null(strstr(err.text, "a file can have 1B at most here (RLIMIT_FSIZE)"));
}

static void test_depth_is_what_half_of_the_memory_holds(void **state)
{
	struct geometry g;
	struct err err;

	(void)state;
	host.memory_bytes = 64 * MIB;
	test.bs = 1 * MIB;
	test.iodepth = 256;
	test.numjobs = 8;
	assert_int_equal(fitted().iodepth, 3);
	assert_non_null(strstr(fitted().depth_note, "iodepth lowered from 256 to 3"));
	test.rw = RW_WRITE;
	assert_int_equal(fitted().iodepth, 1);
	test.numjobs = 2;
	g = fitted();
	assert_int_equal(g.iodepth, 7);
	assert_int_equal(geometry_fit_memory(&g, &test, &host, true, &err), 0);
	assert_int_equal(g.iodepth, 7);
	test.numjobs = 64;
	assert_int_equal(geometry_fit(&g, &test, &target, &host, &err), -1);
	assert_int_equal(err.class, ERR_TARGET);
}

static void test_an_existing_file_is_as_large_as_it_is(void **state)
{
	struct geometry g;
	struct err err;

	(void)state;
	snprintf(test.filename, sizeof(test.filename), "/data/mine");
	assert_int_equal(geometry_fit_existing(&g, &test, 100 * MIB, &host, &err), 0);
	assert_int_equal(g.size, 100 * MIB);
	assert_int_equal(g.size_asked, 100 * MIB);
	assert_string_equal(g.size_note, "");
	test.numjobs = 3;
	test.offset_increment = 40 * MIB;
	assert_int_equal(geometry_fit_existing(&g, &test, 100 * MIB, &host, &err), 0);
	assert_int_equal(g.size, 20 * MIB);
	test.numjobs = 4;
	assert_int_equal(geometry_fit_existing(&g, &test, 100 * MIB, &host, &err), -1);
	assert_non_null(strstr(err.text, "'/data/mine' of 104857600 bytes is too small"));
}

static void test_peers_share_the_space(void **state)
{
	struct geometry g;

	(void)state;
	test.size.value = 6 * GIB;
	test.peers = 3;
	test.peer = 1;
	test.numjobs = 2;
	assert_int_equal(fitted().size, 3 * GIB); /* of 9 GiB, each with a file */
	test.size = (struct plan_size){SIZE_PERCENT_FREE, 50};
	assert_int_equal(fitted().size, 3 * GIB / 100 * 50 / test.bs * test.bs);
	test.size = (struct plan_size){SIZE_BYTES, 1 * GIB};
	test.shared = true;
	test.offset_increment = 1 * GIB;
	g = fitted();
	assert_int_equal(g.file_bytes, 6 * GIB); /* six jobs in one file */
	assert_int_equal(geometry_region(&g, 0), 2 * GIB);
	assert_int_equal(geometry_region(&g, 1), 3 * GIB);
	test.offset_increment = 0;
	g = fitted();
	assert_int_equal(g.file_bytes, 1 * GIB);
	assert_int_equal(geometry_region(&g, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(test_what_fits_is_taken_as_asked, set_up),
	        cmocka_unit_test_setup(test_a_size_is_whole_blocks, set_up),
	        cmocka_unit_test_setup(test_too_large_shrinks_to_the_budget, set_up),
	        cmocka_unit_test_setup(test_jobs_share_the_space, set_up),
	        cmocka_unit_test_setup(test_regions_shrink_by_one_factor, set_up),
	        cmocka_unit_test_setup(test_a_class_takes_its_part, set_up),
	        cmocka_unit_test_setup(test_nothing_fits, set_up),
	        cmocka_unit_test_setup(test_a_percentage_and_a_multiple_of_memory, set_up),
	        cmocka_unit_test_setup(test_a_share_of_no_capacity_is_a_working_set, set_up),
	        cmocka_unit_test_setup(test_a_file_is_no_larger_than_it_can_be, set_up),
	        cmocka_unit_test_setup(test_depth_is_what_half_of_the_memory_holds, set_up),
	        cmocka_unit_test_setup(test_an_existing_file_is_as_large_as_it_is, set_up),
	        cmocka_unit_test_setup(test_peers_share_the_space, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
