# What survives, and who sees it: what docs/kubernetes.md tells to type prints what it shows.
bats_require_minimum_version 1.5.0
load lib.bash

setup_file() {
	new_namespace
	copy_tree
}

teardown_file() {
	end_namespace
}

block() { # TAG: the one of the section
	awk -v tag="\`\`\`$1" '
	/^## / { ours = /^## What survives/ }
	/^```/ { inside = $1 == tag; next }
	ours && inside' "$repo/docs/kubernetes.md"
}

@test "docs: the table of what survives is what its command prints" {
	block sh >"$T/block"
	block text >"$T/wanted"
	grep '^pvc ' "$T/wanted"
	cd "$tree"
	WAIT=1s KUBECTL=$(own_kubectl) timeout 300 bash -euo pipefail "$T/block" >"$T/table"
	diff "$T/wanted" "$T/table"
}

@test "nothing of it is left" {
	same "$(k get deployments,replicasets,pods,pvc -o name)" ""
}
