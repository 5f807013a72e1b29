# Shared by the scripts here: which kubectl, and what there is to render.
#
# KUBECTL is the kubectl to use. Others, whose bytes have to be the same, are those that
# KUBECTLS names and build/kubectl/*; tests/manifests/get-kubectl puts some there.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=${BUILD:-build}
n_tests=0

tap() {
	n_tests=$((n_tests + 1))
	echo "$1 $n_tests - $2"
}

# quiet NAME COMMAND...: a test is a command that says what is wrong.
quiet() {
	local output status=0

	output=$("${@:2}" 2>&1) || status=$?
	if ((status == 0)) && [[ -z $output ]]; then
		tap ok "$1"
	else
		tap "not ok" "$1"
		printf '# %s\n' "${output//$'\n'/$'\n# '}" | head -n 40
	fi
}

finish() {
	echo "1..$n_tests"
}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

version_of() {
	"$1" version --client 2>/dev/null |
		sed -n 's/.*GitVersion:"\([^"]*\)".*/\1/p; s/^Client Version: *v/v/p' | head -n 1
}

# kubectl before 1.21 knows no components.
can_render() {
	"$1" kustomize storageclasses/generic/emptydir >/dev/null 2>&1
}

# Sets kubectl, or ends the script: nothing here can be said without one.
need_kubectl() {
	kubectl=${KUBECTL:-kubectl}
	command -v "$kubectl" >/dev/null || skip_all "no kubectl here (KUBECTL names one)"
	can_render "$kubectl" ||
		skip_all "kubectl $(version_of "$kubectl") cannot render components; 1.22 can"
	echo "# kubectl $(version_of "$kubectl"), $(command -v "$kubectl")"
}

other_kubectls() {
	local candidate

	for candidate in ${KUBECTLS:-} "$build"/kubectl/kubectl-*; do
		if [[ -x $candidate ]]; then
			echo "$candidate"
		fi
	done
}

# The class that a component is shown on.
sample_of() {
	case $1 in
	no-claim) echo manifests/base ;;
	multi-pod) echo storageclasses/cce/sfs-turbo ;;
	root-on-nfs) echo storageclasses/generic/default-class ;;
	*) echo storageclasses/cce/evs-ultra ;;
	esac
}

# A tree whose root takes the RESOURCE, with the COMPONENT; its path.
tree_with() {
	local tree=$scratch/tree

	rm -rf "$tree" && mkdir "$tree"
	cp -r manifests storageclasses "$tree"
	overlay "$1" "manifests/components/$2" >"$tree/kustomization.yaml"
	echo "$tree"
}

# A kustomization.yaml: a resource, a component.
overlay() {
	printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n'
	printf 'resources:\n  - %s\ncomponents:\n  - %s\n' "$1" "$2"
}

class_directories() {
	dirname storageclasses/*/*/kustomization.yaml
}

# The overlays of manifests/persistence, each a volume.
persistence_directories() {
	dirname manifests/persistence/*/kustomization.yaml | grep -v '/base$'
}

# What manifests/hops has to be applied.
hops_directories() {
	printf '%s\n' manifests/hops/relays manifests/hops/job
}

component_names() {
	printf '%s\n' manifests/components/*/kustomization.yaml | cut -d / -f 3
}

# Everything that is compared with a golden: NAME and directory, a line each.
renderings() {
	local directory

	echo "root ."
	echo "base manifests/base"
	echo "seccomp manifests/seccomp"
	for directory in $(class_directories); do
		echo "class-${directory##*/} $directory"
	done
	for directory in $(persistence_directories); do
		echo "persistence-${directory##*/} $directory"
	done
	for directory in $(hops_directories); do
		echo "hops-${directory##*/} $directory"
	done
}

# render_all KUBECTL DIRECTORY: each rendering as DIRECTORY/NAME.yaml, what was said
# on stderr as NAME.err. A component's is of its sample class.
render_all() {
	local name directory component

	mkdir -p "$2"
	while read -r name directory; do
		"$1" kustomize "$directory" >"$2/$name.yaml" 2>"$2/$name.err" || true
	done < <(renderings)
	for component in $(component_names); do
		directory=$(tree_with "$(sample_of "$component")" "$component")
		"$1" kustomize "$directory" >"$2/component-$component.yaml" \
			2>"$2/component-$component.err" || true
	done
	render_exports "$1" >"$2/exports.yaml" 2>"$2/exports.err" || true
}

# What docs/kubernetes.md builds beside the repository, by typing what it says.
render_exports() { # KUBECTL
	local bin=$scratch/bin tree=$scratch/beside/repository

	mkdir -p "$bin" "$tree"
	cp -r manifests storageclasses kustomization.yaml "$tree"
	cat >"$bin/kubectl" <<-END
		#!/bin/sh
		[ "\$1" != apply ] || exec "$(command -v "$1")" kustomize "\$3"
	END
	chmod +x "$bin/kubectl"
	awk '
	/^```sh / { inside = 1; text = ""; next }
	/^```/ && text ~ /apply -k \.\.\/exports/ { printf "%s", text; exit }
	/^```/ { inside = 0 }
	inside { text = text $0 "\n" }' docs/kubernetes.md >"$scratch/block"
	(cd "$tree" && PATH=$bin:$PATH bash -euo pipefail "$scratch/block")
}

# A tree whose root has every class, each volume of manifests/persistence, manifests/hops, and each
# component on its sample, told apart by name.
tree_of_all() {
	local tree=$scratch/all component directory

	rm -rf "$tree" && mkdir "$tree"
	cp -r manifests storageclasses "$tree"
	{
		printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n'
		printf 'resources:\n'
		printf '  - %s\n' storageclasses/*
		persistence_directories | sed 's/^/  - /'
		hops_directories | sed 's/^/  - /'
	} >"$tree/kustomization.yaml"
	for component in $(component_names); do
		directory=$tree/on/$component
		mkdir -p "$directory"
		overlay "../../$(sample_of "$component")" "../../manifests/components/$component" \
			>"$directory/kustomization.yaml"
		echo "namePrefix: on-$component-" >>"$directory/kustomization.yaml"
		echo "  - on/$component" >>"$tree/kustomization.yaml"
	done
	echo "$tree"
}

scratch=$(mktemp -d "${TMPDIR:-/tmp}/pvcbench-manifests.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
