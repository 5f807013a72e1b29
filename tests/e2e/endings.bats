# How a Job can end before its time, or not begin, and what `make logs` and `make results` say.
# side by side
bats_require_minimum_version 1.5.0
load lib.bash

memory="memory-pvcbench-emptydir-memory"
evicted="evicted-pvcbench-emptydir"
pod_deadline="pod-deadline-pvcbench-default-class"
job_deadline="job-deadline-pvcbench-container-fs"

setup_file() {
	local pod=/spec/template/spec
	local limits=$pod/containers/0/resources
	new_namespace
	copy_tree
	# A file in memory, of 256 MiB.
	variant memory generic/emptydir-memory < <(job_patch "$limits/limits/memory" 64Mi \
		"$limits/requests/memory" 64Mi)
	variant evicted generic/emptydir < <(job_patch --set=runtime=60s \
		$pod/volumes/0/emptyDir/sizeLimit 64Mi)
	variant pod-deadline generic/default-class < <(job_patch --set=runtime=60s \
		$pod/activeDeadlineSeconds 20 $pod/containers/0/env/4/value '"20"')
	variant job-deadline generic/container-fs < <(job_patch --set=runtime=60s \
		/spec/activeDeadlineSeconds 30)
	variants_root memory evicted pod-deadline job-deadline
	kube up >"$BATS_FILE_TMPDIR/up" 2>&1
	follow_classes emptydir-memory emptydir default-class container-fs
	wait
	kube results >"$BATS_FILE_TMPDIR/summaries" 2>&1
}

teardown_file() {
	end_namespace
}

@test "memory that does not suffice: refused before the kernel would kill it" {
	look_at_shown "$memory"
	says "^==> $memory: Failed, exit code 3"
}

@test "more than the volume's limit: Evicted" {
	look_at_shown "$evicted"
	says "^==> $evicted: Failed.* Evicted .*exceeds the limit \"64Mi\""
}

@test "results goes on after a pod without a log, and says how each ended" {
	local folder=$BATS_FILE_TMPDIR/results
	grep "/$evicted.log: .*Failed.* Evicted" "$folder/summary.txt"
	grep "/$memory.log: Failed, exit code 3" "$folder/summary.txt"
}

@test "a plan longer than the pod's deadline: said when it begins, with what will not be run" {
	look_at_shown "$pod_deadline"
	says 'the plan takes .* the pod ends after 20s \(PVCBENCH_DEADLINE\): '
}

@test "the pod's deadline: what was measured is printed" {
	look_at_shown "$pod_deadline"
	says "^==> $pod_deadline: Failed.* DeadlineExceeded Pod was active"
	says '^interrupted: read-latency: after '
	says '^= Dbench Summary'
}

@test "the Job's deadline: the pod is deleted, and its log, which was followed" {
	look_at_shown "$job_deadline"
	says "^==> $job_deadline: .*Failed DeadlineExceeded Job was active longer"
	says '^interrupted: read-latency: after '
	says '^= Dbench Summary'
}
