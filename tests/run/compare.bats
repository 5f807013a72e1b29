#!/usr/bin/env bats
# pvcbench compare: results beside each other, and what a difference needs to be claimed.
# side by side

bats_require_minimum_version 1.5.0
load lib

made() { # FILE CLASS [KEY=VALUE]...: a log, see there
	"$repo/tests/golden/compare/results.py" "${@:2}" >"$T/$1"
}

compare() {
	(cd "$T" && "$pvcbench" compare "$@")
}

rows() { # FILE: the figures of each row
	jq -c '.rows[] | [.test, .op, .result, .runs, .iops, .p99_ns, .iops_difference]' "$1"
}

@test "compare: what a run wrote, as a document and as its log" {
	mkdir -p "$T/dir"
	plan <<-END
		version: 1
		target: $T/dir
		size: 16MiB
		ramp_time: 0
		runtime: 1s
		ioengine: null
		tests:
		  - {name: read-iops, rw: randread, bs: 4KiB, iodepth: 4, rate_iops: 2000}
		  - {name: mixed, rw: randrw, bs: 4KiB, iodepth: 4, rate_iops: 1000}
	END
	"$pvcbench" run "$T/plan.yaml" --out "$T/a.json" >"$T/a.log"
	"$pvcbench" run "$T/plan.yaml" --set rate_iops=500 --out "$T/b.json" >"$T/b.log"
	compare a.json b.json --format json >"$T/documents.json"
	compare a.log b.log --format json >"$T/logs.json"
	cmp <(rows "$T/documents.json" | sed 's/[ab]\.json/&/') \
		<(rows "$T/logs.json" | sed 's/\.log/.json/')
	jq -e '[.rows[] | select(.test == "read-iops")] | length == 2
		and (.[1].iops_ratio | . > 0.2 and . < 0.3)' "$T/logs.json"
	# one run each claims nothing
	jq -e '[.rows[].iops_difference] | all(. == "not-compared" or . == "too-few-runs")' \
		"$T/logs.json"
	# a run is one result, from wherever it is read
	run -1 --separate-stderr compare a.json a.log b.log
	[ "$(grep -c 'by the same run: not counted twice' <<<"$stderr")" = 1 ]
}

@test "compare: pods of a log, interleaved, on standard input" {
	made a.log evs pod=pvcbench-evs-x2k5p runs=5
	made b.log sfs pod=pvcbench-sfs-9mf7q runs=5 iops=7000
	compare a.log b.log --format json >"$T/files.json"
	paste -d '\n' "$T/a.log" "$T/b.log" | compare - --format json >"$T/stdin.json"
	cmp <(rows "$T/files.json") <(rows "$T/stdin.json")
	jq -e '.baseline == "evs" and ([.results[].pod] ==
		["pvcbench-evs-x2k5p", "pvcbench-sfs-9mf7q"])' "$T/stdin.json"
	jq -e '.rows[] | select(.test == "read-iops" and .result == "sfs")
		| .iops_difference == "lower" and .iops_ratio_high < 0.8' "$T/stdin.json"
}

@test "compare: a baseline by class, file, pod and run" {
	made a.log evs pod=pod-a id=run-a
	made b.log sfs pod=pod-b id=run-b
	for name in sfs b.log pod-b run-b; do
		compare a.log b.log --baseline $name --format json | jq -e '.baseline == "sfs"'
	done
	run -2 compare a.log b.log --baseline nfs
	[[ $output == *"the baseline 'nfs' is none of the results (there are: 'evs' 'sfs')" ]]
}

@test "compare: what cannot be read is named, the rest compared" {
	made a.log evs
	made b.log sfs
	: >"$T/empty"
	head -c 700 "$T/b.log" >"$T/cut.log"
	printf '{\n"schema": "pvcbench.result/1", "run":' >"$T/cut.json"
	printf '%s\n' 'pvcbench-result: {"schema":"x\033[31m"}' >"$T/strange.log"
	# a line that a container runtime cut, and no rest of it
	printf '%s%16000s' 'pvcbench-result: {"schema":"' '' | head -c 16384 >"$T/16k.log"
	run -1 --separate-stderr compare a.log empty cut.log cut.json strange.log 16k.log missing \
		b.log
	echo "$stderr" >"$T/err"
	[ "$(wc -l <"$T/err")" = 6 ]
	grep -q '^pvcbench: empty: no result in it ' "$T/err"
	grep -q '^pvcbench: cut.log:1: a result line is cut off after ' "$T/err"
	grep -q '^pvcbench: cut.json:1: a result document that is cut off' "$T/err"
	grep -q '^pvcbench: strange.log:1: ' "$T/err"
	grep -q '^pvcbench: 16k.log:1: a result line is cut off after 16[0-9]* bytes' "$T/err"
	grep -q "^pvcbench: cannot read 'missing': No such file" "$T/err"
	[[ $output$stderr != *$'\033'* ]]
	[[ $output == *"read-iops  read   sfs "* ]]
	[[ $output == *"note: cut.json:1:"* ]]
	run -2 compare empty missing
	[[ $output == *"there is no result to compare"* ]]
}

