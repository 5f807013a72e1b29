# shellcheck shell=bash
# For the scripts that run in the guest. A situation is a directory in /out with what became
# of one run: plan.yaml, out, err, result.json, message, status, and `saw`, in which the
# script notes what it saw meanwhile.
export LC_ALL=C

program=$(echo /in/pvcbench*)
# What stands before it: WRAP=(COMMAND...)
WRAP=()

plan() { # SITUATION <<END
	situation "$1"
	cat >"/out/$1/plan.yaml"
}

situation() { # SITUATION: its directory, which any user may write into
	mkdir -p "/out/$1"
	chmod 777 "/out/$1"
	: >"/out/$1/saw"
	: >"/out/$1/message"
	chmod 666 "/out/$1/message"
}

start() { # SITUATION [ARG...]: run its plan, in the background; sets pid
	local at=/out/$1 args=("${@:2}")

	[[ -d $at ]] || situation "$1"
	[[ ! -e $at/plan.yaml ]] || args=("$at/plan.yaml" "${@:2}")
	PVCBENCH_TERMINATION_LOG=$at/message "${WRAP[@]}" "$program" run "${args[@]}" \
		--out "$at/result.json" >"$at/out" 2>"$at/err" </dev/null &
	pid=$!
}

# The run's status, or "running" when it does not end in time; then it is killed.
finish() { # SITUATION SECONDS
	local status=0

	if timeout "$2" tail --pid="$pid" -f /dev/null; then
		wait "$pid" || status=$?
	else
		status=running
		kill -KILL "$pid"
	fi
	echo "$status" >"/out/$1/status"
	echo "$SECONDS s: $1: $status"
}

run() { # SITUATION [ARG...]
	start "$@"
	finish "$1" "${LIMIT:-120}"
}

note() { # SITUATION WHAT
	echo "$2" >>"/out/$1/saw"
}

await() { # SECONDS COMMAND...: until it holds
	local end=$((SECONDS + $1))

	until "${@:2}"; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# What a run has printed so far.
printed() { # SITUATION REGEX
	grep -Eq -- "$2" "/out/$1/out"
}

# Wait until it is printed, and note that it was.
see() { # SITUATION SECONDS REGEX WHAT
	await "$2" printed "$1" "$3" && note "$1" "$4"
}

see_stall() { # SITUATION: of its second test
	see "$1" 30 '^\[2/2\].* no completion for' 'told while it lasts'
}

# What the kernel still holds of it is nothing that it could end.
has_exited() { # PID
	! grep -q '^State:.[^Z]' "/proc/$1/status" 2>/dev/null
}

# --- disks ---

sectors() { # DEVICE
	blockdev --getsz "$1"
}

# Replace the table of a mapped device, whatever is in flight.
swap() { # NAME TABLE
	dmsetup reload "$1" --table "$2"
	dmsetup suspend --noflush --nolockfs "$1"
	dmsetup resume "$1"
}

# A file system on a device, at /mnt/NAME.
volume() { # NAME DEVICE [ext4|xfs]
	mkdir -p "/mnt/$1"
	case ${3:-ext4} in
	ext4) mkfs.ext4 -q -F -m 0 -E lazy_itable_init=0,lazy_journal_init=0 "$2" ;;
	xfs) mkfs.xfs -q -f "$2" ;;
	esac
	mount "$2" "/mnt/$1"
	rm -rf "/mnt/$1/lost+found"
}
