#!/usr/bin/env bats
# pvcbench merge: results and logs of several pods as one.
# side by side

bats_require_minimum_version 1.5.0
load lib

# Two tests on the null engine, which need no disk
one_result() { # FILE
	mkdir -p "$T/dir"
	plan <<-END
		version: 1
		target: $T/dir
		size: 16MiB
		ramp_time: 0
		runtime: 1200ms
		ioengine: null
		tests:
		  - {name: read-iops, rw: randread, bs: 4KiB, iodepth: 4, rate_iops: 2000}
		  - {name: mixed, rw: randrw, bs: 4KiB, iodepth: 4, rate_iops: 1000}
	END
	"$pvcbench" run "$T/plan.yaml" --out "$1" >"$1.log"
}

# N pods' logs in one, made of a real result
logs_of() { # N
	one_result "$T/one.json"
	"$PYTHON" "$repo/tests/bench/results.py" "$1" <"$T/one.json" >"$T/pods.log"
}

valid() { # FILE
	"$repo/tests/golden/validate.py" "$schema" "$1"
}

@test "merge: two runs at the same time" {
	one_result "$T/a.json" &
	one_result "$T/b.json"
	wait
	"$pvcbench" merge "$T/a.json" "$T/b.json" --out "$T/merged.json" >"$T/out"
	valid "$T/merged.json"
	grep -q '^pods: read-iops: 2 of 2, IOPS of each: min ' "$T/out"
	grep -q '^= Dbench Summary =' "$T/out"
	jq -se '(.[0].tests + .[1].tests | map(select(.name == "mixed").write.ios) | add)
		== (.[2].tests[1].write.ios)' "$T/a.json" "$T/b.json" "$T/merged.json"
	# the log of a run is as good as its document
	"$pvcbench" merge "$T/a.json.log" "$T/b.json.log" --out "$T/from-logs.json" >/dev/null
	for field in ios bytes lat_ns iops series; do
		jq -e --slurpfile logs "$T/from-logs.json" "[.tests[].read.$field]
			== [\$logs[0].tests[].read.$field]" "$T/merged.json"
	done
}

@test "merge: every order of pods gives the same bytes, and the exact sum" {
	logs_of 7
	"$pvcbench" merge "$T/pods.log" --out "$T/a.json" >"$T/a"
	for i in 3 6 0 5 1 4 2; do
		grep -F "[pod/pvcbench-multi-$i/" "$T/pods.log"
	done | "$pvcbench" merge - --out "$T/b.json" >"$T/b"
	cmp "$T/a.json" "$T/b.json"
	cmp "$T/a" "$T/b"
	# interleaved: a test of each pod in turn
	{ grep '"name":"read-iops"' "$T/pods.log"; grep '"name":"mixed"' "$T/pods.log"; } |
		"$pvcbench" merge - --out "$T/b.json" >"$T/b"
	cmp "$T/a.json" "$T/b.json"
	valid "$T/a.json"
	sed 's/^.*pvcbench-result: //' "$T/pods.log" | jq -se --slurpfile merged "$T/a.json" '
		def buckets: reduce .[] as $n ({at: 0, of: {}};
			if $n < 0 then .at -= $n else .of["\(.at)"] = $n | .at += 1 end) | .of;
		def total: reduce .[] as $h ({}; reduce ($h | to_entries[]) as $e (.;
			.[$e.key] += $e.value));
		[.[].tests[] | select(.name == "mixed").read.lat_ns.histogram | buckets] | total
		| . == ($merged[0].tests[1].read.lat_ns.histogram | buckets)'
	jq -e '.tests[0].pods | .n == 7 and .of == 7 and .starts_apart_ns < 20000000' "$T/a.json"
	jq -e '.run.merged | .pods == 7 and .of == 7 and .missing == null' "$T/a.json"
}

@test "merge: missing pods and damaged lines are named, the rest is merged" {
	logs_of 5
	grep -v '^.pod/pvcbench-multi-3/' "$T/pods.log" |
		sed '2s/.\{300\}$//; 3s/"ios":[0-9]*/"ios":1/' >"$T/damaged.log"
	run -1 --separate-stderr "$pvcbench" merge "$T/damaged.log"
	echo "$output" >"$T/out"
	echo "$stderr" >"$T/err"
	grep -q 'damaged.log:2: a result line of pvcbench-multi-0 is cut off after' "$T/err"
	grep -q 'damaged.log:3: .*do not add up to ios' "$T/err"
	grep -q 'note .*4 of 5 pods gave a result; missing: index 3' "$T/out"
	grep -q 'note .*damaged.log:2: a result line' "$T/out"
	grep -q '^pods: read-iops: 3 of 4' "$T/out"
	grep -q 'concession .*1 of 4 pods gave no result of this test' "$T/out"
}

