#!/usr/bin/env bats
# kind: persist: a file that outlives the run, and who sees it.
# side by side

load lib

step() { # STEP [ARG...]: of one run, with the result in $T/result.json
	pvcbench run persist --target="$T/dir" --out "$T/result.json" \
		${on_root:+--set=container_fs=true} "--set=step=$1" "${@:2}"
}

setup_dir() {
	directory >/dev/null
	on_root=
	! on_container_root || on_root=yes
}

@test "what one run wrote another one finds, until it is removed" {
	setup_dir
	step write --set=tests.persist.size=3MB
	exits 0
	says "^\[1/1\] persist: write 'key', 2.9MiB$|^\[1/1\] persist: write 'key', 3000000B$"
	says "^\[1/1\] persist: wrote 'key': .* and synced in [0-9.]+[mu]?s$"
	holds '.tests[0] | .kind == "persist" and .status == "ok" and .read == null and
		.persist.bytes == 3000000 and .persist.took_ns > 0 and (has("rw") | not)'
	valid "$T/result.json"
	same "$(ls "$T/dir")" pvcbench-persist-key
	same "$(stat -c %s "$T/dir/pvcbench-persist-key")" 3001024
	run_id=$(jq -r .run.id "$T/result.json")

	step expect
	exits 0
	says "persist: 'key' is there: .* as written [0-9.]+m?s before by $(uname -n), read in "
	says '^persistence:$'
	never_says '^test .*IOPS'
	holds ".tests[0].persist | .found and .bytes == 3000000 and .run == \"$run_id\""
	valid "$T/result.json"

	step expect-absent
	exits 1
	says "FAILED: 'key' is there: .*, written .* before by .* \(run $run_id\)"
	valid "$T/result.json"

	step remove
	exits 0
	says "^\[1/1\] persist: removed 'key': .* in "
	same "$(ls "$T/dir")" ""
	step expect-absent
	exits 0
	says "^\[1/1\] persist: 'key' is not there, in "
	holds '.tests[0].persist | .found == false and .bytes == null and .host == null'
	valid "$T/result.json"
	step remove
	exits 1
	says "cannot remove '.*/pvcbench-persist-key': No such file or directory"
}

@test "what is not there fails the test that expects it, and keys are told apart" {
	setup_dir
	step write --set=key=a
	exits 0
	step expect --set=key=b
	exits 1
	says "FAILED: 'b' is not there: no file '$T/dir/pvcbench-persist-b' in .*wait"
	holds '.tests[0] | .status == "failed" and .error_class == "test" and
		.persist.found == false'
	valid "$T/result.json"
}

@test "a file that was cut or changed is not what was written" {
	setup_dir
	step write
	exits 0
	printf x | dd of="$T/dir/pvcbench-persist-key" bs=1 seek=5000 conv=notrunc status=none
	step expect
	exits 1
	says "not what was written: size or bytes of '$T/dir/pvcbench-persist-key' differ from what"
	truncate -s 5000 "$T/dir/pvcbench-persist-key"
	step expect
	exits 1
	says "FAILED: 'key' is not what was written"
}

@test "lost writes are told as such, not as a file of others" {
	faultfs
	plan <<<"{target: $mnt, tests: [{name: t, kind: persist}]}"
	rules "write lost"
	pvcbench run "$T/plan.yaml"
	exits 0
	rules
	pvcbench run "$T/plan.yaml" --set=step=expect
	exits 1
	says "FAILED: 'key' is not what was written"
	pvcbench run "$T/plan.yaml"
	exits 0
	pvcbench run "$T/plan.yaml" --set=step=expect
	exits 0
	never_says 'bear no claim'
}

@test "it is waited for, and being absent is watched for as long" {
	setup_dir
	start run persist --target="$T/dir" ${on_root:+--set=container_fs=true} \
		--set=step=expect --set=wait=30s --out "$T/waited.json"
	sleep 0.5
	step write
	exits 0
	ends 10
	same "$status" 0
	jq -e '.tests[0].persist | .waited_ns > 3e8 and .waited_ns < 3e10' "$T/waited.json"

	step remove
	start run persist --target="$T/dir" ${on_root:+--set=container_fs=true} \
		--set=step=expect-absent --set=wait=30s
	sleep 0.5
	step write
	ends 10
	same "$status" 1
	says "FAILED: 'key' is there"
}

@test "a wait is ended by a signal, at once" {
	setup_dir
	start run persist --target="$T/dir" ${on_root:+--set=container_fs=true} \
		--set=step=expect --set=wait=1h
	await 10 grep -q "expect 'key', at most 1h" "$T/out"
	kill -TERM "$pid"
	ends 3
	same "$status" 143
	says "^\[1/1\] persist: interrupted"
	same "$(ls "$T/dir")" ""
}

