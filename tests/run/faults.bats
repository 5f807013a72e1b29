#!/usr/bin/env bats
# Storage that misbehaves: errors, short transfers, requests to be sent again, stalls.
# side by side

load lib

faulty() { # KEYS RULE...: one good test, then one under these rules
	local keys=$1
	shift
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		ramp_time: 0
		runtime: 500ms
		tests:
		  - {name: read-latency, rw: randread, bs: 8KiB, loops: 1}
		  - {name: bad, bs: 4KiB, iodepth: 4, $keys}
	END
	rules "$@"
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
}

failed_with() { # ERRNO
	exits 1
	holds '.tests[0] | .status == "ok" and .read.ios == 1024'
	holds ".tests[1] | .status == \"failed\" and .errors.$1 >= 1 and (.error | length) > 0"
	grep -q '^pvcbench-result: .*"name": *"read-latency"' "$T/out"
	valid "$T/result.json"
	dbench_block
	rules
	empty "$mnt"
}

@test "EIO fails the test, the earlier result is printed: io_uring" {
	faulty "rw: randread, ioengine: io_uring" "read err EIO after=1500 count=3"
	failed_with EIO
}

@test "EIO fails the test, the earlier result is printed: libaio" {
	faulty "rw: randread, ioengine: libaio" "read err EIO after=1500 count=3"
	failed_with EIO
}

@test "EIO fails the test, the earlier result is printed: psync" {
	faulty "rw: randread, ioengine: psync" "read err EIO after=1500 count=3"
	failed_with EIO
}

@test "EIO of fsync" {
	faulty "rw: write, fsync: 8, io_size: 4MiB" "fsync err EIO after=3 count=1"
	failed_with EIO
}

@test "ESTALE of a write" {
	faulty "rw: randwrite" "write err ESTALE after=100 count=1"
	failed_with ESTALE
}

@test "EAGAIN is sent again and counted" {
	faultfs
	for engine in io_uring libaio psync; do
		plan <<-END
			version: 1
			target: $mnt
			size: 8MiB
			ramp_time: 0
			ioengine: $engine
			layout: none
			tests: [{name: t, rw: randwrite, bs: 12KiB, iodepth: 4, io_size: 1200KiB}]
		END
		: >"$T/fuse.control/log"
		rules "write err EAGAIN after=10 every=5 count=7"
		measure
		holds '.tests[0] | .status == "ok"'
		holds '.tests[0].write | .ios == 100 and .bytes == 1228800'
		# io_uring has them sent again by the kernel
		[ $engine = io_uring ] || holds '.tests[0].counters.retries == 7'
		within "$(requests write 12288 | awk '$6 == 12288' | wc -l)" 100 104
	done
}

@test "EINTR is sent again and counted" {
	faulty "rw: randread, ioengine: psync, io_size: 2MiB" "read err EINTR after=1200 count=5"
	exits 0
	holds '.tests[1] | .read.ios == 512 and .counters.retries == 5'
}

@test "short reads are continued and counted" {
	faultfs fuse direct_io
	for engine in io_uring libaio psync; do
		plan <<-END
			version: 1
			target: $mnt
			size: 8MiB
			ramp_time: 0
			ioengine: $engine
			tests: [{name: t, rw: read, bs: 64KiB, iodepth: 4, direct: true, loops: 1}]
		END
		: >"$T/fuse.control/log"
		rules "read short 16384 after=20 every=10 count=5"
		measure
		holds '.tests[0] | .status == "ok" and .read.ios == 128 and .read.bytes == 8388608'
		holds '.tests[0].counters.short_transfers == 5'
		# what is asked for again may come back short too
		same $(($(count read 49152) + $(count read 32768) + $(count read 16384))) 5
	done
}

@test "short writes are continued and counted, nothing is lost" {
	faultfs fuse direct_io
	rules "write short 8192 every=7"
	head -c 4M /dev/zero >"$T/fuse.backing/theirs"
	plan <<-END
		version: 1
		target: $mnt
		filename: $mnt/theirs
		destroy: true
		ioengine: psync
		tests: [{name: t, rw: write, bs: 64KiB, iodepth: 4, size: 4MiB, loops: 1}]
	END
	measure
	holds '.tests[0] | .write.ios == 64 and .counters.short_transfers > 0'
	# every block of 4 KiB was written
	same "$(distinct_blocks "$T/fuse.backing/theirs")" 1024
}

