#!/usr/bin/env bash
# What can be seen in the text: lengths, leftovers, words and functions that have no
# place here.
# shellcheck source=tests/lint/lib.bash
source "$(dirname "$0")/lib.bash"

function_lines_max=70
columns_max=100

# Kernel style: a body runs from `{` in the first column to `}` in the first column.
check_function_length() {
	awk -v max=$function_lines_max '
	FNR == 1 { start = 0 }
	/^[{]/ { start = FNR }
	/^[}]/ && start {
		if (FNR - start + 1 > max)
			print FILENAME ":" start ": function of " FNR - start + 1 " lines"
		start = 0
	}' "$@"
}

check_line_length() {
	local file

	for file in "$@"; do
		expand "$file" | awk -v max=$columns_max -v file="$file" '
		length($0) > max { print file ":" FNR ": " length($0) " columns" }'
	done
}

check_white_space() {
	awk '
	/[ \t]$/ && FILENAME !~ /\.md$/ { print FILENAME ":" FNR ": space at the end" }
	/\r/ { print FILENAME ":" FNR ": carriage return" }' "$@"
	local file

	for file in "$@"; do
		[[ ! -s $file || -z $(tail -c 1 "$file") ]] || echo "$file: no newline at the end"
	done
}

# C without comments and strings, line numbers kept, as "file:line:text".
bare_c() {
	local file

	for file in "$@"; do
		gcc -fpreprocessed -E "$file" 2>/dev/null |
			sed -E 's/"([^"\\]|\\.)*"/""/g' |
			awk -v file="$file" '
			/^# [0-9]+ / { line = $2; next }
			{ print file ":" line++ ":" $0 }'
	done
}

check_banned() {
	local overflow='strcpy|strncpy|strcat|strncat|sprintf|vsprintf|gets|alloca|mktemp|tmpnam'
	local silent='atoi|atol|atoll|atof|rand|srand|random'
	local shared='strtok|asctime|ctime|gmtime|localtime|strerror|getpwuid|setlocale'
	local shell='system|popen'

	bare_c "$@" | grep -E "\<($overflow|$silent|$shared|$shell) ?\(" || true
}

check_c_style() {
	bare_c "$@" | grep -E ':[^:]*\<typedef +(struct|union|enum)\>' || true
	grep -nE '^([^"]|"[^"]*")*//' "$@" /dev/null | grep -v '[a-z]://' || true
}

check_asserts_stay() {
	grep -nE 'N[D]EBUG' "$@" /dev/null || true
}

check_words() {
	local words='\<(TO[D]O|FIX[M]E|X[X]X|HAC[K])\>|(not|NOT|Not) (yet )?implemented'

	# ENOSYS has these words.
	grep -nIE "$words" "$@" /dev/null |
		grep -v -e '^tests/lint/shape.sh:' -e 'Function not implemented' || true
}

check_hosts() {
	local images='(docker|ghcr|quay|gcr|registry[.]k8s)[.]io|mcr[.]microsoft[.]|public[.]ecr[.]'
	local packages='registry[.]npmjs[.]|pypi[.]org|crates[.]io|proxy[.]golang[.]'

	grep -nIE "$images|$packages" "$@" /dev/null || true
}

check_paths() {
	grep -nIE '(^|[^a-zA-Z0-9_.}])/(wor[k]|hom[e]|roo[t]|User[s])/' "$@" /dev/null || true
}

mapfile -t c_files < <(files '*.c' '*.h')
mapfile -t runner_files < <(files 'runner/*.c' 'runner/*.h')
mapfile -t scripts < <(shell_files)
mapfile -t all < <(files ':!LICENSE' ':!tests/plans/bad' ':!tests/fuzz/corpus' ':!tests/golden')

lint "functions are at most $function_lines_max lines" check_function_length "${c_files[@]}"
catches "a long function" check_function_length shape/long.c ':4: function of 71 lines'
lint "lines are at most $columns_max columns" check_line_length \
	"${c_files[@]}" "${scripts[@]}" Makefile
catches "a long line" check_line_length shape/bad.c '101 columns'
lint "no stray white space" check_white_space "${all[@]}"
catches "a space at the end" check_white_space shape/bad.c 'space at the end'
catches "a missing newline" check_white_space shape/bad.c 'no newline'
lint "no function that overflows, hides errors or shares state" check_banned "${runner_files[@]}"
catches "a banned function" check_banned shape/bad.c 'strcpy(a'
lint "comments and types as in style.md" check_c_style "${c_files[@]}"
catches "a typedef struct" check_c_style shape/bad.c 'typedef struct'
catches "a line comment" check_c_style shape/bad.c '// wrong'
lint "asserts stay on" check_asserts_stay "${all[@]}"
catches "asserts turned off" check_asserts_stay shape/bad.c 'define'
lint "nothing left for later" check_words "${all[@]}"
catches "a leftover" check_words shape/bad.c 'later'
lint "no registry is named" check_hosts "${all[@]}"
catches "a registry" check_hosts shape/bad.c 'image'
lint "no path of a developer's machine" check_paths "${all[@]}"
catches "a machine's path" check_paths shape/bad.c 'someone'
finish
