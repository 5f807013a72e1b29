#!/usr/bin/env bats
# The comparisons with fio work; their figures are for `make bench-accuracy` and
# `make bench-engine` on a quiet machine.

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
