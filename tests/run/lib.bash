# shellcheck shell=bash
# What the files here share. A test works in $T; what it mounts, attaches and
# starts is undone by teardown in the reverse order, whatever became of the test.

repo=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
build=${BUILD:-build}
[[ $build = /* ]] || build=$repo/$build
pvcbench=${PVCBENCH:-$build/pvcbench}
tools=$build/tests
schema=$repo/docs/result.schema.json
PYTHON=/usr/bin/python3

setup() {
	T=$(mktemp -d "${TMPDIR:-/tmp}/pvcbench-run.XXXXXX")
	chmod 755 "$T"
	: >"$T/undo"
}

teardown() {
	tac "$T/undo" | while read -r line; do
		eval "$line"
	done
	rm -rf --one-file-system "$T"
}

undo() { # COMMAND...: at the end of the test
	printf '%s\n' "$*" >>"$T/undo"
}

# --- what a test needs ---

need() { # COMMAND...
	local command
	for command in "$@"; do
		command -v "$command" >/dev/null || skip "no $command"
	done
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

need_loop() {
	need_root
	[ -e /dev/loop-control ] || skip "no loop devices"
}

need_strace() {
	need strace
	strace -o /dev/null true 2>/dev/null || skip "strace is not permitted"
}

need_fuse() {
	if [ ! -r /dev/fuse ] || [ ! -w /dev/fuse ]; then
		skip "no FUSE"
	fi
	need_tool faultfs
}

need_tool() { # NAME: one of our own programs, built on demand
	(
		flock 9
		make -s -C "$repo/tests/run" "BUILD=$build" "$tools/$1" >&2
	) 9>"${TMPDIR:-/tmp}/pvcbench-tests.lock" || skip "cannot build $1"
}

# --- places to measure ---

directory() { # prints a new directory on the machine's own disk
	mkdir "$T/dir"
	echo "$T/dir"
}

# In memory where there is plenty, so that no test waits for the machine's disk.
image() { # SIZE: prints the path of a new file
	local path=$T/image
	if (($(df --output=avail -k /dev/shm 2>/dev/null | tail -1) > 2 << 20)); then
		path=$(mktemp /dev/shm/pvcbench-run.XXXXXX)
	fi
	truncate -s "$1" "$path"
	echo "$path"
}

loop_device() { # [SIZE [LOSETUP OPTION...]]: sets $loop
	need_loop
	local path
	path=$(image "${1:-600M}")
	undo rm -f "$path"
	loop=$(losetup --find --show --direct-io=on "${@:2}" "$path") || skip "no loop device"
	undo losetup --detach "$loop"
}

# TYPE [SIZE [LOSETUP OPTION...]]: a file system on a loop device; sets $loop and $mnt
loop_fs() {
	need "mkfs.$1"
	loop_device "${@:2}"
	mnt=$T/mnt
	mkdir "$mnt"
	case $1 in
	ext4) mkfs.ext4 -q -m 0 -E lazy_itable_init=0,lazy_journal_init=0 "$loop" ;;
	xfs) mkfs.xfs -q -f "$loop" ;;
	btrfs) mkfs.btrfs -q -f "$loop" ;;
	esac
	mount "$loop" "$mnt" || skip "cannot mount $1"
	undo unmount "$mnt"
	rm -rf "$mnt/lost+found"
}

# The kernel lets go of the files of a ring some time after the process has ended.
unmount() { # DIRECTORY
	local try
	for ((try = 0; try < 40; try++)); do
		if umount "$1" 2>/dev/null; then
			return
		fi
		sleep 0.05
	done
	umount "$1"
}

tmpfs() { # [SIZE]: sets $mnt
	need_root
	mnt=$T/mnt
	mkdir "$mnt"
	mount -t tmpfs -o "size=${1:-400M}" tmpfs "$mnt" || skip "cannot mount a tmpfs"
	undo unmount "$mnt"
}

# The file system that fails on command (faultfs.c); sets $mnt. NAME, where a test wants two;
# direct_io: as told in faultfs.c. FAULTFS_OPTIONS: more options of the mount.
faultfs() { # [NAME [direct_io]]
	local name=${1:-fuse} options=max_threads=256${FAULTFS_OPTIONS:+,$FAULTFS_OPTIONS}
	need_fuse
	mnt=$T/$name
	mkdir "$mnt" "$T/$name.backing" "$T/$name.control"
	: >"$T/$name.control/rules"
	[ -z "${2:-}" ] || : >"$T/$name.control/$2"
	[ "$(id -u)" != 0 ] || options+=,allow_other
	"$tools/faultfs" "$T/$name.backing" "$T/$name.control" "$mnt" -f -o "$options" \
		3>&- >"$T/$name.err" 2>&1 &
	undo "faultfs_end $name $!"
	until mountpoint -q "$mnt"; do
		kill -0 $! || skip "cannot mount FUSE"
		sleep 0.02
	done
}

faultfs_end() { # NAME PID: also with requests that hang
	: >"$T/$1.control/rules"
	umount "$T/$1" 2>/dev/null || fusermount3 -qu "$T/$1" || umount -l "$T/$1"
	timeout 5 tail --pid="$2" -f /dev/null || kill -KILL "$2"
}

rules() { # RULE...: of the FUSE file system, replacing those before
	rules_of fuse "$@"
}

rules_of() { # NAME RULE...
	printf '%s\n' "${@:2}" >"$T/$1.control/rules.new"
	mv "$T/$1.control/rules.new" "$T/$1.control/rules"
}

# --- the log of the FUSE file system: OP OFFSET SIZE START_NS END_NS RESULT DIRECT PATH ---

requests() { # OP [SIZE]: these lines, but for those of the claim of a run
	awk -v op="$1" -v size="${2:-}" \
		'$1 == op && (size == "" || $3 == size) && $8 !~ /\/claim$/' \
		"$T/fuse.control/log"
}

count() { # OP [SIZE]
	requests "$@" | wc -l
}

outstanding() { # OP SIZE: how many were under way at once, at most
	requests "$@" | awk '{ print $4, 1; print $5, -1 }' | sort -k1,1n -k2,2n |
		awk '{ n += $2; if (n > max) max = n } END { print max + 0 }'
}

# --- plans, runs, results ---

plan() { # [NAME] <<END: writes $T/plan.yaml
	cat >"$T/${1:-plan.yaml}"
	if on_container_root; then
		echo "container_fs: true" >>"$T/${1:-plan.yaml}"
	fi
}

# Tests in a container work on its own file system, which wants that word.
on_container_root() {
	[ "$(findmnt -n -o TARGET,FSTYPE --target "$T" | tr -s ' ')" = "/ overlay" ]
}

not_on_container_root() { # for tests of what cannot be told that word
	! on_container_root || skip "TMPDIR lies on a container's own file system"
}

# Run it, at most $LIMIT (60) seconds; sets status; output in $T/out, $T/err, all in $T/log.
# WRAP=(COMMAND...) goes before it.
WRAP=()
pvcbench() {
	status=0
	timeout -k 5 "${LIMIT:-60}" "${WRAP[@]}" "$pvcbench" "$@" \
		>"$T/out" 2>"$T/err" </dev/null 3>&- || status=$?
	cat "$T/out" "$T/err" >"$T/log"
}

# Run $T/plan.yaml with the full document in $T/result.json, and expect success.
measure() { # [ARG...]
	pvcbench run "$T/plan.yaml" --out "$T/result.json" "$@"
	exits 0
}

start() { # ARG...: in the background, after WRAP, which must not fork; sets pid
	env --default-signal=INT "${WRAP[@]}" "$pvcbench" "$@" \
		>"$T/out" 2>"$T/err" </dev/null 3>&- &
	pid=$!
	undo "kill -KILL $pid 2>/dev/null"
}

await() { # SECONDS COMMAND...: until it holds
	local end=$((SECONDS + $1))
	until "${@:2}"; do
		if ((SECONDS > end)); then
			show
			echo "waited $1 s in vain for: ${*:2}"
			return 1
		fi
		sleep 0.05
	done
}

ends() { # SECONDS: the one started does, within that time; sets status
	if ! timeout "$1" tail --pid="$pid" -f /dev/null; then
		show
		echo "still running after $1 s"
		return 1
	fi
	status=0
	wait "$pid" || status=$?
	cat "$T/out" "$T/err" >"$T/log"
}

show() { # what was printed, for a failed test
	sed 's/^\(pvcbench-result: .\{0,200\}\).*/\1.../' "$T/out"
	sed 's/^/stderr: /' "$T/err"
}

exits() { # STATUS
	if [ "$status" != "$1" ]; then
		show
		echo "exit status is $status, not $1"
		return 1
	fi
}

says() { # REGEX: in what was printed
	if ! grep -Eq -- "$1" "$T/log"; then
		show
		echo "does not say: $1"
		return 1
	fi
}

never_says() { # REGEX
	if grep -E -- "$1" "$T/log"; then
		echo "says: $1"
		return 1
	fi
}

holds() { # JQ EXPRESSION [FILE]: true of the result
	if ! jq -e "$1" "${2:-$T/result.json}" >/dev/null; then
		jq -c 'del(.. | .histogram?, .series?)' "${2:-$T/result.json}"
		echo "does not hold: $1"
		return 1
	fi
}

get() { # JQ EXPRESSION
	jq -r "$1" "$T/result.json"
}

within() { # VALUE LOW HIGH
	if ! awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x >= low && x <= high) }'; then
		echo "$1 is not within $2 and $3"
		return 1
	fi
}

