#!/usr/bin/env bats
# Which engine carries the I/O, and what happens where one is refused.

load lib

# One test of 4 KiB reads at depth 8 on a loop file system, or where $mnt is.
reads() { # ENGINE [KEYS]
	[ "$mnt" ] || loop_fs ext4
	plan <<-END
		version: 1
		target: $mnt
		size: 16MiB
		ramp_time: 0
		runtime: 300ms
		tests:
		  - {name: t, rw: randread, bs: 4KiB, iodepth: 8, ioengine: $1, ${2:-direct: true}}
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
}

refused() { # SYSCALL=ERRNO...
	need_tool refuse
	WRAP=("$tools/refuse" "$@" --)
}

# auto falls back to ENGINE, and the reason names what was refused
falls_back() { # ENGINE REASON
	reads auto
	exits 0
	holds ".tests[0] | .ioengine == \"$1\" and .read.ios > 0 and .direct"
	holds ".tests[0].ioengine_reason | test(\"$2\"; \"i\")"
	says "$1"
	valid "$T/result.json"
	empty "$mnt"
}

# so many system calls of this name were made (strace -c counts only those listed)
calls() { # NAME
	grep -c "[ (]$1(" "$T/trace" || true
}

carried() { # ENGINE
	need_strace
	[ "$mnt" ] || loop_fs ext4
	WRAP=(strace -f -s 8 -o "$T/trace"
		-e "trace=io_uring_enter,io_submit,pread64,preadv2,preadv,read,pwrite64")
	reads "$1"
	exits 0
	ios=$(get '.tests[0].read.ios')
	within "$ios" 10 1e9
}

@test "io_uring: io_uring_enter carries the requests" {
	carried io_uring
	within "$(calls io_uring_enter)" $((ios / 8)) $((ios * 3))
	same "$(calls io_submit)" 0
	within "$(calls 'preadv?(64|2)?')" 0 20
}

@test "libaio: io_submit carries the requests" {
	carried libaio
	within "$(calls io_submit)" $((ios / 8)) $((ios * 2))
	same "$(calls io_uring_enter)" 0
}

# the most requests that one call gave to the kernel, of the thread that made the last such call
largest_call() { # NAME
	local thread
	thread=$(grep "[ (]$1(" "$T/trace" | tail -1)
	grep "^${thread%% *} " "$T/trace" |
		sed -En "s/.*[ (]$1\\([^,]+, ([0-9]+),.*/\\1/p" | sort -n | tail -1
}

@test "a call hands over a few requests, so that the device need not wait for all of them" {
	faultfs
	# long beside a call under strace: what is answered within it is another case, below
	rules "read delay 30"
	carried io_uring
	within "$(largest_call io_uring_enter)" 2 4
	carried libaio
	within "$(largest_call io_submit)" 2 4
}

# reads of 1 MiB, which memory answers once each block was read
from_memory() { # ENGINE
	need_strace
	[ "$mnt" ] || loop_fs ext4
	WRAP=(strace -f -s 8 -o "$T/trace" -e "trace=io_uring_enter,io_submit,io_getevents")
	reads "$1" "direct: false, size: 1MiB"
	exits 0
}

@test "where memory answers within the call, one call carries all" {
	from_memory io_uring
	same "$(largest_call io_uring_enter)" 8
	within "$(calls io_uring_enter)" 1 $(($(get '.tests[0].read.ios') / 4))
	from_memory libaio
	same "$(largest_call io_submit)" 8
	within "$(calls io_getevents)" 0 50
}

@test "psync: pread64 carries the requests" {
	carried psync
	reads=$(grep -Ec '[ (]pread(64|v|v2)\(' "$T/trace")
	within "$reads" "$ios" $((ios + 50))
	same "$(calls io_uring_enter)" 0
	same "$(calls io_submit)" 0
}

@test "auto with everything allowed takes io_uring on a loop file system" {
	mnt=
	reads auto
	exits 0
	holds '.tests[0] | .ioengine == "io_uring" and (.ioengine_reason | length) > 0'
}

