#!/usr/bin/env bash
# Includes point down only; a third-party library is used by the files that this
# table names; a header compiles alone.
# shellcheck source=tests/lint/lib.bash
source "$(dirname "$0")/lib.bash"

# A floor and the floors that it may see.
floors='
base    base
measure measure base
io      io base
plan    plan base
load    load measure io base
result  result plan measure base
out     out result plan measure base
kinds   kinds result plan load measure io base
peers   peers out result plan measure io base
run     run peers out kinds result plan load measure io base
main    main run peers out kinds result plan load measure io base
'

# What lies in the root of runner/.
root_files='
run    run_peers
run    run run_begin run_end run_state signals audit agenda attend body sweep builtin outputs
run    merge relay report gather compare
run    deliver deliver_check doctor doctor_plan dbench
main   main command command_run command_volume command_results command_relay
'

# Headers that are neither libc nor the kernel, and who may include them.
third_party='
curl/curl.h      runner/io/http.c
liburing.h       runner/io/uring.c
linux/aio_abi.h  runner/io/aio.c
microhttpd.h     runner/io/serve.c
openssl/hmac.h   runner/io/hmac.c
yaml.h           runner/plan/tree.c
cjson/cJSON.h    runner/kinds/chain.c
cjson/cJSON.h    runner/kinds/table_answer.c
cjson/cJSON.h    runner/out/figures.c
cjson/cJSON.h    runner/out/json_hops.c
cjson/cJSON.h    runner/out/json_test.c
cjson/cJSON.h    runner/out/member.c
'

# The includes of C files as "file:line <header>" or "file:line "header"".
includes_of() {
	awk '/^[ \t]*#[ \t]*include/ {
		match($0, /[<"].*[>"]/)
		print FILENAME ":" FNR, substr($0, RSTART, RLENGTH)
	}' "$@"
}

check_direction() {
	includes_of "$@" | awk -v floors="$floors" -v root_files="$root_files" \
		-v prefix="$fixtures/includes/" '
	BEGIN {
		n = split(floors, line, "\n")
		for (i = 1; i <= n; i++) {
			m = split(line[i], word, " ")
			for (j = 2; j <= m; j++)
				may[word[1], word[j]] = 1
		}
		n = split(root_files, line, "\n")
		for (i = 1; i <= n; i++) {
			m = split(line[i], word, " ")
			for (j = 2; j <= m; j++)
				root[word[j]] = word[1]
		}
	}
	function floor_of(path) {
		if (path ~ /\//)
			return substr(path, 1, index(path, "/") - 1)
		sub(/\.[ch]$/, "", path)
		return path in root ? root[path] : "no floor"
	}
	$2 ~ /^"/ {
		from = $1
		sub(/:[0-9]+$/, "", from)
		if (index(from, prefix) == 1)
			from = substr(from, length(prefix) + 1)
		sub(/^runner\//, "", from)
		to = substr($2, 2, length($2) - 2)
		if (!((floor_of(from), floor_of(to)) in may))
			print $1 ": " floor_of(from) " must not include " $2 " (" floor_of(to) ")"
	}'
}

check_third_party() {
	local known folders='include/[a-z0-9_]*-linux-gnu|include|lib/gcc/[^/]*/12/include'

	known=$(dpkg -L libc6-dev linux-libc-dev libgcc-12-dev |
		sed -nE "s#^/usr/($folders)/(.*\.h)\$#\\2#p")
	includes_of "$@" | awk -v known="$known" -v third_party="$third_party" '
	BEGIN {
		n = split(known, line, "\n")
		for (i = 1; i <= n; i++)
			system_header[line[i]] = 1
		n = split(third_party, line, "\n")
		for (i = 1; i <= n; i++) {
			m = split(line[i], word, " ")
			delete system_header[word[1]]
			for (j = 2; j <= m; j++)
				may[word[j], word[1]] = 1
		}
	}
	$2 ~ /^</ {
		from = $1
		sub(/:[0-9]+$/, "", from)
		header = substr($2, 2, length($2) - 2)
		if (!(header in system_header) && !((from, header) in may))
			print $1 ": <" header "> belongs to another file"
	}'
}

check_alone() {
	local header

	for header in "$@"; do
		gcc -std=gnu11 -D_GNU_SOURCE -Irunner -Wall -Wextra -Werror -fsyntax-only \
			-include "$header" -x c /dev/null || true
	done
}

mapfile -t c_files < <(files 'runner/*.c' 'runner/*.h')
mapfile -t headers < <(files 'runner/*.h')
lint "includes point down" check_direction "${c_files[@]}"
catches "an include upwards" check_direction includes/io/upwards.c 'plan/plan\.h'
catches "an include sideways" check_direction includes/kinds/sideways.c 'out/out\.h'
catches "a file without a floor" check_direction includes/stray.c 'no floor'
lint "third-party headers have one user" check_third_party "${c_files[@]}"
catches "a second user of a library" check_third_party includes/kinds/sideways.c 'yaml\.h'
lint "headers compile alone" check_alone "${headers[@]}"
catches "a header that leans on others" check_alone includes/leaning.h 'uint64_t'
finish
