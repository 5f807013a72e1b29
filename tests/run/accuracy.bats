#!/usr/bin/env bats
# What is stated is what the volume did, as far as its own log can tell on any machine. The
# comparisons work; their figures are for `make bench-accuracy`, `make bench-engine` and
# `make bench-exact` on a quiet machine.

load lib

@test "one short round of each engine gives a table and its JSON" {
	need fio
	directory >/dev/null
	status=0
	env "TARGET=$T/dir" "OUT=$T/accuracy.json" "PVCBENCH=$pvcbench" SIZE=67108864 \
		ROUNDS=1 SECONDS=0.5 RAMP=0.1 CASES="randread-4k-4 mixed-4k-16" \
		"$PYTHON" "$repo/tests/bench/accuracy" >"$T/out" 2>"$T/err" || status=$?
	: >"$T/log"
	[ "$status" = 0 ] || exits 1
	holds '.rows | length >= 40 and length <= 51' "$T/accuracy.json"
	holds 'all(.rows[]; .fio > 0 and .pvcbench > 0 and .ratio > 0.05 and .ratio < 20)' \
		"$T/accuracy.json"
	grep -q 'figures agree' "$T/out"
	empty "$T/dir"
}

@test "what a request costs: a table, its JSON, nothing left" {
	need fio taskset
	directory >/dev/null
	env "TARGET=$T/dir" "OUT=$T/engine.json" "PVCBENCH=$pvcbench" SIZE=16777216 ROUNDS=1 \
		SECONDS=0.2 PLACES=cached ENGINES="io_uring psync" DEPTHS=4 \
		"$PYTHON" "$repo/tests/bench/engine" >"$T/out" 2>"$T/err"
	holds '[.rows[] | .engine + "-" + .mode] ==
		["io_uring-default", "io_uring-best", "psync-default"]' "$T/engine.json"
	holds '.null_cpu_ns > 1 and all(.rows[]; .ratio_iops > 0.02 and .pvcbench.cpu_ns > 10
		and .bounds_iops[0] <= .ratio_iops and .ratio_iops <= .bounds_iops[1])' \
		"$T/engine.json"
	empty "$T/dir"
}

# At depth 1 a request took at least as long as the volume was at it, and at most from the end of
# the one before to the start of the next: so does each percentile, to half a bucket.
percentiles_are_the_log_s() {
	"$PYTHON" - "$T/fuse.control/log" "$T/result.json" <<-'END'
		import json, math, sys

		def values(histogram):
		    index = 0
		    for n in histogram:
		        if n < 0:
		            index -= n
		            continue
		        low = index if index < 128 else (index % 128 + 128) << (index // 128 - 1)
		        width = 1 if index < 256 else 1 << (index // 128 - 1)
		        yield from [low + width // 2] * n
		        index += 1

		log = sorted((int(f[3]), int(f[4]), f[0]) for f in map(str.split, open(sys.argv[1]))
		             if f[0] in ('read', 'flush') and f[7].endswith('/theirs'))
		last = max(i for i, entry in enumerate(log) if entry[2] == 'read')
		read = json.load(open(sys.argv[2]))['tests'][0]['read']
		lat, n = read['lat_ns'], read['ios']
		own = range(last - n + 1, last + 1)
		least = sorted(log[i][1] - log[i][0] for i in own)
		most = sorted(log[i + 1][0] - log[i - 1][1] for i in own)
		got = list(values(lat['histogram']))
		assert len(got) == n == 1024

		def holds(value, rank):
		    assert least[rank] * 255 / 256 - 1 <= value <= most[rank] * 257 / 256 + 1, rank

		for rank in range(n):
		    holds(got[rank], rank)
		for p in (50, 90, 95, 99):
		    holds(lat['p%d' % p], math.ceil(p * n / 100) - 1)
		assert least[0] <= lat['min'] <= most[0] and least[-1] <= lat['max'] <= most[-1]
		assert sum(least) - 1 <= lat['mean'] * n <= sum(most) + 1
	END
}

@test "percentiles of a run against the sorted samples of the volume's log, by every engine" {
	faultfs
	head -c 4M /dev/urandom >"$T/fuse.backing/theirs"
	rules "read spin 100,150,200,300,450,700,1000,1500,2200,3300,5000"
	for engine in psync io_uring libaio; do
		plan <<-END
			version: 1
			target: $mnt
			filename: $mnt/theirs
			size: 4MiB
			tests: [{name: t, rw: randread, iodepth: 1, loops: 1, ioengine: $engine}]
		END
		: >"$T/fuse.control/log"
		measure
		percentiles_are_the_log_s
	done
}

open_loop() { # SECONDS RATE RULE: at depth 8
	faultfs
	head -c 8M /dev/urandom >"$T/fuse.backing/theirs"
	plan <<-END
		version: 1
		target: $mnt
		filename: $mnt/theirs
		size: 8MiB
		ramp_time: 0
		runtime: $1
		tests: [{name: t, rw: randread, iodepth: 8, rate_iops: $2}]
	END
	rules "$3"
	measure
	# whatever was due is counted once
	within "$(get '.tests[0] | .read.ios + .counters.drained + .counters.unsent')" \
		$(($1 * $2 - 1)) $(($1 * $2 + 1))
}

@test "an open loop through a stall: who waits counts from when it was due" {
	open_loop 5 2400 "read delay 1000 after=2400 count=8"
	# a second of requests that wait for up to a second: far more than one in a thousand
	holds '.tests[0].read.lat_ns | .max >= 1e9 and ."p99.9" >= 0.9e9 and .p90 >= 1e8'
	holds '.tests[0].read.series.lat_max_ns | max >= 1e9'
}

@test "what an open loop had due and never sent is counted apart" {
	open_loop 2 1000 "read delay 3000 after=1000 count=8"
	holds '.tests[0].counters | .drained == 8 and .unsent > 500 and .unsent_age_ns > 500e6'
	holds '.tests[0].read.lat_ns.max < 3e9'
}

@test "one case of the comparison with a plain loop: a table, its JSON, nothing left" {
	need_fuse
	status=0
	env "OUT=$T/exact.json" "PVCBENCH=$pvcbench" "TMPDIR=$T" PARTS=latency ENGINES=psync \
		CASES=0.2ms ROUNDS=1 "$PYTHON" "$repo/tests/bench/exact" >"$T/out" 2>"$T/err" ||
		status=$?
	: >"$T/log"
	[ "$status" = 0 ] || exits 1
	holds '[.rows[].figure] == ["requests", "p50", "p99"] and .rows[0].ok' "$T/exact.json"
	holds 'all(.rows[1:][]; .got > 200 and .high > .low)' "$T/exact.json"
	grep -q ' of 3 lines hold' "$T/out"
	not compgen -G "$T/pvcbench-faultfs.*"
}
