#!/usr/bin/env bats
# What a run that was killed leaves, and who may remove it; what a device holds.
# side by side

load lib

job() { # UID
	export PVCBENCH_JOB=pvcbench-evs PVCBENCH_JOB_UID=$1
}

simple() { # TARGET [LINE OF THE PLAN]
	plan <<-END
		version: 1
		target: $1
		size: 8MiB
		ramp_time: 0
		runtime: 200ms
		${2:-}
		tests: [{name: t, rw: randread, bs: 4KiB}]
	END
}

laid_out() { # DIRECTORY: in it lie 8 MiB of ours, with all blocks, which come in any order
	[[ $(find "$1" -name 'data.*' -printf '%s %b') =~ ^8388608\ (.*) ]] &&
		((BASH_REMATCH[1] >= 16384))
}

killed() { # DIRECTORY: a run in it is killed; sets left, the name of what it left
	start run "$T/plan.yaml" --set runtime=60s
	await 20 laid_out "$1"
	kill -KILL "$pid"
	wait "$pid" || true
	left=$(basename "$(find "$1" -mindepth 1 -maxdepth 1 -name 'pvcbench-*')")
}

# Of another machine, where nobody can see whether its process lives.
from_elsewhere() { # DIRECTORY OF A RUN
	sed -i 's/^boot=.*/boot=elsewhere/' "$1/claim"
}

keeps() { # DIRECTORY OF A RUN: all of it
	[ -s "$1/claim" ]
	same "$(stat -c %s "$1/data.0")" 8388608
}

@test "a run that was killed: the next attempt of its Job removes what it left" {
	dir=$(directory)
	simple "$dir"
	job 11
	killed "$dir"
	keeps "$dir/$left"
	measure
	says "attempt 2 of this Job"
	says "removed '$dir/$left' \(8MiB\), which attempt 1 of this Job left"
	holds '.run.attempt == 2'
	holds '.run.notes | length == 1'
	grep -q '^  attempt        2 of the Job' "$T/out"
	grep -q '^  note           removed' "$T/out"
	valid "$T/result.json"
	empty "$dir"
	measure
	holds '.run | has("attempt") or has("notes") | not'
}

@test "an --out that cannot be written leaves no directory behind either" {
	dir=$(directory)
	simple "$dir"
	job 11
	killed "$dir"
	pvcbench run "$T/plan.yaml" --out "$T/nowhere/result.json"
	exits 2
	says "nowhere/result.json"
	empty "$dir"
}

@test "a volume that does not answer while what was left is removed" {
	faultfs
	simple "$mnt"
	job 11
	killed "$mnt"
	rules "unlink hang"
	LIMIT=30
	pvcbench run "$T/plan.yaml" --set answer_time=2s
	exits 3
	says "does not answer within answer_time \(removal of what an earlier run left in '$mnt'"
	says "the volume does not answer: '$mnt/pvcbench-.*' was not removed"
	rules ""
	measure --set clean=true
	empty "$mnt"
}

@test "a run that was killed: the third attempt knows that it is" {
	dir=$(directory)
	simple "$dir"
	job 11
	killed "$dir"
	sed -i 's/^attempt=1/attempt=2/' "$dir/$left/claim"
	measure
	holds '.run.attempt == 3'
	empty "$dir"
}

@test "what another Job's run left is named and stays, clean: true removes it" {
	dir=$(directory)
	simple "$dir"
	job 11
	killed "$dir"
	job 12
	measure
	says "'$dir/$left' \(8MiB\) of Job 'pvcbench-evs' stays, last alive [^ ]+ ago \(clean: true"
	holds '.run | has("attempt") | not'
	keeps "$dir/$left"
	pvcbench check "$T/plan.yaml"
	exits 0
	says "^leftover: '$dir/$left' \(8MiB\) .* stays"
	keeps "$dir/$left"
	measure --set clean=true
	says "removed '$dir/$left' \(8MiB\), which a run of Job 'pvcbench-evs' left"
	empty "$dir"
}

