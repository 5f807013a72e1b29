#!/usr/bin/env bats
# A machine dies in the middle of its writes: what was acknowledged and synced is on its disk
# when it is up again, and where it is not, that is found.

load lib

setup() {
	need_guest
	# In memory where there is plenty: the guests sync all the time.
	T=$(mktemp -d -p "$(scratch)")
	: >"$T/undo"
	: >"$T/err"
	mkdir "$T/share" "$T/bin"
	truncate -s 512M "$T/disk"
	# As the script starts it, with one disk more, and its number told.
	cat >"$T/bin/qemu-system-x86_64" <<-END
		#!/bin/sh
		echo \$\$ >"$T/pid"
		exec $(command -v qemu-system-x86_64) "\$@" \
			-drive if=virtio,format=raw,file="$T/disk",cache=${CACHE:-writeback}
	END
	chmod +x "$T/bin/qemu-system-x86_64"
}

scratch() {
	if (($(df --output=avail -k /dev/shm 2>/dev/null | tail -1) > 2 << 20)); then
		echo /dev/shm
	else
		echo "${TMPDIR:-/tmp}"
	fi
}

in_guest() { # SCRIPT [ARG]: in the background or not; its output in $T/out
	PATH=$T/bin:$PATH "$guest_tools/run-in-guest.sh" -i "$pvcbench" \
		-i "$BATS_TEST_DIRNAME/inside/lib.bash" -s "$T/share" -o "$T/guest" -t 300 \
		"$BATS_TEST_DIRNAME/inside/$1" "${@:2}" >"$T/out" 2>&1 </dev/null 3>&-
}

# The guest writes until it is killed; a second one reads.
die_in_the_middle() { # [lying]
	local script
	guest_ready
	in_guest verify-write "$@" &
	script=$!
	undo "kill $script 2>/dev/null"
	if ! await 240 test -e "$T/share/ready"; then
		tail -n 20 "$T/out" "$T"/share/*.log
		return 1
	fi
	sleep 1
	kill -KILL "$(cat "$T/pid")"
	wait "$script" || true
	in_guest verify-read
}

reports() { # LEDGER REGEX
	if ! grep -Eq -- "$2" "$T/guest/$1"; then
		cat "$T/guest/$1"
		echo "does not say: $2"
		return 1
	fi
}

@test "a guest is killed: what was synced is there, what was not may be lost" {
	local ledger
	die_in_the_middle
	for ledger in synced unsynced dsync; do
		reports "$ledger" 'which was cut off, or still runs$'
		reports "$ledger" '^checked +4096 blocks'
		reports "$ledger" '^verdict +nothing that was acknowledged and synced is missing$'
		reports "$ledger" '^status 0$'
	done
	reports unsynced '; [1-9][0-9]* lost it, which is allowed$'
	reports dsync '^not synced +0 hold'
	# what was asked to be removed is, and nothing else
	same "$(grep -c pvcbench- "$T/guest/left")" 2
}

@test "a guest is killed whose disk lied about its flushes: that is found" {
	local ledger
	die_in_the_middle lying
	for ledger in synced dsync; do
		reports "$ledger" '^missing +block at offset [0-9]+ of file 0: expected sequence '
		reports "$ledger" ' or later, found sequence [0-9]+, what lay there before'
		reports "$ledger" ' of 4096 blocks do not hold what was acknowledged and synced; '
		reports "$ledger" '^status 1$'
	done
	reports unsynced '^status 0$'
}
