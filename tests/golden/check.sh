#!/usr/bin/env bash
# Every face of a fixed result, to the byte: NAME.json is read and written again as
# text, result lines, termination message, metrics and JSON (NAME.txt, .lines, .message,
# .metrics, .json).
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