@test "without a Job nothing is of the same" {
	unset PVCBENCH_JOB PVCBENCH_JOB_UID
	dir=$(directory)
	simple "$dir"
	killed "$dir"
	measure
	keeps "$dir/$left"
	says "of host '.*' stays"
	measure --set tests.t.clean=true
	empty "$dir"
}

@test "what is kept for a ledger stays, unless clean: true" {
	tmpfs
	dir=$mnt
	simple "$dir"
	job 11
	start run "$T/plan.yaml" --set runtime=60s --set verify=crc32c --set ledger="$T/ledger"
	await 20 laid_out "$dir"
	kill -KILL "$pid"
	wait "$pid" || true
	left=$(ls "$dir")
	measure
	says "'$dir/$left' \(8MiB\) of Job 'pvcbench-evs' is kept for pvcbench verify $T/ledger"
	holds '.run.attempt == 2'
	keeps "$dir/$left"
	pvcbench verify "$T/ledger"
	exits 0
	measure --set clean=true
	empty "$dir"
}

@test "of an Indexed Job only what the same index left is its own" {
	dir=$(directory)
	simple "$dir"
	job 11
	export JOB_COMPLETION_INDEX=1
	killed "$dir"
	JOB_COMPLETION_INDEX=2 measure
	keeps "$dir/$left"
	measure
	empty "$dir"
}

@test "a run next door that is alive is never touched, clean: true or not, Job or not" {
	dir=$(directory)
	simple "$dir"
	job 11
	start run "$T/plan.yaml" --set runtime=3s --out "$T/neighbour.json"
	await 20 laid_out "$dir"
	cp "$T/out" "$T/neighbour"
	"$pvcbench" run "$T/plan.yaml" --set clean=true >"$T/second" 2>&1 </dev/null 3>&-
	grep -q "(8MiB) is of a run of Job 'pvcbench-evs' that is under way" "$T/second"
	ends 20
	exits 0
	holds '.tests[0].status == "ok" and (.tests[0].errors | length) == 0' "$T/neighbour.json"
	empty "$dir"
}

@test "one of another machine is watched, and a heartbeat saves it" {
	dir=$(directory)
	simple "$dir"
	job 11
	killed "$dir"
	from_elsewhere "$dir/$left"
	(
		sleep 7
		touch "$dir/$left/claim"
	) 3>&- &
	measure --set clean=true
	says "watching '$left' for a heartbeat, 1m00s at most, since"
	says "that is under way"
	keeps "$dir/$left"
}

@test "a run shows every 10 s that it is alive" {
	dir=$(directory)
	simple "$dir"
	start run "$T/plan.yaml" --set runtime=60s
	await 20 laid_out "$dir"
	touch -d '-1 hour' "$dir"/pvcbench-*/claim
	await 30 beats
	kill -TERM "$pid"
	ends 20
	empty "$dir"
}

beats() { # within the last minute
	[ "$(find "$dir" -name claim -mmin -1 | wc -l)" = 1 ]
}

@test "on an object store, whose clients show what was, nobody is watched: it stays" {
	faultfs
	simple "$mnt" "clean: true"
	rules "statfs space 0"
	job 11
	killed "$mnt"
	from_elsewhere "$mnt/$left"
	LIMIT=40
	measure
	says "'$mnt/$left' \(8MiB\) of Job 'pvcbench-evs' stays"
	keeps "$mnt/$left"
	touch -d '-11 minutes' "$mnt/$left/claim"
	measure
	empty "$mnt"
}

@test "one of another machine that was silent for long is dead" {
	dir=$(directory)
	simple "$dir"
	job 11
	killed "$dir"
	from_elsewhere "$dir/$left"
	touch -d '-11 minutes' "$dir/$left/claim"
	measure
	says "removed '$dir/$left'"
	empty "$dir"
}

@test "SIGTERM ends the watch" {
	dir=$(directory)
	simple "$dir"
	job 11
	killed "$dir"
	from_elsewhere "$dir/$left"
	start run "$T/plan.yaml"
	await 10 grep -q watching "$T/out"
	kill -TERM "$pid"
	ends 10
	exits 143
	keeps "$dir/$left"
	same "$(ls "$dir")" "$left"
}

