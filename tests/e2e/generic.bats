# The classes of every cluster, as `kubectl apply -k` has them: a claim of the default class,
# emptyDir on disk and in memory, and the container's own file system.
bats_require_minimum_version 1.5.0
load lib.bash

jobs=(pvcbench-default-class pvcbench-emptydir pvcbench-emptydir-memory pvcbench-container-fs)

setup_file() {
	new_namespace
	copy_tree storageclasses/generic
	k apply -k "$tree"
	collect 240 "${jobs[@]}"
}

teardown_file() {
	end_namespace
}

@test "each class is measured, and its log ends in dbench's block" {
	for name in "${jobs[@]}"; do
		is_a_good_run "$name"
	done
}

@test "one Job at a time" {
	one_after_the_other "${jobs[@]}"
}

@test "the pod says where it ran and under which limits" {
	look_at pvcbench-default-class
	holds ".conditions.node == \"$(jq -r .spec.nodeName "$kept.json")\""
	holds '.conditions.cpus == 0.2 and .conditions.memory_bytes == 512 * 1048576'
}

@test "emptyDir is known as the node's, memory as memory" {
	look_at pvcbench-emptydir-memory
	holds '.conditions.fs == "tmpfs"'
	look_at pvcbench-container-fs
	holds '.conditions.target == "/scratch" and .conditions.fs == "overlay"'
}

@test "the engine is said, and why" {
	look_at pvcbench-default-class
	says '^  engine +(io_uring|libaio|psync)\W.+'
	if [ "${KUBE_IO_URING:-}" = deny ]; then
		holds '.tests | all(.ioengine == "libaio" and
			(.ioengine_reason | test("io_uring")))'
		says 'io_uring.*(EPERM|not permitted)'
	elif [ "${KUBE_IO_URING:-}" = allow ]; then
		holds '.tests | all(.ioengine == "io_uring")'
	fi
}

@test "a claim smaller than the plan: the file is shrunk, and that is said" {
	look_at pvcbench-default-class
	if holds '.conditions.capacity_bytes > 512 * 1048576'; then
		[ -z "${KUBE_PV_FS:-}" ]
		holds '.tests | all(.size == 256 * 1048576)'
		skip "volumes here have no size of their own"
	fi
	holds '.tests | all(.size_asked == 256 * 1048576 and .size < .size_asked and
		(.concessions | any(test("shrunk|size"))))'
	says 'concession: .*256MiB'
}

@test "delete removes Jobs, plans, claims and volumes" {
	mapfile -t volumes < <(k get pvc -o jsonpath='{.items[*].spec.volumeName}')
	((${#volumes[@]} == 1))
	k delete -k "$tree" --ignore-not-found --timeout=90s
	same "$(k get jobs,pvc,configmaps -l app.kubernetes.io/name=pvcbench -o name)" ""
	gone() {
		! "$kubectl" get pv "${volumes[@]}" >/dev/null 2>&1
	}
	await 60 gone
}
