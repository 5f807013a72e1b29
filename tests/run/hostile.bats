#!/usr/bin/env bats
# What others do to us: odd names, files that are none, two runs at once, a volume
# that is changed under a run.
# side by side

load lib

simple() { # TARGET [KEYS]
	plan <<-END
		version: 1
		target: $1
		size: 8MiB
		ramp_time: 0
		runtime: 1s
		tests: [{name: t, rw: randread, bs: 4KiB${2:+, $2}}]
	END
}

@test "a path with spaces, quotes and letters beyond ASCII" {
	dir="$T/it's \"my\" ünder \\ volume"
	mkdir "$dir"
	simple /nowhere "runtime: 100ms"
	measure --target "$dir"
	same "$(get '.tests[0].target')" "$dir"
	valid "$T/result.json"
	grep '^pvcbench-result: ' "$T/out" | sed 's/^pvcbench-result: //' | jq -e . >/dev/null
	empty "$dir"
}

@test "a symbolic link and a relative path as target" {
	directory >/dev/null
	ln -s dir "$T/link"
	simple "$T/link" "runtime: 100ms"
	measure
	cd "$T/dir"
	measure --target .
	cd /
	empty "$T/dir"
}

@test "two runs at once in one directory do not touch each other's files" {
	directory >/dev/null
	simple "$T/dir"
	"$pvcbench" run "$T/plan.yaml" >"$T/first" </dev/null 3>&- &
	first=$!
	measure
	wait $first
	grep -q '^pvcbench-result: ' "$T/first"
	empty "$T/dir"
}

@test "filename that names no regular file is refused at once" {
	directory >/dev/null
	mkfifo "$T/fifo"
	simple "$T/dir" "destroy: true"
	LIMIT=5
	for file in "$T/fifo" "$T/dir" /dev/null "$T/absent"; do
		pvcbench run "$T/plan.yaml" --set "filename=$file"
		exits 3
		says "$file"
	done
	: >"$T/small"
	pvcbench run "$T/plan.yaml" --set "filename=$T/small"
	exits 3
	says "too small"
	same "$(stat -c %s "$T/small")" 0
}

@test "our file truncated under us: the test fails, nothing is left" {
	directory >/dev/null
	simple "$T/dir"
	start run "$T/plan.yaml"
	await 10 sized 8388608
	sleep 0.3
	truncate -s 4096 "$T"/dir/*/*
	ends 20
	exits 1
	says FAILED
	empty "$T/dir"
}

sized() { # BYTES: our file is
	[ "$(find "$T/dir" -name 'data.*' -printf '%s')" = "$1" ]
}

@test "our directory removed and another put in its place: that one stays" {
	directory >/dev/null
	simple "$T/dir"
	start run "$T/plan.yaml"
	await 10 sized 8388608
	run_dir=$(ls "$T/dir")
	rm -rf "${T:?}/dir/$run_dir"
	mkdir "$T/dir/$run_dir"
	echo theirs >"$T/dir/$run_dir/data.0"
	ends 20
	same "$(cat "$T/dir/$run_dir/data.0")" theirs
}

@test "a run that was suspended says so, and blames no volume" {
	directory >/dev/null
	simple "$T/dir" 'runtime: 4s, expect: ["read.iops >= 1", "errors == 0"]'
	start run "$T/plan.yaml" --out "$T/result.json"
	await 10 sized 8388608
	sleep 0.7
	kill -STOP "$pid"
	sleep 2.2
	kill -CONT "$pid"
	ends 20
	exits 99
	holds '[.tests[0].verdicts[].code] | index("suspended") and (index("stalls") | not)'
	holds '.tests[0].counters.suspended_max_ns > 1.5e9'
	holds '[.tests[0].expect[].result] == ["not-judged", "pass"]'
	holds '.tests[0].read.lat_ns.max > 2e9'
	within "$(get '.tests[0].runtime_ns')" 3.9e9 4.2e9
}

@test "a result is written over results only, and over no device" {
	directory >/dev/null
	simple "$T/dir" "runtime: 50ms"
	cp "$T/plan.yaml" "$T/before"
	pvcbench run "$T/plan.yaml" --out "$T/plan.yaml"
	exits 4
	says "'$T/plan.yaml' is there already and holds no such result"
	cmp "$T/plan.yaml" "$T/before"
	: >"$T/result"
	for _ in 1 2; do
		pvcbench run "$T/plan.yaml" --out "$T/result" --metrics "$T/metrics"
		exits 0
	done
	pvcbench run "$T/plan.yaml" --out "$T/metrics"
	exits 4
	pvcbench run "$T/plan.yaml" --out "$T/both" --metrics "$T/both"
	exits 2
	says 'named for two results'
	pvcbench run "$T/plan.yaml" --out /dev/null --metrics /dev/null
	exits 0
	need losetup
	truncate -s 1M "$T/disk"
	device=$(losetup -f --show "$T/disk")
	undo losetup -d "$device"
	pvcbench run "$T/plan.yaml" --out "$device"
	exits 4
	says 'is a block device, and no place for the result'
	cmp -n 1048576 "$T/disk" /dev/zero
	empty "$T/dir"
}

@test "more than memory allows is lowered or refused in words" {
	need prlimit
	directory >/dev/null
	simple "$T/dir" "runtime: 100ms"
	WRAP=(prlimit --as=200000000)
	pvcbench run "$T/plan.yaml" --set bs=1MiB --set iodepth=256 --set size=300MiB
	[ "$status" = 0 ] || exits 3
	says "memory"
	empty "$T/dir"
}