for_errno() { # ERRNO
	mnt=
	refused "io_uring_setup=$1"
	falls_back libaio "io_uring"
	holds '.tests[0].concessions | length >= 0'
}

@test "io_uring refused with EPERM" {
	for_errno EPERM
}

@test "io_uring refused with ENOSYS" {
	for_errno ENOSYS
}

@test "io_uring refused with ENOMEM" {
	for_errno ENOMEM
}

@test "io_uring refused with EAGAIN" {
	for_errno EAGAIN
}

@test "io_uring refused with EACCES" {
	for_errno EACCES
}

@test "io_uring refused with EINVAL" {
	for_errno EINVAL
}

@test "io_uring may be set up but not entered" {
	mnt=
	refused io_uring_enter=EPERM
	falls_back libaio io_uring
}

@test "io_uring cannot register buffers" {
	mnt=
	refused io_uring_register=ENOMEM
	reads io_uring
	exits 0
	holds '.tests[0] | .ioengine == "io_uring" and .read.ios > 0'
}

# io_uring measures all the same on a kernel WITHOUT; its set-up calls are then in $T/trace.
measures_without() { # NAME...
	need_strace
	need_tool without.so
	[ "$mnt" ] || loop_fs ext4
	WRAP=(strace -f -o "$T/trace" -e "trace=io_uring_setup,io_uring_register,ppoll"
		-E "LD_PRELOAD=$tools/without.so" -E "WITHOUT=$*")
	reads io_uring "direct: true, verify: crc32c"
	exits 0
	holds '.tests[0] | .ioengine == "io_uring" and .read.ios > 0'
}

tried() { # TEXT
	grep -q -e "$1" "$T/trace"
}

not_tried() { # TEXT
	same "$(grep -c -e "$1" "$T/trace")" 0
}

@test "io_uring: each way to set it up is tried, and done without" {
	measures_without nothing
	tried 'DEFER_TASKRUN\|flags=0x3000' # strace may not know them
	tried REGISTER_RING_FDS
	measures_without single_issuer
	not_tried 'DEFER_TASKRUN\|flags=0x'
	tried COOP_TASKRUN
	measures_without defer_taskrun coop_taskrun
	tried 'flags=0,'
	measures_without files
	not_tried REGISTER_FILES
	measures_without buffers
	not_tried REGISTER_BUFFERS
	measures_without ring_fd
	not_tried REGISTER_RING_FDS
	measures_without single_issuer coop_taskrun files buffers ring_fd ext_arg
	tried ppoll
}

@test "io_uring and libaio refused: psync" {
	mnt=
	refused io_uring_setup=ENOSYS io_setup=ENOSYS
	falls_back psync "io_uring.*libaio|libaio.*io_uring"
}

@test "libaio has no context left (EAGAIN): psync" {
	mnt=
	refused io_uring_setup=EPERM io_setup=EAGAIN
	falls_back psync libaio
}

@test "io_submit refused: psync" {
	mnt=
	refused io_uring_setup=EPERM io_submit=EPERM
	falls_back psync libaio
}

demanded() { # ENGINE SYSCALL
	mnt=
	refused "$2=EPERM"
	reads "$1"
	exits 3
	says "$1"
	says "not permitted|EPERM|seccomp"
	empty "$mnt"
}

@test "io_uring demanded but refused is exit 3" {
	demanded io_uring io_uring_setup
}

@test "libaio demanded but refused is exit 3" {
	demanded libaio io_setup
}

@test "strict turns the fallback into exit 3" {
	mnt=
	refused io_uring_setup=EPERM
	reads auto "strict: true"
	exits 3
	says strict
	empty "$mnt"
}

@test "a test that is refused does not keep the others from running" {
	loop_fs ext4
	refused io_uring_setup=EPERM
	plan <<-END
		version: 1
		target: $mnt
		size: 16MiB
		ramp_time: 0
		runtime: 200ms
		tests:
		  - {name: a, rw: randread, bs: 4KiB}
		  - {name: b, rw: randread, bs: 4KiB, ioengine: io_uring}
		  - {name: c, rw: randread, bs: 4KiB}
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 3
	if [ -s "$T/result.json" ]; then
		holds '[.tests[] | select(.status == "ok").name] == ["a", "c"]'
	else
		says 'b'
	fi
	empty "$mnt"
}

