# manifests/kube with a kubectl that writes down how it was called and answers from a folder.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	export BUILD=$BATS_TEST_TMPDIR/build CLUSTER=$BATS_TEST_TMPDIR/cluster
	export KUBECTL=$BATS_TEST_TMPDIR/kubectl POLL_SECONDS=0.1
	mkdir -p "$CLUSTER"
	cp tests/manifests/fake-kubectl "$KUBECTL"
}

calls() {
	cat "$CLUSTER/calls"
}

@test "up applies what the root renders" {
	echo 'kind: Root' >"$CLUSTER/rendered"
	run -0 manifests/kube up
	[[ $(calls) == $'kustomize .\napply -f -' ]]
	[[ $(cat "$CLUSTER/stdin") == 'kind: Root' ]]
}

@test "up CLASS renders the root with the class as its only resource" {
	run -0 manifests/kube up managed-csi
	[[ $(calls) == *'apply -f -' ]]
	run -0 cat "$CLUSTER/kustomization.yaml"
	[[ $output == *$'resources:\n  - storageclasses/aks/managed-csi\ncomponents:\n'* ]]
	[[ $output == *'manifests/components/serial '* ]]
	[[ $output == *'name: localhost/pvcbench'* ]]
	[[ $output != *storageclasses/cce* ]]
}

@test "WITH adds components behind the root's own" {
	WITH='quick more-cpu' run -0 manifests/kube up
	[[ $(calls) == *'apply -f -' ]]
	run -0 cat "$CLUSTER/kustomization.yaml"
	[[ $output == *'- storageclasses/cce '*/serial\ * ]]
	[[ $output == *$'/quick\n  - manifests/components/more-cpu'* ]]
	[[ $output == *'name: localhost/pvcbench'* ]]
	WITH=block run -0 manifests/kube render evs-ultra
	run -0 cat "$CLUSTER/kustomization.yaml"
	[[ $output == *$'resources:\n  - storageclasses/cce/evs-ultra\n'*components/block* ]]
}

@test "an unknown component is refused, and the known ones are named" {
	WITH=qick run -1 manifests/kube up
	[[ $output == *"no component 'qick'"*quick* && ! -e $CLUSTER/calls ]]
}

@test "what is refused is said in few words, with what to do" {
	echo 'The Job "pvcbench-sfs" is invalid: spec.template: Invalid value: ' \
		'core.PodTemplateSpec{ObjectMeta:v1.ObjectMeta{Name:""}}: field is immutable' \
		>"$CLUSTER/refusal"
	run -1 manifests/kube up
	[[ $output == *'invalid: spec.template: field is immutable'* ]]
	[[ $output == *'all else is there'*'make rerun'* ]]
	echo 'volumeHandle: Required value' >"$CLUSTER/refusal"
	run -1 manifests/kube up
	[[ $output == *'Required value'*'all else is there'* && $output != *rerun* ]]
}

@test "an unknown class is refused, and the known ones are named" {
	run -1 manifests/kube up no-such-class
	[[ $output == *"no class 'no-such-class'"*evs-ultra* ]]
	[[ ! -e $CLUSTER/calls ]]
}

@test "up tells of an empty export and of a local image" {
	printf '    volumeHandle: ""\n    image: localhost/pvcbench:0.1.0\n' >"$CLUSTER/rendered"
	run -0 manifests/kube up
	[[ $output == *export.yaml*'make push'* ]]
}

# A claim of a class, one of the default class, one bound by name, and a class of our own.
claims() {
	cat <<-'END'
		kind: StorageClass
		metadata:
		  name: pvcbench-own
		---
		kind: PersistentVolume
		spec:
		  storageClassName: csi-static
		---
		kind: PersistentVolumeClaim
		spec:
		  storageClassName: csi-static
		  volumeName: pvcbench-x
		---
		kind: PersistentVolumeClaim
		spec:
		  storageClassName: pvcbench-own
		---
		kind: PersistentVolumeClaim
		spec:
		  resources: {}
		---
		kind: Job
		        volumeClaimTemplate:
		            storageClassName: csi-disk
		---
		kind: Job
		spec: {}
	END
}

