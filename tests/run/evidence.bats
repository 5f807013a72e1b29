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
	elif grep -qw "$1" "$root/cgroup.subtree_control" 2>/dev/null; then
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

@test "a buffered file that is cached: memory gave what was read" {
	loop_fs ext4
	reads "direct: false"
	measure
	valid "$T/result.json"
	holds '.tests[0].verdicts[] | select(.code == "page-cache") | .figure < 0.5'
	says 'not O_DIRECT: memory gave [0-9.]+ % of the bytes read'
	says '^  size +16MiB \(buffered, and memory may hold all of it\)'
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
	reads
	measure
	holds '.tests[0].direct'
	holds '.tests[0].verdicts[] | select(.code == "page-cache") | .figure < 0.5'
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
