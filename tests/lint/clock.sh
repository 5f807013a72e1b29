#!/usr/bin/env bash
# A wall clock may be set while we measure, so nothing but a stamp is taken from one.
# shellcheck source=tests/lint/lib.bash
source "$(dirname "$0")/lib.bash"

# Who may read it, and what for.
may_read_wall_clock='
runner/io/claim.c   when the run was started
runner/io/marker.c  when a file was written, which another host may read
runner/kinds/block.c  when a window began
runner/kinds/table_call.c  when a request was signed
runner/run_begin.c  when the run was started
runner/sweep.c      the age of what another run left
'

# Calls that read it, names of its clocks, and waits that count by it.
check_clock() {
	local calls='(gettimeofday|ftime|time|timespec_get|sem_timedwait|mq_timedreceive)\('
	local clocks='CLOCK_REALTIME|CLOCK_TAI|TIME_UTC'
	local file

	for file in "$@"; do
		grep -q "^$file " <<<"$may_read_wall_clock" ||
			grep -nE "\<$calls|\<($clocks)" "$file" /dev/null || true
	done
}

# A condition variable counts by the wall clock unless it is told otherwise.
check_conditions() {
	local file

	for file in "$@"; do
		! grep -q 'pthread_cond_timedwait' "$file" ||
			grep -q 'pthread_condattr_setclock([^)]*CLOCK_MONOTONIC' "$file" ||
			echo "$file: pthread_cond_timedwait by the wall clock"
	done
}

mapfile -t runner_files < <(files 'runner/*.c' 'runner/*.h')

lint "no wall clock but for a stamp" check_clock "${runner_files[@]}"
catches "a wall clock" check_clock clock/bad.c 'time(NULL)'
catches "its name" check_clock clock/bad.c 'CLOCK_REALTIME'
lint "waits count by the monotonic clock" check_conditions "${runner_files[@]}"
catches "a wait by the wall clock" check_conditions clock/bad.c 'by the wall clock'
finish
