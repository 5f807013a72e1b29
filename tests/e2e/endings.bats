# How a Job can end before its time, or not begin, and what `make logs` and `make results` say.
bats_require_minimum_version 1.5.0
load lib.bash

# A patch of the Job, for variant.
job_patch() { # OPERATION...: PATH VALUE each
	printf 'patches:\n  - target: {kind: Job}\n    patch: |-\n'
	while (($#)); do
		printf '      - {op: replace, path: %s, value: %s}\n' "$1" "$2"
		shift 2
	done
}

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
		$pod/activeDeadlineSeconds 8)
	variant job-deadline generic/emptydir < <(job_patch "$args" "$long" \
		/spec/activeDeadlineSeconds 8)
	variant no-class generic/default-class <<-'END'
		patches:
		  - target: {kind: PersistentVolumeClaim}
		    patch: |-
		      - {op: add, path: /spec/storageClassName, value: csi-nas}
	END
	variants_root memory evicted pod-deadline job-deadline no-class
	kube up >"$BATS_FILE_TMPDIR/up" 2>&1
	# Without that of default-class, which waits for ever.
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

@test "up says beforehand which storage class the cluster lacks" {
	grep 'this cluster has no storage class csi-nas, so claims of it will stay Pending' \
		"$BATS_FILE_TMPDIR/up"
}

@test "a claim of a class that is not there: its Job waits, and says for what" {
	SECONDS_AT_MOST=8 kube logs default-class >"$T/log" 2>&1 || true
	cp "$T/log" "$T/out"
	: >"$T/err"
	says '^no-class-.* waits: .*claim no-class-.*: storageclass.* "csi-nas" not found'
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

@test "the pod's deadline: what was measured is printed" {
	logs_say '==> pod-deadline-.*: Failed.* DeadlineExceeded Pod was active'
	logs_say '^interrupted: read-latency: after '
}

@test "the Job's deadline: the pod is deleted, with its log" {
	logs_say '==> job-deadline-.*: .*Failed DeadlineExceeded Job was active longer'
}
