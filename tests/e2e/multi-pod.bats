# multi-pod on one volume: what four pods measure together, and what becomes of those whose
# number is not complete. The pods are on one node, so that a volume for one node will do.
# side by side
bats_require_minimum_version 1.5.0
load lib.bash

# A variant with the component, of so many pods; the rest are patches of its Job.
pods() { # NAME N [PATH VALUE]...
	job_patch /spec/completions "$2" "${@:3}" | variant "$1" generic/default-class multi-pod
}

apply() { # NAME...
	variants_root "$@"
	k apply -k "$tree"
}

setup_file() {
	new_namespace
	copy_tree
	sed -i 's/^tests:/peers_timeout: 90s\n&/' "$tree/manifests/plans/small.yaml"
}

teardown_file() {
	end_namespace
}

pod_of() { # NAME INDEX
	k get pods -l "job-name=$1-pvcbench-default-class" -o json | jq -r --arg i "$2" \
		'.items[].metadata | select(
			.annotations["batch.kubernetes.io/job-completion-index"] == $i).name'
}

# The log of index 0 as it comes, since Kubernetes deletes the pods of a Job that fails.
follow() { # NAME
	wait_for 120 has_started "$1" 0
	k logs -f "$(pod_of "$1" 0)" >"$T/out" 2>"$T/err" 3>&- &
	follower=$!
}

has_started() { # NAME INDEX
	local pod
	pod=$(pod_of "$1" "$2")
	[ -n "$pod" ] && k get pod "$pod" -o json |
		jq -e '.status.containerStatuses[0].state | .running or .terminated' >/dev/null
}

followed() {
	wait "$follower" || true
	cat "$T/out" "$T/err" >"$T/log"
}

forget() { # NAME
	k delete job "$1-pvcbench-default-class" --timeout=60s --ignore-not-found
	k delete pvc "$1-pvcbench-default-class" --timeout=60s --ignore-not-found
}

# A verdict's text, which names a pod, may be cut where that name is longer.
figures() { # OUTPUT
	sed -n '/^test /,/^$/p' "$1" | grep -v '^verdict: '
}

@test "four pods: the result is what merging their logs gives, to the byte" {
	pods four 4
	apply four
	kube logs default-class >"$T/followed" 2>&1
	wait_for 240 jobs_ended four-pvcbench-default-class
	k get pods
	grep '4 peers start within' "$T/followed"
	grep '^pods: read-latency: 4 of 4' "$T/followed"
	grep '^==> four-pvcbench-default-class: Succeeded, exit code 0' "$T/followed"
	k logs -l job-name=four-pvcbench-default-class --prefix --tail=-1 \
		--max-log-requests=8 >"$T/logs"
	k logs "$(pod_of four 0)" | tee "$T/out" >"$T/log"
	: >"$T/err"
	says '4 peers start within [0-9.]+[mun]?s of each other'
	same "$(grep -c 'pvcbench-result: ' "$T/logs")" 12
	"$pvcbench" merge "$T/logs" >"$T/by-hand"
	# kubectl knows pods by names that are longer than their hosts'
	sed -i -E 's/-[a-z0-9]{5} \(index/ (index/g' "$T/by-hand"
	same "$(figures "$T/by-hand")" "$(figures "$T/out")"
	same "$(sed -n '/= Dbench Summary =/,$p' "$T/by-hand")" \
		"$(sed -n '/= Dbench Summary =/,$p' "$T/out")"
	never_says "$(k get job four-pvcbench-default-class -o jsonpath='{.metadata.uid}')"
	same "$(k get job four-pvcbench-default-class -o jsonpath='{.status.succeeded}')" 4
	forget four
}

@test "a pod that is killed is named, and what was measured is summed up" {
	pods killed 3 /spec/parallelism 3 /spec/template/spec/containers/0/env/0/value '"3"' \
		/spec/template/spec/containers/0/args '[run, --set=runtime=8s]'
	apply killed
	follow killed
	await 120 grep -q '^\[1/3\] .* peers start within' "$T/out"
	k delete pod "$(pod_of killed 2)" --force --grace-period=0
	followed
	says 'peer 2 \(killed-pvcbench-default-class-2\)|ended by signal'
	says '^test '
	wait_for 150 jobs_ended killed-pvcbench-default-class
	forget killed
}

@test "a pod that never comes is named, and the others end" {
	pods missing 2 /spec/parallelism 2 /spec/template/spec/containers/0/args \
		'[run, --set=peers_timeout=15s]'
	apply missing
	follow missing
	followed
	says 'waiting for 2 of 4 peers: 2 \(never came\), 3 \(never came\), since'
	says '2 of 4 peers took part to the end: peer 2 did not come within 15s \(peers_timeout\)'
	wait_for 150 jobs_ended missing-pvcbench-default-class
	forget missing
}
