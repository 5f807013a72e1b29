#!/usr/bin/env bash
# The reference of the plan's keys is what the runner's table says, and the schema
# lets all good plans pass and no bad one that a schema can tell; that of classes as well.
set -euo pipefail
cd "$(dirname "$0")/../.."

scratch=$(mktemp -d "${TMPDIR:-/tmp}/pvcbench-plans.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export BUILD=$scratch/build
n=0

# A test is a command that prints what is wrong.
quiet() { # NAME COMMAND...
	local output

	n=$((n + 1))
	if output=$("${@:2}" 2>&1) && [[ -z $output ]]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '# %s\n' "${output//$'\n'/$'\n# '}" | tail -n 40
	fi
}

docs/generate "$scratch"
for file in plan.md deliver.md plan.schema.json; do
	quiet "docs/$file is up to date (make docs)" diff -u "docs/$file" "$scratch/$file"
done
mapfile -t plans < <(printf '%s\n' manifests/plans/*.yaml | grep -v /kustomization.yaml)
quiet "good and built-in plans fit the schema, bad ones do not" \
	/usr/bin/python3 tests/plans/schema.py tests/plans/good/*.yaml "${plans[@]}"
quiet "the shipped classes fit their schema, bad ones do not" /usr/bin/python3 tests/plans/class.py
echo "1..$n"
