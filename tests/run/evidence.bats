#!/usr/bin/env bats
# What the machine did during a test, and the verdicts by it: CPU quota, memory limit, memory in
# the volume's place. And that none of them is said of a volume that did the work.

load lib

# The next run is in a new control group of CONTROLLER, with VALUE in the file of version 1 or
# that of version 2.
limited() { # CONTROLLER VALUE-1 FILE-1 VALUE-2 FILE-2
	need_root
	local root=/sys/fs/cgroup group
	if [ -d "$root/$1" ]; then
		group=$root/$1/pvcbench-test-$$
		mkdir "$group" 2>/dev/null || skip "no control group of $1 can be made"
		undo rmdir "$group"
		echo "$2" >"$group/$3" || skip "$3 cannot be set"
	elif grep -qw "${1/blkio/io}" "$root/cgroup.subtree_control" 2>/dev/null; then
		group=$root/pvcbench-test-$$
		mkdir "$group" 2>/dev/null || skip "no control group can be made"
		undo rmdir "$group"
		echo "$4" >"$group/$5" || skip "$5 cannot be set"
	else
		skip "no controller $1 to make a group of"
	fi
	# shellcheck disable=SC2016
	WRAP=(bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group")
}

reads() { # [KEY: VALUE...]: a plan of one test of $mnt
	plan <<-END
		version: 1
		target: $mnt
		size: 16MiB
		ramp_time: 200ms
		runtime: 1500ms
		limits_probe: false
		$(printf '%s\n' "$@")
		tests:
		  - {name: reads, rw: randread, bs: 4KiB, iodepth: 4}
	END
}

@test "a CPU quota of 20 %: how much of the time it held the test up" {
	limited cpu 20000 cpu.cfs_quota_us "20000 100000" cpu.max
	tmpfs
	reads "ioengine: psync" "numjobs: 2"
	measure
	valid "$T/result.json"
	holds '.conditions.cpus == 0.2 and .conditions.cpu_quota'
	says '^  limits         0.2 CPU by a quota, memory '
	holds '.tests[0].verdicts[0] | .code == "cpu-quota" and .figure > 0.1 and .figure <= 1'
	holds '.tests[0].usage | .throttled_periods > 0 and .periods >= .throttled_periods'
	holds '[.tests[0].verdicts[].code] | index("cpu") == null'
	says 'held up by the CPU quota [0-9.]+ % of the time .*component more-cpu'
}

@test "the same without a quota: no such verdict" {
	tmpfs
	reads "ioengine: psync" "numjobs: 2"
	measure
	holds '[.tests[0].verdicts[].code] | index("cpu-quota") == null'
	holds '.tests[0].usage.cpu_user_ns + .tests[0].usage.cpu_system_ns > 0'
}

@test "a memory limit that a buffered test's file does not fit into" {
	limited memory 67108864 memory.limit_in_bytes 67108864 memory.max
	loop_fs ext4
	reads "size: 160MiB" "direct: false"
	sed -i '/size: 16MiB/d' "$T/plan.yaml"
	measure
	holds '.conditions | .memory_bytes == 67108864 and .host_memory_bytes > 67108864'
	says '^  limits .* memory 64MiB by a limit \(the machine has '
	holds '.tests[0].fits_memory == null'
	holds '[.tests[0].verdicts[].code] | index("memory")'
	says 'the memory limit of 64MiB was met [0-9]+ times'
}

@test "a limit of requests on the device by a control group: it is named, and not the volume's" {
	loop_fs ext4
	local device
	device=$(cat "/sys/block/${loop#/dev/}/dev")
	limited blkio "$device 200" blkio.throttle.read_iops_device "$device riops=200" io.max
	reads "runtime: 4s"
	sed -i '/runtime: 1500ms/d' "$T/plan.yaml"
	measure
	valid "$T/result.json"
	holds '.conditions.io_limits == {read_iops: 200, write_iops: null, read_bytes: null,
		write_bytes: null}'
	says '^  I/O limits     read 200 IOPS, by a control group$'
	holds '.tests[0].verdicts[] | select(.code == "io-limit")
		| .figure > 0.9 and .figure <= 1.05'
	says '^verdict: io-limit: read [0-9.]+ IOPS: [0-9.]+ % of the 200 IOPS that a control group'
}