@test "up tells which storage classes the cluster lacks" {
	claims >"$CLUSTER/rendered"
	echo 'standard ' >"$CLUSTER/storageclasses"
	run -0 manifests/kube up
	[[ $output == *'has no storage class csi-disk, default, so'*'it has standard.'* ]]
	printf 'csi-disk \nstandard true\n' >"$CLUSTER/storageclasses"
	run -0 manifests/kube up
	[[ $output != *'no storage class'* ]]
	echo 'standard true' >"$CLUSTER/storageclasses"
	run -0 manifests/kube rerun
	[[ $output == *'has no storage class csi-disk, so'*'it has standard (default).'* ]]
}

@test "a rendering that fails applies nothing" {
	touch "$CLUSTER/fail-kustomize"
	run -1 manifests/kube up
	[[ $(calls) == 'kustomize .' ]]
	rm "$CLUSTER/calls"
	run -1 manifests/kube up evs-ultra
	[[ $(calls) != *apply* ]]
}

@test "rerun replaces by force" {
	run -0 manifests/kube rerun evs-ultra
	[[ $(calls) == *'replace --force -f -' ]]
}

@test "down deletes what is rendered, and plans of earlier content" {
	run -0 manifests/kube down
	[[ $(calls) == *$'delete --ignore-not-found -f -\n'* ]]
	[[ $(calls) == *'configmap -l app.kubernetes.io/name=pvcbench' ]]
	run -0 manifests/kube down evs-ultra
	[[ $(calls) == *'configmap -l app.kubernetes.io/name=pvcbench,pvcbench/class=evs-ultra' ]]
}

@test "logs follows a pod that runs and says how it ended" {
	echo pvcbench-evs-ultra >"$CLUSTER/jobs"
	echo 'pod-1|Succeeded||  ' >"$CLUSTER/pod-of-pvcbench-evs-ultra"
	echo 'the log' >"$CLUSTER/logs-pod-1"
	echo 'Succeeded, exit code 0  ' >"$CLUSTER/end-of-pod-1"
	run -0 timeout 60 manifests/kube logs evs-ultra
	[[ $output == *'the log'*'==> pvcbench-evs-ultra: Succeeded, exit code 0'* ]]
}

@test "logs says what a Job waits for, once, and then follows it" {
	echo pvcbench-sfs >"$CLUSTER/jobs"
	cat >"$CLUSTER/pod-of-pvcbench-sfs" <<-'END'
		pod-1|Pending||0/1 nodes are available: persistentvolumeclaim not bound |
		pod-1|Pending||0/1 nodes are available: persistentvolumeclaim not bound |
		pod-1|Running||  |
		pod-1|Succeeded||  |
	END
	echo 'the log' >"$CLUSTER/logs-pod-1"
	run -0 timeout 60 manifests/kube logs sfs
	[[ $(grep -c 'pvcbench-sfs waits: .*claim not bound' <<<"$output") == 1 ]]
	[[ $output == *waits*'the log'* ]]
}

@test "logs of a pod whose volume cannot be mounted has the warning" {
	echo pvcbench-sfs >"$CLUSTER/jobs"
	printf '%s\n' 'pod-1|Pending|| ContainerCreating ' 'pod-1|Running||' 'pod-1|Succeeded||' \
		>"$CLUSTER/pod-of-pvcbench-sfs"
	printf '==\n%s\n' older $'MountVolume.SetUp failed: exit status 32\nOutput: refused\n' \
		'Unable to attach or mount volumes: timed out' >"$CLUSTER/events-pod-1"
	run -0 timeout 60 manifests/kube logs sfs
	[[ $output == *'waits: ContainerCreating MountVolume.SetUp failed: exit '*' Output:'* ]]
	[[ $output != *older* && $output != *'Unable to'* ]]
}

