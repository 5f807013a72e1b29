#!/usr/bin/env bats
# What is printed where: the log, result lines, the summary, the files, the help.
# side by side

bats_require_minimum_version 1.5.0
load lib

simple() { # [KEYS [RW]]
	directory >/dev/null
	plan <<-END
		version: 1
		target: $T/dir
		size: 16MiB
		ramp_time: 0
		runtime: 300ms
		tests: [{name: t, rw: ${2:-randread}, bs: 4KiB${1:+, $1}}]
	END
}

# The longest silence between lines of $T/out while COMMAND ran, in seconds
longest_silence() { # COMMAND...
	"$PYTHON" - "$T/out" "$@" <<-'END'
		import subprocess, sys, time
		worst, last = 0, time.monotonic()
		run = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE)
		with open(sys.argv[1], 'wb') as out:
		    for line in run.stdout:
		        now = time.monotonic()
		        worst, last = max(worst, now - last), now
		        out.write(line)
		worst = max(worst, time.monotonic() - last)
		if run.wait():
		    sys.exit('exit status %d' % run.returncode)
		print('%.1f' % worst)
	END
}

@test "in a pipe: a line at least every 10 s, no carriage return, no escape" {
	simple "runtime: 13s, rate_iops: 20"
	within "$(longest_silence "$pvcbench" run "$T/plan.yaml")" 0 11
	not grep -q $'[\r\e]' "$T/out"
	grep -q '^pvcbench-result: ' "$T/out"
	# rate, latency, ETA
	grep -Ev '^pvcbench-result' "$T/out" | grep -Eq '[0-9.]+k? ?IOPS|IOPS[ =:]'
}

@test "in a pipe: a line at least every 10 s while the layout crawls" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 24MiB
		ramp_time: 0
		runtime: 200ms
		tests: [{name: t, rw: randread, bs: 4KiB}]
	END
	rules "write hang after=4 count=1"
	(sleep 13; rules) 3>&- &
	within "$(longest_silence "$pvcbench" run "$T/plan.yaml")" 0 11
}

longest_line() { # FILE
	awk 'length($0) > max { max = length($0) } END { print max }' "$1"
}

figures() { # TEST FILE
	jq -c ".tests[$1] | [.name, .read.ios, .write.ios, .read.lat_ns, .write.lat_ns]" "$2"
}

@test "result lines: one per test, JSON, the same as in --out, at most 64 KiB" {
	simple "" "[randread, randwrite, randrw]"
	measure
	same "$(grep -c '^pvcbench-result: ' "$T/out")" 3
	grep '^pvcbench-result: ' "$T/out" | sed 's/^pvcbench-result: //' >"$T/lines"
	within "$(longest_line "$T/lines")" 100 65000
	for n in 1 2 3; do
		sed -n "${n}p" "$T/lines" >"$T/line.json"
		valid "$T/line.json"
		same "$(figures 0 "$T/line.json")" "$(figures $((n - 1)) "$T/result.json")"
		same "$(jq '.tests | length' "$T/line.json")" 1
	done
	valid "$T/result.json"
}

@test "result lines stay bounded on spread latencies: the histogram whole, the series thinned" {
	faultfs
	plan <<-END
		version: 1
		target: $mnt
		size: 16MiB
		ramp_time: 0
		runtime: 3s
		tests: [{name: t, rw: randrw, bs: 4KiB, iodepth: 64, fsync: 3}]
	END
	rules "read delay 1 every=2" "read delay 3 every=3" "read delay 40 every=7" \
		"write delay 7 every=5" "fsync delay 2 every=2" "any delay 11 every=11"
	measure
	within "$(longest_line "$T/out")" 100 65535
	grep '^pvcbench-result: ' "$T/out" | sed 's/^pvcbench-result: //' >"$T/line.json"
	same "$(jq -c .tests[0].read.lat_ns.histogram "$T/line.json")" \
		"$(jq -c .tests[0].read.lat_ns.histogram "$T/result.json")"
}