@test "compare: names that mean something elsewhere" {
	made a.log $'e|v\ns,"=1' 'conditions.node=x\u0007y'
	made b.log '=cmd()'
	for format in text markdown csv; do
		compare a.log b.log --format $format >"$T/out"
		run -1 grep -q '[[:cntrl:]]' <(tr -d '\r\n' <"$T/out")
		[ "$(grep -c 's,' "$T/out")" -gt 0 ]
	done
	compare a.log b.log --format csv | "$PYTHON" -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin, strict=True))
assert len(rows) == 6, rows
assert {row["result"] for row in rows} == {"e|v?s,\"=1", "\x27=cmd()"}, rows
assert all(float(row["iops"]) > 0 and None not in row for row in rows)'
	compare a.log b.log --format markdown >"$T/out"
	[ "$(grep '^|' "$T/out" | sed 's/\\|//g' | tr -dc '|\n' | sort -u | wc -l)" = 1 ]
}

@test "compare: conditions that differ are said" {
	made a.log evs
	made b.log sfs ioengine=aio direct=false size=1048576 iodepth=8 conditions.kernel=6.1.0
	compare a.log b.log >"$T/out"
	grep -q "^DIFFERS: kernel: 6.1.0 in 'sfs', 5.10.0 in 'evs'$" "$T/out"
	grep -q "^DIFFERS: ioengine: aio in 'sfs', io_uring in 'evs' (read-iops)$" "$T/out"
	grep -q "^DIFFERS: direct: no in 'sfs', yes in 'evs' (read-iops)$" "$T/out"
	grep -q "^DIFFERS: size: 1MiB in 'sfs', 10GiB in 'evs' (read-iops)$" "$T/out"
	grep -q "^DIFFERS: iodepth: 8 in 'sfs', 4 in 'evs' (read-iops)$" "$T/out"
	compare a.log b.log --format csv |
		grep -q '^read-iops,read,sfs,.*,kernel iodepth size ioengine direct,'
}

@test "compare: --fail-if" {
	made before.log evs id=1 runs=5
	made after.log evs id=2 runs=5 iops=8500
	compare before.log after.log --fail-if 'read-iops.read.iops < 0.8 * baseline' >"$T/out"
	grep -qF "does not hold in 'evs (after.log)' (8500, baseline 10.0k)" "$T/out"
	run -99 compare before.log after.log --fail-if 'read-iops.read.iops < 0.9 * baseline' \
		--fail-if 'mixed.read.p99 > 1s'
	[[ $output == *"read-iops.read.iops < 0.9 * baseline: holds in 'evs (after.log)'"* ]]
	[[ $output == *"evs (after.log)': lower: 0.85 times"* ]]
	# what was not measured has passed nothing
	run -99 compare before.log after.log --fail-if 'read-iops.write.iops < baseline'
	[[ $output == *"could not be judged in 'evs (after.log)'"* ]]
	run -99 compare before.log after.log --fail-if 'reads.read.iops < baseline' --format json
	jq -e '.notes[-1] == "no result has a test '"'reads'"', which is asked for"' <<<"$output"
	# what was left out comes first
	run -1 compare before.log after.log missing --fail-if 'read-iops.read.iops < baseline'
}

@test "compare: an expression that is none" {
	made a.log evs
	run -2 compare a.log --fail-if 'read-iops.read.iops < 0.9 * before'
	[ "${#lines[@]}" = 1 ]
	[[ $output == "pvcbench: --fail-if: column 27: "*"'* before'" ]]
	run -2 compare a.log --fail-if 'read.iops < 5'
	[[ $output == "pvcbench: --fail-if: column 1: 'read.iops < 5' names no test "* ]]
}

@test "compare: usage" {
	run -2 "$pvcbench" compare
	run -2 "$pvcbench" compare a --format html
	[[ $output == *"--format 'html': none of text, markdown, csv, json"* ]]
	run -0 "$pvcbench" compare --help
	[[ $output == *"0.9 * baseline"* ]]
}

@test "compare: a log of 200 MB in little memory" {
	made a.log evs
	made b.log sfs
	{
		cat "$T/a.log"
		yes 'read-iops: 12 s of 60 s: 10.0k IOPS, 400 us, 48 s left' | head -c 150M
		head -c 50M /dev/zero | tr '\0' x
		echo
		cat "$T/b.log"
	} | (ulimit -v 200000 && compare - --format json) >"$T/out.json"
	jq -e '[.rows[].iops] | length == 6 and all(. > 0)' "$T/out.json"
}
