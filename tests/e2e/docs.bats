# What the documentation tells to type on a cluster, as it stands there.
bats_require_minimum_version 1.5.0
load lib.bash

setup_file() {
	new_namespace
}

teardown_file() {
	end_namespace
}

@test "README and docs: the commands for a cluster" {
	[ "$image" = "$shipped" ] || skip "the nodes know the image by another name than the root"
	cp "$KUBECONFIG" "$T/kubeconfig"
	KUBECONFIG=$T/kubeconfig "$kubectl" config set-context --current --namespace "$ns"
	KUBECONFIG=$T/kubeconfig run "$repo/tests/run-docs" --in-cluster
	echo "$output"
	[ "$status" = 0 ]
	grep -q '^ok 1' <<<"$output"
	not grep '^not ok' <<<"$output"
	same "$(k get jobs,pvc,configmaps -l app.kubernetes.io/name=pvcbench -o name)" ""
}
