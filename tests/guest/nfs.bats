#!/usr/bin/env bats
# NFS by the kernel's own client and server: versions, refusals, a server that is away.

load lib

setup_file() {
	boot "$BATS_TEST_DIRNAME/inside/nfs" "$BATS_TEST_DIRNAME/inside/nfs-server.bash"
}

measured() { # SITUATION FS OPTION...: and on what
	local option
	look_at "$1"
	exits 0
	valid "$T/result.json"
	chosen
	holds ".conditions | .fs == \"$2\" and .mount_source == \"127.0.0.1:/srv/rw\""
	says "^  file system    $2 on 127.0.0.1:/srv/rw, "
	for option in "${@:3}" hard proto=tcp addr=127.0.0.1 'rsize=[0-9]+' 'wsize=[0-9]+'; do
		says "^  mount options  (.*,)?$option(,|\$)"
	done
	same "$(cat "$T/left")" ""
}

@test "NFS 3: a quick run" {
	measured v3 nfs vers=3
	nine_tests
}

@test "NFS 4.2: a quick run" {
	measured v4 nfs4 vers=4.2
	nine_tests
}

@test "NFS 4.2 with nconnect" {
	measured nconnect nfs4 vers=4.2 nconnect=4
}

refused() { # SITUATION REGEX...: exit 3 in one line with these words
	local regex
	look_at "$1"
	exits 3
	same "$(grep -c . "$T/err")" 1
	for regex in "/mnt/$1" "${@:2}"; do
		says "$regex"
	done
	grep -q . "$T/message"
}

@test "an export that is read-only" {
	refused ro '[Rr]ead-only'
}

@test "root squashed by the server, NFS 3: says who owns it, who we are, what helps" {
	refused squashed 'owned by 0:0' 'running as 0:0' 'squash'
}

@test "root squashed by the server, NFS 4.2" {
	refused squashed-v4 'owned by 0:0' 'running as 0:0' 'squash'
}

@test "an export that is full" {
	refused full 'free|space'
}

@test "an export that fills up while a test writes" {
	look_at fills-up
	exits 3
	holds '.tests[0].status == "ok"'
	holds '.tests[1] | .status == "failed" and .errors.ENOSPC >= 1'
	says 'No space left'
	same "$(cat "$T/left")" ""
}

@test "a quota below what the volume says that it has" {
	look_at quota
	exits 3
	says 'quota'
	holds '.tests[0] | .status == "failed" and ((.read.ios // 0) == 0)'
	same "$(cat "$T/left")" ""
}

@test "the server is away for a while: told while it lasts, and the run goes on" {
	look_at back
	saw 'told while it lasts'
	exits 0
	first_counts
	holds '.tests[1] | .status == "ok" and .read.lat_ns.max >= 3e9'
	holds '[.tests[1].verdicts[].code] | index("stalls")'
	same "$(cat "$T/left")" ""
}

@test "the export is replaced: ESTALE" {
	look_at stale
	exits 1
	first_counts
	holds '.tests[1] | .status == "failed" and .errors.ESTALE >= 1'
	says 'Stale file handle'
}

@test "the server is away for good, mounted soft: EIO" {
	look_at soft
	exits 1
	first_counts
	holds '.tests[1] | .status == "failed" and .errors.EIO >= 1'
	says 'Input/output error'
}

interrupted() { # SITUATION
	look_at "$1"
	saw 'told while it lasts'
	saw 'the summary soon'
	exits 143
	first_counts
	holds '.interrupted'
	holds '.tests[1] | .status == "interrupted" and .counters.unfinished >= 1'
	says "was not removed"
}

@test "the server is away for good, mounted hard, SIGTERM: what was measured is printed" {
	interrupted hard
}

@test "the server is away for good, NFS 3 mounted hard, psync, SIGTERM" {
	interrupted hard-v3
}
