#!/usr/bin/env bats
# What each key of a test means, seen from outside: by the log of a FUSE file
# system through which all requests go one by one, by strace, by the files.

load lib

# One test on the FUSE file system: `one KEY: VALUE, KEY: VALUE` in flow style.
one() { # KEYS [ARG...]
	plan <<-END
		version: 1
		target: $mnt
		size: 16MiB
		ramp_time: 0
		runtime: 1s
		ioengine: psync
		direct: true
		tests: [{name: t, $1}]
	END
	: >"$T/fuse.control/log"
	measure "${@:2}"
	empty "$mnt"
}

# Before a test some requests at offset 0 try the engine and O_DIRECT.
trials=4

offsets() { # OP SIZE [LAST]: of the last so many, else of all
	requests "$1" "$2" | awk '{ print $2 }' | tail -n "${3:-+1}"
}

as_many() { # OP SIZE NUMBER: so many were seen, trials apart
	within "$(count "$1" "$2")" "$3" $(($3 + trials))
}

@test "bs: every request has that size and starts at a multiple of it" {
	faultfs
	one "rw: randread, bs: 20KiB, runtime: 300ms"
	ios=$(get '.tests[0].read.ios')
	as_many read 20480 "$ios"
	holds '.tests[0].read.bytes == .tests[0].read.ios * 20480'
	same "$(offsets read 20480 | awk '$1 % 20480' | wc -l)" 0
	holds '.tests[0].bs == 20480'
}

@test "rwmixread: reads are that share of the requests" {
	faultfs
	one "rw: randrw, rwmixread: 75, bs: 12KiB, iodepth: 4, io_size: 60000KiB, randseed: 1"
	holds '.tests[0] | .read.ios + .write.ios == 5000'
	within "$(get '.tests[0] | .read.ios / (.read.ios + .write.ios)')" 0.73 0.77
	as_many write 12288 "$(get '.tests[0].write.ios')"
}

@test "rwmixread: 0 writes only, 100 reads only" {
	faultfs
	one "rw: randrw, rwmixread: 0, bs: 12KiB, io_size: 1200KiB"
	holds '.tests[0] | .write.ios == 100 and (.read.ios // 0) == 0'
	one "rw: rw, rwmixread: 100, bs: 12KiB, io_size: 1200KiB"
	holds '.tests[0] | .read.ios == 100 and (.write.ios // 0) == 0'
}

@test "read goes through the file in order, and from its start again" {
	faultfs
	one "rw: read, bs: 64KiB, size: 4MiB, io_size: 10MiB"
	offsets read 65536 160 >"$T/got"
	for ((i = 0; i < 160; i++)); do echo $((i % 64 * 65536)); done >"$T/want"
	diff "$T/got" "$T/want"
}

@test "write goes through the file in order" {
	faultfs
	one "rw: write, bs: 96KiB, size: 3MiB, loops: 1"
	as_many write 98304 32
	offsets write 98304 32 >"$T/got"
	for ((i = 0; i < 32; i++)); do echo $((i * 98304)); done >"$T/want"
	diff "$T/got" "$T/want"
}

depth_is_real() { # ENGINE
	faultfs
	rules "read delay 20"
	one "rw: randread, bs: 4KiB, iodepth: 12, ioengine: $1"
	same "$(outstanding read 4096)" 12
	# 12 at a time, 20 ms each, are at most 600 a second; a busy machine makes it fewer
	within "$(get '.tests[0].read.iops')" 240 600
	within "$(get '.tests[0].read.lat_ns.p50')" 19e6 25e6
	holds ".tests[0].ioengine == \"$1\""
}

@test "iodepth: so many are outstanding, io_uring" {
	depth_is_real io_uring
}

@test "iodepth: so many are outstanding, libaio" {
	depth_is_real libaio
}

@test "iodepth: so many are outstanding, psync" {
	depth_is_real psync
}

@test "iodepth 1: one at a time" {
	faultfs
	rules "read delay 5"
	one "rw: randread, bs: 4KiB, iodepth: 1, ioengine: io_uring, runtime: 300ms"
	same "$(outstanding read 4096)" 1
}

