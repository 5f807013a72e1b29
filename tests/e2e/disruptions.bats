# What a cluster does to a run in its midst: memory that is taken, a node that is drained, lost, or
# whose kubelet is restarted. What kubectl, `make logs` and `make results` then show.
bats_require_minimum_version 1.5.0
load lib.bash

oom="oom-pvcbench-emptydir-memory"
drained="drained-pvcbench-emptydir"
lost="lost-pvcbench-default-class"
restarted="restarted-pvcbench-container-fs"

# A Job whose patches are on standard input runs, and is followed.
begin() { # JOB [COMPONENT]
	local name=${1%%-pvcbench-*} class=${1#*-pvcbench-}
	variant "$name" "generic/$class" "${@:2}"
	variants_root "$name"
	kube up
	follow_classes "$class"
	await 60 is_running "$1"
}

setup_file() {
	"$kubectl" get nodes -o jsonpath='{.items[0].metadata.name}' >"$BATS_FILE_TMPDIR/node"
	new_namespace
	copy_tree
}

teardown_file() {
	"$kubectl" uncordon "$(cat "$BATS_FILE_TMPDIR/node")"
	end_namespace
}

# The line with which `make logs` ends what it shows of a pod.
ended() { # JOB SECONDS REGEX
	await "$2" shown "$1" "^==> $1: $3"
}

pod_of() { # JOB
	k get pods -l "job-name=$1" --sort-by=.metadata.creationTimestamp \
		-o jsonpath='{.items[-1:].metadata.name}'
}

@test "a pod is lost with its node: the Job starts another one" {
	on_this_machine || skip "a process can be suspended on with-cluster's node only"
	local pod
	begin "$lost" < <(job_patch --set=size=64MiB --set=runtime=3s --set=rate_iops=100)
	await 60 shown "$lost" '^\[2/3\]'
	pod=$(pod_of "$lost")
	# It can obey as little as if there was no node any more.
	kill -STOP "$(process_of "$pod")"
	k delete pod "$pod" --force --grace-period=0
	is_another() {
		[ "$(pod_of "$lost")" != "$pod" ] && is_running "$lost"
	}
	await 120 is_another
}

@test "OOMKilled: the log and the message have the tests that had ended" {
	local limits=/spec/template/spec/containers/0/resources pod
	begin "$oom" < <(job_patch --set=size=32MiB --set=runtime=1s \
		--set=tests.write-latency.{bs=1MiB,iodepth=64,rate_iops=5,runtime=120s} \
		$limits/limits/memory 256Mi $limits/requests/memory 256Mi)
	await 60 shown "$oom" '^\[2/3\] .* run '
	pod=$(pod_of "$oom")
	# Another process in its container takes what memory there is.
	k exec "$pod" -- /pvcbench run quick --set size=128MiB >/dev/null 2>&1 || true
	ended "$oom" 30 'Failed, exit code 137 OOMKilled'
	look_at_shown "$oom"
	says '^\[1/3\] read-latency: read .* IOPS'
	same "$(grep -c '^pvcbench-result: ' "$T/log")" 1
	k describe pod "$pod" >"$T/description"
	grep -E '^ +Reason: +OOMKilled' "$T/description"
	grep 'killed before its end: 1 of 3 tests had ended' "$T/description"
	grep '^read-latency: read .* IOPS' "$T/description"
	kube results emptydir-memory | tee "$T/results"
	grep 'log: Failed, exit code 137 OOMKilled' "$T/results"
	grep -E '^read-latency: read .* IOPS' "$T/results"
}

# As with-cluster has started it, after some seconds.
restart_kubelet() ( # SECONDS
	# shellcheck source=/dev/null
	source "${E2E_KUBE:-$repo/../shared/tools/kube}/lib.sh"
	read -r pid _ <"$KUBE_STATE/pids/kubelet"
	mapfile -d '' -t command <"/proc/$pid/cmdline"
	stop kubelet
	sleep "$1"
	start kubelet "${command[@]}"
)

@test "the kubelet is restarted: the run goes on, and its log is whole" {
	on_this_machine || skip "a kubelet can be restarted on with-cluster's node only"
	begin "$restarted" < <(job_patch --set=size=64MiB --set=runtime=8s --set=rate_iops=100)
	await 60 shown "$restarted" '^\[1/3\] .* run '
	restart_kubelet 15 3>&-
	ended "$restarted" 90 'Succeeded, exit code 0'
	look_at_shown "$restarted"
	says "^==> $restarted: the connection has ended, the pod has not"
	same "$(grep -c '^pvcbench-result: ' "$T/log")" 3
	same "$(grep -c '^= Dbench Summary =' "$T/log")" 1
	collect 30 "$restarted"
	is_a_good_run "$restarted"
	same "$(jq '.status.containerStatuses[0].restartCount' "$kept.json")" 0
}

# Kubernetes up to 1.25 does not know it, and starts another pod without.
retry() {
	! "$kubectl" explain job.spec.podFailurePolicy >/dev/null 2>&1 || echo retry-on-disruption
}

@test "a node is drained: what was measured is in the log that is followed" {
	local component
	component=$(retry)
	begin "$drained" ${component:+"$component"} < <(job_patch --set=size=64MiB \
		--set=runtime=3s --set=rate_iops=100 --set=tests.write-latency.runtime=10s)
	await 60 shown "$drained" '^\[2/3\] .* run '
	"$kubectl" drain "$(cat "$BATS_FILE_TMPDIR/node")" --pod-selector="job-name=$drained" \
		--delete-emptydir-data --timeout=60s
	# So, or seen a moment later: the pod is gone, and its log with it.
	ended "$drained" 60 '.*([(]it is being deleted[)]|and its log with it)'
	look_at_shown "$drained"
	says '^\[1/3\] read-latency: read .* IOPS'
	says '^interrupted: write-latency: after '
	same "$(grep -c '^pvcbench-result: ' "$T/log")" 2
	says '^= Dbench Summary'
}

@test "a node is drained: the Job's next pod waits for one that takes it, and runs" {
	await 90 shown "$drained" "^$drained waits: .*unschedulable"
	"$kubectl" uncordon "$(cat "$BATS_FILE_TMPDIR/node")"
	ended "$drained" 90 'Succeeded, exit code 0'
	kube results emptydir | grep 'log: Succeeded, exit code 0'
}

@test "a pod is lost with its node: the next one removes what it has left" {
	on_this_machine || skip "a process can be suspended on with-cluster's node only"
	ended "$lost" 120 'Succeeded, exit code 0'
	look_at_shown "$lost"
	says "^removed '/data/pvcbench-.*' \(64MiB\), which attempt 1 of this Job left"
	collect 10 "$lost"
	is_a_good_run "$lost"
	holds '.run.attempt == 2'
}
