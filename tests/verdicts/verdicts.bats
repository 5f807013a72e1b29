#!/usr/bin/env bats
# Each limit arranged for real, twice: the verdict that belongs to it is given, and no other
# (tests/bench/verdicts). The parameters are always the same here: where this fails, it is not for
# what was drawn. `make bench-verdicts` draws new ones, in more rounds.

load ../run/lib

@test "what is arranged is told, and nothing else, in two rounds" {
	local status=0
	ROUNDS=2 SEED=${SEED:-1} OUT=$T/verdicts.json BUILD=$build PVCBENCH=$pvcbench \
		"$PYTHON" "$repo/tests/bench/verdicts" >"$T/log" 2>&1 || status=$?
	cat "$T/log"
	sed -n 's/^\([a-z-]*\)  *skipped: /# not arranged: \1: /p' "$T/log" >&3
	[ "$status" != 2 ] || skip "nothing arranged, or others used the CPUs"
	[ "$status" = 0 ]
}
