# shellcheck shell=bash
# What the files here share. They need the cluster that KUBECONFIG names (see with-cluster).
#
# A file applies in setup_file what its tests then look at, in a namespace of its own,
# from a copy of the manifests in which plan, claims and requests are small. What waiting
# has brought stays in $BATS_FILE_TMPDIR: a log, a message and the pod's state per Job.
# shellcheck source=tests/run/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/../run/lib.bash"

kubectl=${KUBECTL:-kubectl}
ns=pvcbench-e2e-$(basename "${BATS_TEST_FILENAME:-none}" .bats)
tree=${BATS_FILE_TMPDIR:-}/tree
shipped=localhost/pvcbench:$(sed -n 's/^VERSION *:= *//p' "$repo/Makefile")
image=${E2E_IMAGE:-$shipped}

k() {
	"$kubectl" -n "$ns" "$@"
}

on_this_machine() { # with-cluster's node is
	[ -n "${KUBE_STATE:-}" ]
}

# --- the file's namespace ---

# Also what a run left that was cut off.
new_namespace() {
	"$kubectl" delete namespace "$ns" --ignore-not-found --timeout=180s
	"$kubectl" create namespace "$ns"
	"$kubectl" label namespace "$ns" "pod-security.kubernetes.io/enforce=${1:-restricted}"
	wait_for 90 k get serviceaccount default
}

end_namespace() {
	"$kubectl" delete namespace "$ns" --ignore-not-found --timeout=180s
}

# --- manifests ---

