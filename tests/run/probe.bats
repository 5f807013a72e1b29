#!/usr/bin/env bats
# kind: probe, which asks for one block after the other and tells each.

load lib

@test "a probe tells each request, and what they come to" {
	faultfs
	plan <<-END
		target: $mnt
		size: 1MiB
		iodepth: 8
		tests: [{name: ping, kind: probe, rw: randread, requests: 4, interval: 500ms}]
	END
	rules "read delay 20"
	measure
	says '^\[1/1\] ping: randread 4KiB depth 1 x 1 job, 4 requests$'
	same "$(grep -Ec '^\[1/1\] ping: request [1-4]: [0-9.]+ms$' "$T/out")" 4
	says '^\[1/1\] ping: read 4 requests: min [^,]*, mean [^,]*, max [^,]*, stddev '
	holds '.tests[0] | .kind == "probe" and .read.ios == 4 and .read.lat_ns.min > 15e6'
	holds '.tests[0] | .iodepth == 1 and .thinktime_ns == 500000000'
	valid "$T/result.json"
}

@test "requests of a probe never meet" {
	faultfs
	plan <<-END
		target: $mnt
		size: 1MiB
		direct: false
		tests: [{name: ping, kind: probe, rw: randwrite, runtime: 1s, interval: 10ms}]
	END
	measure
	same "$(outstanding write 4096)" 1
	holds '.tests[0].write.ios > 20'
	never_says 'ping: requests? [0-9]+' # pauses as short as these are told in sum
}

@test "an existing file is probed read-only and stays as it is" {
	directory >/dev/null
	head -c 1048576 /dev/urandom >"$T/dir/theirs"
	sha256sum "$T/dir/theirs" >"$T/before"
	plan <<-END
		target: $T/dir
		tests: [{name: ping, kind: probe, rw: randread, filename: theirs, requests: 3,
		  interval: 100ms}]
	END
	measure
	holds '.tests[0].read.ios == 3'
	sha256sum -c --quiet "$T/before"
	same "$(ls "$T/dir")" theirs
}

# of 21 requests, in ms
ioping_median() { # FILE
	ioping -D -c 21 -i 1ms -s 4k -S 1m "$1" |
		sed -n 's/.*time=\([0-9.]*\) ms.*/\1/p' | sort -n | sed -n 11p
}

@test "a probe and ioping say the same" {
	need ioping
	faultfs
	head -c 1048576 /dev/urandom >"$mnt/file"
	plan <<-END
		target: $mnt
		tests: [{name: ping, kind: probe, rw: randread, filename: file, requests: 21,
		  interval: 1ms}]
	END
	rules "read delay 40"
	local theirs
	theirs=$(ioping_median "$mnt/file")
	measure
	within "$(get ".tests[0].read.lat_ns.p50 / 1e6 / $theirs")" 0.95 1.05
}
