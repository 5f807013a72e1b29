#!/usr/bin/env bash
# Each fuzzer reads its corpus and goes on from there: the same steps every time,
# so that a test run does not depend on luck; with FUZZ_SECONDS for so long and from
# what was found before. What it finds is kept in BUILD/fuzz/found.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=${BUILD:-build}
n=0

# A whole log is a hundred times the work of a plan.
runs() {
	case $1 in
	fuzz_logs) echo 2000 ;;
	*) echo 20000 ;;
	esac
}

# Seeds besides the fuzzer's own folder.
seeds() {
	case $1 in
	fuzz_logs) echo tests/golden ;;
	fuzz_class) echo tests/plans/bad/class storageclasses ;;
	fuzz_plan) echo tests/plans/good tests/plans/bad manifests/plans ;;
	esac
}

for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	found=$build/fuzz/found/$name
	n=$((n + 1))
	mkdir -p "$found"
	read -ra folders <<<"$(seeds "$name")"
	[[ ! -d tests/fuzz/corpus/$name ]] || folders+=("tests/fuzz/corpus/$name")
	# New inputs are written to the first folder.
	if [[ -n ${FUZZ_SECONDS:-} ]]; then
		how=(-max_total_time="$FUZZ_SECONDS" -print_final_stats=1 "$found")
	else
		rm -rf "$build/fuzz/scratch" && mkdir "$build/fuzz/scratch"
		how=(-seed=1 -runs="$(runs "$name")" "$build/fuzz/scratch")
	fi
	if output=$("$build/fuzz/$name" -timeout=10 -rss_limit_mb=1024 -max_len=65536 \
		-artifact_prefix="$found/" "${how[@]}" "${folders[@]}" 2>&1); then
		echo "ok $n - $name: $(grep -oE 'Done [0-9]+ runs' <<<"$output")"
	else
		echo "not ok $n - $name"
		printf '# %s\n' "${output//$'\n'/$'\n# '}" | tail -n 40
	fi
done
echo "1..$n"