@test "clone3 answered by EPERM: threads start all the same" {
	mnt=
	refused clone3=EPERM
	reads psync
	exits 0
	holds '.tests[0] | .ioengine == "psync" and .read.ios > 0'
}

@test "statx unknown: the alignment is found otherwise" {
	mnt=
	refused statx=ENOSYS
	reads auto
	exits 0
	holds '.tests[0] | .direct and .read.ios > 0'
}

@test "an old container runtime: all of these at once" {
	mnt=
	refused io_uring_setup=EPERM io_uring_enter=EPERM io_uring_register=EPERM statx=EPERM \
		clone3=EPERM preadv2=EPERM pwritev2=EPERM
	reads auto
	exits 0
	holds '.tests[0] | .read.ios > 0 and .direct'
	empty "$mnt"
}

@test "O_DIRECT refused at open: buffered, and said" {
	faultfs
	rules "open err EINVAL direct=1" "create err EINVAL direct=1"
	reads auto "direct: auto"
	exits 0
	holds '.tests[0] | .direct == false and (.direct_reason | length) > 0 and .read.ios > 0'
	says "O_DIRECT|direct|buffered"
	empty "$mnt"
}

@test "O_DIRECT refused at open after the file was made: nothing stays" {
	faultfs
	rules "create late EINVAL direct=1" "open err EINVAL direct=1"
	reads auto "direct: auto"
	exits 0
	holds '.tests[0] | .direct == false'
	empty "$mnt"
}

@test "O_DIRECT refused at the first request: buffered, and said" {
	faultfs
	rules "read err EINVAL direct=1" "write err EINVAL direct=1"
	reads auto "direct: auto"
	exits 0
	holds '.tests[0] | .direct == false and (.direct_reason | length) > 0 and .read.ios > 0'
	empty "$mnt"
}

@test "direct: true where O_DIRECT is refused is exit 3" {
	faultfs
	rules "open err EINVAL direct=1" "create err EINVAL direct=1"
	reads auto "direct: true"
	exits 3
	says "direct"
	empty "$mnt"
	rules "read err EINVAL direct=1" "write err EINVAL direct=1"
	reads auto "direct: true"
	exits 3
	says "direct"
	empty "$mnt"
}

@test "direct: false is not O_DIRECT" {
	faultfs
	reads psync "direct: false"
	exits 0
	holds '.tests[0].direct == false'
	same "$(awk '$1 == "read" && $7 == 1' "$T/fuse.control/log" | wc -l)" 0
}

@test "a block size below the device's sector falls back to buffered" {
	loop_fs ext4 600M --sector-size=4096
	plan <<-END
		version: 1
		target: $mnt
		size: 16MiB
		ramp_time: 0
		runtime: 200ms
		tests: [{name: t, rw: randread, bs: 512}]
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 0
	holds '.tests[0] | .direct == false and .read.ios > 0 and (.direct_reason | test("4096"))'
	pvcbench run "$T/plan.yaml" --set direct=true
	exits 3
	says "4096"
	empty "$mnt"
}

@test "a 512-byte block where the sector is 512 stays direct" {
	loop_fs ext4 600M
	plan <<-END
		version: 1
		target: $mnt
		size: 16MiB
		ramp_time: 0
		runtime: 200ms
		tests: [{name: t, rw: [randread, randwrite], bs: 512}]
	END
	measure
	holds 'all(.tests[]; .direct)'
}

@test "libaio with many jobs: the time to end their contexts is not the volume's" {
	need_strace
	tmpfs
	WRAP=(strace -f -o "$T/trace" -e trace=io_destroy -e inject=io_destroy:delay_exit=60000)
	plan <<-END
		version: 1
		target: $mnt
		size: 1MiB
		ramp_time: 0
		runtime: 200ms
		answer_time: 2s
		tests: [{name: t, rw: randread, direct: false, numjobs: 48, ioengine: libaio}]
	END
	measure
	within "$(calls io_destroy)" 96 1000
	holds '.tests[0].status == "ok"'
}
