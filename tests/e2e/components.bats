# Each component once, on a small class.
bats_require_minimum_version 1.5.0
load lib.bash

add() { # NAME RESOURCE COMPONENT: a variant of which the end is awaited
	variant "$@"
	jobs+=("$1-pvcbench-${2##*/}")
}

# A disk: a loop device as a volume of a class that has no provisioner.
disk() {
	loop_device=$(
		truncate -s 300M "$BATS_FILE_TMPDIR/disk" &&
			losetup --find --show "$BATS_FILE_TMPDIR/disk"
	) || return 1
	echo "$loop_device" >"$BATS_FILE_TMPDIR/loop"
	"$kubectl" apply -f - <<-END
		apiVersion: v1
		kind: PersistentVolume
		metadata: {name: $ns-disk}
		spec:
		  capacity: {storage: 300Mi}
		  accessModes: [ReadWriteOnce]
		  volumeMode: Block
		  storageClassName: $ns-disk
		  persistentVolumeReclaimPolicy: Retain
		  local: {path: $loop_device}
		  nodeAffinity:
		    required:
		      nodeSelectorTerms:
		        - matchExpressions:
		            - {key: kubernetes.io/hostname, operator: In, values: [$node]}
	END
}

# The profile on the node, as the DaemonSet puts it there, and the same where what it does not allow
# kills, so that nothing that the runner needs can be missing; with an image of busybox alone, since
# the nodes of with-cluster's cluster reach no registry.
seccomp_profiles() {
	local tools=${E2E_KUBE:-$repo/../shared/tools/kube} folder=$tree/manifests/seccomp
	local root=$BATS_FILE_TMPDIR/busybox
	mkdir -p "$root/bin"
	cp "$(command -v busybox)" "$root/bin/busybox"
	for command in sh cp mv tail; do
		ln -s busybox "$root/bin/$command"
	done
	"$tools/mkimage.sh" "$root" localhost/busybox:e2e "$root.tar" '["/bin/sh"]'
	"$tools/load-image.sh" "$root.tar"
	jq '.defaultAction = "SCMP_ACT_KILL_PROCESS"' "$folder/pvcbench.json" >"$folder/kill.json"
	sed -i "s|- pvcbench.json|&\n      - kill.json|
		s|newName: .*|newName: localhost/busybox|; s|newTag: .*|newTag: e2e|" \
		"$folder/kustomization.yaml"
	sed -i "s|path: /var/lib/kubelet|path: $KUBE_STATE/kubelet|" "$folder/daemonset.yaml"
	k apply -k "$folder"
	k rollout status daemonset/pvcbench-seccomp --timeout=90s
}

# What the runtime allows a pod of itself, of the container that the DaemonSet keeps waiting.
runtime_default() {
	local id
	id=$(k get pods -l app.kubernetes.io/name=pvcbench-seccomp \
		-o jsonpath='{.items[0].status.containerStatuses[0].containerID}')
	jq .linux.seccomp "${KUBE_RUN:-/run/kube-one}/containerd/io.containerd.runtime.v2.task/$(
	)k8s.io/${id##*/}/config.json"
}

setup_file() {
	local jobs=()
	node=$("$kubectl" get nodes \
		-o jsonpath='{.items[0].metadata.labels.kubernetes\.io/hostname}')
	echo "$node" >"$BATS_FILE_TMPDIR/node"
	new_namespace privileged
	copy_tree
	local components=$tree/manifests/components
	sed -i "s|value: \"\"|value: $node|" "$components/pinned-node/kustomization.yaml"
	sed -i "s|86400|1|" "$components/auto-clean/kustomization.yaml"
	add quick generic/emptydir quick \
		< <(job_patch --set=size=64MiB --set=ramp_time=0 --set=runtime=500ms)
	add ephemeral generic/default-class ephemeral-volume </dev/null
	add pinned generic/emptydir pinned-node </dev/null
	add doctor generic/default-class doctor </dev/null
	add doctor-fs generic/container-fs doctor </dev/null
	add unconfined generic/emptydir io-uring-unconfined </dev/null
	add side generic/default-class side-by-side < <(job_patch --set=size=16MiB \
		--set=tests.latency.interval=10ms --set=tests.aca.ramp_time=0 \
		--set=tests.aca.runtime=200ms --set=tests.aca.iodepth=4)
	variant more-cpu generic/emptydir more-cpu </dev/null
	variant auto-clean generic/emptydir auto-clean </dev/null
	set -- quick ephemeral pinned doctor doctor-fs unconfined side more-cpu auto-clean
	if on_this_machine; then
		seccomp_profiles
		disk
		add localhost generic/emptydir io-uring-localhost </dev/null
		add kill generic/emptydir io-uring-localhost < <(job_patch \
			/spec/template/spec/securityContext/seccompProfile/localhostProfile \
			profiles/kill.json)
		add block generic/default-class block <<-END
			patches:
			  - target: {kind: PersistentVolumeClaim}
			    patch: |-
			      - {op: add, path: /spec/storageClassName, value: $ns-disk}
		END
		set -- "$@" localhost kill block
	fi
	variants_root "$@"
	k apply -k "$tree"
	collect 240 "${jobs[@]}"
}

teardown_file() {
	end_namespace
	if [ -e "$BATS_FILE_TMPDIR/loop" ]; then
		"$kubectl" delete pv "$ns-disk" --timeout=60s
		losetup --detach "$(cat "$BATS_FILE_TMPDIR/loop")"
	fi
}

