# A manifest of dbench's after swapping the image and adding fsGroup.
# side by side
bats_require_minimum_version 1.5.0
load lib.bash

setup_file() {
	new_namespace privileged
	sed "s|image: .*|image: $image|
		s|^      restartPolicy|      securityContext: {fsGroup: 65532}\n&|" \
		"$repo/tests/e2e/dbench.yaml" | k apply -f -
	collect 240 dbench
}

teardown_file() {
	end_namespace
}

@test "a dbench manifest runs with dbench's parameters" {
	is_a_good_run dbench 4
	holds '.run.plan == "dbench"'
	holds '[.tests[] | "\(.name) \(.rw) \(.bs) \(.iodepth)"] == [
		"read-iops randread 4096 64", "write-iops randwrite 4096 64",
		"read-bw randread 131072 64", "write-bw randwrite 131072 64"]'
	holds '.tests | all(.size == 128 * 1048576 and .target == "/data")'
}

@test "it prints the line that dbench prints in quick mode" {
	look_at dbench
	same "$(dbench_block)" 1
	tail -n 1 "$T/out" | grep -E '^Random Read/Write IOPS: .*/.*\. BW: .* / .*$'
}

@test "its pod is not tried again" {
	same "$(k get job dbench -o jsonpath='{.status.succeeded} {.status.failed}')" "1 "
}
