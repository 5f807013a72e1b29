#!/usr/bin/env bats
# Data integrity: what a volume does to data is found and named, what it may do is no false
# alarm; a ledger holds what a crash must leave.

load lib

# 32 blocks, each read or written once; TEST is more of the test.
small() { # TEST
	plan <<-END
		version: 1
		size: 128KiB
		bs: 4KiB
		loops: 1
		verify: crc32c
		tests:
		  - {name: t, $1}
	END
}

run_small() { # TEST
	small "$1"
	pvcbench run "$T/plan.yaml" --target "$mnt" --out "$T/result.json"
}

# One of the 32 blocks is wrong, the error says so, and nothing stays.
found() { # OFFSET EXPECTED REGEX
	exits 1
	says "1 of 32 blocks checked do not hold what was written; the first: block at offset $1 "
	says "block at offset $1 of file 0: expected sequence $2, found $3"
	holds '.tests[0] | .status == "failed" and .verify_checked == 32'
	holds '.tests[0].verify_mismatches == 1'
	holds '.tests[0] | .verify == "crc32c" and .verify_block_bytes == 4096'
	valid "$T/result.json"
	empty "$mnt"
}

@test "what is read and written is as it was: each engine, reads, writes, mixed" {
	loop_fs ext4 300M
	plan <<-END
		version: 1
		size: 32MiB
		ramp_time: 0
		runtime: 300ms
		verify: crc32c
		iodepth: 16
		tests:
		  - name: t
		    rw: [randread, randwrite, randrw]
		    ioengine: [io_uring, libaio, psync]
		  - {name: large, rw: [randrw, write], bs: 64KiB}
		  - {name: buffered, rw: randrw, direct: false}
		  - {name: jobs, rw: randwrite, numjobs: 3, file_per_job: true, iodepth: 4}
		  - {name: odd, rw: write, bs: 2300, direct: false, layout: none, fdatasync: 8}
	END
	LIMIT=120 measure --target "$mnt"
	holds 'all(.tests[]; .status == "ok" and .verify_checked > 0 and .verify_mismatches == 0)'
	says 'verify +crc32c, [0-9]+ blocks of 4KiB checked, 0 mismatches'
	valid "$T/result.json"
	empty "$mnt"
}

@test "a device" {
	loop_device 64M
	plan <<-END
		version: 1
		size: 8MiB
		loops: 1
		destroy: true
		verify: crc32c
		tests:
		  - {name: t, rw: [randwrite, randread], randommap: true}
	END
	measure --target "$loop"
	holds 'all(.tests[]; .verify_checked == 2048 and .verify_mismatches == 0)'
}

@test "a bit flipped on the way to a read" {
	faultfs
	rules 'read flip 40100'
	run_small 'rw: randread, randommap: true'
	found 39936 1 'sequence 1 with checksum [0-9a-f]{8} over data of checksum [0-9a-f]{8} '
	says '\(bits changed\)'
}

@test "a write that is acknowledged and never done: what lay there before" {
	faultfs
	rules 'write lost off=40960-45055 after=1 count=1'
	run_small 'rw: randwrite, randommap: true'
	found 40960 '[0-9]+' 'sequence 1, what lay there before '
	says '\(a write that was acknowledged is lost\)'
}

@test "a write that is acknowledged and never done: zeros" {
	faultfs
	rules 'write lost off=40960-45055'
	run_small 'rw: write, layout: none'
	found 40960 11 'zeros \(the write is lost, or the range was discarded\)'
}

@test "a read that gives another block" {
	faultfs
	rules 'read misdirect 8192 off=40960-45055'
	run_small 'rw: read'
	found 40960 1 'the block at offset 49152 of file 0, sequence 1 '
	says '\(a write or a read went to the wrong place\)'
}

@test "a write that goes elsewhere: a block is older, another is foreign" {
	faultfs
	rules 'write misdirect 4096 off=122880-126975 after=1 count=1'
	run_small 'rw: randwrite, randommap: true, randseed: 1'
	exits 1
	says 'block at offset 12(2880|6976) of file 0: expected sequence [0-9]+, found '
	holds '.tests[0].verify_mismatches >= 1'
}

