#!/usr/bin/env bats
# Peers on one NFS export, each a client of its own with another address and another name.

load lib

setup_file() {
	boot "$BATS_TEST_DIRNAME/inside/peers" "$BATS_TEST_DIRNAME/inside/nfs-server.bash"
}

# What index 0 of a situation has merged is what the three logs give.
three_clients() { # SITUATION FS
	local i
	need_guest
	for i in 1 2; do
		look_at "$1-$i"
		exits 0
	done
	look_at "$1-0"
	exits 0
	valid "$T/result.json"
	says '^\[1/2\] reads: 3 peers start within [0-9.]+[mun]?s of each other'
	holds '.tests | length == 2 and all(.status == "ok" and .pods.n == 3 and .pods.of == 3)'
	holds ".conditions | .fs == \"$2\" and .mount_source == \"10.9.0.1:/srv/rw\" and
		.node == \"client-0, client-1, client-2\""
	holds '.tests | all(.pods.slowest | test("^client-[012] [(]index [012][)]$"))'
	same "$(logs "$1" | jq -s -c 'map([.run.host, .run.peer.index]) | unique')" \
		'[["client-0",0],["client-1",1],["client-2",2]]'
	same "$(get '[.tests[] | .read, .write | .ios // 0] | add')" \
		"$(logs "$1" | jq -s '[.[].tests[] | .read, .write | .ios // 0] | add')"
	"$pvcbench" merge "$kept/guest/$1"-?/out --out "$T/by-hand.json" >"$T/by-hand"
	same "$(jq -S .tests "$T/by-hand.json")" "$(jq -S .tests "$T/result.json")"
	same "$(sed -n '/^test /,$p' "$T/by-hand")" "$(sed -n '/^test /,$p' "$T/out")"
	same "$(cat "$T/left")" ""
}

logs() { # SITUATION: all result lines
	sed -n 's/^pvcbench-result: //p' "$kept/guest/$1"-?/out
}

@test "three clients of NFS 4.2, each in a directory of its own" {
	three_clients own nfs4
	same "$(sort "$T/files" | uniq -c | tr -s ' ')" " 3 2097152"
	same "$(grep -o '10[.]9[.]0[.]1[0-9]' "$T/clients" | sort | paste -sd ' ')" \
		"10.9.0.10 10.9.0.11 10.9.0.12"
}

@test "three clients of NFS 4.2 on parts of one file" {
	three_clients disjoint nfs4
	same "$(cat "$T/files")" 6291456
}

@test "three clients of NFS 3 on the same part of one file" {
	three_clients overlapping nfs
	same "$(cat "$T/files")" 2097152
}
