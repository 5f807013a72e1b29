#!/usr/bin/env bats
# A signal in each phase: partial results, 128 + its number, nothing left.
# side by side

load lib

# Start a good test and one that is caught in a phase.
caught_in() { # KEYS OF THE SECOND TEST
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		ramp_time: 0
		runtime: 60s
		tests:
		  - {name: read-latency, rw: randread, bs: 8KiB, loops: 1, ioengine: io_uring}
		  - {name: caught, rw: randread, bs: 4KiB, $1}
		  - {name: never, rw: randread, bs: 4KiB}
	END
	rules "$2"
	start run "$T/plan.yaml" --out "$T/result.json"
}

seen() { # OP SIZE NUMBER
	[ "$(count "$1" "$2")" -ge "$3" ]
}

ended_by() { # STATUS
	ends 10
	exits "$1"
	holds '.interrupted == true'
	holds '.tests[0] | .status == "ok" and .read.ios == 1024'
	holds '[.tests[].name] | index("never") | not'
	dbench_block
	valid "$T/result.json"
	says "signal|interrupt|SIG"
	empty "$mnt"
}

@test "SIGTERM in the run: what was measured counts" {
	caught_in "iodepth: 2" "read delay 1"
	await 15 seen read 4096 500
	kill -TERM "$pid"
	ended_by 143
	holds '.tests[1] | .status == "interrupted" and .read.ios > 100 and .runtime_ns < 30e9'
	holds '.tests[1] | (.read.ios / (.runtime_ns / 1e9) / .read.iops - 1 | fabs) < 0.01'
	same "$(grep -c '^pvcbench-result: ' "$T/out")" 2
}

@test "SIGINT in the run is 130" {
	caught_in "iodepth: 2" "read delay 1"
	await 15 seen read 4096 500
	kill -INT "$pid"
	ended_by 130
}

@test "SIGHUP ends it like the others" {
	caught_in "iodepth: 2" "read delay 1"
	await 15 seen read 4096 500
	kill -HUP "$pid"
	ended_by 129
}

@test "SIGTERM in the ramp: no figures of it" {
	caught_in "iodepth: 2, ramp_time: 60s" "read delay 1"
	await 15 seen read 4096 200
	kill -TERM "$pid"
	ended_by 143
	holds '.tests[1] | .status == "interrupted" and ((.read.ios // 0) == 0)'
}

@test "SIGTERM in the layout" {
	caught_in "size: 1GiB" "write delay 40"
	await 15 laid_out $((20 * 1048576))
	kill -TERM "$pid"
	ended_by 143
	holds '.tests | length <= 2'
}

laid_out() { # BYTES: written so far
	[ "$(requests write | awk '{ sum += $3 } END { print sum + 0 }')" -ge "$1" ]
}

@test "SIGTERM with psync threads waiting in the kernel" {
	caught_in "ioengine: psync, iodepth: 32" "read delay 200 after=1100"
	await 15 seen read 4096 150
	kill -TERM "$pid"
	ended_by 143
}

@test "SIGTERM while an open loop waits for the next due time" {
	caught_in "rate_iops: 1" "read delay 1"
	await 15 seen read 4096 2
	kill -TERM "$pid"
	ended_by 143
}

@test "SIGTERM in a long thinktime" {
	caught_in "thinktime: 50s, iodepth: 1" "read delay 1"
	await 15 seen read 4096 1
	sleep 0.5
	kill -TERM "$pid"
	ended_by 143
}

@test "the second SIGTERM does not make it worse" {
	caught_in "iodepth: 2" "read delay 1"
	await 15 seen read 4096 500
	kill -TERM "$pid"
	kill -TERM "$pid"
	ended_by 143
}

@test "SIGTERM while another target hangs: it still ends" {
	loop_fs ext4
	good=$mnt
	faultfs fuse direct_io
	plan <<-END
		version: 1
		size: 8MiB
		ramp_time: 0
		runtime: 60s
		tests:
		  - {name: read-latency, target: $good, rw: randread, bs: 8KiB, loops: 1}
		  - {name: hung, target: $mnt, rw: randread, bs: 4KiB, iodepth: 4}
	END
	rules "read hang after=200" "unlink hang" "statfs hang after=20"
	start run "$T/plan.yaml" --out "$T/result.json"
	await 15 seen read 4096 100
	sleep 0.5
	kill -TERM "$pid"
	ends 25
	exits 143
	holds '.tests[0] | .status == "ok" and .read.ios == 1024'
	dbench_block
	empty "$good"
}