# copy_tree RESOURCE...: the manifests in $tree, whose root takes these resources.
copy_tree() {
	mkdir "$tree"
	cp -r "$repo/manifests" "$repo/storageclasses" "$tree"
	cp -r "$repo/tests/e2e/small" "$tree/small"
	cp "$repo/tests/e2e/small.yaml" "$tree/manifests/plans"
	sed -i 's/plan.yaml=.*/plan.yaml=small.yaml/' "$tree/manifests/plans/kustomization.yaml"
	[ $# = 0 ] || root_of "$@" >"$tree/kustomization.yaml"
	[ $# != 0 ] || cp "$repo/kustomization.yaml" "$tree"
	sed -i "s|newName: .*|newName: ${image%:*}|; s|newTag: .*|newTag: ${image##*:}|
		s|^components:|&\n  - small|" "$tree/kustomization.yaml"
}

# The root's kustomization.yaml with these resources in place of its own.
root_of() {
	awk -v resources="$*" '
	/^resources:/ {
		print
		n = split(resources, resource, " ")
		for (i = 1; i <= n; i++)
			print "  - " resource[i]
		inside = 1
		next
	}
	inside && /^ / { next }
	{ inside = 0; print }' "$repo/kustomization.yaml"
}

# variant NAME RESOURCE [COMPONENT...] [<PATCHES]: a Job of a class beside others of it, all at
# once: its name begins with NAME. variants_root then takes them all.
variant() {
	local directory=$tree/on/$1 component
	mkdir -p "$directory"
	{
		printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n'
		printf 'namePrefix: %s-\nresources:\n  - ../../storageclasses/%s\n' "$1" "$2"
		printf 'components:\n  - ../../small\n'
		for component in "${@:3}"; do
			printf '  - ../../manifests/components/%s\n' "$component"
		done
		[ -t 0 ] || cat
	} >"$directory/kustomization.yaml"
}

variants_root() { # NAME...
	{
		printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n'
		printf 'resources:\n'
		printf '  - on/%s\n' "$@"
		sed -n '/^images:/,$p' "$tree/kustomization.yaml"
	} >"$tree/variants.yaml"
	mv "$tree/variants.yaml" "$tree/kustomization.yaml"
}

# A patch of the Job, for variant: one more argument of the program, or what is at a path.
job_patch() { # {--ARGUMENT | PATH VALUE}...
	printf 'patches:\n  - target: {kind: Job}\n    patch: |-\n'
	while (($#)); do
		if [[ $1 == --* ]]; then
			printf '      - {op: add, path: %s, value: "%s"}\n' \
				/spec/template/spec/containers/0/args/- "$1"
			shift
		else
			printf '      - {op: replace, path: %s, value: %s}\n' "$1" "$2"
			shift 2
		fi
	done
}

default_class() { # the cluster's own
	"$kubectl" get storageclass -o json | jq -r '[.items[].metadata | select(.annotations[
		"storageclass.kubernetes.io/is-default-class"] == "true").name][0] // ""'
}

# --- Jobs and what comes of them ---

jobs_ended() { # JOB...
	local job
	for job in "$@"; do
		k get job "$job" -o json | jq -e '.status.conditions[]? |
			select(.status == "True" and (.type | IN("Complete", "Failed")))' \
			>/dev/null || return 1
	done
}

# A kubectl of the file's namespace, and of the user AS; its path.
own_kubectl() {
	local program=$BATS_FILE_TMPDIR/kubectl${AS:+-$AS}
	if [ ! -e "$program" ]; then
		printf '#!/bin/sh\nexec "%s" -n "%s" %s "$@"\n' "$kubectl" "$ns" \
			"${AS:+--as=$AS}" >"$program"
		chmod +x "$program"
	fi
	echo "$program"
}

# manifests/kube of the copied tree; it works in kubectl's own namespace, and as the user AS.
kube() { # COMMAND [CLASS]
	KUBECTL=$(own_kubectl) BUILD=$BATS_FILE_TMPDIR \
		timeout "${SECONDS_AT_MOST:-200}" "$tree/manifests/kube" "$@"
}

# `make logs` of each of these classes, all at once, into $BATS_FILE_TMPDIR/logs-CLASS: with a pod
# that is deleted its log is gone. They end with the Jobs.
follow_classes() { # CLASS...
	local class
	for class in "$@"; do
		SECONDS_AT_MOST=300 kube logs "$class" >"$BATS_FILE_TMPDIR/logs-$class" 2>&1 3>&- &
	done
}

shown() { # JOB REGEX: by `make logs` of its class, so far
	grep -Eq -- "$2" "$BATS_FILE_TMPDIR/logs-${1#*-pvcbench-}"
}

# Look at what `make logs` has shown, which becomes $T/out and $T/log.
look_at_shown() { # JOB
	cp "$BATS_FILE_TMPDIR/logs-${1#*-pvcbench-}" "$T/out"
	cp "$T/out" "$T/log"
	: >"$T/err"
}

pod_phase() { # JOB
	k get pods -l "job-name=$1" -o jsonpath='{.items[*].status.phase}'
}

is_running() { # JOB
	[ "$(pod_phase "$1")" = Running ]
}

process_of() { # POD: that of its container, on this machine
	local id
	id=$(k get pod "$1" -o jsonpath='{.status.containerStatuses[0].containerID}')
	cat "${KUBE_RUN:-/run/kube-one}/containerd/io.containerd.runtime.v2.task/k8s.io/$(
	)${id##*/}/init.pid"
}

# Wait, at most SECONDS, and keep the pod, its log and its message as JOB.json, .log, .message.
collect() { # SECONDS JOB...
	local job kept
	if ! wait_for "$1" jobs_ended "${@:2}"; then
		k get pods,pvc,events >&3
		return 1
	fi
	for job in "${@:2}"; do
		kept=$BATS_FILE_TMPDIR/$job
		k get pods -l "job-name=$job" -o json | jq '.items[-1]' >"$kept.json"
		k logs "job/$job" >"$kept.log" 2>&1 || true
		jq -r '.status.containerStatuses[0].state.terminated.message // ""' \
			"$kept.json" >"$kept.message"
	done
}

wait_for() { # SECONDS COMMAND...
	local end=$((SECONDS + $1))
	until "${@:2}"; do
		((SECONDS < end)) || return 1
		sleep 0.5
	done
}

# Look at a Job that was collected: sets status; its log becomes $T/out and $T/log.
look_at() { # JOB
	kept=$BATS_FILE_TMPDIR/$1
	cp "$kept.log" "$T/out"
	cp "$kept.log" "$T/log"
	: >"$T/err"
	status=$(jq -r '.status.containerStatuses[0].state.terminated.exitCode' "$kept.json")
	results
}

# The result lines of $T/log as $T/result-N.json and, joined, $T/result.json.
results() {
	local line n=0
	rm -f "$T"/result*.json
	while IFS= read -r line; do
		n=$((n + 1))
		echo "${line#pvcbench-result: }" >"$T/result-$n.json"
	done < <(grep '^pvcbench-result: ' "$T/log")
	((n == 0)) || jq -s '.[0] + {tests: map(.tests[])}' "$T"/result-*.json >"$T/result.json"
}

# START END JOB of the collected pods named, by their start; in seconds.
times() { # JOB...
	local job
	for job in "$@"; do
		jq -r --arg job "$job" '.status.containerStatuses[0].state.terminated |
			"\(.startedAt | fromdate) \(.finishedAt | fromdate) \($job)"' \
			"$BATS_FILE_TMPDIR/$job.json"
	done | sort -n
}

one_after_the_other() { # JOB...
	times "$@" | awk '
	{ print }
	NR > 1 && $1 < end { bad = 1 }
	{ end = $2 }
	END { exit bad || NR < 2 }'
}

# A run that went well, from its first line to its last.
is_a_good_run() { # JOB [NUMBER OF TESTS]
	look_at "$1"
	exits 0
	dbench_block
	valid "$T"/result-*.json
	holds ".tests | length == ${2:-3} and all(.status == \"ok\" and
		.ioengine != \"\" and .ioengine_reason != \"\")"
	grep -q 'Dbench Summary' "$kept.message"
	same "$(grep -c '^[a-zA-Z0-9_-]*: ' <(sed '1,/Summary/d' "$kept.message"))" "${2:-3}"
}