@test "the order: progress, result lines, conditions, table, verdicts, dbench's block" {
	directory >/dev/null
	pvcbench run quick --target "$T/dir" --set runtime=100ms --set ramp_time=0 \
		--set size=16MiB --set container_fs=true
	exits 0
	same "$(dbench_block)" 4
	last=$(grep -n '^pvcbench-result: ' "$T/out" | tail -1 | cut -d: -f1)
	block=$(grep -n 'Dbench Summary' "$T/out" | cut -d: -f1)
	conditions=$(sed -n "$last,\$p" "$T/out" | grep -Ein 'kernel' | head -1 | cut -d: -f1)
	within $((last + conditions)) "$last" "$block"
	sed -n "$last,${block}p" "$T/out" | grep -q "$T/dir"
	sed -n "$last,${block}p" "$T/out" | grep -Eq 'p99'
	# nine rows
	for name in {read,write}-{iops,bw,latency,seq} mixed; do
		sed -n "$last,${block}p" "$T/out" | grep -Eq "^ *$name "
	done
}

@test "stderr is empty when all is well" {
	simple
	measure
	same "$(cat "$T/err")" ""
}

@test "--quiet: nothing between a test's start and end" {
	simple "runtime: 12s, rate_iops: 20"
	measure --quiet
	within "$(sed '/^pvcbench-result/,$d' "$T/out" | wc -l)" 0 4
}

@test "the termination message: summary and headlines, at most 4096 bytes" {
	directory >/dev/null
	: >"$T/message"
	export PVCBENCH_TERMINATION_LOG=$T/message
	pvcbench run quick --target "$T/dir" --set runtime=50ms --set ramp_time=0 --set size=8MiB \
		--set container_fs=true
	exits 0
	within "$(wc -c <"$T/message")" 100 4096
	grep -q read-iops "$T/message"
	grep -q 'Random Read/Write IOPS' "$T/message"
}

@test "the termination message of many tests is still at most 4096 bytes" {
	: >"$T/message"
	export PVCBENCH_TERMINATION_LOG=$T/message
	simple "iodepth: [1,2,3,4,5,6,7,8], bs: [1KiB,2KiB,4KiB,8KiB,16KiB], runtime: 10ms"
	sed -i 's/name: t, rw: randread, bs: 4KiB,/name: a-rather-long-name, rw: randread,/' \
		"$T/plan.yaml"
	measure
	within "$(wc -c <"$T/message")" 1000 4096
}

@test "the termination message of a failure says why" {
	: >"$T/message"
	export PVCBENCH_TERMINATION_LOG=$T/message
	pvcbench run quick --target "$T/nowhere"
	exits 3
	grep -q "$T/nowhere" "$T/message"
}

@test "the termination message of who is killed has the tests that had ended" {
	: >"$T/message"
	export PVCBENCH_TERMINATION_LOG=$T/message
	simple "runtime: 200ms"
	sed -i 's/}\]$/}, {name: later, rw: randread, bs: 4KiB, runtime: 60s}]/' "$T/plan.yaml"
	start run "$T/plan.yaml"
	await 20 grep -q '^\[2/2\] later: .* depth' "$T/out"
	kill -KILL "$pid"
	ends 5
	exits 137
	same "$(head -n 1 "$T/message")" "killed before its end: 1 of 2 tests had ended"
	same "$(sed -n '2,$s/:.*//p' "$T/message")" t
}

@test "on a terminal: one live line, no result lines" {
	need script
	simple "runtime: 2s"
	script -qec "'$pvcbench' run '$T/plan.yaml'" "$T/typescript" </dev/null >"$T/out" 3>&-
	within "$(tr '\r' '\n' <"$T/typescript" | grep -c IOPS)" 3 1000
	not grep -q '^pvcbench-result' "$T/typescript"
	tr -d '\r' <"$T/typescript" | grep -q '^Conditions'
}

@test "dbench's variables, with no arguments and with fio" {
	not_on_container_root
	[ ! -e /etc/pvcbench/plan.yaml ] || skip "there is an /etc/pvcbench/plan.yaml"
	directory >/dev/null
	export DBENCH_MOUNTPOINT=$T/dir DBENCH_QUICK=yes
	export FIO_SIZE=16M FIO_OFFSET_INCREMENT=1M FIO_DIRECT=0
	LIMIT=120
	start
	await 20 grep -q . "$T/out"
	await 20 sizes_reach 16777216
	kill -TERM "$pid"
	ends 10
	exits 143
	grep -Eq 'read-iops|dbench' "$T/out"
	start fio
	await 20 sizes_reach 16777216
	kill -TERM "$pid"
	ends 10
	exits 143
	grep '^pvcbench-result: ' "$T/out" | sed 's/^pvcbench-result: //;q' >"$T/line.json"
	holds '.run.plan == "dbench" and (.tests[0] | .direct == false and .iodepth == 64)' \
		"$T/line.json"
	empty "$T/dir"
}

