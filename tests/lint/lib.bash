# Shared by the lint scripts: TAP, the files to look at, and the two kinds of test.
#
# A check is a function that takes files and prints a line per fault. lint() runs it
# on the tree and wants silence; catches() runs it on a file made wrong on purpose
# (in fixtures/) and wants to hear of it, so that no check is blind.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

fixtures=tests/lint/fixtures
n_tests=0

# Files of the repository that match the patterns, new ones too, fixtures apart.
files() {
	git -c safe.directory='*' ls-files -co --exclude-standard -- "$@" | sort -u |
		while IFS= read -r file; do
			if [[ -f $file && $file != "$fixtures"/* ]]; then
				printf '%s\n' "$file"
			fi
		done
}

shell_files() {
	files . | while IFS= read -r file; do
		case $file in
		*.sh | *.bash | *.bats) echo "$file" ;;
		*.*) [[ $file == .ci/* ]] && echo "$file" ;;
		*)
			head -n 1 "$file" | grep -aqE '^#!.*\b(bash|sh|bats)$' && echo "$file"
			;;
		esac || true
	done
}

tap() {
	n_tests=$((n_tests + 1))
	echo "$1 $n_tests - $2"
}

# lint NAME CHECK FILE...: the check says nothing about these files.
lint() {
	local name=$1 check=$2 faults

	shift 2
	if ! (($#)); then
		tap "not ok" "$name: no file to look at"
		return
	fi
	faults=$("$check" "$@" 2>&1) || faults+=${faults:+$'\n'}"exit status $?"
	if [[ -z $faults ]]; then
		tap ok "$name ($# files)"
	else
		tap "not ok" "$name"
		printf '# %s\n' "${faults//$'\n'/$'\n# '}" | head -n 40
	fi
}

# catches NAME CHECK FIXTURE WORD: the check reports the fixture, in a line with WORD.
catches() {
	local faults

	faults=$("$2" "$fixtures/$3" 2>&1) || true
	if grep -qe "$4" <<<"$faults"; then
		tap ok "$1 is reported in $3"
	else
		tap "not ok" "$1 is reported in $3"
		printf '# %s\n' "${faults//$'\n'/$'\n# '}"
	fi
}

finish() {
	echo "1..$n_tests"
}