@test "overwritten behind our back: zeros, noise, data of another run" {
	local kind wanted
	faultfs
	small 'rw: write, layout: none, ledger: @LEDGER@'
	sed -i "s#@LEDGER@#$T/ledger#" "$T/plan.yaml"
	pvcbench run "$T/plan.yaml" --target "$mnt"
	exits 0
	cp "$T"/fuse.backing/pvcbench-*/data.0 "$T/other"
	pvcbench verify "$T/ledger" --remove
	exits 0
	head -c 131072 /dev/zero >"$T/zeros"
	head -c 131072 /dev/urandom >"$T/noise"
	for kind in zeros noise other; do
		case $kind in
		zeros) wanted='found zeros' ;;
		noise) wanted='found what pvcbench does not write, beginning with [0-9a-f]{16}' ;;
		other) wanted='found data of another run \(number [0-9a-f]{16} in place of' ;;
		esac
		small 'rw: randread, loops: 0, ramp_time: 0, runtime: 2s, thinktime: 1ms'
		start run "$T/plan.yaml" --target "$mnt" --out "$T/result.json"
		await 20 reads_have_begun
		dd if="$T/$kind" of="$(echo "$T"/fuse.backing/pvcbench-*/data.0)" \
			bs=4096 skip=3 seek=3 count=29 conv=notrunc status=none
		ends 30
		exits 1
		says "blocks checked do not hold what was written; the first: block at offset"
		says "block at offset [0-9]+ of file 0: expected sequence 1, $wanted"
		: >"$T/fuse.control/log"
	done
}

reads_have_begun() {
	[ "$(awk '$1 == "read" && $3 == 4096' "$T/fuse.control/log" | wc -l)" -gt 20 ]
}

@test "requests that meet on a block are no false alarm" {
	faultfs
	rules 'write delay 1' 'read delay 1'
	small 'rw: randrw, iodepth: 16, numjobs: 2, size: 16KiB, loops: 100'
	pvcbench run "$T/plan.yaml" --target "$mnt" --out "$T/result.json"
	exits 0
	holds '.tests[0] | .verify_mismatches == 0 and .verify_crossed > 100'
}

@test "a write that failed may be there or not" {
	faultfs
	rules 'write late EIO after=20 count=1'
	run_small 'rw: write'
	exits 1
	says 'write of 4096 bytes at offset [0-9]+ failed: Input/output error'
	holds '.tests[0].verify_mismatches == 0'
}

@test "reading back has its time, and what it did not come to is told" {
	faultfs
	rules 'read delay 300'
	small 'rw: write, bs: 1MiB, size: 32MiB, layout: none, layout_time: 100ms'
	pvcbench run "$T/plan.yaml" --target "$mnt" --out "$T/result.json"
	exits 0
	says 'concession: read back only [0-9A-Za-z.]+ of 32MiB written: the time for it was over'
	holds '.tests[0] | .verify_mismatches == 0 and .verify_checked < 8192'
	sed -i 's/name: t/name: t, strict: true/' "$T/plan.yaml"
	pvcbench run "$T/plan.yaml" --target "$mnt"
	exits 3
}

@test "no two blocks are alike, and a compressor finds nothing" {
	need zstd
	loop_fs ext4 200M
	plan <<-END
		version: 1
		size: 64MiB
		ramp_time: 0
		runtime: 1s
		iodepth: 16
		verify: crc32c
		ledger: $T/ledger
		tests:
		  - {name: t, rw: randwrite}
	END
	measure --target "$mnt"
	sync -f "$mnt"
	same "$(distinct_blocks "$mnt"/pvcbench-*/data.0)" 16384
	within "$(zstd -q -3 -c "$mnt"/pvcbench-*/data.0 | wc -c)" 66400000 70000000
}

# --- the ledger ---

# 64 blocks of which the last are not synced
ledger_run() { # [TEST]
	plan <<-END
		version: 1
		size: 256KiB
		bs: 4KiB
		loops: 1
		verify: crc32c
		ledger: $T/ledger
		tests:
		  - {name: t, ${1:-rw: randwrite, randommap: true, fdatasync: 10}}
	END
	pvcbench run "$T/plan.yaml" --target "$mnt" --out "$T/result.json"
}