@test "a limit of bytes on the device by a control group" {
	loop_fs ext4
	local device
	device=$(cat "/sys/block/${loop#/dev/}/dev")
	limited blkio "$device 2097152" blkio.throttle.write_bps_device "$device wbps=2097152" \
		io.max
	reads "runtime: 4s" "size: 8MiB"
	sed -i '/runtime: 1500ms/d; /size: 16MiB/d; s/randread/randwrite/' "$T/plan.yaml"
	measure
	holds '.conditions.io_limits.write_bytes == 2097152'
	holds '[.tests[0].verdicts[].code] | index("io-limit")'
	says '^  I/O limits     write 2048KiB/s, by a control group$'
}

@test "a buffered file that is cached: memory gave what was read" {
	loop_fs ext4
	reads "direct: false"
	measure
	valid "$T/result.json"
	holds '.tests[0].verdicts[] | select(.code == "page-cache") | .figure < 0.5'
	says 'not O_DIRECT: memory gave [0-9.]+ % of the bytes read'
	says '^  size +16MiB \(buffered, and memory may hold all of it\)'
	says '^  data age +[0-9.]+[mu]?s since the layout \(reads\)$'
	holds '.tests[0] | .fits_memory and .data_age_ns > 0 and .data_age_ns < 60e9'
}

@test "buffered writes: what reached the volume meanwhile" {
	loop_fs ext4
	reads "direct: false"
	sed -i 's/randread/randwrite/' "$T/plan.yaml"
	measure
	holds '.tests[0].verdicts[] | select(.code == "page-cache") | .figure < 0.9'
	says 'writes were taken by memory first, [0-9.e-]+ % of the bytes reached the volume'
}

@test "tmpfs is called memory, O_DIRECT or not" {
	tmpfs
	reads
	measure
	holds '.tests[0].usage.in_memory'
	holds '.tests[0].verdicts[] | select(.code == "page-cache") | .figure == 0'
	says 'tmpfs is memory: no volume was measured'
	valid "$T/result.json"
}

@test "ext4 with data=journal: O_DIRECT is taken, and memory answers" {
	need mkfs.ext4
	loop_device
	mnt=$T/mnt
	mkdir "$mnt"
	mkfs.ext4 -q -m 0 "$loop"
	mount -o data=journal "$loop" "$mnt" || skip "cannot mount with data=journal"
	undo unmount "$mnt"
	reads 'expect: ["read.iops >= 1", "errors == 0"]'
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 99
	holds '.tests[0].direct'
	holds '.tests[0].verdicts[] | select(.code == "page-cache") | .figure < 0.5'
	holds '.tests[0].expect | map(.result) == ["not-judged", "pass"]'
}

# Each byte that the test counts is one that the disk moved, on both counts.
honest() { # RW
	holds ".tests[0] | .status == \"ok\" and .direct and .rw == \"$1\""
	holds '[.tests[0].verdicts[].code] | . - ["cpu", "engine", "noisy", "not-steady"] == []'
	# of a busy machine, if that is what was seen
	if [ "$(get '.tests[0].verdicts | map(.code) | index("cpu")')" != null ]; then
		holds '.tests[0].usage | .thread_cpu_ns + .thread_wait_ns > 0.24 * .span_ns'
	fi
	holds '.tests[0] | .usage.in_memory == false and .usage.bytes > 0'
}

@test "an honest disk: what was read came from it, and nothing is said" {
	loop_fs ext4
	reads
	measure
	honest randread
	holds '.tests[0].fits_memory == null and .conditions.write_cache'
	holds '.tests[0].usage | (.read_bytes - .bytes | fabs) <= 8 * 4096'
	holds '.tests[0].usage | .device_read_bytes >= .bytes - 8 * 4096'
}

@test "an honest disk: what was written went to it, and nothing is said" {
	loop_fs ext4
	reads
	sed -i 's/randread/randwrite/' "$T/plan.yaml"
	measure
	honest randwrite
	holds '.tests[0].usage | (.write_bytes - .bytes | fabs) <= 8 * 4096'
	holds '.tests[0].usage | .device_write_bytes >= .bytes - 8 * 4096'
}

@test "an honest disk below btrfs, which hides its device" {
	loop_fs btrfs
	reads
	measure
	honest randread
	holds '.tests[0].usage | .device_read_bytes == null and .read_bytes > 0'
}

