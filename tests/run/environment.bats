#!/usr/bin/env bats
# Pods as they are: no privilege, nothing writable, volumes too small or not there.
# Each: one clear line, the right exit status, nothing left behind.

load lib

simple() { # TARGET [KEYS]
	plan <<-END
		version: 1
		target: $1
		size: 16MiB
		ramp_time: 0
		runtime: 200ms
		tests: [{name: t, rw: randread, bs: 4KiB${2:+, $2}}]
	END
}

# The binary where every user may read it
for_everyone() {
	cp "$pvcbench" "$T/pvcbench"
	chmod 755 "$T/pvcbench"
	pvcbench=$T/pvcbench
}

as_nonroot() {
	need_root
	need setpriv
	for_everyone
	WRAP=(setpriv --reuid=65532 --regid=65532 --clear-groups --inh-caps=-all --bounding-set=-all
		--no-new-privs)
}

# One line of error, no more
one_line() {
	grep -v '^$' "$T/err" >"$T/errors" || true
	same "$(wc -l <"$T/errors")" 1
}

@test "as uid 65532 in a container: read-only root, no /tmp, nothing but the volume" {
	need_root
	need unshare chroot
	for_everyone
	dir=$(directory)
	chown 65532:65532 "$dir"
	simple /data
	mkdir "$T/root"
	WRAP=(unshare -m --propagation private bash -ec "
		cd '$T'
		mount -t tmpfs tmpfs root
		mkdir root/{usr,lib,lib64,proc,sys,dev,data,etc,etc/pvcbench}
		for d in usr lib lib64; do mount --bind /\$d root/\$d; done
		mount -t proc -o ro proc root/proc
		mount -t sysfs -o ro sysfs root/sys
		mount --bind '$dir' root/data
		cp plan.yaml root/etc/pvcbench/plan.yaml
		cp pvcbench root/pvcbench
		chmod 755 root
		mount -o remount,ro root
		shift
		exec chroot --userspec=65532:65532 root /pvcbench \"\$@\"" -)
	pvcbench
	exits 0
	says "Dbench Summary|IOPS"
	grep -q '^pvcbench-result: ' "$T/out"
	empty "$dir"
	pvcbench doctor /data
	exits 0
}

@test "bubblewrap: the same without root" {
	need bwrap
	dir=$(directory)
	simple /data
	WRAP=(bwrap --unshare-user --uid 65532 --gid 65532 --unshare-pid --ro-bind /usr /usr
		--symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --bind "$dir" /data
		--ro-bind "$pvcbench" /pvcbench --ro-bind "$T/plan.yaml" /plan.yaml --remount-ro /)
	"${WRAP[@]}" /pvcbench version || skip "bubblewrap is not permitted"
	pvcbench=/pvcbench
	pvcbench run /plan.yaml
	exits 0
	empty "$dir"
}

@test "a directory owned by root, run as uid 65532: exit 3, says fsGroup" {
	as_nonroot
	dir=$(directory)
	chmod 755 "$dir"
	simple "$dir"
	pvcbench run "$T/plan.yaml"
	exits 3
	says "$dir"
	says "65532"
	says fsGroup
	one_line
	empty "$dir"
}

@test "a directory of ours, run as uid 65532" {
	as_nonroot
	dir=$(directory)
	chown 65532 "$dir"
	simple "$dir"
	pvcbench run "$T/plan.yaml"
	exits 0
	empty "$dir"
}

@test "a missing target: exit 3" {
	simple "$T/nowhere"
	pvcbench run "$T/plan.yaml"
	exits 3
	says "$T/nowhere"
	says "[Nn]o such file"
	one_line
}

@test "a target that is a plain file: exit 3" {
	echo mine >"$T/file"
	simple "$T/file"
	pvcbench run "$T/plan.yaml"
	exits 3
	says "$T/file"
	same "$(cat "$T/file")" mine
}

@test "a read-only mount: exit 3" {
	loop_fs ext4 64M
	mount -o remount,ro "$mnt"
	simple "$mnt"
	pvcbench run "$T/plan.yaml"
	exits 3
	says "$mnt"
	says "[Rr]ead-only"
	one_line
}

@test "one bad target among good ones: nothing is run" {
	dir=$(directory)
	plan <<-END
		version: 1
		size: 16MiB
		ramp_time: 0
		runtime: 200ms
		tests:
		  - {name: a, target: $dir, rw: randread, bs: 4KiB}
		  - {name: b, target: $T/nowhere, rw: randread, bs: 4KiB}
	END
	pvcbench run "$T/plan.yaml"
	exits 3
	says "$T/nowhere"
	empty "$dir"
}

