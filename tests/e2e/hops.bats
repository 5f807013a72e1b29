# manifests/hops: a call of a Service beside one of localhost, in two orders.
bats_require_minimum_version 1.5.0
load lib.bash

# These manifests, with the image that the root has.
apply() { # DIRECTORY
	sed -n '/^images:/,$p' "$tree/kustomization.yaml" >"$tree/images"
	{
		printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n'
		printf 'resources:\n  - %s\n' "$1"
		cat "$tree/images"
	} >"$tree/kustomization.yaml"
	k apply -k "$tree"
}

# Back to back: with a rest before each what is measured is how fast a CPU of this node wakes.
without_rest() {
	local word
	for word in --set interval=0 --set requests=2000; do
		printf '      - {op: add, path: %s, value: "%s"}\n' \
			/spec/template/spec/containers/0/args/- "$word"
	done >>"$tree/manifests/hops/job/kustomization.yaml"
}

setup_file() {
	new_namespace
	copy_tree
	without_rest
	apply manifests/hops/relays
	k rollout status deployment -l app.kubernetes.io/name=pvcbench-hops --timeout=120s
	apply manifests/hops/job
	wait_for 180 k wait --for=condition=complete job/pvcbench-hops --timeout=1s
	k logs job/pvcbench-hops >"$BATS_FILE_TMPDIR/log"
	sed -n 's/^pvcbench-result: //p' "$BATS_FILE_TMPDIR/log" >"$BATS_FILE_TMPDIR/result.json"
}

teardown_file() {
	end_namespace
}

result() { # JQ-EXPRESSION that holds
	jq -e "$1" "$BATS_FILE_TMPDIR/result.json"
}

@test "both chains came through all their hops" {
	grep '^hops: hops$' "$BATS_FILE_TMPDIR/log"
	result '.tests[0].status == "ok" and
		[.tests[0].hops.chains[].total_ns.requests] == [2000, 2000] and
		all(.tests[0].hops.chains[]; .errors == {} and (.hops | length) == 3)'
}

@test "what hops took and what lay between them is all of it" {
	result 'all(.tests[0].hops.chains[];
		.total_ns.sum == ([.hops[] | .own_ns.sum + .network_ns.sum] | add))'
}

# Whether localhost is nearer than a Service depends here on which CPU wakes: all is one node.
@test "the first hop is as far in either order" {
	jq -r '.tests[0].hops.chains[] | .name, (.hops[] | "  \(.url) \(.network_ns.p50)")' \
		"$BATS_FILE_TMPDIR/result.json"
	result '[.tests[0].hops.chains[].hops[0].network_ns.p50] | max < 2 * min'
}