@test "a ledger: the files stay, all is there, --remove removes them" {
	loop_fs ext4 200M
	ledger_run
	exits 0
	says "kept for pvcbench verify $T/ledger: $mnt/pvcbench-"
	holds ".tests[0].ledger == \"$T/ledger\""
	[ -s "$(echo "$mnt"/pvcbench-*/data.0)" ]
	[[ "$(tail -n 1 "$T/out")" != *kept* ]]
	pvcbench verify "$T/ledger"
	exits 0
	says '^ledger +.*, of run [0-9a-z-]+, which ended by itself$'
	says '^checked +64 blocks with an acknowledged write$'
	says '^synced +64 must hold a write that was synced, 0 of these do not$'
	says '^not synced +4 hold, or held, a later write .*; 0 lost it'
	says '^verdict +nothing that was acknowledged and synced is missing$'
	[ -s "$(echo "$mnt"/pvcbench-*/data.0)" ]
	mkdir "$T/elsewhere"
	mount --move "$mnt" "$T/elsewhere" 2>/dev/null || mount --bind "$mnt" "$T/elsewhere"
	undo umount "$T/elsewhere"
	pvcbench verify "$T/ledger" --target "$T/elsewhere" --remove
	exits 0
	says '^removed +'
	empty "$T/elsewhere"
}

@test "a ledger: the program is killed in the middle, what was synced is there" {
	loop_fs ext4 200M
	plan <<-END
		version: 1
		size: 16MiB
		ramp_time: 0
		runtime: 60s
		iodepth: 8
		verify: crc32c
		ledger: $T/ledger
		tests:
		  - {name: t, rw: randwrite, fdatasync: 16}
	END
	start run "$T/plan.yaml" --target "$mnt"
	await 20 ledger_has 60000
	kill -KILL "$pid"
	wait "$pid" || true
	pvcbench verify "$T/ledger" --remove
	exits 0
	says 'which was cut off, or still runs$'
	says '^checked +4096 blocks'
	says '^verdict +nothing that was acknowledged and synced is missing$'
	empty "$mnt"
}

@test "a ledger: --remove leaves the files of a run that goes on" {
	loop_fs ext4 200M
	plan <<-END
		version: 1
		size: 4MiB
		ramp_time: 0
		runtime: 60s
		verify: crc32c
		ledger: $T/ledger
		tests:
		  - {name: t, rw: randwrite, fdatasync: 16}
	END
	start run "$T/plan.yaml" --target "$mnt"
	await 20 ledger_has 60000
	pvcbench verify "$T/ledger" --remove
	exits 4
	says 'stays: its run goes on'
	[ -s "$(echo "$mnt"/pvcbench-*/data.0)" ]
	kill -KILL "$pid"
	wait "$pid" || true
	pvcbench verify "$T/ledger" --remove
	exits 0
	empty "$mnt"
}

@test "a ledger that cannot be begun leaves no file; a pipe is none, and not waited for" {
	loop_fs ext4 200M
	mkdir "$T/full"
	mount -t tmpfs -o size=64k tmpfs "$T/full"
	undo umount "$T/full"
	dd if=/dev/zero of="$T/full/all" bs=4k status=none 2>/dev/null || true
	plan <<-END
		version: 1
		size: 256KiB
		loops: 1
		verify: crc32c
		ledger: $T/full/ledger
		tests:
		  - {name: t, rw: randwrite}
	END
	pvcbench run "$T/plan.yaml" --target "$mnt"
	exits 3
	says "cannot make the ledger '$T/full/ledger': No space left"
	[ ! -e "$T/full/ledger" ]
	empty "$mnt"
	mkfifo "$T/pipe"
	run timeout 20 "$pvcbench" verify "$T/pipe"
	[ "$status" = 2 ]
}

ledger_has() { # BYTES
	[ "$(stat -c %s "$T/ledger" 2>/dev/null || echo 0)" -gt "$1" ]
}

@test "a ledger: what is missing is named, and nothing removed" {
	loop_fs ext4 200M
	ledger_run
	exits 0
	dd if=/dev/zero of="$(echo "$mnt"/pvcbench-*/data.0)" bs=4096 seek=7 count=2 conv=notrunc \
		status=none
	sync
	pvcbench verify "$T/ledger" --remove
	exits 1
	says '^missing +block at offset 28672 of file 0: .* sequence [0-9]+ or later, found zeros'
	says '^missing +block at offset 32768 of file 0: '
	says '^pvcbench: 2 of 64 blocks do not hold what was acknowledged and synced; the first: '
	says 'the first: block at offset 28672 of file 0: expected sequence'
	[ -s "$(echo "$mnt"/pvcbench-*/data.0)" ]
	rm "$mnt"/pvcbench-*/data.0
	pvcbench verify "$T/ledger"
	exits 1
	says '64 of 64 blocks do not hold'
}