@test "numjobs: each has its own iodepth" {
	faultfs
	rules "read delay 20"
	one "rw: randread, bs: 4KiB, iodepth: 3, numjobs: 4, ioengine: io_uring"
	same "$(outstanding read 4096)" 12
	holds '.tests[0] | .numjobs == 4 and .iodepth == 3'
}

@test "psync: threads are capped at 256 in all, and it says so" {
	faultfs
	rules "read delay 50"
	one "rw: randread, bs: 4KiB, iodepth: 64, numjobs: 8"
	within "$(outstanding read 4096)" 200 256
	holds '.tests[0].concessions | any(test("256"))'
	says "256"
}

@test "offset: nothing before it is touched" {
	faultfs
	one "rw: randread, bs: 4KiB, size: 4MiB, offset: 1MiB, runtime: 300ms"
	offsets read 4096 | sort -n | sed -n '1p;$p' >"$T/range"
	within "$(head -1 "$T/range")" 1048576 1200000
	within "$(tail -1 "$T/range")" 1200000 $((5 * 1048576 - 4096))
}

@test "offset_increment: each job has its own start" {
	faultfs
	one "rw: read, bs: 64KiB, size: 2MiB, offset: 1MiB, offset_increment: 4MiB, numjobs: 3,
	     io_size: 1MiB"
	offsets read 65536 | sort -n | uniq | awk '{ print int($1 / 4194304) }' | uniq -c |
		awk '{ print $1, $2 }' >"$T/got"
	printf '16 0\n16 1\n16 2\n' | diff "$T/got" -
	same "$(offsets read 65536 | sort -n | uniq | head -1)" 1048576
}

@test "file_per_job: a file each, of the whole size" {
	faultfs
	rules "write delay 2"
	plan <<-END
		version: 1
		target: $mnt
		size: 3MiB
		ramp_time: 0
		runtime: 2s
		tests: [{name: t, rw: randwrite, bs: 12KiB, numjobs: 3, file_per_job: true}]
	END
	start run "$T/plan.yaml"
	await 10 sizes_are 3145728 3145728 3145728
	ends 20
	exits 0
	same "$(requests write 12288 | awk '{ print $8 }' | sort -u | wc -l)" 3
	empty "$mnt"
}

sizes_are() { # BYTES...: of the files below $mnt
	[ "$(find "$mnt" -name 'data.*' -printf '%s\n' | sort -n | xargs)" = "$*" ]
}

@test "jobs and tests share one file, laid out once" {
	faultfs
	one "rw: [randread, randwrite], bs: 4KiB, numjobs: 2, runtime: 200ms"
	same "$( (requests read && requests write) | awk '{ print $8 }' | sort -u | wc -l)" 1
	same "$(requests write | awk '$3 > 4096 { sum += $3 } END { print sum }')" 16777216
}

@test "io_size: exactly that much per job" {
	faultfs
	one "rw: randwrite, bs: 12KiB, io_size: 1200KiB, numjobs: 3, iodepth: 5"
	holds '.tests[0].write | .ios == 300 and .bytes == 3686400'
	as_many write 12288 300
}

@test "loops: so many passes over the size" {
	faultfs
	one "rw: write, bs: 32KiB, size: 2MiB, loops: 3"
	holds '.tests[0].write | .ios == 192 and .bytes == 6291456'
	as_many write 32768 192
	same "$(offsets write 32768 192 | sort -n | uniq -c | awk '$1 != 3' | wc -l)" 0
}

@test "randommap: every block once before any comes again" {
	faultfs
	for depth in 1 7; do
		one "rw: randwrite, bs: 16KiB, size: 6400KiB, randommap: true, loops: 1,
		     iodepth: $depth"
		as_many write 16384 400
		offsets write 16384 400 | sort -n >"$T/got"
		for ((i = 0; i < 400; i++)); do echo $((i * 16384)); done | diff "$T/got" -
	done
}

@test "without randommap offsets are drawn with replacement" {
	faultfs
	one "rw: randwrite, bs: 16KiB, size: 6400KiB, loops: 1"
	# 400 draws of 400 hit 400 (1 - 1/e) = 253 blocks, deviation 6
	within "$(offsets write 16384 400 | sort -nu | wc -l)" 225 280
}