@test "900 MiB and the cce plan: the size shrinks, and it says so" {
	loop_fs ext4 900M
	LIMIT=120
	pvcbench run cce --target "$mnt" --set runtime=200ms --set ramp_time=0 \
		--out "$T/result.json"
	exits 0
	holds '.tests | length == 9'
	holds 'all(.tests[]; .size_asked == 10737418240)'
	holds 'all(.tests[]; .size < 943718400 and .size > 400000000)'
	holds 'all(.tests[]; .concessions | length > 0)'
	says "10 ?GiB"
	same "$(dbench_block)" 4
	valid "$T/result.json"
	empty "$mnt"
}

@test "what stays free: 5 %, at least 64 MiB" {
	loop_fs xfs 500M
	plan <<-END
		version: 1
		target: $mnt
		size: 10GiB
		ramp_time: 0
		runtime: 2s
		tests: [{name: t, rw: randread, bs: 4KiB}]
	END
	start run "$T/plan.yaml" --out "$T/result.json"
	least=$(avail)
	while kill -0 "$pid" 2>/dev/null; do
		now=$(avail)
		((now > least)) || least=$now
		sleep 0.1
	done
	ends 5
	exits 0
	within "$least" $((60 * 1048576)) $((200 * 1048576))
	empty "$mnt"
}

avail() {
	df --output=avail -B1 "$mnt" | tail -1
}

@test "a volume with no room at all: exit 3" {
	loop_fs ext4 64M
	dd if=/dev/zero of="$mnt/filler" bs=1M status=none || true
	simple "$mnt"
	pvcbench run "$T/plan.yaml"
	exits 3
	says "$mnt"
	says "space|free|room"
	same "$(ls "$mnt")" filler
}

@test "the volume fills up under us: the test fails, nothing is left" {
	loop_fs ext4 300M
	plan <<-END
		version: 1
		target: $mnt
		ramp_time: 0
		tests:
		  - {name: a, rw: randread, bs: 4KiB, size: 16MiB, runtime: 1s}
		  - {name: b, rw: write, bs: 1MiB, size: 150MiB, layout: none, loops: 1}
	END
	start run "$T/plan.yaml"
	await 10 grep -q 'a' "$T/out"
	dd if=/dev/zero of="$mnt/filler" bs=1M count=230 status=none || true
	ends 30
	[ "$status" = 1 ] || exits 3
	says "[Nn]o space|ENOSPC"
	grep -q '^pvcbench-result: .*"name": *"a"' "$T/out"
	same "$(ls "$mnt")" filler
}

@test "a file size limit (RLIMIT_FSIZE): a smaller file, and it says so" {
	dir=$(directory)
	simple "$dir"
	WRAP=(prlimit --fsize=8388608)
	pvcbench run "$T/plan.yaml"
	exits 0
	says "size shrunk from 16MiB to 8MiB: a file can have 8MiB at most .*RLIMIT_FSIZE"
	pvcbench run "$T/plan.yaml" --set strict=true
	exits 3
	empty "$dir"
}

@test "few descriptors (RLIMIT_NOFILE): another engine, and it says so" {
	dir=$(directory)
	simple "$dir" "numjobs: 8, iodepth: 4, file_per_job: true, size: 2MiB"
	WRAP=(prlimit --nofile=20:20)
	pvcbench run "$T/plan.yaml"
	exits 0
	says "concession: io_uring refused: .*RLIMIT_NOFILE"
	empty "$dir"
}

@test "too few descriptors for the files: exit 3, in words" {
	dir=$(directory)
	simple "$dir" "numjobs: 32, file_per_job: true, size: 1MiB"
	WRAP=(prlimit --nofile=20:20)
	pvcbench run "$T/plan.yaml"
	exits 3
	says "RLIMIT_NOFILE"
	empty "$dir"
}

@test "stacks of 64 KiB (RLIMIT_STACK): measured, judged and removed like anywhere" {
	dir=$(directory)
	simple "$dir" "runtime: 10s, limits_probe: true"
	WRAP=(prlimit --stack=65536:65536)
	measure
	holds '.tests[0] | .status == "ok" and .limits_probe.iodepth > 0'
	empty "$dir"
	start run "$T/plan.yaml"
	await 20 grep -q "^\[1/1\]" "$T/out"
	kill -TERM "$pid"
	ends 10
	exits 143
	empty "$dir"
}

@test "an object store, by its type: no file is sized by the free space it states" {
	FAULTFS_OPTIONS=subtype=s3fs
	faultfs
	simple "$mnt" "size: 50%"
	pvcbench check "$T/plan.yaml"
	exits 0
	says "concession: size 50% of the free space taken as 1GiB: an object store"
}

