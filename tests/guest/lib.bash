# shellcheck shell=bash
# What the files here share. They run the program in a virtual machine with a kernel of its
# own, for which the scripts in GUEST_TOOLS make an image, once, in GUEST_DIR.
#
# A boot takes seconds, so a file has one for all its tests: `boot` in setup_file gives the
# guest a script, which makes one situation after another with the help of inside/lib.bash
# and keeps what comes of each. A test then looks at one of them, and so can you: in
# build/guest.
# shellcheck source=tests/run/lib.bash
source "$BATS_TEST_DIRNAME/../run/lib.bash"

guest_tools=${GUEST_TOOLS:-$repo/../shared/tools/guest}
export GUEST_DIR=${GUEST_DIR:-/var/cache/test-guest}
pvcbench=${PVCBENCH:-$build/pvcbench-static}

need_guest() {
	local obstacle
	obstacle=$("$BATS_TEST_DIRNAME/needs")
	[ -z "$obstacle" ] || skip "${obstacle#*SKIP }"
}

# The program as one file that needs no library, and the image.
guest_ready() {
	(
		flock 9
		[ -n "${PVCBENCH:-}" ] || make -s -C "$repo" "BUILD=$build" static
		"$guest_tools/build-guest.sh"
	) 9>"${TMPDIR:-/tmp}/pvcbench-tests.lock" >&2 3>&-
}

# guest_run SCRIPT [FILE...]: SCRIPT as root in the guest, at most $LIMIT (800) seconds; the
# program, inside/lib.bash and the FILEs lie beside it in /in. Sets status; what it prints is
# in $T/out, what the guest says of itself in $T/err, both in $T/log, what it leaves in /out in
# $T/guest.
guest_run() {
	local file take=()

	guest_ready || return
	for file in "$pvcbench" "$BATS_TEST_DIRNAME/inside/lib.bash" "${@:2}"; do
		take+=(-i "$file")
	done
	status=0
	"$guest_tools/run-in-guest.sh" "${take[@]}" -o "$T/guest" -t "${LIMIT:-800}" "$1" \
		>"$T/out" 2>"$T/err" </dev/null 3>&- || status=$?
	cat "$T/out" "$T/err" >"$T/log"
}

# --- one boot for a file ---

kept=$build/guest/$(basename "${BATS_TEST_FILENAME:-none}" .bats)

boot() { # SCRIPT [FILE...]: in setup_file
	local T=$kept status=0

	[ -z "$("$BATS_TEST_DIRNAME/needs")" ] || return 0
	rm -rf "$kept"
	mkdir -p "$kept"
	if ! guest_run "$@" || [ "$status" != 0 ]; then
		echo "the guest's script ended with $status:"
		tail -n 40 "$T/log"
		return 1
	fi
}

# Look at a situation: sets status; $T has its files, and all it printed in $T/log. The
# status is "running" where the run did not end in the time that was given to it.
look_at() { # SITUATION
	need_guest
	if [ ! -s "$kept/guest/$1/status" ]; then
		tail -n 40 "$kept/log"
		echo "the guest did not come to the end of '$1'"
		return 1
	fi
	cp -r "$kept/guest/$1/." "$T"
	cat "$T/out" "$T/err" >"$T/log"
	status=$(cat "$T/status")
}

# What the guest saw while the run went on.
saw() { # WHAT
	if ! grep -qxF -- "$1" "$T/saw"; then
		show
		sed 's/^/saw: /' "$T/saw"
		echo "did not see: $1"
		return 1
	fi
}

# Of the good test before the bad one all is told, whatever became of that.
first_counts() {
	holds '.tests[0] | .status == "ok" and .read.ios == 1024'
	grep -q '^pvcbench-result: .*"name": *"read-latency"' "$T/out"
	grep -q '^read-latency: ' "$T/message"
	valid "$T/result.json"
	dbench_block
}

# All of the plan quick.
nine_tests() {
	holds '.tests | length == 9 and all(.status == "ok" and .direct)'
	same "$(dbench_block)" 4
}

# The engine of a network file system, and why that one: in this kernel it would serve
# io_uring by threads.
chosen() {
	holds 'all(.tests[]; .ioengine == "psync" and (.ioengine_reason | test(
		"^io_uring would be served by kernel threads.* psync: a trial .* was served$")))'
	says '^  engine         psync \(io_uring would be served by kernel threads'
	says '^  O_DIRECT       yes \(O_DIRECT taken, '
}