@test "a short read on an unaligned edge is continued from an aligned place" {
	faultfs fuse direct_io
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		tests: [{name: t, rw: read, bs: 64KiB, direct: true, loops: 1, ioengine: psync}]
	END
	rules "read short 9000 after=20 count=5"
	measure
	holds '.tests[0] | .read.ios == 128 and .counters.short_transfers == 5'
	same "$(requests read | awk '$7 == 1 && $2 % 4096' | wc -l)" 0
}

@test "reads that give nothing are an error, not an endless loop" {
	LIMIT=30
	faulty "rw: randread, io_size: 2MiB, direct: true" "read short 0 after=1200"
	exits 1
	holds '.tests[1].status == "failed"'
}

@test "no space during the layout: exit 3, nothing left" {
	faultfs
	rules "write err ENOSPC off=4194304-8388608"
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		runtime: 200ms
		tests: [{name: t, rw: randread, bs: 4KiB}]
	END
	pvcbench run "$T/plan.yaml"
	exits 3
	says "[Nn]o space"
	empty "$mnt"
}

@test "no space while a test writes: it fails, the others count" {
	faulty "rw: write, layout: none, offset: 8MiB, loops: 1" \
		"write err ENOSPC off=12582912-20000000"
	[ "$status" = 1 ] || exits 3
	holds '.tests[0].status == "ok" and .tests[1].status == "failed"'
	says "[Nn]o space|ENOSPC"
	empty "$mnt"
}

@test "a layout that is read back with errors is not measured" {
	faulty "rw: randread, file_per_job: true" "fsync err EIO" "fdatasync err EIO"
	[ "$status" != 0 ]
	says "[Ii]nput/output error|EIO"
	empty "$mnt"
}

@test "a directory that cannot be made" {
	faultfs
	rules "mkdir err EROFS"
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		runtime: 200ms
		tests: [{name: t, rw: randread, bs: 4KiB}]
	END
	pvcbench run "$T/plan.yaml"
	exits 3
	says "[Rr]ead-only"
	empty "$mnt"
}

@test "what cannot be removed is named" {
	faultfs
	rules "unlink err EACCES"
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		ramp_time: 0
		runtime: 200ms
		tests: [{name: t, rw: randread, bs: 4KiB}]
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	says "pvcbench-.*: Permission denied"
	holds '.tests[0].read.ios > 0'
}

@test "a request that hangs for a while is reported while it lasts, and counts in full" {
	faultfs
	rules "read hang after=3000 count=1"
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		ramp_time: 0
		runtime: 14s
		ioengine: io_uring
		tests: [{name: t, rw: randread, bs: 4KiB, iodepth: 1}]
	END
	start run "$T/plan.yaml" --out "$T/result.json"
	sleep 12.5
	grep -Ei 'stall|no (request|completion)|nothing' "$T/out"
	rules
	ends 20
	exits 0
	holds '.tests[0].read.lat_ns.max > 8e9'
	within "$(get '.tests[0].runtime_ns')" 13.9e9 14.2e9
	holds '[.tests[0].verdicts[].code] | index("stalls")'
	empty "$mnt"
}

hung_for_good() { # ENGINE
	faultfs fuse "${@:2}"
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		ramp_time: 0
		runtime: 1s
		tests:
		  - {name: read-latency, rw: randread, bs: 8KiB, loops: 1}
		  - {name: bad, rw: randread, bs: 4KiB, iodepth: 4, ioengine: $1}
	END
	rules "read hang after=1500"
	start run "$T/plan.yaml" --out "$T/result.json"
	ends 25
	[ "$status" != 0 ]
	holds '.tests[0] | .status == "ok" and .read.ios == 1024'
	holds '.tests[1] | .status == "failed" and .counters.unfinished >= 1'
	says "4 requests did not come back|the volume does not answer"
	dbench_block
}

@test "requests that never come back: it ends all the same, io_uring" {
	hung_for_good io_uring
	# their file could be removed here; on a suspended disk that holds the process in the kernel
	says "the volume does not answer: '$mnt/pvcbench-.*' was not removed"
	same "$(count unlink)" 0
	# the next run finds what was left
	rules
	pvcbench run "$T/plan.yaml" --set clean=true --set tests.bad.runtime=100ms
	exits 0
	empty "$mnt"
}

@test "requests that never come back: it ends all the same, psync" {
	hung_for_good psync direct_io
}

# --- errors in the middle, by every engine ---