@test "a ledger: a volume that loses what it said was synced" {
	faultfs
	rules 'write lost off=40960-45055 after=1'
	ledger_run 'rw: randwrite, randommap: true, fdatasync: 8' # of 64: none is left unsynced
	exits 1
	says '1 of 64 blocks checked do not hold what was written'
	pvcbench verify "$T/ledger"
	exits 1
	says '^missing +block at offset 40960 of file 0: expected sequence [0-9]+ or later, '
	says 'found sequence 1, what lay there before'
}

@test "a ledger: what was not synced may be lost" {
	faultfs
	rules 'write lost off=40960-45055 after=1'
	ledger_run 'rw: randwrite, randommap: true'
	exits 1
	pvcbench verify "$T/ledger"
	exits 0
	says '^not synced +64 hold, or held, a later write .*; 1 lost it, which is allowed$'
}

@test "a ledger: O_DSYNC is a sync with each write" {
	faultfs
	rules 'write lost off=40960-45055 after=1'
	ledger_run 'rw: randwrite, randommap: true, sync: dsync'
	exits 1
	pvcbench verify "$T/ledger"
	exits 1
	says '^missing +block at offset 40960 '
}

@test "a ledger: where it must not be, and when" {
	loop_fs ext4 200M
	mkdir "$mnt/deeper"
	small "rw: write, ledger: $mnt/deeper/ledger"
	pvcbench run "$T/plan.yaml" --target "$mnt"
	exits 4
	says "the ledger '$mnt/deeper/ledger' would lie on the volume that it tells of, '$mnt'"
	rmdir "$mnt/deeper"
	: >"$T/ledger"
	small "rw: write, ledger: $T/ledger"
	pvcbench run "$T/plan.yaml" --target "$mnt"
	exits 4
	says "the ledger '$T/ledger' is there already, of an earlier run"
	small "rw: write, ledger: $T/no/ledger"
	pvcbench run "$T/plan.yaml" --target "$mnt"
	exits 3
	says "cannot keep a ledger in '$T/no': No such file or directory"
	empty "$mnt"
}

@test "a ledger that cannot be written: the test fails" {
	loop_fs ext4 200M
	mkdir "$T/small"
	mount -t tmpfs -o size=64K tmpfs "$T/small" || skip "cannot mount a tmpfs"
	undo umount "$T/small"
	plan <<-END
		version: 1
		size: 16MiB
		ramp_time: 0
		runtime: 30s
		verify: crc32c
		ledger: $T/small/ledger
		tests:
		  - {name: t, rw: randwrite, iodepth: 8}
	END
	LIMIT=25 pvcbench run "$T/plan.yaml" --target "$mnt"
	exits 1
	says "cannot write the ledger '$T/small/ledger': No space left on device"
}

@test "verify: what is no ledger, no volume, no command line" {
	loop_fs ext4 200M
	ledger_run
	echo hello >"$T/hello"
	pvcbench verify "$T/hello"
	exits 2
	says "'$T/hello' is not a ledger of pvcbench"
	pvcbench verify "$T/none"
	exits 2
	pvcbench verify
	exits 2
	pvcbench verify "$T/ledger" --target "$T/none"
	exits 3
	says 'where is the volume mounted'
	mkdir "$T/other"
	pvcbench verify "$T/ledger" --target "$T/other"
	exits 3
	says 'not the volume of this ledger'
}

@test "verify: a volume that does not answer is told of, and a signal ends it" {
	faultfs
	ledger_run
	rules "read hang"
	start verify "$T/ledger"
	await 30 grep -q "waiting for the volume since [0-9]*s (a read of what was" "$T/out"
	kill -TERM "$pid"
	ends 15
	exits 143
	says 'interrupted while waiting for the volume \(a read of what was written\)'
	rules
	pvcbench verify "$T/ledger" --remove
	exits 0
	empty "$mnt"
}
