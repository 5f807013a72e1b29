#!/usr/bin/env bats
# What limited a test, seen over time and at another depth: arranged with a file system
# that delays each request or rations them.

load lib

codes() { # of the first test's verdicts
	get '.tests[0].verdicts | map(.code) | join(" ")'
}

@test "a depth of 4 and 4 ms each: twice the depth gives more, and that is the verdict" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 4MiB
		ramp_time: 0
		runtime: 2s
		limits_probe: true
		tests:
		  - {name: t, rw: randread, bs: 4KiB, iodepth: 4}
		  - {name: without, rw: randread, bs: 4KiB, iodepth: 4, limits_probe: false}
	END
	rules "read delay 4"
	measure
	same "$(codes)" queue-depth
	holds '.tests[0].limits_probe | .iodepth == 8 and .ios > 100 and .floor_ns >= 4e6
		and .runtime_ns >= 0.4e9 and .runtime_ns < 0.6e9'
	holds '.tests[0].verdicts[0].figure | . > 1.4 and . <= 3'
	says '^verdict: queue-depth: depth 4 limits: 8 gives [0-9.]+ x, '
	says '^verdict: queue-depth: .*; latency floor at depth 1 is [0-9.]+ms'
	says '^probe of limits: .* not counted in any figure$'
	# it is counted in no figure: the depth of the test, and its time
	holds '.tests[0] | .iodepth == 4 and .runtime_ns == 2e9 and .read.ios < 2100'
	holds '.tests[1] | has("limits_probe") | not'
	valid "$T/result.json"
	says "$(printf '\\[1/2\\] t: randread')"
}

reads_for() { # SECONDS: since the first of them
	requests read | awk -v ns="${1}e9" 'NR == 1 { first = $4 } END { exit !($5 - first >= ns) }'
}

@test "a signal during the probe: the test before it is whole, the run is interrupted" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 4MiB
		ramp_time: 0
		runtime: 8s
		limits_probe: true
		tests:
		  - {name: whole, rw: randread, bs: 4KiB, iodepth: 4, expect: ["errors == 0"]}
		  - {name: never, rw: randread, bs: 4KiB}
	END
	rules "read delay 4"
	start run "$T/plan.yaml" --out "$T/result.json"
	await 30 reads_for 8.7
	kill -TERM "$pid"
	ends 10
	exits 143
	holds '.interrupted and (.tests | length) == 1'
	holds '.tests[0] | .status == "ok" and .runtime_ns == 8e9 and (has("limits_probe") | not)
		and .expect[0].result == "pass"'
	valid "$T/result.json"
	empty "$mnt"
}

@test "a rate that is rationed: twice the depth gives nothing" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 4MiB
		ramp_time: 0
		runtime: 2s
		limits_probe: true
		tests: [{name: t, rw: randread, bs: 4KiB, iodepth: 4}]
	END
	rules "read bucket 200"
	measure
	same "$(codes)" ""
	holds '.tests[0].limits_probe.iodepth == 8'
}

@test "what keeps no depth is not probed" {
	tmpfs
	plan <<-END
		version: 1
		target: $mnt
		size: 4MiB
		ramp_time: 0
		runtime: 100ms
		limits_probe: true
		tests:
		  - {name: rate, rw: randread, rate_iops: 100}
		  - {name: pauses, rw: randread, thinktime: 1ms}
		  - {name: amount, rw: randread, loops: 1}
		  - {name: null-engine, rw: randread, ioengine: "null"}
		  - {name: cached, rw: randread, direct: false}
		  - {name: syncs, rw: randwrite, fsync: 8}
		  - {name: first-write, rw: randwrite, layout: none}
		  - {name: verified, rw: randwrite, verify: crc32c}
		  - {name: deepest, rw: randread, iodepth: 4096}
	END
	measure
	holds '[.tests[] | select(has("limits_probe"))] == []'
	never_says 'probe of limits'
}

@test "a burst that ends is told with both levels, and what lasts" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 4MiB
		ramp_time: 0
		runtime: 9s
		tests: [{name: t, rw: randread, bs: 4KiB, iodepth: 2}]
	END
	# at most 500 a second for 4 s and more, then 20
	rules "read bucket 20 after=2000" "read delay 4"
	measure
	same "$(codes)" burst
	says '^verdict: burst: [0-9.]+ IOPS for [4-6]s of the window, then (19|20|21) IOPS'
	holds '.tests[0].verdicts[0].figure > 4'
}

@test "the first test once more at the end: what drifted meanwhile is told" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 4MiB
		ramp_time: 0
		runtime: 1s
		limits_probe: true
		tests:
		  - {name: first, rw: randread, bs: 4KiB}
		  - {name: second, rw: randread, bs: 4KiB, limits_probe: false}
	END
	rules "read delay 4"
	pvcbench check "$T/plan.yaml"
	says '^drift +.* first again, not counted; takes 1s$'
	says '^in all: 2 tests, 5s'
	start run "$T/plan.yaml" --out "$T/result.json"
	await 20 grep -q '^\[2/2\] second' "$T/out"
	rules "read delay 20"
	ends 30
	exits 0
	says "^drift: 'first' again for 1s; not counted in any figure$"
	says '^verdict: drift: first again at the end of the plan: 0\.[1-7][0-9] x: the volume'
	holds '.verdicts | map(.code) == ["drift"]'
	holds '.verdicts[0].figure | . > 0.1 and . < 0.8'
	holds '.tests | map(.name) == ["first", "second"]'
	valid "$T/result.json"
	empty "$mnt"
	plan <<-END
		version: 1
		target: $mnt
		size: 4MiB
		ramp_time: 0
		runtime: 200ms
		tests:
		  - {name: short, rw: randread, bs: 4KiB}
		  - {name: plan, rw: randread, bs: 4KiB}
	END
	measure
	holds '.verdicts == []'
	never_says drift
}
