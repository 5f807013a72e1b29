#!/usr/bin/env bats
# Every kind of place, every direction, every engine.

load lib

every_way() { # DIRECTORY OR DEVICE [LINE OF THE PLAN]
	plan <<-END
		version: 1
		target: $1
		size: 64MiB
		ramp_time: 0
		runtime: 200ms
		${2:-}
		tests:
		  - {name: t, rw: [randread, randwrite, read, write, randrw], bs: 4KiB, iodepth: 8,
		     ioengine: [auto, io_uring, libaio, psync]}
	END
	measure
	valid "$T/result.json"
	holds '.tests | length == 20'
	holds 'all(.tests[]; .status == "ok")'
	holds 'all(.tests[] | select(.rw == "randread" or .rw == "read"); .read.ios > 0)'
	holds 'all(.tests[] | select(.rw == "randwrite" or .rw == "write"); .write.ios > 0)'
	holds 'all(.tests[] | select(.rw == "randrw"); .read.ios > 0 and .write.ios > 0)'
	holds 'all(.tests[]; .size == 67108864)'
	holds 'all(.tests[] | select(.name | endswith("-psync")); .ioengine == "psync")'
	holds 'all(.tests[] | select(.name | endswith("-libaio")); .ioengine == "libaio")'
	holds 'all(.tests[] | select(.name | endswith("-io_uring")); .ioengine == "io_uring")'
	holds 'all(.tests[] | .read, .write | select(. and .ios > 0);
	       .bytes == .ios * 4096 and .lat_ns.min > 0 and .lat_ns.min <= .lat_ns.mean and
	       .lat_ns.mean <= .lat_ns.max)'
	holds 'all(.tests[]; (.errors | length) == 0)'
}

direct() { # true|false: so it was in every test
	holds "all(.tests[]; .direct == $1)"
}

@test "ext4 on a loop device" {
	loop_fs ext4
	every_way "$mnt"
	direct true
	holds '.conditions.fs == "ext4"'
	holds 'all(.tests[] | select(.name | endswith("-auto")); .ioengine == "io_uring")'
	empty "$mnt"
}

@test "xfs on a loop device" {
	loop_fs xfs
	every_way "$mnt"
	direct true
	holds '.conditions.fs == "xfs"'
	empty "$mnt"
}

@test "btrfs on a loop device" {
	loop_fs btrfs
	every_way "$mnt"
	direct true
	holds '.conditions.fs == "btrfs"'
	empty "$mnt"
}

@test "tmpfs: auto takes psync where the kernel would use worker threads" {
	tmpfs
	every_way "$mnt"
	holds '.conditions.fs == "tmpfs"'
	if ! nowait "$mnt"; then
		holds 'all(.tests[] | select(.name | endswith("-auto")); .ioengine == "psync")'
	fi
	empty "$mnt"
}

nowait() { # DIRECTORY: its files can be read without blocking
	"$PYTHON" - "$1/probe" <<-'END'
		import os, sys
		fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
		os.unlink(sys.argv[1])
		os.write(fd, bytes(4096))
		try:
		    os.preadv(fd, [bytearray(4096)], 0, os.RWF_NOWAIT)
		except BlockingIOError:
		    pass
		except OSError:
		    sys.exit(1)
	END
}

@test "FUSE" {
	faultfs
	every_way "$mnt"
	direct true
	holds '.conditions.fs | startswith("fuse")'
	empty "$mnt"
}

@test "the machine's own disk, buffered" {
	dir=$(directory)
	every_way "$dir" "direct: false"
	direct false
	empty "$dir"
}

@test "a block device" {
	loop_device 66M
	every_way "$loop" "destroy: true"
	direct true
	holds "all(.tests[]; .target == \"$loop\")"
}

@test "a block device without destroy is refused and untouched" {
	loop_device 64M
	head -c 64M /dev/urandom >"$loop"
	sync "$loop"
	before=$(sha256sum <"$loop")
	plan <<-END
		version: 1
		target: $loop
		runtime: 1s
		tests: [{name: w, rw: randwrite, bs: 4KiB}]
	END
	pvcbench run "$T/plan.yaml"
	exits 4
	says "destroy"
	same "$(sha256sum <"$loop")" "$before"
}

@test "a block device that is mounted is refused even with destroy" {
	loop_fs ext4 64M
	plan <<-END
		version: 1
		target: $loop
		destroy: true
		runtime: 1s
		tests: [{name: w, rw: randwrite, bs: 4KiB}]
	END
	pvcbench run "$T/plan.yaml"
	exits 4
	says "$loop"
}

# What the kernel counts for the device agrees with the result.
sectors() { # COLUMN OF /sys/block/*/stat: bytes
	local stat
	read -ra stat <"/sys/block/$(basename "$loop")/stat"
	echo $((stat[$1 - 1] * 512))
}

@test "the device has seen what the result says" {
	loop_fs ext4
	for engine in io_uring libaio psync; do
		plan <<-END
			version: 1
			target: $mnt
			size: 16MiB
			bs: 16KiB
			iodepth: 8
			direct: true
			io_size: 40MiB
			ioengine: $engine
			tests: [{name: t, rw: [randread, randwrite]}]
		END
		sync -f "$mnt"
		reads=$(sectors 3) writes=$(sectors 7)
		measure
		sync -f "$mnt"
		# 40 MiB; of writes 16 MiB of layout and some of the file system's own as well
		within $(($(sectors 3) - reads)) 41943040 $((41943040 + 1048576))
		within $(($(sectors 7) - writes)) 58720256 $((58720256 + 8388608))
		holds '.tests[0].read.bytes == 41943040 and .tests[1].write.bytes == 41943040'
	done
}

@test "several targets make one test each" {
	loop_fs ext4
	other=$(directory)
	plan <<-END
		version: 1
		target: [$mnt, $other]
		size: 16MiB
		ramp_time: 0
		runtime: 200ms
		tests: [{name: r, rw: randread, bs: 4KiB}]
	END
	measure
	same "$(get '[.tests[].name] | join(" ")')" "r-mnt r-dir"
	same "$(get '[.tests[].target] | join(" ")')" "$mnt $other"
	empty "$mnt"
	empty "$other"
}

@test "files that were there stay, byte for byte" {
	dir=$(directory)
	head -c 1M /dev/urandom >"$dir/data.0"
	mkdir "$dir/pvcbench-old"
	echo mine >"$dir/pvcbench-old/data.0"
	before=$(cd "$dir" && find . -type f -exec sha256sum {} + | sort)
	plan <<-END
		version: 1
		target: $dir
		size: 16MiB
		ramp_time: 0
		runtime: 200ms
		tests: [{name: w, rw: [write, randwrite], bs: 4KiB}]
	END
	measure
	same "$(cd "$dir" && find . -type f -exec sha256sum {} + | sort)" "$before"
}
