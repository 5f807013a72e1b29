#!/usr/bin/env bats
# SMB by the kernel's own client and a Samba server.

load lib

setup_file() {
	boot "$BATS_TEST_DIRNAME/inside/smb"
}

measured() { # SITUATION OPTION...: and on what
	local option
	look_at "$1"
	exits 0
	valid "$T/result.json"
	chosen
	holds '.conditions | .fs == "cifs" and .mount_source == "//127.0.0.1/rw"'
	says '^  file system    cifs on //127.0.0.1/rw, '
	for option in "${@:2}" vers=3.1.1 addr=127.0.0.1 'rsize=[0-9]+' 'wsize=[0-9]+'; do
		says "^  mount options  (.*,)?$option(,|\$)"
	done
	never_says 'password'
	same "$(cat "$T/left")" ""
}

@test "SMB 3.1.1, cache=strict: a quick run" {
	measured strict cache=strict
	nine_tests
}

@test "SMB 3.1.1, cache=none" {
	measured none cache=none
}

@test "a share that is read-only" {
	look_at ro
	exits 3
	says '/mnt/ro'
	says '[Pp]ermission denied|[Rr]ead-only'
}

@test "a share that is full" {
	look_at full
	exits 3
	says '/mnt/full'
	says 'free|space'
}

@test "a share that fills up while a test writes" {
	look_at fills-up
	exits 3
	holds '.tests[0].status == "ok"'
	holds '.tests[1] | .status == "failed" and .errors.ENOSPC >= 1'
	says 'No space left'
	same "$(cat "$T/left")" ""
}

@test "the server is away for a while: told while it lasts, and the run goes on" {
	look_at back
	saw 'told while it lasts'
	exits 0
	first_counts
	holds '.tests[1] | .status == "ok" and .read.lat_ns.max >= 3e9'
	same "$(cat "$T/left")" ""
}

@test "the server is away for good" {
	look_at away
	saw 'told while it lasts'
	saw 'its end'
	exits 1
	first_counts
	holds '.tests[1].status == "failed"'
}