@test "two jobs of 2 GiB on 3 GiB (a tenth of it): both shrink, neither is short" {
	loop_fs ext4 300M
	plan <<-END
		version: 1
		target: $mnt
		ramp_time: 0
		runtime: 200ms
		tests: [{name: t, rw: randread, size: 200MiB, numjobs: 2, file_per_job: true}]
	END
	start run "$T/plan.yaml" --out "$T/result.json"
	await 30 has_files 2
	ends 30
	exits 0
	holds '.tests[0] | .size_asked == 209715200 and .size < 150e6 and .size > 80e6'
	says "concession: size shrunk from 200MiB"
	empty "$mnt"
}

has_files() { # N
	[ "$(find "$mnt" -name 'data.*' | wc -l)" -ge "$1" ]
}

@test "a volume without a capacity: no file is sized by its free space" {
	faultfs
	simple "$mnt" "size: 50%"
	for bytes in 0 1152921504606846976 18446744073709547520; do
		rules "statfs space $bytes"
		pvcbench check "$T/plan.yaml"
		exits 0
		says "size 1GiB"
		says "concession: size 50% of the free space taken as 1GiB"
	done
	pvcbench check "$T/plan.yaml" --set strict=true
	exits 3
	# what is asked for in bytes is taken as it is
	pvcbench check "$T/plan.yaml" --set size=2GiB
	says "size 2GiB"
	never_says concession
}

@test "no memory to lock (RLIMIT_MEMLOCK): io_uring works without registered buffers" {
	as_nonroot
	dir=$(directory)
	chown 65532 "$dir"
	simple "$dir" "ioengine: io_uring, iodepth: 32"
	WRAP=(prlimit --memlock=65536:65536 "${WRAP[@]}")
	pvcbench run "$T/plan.yaml"
	exits 0
}

# A new control group below ours with this much memory; sets $group. WRAP runs what follows in it.
memory_group() { # BYTES
	need_root
	local v1 v2 limit=memory.max
	v1=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
	v2=$(sed -n 's/^0:://p' /proc/self/cgroup)
	group=/sys/fs/cgroup/memory${v1%/}/pvcbench-$$
	if [ -z "$v1" ]; then
		group=/sys/fs/cgroup${v2%/}/pvcbench-$$
	else
		limit=memory.limit_in_bytes
	fi
	mkdir "$group" 2>/dev/null || skip "cannot make a control group"
	undo "rmdir $group"
	echo "$1" 2>/dev/null >"$group/$limit" || skip "cannot limit its memory"
	WRAP=(sh -c "echo \$\$ >$group/cgroup.procs; exec \"\$@\"" -)
}

oom_kills() {
	cat "$group/memory.events" "$group/memory.oom_control" 2>/dev/null |
		awk '$1 == "oom_kill" { print $2 }'
}

@test "64 MiB of memory, depth 256 x 1 MiB x 8 jobs: the depth is lowered, nobody is killed" {
	memory_group $((64 << 20))
	dir=$(directory)
	plan <<-END
		version: 1
		target: $dir
		size: 64MiB
		ramp_time: 0
		runtime: 500ms
		numjobs: 8
		iodepth: 256
		bs: 1MiB
		tests:
		  - {name: read, rw: randread}
		  - {name: write, rw: randwrite}
		  - {name: threads, rw: randread, ioengine: psync}
		  - {name: buffered, rw: write, direct: false, size: 32MiB, offset_increment: 32MiB}
	END
	measure
	holds 'all(.tests[]; .status == "ok" and .iodepth < 8)'
	says "concession: iodepth lowered from 256 to"
	same "$(oom_kills)" 0
	holds '.run.peak_rss_bytes | . > 1e6 and . < 67108864'
	says "memory 64MiB by a limit .*, of which pvcbench took [0-9.]*MiB at most"
	empty "$dir"
}

@test "the container's own file system is refused without an explicit word" {
	need_root
	need unshare chroot
	for_everyone
	simple /
	sed -i '/^container_fs:/d' "$T/plan.yaml"
	mkdir "$T/root"
	WRAP=(unshare -m --propagation private bash -ec "
		cd '$T'
		mount -t tmpfs -o size=100m tmpfs root
		mkdir root/{usr,lib,lib64,proc,sys,etc,etc/pvcbench}
		for d in usr lib lib64; do mount --bind /\$d root/\$d; done
		mount -t proc -o ro proc root/proc
		cp plan.yaml root/etc/pvcbench/plan.yaml
		cp pvcbench root/pvcbench
		shift
		exec chroot root /pvcbench \"\$@\"" -)
	pvcbench
	exits 4
	says "destroy|root file system|container"
}