@test "a heartbeat that keeps time ahead is a sign of life too" {
	dir=$(directory)
	simple "$dir"
	job 11
	killed "$dir"
	from_elsewhere "$dir/$left"
	touch -d '+1 day' "$dir/$left/claim"
	start run "$T/plan.yaml"
	await 10 grep -q watching "$T/out"
	kill -TERM "$pid"
	ends 10
	keeps "$dir/$left"
}

# A directory with 8 MiB and a claim that was good, to be changed
forgery() { # NAME
	cp -a "$dir/$left" "$dir/pvcbench-$1"
	sed -i "s/^run=.*/run=$1/" "$dir/pvcbench-$1/claim"
}

@test "forged, cut and odd claims: nobody's, and never touched" {
	dir=$(directory)
	simple "$dir"
	job 11
	killed "$dir"
	for name in none empty cut other-run newer huge fifo link; do
		forgery $name
	done
	rm "$dir"/pvcbench-{none,fifo,link}/claim
	: >"$dir/pvcbench-empty/claim"
	truncate -s -1 "$dir/pvcbench-cut/claim"
	sed -i 's/^run=.*/run=another/' "$dir/pvcbench-other-run/claim"
	sed -i 's/^pvcbench-claim=1/pvcbench-claim=2/' "$dir/pvcbench-newer/claim"
	truncate -s 1T "$dir/pvcbench-huge/claim"
	mkfifo "$dir/pvcbench-fifo/claim"
	ln -s "../$left/claim" "$dir/pvcbench-link/claim"
	mv "$dir/$left" "$dir/moved-away"
	LIMIT=20
	measure --set clean=true
	for name in none empty cut other-run newer huge fifo link; do
		same "$(stat -c %s "$dir/pvcbench-$name/data.0")" 8388608
	done
	says "8 of the names 'pvcbench-\*' in '$dir' bear no claim that can be read: left alone"
	same "$(find "$dir" -mindepth 1 -maxdepth 1 | wc -l)" 9
}

@test "a link of such a name is not followed" {
	dir=$(directory)
	simple "$dir"
	job 11
	killed "$dir"
	mkdir "$T/elsewhere"
	mv "$dir/$left" "$T/elsewhere"
	ln -s "$T/elsewhere/$left" "$dir/$left"
	measure --set clean=true
	keeps "$T/elsewhere/$left"
	[ -L "$dir/$left" ]
}

@test "what no run makes stays, and with it the directory, named" {
	dir=$(directory)
	simple "$dir"
	job 11
	killed "$dir"
	echo mine >"$dir/$left/thesis.tex"
	measure
	says "cannot remove '$dir/$left', in it stay: 'thesis.tex': not a file that a run makes"
	same "$(cat "$dir/$left/thesis.tex")" mine
	not test -e "$dir/$left/data.0"
	# The next attempt knows it still.
	measure
	says "cannot remove '$dir/$left'"
	rm "$dir/$left/thesis.tex"
	measure
	empty "$dir"
}

@test "what belongs to another user cannot be removed, and is named" {
	need_root
	need setpriv
	cp "$pvcbench" "$T/pvcbench"
	chmod 755 "$T/pvcbench"
	dir=$(directory)
	chmod 777 "$dir"
	simple "$dir"
	job 11
	killed "$dir"
	chmod 755 "$dir/$left"
	chmod 644 "$dir/$left/claim"
	pvcbench=$T/pvcbench
	WRAP=(setpriv --reuid=65532 --regid=65532 --clear-groups --inh-caps=-all)
	pvcbench run "$T/plan.yaml" --set clean=true
	exits 0
	says "'$dir/$left'.* stay"
	keeps "$dir/$left"
	chmod 700 "$dir/$left"
	pvcbench run "$T/plan.yaml" --set clean=true
	exits 0
	says "1 of the names 'pvcbench-\*' in '$dir' bear no claim that can be read"
	keeps "$dir/$left"
	same "$(ls "$dir")" "$left"
}