@test "logs of a claim without a volume has what is said of the claim" {
	echo pvcbench-sfs >"$CLUSTER/jobs"
	printf '%s\n' 'pod-1|Pending||unbound immediate PersistentVolumeClaims ' \
		'pod-1|Succeeded||' >"$CLUSTER/pod-of-pvcbench-sfs"
	echo Pending >"$CLUSTER/phase-of-pvcbench-sfs"
	echo 'unbound immediate PersistentVolumeClaims' >"$CLUSTER/events-pod-1"
	echo 'storageclass "csi-nas" not found' >"$CLUSTER/events-pvcbench-sfs"
	run -0 timeout 60 manifests/kube logs sfs
	[[ $output == *'Claims claim pvcbench-sfs: storageclass "csi-nas" not found'* ]]
}

@test "logs of a Job that may have no pod says why" {
	echo pvcbench-sfs >"$CLUSTER/jobs"
	printf '%s\n' '' '' 'pod-1|Succeeded||' >"$CLUSTER/pod-of-pvcbench-sfs"
	echo 'pods "pvcbench-sfs-x" is forbidden: exceeded quota' >"$CLUSTER/events-pvcbench-sfs"
	run -0 timeout 60 manifests/kube logs sfs
	[[ $output == *'pvcbench-sfs waits: pods "pvcbench-sfs-x" is forbidden: exceeded quota'* ]]
}

@test "logs of a pod that ends a moment after its log has the log once" {
	echo pvcbench-sfs >"$CLUSTER/jobs"
	printf '%s\n' 'pod-1|Running||' 'pod-1|Running||' 'pod-1|Succeeded||' \
		>"$CLUSTER/pod-of-pvcbench-sfs"
	echo 'the log' >"$CLUSTER/logs-pod-1"
	run -0 timeout 60 manifests/kube logs sfs
	[[ $(grep -cx 'the log' <<<"$output") == 1 && $output != *'it is tried again'* ]]
}