@test "what FUSE moves is not counted, and nothing is made of it" {
	faultfs
	reads
	rules "read delay 2"
	measure
	honest randread
	holds '.tests[0].usage | .read_bytes == null and .device_read_bytes == null'
}

# A file that no request of this file system has touched, so that `again` has nothing of it yet.
untouched() { # SIZE
	head -c "$1" /dev/urandom >"$T/fuse.backing/data"
	chmod 666 "$T/fuse.backing/data"
}

again() { # [KEY: VALUE...]: a plan of one test of that file
	reads "filename: data" "limits_probe: true" "$@"
	sed -i '/limits_probe: false/d; /size:/d' "$T/plan.yaml"
}

@test "a server that answers a block's second read from its cache: first against second touch" {
	faultfs
	untouched 2200K
	again "runtime: 3s" 'expect: ["read.iops >= 1", "read.p50 <= 1m", "errors == 0"]'
	sed -i '/runtime: 1500ms/d' "$T/plan.yaml"
	rules "read again" "read delay 20"
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 99
	valid "$T/result.json"
	# a figure that a cache made meets no threshold
	holds '.tests[0].expect | map(.result) == ["not-judged", "not-judged", "pass"]'
	# twice the depth was quick since it read what the test had read
	holds '[.tests[0].verdicts[].code] | index("queue-depth") == null'
	holds '.tests[0].cache_probe | .blocks >= 24 and .first_ns > 20e6 and .again_ns < 10e6'
	holds '.tests[0].verdicts[] | select(.code == "server-cache") | .figure > 2'
	says "a block takes 2[0-9.]+ms when it is read first and .* the second time; [0-9.]+ % of"
	says '^probe of caches: [0-9]+ blocks, .* not counted in any figure'
}

@test "a file so large that hardly a block is read twice: the cache made no figure" {
	faultfs
	untouched 256M
	again
	rules "read again" "read delay 20"
	measure
	holds '.tests[0].cache_probe | .first_ns > 20e6 and .again_ns < 10e6'
	holds '[.tests[0].verdicts[].code] | index("server-cache") == null'
}

@test "a volume that takes as long the second time has no cache, however small the file is" {
	faultfs
	untouched 3M
	again
	rules "read delay 4" "read delay 8 every=3"
	measure
	holds '.tests[0].cache_probe.blocks >= 24'
	holds '[.tests[0].verdicts[].code] | index("server-cache") == null'
}

@test "what is not read at random, not O_DIRECT, or not to be probed has no probe of caches" {
	tmpfs
	plan <<-END
		version: 1
		target: $mnt
		size: 4MiB
		ramp_time: 0
		runtime: 100ms
		limits_probe: true
		tests:
		  - {name: sequential, rw: read, bs: 4KiB}
		  - {name: written, rw: randwrite, bs: 4KiB}
		  - {name: buffered, rw: randread, bs: 4KiB, direct: false}
		  - {name: verified, rw: randread, bs: 4KiB, verify: crc32c}
		  - {name: without, rw: randread, bs: 4KiB, limits_probe: false}
		  - {name: few-blocks, rw: randread, bs: 16KiB}
		  - {name: by-amount, rw: randread, bs: 4KiB, loops: 1}
	END
	measure
	same "$(get '[.tests[] | select(has("cache_probe")).name] | join(" ")')" by-amount
	valid "$T/result.json"
}

@test "evidence is of the window: it begins soon after it, and ends shortly before" {
	loop_fs ext4
	reads
	measure
	# a machine that is late by more than the 2 ms may look behind the end
	holds '.tests[0] | .usage.from_ns + .usage.span_ns <= .runtime_ns + 1e9'
	holds '.tests[0] | .usage.span_ns > 0.5 * .runtime_ns'
	holds '.tests[0] | .usage.bytes <= .read.bytes + 16 * 4096'
}

@test "evidence of an amount is of all of it, but of no thread" {
	loop_fs ext4
	reads "loops: 3"
	sed -i '/runtime:/d; /ramp_time:/d' "$T/plan.yaml"
	measure
	holds '.tests[0].usage | .bytes == 3 * 16777216 and .read_bytes == .bytes'
	holds '.tests[0].usage | .thread_cpu_ns == null'
}