@test "SIGTERM before the first test" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 1GiB
		tests: [{name: t, rw: randread, bs: 4KiB}]
	END
	rules "write delay 40"
	start run "$T/plan.yaml"
	await 15 laid_out 1048576
	kill -TERM "$pid"
	ends 10
	exits 143
	empty "$mnt"
}

@test "as the first process of a container SIGTERM ends it too" {
	need_root
	need unshare
	dir=$(directory)
	plan <<-END
		version: 1
		target: $dir
		size: 8MiB
		ramp_time: 0
		runtime: 60s
		tests: [{name: t, rw: randread, bs: 4KiB}]
	END
	unshare --pid --fork --kill-child "$pvcbench" run "$T/plan.yaml" \
		>"$T/out" 2>"$T/err" </dev/null 3>&- &
	pid=$!
	undo "kill -KILL $pid 2>/dev/null"
	await 10 test -s "$T/out"
	kill -TERM "$(pgrep -P "$pid")"
	ends 10
	exits 143
	empty "$dir"
}

# A frozen file system keeps the kernel's own threads of a ring, whatever is sent to the process.
@test "SIGTERM while the volume does not answer io_uring: the results are printed all the same" {
	need fsfreeze
	loop_fs ext4
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		ramp_time: 0
		runtime: 60s
		tests: [{name: t, rw: randwrite, iodepth: 4, ioengine: io_uring}]
	END
	start run "$T/plan.yaml" --out "$T/result.json"
	await 10 test -s "$T/out"
	sleep 1
	fsfreeze -f "$mnt"
	undo "fsfreeze -u '$mnt' 2>/dev/null || true"
	sleep 0.5
	kill -TERM "$pid"
	await 8 grep -q 'unfinished' "$T/out"
	await 8 jq -e '.tests[0].status == "interrupted"' "$T/result.json" >/dev/null
	fsfreeze -u "$mnt"
	ends 25
	exits 143
}

# --- a volume that does not answer ---

terminated() { # REGEX: in the termination message, soon after SIGTERM
	kill -TERM "$pid"
	ends 10
	exits 143
	grep -Eq -- "$1" "$T/termination"
}

@test "SIGTERM while stat waits for the volume, before the first test" {
	export PVCBENCH_TERMINATION_LOG=$T/termination
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		tests: [{name: t, rw: randread}]
	END
	rules "getattr hang" "statfs hang"
	start run "$T/plan.yaml"
	await 20 grep -q "waiting for the volume since [0-9]*s (stat.*'$mnt')" "$T/out"
	terminated "interrupted while waiting for the volume .*'$mnt'"
	says "interrupted while waiting"
}

@test "SIGTERM while mkdir waits for the volume: what was measured is printed" {
	export PVCBENCH_TERMINATION_LOG=$T/termination
	mkdir "$T/good"
	faultfs
	plan <<-END
		version: 1
		size: 8MiB
		ramp_time: 0
		runtime: 200ms
		tests:
		  - {name: read-latency, target: $T/good, rw: randread, bs: 8KiB, loops: 1}
		  - {name: hung, target: $mnt, rw: randread}
	END
	rules "mkdir hang"
	start run "$T/plan.yaml" --out "$T/result.json"
	await 20 grep -q "hung: waiting for the volume since [0-9]*s (mkdir" "$T/out"
	terminated "read-latency"
	holds '.interrupted and .tests[0].read.ios == 1024 and .tests[1].status == "interrupted"'
	says "'$mnt/pvcbench-.* was not removed"
	dbench_block
	empty "$T/good"
}

@test "the doctor says that it waits for the volume, and obeys SIGTERM" {
	faultfs
	rules "mkdir hang"
	start doctor "$mnt"
	await 20 grep -q "waiting for the volume since [0-9]*s" "$T/out"
	kill -TERM "$pid"
	ends 10
	exits 143
	says "interrupted while waiting for the volume"
}

@test "a call that the kernel does not give back: the log says so before the end" {
	export PVCBENCH_TERMINATION_LOG=$T/termination
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		tests: [{name: t, rw: randread}]
	END
	rules "mkdir wedge"
	start run "$T/plan.yaml"
	await 20 grep -q "waiting for the volume" "$T/out"
	kill -TERM "$pid"
	await 10 grep -q "the kernel holds 1 thread" "$T/err"
	grep -q "t" "$T/termination"
	rules
	ends 10
	exits 143
}
