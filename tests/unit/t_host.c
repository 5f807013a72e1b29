/* links: base/err.c io/host.c io/mount.c io/throttle.c */
/*
 * The parsers of /proc and /sys on given text, and one look at this machine.
 */
#include "io/host.h"
#include "io/mount.h"
#include "io/throttle.h"

#include <math.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char work_dir[32];

static FILE *text_file(const char *text)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	assert_non_null(file);
	return file;
}

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

static struct host read_groups(const char *own_cgroups)
{
	struct host host = {.cpus = 16, .host_memory_bytes = 64 * GIB, .memory_bytes = 64 * GIB};
	FILE *file = text_file(own_cgroups);

	host_read_cgroups(&host, file, work_dir);
	fclose(file);
	return host;
}

static int make_work_dir(void **state)
{
	(void)state;
	strcpy(work_dir, "/tmp/t_host.XXXXXX");
	return mkdtemp(work_dir) ? 0 : -1;
}

static int remove_work_dir(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", work_dir);
	return system(command);
}

static struct throttle throttle_of(const char *own_cgroups, unsigned minor)
{
	struct throttle throttle = {0};
	FILE *file = text_file(own_cgroups);

	throttle_read_groups(&throttle, file, work_dir, 8, minor);
	fclose(file);
	return throttle;
}

/* The least of a group and those above it, of this device alone. */
static void test_throttle_v2(void **state)
{
	(void)state;
	put("pod/io.max", "7:8 rbps=max wbps=max riops=1 wiops=1\n"
	                  "8:16 rbps=2097152 wbps=max riops=300 wiops=max\n");
	put("pod/box/io.max", "8:1 rbps=5 wbps=5 riops=5 wiops=5\n"
	                      "8:16 rbps=max wbps=1000 riops=400 wiops=max\n");

	struct throttle throttle = throttle_of("0::/pod/box\n", 16);

	assert_int_equal(throttle.read_iops, 300);
	assert_int_equal(throttle.read_bytes, 2097152);
	assert_int_equal(throttle.write_bytes, 1000);
	assert_int_equal(throttle.write_iops, 0);
	throttle = throttle_of("0::/pod/box\n", 1);
	assert_int_equal(throttle.write_iops, 5);
	throttle = throttle_of("0::/pod/box\n", 2);
	assert_int_equal(throttle.read_iops + throttle.read_bytes + throttle.write_iops, 0);
}

static void test_throttle_v1(void **state)
{
	(void)state;
	put("blkio/pod/blkio.throttle.read_iops_device", "7:0 5\n8:16 120\n");
	put("blkio/pod/blkio.throttle.write_bps_device", "8:16 1048576\n");
	put("blkio/pod/blkio.throttle.write_iops_device", "");

	struct throttle throttle = throttle_of("9:blkio:/pod\n", 16);

	assert_int_equal(throttle.read_iops, 120);
	assert_int_equal(throttle.write_bytes, 1048576);
	assert_int_equal(throttle.read_bytes + throttle.write_iops, 0);
}

static void test_v2_in_container(void **state)
{
	(void)state;
	put("cpu.max", "50000 100000\n");
	put("memory.max", "1073741824\n");

	struct host host = read_groups("0::/\n");

	assert_float_equal(host.cpus, 0.5, 1e-9);
	assert_true(host.cpu_quota);
	assert_int_equal(host.memory_bytes, GIB);
	assert_true(host.memory_limited);
}

static void test_v2_least_on_the_way_up(void **state)
{
	(void)state;
	put("kubepods/cpu.max", "400000 100000\n");
	put("kubepods/pod1/cpu.max", "200000 100000\n");
	put("kubepods/pod1/abc/cpu.max", "max 100000\n");
	put("kubepods/memory.max", "max\n");
	put("kubepods/pod1/memory.max", "2147483648\n");
	put("kubepods/pod1/abc/memory.max", "max\n");

	struct host host = read_groups("0::/kubepods/pod1/abc\n");

	assert_float_equal(host.cpus, 2, 1e-9);
	assert_int_equal(host.memory_bytes, 2 * GIB);
}

