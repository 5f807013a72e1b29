#!/usr/bin/env bash
# Each fuzzer reads its corpus and goes on from there for FUZZ_SECONDS (5). What it
# finds is kept in BUILD/fuzz/found; a crash prints how to repeat it.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=${BUILD:-build}
seconds=${FUZZ_SECONDS:-5}
n=0

# Seeds besides the fuzzer's own folder.
seeds() {
	case $1 in
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
	if output=$("$build/fuzz/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
		-max_len=65536 -print_final_stats=1 -artifact_prefix="$found/" \
		"$found" "${folders[@]}" 2>&1); then
		echo "ok $n - $name: $(grep -oE 'Done [0-9]+ runs' <<<"$output")"
	else
		echo "not ok $n - $name"
		printf '# %s\n' "${output//$'\n'/$'\n# '}" | tail -n 40
	fi
done
echo "1..$n"