sizes_reach() { # BYTES
	[ "$(find "$T/dir" -type f -printf '%s\n' | sort -n | tail -1)" = "$1" ]
}

@test "DBENCH_QUICK leaves the last five tests out" {
	not_on_container_root
	[ ! -e /etc/pvcbench/plan.yaml ] || skip "there is an /etc/pvcbench/plan.yaml"
	directory >/dev/null
	export DBENCH_MOUNTPOINT=$T/dir DBENCH_QUICK=yes FIO_SIZE=8M
	pvcbench run --set runtime=50ms --set ramp_time=0
	exits 0
	same "$(grep -c '^pvcbench-result: ' "$T/out")" 4
	same "$(dbench_block)" 1
	unset DBENCH_QUICK
	pvcbench run --set runtime=50ms --set ramp_time=0 --set offset_increment=1MiB
	exits 0
	same "$(grep -c '^pvcbench-result: ' "$T/out")" 9
	same "$(dbench_block)" 4
}

@test "every subcommand has --help, on stdout, exit 0" {
	for command in run check doctor plans version; do
		pvcbench "$command" --help
		exits 0
		grep -q "$command" "$T/out"
		same "$(cat "$T/err")" ""
	done
	for word in --help -h help; do
		pvcbench "$word"
		exits 0
		grep -q doctor "$T/out"
	done
}

@test "usage errors are exit 2, on stderr" {
	for args in "nonsense" "run --nonsense" "run a b" "run --set" "run --set x" "run --out" \
		"plans nonsense" "version extra" "--nonsense"; do
		read -ra words <<<"$args"
		pvcbench "${words[@]}"
		exits 2 || { echo "args: $args"; return 1; }
		[ -s "$T/err" ]
		same "$(cat "$T/out")" ""
	done
}

@test "an unknown word is told with the nearest known one" {
	pvcbench chekc
	exits 2
	says "check"
	pvcbench run qick
	exits 2
	says "quick"
}

@test "version" {
	pvcbench version
	exits 0
	grep -Eq '[0-9]+\.[0-9]+\.[0-9]+' "$T/out"
	for library in liburing libcurl OpenSSL; do
		grep -Eqx "$library [0-9]+\.[0-9.a-z]+" "$T/out"
	done
}

@test "plans lists the built-in ones and prints one" {
	pvcbench plans
	exits 0
	for name in aca cce dbench dbench-cce dd etcd hops quick sweep; do
		grep -Eq "(^|\s)$name(\s|$)" "$T/out"
	done
	pvcbench plans cce
	exits 0
	cp "$T/out" "$T/plan.yaml"
	grep -q '^version: 1' "$T/out"
	pvcbench check "$T/plan.yaml" --target "$T" --set container_fs=true
	exits 0
}

@test "every built-in plan runs, shortened" {
	tmpfs 700M
	LIMIT=120
	pvcbench plans
	# hops calls services of a cluster
	names=$(awk '{ print $1 }' "$T/out" | grep -E '^[a-z-]+$' | grep -vx hops)
	[ "$(wc -w <<<"$names")" -ge 8 ]
	for name in $names; do
		echo "plan: $name"
		pvcbench plans "$name"
		exits 0
		# a plan for several mounts takes one here; a probe's count stands for its time
		pvcbench run "$name" --target "$mnt" --set runtime=50ms --set ramp_time=0 \
			--set size=32MiB --set offset_increment=1MiB --out "$T/result.json"
		exits 0
		holds 'all(.tests[]; .status == "ok")'
		valid "$T/result.json"
		# what it writes is there to stay
		[ "$name" != persist ] || pvcbench run persist --target "$mnt" --set step=remove
		exits 0
		empty "$mnt"
	done
}

@test "the plan hops calls its services" {
	pvcbench check hops
	exits 0
	says '^hops  *-  *2 chains of 3, 3 hops, 100 requests each, 100ms between'
}

