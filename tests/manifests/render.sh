#!/usr/bin/env bash
# Every overlay renders, and to the bytes of its golden; UPDATE=1 writes them anew. A group
# is its classes, and whatever kubectl renders, the bytes are the same.
# shellcheck source=tests/manifests/lib.bash
source "$(dirname "$0")/lib.bash"

golden=tests/manifests/golden

# A rendering against its golden; a warning of kubectl's is a fault too.
compare() {
	if [[ -s ${1%.yaml}.err ]]; then
		cat "${1%.yaml}.err"
		return 1
	fi
	if [[ -n ${UPDATE:-} ]]; then
		cp "$1" "$golden/${1##*/}"
	fi
	diff -u "$golden/${1##*/}" "$1"
}

# The documents of the YAML files named, one a line, in no order.
documents() {
	awk 'FNR == 1 && NR > 1 { printf "\n" } /^---$/ { printf "\n"; next }
		{ printf "%s\\n", $0 } END { printf "\n" }' "$@" | sort
}

group_is_its_classes() {
	local class files=()

	for class in "$1"/*/kustomization.yaml; do
		class=$(basename "$(dirname "$class")")
		files+=("$scratch/out/class-$class.yaml")
	done
	diff <(documents "${files[@]}") <("$kubectl" kustomize "$1" | documents -)
}

# What `manifests/kube` makes of a class is what the root has of it.
root_holds() {
	diff <(documents "$scratch/out/root.yaml" | grep -F "pvcbench/class: $1\\n") \
		<(KUBECTL=$kubectl manifests/kube render "$1" | documents -)
}

renders_with_root() {
	local tree

	tree=$(tree_with storageclasses/cce "$1")
	sed "s|^components:|&\n  - manifests/components/$1|" kustomization.yaml \
		>"$tree/kustomization.yaml"
	renders "$tree"
}

renders() {
	"$kubectl" kustomize "$1" >/dev/null
}

same_bytes() {
	diff <("$kubectl" kustomize "$scratch/all") <("$1" kustomize "$scratch/all")
}

no_golden_is_left_over() {
	diff <(cd "$scratch/out" && printf '%s\n' *.yaml) <(cd "$golden" && printf '%s\n' *.yaml)
}

need_kubectl
render_all "$kubectl" "$scratch/out"
for rendering in "$scratch"/out/*.yaml; do
	quiet "$(basename "$rendering" .yaml) is its golden" compare "$rendering"
done
quiet "each golden is a rendering" no_golden_is_left_over
for group in storageclasses/*/; do
	quiet "the group $(basename "$group") is its classes" group_is_its_classes "${group%/}"
done
for class in evs-ultra sfs-turbo emptydir; do
	quiet "manifests/kube renders $class as the root does" root_holds "$class"
done
for component in $(component_names); do
	case $component in
	no-claim | ephemeral-volume | multi-pod) continue ;; # of a class, not of many
	esac
	quiet "the root renders with $component" renders_with_root "$component"
done
tree_of_all >/dev/null
quiet "everything renders at once" renders "$scratch/all"
mapfile -t others < <(other_kubectls)
for other in "${others[@]}"; do
	quiet "kubectl $(version_of "$other") renders the same bytes" same_bytes "$other"
done
if ((${#others[@]} == 0)); then
	tap ok "other versions of kubectl render the same bytes # SKIP there is only one kubectl \
(tests/manifests/get-kubectl fetches others)"
fi
finish