@test "merge: lines that were cut at 16 KiB and told apart by collectors" {
	logs_of 3
	"$pvcbench" merge "$T/pods.log" --out "$T/a.json" >/dev/null
	# longer lines: white space between the members
	sed 's/"tests":/'"$(printf '%30000s' '')"'"tests":/' "$T/pods.log" >"$T/long.log"
	"$PYTHON" - "$T/long.log" >"$T/cut.log" <<-'END'
		import sys
		for line in open(sys.argv[1]):
		    end = line.index('] ') + 2
		    prefix, text = line[:end], line[end:].rstrip('\n')
		    for i in range(0, len(text), 16384):
		        print(prefix + text[i:i + 16384])
	END
	[ "$(wc -l <"$T/cut.log")" -gt 12 ]
	"$pvcbench" merge "$T/cut.log" --out "$T/b.json" >/dev/null
	cmp "$T/a.json" "$T/b.json"
	# without their rest they are cut, and said to be
	grep pvcbench-result "$T/cut.log" >"$T/heads.log"
	run -2 "$pvcbench" merge "$T/heads.log"
	[[ $output == *"cut off after 16384 bytes (container runtimes cut lines at 16 KiB"* ]]
	[[ $output == *"there is no result to merge"* ]]
	# times of --timestamps are no part of them
	sed 's/\] /] 2024-12-01T04:00:00.123456789Z /' "$T/cut.log" |
		"$pvcbench" merge - --out "$T/b.json" >/dev/null
	cmp "$T/a.json" "$T/b.json"
}

@test "merge: what does not belong together is refused, with its place" {
	logs_of 2
	sed '4s/"bs":4096/"bs":8192/' "$T/pods.log" >"$T/other.log"
	run -2 "$pvcbench" merge "$T/other.log"
	[[ $output == *"other.log:4: its 'mixed' is not the test that 'pvcbench-multi-0 "* ]]
	[[ $output == *"bs is 8192, there 4096"* ]]
	run -2 "$pvcbench" merge "$T/pods.log" "$T/pods.log"
	[[ $output == *"pods.log:1: it gave 'read-iops' before"* ]]
	# two runs in one log, one after the other
	one_result "$T/again.json"
	run -2 "$pvcbench" merge "$T/one.json.log" "$T/again.json.log"
	[[ $output == *"was over in"*"before it began in"* ]]
	# a merge of merges would not be exact
	"$pvcbench" merge "$T/pods.log" --out "$T/merged.json" >/dev/null
	run -2 "$pvcbench" merge "$T/merged.json" "$T/pods.log"
	[[ $output == *"merged.json:1: it is merged already"* ]]
	run -4 "$pvcbench" merge "$T/one.json" --out "$T/one.json"
	[[ $output == *"one of the results that are merged"* ]]
	jq -e . "$T/one.json" >/dev/null
}

@test "merge: hostile input is named and survived" {
	logs_of 2
	jq . "$T/one.json" >"$T/pretty.json"
	head -c 2000 "$T/one.json" >"$T/truncated.json"
	printf 'x\033[31m\001 pvcbench-result: {"schema": "\033[2J"}\n' >"$T/control.log"
	run -1 --separate-stderr "$pvcbench" merge "$T/truncated.json" "$T/control.log" \
		"$T/pods.log" /dev/null
	[[ $stderr == *"truncated.json:1: a result document that is cut off"* ]]
	[[ $stderr == *"control.log:1: "* ]]
	[[ $stderr == *"/dev/null: no result in it"* ]]
	[[ $output$stderr != *$'\033'* ]]
	[[ $output == *"pods: read-iops: 2 of 2"* ]]
	run -2 "$pvcbench" merge "$T/nowhere"
	[[ $output == *"cannot read '$T/nowhere': No such file"* ]]
	# documents one behind the other; what one lost does not swallow the next
	cat "$T/truncated.json" <(echo) "$T/pretty.json" >"$T/both.json"
	run -1 "$pvcbench" merge "$T/both.json"
	[[ $output == *"both.json:1: a result document that is cut off"* ]]
	[[ $output == *"pods: mixed: 1 of 1"* ]]
}

@test "merge: a line of 200 MB takes neither memory nor the results beside it" {
	need_root
	logs_of 2
	{ printf '[pod/x/y] pvcbench-result: {"a": "'
		head -c 200M /dev/zero | tr '\0' a
		echo
		cat "$T/pods.log"; } >"$T/big.log"
	run -1 bash -c "ulimit -v 200000; '$pvcbench' merge '$T/big.log'"
	[[ $output == *"big.log:1: a line longer than any result line"* ]]
	[[ $output == *"pods: mixed: 2 of 2"* ]]
}