@test "fsync: one after so many writes, counted and timed" {
	faultfs
	rules "fsync delay 3"
	one "rw: write, bs: 12KiB, io_size: 1200KiB, fsync: 10"
	holds '.tests[0] | .write.ios == 100 and .sync.ios == 10'
	within "$(get '.tests[0].sync.lat_ns.min')" 3e6 9e6
	# counted from the layout's last write
	awk '$1 == "write" && $3 != 12288 { n = 0 } $1 == "write" && $3 == 12288 { n++ }
		$1 == "fsync" && n { print n }' "$T/fuse.control/log" | tail -10 >"$T/got"
	seq 10 10 100 | diff "$T/got" -
}

@test "fdatasync: it is fdatasync, not fsync" {
	faultfs
	one "rw: randwrite, bs: 12KiB, io_size: 240KiB, fdatasync: 1, ioengine: io_uring"
	holds '.tests[0] | .write.ios == 20 and .sync.ios == 20'
	same "$(count fdatasync)" 20
}

@test "end_fsync: one fsync when all is written" {
	faultfs
	one "rw: write, bs: 12KiB, io_size: 1200KiB, end_fsync: true"
	awk '$1 == "write" || $1 ~ /sync$/ { print $1 }' "$T/fuse.control/log" | tail -2 |
		xargs >"$T/got"
	same "$(cat "$T/got")" "write fsync"
}

opened_with() { # SYNC: prints the flags of the file's last open
	need_strace
	plan <<-END
		version: 1
		target: $1
		size: 4MiB
		ramp_time: 0
		runtime: 200ms
		tests: [{name: t, rw: randwrite, bs: 4KiB, ioengine: psync, sync: $2}]
	END
	WRAP=(strace -f -o "$T/trace" -e "trace=openat,open")
	measure
	grep -o '"[^"]*data[^"]*", [A-Z_|]*' "$T/trace" | tail -1
}

@test "sync: true opens with O_SYNC, dsync with O_DSYNC" {
	dir=$(directory)
	flags=$(opened_with "$dir" true)
	[[ $flags = *O_SYNC* ]]
	flags=$(opened_with "$dir" dsync)
	[[ $flags = *O_DSYNC* && $flags != *O_SYNC* ]]
	flags=$(opened_with "$dir" false)
	[[ $flags != *SYNC* ]]
}

@test "rate_iops: kept within 1 %, latency from the due time" {
	faultfs
	rules "read delay 2"
	one "rw: randread, bs: 4KiB, iodepth: 4, rate_iops: 300, runtime: 2s, ioengine: io_uring"
	within "$(get '.tests[0].read.iops')" 297 303
	within "$(get '.tests[0].read.lat_ns.p50')" 1.9e6 4e6
}

@test "rate_iops of every job adds up" {
	faultfs
	one "rw: randread, bs: 4KiB, numjobs: 2, rate_iops: 200, runtime: 2s"
	within "$(get '.tests[0].read.iops')" 396 404
}

@test "rate: bytes a second" {
	faultfs
	one "rw: write, bs: 8KiB, rate: 2048KiB, runtime: 2s"
	within "$(get '.tests[0].write.bw_bytes')" 2076180 2118123
}

@test "rate_iops that cannot be met: the backlog counts in the latency" {
	faultfs
	rules "read delay 10"
	one "rw: randread, bs: 4KiB, iodepth: 1, rate_iops: 200, runtime: 2s"
	within "$(get '.tests[0].read.iops')" 60 100
	# after 2 s half of what was due is done: the last waited about 1 s
	within "$(get '.tests[0].read.lat_ns.max')" 0.8e9 2e9
}

@test "thinktime: a rest after every request" {
	faultfs
	one "rw: randread, bs: 12KiB, thinktime: 20ms"
	within "$(get '.tests[0].read.ios')" 30 50
	requests read 12288 | sort -k4,4n | awk 'NR > 3 && $4 - end < 20000000 { print }
		{ end = $5 }' >"$T/early"
	same "$(wc -l <"$T/early")" 0
}

@test "layout: none writes nothing beforehand, and the first write is called so" {
	faultfs
	one "rw: write, bs: 12KiB, layout: none, loops: 1, size: 1200KiB"
	as_many write 12288 100
	same "$(count write)" "$(count write 12288)"
	says "first write|layout: none|not laid out"
}