distinct_blocks() { # FILE: how many different blocks of 4 KiB it has
	"$PYTHON" -c 'import sys
data = open(sys.argv[1], "rb").read()
print(len({data[i:i + 4096] for i in range(0, len(data), 4096)}))' "$1"
}

same() { # GOT WANTED
	if [ "$1" != "$2" ]; then
		echo "got: $1"
		echo "wanted: $2"
		return 1
	fi
}

valid() { # FILE...: by the result's JSON schema
	"$PYTHON" -c 'import jsonschema' || skip "no python3-jsonschema"
	"$PYTHON" - "$schema" "$@" <<-'END'
		import json, sys, jsonschema
		schema = json.load(open(sys.argv[1]))
		check = jsonschema.validators.validator_for(schema)
		check.check_schema(schema)
		for name in sys.argv[2:]:
		    check(schema).validate(json.load(open(name)))
	END
}

not() { # COMMAND...: it fails (a plain `!` would not fail the test)
	if "$@"; then
		echo "should have failed: $*"
		return 1
	fi
}

empty() { # DIRECTORY: nothing of ours was left behind
	local left
	left=$(ls -A "$1")
	same "$left" ""
}

dbench_block() { # is what was printed last, to the letter; prints its number of lines
	"$PYTHON" - "$T/out" <<-'END'
		import re, sys
		n = r'(?:\d{1,4}(?:\.\d+)?[kMG]?|NaN)'
		usec = r'(?:\d+\.\d{2}|NaN)'
		bw = r'(?:\d{1,4}(?:\.\d+)?[KMG]?i?B/s|NaN)'
		want = [
		    r'Random Read/Write IOPS: %s/%s\. BW: %s / %s' % (n, n, bw, bw),
		    r'Average Latency \(usec\) Read/Write: %s/%s' % (usec, usec),
		    r'Sequential Read/Write: %s / %s' % (bw, bw),
		    r'Mixed Random Read/Write IOPS: %s/%s' % (n, n)]
		text = open(sys.argv[1], newline='').read()
		head = '==================\n= Dbench Summary =\n==================\n'
		if text.count(head) != 1:
		    sys.exit('no dbench block')
		got = text.split(head)[1].splitlines()
		for line in got:
		    while want and not re.fullmatch(want[0], line):
		        want.pop(0)
		    if not want:
		        sys.exit('not of the dbench block: %r' % line)
		    want.pop(0)
		print(len(got))
	END
}
