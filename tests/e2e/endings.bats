# How a Job can end before its time, or not begin, and what `make logs` and `make results` say.
bats_require_minimum_version 1.5.0
load lib.bash

setup_file() {
	local pod=/spec/template/spec
	local args=$pod/containers/0/args limits=$pod/containers/0/resources
	local long='[run, --set=runtime=60s]'
	new_namespace
	copy_tree
	# A file in memory, of 256 MiB.
	variant memory generic/emptydir-memory < <(job_patch "$limits/limits/memory" 64Mi \
		"$limits/requests/memory" 64Mi)
	variant evicted generic/emptydir < <(job_patch "$args" "$long" \
		$pod/volumes/0/emptyDir/sizeLimit 64Mi)
	variant pod-deadline generic/emptydir < <(job_patch "$args" "$long" \
		$pod/activeDeadlineSeconds 20 $pod/containers/0/env/4/value '"20"')
	variant job-deadline generic/emptydir < <(job_patch "$args" "$long" \
		/spec/activeDeadlineSeconds 8)
	variants_root memory evicted pod-deadline job-deadline
	kube up >"$BATS_FILE_TMPDIR/up" 2>&1
	kube logs emptydir >"$BATS_FILE_TMPDIR/logs" 2>&1
	kube logs emptydir-memory >>"$BATS_FILE_TMPDIR/logs" 2>&1
	kube results >"$BATS_FILE_TMPDIR/summaries" 2>&1
}

teardown_file() {
	end_namespace
}

logs_say() { # REGEX
	cp "$BATS_FILE_TMPDIR/logs" "$T/log"
	cp "$T/log" "$T/out"
	: >"$T/err"
	says "$1"
}

@test "memory that does not suffice: refused before the kernel would kill it" {
	logs_say '==> memory-.*: Failed, exit code 3'
}

@test "more than the volume's limit: Evicted" {
	logs_say '==> evicted-.*: Failed.* Evicted .*exceeds the limit "64Mi"'
}

@test "results goes on after a pod without a log, and says how each ended" {
	local folder=$BATS_FILE_TMPDIR/results
	grep '/evicted-pvcbench-emptydir.log: .*Failed.* Evicted' "$folder/summary.txt"
	grep '/memory-pvcbench-emptydir-memory.log: Failed, exit code 3' "$folder/summary.txt"
}

@test "a plan longer than the pod's deadline: said when it begins, with what will not be run" {
	logs_say 'the plan takes .* the pod ends after 20s \(PVCBENCH_DEADLINE\): '
}

@test "the pod's deadline: what was measured is printed" {
	logs_say '==> pod-deadline-.*: Failed.* DeadlineExceeded Pod was active'
	logs_say '^interrupted: read-latency: after '
}

@test "the Job's deadline: the pod is deleted, with its log" {
	logs_say '==> job-deadline-.*: .*Failed DeadlineExceeded Job was active longer'
}