@test "check says what would run and touches nothing" {
	need_strace
	simple "runtime: 20s" "[randread, randwrite]"
	: >"$T/dir/there"
	touch -d '2001-01-01' "$T/dir"
	before=$(stat -c '%Y %Z %s' "$T/dir")
	local calls=%file,write,pwrite64,writev,ftruncate,fallocate,io_uring_enter,io_submit
	WRAP=(strace -f -o "$T/trace" -e "trace=$calls")
	pvcbench check "$T/plan.yaml"
	exits 0
	says "t-randread"
	says "t-randwrite"
	says "16 ?MiB"
	says "^in all: 2 tests, 51s, " # probes of limits: 5 s each, of caches: 1 s
	same "$(stat -c '%Y %Z %s' "$T/dir")" "$before"
	# nothing but terminals and /dev is opened for writing, nothing but output written
	grep -E 'O_CREAT|O_WRONLY|O_RDWR|creat\(|mkdir|mknod|link|rename|truncate|fallocate|utime' \
		"$T/trace" | grep -Ev 'readlink|/dev/' >"$T/touched" || true
	grep -E 'write|io_submit' "$T/trace" |
		grep -Ev ' write\([12],|openat' >>"$T/touched" || true
	same "$(cat "$T/touched")" ""
}

@test "a plan that the pod's deadline cuts off says so before it starts" {
	simple "runtime: 700ms" "[randread, randwrite]"
	export PVCBENCH_DEADLINE=1
	pvcbench check "$T/plan.yaml"
	exits 0
	says "note: the plan takes 1.4s .* after 1s .*'t-randwrite' and what follows"
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 0
	says "'t-randwrite' and what follows will not be completed"
	holds '.run.notes | length == 1'
	PVCBENCH_DEADLINE=2 pvcbench check "$T/plan.yaml"
	never_says "note:"
}

@test "check of a plan with an error is exit 2, of a bad target 3, of a refused one 4" {
	simple "nonsense: 1"
	pvcbench check "$T/plan.yaml"
	exits 2
	pvcbench check cce --target "$T/nowhere"
	exits 3
	loop_device 64M
	pvcbench check cce --target "$loop"
	exits 4
}

@test "check names the size that will be shrunk" {
	loop_fs ext4 300M
	pvcbench check cce --target "$mnt"
	exits 0
	says "10 ?GiB"
	empty "$mnt"
}

@test "doctor says what this pod can do" {
	directory >/dev/null
	pvcbench doctor "$T/dir"
	exits 0
	for word in io_uring libaio O_DIRECT; do
		grep -q "$word" "$T/out"
	done
	empty "$T/dir"
	pvcbench doctor
	exits 0
}

@test "doctor names the remedy where something is refused" {
	need_tool refuse
	directory >/dev/null
	WRAP=("$tools/refuse" io_uring_setup=EPERM --)
	pvcbench doctor "$T/dir"
	exits 0
	says "seccomp"
}

@test "the conditions: file system, options, device, kernel, node" {
	loop_fs ext4
	simple
	export PVCBENCH_NODE=the-node
	measure --target "$mnt"
	holds ".conditions | .target == \"$mnt\" and .fs == \"ext4\" and .node == \"the-node\""
	holds ".conditions.kernel == \"$(uname -r)\""
	holds '.conditions | .cpus > 0 and .memory_bytes > 1000000'
	holds '.conditions.mount_options | test("rw")'
	holds ".conditions.device | test(\"$(basename "$loop")\")"
	says the-node
	says ext4
}

@test "numbers add up: the histogram, the mean, the series" {
	simple "runtime: 2s, iodepth: 4"
	measure
	"$PYTHON" - "$T/result.json" <<-'END'
		import json, sys
		test = json.load(open(sys.argv[1]))['tests'][0]
		read = test['read']
		assert sum(read['series']['ios']) == read['ios'], read['series']
		# Little's law: what is outstanding is rate times latency
		depth = read['iops'] * read['lat_ns']['mean'] / 1e9
		assert 3.3 < depth < 4.05, depth
		p = [read['lat_ns'][k] for k in ('min', 'p50', 'p90', 'p95', 'p99', 'max')]
		assert p == sorted(p), p
	END
}

@test "values come from the environment" {
	simple
	export SIZE_OF_FILE=8MiB
	sed -i "s/size: 16MiB/size: \${SIZE_OF_FILE}/" "$T/plan.yaml"
	measure
	holds '.tests[0].size == 8388608'
}

@test "a closed standard output is no file that is measured" {
	mnt=$(directory)
	dd if=/dev/zero of="$mnt/mine" bs=1M count=1 status=none
	plan <<-END
		version: 1
		target: $mnt
		tests: [{name: t, rw: randread, filename: mine, runtime: 100ms, ramp_time: 0}]
	END
	# shellcheck disable=SC2016
	run -1 bash -c '"$1" run "$2" >&-' - "$pvcbench" "$T/plan.yaml"
	[[ $output == *"standard output"* ]]
	cmp "$mnt/mine" <(head -c 1M /dev/zero)
}
