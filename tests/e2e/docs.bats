# What the documentation tells to type on a cluster, as it stands there.
# side by side
bats_require_minimum_version 1.5.0
load lib.bash

# The classes of a provider, made by what makes the cluster's own: so that what is written for
# that provider runs as it stands.
provider_classes() {
	local class provisioner
	provisioner=$("$kubectl" get storageclass "$(default_class)" -o jsonpath='{.provisioner}')
	for class in csi-disk-topology managed-csi-premium; do
		"$kubectl" apply -f - <<-END
			apiVersion: storage.k8s.io/v1
			kind: StorageClass
			metadata: {name: $class, labels: {pvcbench-e2e: docs}}
			provisioner: $provisioner
			volumeBindingMode: WaitForFirstConsumer
		END
	done
}

setup_file() {
	new_namespace
	! on_this_machine || provider_classes
}

teardown_file() {
	end_namespace
	"$kubectl" delete storageclass -l pvcbench-e2e=docs
}

# Runs the blocks that are skipped elsewhere for this reason.
type_what_needs() { # REASON
	[ "$image" = "$shipped" ] || skip "the nodes know the image by another name than the root"
	cp "$KUBECONFIG" "$T/kubeconfig"
	KUBECONFIG=$T/kubeconfig "$kubectl" config set-context --current --namespace "$ns"
	KUBECONFIG=$T/kubeconfig run "$repo/tests/run-docs" --skipped "$1"
	echo "$output"
	[ "$status" = 0 ]
	grep -q '^ok 1' <<<"$output"
	not grep '^not ok' <<<"$output"
	same "$(k get jobs,pvc,configmaps -l app.kubernetes.io/name=pvcbench -o name)" ""
}

@test "README and docs: the commands for a cluster" {
	type_what_needs 'needs a cluster'
}

@test "docs: the roles that they tell to make suffice for make's targets" {
	k get rolebinding pvcbench-write pvcbench-read
	copy_tree storageclasses/generic/emptydir
	AS=jane kube up
	AS=jane kube logs emptydir >"$T/log" # to its end, which results looks for
	grep -q '= Dbench Summary =' "$T/log"
	AS=jane kube results >"$T/results"
	grep '^==> .*/emptydir.log: Succeeded, exit code 0' "$T/results"
	AS=jane kube rerun
	AS=jane kube down
	same "$(k get jobs,configmaps -l app.kubernetes.io/name=pvcbench -o name)" ""
	# A user without them is refused, so it was these that did it.
	AS=nobody not kube up
}

@test "docs: the commands for CCE, with a class of its name" {
	on_this_machine || skip "a class of that name can be made in with-cluster's cluster only"
	type_what_needs 'needs a cluster of CCE'
}

@test "docs: the commands for AKS, with a class of its name" {
	on_this_machine || skip "a class of that name can be made in with-cluster's cluster only"
	type_what_needs 'needs a cluster of AKS'
}
