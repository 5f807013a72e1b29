#!/usr/bin/env bats
# The comparison with fio works (its figures are judged by `make bench-accuracy`).

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