@test "ENOSPC, EDQUOT, EFBIG, EROFS, EIO, ESTALE in the middle of writes, by every engine" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 4MiB
		ramp_time: 0
		loops: 1
		tests:
		  - {name: read-latency, rw: randread, bs: 8KiB, size: 1MiB}
		  - {name: io_uring, rw: write, iodepth: 4, layout: none, ioengine: io_uring}
		  - {name: libaio, rw: write, iodepth: 4, layout: none, ioengine: libaio}
		  - {name: psync, rw: write, iodepth: 4, layout: none, ioengine: psync}
	END
	for error in ENOSPC:3 EDQUOT:3 EFBIG:3 EROFS:3 EIO:1 ESTALE:1; do
		rules "write err ${error%:*} off=2097152-4194303"
		pvcbench run "$T/plan.yaml" --out "$T/result.json"
		exits "${error#*:}"
		holds '.tests[0] | .status == "ok" and .read.ios == 128'
		holds "all(.tests[1:][]; .status == \"failed\" and .errors.${error%:*} >= 1)"
		says "errors: psync: .*${error%:*}"
		dbench_block
		empty "$mnt"
	done
}

# --- storage that is fast at first, or from memory ---

@test "burst, then a token bucket: the series shows when the rate fell and to what" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		ramp_time: 0
		runtime: 5s
		tests: [{name: t, rw: randread, iodepth: 8}]
	END
	rules "read bucket 100 after=500"
	measure
	# a second or less of burst, then the bucket's rate
	within "$(get '.tests[0].read.series.ios | max')" 250 100000
	within "$(get '.tests[0].read.series.ios[-2]')" 80 120
}

@test "a cache in secret, in spite of O_DIRECT: fewer requests reach the volume" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 1MiB
		ramp_time: 0
		tests: [{name: t, rw: read, direct: true, loops: 20}]
	END
	rules "read cached" "read delay 20"
	measure
	# what was laid out is in memory already
	holds '.tests[0].direct and .tests[0].read.ios == 5120 and .tests[0].read.lat_ns.p50 < 2e7'
	within "$(count read)" 0 20
	within "$(count cached)" 5000 6000
}

# --- the layout ---

@test "a hole that the layout left is found and filled again" {
	faultfs
	rules "write lost off=2097152-3145727 count=1"
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		ramp_time: 0
		tests: [{name: t, rw: read, bs: 64KiB, loops: 1}]
	END
	measure
	says "concession: the layout left holes within .* written again"
	holds '.tests[0] | .status == "ok" and .read.ios == 128 and .layout_bytes > 8388608'
	pvcbench run "$T/plan.yaml" --set strict=true
}

@test "a volume that loses what is laid out fails the test, in words" {
	faultfs
	rules "write lost off=2097152-3145727"
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		ramp_time: 0
		tests: [{name: t, rw: read, bs: 64KiB, loops: 1}]
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	holds '.tests[0] | .status == "failed" and (.read.ios // 0) == 0'
	says "a hole at offset 20[0-9]+ .*loses writes"
	empty "$mnt"
}

@test "layout_time: the file is what was laid out, also in later tests" {
	faultfs
	rules "write delay 20"
	plan <<-END
		version: 1
		target: $mnt
		size: 1GiB
		layout_time: 2s
		ramp_time: 0
		runtime: 100ms
		tests:
		  - {name: first, rw: randread}
		  - {name: second, rw: randread}
		  - {name: two, rw: randread, numjobs: 2, file_per_job: true, size: 512MiB}
	END
	measure
	holds 'all(.tests[]; .status == "ok" and .size < .size_asked)'
	holds 'all(.tests[]; [.concessions[] | select(test("layout_time was over"))] != [])'
	holds '.tests[0] | .layout_ns < 20e9 and .layout_bytes >= .size'
	holds '.tests[1] | .size == '"$(get '.tests[0].size')"' and .layout_bytes == 0'
	holds '.tests[2].size * 2 <= .tests[0].size'
	says "layout  *[0-9.]*MiB written in .* \\(first\\)"
}

@test "a layout that the volume does not answer: the test fails after answer_time" {
	faultfs fuse direct_io
	rules "write hang after=5"
	plan <<-END
		version: 1
		target: $mnt
		size: 16MiB
		answer_time: 2s
		runtime: 100ms
		tests: [{name: t, rw: randread}]
	END
	LIMIT=40
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	says "layout .*the volume does not answer: no request came back"
	holds '.tests[0] | .status == "failed" and (.read.ios // 0) == 0'
}

@test "a test by amount that the volume does not answer fails after answer_time" {
	faultfs fuse direct_io
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		ramp_time: 0
		tests:
		  - {name: read-latency, rw: randread, bs: 8KiB, loops: 1}
		  - {name: bad, rw: randread, iodepth: 4, loops: 1, answer_time: 2s}
	END
	rules "read hang after=1500"
	LIMIT=40
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	holds '.tests[0] | .status == "ok" and .read.ios == 1024'
	holds '.tests[1] | .status == "failed" and .read.ios > 100'
	says "no request came back"
}

