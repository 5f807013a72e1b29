#!/usr/bin/env bats
# Each limit arranged for real, twice: the verdict that belongs to it is given, and no other
# (tests/bench/verdicts). The parameters are always the same here: where this fails, it is not for
# what was drawn. `make bench-verdicts` draws new ones, in more rounds.

load ../run/lib

# Sets status.
arrange() { # [NAME/ROUND...]
	status=0
	ONLY=$* ROUNDS=2 SEED=${SEED:-1} OUT=$T/verdicts.json BUILD=$build PVCBENCH=$pvcbench \
		"$PYTHON" "$repo/tests/bench/verdicts" >"$T/log" 2>&1 || status=$?
	cat "$T/log"
}

wrong() {
	jq -r '.runs[] | select(.missing + .alarms != []) | "\(.situation)/\(.round)"' \
		"$T/verdicts.json"
}

# What is wrong once may be the machine's doing, which is not ours alone; the code's is so again.
@test "what is arranged is told, and nothing else, in two rounds" {
	local again
	arrange
	sed -n 's/^\([a-z-]*\)  *skipped: /# not arranged: \1: /p' "$T/log" >&3
	[ "$status" != 2 ] || skip "nothing arranged, or others used the CPUs"
	if [ "$status" = 1 ]; then
		mapfile -t again < <(wrong)
		[ "${#again[@]}" != 0 ]
		echo "# once more: ${again[*]}" >&3
		arrange "${again[@]}"
		[ "$status" != 2 ] || skip "what was wrong once could not be judged again"
	fi
	[ "$status" = 0 ]
}
