# What must not be measured, what cannot be, and what was ended early.
bats_require_minimum_version 1.5.0
load lib.bash

jobs=(no-mount-pvcbench-emptydir root-owned-pvcbench-default-class)

setup_file() {
	new_namespace
	copy_tree
	variant no-mount generic/emptydir <<-'END'
		patches:
		  - target: {kind: Job}
		    patch: |-
		      - {op: remove, path: /spec/template/spec/containers/0/volumeMounts/0}
	END
	variant root-owned generic/default-class <<-'END'
		patches:
		  - target: {kind: Job}
		    patch: |-
		      - {op: remove, path: /spec/template/spec/securityContext/fsGroup}
	END
	variant long generic/emptydir < <(job_patch --set=runtime=60s)
	variants_root no-mount root-owned long
	k apply -k "$tree"
	collect 120 "${jobs[@]}"
}

teardown_file() {
	end_namespace
}

@test "without its volumeMount a pod is refused, and measures nothing" {
	look_at no-mount-pvcbench-emptydir
	exits 4
	says "^pvcbench: .*'/data' lies on the container's own root file system .*mount the volume"
	same "$(wc -l <"$T/log")" 1
	same "$(cat "$kept.message")" "$(cat "$T/log")"
}

@test "a volume that belongs to root: one line with the remedy" {
	look_at root-owned-pvcbench-default-class
	exits 3
	says "^pvcbench: .*'/data': .*owned by 0:0 .*running as 65532:65532; set fsGroup: 65532"
	same "$(wc -l <"$T/log")" 1
	same "$(cat "$kept.message")" "$(cat "$T/log")"
}

# Since the epoch, ns: when the runtime had this line of $T/times, when strace saw the signal.
printed_at() { # REGEX
	date -d "$(grep -m 1 "$1" "$T/times" | cut -d ' ' -f 1)" +%s%N
}

signalled_at() {
	sed -n 's/^\([0-9]*\)[.]\([0-9]*\) --- SIGTERM .*/\1\2000/p' "$T/signals"
}

watch_signals() { # PID
	strace -qq -ttt -e trace=none -o "$T/signals" -p "$1" 3>&- &
	await 10 not grep -qx 'TracerPid:[[:space:]]0' "/proc/$1/status"
}

# Of what comes before the signal kubectl and the kubelet have the blame.
@test "a pod that is deleted prints what it has within 2 s of the signal" {
	local name=long-pvcbench-emptydir pod process
	await 60 is_running "$name"
	pod=$(k get pods -l "job-name=$name" -o jsonpath='{.items[0].metadata.name}')
	k logs -f --timestamps "$pod" >"$T/times" 3>&- &
	undo "kill $! 2>/dev/null"
	await 60 grep -q 'read-latency: .*IOPS' "$T/times"
	if on_this_machine; then
		process=$(process_of "$pod")
		watch_signals "$process"
	fi
	# Of no Job any more, it is not replaced.
	k delete job "$name" --cascade=orphan
	asked=$(date +%s%N)
	k delete pod "$pod" --wait=false
	await 30 grep -q 'Average Latency' "$T/times"
	cut -d ' ' -f 2- "$T/times" >"$T/log"
	results
	holds '.interrupted and (.tests[0] | .status == "interrupted" and .read.ios > 0)'
	! on_this_machine || await 5 not test -e "/proc/$process"
	await 120 not k get pod "$pod" >/dev/null
	printed=$(printed_at ' = Dbench Summary =$')
	echo "# printed $(((printed - asked) / 1000000)) ms after kubectl delete" >&3
	if on_this_machine; then
		signalled=$(signalled_at)
		echo "# and $(((printed - signalled) / 1000000)) ms after the signal" >&3
		within $((printed - signalled)) 0 2000000000
	fi
}
