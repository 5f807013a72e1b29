#!/usr/bin/env bash
# Every face of a fixed result, to the byte: NAME.json is read and written again as
# text, result lines, termination message, metrics and JSON (NAME.txt, .lines, .message,
# .metrics, .json).
# compare/NAME.FORM: results beside each other, in each form; compare/results.py makes them.
# UPDATE=1 rewrites what is expected; look at the difference before it is committed.
set -euo pipefail
cd "$(dirname "$0")"

root=../..
[[ ${BUILD:-build} == /* ]] && build=$BUILD || build=$root/${BUILD:-build}
render=$build/golden/render
schema=$root/docs/result.schema.json
n=0

report() { # STATUS NAME [DETAILS]
	n=$((n + 1))
	if (($1 == 0)); then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		printf '# %s\n' "${3//$'\n'/$'\n# '}"
	fi
}

check_face() { # FACE NAME EXPECTED
	local status=0 details

	if [[ -n ${UPDATE:-} && $1 != json ]]; then
		"$render" "$1" "$2.json" >"$3"
	fi
	details=$("$render" "$1" "$2.json" 2>&1 | diff "$3" - | cut -c 1-300) || status=1
	report $status "$2: $1" "$details"
}

check_schema() { # FILE
	local status=0 details

	details=$(./validate.py "$schema" "$1" 2>&1) || status=1
	report $status "$1 fits the schema" "$details"
}

check_lines() { # FILE
	local longest

	longest=$(awk 'length($0) > max { max = length($0) } END { print max + 1 }' "$1")
	report $((longest > 16384)) "$1: lines of at most 16 KiB" "the longest has $longest bytes"
}

# The jq program of docs/measuring.md finds the percentiles that we print.
check_jq() { # FILE
	local program wrong

	program=$(sed -n "/^cat >percentile.jq/,/^END$/{/^cat\|^END/!p}" $root/docs/measuring.md)
	wrong=$(jq -c "$program"' .tests[] | .name as $name | (.read, .write, .sync) | values
		| . as $op | .lat_ns | to_entries[]
		| select(.key | test("^p[0-9.]+$")) | select(.value != null)
		| (.key[1:] | tonumber) as $p | .value as $ours
		| ($op | percentile($p)) as $theirs
		| select($ours != $theirs) | [$name, $p, $ours, $theirs]' "$1" 2>&1)
	report $((${#wrong} > 0)) "$1: percentiles by jq" "$wrong"
}

# Results beside each other. The files lie in one directory, so that their names are short.
check_compared() { # NAME BASELINE GATE FILE...
	local form status details

	for form in text markdown csv json; do
		status=0
		if [[ -n ${UPDATE:-} ]]; then
			(cd "$made" && "$compare" "$form" "${@:2}") >"compare/$1.$form"
		fi
		details=$(cd "$made" && "$compare" "$form" "${@:2}" 2>&1 |
			diff "$OLDPWD/compare/$1.$form" - | cut -c 1-300) || status=1
		report $status "compare $1: $form" "$details"
	done
}

make_results() { # FILE CLASS [KEY=VALUE]...
	compare/results.py "${@:2}" >"$made/$1"
}

check_comparisons() {
	made=$(mktemp -d "${TMPDIR:-/tmp}/pvcbench-golden.XXXXXX")
	compare=$(realpath "$build/golden/compare")
	make_results high-io.log evs-high-io runs=5 iops=5000 limit=5000
	make_results ultra.log evs-ultra runs=5 iops=20000 p50_us=150 limit=50000
	make_results again.log evs-high-io id=again runs=5 iops=5010 limit=5000
	make_results sfs.log sfs iops=8000 p50_us=900 ioengine=aio size=1073741824 \
		conditions.kernel=6.1.0 status=failed
	make_results strange.log $'a|b\n<c>,"=d' iops=10 'conditions.node=x"y,z'
	check_compared classes "" "read-iops.read.iops < 0.9 * baseline" \
		high-io.log ultra.log again.log
	check_compared differs evs-ultra "" sfs.log ultra.log
	check_compared strange sfs "mixed.write.p99 > 2 * baseline" strange.log sfs.log
	rm -r "$made"
}

check_comparisons
for json in *.json; do
	name=${json%.json}
	check_face text "$name" "$name.txt"
	check_face lines "$name" "$name.lines"
	check_face message "$name" "$name.message"
	check_face metrics "$name" "$name.metrics"
	check_face json "$name" "$name.json"
	check_schema "$name.json"
	check_schema "$name.lines"
	check_lines "$name.lines"
	check_jq "$name.json"
	report $(($(wc -c <"$name.message") > 4096)) "$name.message: at most 4096 bytes" "longer"
done
echo "1..$n"