static void test_v2_unlimited(void **state)
{
	(void)state;
	put("a/cpu.max", "max 100000\n");
	put("a/memory.max", "max\n");

	struct host host = read_groups("0::/a\n");

	assert_float_equal(host.cpus, 16, 1e-9);
	assert_false(host.cpu_quota);
	assert_int_equal(host.memory_bytes, 64 * GIB);
	assert_false(host.memory_limited);
}

/* In a v1 container the path is the node's, and the files lie at the root. */
static void test_v1_in_container(void **state)
{
	(void)state;
	put("cpu/cpu.cfs_quota_us", "150000\n");
	put("cpu/cpu.cfs_period_us", "100000\n");
	put("memory/memory.limit_in_bytes", "268435456\n");

	struct host host = read_groups("11:memory:/kubepods/burstable/pod1/abc\n"
	                               "4:cpu,cpuacct:/kubepods/burstable/pod1/abc\n"
	                               "1:name=systemd:/kubepods/burstable/pod1/abc\n");

	assert_float_equal(host.cpus, 1.5, 1e-9);
	assert_int_equal(host.memory_bytes, 256 * MIB);
}

static void test_v1_unlimited(void **state)
{
	(void)state;
	put("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	put("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	put("memory/memory.limit_in_bytes", "9223372036854771712\n");

	struct host host = read_groups("5:cpuacct,cpu:/\n6:memory:/\n0::/\n");

	assert_float_equal(host.cpus, 16, 1e-9);
	assert_false(host.cpu_quota);
	assert_int_equal(host.memory_bytes, 64 * GIB);
	assert_false(host.memory_limited);
}

/* More CPUs than there are is no quota; and nothing is made of nonsense. */
static void test_odd_groups(void **state)
{
	(void)state;
	put("cpu.max", "9900000 100000\n");
	put("memory.max", "nonsense\n");
	put("b/cpu.max", "100000 0\n");
	put("b/memory.max", "");

	struct host host = read_groups("0::/b\nnonsense\n:\n::\n3:cpu\n0::/../../x\n");

	assert_float_equal(host.cpus, 16, 1e-9);
	assert_int_equal(host.memory_bytes, 64 * GIB);
}

static void check_cpus(const char *text, double want, bool taken)
{
	struct host host;

	setenv("PVCBENCH_CPUS", text, 1);
	host_read(&host);
	unsetenv("PVCBENCH_CPUS");
	if (taken)
		assert_float_equal(host.cpus, want, 1e-9);
	else
		assert_true(host.cpus > 0 && host.cpus != want);
}

static void test_environment(void **state)
{
	struct host host;

	(void)state;
	check_cpus("1000", 1000, false); /* a larger limit is none */
	check_cpus("500m", 0.5, true);
	check_cpus("0.25", 0.25, true);
	check_cpus("inf", INFINITY, false);
	check_cpus("infm", INFINITY, false);
	check_cpus("", 0, false);
	check_cpus("-2", -2, false);
	check_cpus("77x", 77, false);
	setenv("PVCBENCH_NODE", "node-7", 1);
	host_read(&host);
	unsetenv("PVCBENCH_NODE");
	assert_string_equal(host.node, "node-7");
	setenv("PVCBENCH_NODE", "n\npvcbench-result: {}\x1b[31m\xc3\xa9", 1);
	host_read(&host);
	unsetenv("PVCBENCH_NODE");
	assert_string_equal(host.node, "n_pvcbench-result:_{}_[31m__");
}

static void test_this_machine(void **state)
{
	struct host host;

	(void)state;
	host_read(&host);
	assert_true(host.kernel[0] && host.node[0] && host.machine[0]);
	assert_true(host.cpus > 0);
	assert_true(host.host_memory_bytes > 64 * MIB);
	assert_in_range(host.memory_bytes, 1, host.host_memory_bytes);
}

static const char mounts[] =
        "22 1 253:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
        "30 22 0:5 / /dev rw - devtmpfs dev rw,size=1k\n"
        "31 22 253:0 /var/lib/kubelet/pods/11-22/volumes/kubernetes.io~empty-dir/scratch "
        "/scratch rw,relatime - ext4 /dev/vda rw,discard\n"
        "32 22 253:0 /var/lib/kubelet/pods/11-22/etc-hosts /etc/hosts rw - ext4 /dev/vda rw\n"
        "33 22 0:44 / /data rw,relatime shared:7 master:3 - nfs4 10.0.0.1:/share/a\\040b "
        "rw,relatime,vers=4.1,hard\n"
        "34 22 8:16 / /data/inner rw shared:9 - xfs /dev/sdb rw,attr2\n"
        "35 22 0:50 / /my\\040volume\\134x rw - tmpfs tmpfs rw\n"
        "36 22 8:32 / /twice rw - ext4 /dev/sdc rw\n"
        "37 36 8:48 / /twice ro - xfs /dev/sdd ro\n"
        "38 22 0:60 / /kube\\011x rw - fuse.s3fs s3fs rw,user_id=0\n"
        "39 22 8:64 /sub/dir /subpath rw - ext4 /dev/sde rw\n"
        "nonsense\n"
        "40 22 x:y / / rw - ext4 /dev/vda rw\n"
        "41 22 8:1 / /cut rw shared:1\n"
        "42 22 8:1 / /cut2 rw - ext4\n"
        "\n";

static struct mount find(const char *path, unsigned major, unsigned minor)
{
	struct mount mount = {0};
	FILE *file = text_file(mounts);

	assert_true(mount_find(&mount, file, path, major, minor));
	fclose(file);
	return mount;
}

static void test_mount_lookup(void **state)
{
	struct mount mount = find("/data/dir/file", 0, 44);

	(void)state;
	assert_string_equal(mount.fs, "nfs4");
	assert_string_equal(mount.source, "10.0.0.1:/share/a b");
	assert_string_equal(mount.mount_point, "/data");
	assert_string_equal(mount.options, "rw,relatime,vers=4.1,hard");
	assert_string_equal(find("/data/inner", 8, 16).source, "/dev/sdb");
	/* A name that only begins alike is no child. */
	assert_string_equal(find("/database", 253, 0).mount_point, "/");
	assert_string_equal(find("/my volume\\x/f", 0, 50).fs, "tmpfs");
	assert_string_equal(find("/kube\tx", 0, 60).fs, "fuse.s3fs");
	assert_string_equal(find("/cut/a", 253, 0).mount_point, "/");
}

static void test_mount_device_decides(void **state)
{
	(void)state;
	/* The later of two at one place hides the other, unless the device says otherwise. */
	assert_string_equal(find("/twice/a", 8, 48).fs, "xfs");
	assert_string_equal(find("/twice/a", 8, 32).fs, "ext4");
	/* An unknown device (btrfs numbers its own): the longest path. */
	assert_string_equal(find("/twice/a", 0, 99).fs, "xfs");
	assert_string_equal(find("/data/inner/a", 0, 99).fs, "xfs");
	/* A directory below /data that lies on the root's device: the bind is gone, / holds it. */
	assert_string_equal(find("/data/a", 253, 0).mount_point, "/");
}

static void test_mount_none(void **state)
{
	struct mount mount = {0};
	FILE *file = text_file("garbage\n");

	(void)state;
	assert_false(mount_find(&mount, file, "/data", 1, 2));
	fclose(file);
}

static void test_object_stores(void **state)
{
	struct mount mount = {.fs = "fuse.s3fs", .source = "s3fs"};

	(void)state;
	assert_true(mount_is_object_store(&mount));
	mount = (struct mount){.fs = "fuse", .source = "mountpoint-s3"};
	assert_true(mount_is_object_store(&mount));
	mount = (struct mount){.fs = "fuse.blobfuse2", .source = "whatever"};
	assert_true(mount_is_object_store(&mount));
	mount = (struct mount){.fs = "fuse.sshfs", .source = "s3fs"};
	assert_false(mount_is_object_store(&mount));
	mount = (struct mount){.fs = "ext4", .source = "s3fs"};
	assert_false(mount_is_object_store(&mount));
	mount = (struct mount){.fs = "fuseblk", .source = "/dev/sda1"};
	assert_false(mount_is_object_store(&mount));
}

static void test_file_limits(void **state)
{
	struct mount mount = {.fs = "vfat"};

	(void)state;
	assert_true(mount_file_bytes_max(&mount) == 4294967295);
	mount = (struct mount){.fs = "exfat"};
	assert_int_equal(mount_file_bytes_max(&mount), 0);
}

static void test_node_local(void **state)
{
	struct mount mount = find("/scratch/a", 253, 0);

	(void)state;
	assert_true(mount_is_node_local(&mount));
	mount = find("/data/inner", 8, 16);
	assert_false(mount_is_node_local(&mount));
	mount.on_kubelet_disk = true;
	assert_true(mount_is_node_local(&mount));
	mount = find("/subpath", 8, 64);
	assert_false(mount_is_node_local(&mount));
	mount = find("/data", 0, 44);
	assert_false(mount_is_node_local(&mount));
	assert_false(mount_is_memory(&mount));
	mount = find("/my volume\\x", 0, 50);
	assert_true(mount_is_memory(&mount));
	assert_false(mount_is_node_local(&mount));
	mount = (struct mount){0}; /* not known: caution */
	assert_true(mount_is_node_local(&mount));
	mount = (struct mount){.fs = "overlay", .mount_point = "/"};
	assert_true(mount_is_node_local(&mount));
	assert_true(mount_is_container_root(&mount, false));
	mount = (struct mount){.fs = "ext4", .mount_point = "/"};
	assert_false(mount_is_container_root(&mount, false));
	assert_true(mount_is_container_root(&mount, true));
	mount = (struct mount){.fs = "ext4", .mount_point = "/data"};
	assert_false(mount_is_container_root(&mount, true));
}

static void test_real_mounts(void **state)
{
	struct mount mount;

	(void)state;
	mount_read(&mount, "/proc");
	assert_string_equal(mount.fs, "proc");
	assert_string_equal(mount.mount_point, "/proc");
	assert_string_equal(mount.device, "");
	mount_read(&mount, "/proc/self/no-such-file");
	assert_string_equal(mount.fs, "");
	mount_read(&mount, "/tmp");
	assert_true(mount.fs[0] && mount.mount_point[0] && mount.block_bytes >= 512);
}

static void test_queue_of_no_device(void **state)
{
	char text[32] = "x";

	(void)state;
	assert_string_equal(mount_read_queue(0, 4711, "scheduler", text, sizeof(text)), "");
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_work_dir, remove_work_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        IN_DIR(test_v2_in_container),
	        IN_DIR(test_v2_least_on_the_way_up),
	        IN_DIR(test_v2_unlimited),
	        IN_DIR(test_v1_in_container),
	        IN_DIR(test_v1_unlimited),
	        IN_DIR(test_odd_groups),
	        IN_DIR(test_throttle_v2),
	        IN_DIR(test_throttle_v1),
	        cmocka_unit_test(test_environment),
	        cmocka_unit_test(test_this_machine),
	        cmocka_unit_test(test_mount_lookup),
	        cmocka_unit_test(test_mount_device_decides),
	        cmocka_unit_test(test_mount_none),
	        cmocka_unit_test(test_object_stores),
	        cmocka_unit_test(test_file_limits),
	        cmocka_unit_test(test_node_local),
	        cmocka_unit_test(test_real_mounts),
	        cmocka_unit_test(test_queue_of_no_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