typo() { # STATUS REGEX: of the plan just written
	pvcbench run "$T/plan.yaml"
	exits 2
	says "plan.yaml:$1"
	one_line
}

@test "a plan with a typo names line, column and the key that was meant" {
	plan <<-END
		version: 1
		target: $T/dir
		tests:
		  - name: t
		    rw: randread
		    iodepht: 4
	END
	directory
	typo "6:5"
	says iodepht
	says "iodepth"
	empty "$T/dir"
}

@test "a plan with a wrong value says what is allowed" {
	plan <<-END
		version: 1
		target: /data
		tests:
		  - {name: t, rw: randrade, bs: 4KiB}
	END
	typo "4:19"
	says randread
}

@test "a plan that is not YAML" {
	printf 'tests: [\n  {name: "t\n' >"$T/plan.yaml"
	typo "[0-9]+"
}

@test "a plan that is not there" {
	pvcbench run "$T/none.yaml"
	exits 2
	says "none.yaml"
	one_line
}

@test "a plan by stdin and one by --set" {
	dir=$(directory)
	simple "$dir"
	status=0
	"$pvcbench" run - --set tests.t.bs=8KiB --out "$T/result.json" \
		<"$T/plan.yaml" >"$T/out" 2>"$T/err" || status=$?
	exits 0
	holds '.tests[0].bs == 8192'
	pvcbench run "$T/plan.yaml" --set "rw=[randread,read]" --set nokey=1
	exits 2
	says nokey
}

@test "an --out that cannot be written is told before anything is measured" {
	dir=$(directory)
	simple "$dir"
	pvcbench run "$T/plan.yaml" --out "$T/nowhere/result.json"
	[ "$status" != 0 ]
	says "nowhere/result.json"
	empty "$dir"
}

@test "stdout that is closed early does not leave files behind" {
	dir=$(directory)
	simple "$dir" "runtime: 1s"
	"$pvcbench" run "$T/plan.yaml" 2>"$T/err" | head -1 >"$T/out" || true
	empty "$dir"
}

@test "a full disk under stdout is noticed" {
	[ -c /dev/full ] || skip "no /dev/full"
	dir=$(directory)
	simple "$dir"
	status=0
	"$pvcbench" run "$T/plan.yaml" >/dev/full 2>"$T/err" || status=$?
	[ "$status" != 0 ]
	empty "$dir"
}

@test "a volume that is mounted read-only serves a test that only reads a file of it" {
	loop_fs ext4
	dd if=/dev/urandom of="$mnt/big" bs=1M count=16 status=none
	mount -o remount,ro "$mnt"
	plan <<-END
		version: 1
		target: $mnt
		tests: [{name: t, rw: randread, filename: big, runtime: 200ms, ramp_time: 0}]
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 0
	holds '.tests[0].read.ios > 0'
}

@test "a user's file that is allocated and was never written: read as it is, and that is said" {
	loop_fs ext4
	fallocate -l 16M "$mnt/sparse"
	plan <<-END
		version: 1
		target: $mnt
		tests: [{name: t, rw: randread, filename: sparse, runtime: 200ms, ramp_time: 0}]
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 0
	says "concession: the file has holes"
	pvcbench run "$T/plan.yaml" --set strict=true
	exits 3
}

@test "a file that is a link, or leads out of the volume, is refused: exit 4" {
	mnt=$(directory)
	echo keep >"$T/keep"
	ln -s "$T/keep" "$mnt/link"
	ln -s "$T" "$mnt/sub"
	for name in link ../keep sub/keep; do
		plan <<-END
			version: 1
			target: $mnt
			tests: [{name: t, rw: randwrite, bs: 512, filename: $name, destroy: true}]
		END
		pvcbench run "$T/plan.yaml"
		exits 4
		one_line
	done
	[ "$(cat "$T/keep")" = keep ]
}

@test "tests with other numbers of files share the volume one after the other" {
	loop_fs ext4 200M
	plan <<-END
		version: 1
		target: $mnt
		size: 1GiB
		runtime: 100ms
		ramp_time: 0
		tests:
		  - {name: one, rw: randread}
		  - {name: four, rw: randread, numjobs: 4, file_per_job: true}
		  - {name: again, rw: randread}
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 0
	holds '.tests[0].size == .tests[2].size'
	holds '.tests[1].size * 4 > .tests[0].size * 9 / 10'
	empty "$mnt"
}
