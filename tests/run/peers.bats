# Several peers of one run as processes over loopback: what they agree on, what index 0 makes of
# it, and who does what he should not.
# side by side
bats_require_minimum_version 1.5.0
load lib.bash

# Each its own log: $T/out.INDEX, $T/err.INDEX; sets pids[INDEX].
pids=()

# A port that nobody has; sets $at.
port() {
	at=127.0.0.1:$("$PYTHON" -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	export PVCBENCH_JOB_UID=uid-of-the-job-4711 PVCBENCH_TERMINATION_LOG=/dev/null
}

peer_plan() { # KEY: VALUE...
	mkdir -p "$T/dir"
	{
		printf 'version: 1\ntarget: %s\nsize: 1MiB\nramp_time: 0\nruntime: 300ms\n' "$T/dir"
		printf 'rate_iops: 500\npeers_timeout: 30s\n'
		printf '%s\n' "$@"
		printf 'tests:\n'
		printf '  - {name: one, rw: randread, bs: 4KiB}\n'
		printf '  - {name: two, rw: randwrite, bs: 4KiB}\n'
	} | plan
}

peer() { # INDEX OF [ARG...]
	timeout -k 5 "${LIMIT:-60}" "$pvcbench" run "$T/plan.yaml" --peers "$2" --index "$1" \
		--coordinator "$at" "${@:3}" \
		>"$T/out.$1" 2>"$T/err.$1" </dev/null 3>&- &
	pids[$1]=$!
	undo "kill -KILL $! 2>/dev/null"
}

# Wait for a peer; its status in $status, its output in $T/out, $T/err and $T/log.
peer_ends() { # INDEX
	status=0
	wait "${pids[$1]}" || status=$?
	cp "$T/out.$1" "$T/out"
	cp "$T/err.$1" "$T/err"
	cat "$T/out" "$T/err" >"$T/log"
}

in_log() { # INDEX REGEX
	grep -Eq -- "$2" "$T/out.$1" "$T/err.$1"
}

# The process that was started under timeout.
process_of() { # INDEX
	pgrep -P "${pids[$1]}"
}

lines() { # INDEX: its result lines
	sed -n 's/^pvcbench-result: //p' "$T/out.$1"
}

all_lines() { # OF
	local i
	for ((i = 0; i < $1; i++)); do
		lines "$i"
	done
}

request() { # CURL ARGUMENT...: prints the status
	curl -s -o /dev/null -w '%{http_code}' --max-time 20 "$@"
}

@test "a file that one of them needs to see: each step is that of all" {
	port
	mkdir "$T/dir"
	plan <<-END
		target: $T/dir
		peers_timeout: 30s
		tests:
		  - {name: put, kind: persist, key: a}
		  - {name: see, kind: persist, key: a, step: expect}
		  - {name: off, kind: persist, key: a, step: remove}
	END
	peer 1 2
	peer 0 2 --out "$T/result.json"
	peer_ends 1
	peer_ends 0
	same "$status" 1 # one of them has removed it
	holds '[.tests[].status] == ["ok", "ok", "failed"]'
	holds '.tests[1].persist | .found and .host != null'
	holds '.tests[2].error | test("index [01]\\): cannot remove .*No such file")'
	valid "$T/result.json"
	never_says '^interrupted'
}

@test "four peers: each measures, all start together, index 0 has all of it" {
	port
	peer_plan
	for i in 1 2 3; do peer "$i" 4; done
	peer 0 4 --out "$T/result.json"
	for i in 3 2 1; do
		peer_ends "$i"
		exits 0
		says 'Summary|^two'
	done
	peer_ends 0
	exits 0
	says '^\[1/2\] one: 4 peers start within [0-9.]+[mun]?s of each other, by the round trips'
	valid "$T/result.json"
	all_lines 4 | jq -s -e 'length == 8 and all(.tests[0] | .status == "ok" and
		.released_within_ns > 0)'
	# nothing is lost, and nothing is there twice
	for op in read write; do
		same "$(get "[.tests[].$op // empty | .ios] | add")" \
			"$(all_lines 4 | jq -s "[.[].tests[].$op // empty | .ios] | add")"
	done
	holds '.tests | length == 2 and all(.status == "ok")'
	never_says uid-of-the-job
	empty "$T/dir"
}

@test "what index 0 merges is what the four logs give, to the byte" {
	port
	peer_plan
	for i in 1 2 3; do peer "$i" 4; done
	peer 0 4 --out "$T/result.json"
	for i in 1 2 3 0; do peer_ends "$i"; done
	exits 0
	"$pvcbench" merge "$T"/out.[0-3] --out "$T/by-hand.json" >"$T/by-hand.txt"
	same "$(jq -S .tests "$T/by-hand.json")" "$(jq -S .tests "$T/result.json")"
	same "$(sed -n '/^test /,$p' "$T/by-hand.txt")" "$(sed -n '/^test /,$p' "$T/out.0")"
	# as kubectl logs --prefix has them, where pods have other names
	for i in 3 0 2 1; do sed "s|^|[pod/pvcbench-$i-abcde/runner] |" "$T/out.$i"; done |
		"$pvcbench" merge - --out "$T/prefixed.json" >"$T/prefixed.txt"
	figures='[.tests[] | {name, read, write, sync}]'
	same "$(jq -S "$figures" "$T/prefixed.json")" "$(jq -S "$figures" "$T/result.json")"
}

@test "a shared file: index 0 lays it out, each works on its part" {
	port
	peer_plan 'shared: true' 'offset_increment: 1MiB' 'randseed: 7' 'runtime: 3s'
	sed -i '/^runtime: 300ms/d' "$T/plan.yaml"
	for i in 0 1 2; do peer "$i" 3; done
	await 30 in_log 0 '^\[2/2\] two: 3 peers'
	same "$(find "$T/dir" -name 'data.*' | wc -l)" 1
	same "$(find "$T/dir" -name 'data.0' -printf '%s')" $((3 << 20))
	for i in 1 2 0; do
		peer_ends "$i"
		exits 0
	done
	all_lines 3 | jq -s -e '[.[].tests[0] | select(.name == "one")] | length == 3 and
		([.[].layout_bytes] | sort == [0, 0, 3145728]) and
		([.[].randseed] | unique | length == 3) and
		all(.size == 1048576 and .offset_increment == 1048576)'
	empty "$T/dir"
}

@test "a shared file: where its layout fails, all say why, and go on" {
	need_fuse
	faultfs
	port
	peer_plan 'shared: true'
	sed -i "s|^target: .*|target: $mnt|" "$T/plan.yaml"
	rules 'write err EIO count=1'
	for i in 0 1; do peer "$i" 2; done
	peer_ends 1
	exits 1
	peer_ends 0
	exits 3 # the target cannot be used
	peer_says 1 'one: FAILED: peer 0 \(.*\) did not start this test: .*Input/output error'
	lines 1 | jq -s -e '.[1].tests[0].status == "ok"'
	empty "$mnt"
}

peer_says() { # INDEX REGEX
	in_log "$1" "$2" || {
		cat "$T/out.$1" "$T/err.$1"
		return 1
	}
}

@test "a peer that is killed is named; the others end, and what it gave before counts" {
	port
	peer_plan 'runtime: 2s'
	sed -i '/^runtime: 300ms/d' "$T/plan.yaml"
	for i in 1 2; do peer "$i" 3; done
	peer 0 3 --out "$T/result.json"
	await 30 in_log 2 '^\[2/2\] two: 3 peers'
	await 5 test -n "$(lines 2)"
	kill -KILL "$(process_of 2)"
	peer_ends 1
	exits 0
	peer_ends 0
	exits 1
	says '2 of 3 peers took part to the end: peer 2 \(.*\) is gone: its connection has ended'
	same "$(get '.tests[0].read.ios')" \
		"$(all_lines 3 | jq -s '[.[].tests[] | select(.name == "one").read.ios] | add')"
}

@test "a peer that is killed before a test: no further test begins" {
	port
	peer_plan 'runtime: 1s'
	sed -i '/^runtime: 300ms/d' "$T/plan.yaml"
	for i in 0 1 2; do peer "$i" 3; done
	await 30 in_log 2 '^\[1/2\] one: 3 peers'
	kill -KILL "$(process_of 2)"
	for i in 1 0; do
		peer_ends "$i"
		exits 1
		says 'two: FAILED: peer 2 \(.*\) is gone: its connection has ended'
	done
	says '2 of 3 peers took part to the end'
	# what the killed one left, a later run removes; the others left nothing
	same "$(find "$T/dir" -mindepth 1 -maxdepth 1 | wc -l)" 1
}

@test "a peer that is asked to end says so, and the others end" {
	port
	peer_plan 'runtime: 2s'
	sed -i '/^runtime: 300ms/d' "$T/plan.yaml"
	for i in 0 1 2; do peer "$i" 3; done
	await 30 in_log 1 '^\[1/2\] one: 3 peers'
	kill -TERM "$(process_of 1)"
	peer_ends 1
	exits 143
	for i in 2 0; do
		peer_ends "$i"
		exits 1
		says 'two: FAILED: peer 1 \(.*\) has ended: it was ended by signal 15'
	done
	empty "$T/dir"
}

@test "a peer that is asked to end first is named, also where all are then, in the last test" {
	port
	peer_plan 'runtime: 8s'
	sed -i '/^runtime: 300ms/d; /^  - .*name: two/d' "$T/plan.yaml"
	for i in 0 1 2; do peer "$i" 3 --out "$T/result-$i.json"; done
	await 30 in_log 2 '^\[1/1\] one: 3 peers'
	sleep 0.5
	kill -TERM "$(process_of 2)"
	await 10 in_log 2 '^interrupted: one'
	for i in 1 0; do kill -TERM "$(process_of "$i")"; done
	for i in 2 1 0; do
		peer_ends "$i"
		exits 143
	done
	says '2 of 3 peers took part to the end: peer 2 \(.*\) has ended: it was ended by signal 15'
	holds '.interrupted and .tests[0].status == "interrupted"' "$T/result-0.json"
}

@test "a peer that never comes is waited for, named and then given up" {
	port
	peer_plan
	peer 0 3 --set peers_timeout=6s
	peer 1 3
	peer_ends 0
	exits 1
	says '^\[1/2\] one: waiting for 1 of 3 peers: 2 \(never came\), since [0-9]+s'
	says 'one: FAILED: peer 2 did not come within 6s \(peers_timeout\)'
	says '2 of 3 peers took part to the end: peer 2 did not come within 6s'
	peer_ends 1
	exits 1
	says 'one: FAILED: peer 2 did not come within 6s'
	empty "$T/dir"
}

@test "index 0 that never comes is waited for, named and then given up" {
	port
	peer_plan
	peer 1 2 --set peers_timeout=4s
	peer_ends 1
	exits 1
	says "waiting for index 0 at '$at', since [0-9]+s"
	says "'$at' refuses the connection .*\(index 0 of the peers; no longer waited for"
	empty "$T/dir"
}

@test "index 0 that dies is named by the others, which end" {
	port
	peer_plan 'runtime: 1s'
	sed -i '/^runtime: 300ms/d' "$T/plan.yaml"
	for i in 0 1; do peer "$i" 2; done
	await 30 in_log 1 '^\[1/2\] one: 2 peers'
	kill -KILL "$(process_of 0)"
	peer_ends 1
	exits 1
	says "two: FAILED: index 0: '$at' refuses the connection"
}

@test "SIGTERM ends whoever waits for peers, at once" {
	port
	peer_plan
	peer 0 2
	await 20 in_log 0 'waiting for 1 of 2 peers'
	kill -TERM "$(process_of 0)"
	SECONDS=0
	peer_ends 0
	exits 143
	((SECONDS < 9))
	peer 1 2
	await 20 in_log 1 'waiting for index 0'
	kill -TERM "$(process_of 1)"
	SECONDS=0
	peer_ends 1
	exits 143
	((SECONDS < 9))
	empty "$T/dir"
}

@test "the wrong token is refused, and named nowhere" {
	port
	peer_plan
	peer 0 2 --set peers_timeout=25s
	PVCBENCH_JOB_UID=another-uid peer 1 2
	peer_ends 1
	exits 2
	says "index 0 at '$at' is of another run: it refuses our token, which comes from PVCBENCH"
	peer_ends 0
	exits 1
	says 'peer 1 did not come within 25s'
	not grep -E 'another-uid|uid-of-the-job' "$T"/out.* "$T"/err.*
}

@test "another plan, another number, another index are refused with the reason" {
	port
	peer_plan
	peer 0 3 --set peers_timeout=25s
	await 20 in_log 0 'index 0 is at'
	peer 1 3 --set tests.two.bs=8KiB
	peer_ends 1
	exits 2
	says "refuses this peer: its plan is another one: test 2 is 'two' at index 0 and 'two'"
	mkdir "$T/other"
	peer 1 3 --target "$T/other"
	peer_ends 1
	exits 2
	says "test 1 is 'one' at index 0 and 'one' there, or has other settings or another target"
	peer 1 2
	peer_ends 1
	exits 2
	says 'refuses this peer: it is of 2 peers, and index 0 of 3'
	peer 1 3
	await 20 in_log 0 'waiting for 1 of 3 peers: 2 '
	cp "$T/out.1" "$T/out.first"
	first=${pids[1]}
	peer 1 3
	peer_ends 1
	exits 2
	says 'index 1 is taken: 1 \(.*\) has it'
	wait "$first" || true
	peer_ends 0
	exits 1
	says 'peer 2 did not come'
}

@test "two of index 0 on one machine: the second says that the port is taken" {
	port
	peer_plan
	peer 0 2
	await 20 in_log 0 'index 0 is at'
	mv "$T/out.0" "$T/out.first"
	pvcbench run "$T/plan.yaml" --peers 2 --index 0 --coordinator "$at"
	exits 2
	says "cannot listen on '$at': Address already in use \(another program has this port\)"
	empty "$T/dir"
}

@test "who has no token gets nothing: garbage, huge and slow requests, and the run goes on" {
	need curl
	port
	peer_plan
	peer 0 2
	await 20 in_log 0 'index 0 is at'
	url=http://$at
	same "$(request "$url/clock")" 401
	same "$(request "$url/join" -d version=0)" 401
	same "$(request -H 'Authorization: Pvcbench-Peer-1 00' "$url/arrive" -d gate=1)" 401
	head -c 5000000 /dev/zero >"$T/huge"
	same "$(request "$url/result" --data-binary @"$T/huge")" 413
	head -c 100000 /dev/urandom | timeout 20 nc_to "$at" || true
	drip "$at" &
	undo "kill $! 2>/dev/null"
	peer 1 2
	for i in 1 0; do
		peer_ends "$i"
		exits 0
	done
	same "$(wait_for_drip)" closed
}

# What a peer shows, for curl; of the UID in the environment.
token() {
	"$PYTHON" -c 'import hashlib, hmac, os
print("Authorization: Pvcbench-Peer-1", hmac.new(os.environ["PVCBENCH_JOB_UID"].encode(),
    b"pvcbench-peer-1", hashlib.sha256).hexdigest())'
}

@test "a peer of another version is refused, and one that has not joined" {
	need curl
	port
	peer_plan
	peer 0 2 --set peers_timeout=10s
	await 20 in_log 0 'index 0 is at'
	url=http://$at
	ours=$("$pvcbench" version | sed -n 's/^pvcbench //p')
	same "$(curl -s "$url/join" -H "$(token)" -H 'Pvcbench-Index: 1' -d version=0)" \
		"it is pvcbench 0, and index 0 is pvcbench $ours"
	same "$(request "$url/arrive" -H "$(token)" -H 'Pvcbench-Index: 1' -d gate=1)" 409
	same "$(request "$url/arrive" -H "$(token)" -H 'Pvcbench-Index: 7' -d gate=1)" 409
	peer_ends 0
	exits 1
	says 'one: FAILED: peer 1 was refused: it is pvcbench 0, and index 0 is'
}

nc_to() { # HOST:PORT: standard input to it
	"$PYTHON" -c 'import socket, sys
host, port = sys.argv[1].rsplit(":", 1)
s = socket.create_connection((host, int(port)))
s.sendall(sys.stdin.buffer.read())
s.recv(100)' "$1" 2>/dev/null
}
export -f nc_to

drip() { # HOST:PORT: a request a byte at a time, until it is cut off
	"$PYTHON" - "$1" "$T/drip" <<-'PY'
		import socket, sys, time
		host, port = sys.argv[1].rsplit(":", 1)
		connection = socket.create_connection((host, int(port)))
		try:
		    for byte in b"POST /join HTTP/1.1\r\n" + b"X-A: b\r\n" * 1000:
		        connection.sendall(bytes([byte]))
		        time.sleep(0.1)
		except OSError:
		    open(sys.argv[2], "w").write("closed")
	PY
}

wait_for_drip() {
	await 30 test -s "$T/drip" && cat "$T/drip"
}

@test "environment of an Indexed Job: number, index and the name of index 0" {
	port
	peer_plan
	PVCBENCH_PEERS=2 JOB_COMPLETION_INDEX=1 pvcbench run "$T/plan.yaml"
	exits 2
	says "index 0 is not known: '.*' is no host of an Indexed Job, which would end in '-1'"
	PVCBENCH_PEERS=2 pvcbench run "$T/plan.yaml"
	exits 2
	says 'which of 2 peers this is, is not known \(say --index 0 to 1'
	PVCBENCH_PEERS=x pvcbench run "$T/plan.yaml"
	exits 2
	says "PVCBENCH_PEERS: 'x' is no number from 0 to 1024"
	pvcbench run "$T/plan.yaml" --peers 2 --index 2 --coordinator "$at"
	exits 2
	PVCBENCH_PEERS=1 pvcbench run "$T/plan.yaml"
	exits 0
}

@test "what peers cannot do together is said before anything begins" {
	port
	peer_plan
	printf '  - {name: three, rw: read, bs: 4KiB, shared: true}\n' >"$T/more"
	sed -i "/name: two/r $T/more" "$T/plan.yaml"
	pvcbench run "$T/plan.yaml" --peers 2 --index 0 --coordinator "$at"
	exits 2
	says "the tests 'one' and 'three' of one target differ in shared"
}

@test "peers cannot share a block device, which stays as it is" {
	loop_device 100M
	port
	peer_plan 'destroy: anything'
	mkfs.ext4 -q "$loop"
	sed -i "s|^target: .*|target: $loop|" "$T/plan.yaml"
	pvcbench run "$T/plan.yaml" --peers 2 --index 0 --coordinator "$at"
	exits 2
	says "peers cannot share the block device '$loop'"
	same "$(blkid -p -o value -s TYPE "$loop")" ext4
}

@test "thirty peers at once: nothing is lost" {
	port
	peer_plan 'ioengine: "null"'
	for ((i = 1; i < 30; i++)); do peer "$i" 30 --quiet; done
	peer 0 30 --out "$T/result.json"
	for ((i = 29; i >= 0; i--)); do
		peer_ends "$i"
		exits 0
	done
	same "$(all_lines 30 | wc -l)" 60
	same "$(get '[.tests[].read // empty | .ios] | add')" \
		"$(all_lines 30 | jq -s '[.[].tests[].read // empty | .ios] | add')"
	empty "$T/dir"
}
