#!/usr/bin/env bats
# Disks with sectors of 4096 bytes; limits of control groups of version 2.

load lib

setup_file() {
	boot "$BATS_TEST_DIRNAME/inside/limits"
}

large_sectors() { # FILE SYSTEM
	look_at "$1"
	same "$(cat "$T/sector")" 4096
	exits 0
	valid "$T/result.json"
	holds ".conditions.fs == \"$1\""
	holds '.tests[0, 1] | .status == "ok" and .direct and
		(.direct_reason | test("alignment 4096 bytes"))'
	holds '.tests[2] | .status == "ok" and (.direct | not)'
	holds '[.tests[2].concessions[] | select(test("512 bytes.*4096 bytes"))] | length == 1'
}

demanded() { # FILE SYSTEM
	look_at "$1-demanded"
	exits 3
	says '512 bytes.*4096 bytes'
	says 'direct: auto'
}

@test "ext4 on sectors of 4096 bytes: O_DIRECT, blocks of 512 bytes are buffered" {
	large_sectors ext4
}

@test "ext4 on sectors of 4096 bytes: O_DIRECT of 512 bytes demanded is refused" {
	demanded ext4
}

@test "xfs on sectors of 4096 bytes: O_DIRECT, blocks of 512 bytes are buffered" {
	large_sectors xfs
}

@test "xfs on sectors of 4096 bytes: O_DIRECT of 512 bytes demanded is refused" {
	demanded xfs
}

@test "a memory limit: less is asked for, and nothing is killed" {
	look_at memory
	exits 0
	holds '.conditions.memory_bytes == 67108864'
	holds 'all(.tests[]; .status == "ok")'
	holds '.tests[0, 1] | .iodepth < 256 and (.concessions | length) >= 1'
	grep -q 'memory.events:oom_kill 0$' "$T/group"
	grep -q 'memory.max:67108864$' "$T/group"
}

@test "a limit of requests a second is what is measured" {
	look_at io
	exits 0
	holds 'all(.tests[] | .read, .write | select(.); .iops <= 130)'
	holds 'all(.tests[]; .status == "ok")'
	holds '.conditions.io_limits | .read_iops == 100 and .write_iops == 100'
	holds 'all(.tests[].verdicts; map(.code) | index("io-limit"))'
}

@test "a quota of CPU is among the conditions, and what it cost is the verdict" {
	look_at cpu
	exits 0
	holds '.conditions.cpus == 0.2'
	says '^  limits         0.2 CPU'
	holds '.tests[0].verdicts[] | select(.code == "cpu-quota").figure | . > 0.02 and . <= 1'
	holds '.tests[0].usage | .throttled_periods > 0'
}