@test "quick runs the plan quick" {
	look_at quick-pvcbench-emptydir
	is_a_good_run quick-pvcbench-emptydir 9
	holds '.run.plan == "quick"'
	same "$(dbench_block)" 4
}

@test "ephemeral-volume: the claim is the pod's, and goes with the Job" {
	local claim volume
	is_a_good_run ephemeral-pvcbench-default-class
	claim=$(jq -r .metadata.name "$kept.json")-data
	volume=$(k get pvc "$claim" -o jsonpath='{.spec.volumeName}')
	k delete job ephemeral-pvcbench-default-class --timeout=60s
	await 60 not k get pvc "$claim" >/dev/null
	await 60 not "$kubectl" get pv "$volume" >/dev/null
}

@test "pinned-node: the pod is on the node that was named" {
	is_a_good_run pinned-pvcbench-emptydir
	same "$(jq -r '.spec.nodeSelector["kubernetes.io/hostname"]' "$kept.json")" \
		"$(cat "$BATS_FILE_TMPDIR/node")"
}

@test "doctor says what a pod and its volume can do" {
	look_at doctor-pvcbench-default-class
	exits 0
	says '^ok: user and group \(65532:65532\)'
	says "^ok: target \('/data' is writable\)"
	says '^ok: termination log'
	says '^(ok|limited|missing): io_uring'
	look_at doctor-fs-pvcbench-container-fs
	says "^limited: target \('/scratch' is writable, on the container's own root"
}

@test "io-uring-unconfined: io_uring, whatever the runtime's profile is" {
	is_a_good_run unconfined-pvcbench-emptydir
	holds '.tests | all(.ioengine == "io_uring")'
}

@test "io-uring-localhost: the profile that the DaemonSet put on the node" {
	on_this_machine || skip "a profile can be put on the nodes of with-cluster's cluster only"
	is_a_good_run localhost-pvcbench-emptydir
	# This cluster's runc takes io_uring from every profile that refuses by EPERM.
	[ "$KUBE_IO_URING" = deny ] || holds '.tests | all(.ioengine == "io_uring")'
}

@test "io-uring-localhost: io_uring, and nothing that the runner needs is missing" {
	on_this_machine || skip "a profile can be put on the nodes of with-cluster's cluster only"
	is_a_good_run kill-pvcbench-emptydir
	holds '.tests | all(.ioengine == "io_uring")'
}

@test "io-uring-localhost: the profile is the runtime's default and io_uring" {
	on_this_machine || skip "the runtime of with-cluster's cluster only can be looked into"
	allowed() { # of a profile, without what another CPU has
		jq -c '[.syscalls[] | select(.action == "SCMP_ACT_ALLOW" and
			(.names | contains(["cacheflush"]) | not)) |
			{args: (.args // [] | map(del(.valueTwo))), name: .names[]} |
			select(.name | startswith("io_uring_") | not)] | sort | unique | .[]' "$1"
	}
	runtime_default >"$T/runtime.json"
	same "$(allowed "$tree/manifests/seccomp/pvcbench.json")" "$(allowed "$T/runtime.json")"
}

@test "block: the raw device" {
	on_this_machine || skip "a disk can be made for with-cluster's cluster only"
	is_a_good_run block-pvcbench-default-class
	holds '.conditions.fs == "block device" and .conditions.target == "/dev/pvcbench"'
	holds '.tests | all(.size == 256 * 1048576)'
}

@test "side-by-side: three places in one Job, latency and load of each" {
	look_at side-pvcbench-default-class
	exits 0
	valid "$T"/result-*.json
	holds '.run.plan == "aca" and (.tests | length == 27 and all(.status == "ok"))'
	holds '[.tests[].target] | unique == ["/cache", "/data", "/scratch"]'
	holds '[.tests[] | select(.kind == "probe") | .read.ios] == [10, 10, 10]'
}

@test "more-cpu: four CPUs, or no node for them" {
	local name=more-cpu-pvcbench-emptydir
	same "$(k get job $name -o json |
		jq -r '.spec.template.spec.containers[0].resources.limits.cpu')" 4
	if [ "$(pod_phase $name)" = Pending ]; then
		k get events | grep 'Insufficient cpu'
	else
		collect 60 $name
		is_a_good_run $name
		holds '.conditions.cpus == 4'
	fi
}

@test "auto-clean: the Job is deleted after its end" {
	await 60 not k get job auto-clean-pvcbench-emptydir >/dev/null
	same "$(k get pods -l job-name=auto-clean-pvcbench-emptydir -o name)" ""
}

@test "retry-on-disruption: kept, or refused by a Kubernetes that does not know it" {
	rm -rf "$tree/on"
	variant retry generic/emptydir retry-on-disruption </dev/null
	variants_root retry
	run k apply -k "$tree"
	if [ "$status" != 0 ]; then
		[[ $output == *podFailurePolicy* ]]
		skip "this Kubernetes does not know podFailurePolicy"
	fi
	collect 60 retry-pvcbench-emptydir
	is_a_good_run retry-pvcbench-emptydir
	same "$(k get job retry-pvcbench-emptydir \
		-o jsonpath='{.spec.podFailurePolicy.rules[0].action}')" Ignore
}