@test "a process that was suspended does not hold its sleep against the volume" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		ramp_time: 0
		runtime: 200ms
		answer_time: 6s
		tests: [{name: t, rw: randread}]
	END
	rules "mkdir delay 8000"
	start run "$T/plan.yaml" --out "$T/result.json"
	await 20 grep -q "waiting for the volume since" "$T/out"
	kill -STOP "$pid"
	sleep 4
	kill -CONT "$pid"
	ends 40
	exits 0
	holds '.tests[0].status == "ok"'
}

@test "a file size limit met in the layout: the file is smaller, and it says so" {
	faultfs
	rules "write err EFBIG off=4194304-99999999"
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		ramp_time: 0
		tests: [{name: t, rw: read, bs: 64KiB, loops: 1}]
	END
	measure
	holds '.tests[0] | .size == 4194304 and .read.ios == 64'
	says "concession: size shrunk from 8MiB to 4MiB: the volume takes no larger file"
	pvcbench run "$T/plan.yaml" --set strict=true
	exits 3
	says "strict"
	empty "$mnt"
}

# --- a volume that answers nothing, not even before the first request ---

# A good test, then one on a volume under these rules, then a good one again.
unanswered() { # HOW RULE...: how the volume is mounted, as in faultfs.c
	mkdir "$T/good"
	faultfs fuse "$1"
	plan <<-END
		version: 1
		size: 8MiB
		ramp_time: 0
		runtime: 200ms
		target: $T/good
		answer_time: 2s
		tests:
		  - {name: read-latency, rw: randread, bs: 8KiB, loops: 1}
		  - {name: hung, target: $mnt, rw: randread, ioengine: psync}
		  - {name: again, target: $mnt, rw: randread}
		  - {name: later, rw: randread}
	END
	rules "${@:2}"
	LIMIT=40
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	holds '.tests[0] | .status == "ok" and .read.ios == 1024'
	holds '.tests[1].status == "failed"'
	holds '.tests[3] | .status == "ok" and .read.ios > 0'
	dbench_block
	valid "$T/result.json"
	empty "$T/good"
}

@test "mkdir is not answered: the test fails, those elsewhere go on" {
	unanswered "" "mkdir hang"
	says "FAILED.*the volume does not answer: no reply to mkdir .* in 2s"
	holds '.tests[2].error | test("a call of the test .hung. still waits")'
	says "'$mnt/pvcbench-.* was not removed"
}

@test "the first request is not answered: the test fails, those elsewhere go on" {
	unanswered direct_io "write hang direct=1"
	says "the volume does not answer: no reply to a (first|trial) request in 2s"
}

@test "close is not answered: what was measured counts" {
	unanswered "" "flush hang direct=1"
	says "the volume does not answer: no reply to close in 2s"
	holds '.tests[1].read.ios > 0'
}

@test "statfs is not answered: exit 3" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		answer_time: 2s
		tests: [{name: t, rw: randread}]
	END
	rules "statfs hang"
	LIMIT=30
	pvcbench run "$T/plan.yaml"
	exits 3
	says "the volume does not answer within answer_time .*'$mnt'"
}

@test "a volume that is away for a while: it says so, waits, and goes on" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		runtime: 200ms
		ramp_time: 0
		tests: [{name: t, rw: randread}]
	END
	rules "mkdir hang"
	start run "$T/plan.yaml" --out "$T/result.json"
	await 20 grep -q "waiting for the volume since [0-9]*s (mkdir" "$T/out"
	rules
	ends 20
	exits 0
	holds '.tests[0] | .status == "ok" and .read.ios > 0'
	empty "$mnt"
}

# What hangs when the window ends is in no latency.
@test "a hang at the window's end: no threshold on latencies passes" {
	faultfs
	rules "read delay 2"
	plan <<-END
		target: $mnt
		size: 16MiB
		runtime: 6s
		ramp_time: 0
		tests:
		  - {name: hung, rw: randread, iodepth: 4,
		     expect: ["read.max <= 1s", "stall <= 1s", "read.iops >= 1"]}
	END
	start run "$T/plan.yaml" --out "$T/result.json"
	await 20 grep -q '^\[1/1\]' "$T/out"
	sleep 3
	rules "read hang"
	sleep 5
	rules "read delay 2"
	ends 30
	exits 99
	holds '.tests[0].expect | map(.result) == ["not-judged", "fail", "pass"]'
	holds '.tests[0].verdicts | any(.code == "stalls" and (.text | test("cut it off")))'
}