@test "layout before writes too: nothing is written beyond the size" {
	faultfs
	one "rw: randwrite, bs: 12KiB, size: 3MiB, runtime: 200ms"
	same "$(requests write | awk '$3 != 12288 { sum += $3 } END { print sum }')" 3145728
	same "$(requests write | awk '$2 + $3 > 3145728' | wc -l)" 0
}

written_by() { # BUFFER ENGINE: fills $T/dir/mine
	head -c 8M /dev/zero | tr '\0' 'x' >"$T/dir/mine"
	plan <<-END
		version: 1
		target: $T/dir
		filename: $T/dir/mine
		destroy: true
		size: 8MiB
		ioengine: $2
		tests: [{name: t, rw: write, bs: 64KiB, loops: 1, buffer: $1, iodepth: 4}]
	END
	measure
	same "$(stat -c %s "$T/dir/mine")" 8388608
}

@test "buffer: random does not compress and no two blocks are equal" {
	need zstd
	directory
	for engine in psync io_uring; do
		written_by random $engine
		within "$(zstd -qc "$T/dir/mine" | wc -c)" 8304721 8500000
		same "$(distinct_blocks "$T/dir/mine")" 2048
	done
}

@test "buffer: random, what is laid out does not compress either" {
	need zstd
	faultfs
	rules "read delay 5"
	plan <<-END
		version: 1
		target: $mnt
		size: 8MiB
		ramp_time: 0
		runtime: 5s
		tests: [{name: t, rw: randread, bs: 4KiB}]
	END
	start run "$T/plan.yaml"
	await 10 test_reads
	cat "$T"/fuse.backing/*/data.* >"$T/copy"
	kill -TERM "$pid"
	ends 20
	same "$(stat -c %s "$T/copy")" 8388608
	within "$(zstd -qc "$T/copy" | wc -c)" 8304721 8500000
	same "$(distinct_blocks "$T/copy")" 2048
}

test_reads() {
	[ "$(count read 4096)" -gt 20 ]
}

@test "buffer: zero writes zeros" {
	directory
	written_by zero psync
	same "$(tr -d '\0' <"$T/dir/mine" | wc -c)" 0
}

@test "randseed: the same seed gives the same sequence, another one another" {
	faultfs
	n=0
	for seed in 7 7 8; do
		one "rw: randwrite, bs: 12KiB, io_size: 1200KiB, randseed: $seed"
		n=$((n + 1))
		offsets write 12288 >"$T/seed.$n"
	done
	diff "$T/seed.1" "$T/seed.2"
	not diff -q "$T/seed.1" "$T/seed.3"
}

@test "randseed: without it two runs differ" {
	faultfs
	for n in 1 2; do
		one "rw: randwrite, bs: 12KiB, io_size: 1200KiB"
		offsets write 12288 >"$T/seed.$n"
	done
	not diff -q "$T/seed.1" "$T/seed.2"
}

busiest_tenth() { # prints the percentage of requests that hit the busiest tenth of 1000 blocks
	offsets write 4096 | sort -n | uniq -c | sort -rn |
		awk '{ sum += $1; if (NR <= 100) top += $1 } END { print 100 * top / sum }'
}

@test "random_distribution: zipf is skewed, uniform is not" {
	faultfs
	one "rw: randwrite, bs: 4KiB, size: 4000KiB, io_size: 40000KiB, layout: none,
	     random_distribution: 'zipf:1.2', randseed: 1"
	within "$(busiest_tenth)" 70 95
	one "rw: randwrite, bs: 4KiB, size: 4000KiB, io_size: 40000KiB, layout: none,
	     random_distribution: uniform, randseed: 1"
	within "$(busiest_tenth)" 10 20
}

@test "lists make products, named by their values" {
	faultfs
	one "rw: [read, randwrite], bs: [4KiB, 64KiB], iodepth: 2, runtime: 100ms"
	same "$(get '[.tests[].name] | join(" ")')" \
		"t-read-4KiB t-read-64KiB t-randwrite-4KiB t-randwrite-64KiB"
	same "$(get '[.tests[].bs] | join(" ")')" "4096 65536 4096 65536"
}

@test "filename: an existing file is read, not laid out and not removed" {
	faultfs
	head -c 4M /dev/urandom >"$T/fuse.backing/theirs"
	before=$(sha256sum <"$T/fuse.backing/theirs")
	plan <<-END
		version: 1
		target: $mnt
		filename: $mnt/theirs
		ramp_time: 0
		runtime: 200ms
		tests: [{name: t, rw: randread, bs: 4KiB}]
	END
	measure
	holds '.tests[0].read.ios > 0'
	same "$(count write)" 0
	same "$(ls "$mnt")" theirs
	same "$(sha256sum <"$T/fuse.backing/theirs")" "$before"
}

@test "filename: writing to it without destroy is refused" {
	dir=$(directory)
	head -c 4M /dev/urandom >"$dir/theirs"
	before=$(sha256sum <"$dir/theirs")
	plan <<-END
		version: 1
		target: $dir
		filename: $dir/theirs
		runtime: 200ms
		tests: [{name: t, rw: randwrite, bs: 4KiB}]
	END
	pvcbench run "$T/plan.yaml"
	exits 4
	says destroy
	same "$(sha256sum <"$dir/theirs")" "$before"
}

@test "ramp_time: what happens in it does not count" {
	faultfs
	rules "read delay 300 count=4"
	one "rw: randread, bs: 4KiB, ramp_time: 2s, runtime: 500ms"
	within "$(get '.tests[0].read.lat_ns.max')" 0 290e6
	within "$(get '.tests[0].runtime_ns')" 0.49e9 0.52e9
	within "$(count read 4096)" "$(get '.tests[0].read.ios + 10')" 1e9
}

@test "runtime: the rate is completions over the window" {
	faultfs
	one "rw: randread, bs: 4KiB, runtime: 1500ms"
	holds '.tests[0] | (.read.ios / (.runtime_ns / 1e9) - .read.iops | fabs) < 1'
	holds '.tests[0] | (.read.bytes / (.runtime_ns / 1e9) - .read.bw_bytes | fabs) < 5000'
	within "$(get '.tests[0].runtime_ns')" 1.49e9 1.52e9
}

@test "repeat: the test runs so often" {
	faultfs
	one "rw: randread, bs: 4KiB, repeat: 3, runtime: 100ms"
	holds '.tests | length == 3'
	holds '[.tests[].name] | unique | length == 3'
}

@test "expect: a threshold not met is exit 99, met is 0" {
	faultfs
	one "rw: randread, bs: 4KiB, runtime: 300ms, expect: ['read.iops >= 1', 'errors == 0']"
	holds '.tests[0].expect | length == 2 and all(.[]; .result == "pass")'
	plan <<-END
		version: 1
		target: $mnt
		size: 4MiB
		ramp_time: 0
		runtime: 300ms
		tests:
		  - name: t
		    rw: randread
		    expect: ["read.iops >= 100000000", "read.mean <= 10s"]
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 99
	holds '.tests[0].expect | .[0].result == "fail" and .[1].result == "pass"'
	says "read.iops >= 100000000"
}

@test "expect: what cannot be judged is exit 99 too" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 4MiB
		tests:
		  - {name: t, rw: read, bs: 64KiB, io_size: 640KiB, expect: ["read.p99.9 <= 10s"]}
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 99
	holds '.tests[0].expect[0].result == "not-judged"'
}

@test "percentiles are left out where fewer than ten samples lie beyond" {
	faultfs
	one "rw: randread, bs: 4KiB, io_size: 2000KiB"
	holds '.tests[0].read | .ios == 500'
	holds '.tests[0].read.lat_ns | .p90 > 0 and .p95 > 0'
	holds '.tests[0].read.lat_ns | .p99 == null and .["p99.9"] == null'
}

@test "a user's file with holes is read as it is, and that is said" {
	mnt=$(directory)
	truncate -s 16M "$mnt/sparse"
	plan <<-END
		version: 1
		target: $mnt
		runtime: 200ms
		ramp_time: 0
		tests:
		  - name: t
		    rw: randread
		    filename: sparse
		    expect: ["read.iops >= 1", "errors == 0"]
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 99
	holds '.tests[0].expect | map(.result) == ["not-judged", "pass"]'
	holds '.tests[0].concessions | any(test("holes"))'
	[ "$(stat -c %b "$mnt/sparse")" = 0 ]
}
