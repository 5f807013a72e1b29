# Why a pod does not start, each reason arranged for real, and what `make logs` says of it.
# side by side
bats_require_minimum_version 1.5.0
load lib.bash

# An export of a server that is not there.
absent_server() {
	"$kubectl" delete pv "$ns-nfs" --ignore-not-found --timeout=60s
	"$kubectl" apply -f - <<-END
		apiVersion: v1
		kind: PersistentVolume
		metadata: {name: $ns-nfs}
		spec:
		  capacity: {storage: 256Mi}
		  accessModes: [ReadWriteOnce]
		  storageClassName: $ns-nfs
		  persistentVolumeReclaimPolicy: Retain
		  nfs: {server: 127.0.0.1, path: /no-such-export}
	END
}

# A patch of the claim, for variant: of which class it is.
of_class() {
	printf 'patches:\n  - target: {kind: PersistentVolumeClaim}\n    patch: |-\n'
	printf '      - {op: add, path: /spec/storageClassName, value: %s}\n' "$1"
}

setup_file() {
	local pod=/spec/template/spec
	new_namespace
	copy_tree
	absent_server
	variant image generic/emptydir < <(job_patch \
		$pod/containers/0/image localhost/no-such-image:0.1.0)
	variant class generic/default-class < <(of_class no-such-class)
	variant selector generic/emptydir < <(job_patch \
		$pod/nodeSelector '{example.com/disk: fast}')
	variant cpu generic/emptydir < <(job_patch \
		$pod/containers/0/resources '{requests: {cpu: "999"}, limits: {cpu: "999"}}')
	variant server generic/default-class < <(of_class "$ns-nfs")
	variant configmap generic/emptydir < <(job_patch \
		$pod/volumes/1 '{name: plan, configMap: {name: no-such-plan}}')
	variant secret generic/emptydir < <(job_patch \
		$pod/volumes/1 '{name: plan, secret: {secretName: no-such-secret}}')
	variant profile generic/emptydir io-uring-localhost < <(job_patch \
		$pod/securityContext/seccompProfile/localhostProfile profiles/no-such.json)
	variants_root image class selector cpu server configmap secret profile
	kube up >"$BATS_FILE_TMPDIR/up" 2>&1
	# It goes on for ever; a test waits until it says what it has to.
	kube logs >"$BATS_FILE_TMPDIR/logs" 2>&1 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/follower"
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/follower")" 2>/dev/null || true
	end_namespace
	"$kubectl" delete pv "$ns-nfs" --ignore-not-found --timeout=60s
}

waits() { # VARIANT REGEX
	await 90 grep -qE "^$1-pvcbench-.* waits: .*$2" "$BATS_FILE_TMPDIR/logs"
}

@test "up says beforehand which storage class the cluster lacks" {
	grep 'this cluster has no storage class no-such-class' "$BATS_FILE_TMPDIR/up"
}

@test "an image that is not there" {
	waits image '(ErrImagePull|ImagePullBackOff) .*localhost/no-such-image:0.1.0'
}

@test "a claim of a class that is not there" {
	waits class 'claim class-pvcbench-.*: storageclass.* "no-such-class" not found'
}

@test "a node selector that fits no node" {
	waits selector "0/[0-9]+ nodes are available: .*match (Pod's )?node (affinity|selector)"
}

@test "more CPUs than a node has" {
	waits cpu 'Insufficient cpu'
}

@test "a mount that fails: an NFS server that is not there" {
	waits server 'MountVolume.SetUp failed for volume ".*-nfs" .*127.0.0.1:/no-such-export'
}

@test "a mount that fails: a ConfigMap that is not there" {
	waits configmap 'MountVolume.SetUp failed .*configmap "no-such-plan" not found'
}

@test "a mount that fails: a Secret that is not there" {
	waits secret 'MountVolume.SetUp failed .*secret "no-such-secret" not found'
}

@test "a seccomp profile that is not on the node" {
	waits profile 'CreateContainerError .*no-such.json'
}

@test "results says it of each too, and fails, since there is none" {
	not kube results >"$T/results" 2>&1
	same "$(grep -c ' waits: ' "$T/results")" 8
	grep -x 'no pod here has started' "$T/results"
}

@test "a quota that allows no pod" {
	rm -rf "$tree/on"
	k delete jobs --all --wait=false
	k create quota none --hard=pods=0
	variant quota generic/emptydir </dev/null
	variants_root quota
	kube up >/dev/null 2>&1
	kube logs >"$T/quota" 2>&1 3>&- &
	undo "kill $!"
	await 60 grep -E '^quota-pvcbench-emptydir waits: .*exceeded quota: none' "$T/quota"
}