@test "a leftover that cannot be written to is named" {
	need_root
	need setpriv
	cp "$pvcbench" "$T/pvcbench"
	chmod 755 "$T/pvcbench"
	pvcbench=$T/pvcbench
	dir=$(directory)
	simple "$dir"
	job 11
	killed "$dir"
	chmod 500 "$dir/$left"
	chown -R 65532:65532 "$dir"
	WRAP=(setpriv --reuid=65532 --regid=65532 --clear-groups --inh-caps=-all
		--bounding-set=-all)
	pvcbench run "$T/plan.yaml"
	exits 0
	says "cannot remove '$dir/$left', in it stay: 'data.0': Permission denied"
	keeps "$dir/$left"
}

@test "10000 names in the volume do not hold it up" {
	tmpfs
	(cd "$mnt" && seq -f 'pvcbench-%.0f' 3000 | xargs mkdir && seq 7000 | xargs touch)
	simple "$mnt" "clean: true"
	LIMIT=60
	measure
	says "3000 of the names"
	same "$(find "$mnt" -mindepth 1 | wc -l)" 10000
}

@test "a volume that a dead attempt has filled is not too small" {
	loop_fs ext4 200M
	simple "$mnt" "strict: true"
	sed -i 's/^size:.*/size: 100MiB/' "$T/plan.yaml"
	job 11
	start run "$T/plan.yaml" --set runtime=60s
	await 20 filled
	kill -KILL "$pid"
	wait "$pid" || true
	pvcbench check "$T/plan.yaml"
	exits 0
	says "^leftover: .* is removed first"
	measure
	holds '.tests[0].size == 104857600 and (.tests[0].concessions | length) == 0'
	holds '.conditions.free_bytes > 150e6'
	empty "$mnt"
}

filled() {
	[ "$(find "$mnt" -name 'data.*' -printf '%s')" = 104857600 ]
}

@test "two attempts at once on one share, and what a third left" {
	dir=$(directory)
	simple "$dir"
	job 11
	killed "$dir"
	"$pvcbench" run "$T/plan.yaml" --set runtime=1s >"$T/first" 2>&1 </dev/null 3>&- &
	first=$!
	measure --set runtime=1s
	wait $first
	empty "$dir"
}

# --- doctor ---

@test "doctor names what earlier runs left, and each concession that the plan needs here" {
	loop_fs ext4 900M
	simple "$mnt"
	job 11
	killed "$mnt"
	pvcbench doctor "$mnt"
	exits 0
	says "^limited: leftovers \(1 other runs have 8MiB here, 0 of them .*\): clean: true"
	says "^ok: heartbeat"
	says "^limited: plan \(cce, read-iops: size shrunk from 10GiB to .*\): a larger or"
	# Once for what several tests have in common
	within "$(grep -c 'size shrunk' "$T/out")" 1 3
	keeps "$mnt/$left"
	same "$(ls "$mnt")" "$left"
}

@test "doctor tells of a limit of memory what depth it costs" {
	dir=$(directory)
	plan <<-END
		version: 1
		size: 8MiB
		tests: [{name: deep, rw: randread, bs: 1MiB, iodepth: 4096, numjobs: 4}]
	END
	need_root
	need unshare
	WRAP=(unshare -m --propagation private bash -ec "
		mount -t tmpfs tmpfs /mnt
		mkdir /mnt/upper /mnt/work
		upper=upperdir=/mnt/upper,workdir=/mnt/work
		mount -t overlay -o lowerdir=/etc,\$upper overlay /etc
		mkdir -p /etc/pvcbench
		cp '$T/plan.yaml' /etc/pvcbench/plan.yaml
		exec \"\$@\"" -)
	"${WRAP[@]}" true || skip "cannot mount a plan at /etc/pvcbench"
	pvcbench doctor "$dir"
	exits 0
	says "^limited: plan \(.*, deep: iodepth lowered from 4096 to [0-9]+: .*\): raise limits"
}

