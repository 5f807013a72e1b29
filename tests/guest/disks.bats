#!/usr/bin/env bats
# Disks that are slow, that fail, that do not answer, that are full.

load lib

setup_file() {
	boot "$BATS_TEST_DIRNAME/inside/disks"
}

failed_with() { # ERRNO
	exits 1
	first_counts
	holds ".tests[1] | .status == \"failed\" and .errors.$1 >= 1"
	says "Input/output error"
}

# The guest's ticks, by which the disk waits, may come late and then in a burst: a single
# request may be faster.
@test "a disk that takes 50 ms" {
	look_at slow
	exits 0
	holds 'all(.tests[]; .status == "ok" and .direct and .ioengine == "io_uring")'
	holds '.tests[0].read | .lat_ns.mean >= 40e6 and .iops <= 25'
	holds '.tests[1].write | .lat_ns.mean >= 40e6 and .iops <= 100'
	holds '.conditions | .fs == "ext4" and (.device | test("^dm-"))'
}

@test "a layout that takes too long makes the file smaller, and says so" {
	look_at slow-layout
	exits 0
	holds '.tests[0] | .status == "ok" and .size < .size_asked and .read.lat_ns.mean >= 400e6'
	holds '[.tests[0].concessions[] | select(test("layout_time"))] | length == 1'
	says "size shrunk from 128MiB to .*layout_time"
}

@test "bad sectors: EIO, and where" {
	look_at bad-sectors
	failed_with EIO
	holds '.tests[1].error | test("read of 65536 bytes at offset 16777216 failed")'
}

@test "bad sectors met by the layout: nothing is measured" {
	look_at bad-layout
	exits 1
	holds '.tests[0] | .status == "failed" and ((.read.ios // 0) == 0)'
	says 'layout of 33554432 bytes: write of 1048576 bytes at offset 16777216 failed'
}

@test "the disk goes bad in the middle" {
	look_at gone
	failed_with EIO
	holds '.tests[1].read.ios > 0'
}

@test "a disk that fails now and then" {
	look_at flaky
	failed_with EIO
	holds '.tests[1].read.ios > 0'
}

@test "a disk that does not answer for a while: told while it lasts, and counted in full" {
	look_at pause
	saw 'told while it lasts'
	exits 0
	first_counts
	holds '.tests[1] | .status == "ok" and .read.lat_ns.max >= 3e9'
	holds '[.tests[1].verdicts[].code] | index("stalls")'
}

silent() { # ENGINE
	look_at "silent-$1"
	saw 'told while it lasts'
	saw 'the summary'
	saw 'the result'
	exits 1
	first_counts
	holds ".tests[1] | .status == \"failed\" and .ioengine == \"$1\""
	holds '.tests[1].counters.unfinished >= 1'
	says 'did not come back'
	saw 'its end'
}

@test "a disk that never answers again: io_uring" {
	silent io_uring
}

@test "a disk that never answers again: libaio" {
	silent libaio
}

@test "a disk that never answers again: psync" {
	silent psync
}

@test "a disk that is full in the middle" {
	look_at full
	exits 3
	holds '.tests[0].status == "ok"'
	holds '.tests[1] | .status == "failed" and .errors.ENOSPC >= 1'
	says 'No space left'
	same "$(cat "$T/left")" ""
}

@test "a disk that is full from the start" {
	look_at full-at-once
	exits 3
	says 'free|space'
	says '/mnt/full-at-once'
}