@test "logs of a node that does not answer for a while go on where they ended" {
	echo pvcbench-sfs >"$CLUSTER/jobs"
	printf 'pod-1|%s||\n' Running{,,,,,} Succeeded >"$CLUSTER/pod-of-pvcbench-sfs"
	printf 'a line\n' >"$CLUSTER/logs-pod-1"
	printf '%s\n' 'a line' 'another line' >"$CLUSTER/more-logs-pod-1"
	echo 'Succeeded, exit code 0|' >"$CLUSTER/end-of-pod-1"
	run -0 timeout 60 manifests/kube logs
	[[ $(tail -n 5 <<<"$output") == "==> pvcbench-sfs
a line
==> pvcbench-sfs: the connection has ended, the pod has not; it is tried again
another line
==> pvcbench-sfs: Succeeded, exit code 0" ]]
}

@test "logs of a pod that ends while its node does not answer come then" {
	echo pvcbench-sfs >"$CLUSTER/jobs"
	printf '%s\n' 'pod-1|Running||' 'pod-1|Succeeded||' >"$CLUSTER/pod-of-pvcbench-sfs"
	echo once >"$CLUSTER/no-logs-pod-1"
	echo 'the log' >"$CLUSTER/logs-pod-1"
	echo 'Succeeded, exit code 0|' >"$CLUSTER/end-of-pod-1"
	run -0 timeout 60 manifests/kube logs sfs
	[[ $(tail -n 2 <<<"$output") == $'the log\n==> pvcbench-sfs: Succeeded, exit code 0' ]]
}

@test "logs of a pod that is being deleted say so" {
	echo pvcbench-sfs >"$CLUSTER/jobs"
	printf '%s\n' 'pod-1|Running||' '' >"$CLUSTER/pod-of-pvcbench-sfs"
	echo 'Failed |2026-12-01T09:00:00Z' >"$CLUSTER/end-of-pod-1"
	touch "$CLUSTER/deleted-pvcbench-sfs"
	run -0 timeout 60 manifests/kube logs sfs
	[[ $output == *'==> pvcbench-sfs: Failed (it is being deleted)'* ]]
}

@test "logs of a pod that is gone goes on with the other Jobs" {
	printf '%s\n' pvcbench-sfs pvcbench-evs-ultra >"$CLUSTER/jobs"
	printf '%s\n' 'pod-1|Running||' '' >"$CLUSTER/pod-of-pvcbench-sfs"
	touch "$CLUSTER/end-of-pod-1"
	echo 'Failed DeadlineExceeded Job was active longer' >"$CLUSTER/end-of-pvcbench-sfs"
	echo 'pod-2|Succeeded||' >"$CLUSTER/pod-of-pvcbench-evs-ultra"
	echo 'Succeeded, exit code 0' >"$CLUSTER/end-of-pod-2"
	run -0 timeout 60 manifests/kube logs
	[[ $output == *'==> pvcbench-sfs: the pod is gone, and its log with it; the Job: '* ]]
	[[ $output == *'; the Job: Failed DeadlineExceeded'* ]]
	[[ $output == *'==> pvcbench-evs-ultra: Succeeded, exit code 0'* ]]
}

@test "logs goes on with the pod that replaces one, and says first what others wait for" {
	printf '%s\n' pvcbench-evs-ultra pvcbench-sfs >"$CLUSTER/jobs"
	printf '%s\n' 'pod-1|Running||' 'pod-1|Failed||' 'pod-2|Running||' 'pod-2|Succeeded||' \
		>"$CLUSTER/pod-of-pvcbench-evs-ultra"
	printf '%s\n' 'pod-3|Pending||its turn|' 'pod-3|Succeeded||' >"$CLUSTER/pod-of-pvcbench-sfs"
	echo 'first log' >"$CLUSTER/logs-pod-1"
	echo 'second log' >"$CLUSTER/logs-pod-2"
	run -0 timeout 60 manifests/kube logs
	[[ $output == *'pvcbench-sfs waits: its turn'*'first log'*'second log'* ]]
}

@test "logs of a Job that ended without a pod says how" {
	echo pvcbench-sfs >"$CLUSTER/jobs"
	echo 'Failed DeadlineExceeded Job was active longer' >"$CLUSTER/end-of-pvcbench-sfs"
	run -0 timeout 60 manifests/kube logs
	[[ $output == *'pvcbench-sfs has ended: Failed DeadlineExceeded'* ]]
}

@test "logs of a Job that is deleted ends, and says so" {
	echo pvcbench-sfs >"$CLUSTER/jobs"
	printf '%s\n' 'pod-1|Running||' '' >"$CLUSTER/pod-of-pvcbench-sfs"
	touch "$CLUSTER/end-of-pod-1" "$CLUSTER/end-of-pvcbench-sfs" \
		"$CLUSTER/deleted-pvcbench-sfs"
	run -0 timeout 60 manifests/kube logs
	[[ $output == *'==> pvcbench-sfs: the pod is gone, and its log with it'* ]]
	[[ $output == *'pvcbench-sfs has ended: it was deleted' ]]
}

@test "logs of an Indexed Job follows index 0, and says what its other pods wait for" {
	echo pvcbench-many >"$CLUSTER/jobs"
	printf 'pod-0|%s|0|\n' Running Running Succeeded >"$CLUSTER/pod-of-pvcbench-many"
	printf '%s\n' 'pod-1|Running|1|' 'pod-2|Pending|2|its turn' \
		>"$CLUSTER/pods-of-pvcbench-many"
	for pod in 0 1; do
		echo "log $pod" >"$CLUSTER/logs-pod-$pod"
	done
	echo 'Succeeded, exit code 0' >"$CLUSTER/end-of-pod-0"
	run -0 timeout 60 manifests/kube logs
	[[ $output == *'pvcbench-many (index 2) waits: its turn'*'log 0'* ]]
	[[ $output != *'log 1'* && $output == *'==> pvcbench-many: Succeeded, exit code 0' ]]
}

@test "logs without a Job says what starts one" {
	run -1 manifests/kube logs evs-ultra
	[[ $output == *"no Job here of class evs-ultra"*"make up"* ]]
}

# pods_are JOB POD...: all that the cluster has of a Job, one time like the other.
pods_are() {
	echo "$1" >>"$CLUSTER/jobs"
	printf '%s\n' "${@:2}" >"$CLUSTER/pods-of-$1"
}

@test "results keeps each log and summary in one folder, and says what others wait for" {
	pods_are pvcbench-evs-ultra 'pod-1|Succeeded||'
	pods_are pvcbench-sfs 'pod-2|Pending||its turn'
	echo 'the log' >"$CLUSTER/logs-pod-1"
	echo 'the summary' >"$CLUSTER/end-of-pod-1"
	run -0 manifests/kube results
	[[ $output == "==> $BUILD/results/evs-ultra.log: the summary"*'sfs waits: its turn' ]]
	[[ $(cat "$BUILD/results/evs-ultra.log") == 'the log' ]]
	[[ $(cat "$BUILD/results/summary.txt") == "$output" ]]
}

@test "results of a pod without a log goes on with the others, and an older log stays" {
	pods_are pvcbench-evs-ultra 'pod-1|Failed||'
	pods_are pvcbench-sfs 'pod-2|Succeeded||'
	touch "$CLUSTER/no-logs-pod-1"
	echo 'Failed Evicted Usage of the volume' >"$CLUSTER/end-of-pod-1"
	echo 'the summary' >"$CLUSTER/end-of-pod-2"
	mkdir -p "$BUILD/results"
	echo older >"$BUILD/results/evs-ultra.log"
	run -0 manifests/kube results
	[[ $output == *'evs-ultra.log: no log; Failed Evicted Usage'*'the summary'* ]]
	[[ $(cd "$BUILD/results" && echo evs* && cat evs*) == $'evs-ultra.log\nolder' ]]
}

@test "results of a Job with several pods has a file for each" {
	pods_are pvcbench-sfs 'pod-1|Failed||' 'pod-2|Succeeded||'
	pods_are pvcbench-many 'pod-3|Succeeded|0|' 'pod-4|Succeeded|1|'
	for pod in 1 2 3 4; do
		echo "log $pod" >"$CLUSTER/logs-pod-$pod"
	done
	run -0 manifests/kube results
	[[ $(cd "$BUILD/results" && cat sfs.log sfs.2.log many-0.log many-1.log) == \
		$'log 2\nlog 1\nlog 3\nlog 4' ]]
}

@test "results without a result fails, and says why there is none" {
	run -1 manifests/kube results sfs
	[[ $output == *'no Job here of class sfs'* ]]
	pods_are pvcbench-sfs
	echo 'exceeded quota' >"$CLUSTER/events-pvcbench-sfs"
	run -1 manifests/kube results
	[[ $output == *'pvcbench-sfs waits: exceeded quota'*'no pod here has started'* ]]
}

@test "dist writes a file for each class" {
	run -0 manifests/kube dist
	[[ $(printf '%s\n' "$BUILD"/dist/*.yaml | wc -l) == \
		$(printf '%s\n' storageclasses/*/*/class.yaml | wc -l) ]]
	run -0 manifests/kube dist evs-ultra
	[[ $output == "$BUILD/dist/pvcbench-evs-ultra.yaml" ]]
}

@test "check-export refuses empty values, names them, and takes real ones" {
	run -1 manifests/kube check-export
	[[ $output == *volumeHandle*share-export-location* ]]
	run -1 manifests/kube check-export evs-ultra
	[[ $output == *'has no export.yaml'* ]]
	cp -r manifests storageclasses kustomization.yaml "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	sed -i 's|volumeHandle: ""|volumeHandle: a47d0d91-011b-42ce-8c2f-eec5ce1e2a25|
		s|location: ""|location: "192.168.0.10:/"|' storageclasses/cce/sfs-turbo/export.yaml
	run -0 manifests/kube check-export
	[[ $output == *'192.168.0.10:/, ID a47d0d91-011b-42ce-8c2f-eec5ce1e2a25' ]]
	sed -i 's|192.168.0.10:/|192.168.0.10|' storageclasses/cce/sfs-turbo/export.yaml
	run -1 manifests/kube check-export
	[[ $output == *"'192.168.0.10', not HOST:/PATH"* ]]
}

@test "make hands on the class" {
	run -0 make --no-print-directory rerun CLASS=evs-ultra
	[[ $(calls) == *'replace --force -f -' ]]
	grep -q storageclasses/cce/evs-ultra "$CLUSTER/kustomization.yaml"
}
