#!/usr/bin/env bats
# The knee of a sweep, and the search for the highest rate that keeps a latency. A file system with
# four slots that take 5 ms a request serves 800 a second, and whoever asks for more waits longer.

load lib

slots() { # [KEY: VALUE...]: a plan for such a file system; searches with these keys
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 4MiB
		ramp_time: 0
		runtime: 8s
		iodepth: 32
		latency_percentile: 90
		tests:
		  - {name: t, rw: randread, bs: 4KiB${1:+, $1}}
	END
	rules "read delay 5 slots=4" "write delay 5 slots=4"
}

found() { # what was found, and that the figures are those of its confirming step
	holds '.tests[0] | .search.outcome == "found" and .status == "ok"
		and .search.rate_iops == .rate_iops
		and .runtime_asked_ns == 1.28e9 and .runtime_ns == 1.28e9
		and (.search.steps[-1] | .confirms and .result == "meets")'
	get '.tests[0].search.rate_iops'
}

@test "four slots of 5 ms: the rate that is found is what they serve" {
	slots "latency_target: 12ms"
	measure
	within "$(found)" 600 804
	holds '.tests[0].read.lat_ns.p90 <= 12e6'
	holds '.tests[0] | .search.steps[-1].ios == .read.ios
		and .search.steps[-1].latency_ns == .read.lat_ns.p90'
	# the first step is the maximum, at which all of the depth waits
	holds '.tests[0].search | .maximum_iops > 600 and .maximum_iops < 804'
	holds '.tests[0].search.steps[0] | .rate_iops == null and .latency_ns > 30e6'
	# and the bracket is closed, or the runtime was over
	holds '.tests[0].verdicts | map(.code) | index("latency-target")'
	says '^\[1/1\] t: search step 1: closed loop: [0-9]+ IOPS, p90 [0-9.]+ms, misses the'
	says '^\[1/1\] t: confirming step [0-9]+: [0-9]+ a second: .*, meets the target$'
	says '^verdict: latency-target: [0-9]+ IOPS is the highest rate that keeps p90 within 12ms'
	says '^search: t: [0-9]+ IOPS is the highest rate'
	says '^ +1  closed loop +[0-9]+ +[0-9.]+ms +320ms  misses$'
	same "$(grep -c '^\[1/1\] t: .* step [0-9]*: ' "$T/out")" \
		"$(get '.tests[0].search.steps | length')"
	valid "$T/result.json"
}

@test "of a mix the slower half counts" {
	slots "latency_target: 2ms, rwmixread: 50, iodepth: 8, runtime: 16s"
	sed -i 's/rw: randread/rw: randrw/' "$T/plan.yaml"
	rules "read delay 1" "write delay 5"
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 0
	holds '.tests[0].search | .outcome == "never-met" and .rate_iops == null
		and .steps[-1].latency_ns >= 5e6'
}

@test "a target that no rate meets is said so, and no threshold on it passes" {
	slots "latency_target: 2ms, expect: [read.iops >= 1, errors == 0]"
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 99
	holds '.tests[0] | .status == "ok" and .search.outcome == "never-met"
		and .search.rate_iops == null'
	holds '.tests[0].expect | map(.result) == ["not-judged", "pass"]'
	holds '.tests[0].verdicts | map(.code) | index("latency-target") | not'
	says '^search: t: no rate keeps p90 within 2ms: at the lowest that was tried, [0-9]+ '
	valid "$T/result.json"
}

@test "a target that the maximum meets does not limit" {
	slots "latency_target: 200ms, iodepth: 2, expect: [read.iops >= 1]"
	measure
	holds '.tests[0] | .search.outcome == "not-limited" and .rate_iops == null
		and .search.steps[-1].confirms
		and (.search.steps | map(.rate_iops) | all(. == null))'
	holds '.tests[0].expect[0].result == "pass"'
	says '^search: t: the target does not limit: at the maximum of the depth, [0-9]+ IOPS'
}

@test "a percentile that the volume is too slow for fails, with the runtime that it needs" {
	slots "latency_target: 12ms, latency_percentile: 99.9"
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	says 'p99.9 needs 12500 requests a step, and the maximum of [0-9.]+ IOPS gives fewer in the'
	says 'in the longest of 1.28s \(a runtime of .* or more, or a lower latency_percentile\)'
	holds '.tests[0] | .status == "failed" and .search.outcome == null'
}

@test "a signal ends a search: its steps are printed" {
	slots "latency_target: 12ms, runtime: 60s"
	start run "$T/plan.yaml" --out "$T/result.json"
	await 30 grep -q 'search step 1: ' "$T/out"
	kill -INT "$pid"
	ends 10
	exits 130
	holds '.tests[0] | .status == "interrupted" and .search.outcome == null
		and (.search.steps | length >= 1)'
	says '^search: t: the search for p90 within 12ms did not come to its end$'
	says '^ +1  closed loop '
	valid "$T/result.json"
}

@test "a step that fails ends the search with the errors" {
	slots "latency_target: 12ms"
	rules "read delay 5 slots=4" "read err EIO after=150"
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	holds '.tests[0] | .status == "failed" and .errors.EIO >= 1 and .search.outcome == null'
}

@test "check counts the time of a search, and says how it is done" {
	tmpfs
	plan <<-END
		version: 1
		target: $mnt
		size: 4MiB
		tests: [{name: t, rw: randrw, rwmixread: 75, iodepth: 8, latency_target: 5ms}]
	END
	pvcbench check "$T/plan.yaml"
	exits 0
	says '^t .* takes 1m13s$'
	says '^  search: highest rate with p99 within 5ms: steps of 3s \(longer where 5000 requests'
	says ' take longer\), then 12s at that rate; rates below 521 IOPS are not tried$'
	says '^in all: 1 tests, 1m13s,'
	empty "$mnt"
}

@test "a sweep of depths on four slots: the knee is at four" {
	slots
	sed -i 's/rw: randread.*/rw: randread, runtime: 1s, iodepth: [1, 2, 4, 8, 16]}/' \
		"$T/plan.yaml"
	rules "read delay 20 slots=4"
	measure
	holds '.knees | length == 1'
	holds '.knees[0] | .tests == ["t-1", "t-2", "t-4", "t-8", "t-16"]
		and (.iodepth == 4 or .iodepth == 8)
		and .best_iops < 205 and .iops >= 0.95 * .best_iops'
	says '^knee: t-1 to t-16: depth [48] gives [0-9]+ IOPS, [0-9]+ % of the best'
	says '^ +1 +[0-9]+ +[0-9.]+ms +[0-9.]+ms .* #{7,13}$'
	says '^ +[48] .* #{37,40} knee$'
	valid "$T/result.json"
}