@test "a file that others put there stays, and is refused" {
	setup_dir
	echo theirs >"$T/dir/pvcbench-persist-key"
	for step in write expect expect-absent remove; do
		step "$step"
		exits 4
		says "'$T/dir/pvcbench-persist-key' was not written by pvcbench.*another key"
	done
	same "$(cat "$T/dir/pvcbench-persist-key")" theirs
}

@test "steps in one plan, beside a block test whose size is not theirs" {
	setup_dir
	plan <<-END
		target: $T/dir
		size: 2MiB
		runtime: 200ms
		ramp_time: 0
		tests:
		  - {name: none, kind: persist, step: expect-absent, key: a}
		  - {name: put, kind: persist, key: a}
		  - {name: load, rw: randread}
		  - {name: put-again, kind: persist, key: a}
		  - {name: load-again, rw: randread}
		  - {name: see, kind: persist, step: expect, key: a}
		  - {name: off, kind: persist, step: remove, key: a}
	END
	measure
	holds '[.tests[].status] | all(. == "ok")'
	holds '[.tests[] | select(.kind == "persist").persist.bytes] ==
		[null, 1048576, 1048576, 1048576, 1048576]'
	holds '[.tests[2, 4]] | all(.size == 2097152 and .read.ios > 0)'
	holds '[.tests[2, 4].layout_bytes] == [2097152, 0]' # it is still there
	valid "$T/result.json"
	same "$(ls "$T/dir")" ""
	pvcbench check "$T/plan.yaml"
	exits 0
	says "^see  *$T/dir  *expect 'a'$"
	pvcbench merge "$T/result.json"
	exits 0
	says "^persistence:"
}

@test "what a plan says wrongly of it is told with the remedy" {
	setup_dir
	refused() { # TEXT-OF-TEST REGEX
		plan <<-END
			target: $T/dir
			tests: [{name: t, kind: persist, $1}]
		END
		pvcbench check "$T/plan.yaml"
		exits 2
		says "$2"
	}
	refused 'step: put' "step: 'put'.*allowed: write, expect, expect-absent, remove"
	refused 'key: a/b' "key: 'a/b' is not a key \(allowed: up to 63 characters of"
	refused 'size: 2GiB' "size: .*allowed: 512B to 1GiB"
	refused 'rw: read' 'rw is no key of kind persist'
	refused 'wait: soon' "wait: 'soon'"
	plan <<<"{target: $T/dir, tests: [{name: t, wait: 1s}]}"
	pvcbench check "$T/plan.yaml"
	exits 2
	says 'wait is no key of kind block \(of: persist\)'
}

@test "a volume without room, one that is read-only, a write that fails" {
	tmpfs 16M
	plan <<<"{target: $mnt, tests: [{name: t, kind: persist, size: 20MiB}]}"
	pvcbench run "$T/plan.yaml"
	exits 3
	says "'$mnt' has no room for 20MiB: .* may be written"
	mount -o remount,ro "$mnt"
	pvcbench run "$T/plan.yaml" --set=tests.t.size=1MiB
	exits 3
	says "'$mnt': .*[Rr]ead-only file system"
	pvcbench run "$T/plan.yaml" --set=step=expect-absent
	exits 0
}

@test "a file that is replaced under its reader is read anew" {
	local begin
	faultfs fuse direct_io
	plan <<<"{target: $mnt, tests: [{name: t, kind: persist}]}"
	pvcbench run "$T/plan.yaml"
	exits 0
	for begin in 0 1 3; do
		rules "read err ESTALE after=$begin count=1"
		pvcbench run "$T/plan.yaml" --set=step=expect
		exits 0
	done
	rules "read err ESTALE"
	pvcbench run "$T/plan.yaml" --set=step=expect
	exits 1
	says "FAILED: cannot look for '$mnt/pvcbench-persist-key': Stale file handle"
}

@test "a volume that is silent in a write is given up, by what was asked" {
	faultfs
	plan <<<"{target: $mnt, answer_time: 1s, tests: [{name: t, kind: persist}]}"
	pvcbench run "$T/plan.yaml"
	exits 0
	rules "read hang"
	pvcbench run "$T/plan.yaml"
	exits 1
	says "FAILED: the volume does not answer: no reply to write in 1s"
	rules
}

@test "a write that the volume refuses fails the test, and leaves nothing" {
	faultfs
	plan <<<"{target: $mnt, tests: [{name: t, kind: persist, size: 1MiB}]}"
	rules "write err ENOSPC after=2"
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	says "FAILED: cannot write '$mnt/pvcbench-persist-key': No space left on device"
	rules
	same "$(ls "$mnt")" ""
	rules "read err EIO"
	pvcbench run "$T/plan.yaml"
	exits 0
	pvcbench run "$T/plan.yaml" --set=step=expect
	exits 1
	says "FAILED: cannot (look for|read) '$mnt/pvcbench-persist-key': Input/output error"
}
