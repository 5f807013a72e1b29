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
	variant long generic/emptydir < <(more_args --set=runtime=60s)
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

# The log as it comes, each line behind the time when it came.
follow_with_times() { # JOB
	k logs -f "job/$1" | while IFS= read -r line; do
		echo "$(date +%s%N) $line"
	done
}

@test "a pod that is deleted prints what it has within 2 s" {
	local name=long-pvcbench-emptydir pod asked printed
	await 60 is_running "$name"
	pod=$(k get pods -l "job-name=$name" -o jsonpath='{.items[0].metadata.name}')
	follow_with_times "$name" >"$T/times" 3>&- &
	undo "kill $! 2>/dev/null"
	await 60 grep -q 'read-latency: .*IOPS' "$T/times"
	# Of no Job any more, it is not replaced.
	k delete job "$name" --cascade=orphan
	asked=$(date +%s%N)
	k delete pod "$pod" --wait=false
	await 30 grep -q 'Average Latency' "$T/times"
	printed=$(sed -n 's/ = Dbench Summary =$//p' "$T/times")
	cut -d ' ' -f 2- "$T/times" >"$T/log"
	echo "# printed $(((printed - asked) / 1000000)) ms after kubectl delete" >&3
	within $((printed - asked)) 0 2000000000
	results
	holds '.interrupted and (.tests[0] | .status == "interrupted" and .read.ios > 0)'
	await 40 not k get pod "$pod" >/dev/null
}
