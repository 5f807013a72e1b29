#!/bin/sh
# embed.sh plans OUT.c PLAN.yaml... - write the built-in plans and the schemas as C.
# embed.sh files OUT.c HEADER NAME=FILE... - write files as the arrays that HEADER declares.
#
# The plans become plan_builtins[] of plan/plan.h, named after their files; the schemas
# become the arrays declared beside it, empty while the files are not there (as when
# the program that prints them is built). Bytes, not string literals: those may
# not be longer than 4095.
set -eu

what=$1 out=$2
shift 2

bytes() { # NAME FILE
	printf 'const char %s[] = {\n' "$1"
	if [ -f "$2" ]; then
		od -An -v -td1 "$2" | sed 's/  *\([-0-9][0-9]*\)/\1,/g'
	fi
	printf '0};\n'
}

plans() {
	printf '#include "plan/plan.h"\n\n'
	sorted=$(printf '%s\n' "$@" | sed 's/\.yaml$//' | LC_ALL=C sort)
	number=0
	for file in $sorted; do
		number=$((number + 1))
		printf 'static '
		bytes "plan_$number" "$file.yaml"
	done
	printf '\nconst struct plan_builtin plan_builtins[] = {\n'
	number=0
	for file in $sorted; do
		number=$((number + 1))
		printf '{"%s", plan_%d, sizeof(plan_%d) - 1},\n' "${file##*/}" $number $number
	done
	printf '{NULL, NULL, 0},\n};\n\n'
	bytes plan_schema_json docs/plan.schema.json
	bytes result_schema_json docs/result.schema.json
}

files() {
	printf '#include "%s"\n\n' "$1"
	shift
	for file in "$@"; do
		[ -f "${file#*=}" ] || { echo "embed.sh: no ${file#*=}" >&2 && exit 1; }
		bytes "${file%%=*}" "${file#*=}"
	done
}

{
	printf '/* Made by embed.sh. */\n'
	"$what" "$@"
} >"$out.tmp"
mv "$out.tmp" "$out"