@test "doctor says what a device holds, and writes nothing" {
	need mkfs.ext4
	loop_device 32M
	pvcbench doctor "$loop"
	exits 0
	says "^ok: content \(both ends are zero"
	mkfs.ext4 -q "$loop"
	before=$(sha256sum <"$loop")
	pvcbench doctor "$loop"
	exits 0
	says "^limited: content \(its ends hold an ext2, ext3 or ext4 .*\): .*destroy: anything"
	same "$(sha256sum <"$loop")" "$before"
}

# --- devices ---

on_device() { # [KEYS]
	plan <<-END
		version: 1
		target: $loop
		size: 8MiB
		ramp_time: 0
		runtime: 200ms
		destroy: true
		${1:-}
		tests: [{name: t, rw: [randwrite, write, randread], bs: 64KiB}]
	END
}

ends_are_zero() {
	same "$(head -c 1M "$loop" | tr -d '\0' | wc -c)" 0
	same "$(tail -c 1M "$loop" | tr -d '\0' | wc -c)" 0
}

refused() { # REGEX: and the device is as it was
	local before
	before=$(sha256sum <"$loop")
	pvcbench run "$T/plan.yaml"
	exits 4
	says "device '$loop' holds $1: its first or last MiB is not zero .*destroy: anything"
	same "$(sha256sum <"$loop")" "$before"
	pvcbench check "$T/plan.yaml"
	exits 4
}

@test "a device that is zero at both ends is used, and is so afterwards" {
	loop_device 32M
	on_device "size: 64MiB"
	sed -i '/^size: 8MiB/d' "$T/plan.yaml"
	measure
	holds 'all(.tests[]; .offset == 1048576 and .size == 30 * 1048576)'
	ends_are_zero
	[ "$(dd if="$loop" bs=1M skip=1 count=30 status=none | tr -d '\0' | wc -c)" -gt 30000000 ]
	measure
}

@test "a run on a device that was killed is followed by the next" {
	loop_device 32M
	on_device
	start run "$T/plan.yaml" --set runtime=60s
	await 20 grep -q 'IOPS' "$T/out"
	kill -KILL "$pid"
	wait "$pid" || true
	ends_are_zero
	await 10 measure
}

@test "a device with a file system is refused, and destroy: anything takes it" {
	need mkfs.ext4
	loop_device 32M
	mkfs.ext4 -q "$loop"
	on_device
	refused "an ext2, ext3 or ext4 file system"
	measure --set destroy=anything
	says "'$loop' held an ext2, ext3 or ext4 file system: its first and last MiB are zeroed"
	holds '.run.notes | length == 1'
	ends_are_zero
	measure
}

@test "a device with a partition table is refused, also where only the copy at its end is left" {
	loop_device 32M
	on_device
	for sector in 1 65535; do
		put "EFI PART" $((sector * 512))
		refused "a partition table \(GPT\)"
		put '\0\0\0\0\0\0\0\0' $((sector * 512))
	done
	measure
}

put() { # PRINTF FORMAT, OFFSET: onto the device
	# shellcheck disable=SC2059
	printf "$1" | dd of="$loop" bs=1 seek="$2" conv=notrunc,fsync status=none
}

@test "a device with anything at one end is refused" {
	loop_device 32M
	on_device
	put x 1000000
	refused "data of no known kind"
	put '\0' 1000000
	put x $((32 * 1048576 - 1))
	refused "data of no known kind"
}

@test "what lies on a device can be read without a word" {
	need mkfs.ext4
	loop_device 32M
	mkfs.ext4 -q "$loop"
	before=$(sha256sum <"$loop")
	plan <<-END
		version: 1
		target: $loop
		size: 32MiB
		ramp_time: 0
		runtime: 200ms
		tests: [{name: t, rw: randread, bs: 64KiB, layout: none}]
	END
	measure
	holds '.tests[0] | .offset == 0 and .size == 33554432 and (.concessions | length) == 0'
	same "$(sha256sum <"$loop")" "$before"
}
