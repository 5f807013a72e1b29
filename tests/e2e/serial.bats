# serial and serial-per-node on two nodes. The second is one in name only: the scheduler gives it
# pods, and nobody runs them.
bats_require_minimum_version 1.5.0
load lib.bash

paper=$ns-node

paper_node() {
	"$kubectl" apply -f - <<-END
		apiVersion: v1
		kind: Node
		metadata:
		  name: $paper
		  labels: {kubernetes.io/hostname: $paper, kubernetes.io/os: linux}
		status:
		  capacity: {cpu: "8", memory: 16Gi, ephemeral-storage: 100Gi, pods: "10"}
		  allocatable: {cpu: "8", memory: 16Gi, ephemeral-storage: 100Gi, pods: "10"}
		  conditions: [{type: Ready, status: "True", reason: OnPaper, message: "",
		    lastHeartbeatTime: $(date -u +%FT%TZ), lastTransitionTime: $(date -u +%FT%TZ)}]
	END
	wait_for 90 is_untainted
}

is_untainted() {
	[ -z "$("$kubectl" get node "$paper" -o jsonpath='{.spec.taints}')" ]
}

setup_file() {
	on_this_machine || return 0
	new_namespace
	copy_tree
	paper_node
}

teardown_file() {
	on_this_machine || return 0
	forget_pods
	"$kubectl" delete node "$paper" --ignore-not-found --timeout=60s
	end_namespace
}

# Those of the node on paper end only by force.
forget_pods() {
	k delete jobs --all --timeout=60s
	k delete pods --all --force --grace-period=0 --timeout=60s
}

apply_three() { # COMPONENT
	rm -rf "$tree/on"
	variant one generic/emptydir "$1" </dev/null
	variant two generic/emptydir "$1" </dev/null
	variant three generic/emptydir "$1" </dev/null
	variants_root one two three
	k apply -k "$tree"
}

# The nodes that pods have, and the times at which they got them, in order.
places() {
	k get pods -o json | jq -r '[.items[] | select(.spec.nodeName) | {
		at: (.status.conditions[] | select(.type == "PodScheduled").lastTransitionTime),
		node: .spec.nodeName}] | sort_by(.at)[] | "\(.at) \(.node)"'
}

have_places() { # NUMBER
	[ "$(places | wc -l)" = "$1" ]
}

@test "serial-per-node: a pod on each node at once, the third when the first has ended" {
	on_this_machine || skip "a node can be added to with-cluster's cluster only"
	apply_three serial-per-node
	await 60 have_places 2
	same "$(places | cut -d ' ' -f 2 | sort -u | wc -l)" 2
	await 10 waits_for_its_turn
	await 60 have_places 3
	places
	first_end=$(k get pods -o json | jq -r '[.items[].status.containerStatuses[]?
		| .state.terminated | select(.).finishedAt | fromdate] | min')
	third=$(places | tail -n 1)
	within "$(date -d "${third% *}" +%s)" "$first_end" $((first_end + 30))
	not grep -q "$paper" <<<"$third"
	forget_pods
}

waits_for_its_turn() {
	k get pods -o json | jq -e '[.items[] | select(.spec.nodeName | not).status.conditions[]?
		| select(.type == "PodScheduled").message | test("anti-affinity")] == [true]' \
		>/dev/null
}

@test "serial: one pod in the cluster, though another node is free" {
	on_this_machine || skip "a node can be added to with-cluster's cluster only"
	apply_three serial
	await 60 have_places 1
	sleep 3
	have_places 1
	same "$(k get pods -o json | jq '[.items[] | select(.spec.nodeName | not)] | length')" 2
	forget_pods
}
