#!/usr/bin/env bash
# Scripts, YAML, Markdown and spelling.
# shellcheck source=tests/lint/lib.bash
source "$(dirname "$0")/lib.bash"

# The variables of a bats file are set by functions of what it loads.
check_shell() {
	local file

	for file in "$@"; do
		case $file in
		*.bats) shellcheck -x --exclude=SC2030,SC2031,SC2034,SC2154 "$file" ;;
		*) shellcheck -x "$file" ;;
		esac || true
	done
}

check_yaml() {
	yamllint --strict --format parsable "$@"
}

check_spelling() {
	codespell --ignore-words tests/lint/codespell-words --quiet-level 2 "$@"
}

# Relative links lead to files that are there.
check_links() {
	local file target

	for file in "$@"; do
		grep -oE '\]\([^)#]+' "$file" | sed 's/^](//' | while IFS= read -r target; do
			[[ $target =~ ^[a-z]+: || -e $(dirname "$file")/$target ]] ||
				echo "$file: link to '$target' leads nowhere"
		done || true
	done
}

# A block says what it is: `sh` is run by tests/run-docs, `console` shows output.
check_blocks() {
	awk '
	FNR == 1 { inside = 0 }
	/^ *```/ {
		inside = !inside
		if (inside && $0 !~ /^ *```(sh|console|text|c|yaml|json|jq)( skip: .+)?$/)
			print FILENAME ":" FNR ": block of unknown kind: " $0
	}' "$@"
}

# The page that goes file by file leaves none out.
check_page_is_complete() {
	local file

	for file in "$@"; do
		grep -qF "\`${file#runner/}\`" docs/architecture.md ||
			grep -qF "\`${file##*/}\`" docs/architecture.md ||
			echo "docs/architecture.md does not name $file"
	done
}

mapfile -t scripts < <(shell_files)
mapfile -t yaml < <(files '*.yaml' '*.yml' .yamllint ':!tests/plans/bad')
mapfile -t markdown < <(files '*.md')
mapfile -t runner < <(files runner)
mapfile -t all < <(files ':!LICENSE' ':!tests/plans/bad' ':!tests/fuzz/corpus')

lint "shellcheck has no complaint" check_shell "${scripts[@]}"
catches "an unquoted variable" check_shell words/bad.sh SC2086
lint "yamllint has no complaint" check_yaml "${yaml[@]}"
catches "a duplicate key" check_yaml words/bad.yaml duplication
lint "spelling" check_spelling "${all[@]}"
catches "a misspelling" check_spelling words/bad.md sequential
lint "links in the documentation lead somewhere" check_links "${markdown[@]}"
catches "a dead link" check_links words/bad.md 'nowhere.md'
lint "blocks in the documentation say what they are" check_blocks "${markdown[@]}"
catches "an untagged block" check_blocks words/bad.md 'unknown kind'
lint "architecture.md names every file" check_page_is_complete "${runner[@]}"
catches "a file that it leaves out" check_page_is_complete includes/stray.c stray
finish
