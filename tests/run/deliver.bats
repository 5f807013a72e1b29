#!/usr/bin/env bats
# Results on their way: what arrives, what is tried again and for how long, and that no secret
# is told to anyone but the receiver.
# side by side

load lib

setup_file() {
	unset http_proxy https_proxy all_proxy no_proxy HTTPS_PROXY ALL_PROXY NO_PROXY
	unset SSL_CERT_FILE SSL_CERT_DIR PVCBENCH_JOB
}

# collector.py; sets $at, its URL, and $seen, its directory.
collector() { # [CERTIFICATE KEY]
	seen=$T/seen
	mkdir "$seen"
	: >"$seen/requests"
	"$PYTHON" "$repo/tests/run/collector.py" "$seen" "$@" >"$seen/log" 2>&1 3>&- &
	undo kill $!
	await 20 test -s "$seen/port"
	at=http${1:+s}://127.0.0.1:$(<"$seen/port")
}

# A plan of next to no time that delivers so.
deliver() { # SINK...
	mkdir -p "$T/dir"
	plan <<-END
		version: 1
		target: $T/dir
		size: 1MiB
		ramp_time: 0
		runtime: ${RUNTIME:-50ms}
		deliver:
		$(printf -- '  - {%s}\n' "$@")
		tests: [{name: t, rw: randread, ioengine: "null"${KEYS:+, $KEYS}}]
	END
}

requests_seen() {
	wc -l <"$seen/requests"
}

seen_so() { # JQ EXPRESSION: true of the list of requests
	jq -s . "$seen/requests" >"$T/requests.json"
	holds "$1" "$T/requests.json"
}

# Lines on stderr about a failed delivery.
failures() {
	grep -c 'not delivered' "$T/err" || true
}

@test "webhook: the document of --out, its type, and the run's id as key" {
	collector
	deliver "webhook: \"$at/hook?a=b\", headers: {X-Team: storage}"
	measure
	same "$(requests_seen)" 1
	cmp "$seen/body.0" "$T/result.json"
	seen_so '.[0] | .method == "POST" and .path == "/hook?a=b"'
	seen_so '.[0].headers["content-type"] == "application/json"'
	seen_so '.[0].headers["x-team"] == "storage"'
	seen_so ".[0].headers[\"idempotency-key\"] == \"$(get .run.id)\""
	same "$(cat "$T/err")" ""
}

@test "500, 500, then 200: delivered by the third try, with the same key" {
	collector
	deliver "webhook: $at/flaky/2"
	measure
	same "$(requests_seen)" 3
	seen_so '[.[].headers["idempotency-key"]] | unique | length == 1'
	seen_so '.[1].at - .[0].at >= 0.8 and .[2].at - .[1].at >= 1.6'
	same "$(grep -c 'answered 500; trying again in' "$T/err")" 2
	same "$(failures)" 0
}

@test "Retry-After is waited for" {
	collector
	deliver "webhook: $at/after/3"
	measure
	same "$(requests_seen)" 2
	seen_so '.[1].at - .[0].at >= 3'
}

@test "a longer wait than there is time for is none" {
	collector
	deliver "webhook: $at/after/300"
	measure
	same "$(requests_seen)" 1
	same "$(failures)" 1
	says "webhook $at/after/300: not delivered: answered 503 .asks for 5m00s, more than"
}

@test "400 is final, told in one line with the reason; the exit code is that of the run" {
	collector
	deliver "webhook: $at/status/400"
	measure
	same "$(requests_seen)" 1
	says "^pvcbench: webhook $at/status/400: not delivered: answered 400: the reason .tries: 1"
	same "$(wc -l <"$T/err")" 1
}

@test "required: exit 1, unless there is worse" {
	collector
	deliver "webhook: $at/status/404, required: true"
	pvcbench run "$T/plan.yaml"
	exits 1
	says "required and not delivered: answered 404"
	KEYS='expect: ["read.iops < 1"]' deliver "webhook: $at/status/404"
	pvcbench run "$T/plan.yaml"
	exits 99
	KEYS='expect: ["read.iops < 1"]' deliver "webhook: $at/status/404, required: true"
	pvcbench run "$T/plan.yaml"
	exits 1
	deliver "webhook: $at/ok, required: true"
	pvcbench run "$T/plan.yaml"
	exits 0
}

@test "what is required and cannot be is told before the run" {
	deliver "webhook: http://a, required: true, authorization_file: $T/none"
	for command in run check; do
		pvcbench $command "$T/plan.yaml"
		exits 2
		says "plan.yaml:7:5: deliver: authorization_file: cannot read '$T/none'"
	done
	empty "$T/dir"
}

@test "one that is tried again holds no other up" {
	collector
	deliver "webhook: $at/flaky/1" "webhook: $at/ok" "file: $T"
	measure
	seen_so '[.[].path] == ["/flaky/1", "/ok", "/flaky/1"]'
	cmp "$T/pvcbench-$(get .run.id).json" "$T/result.json"
}

@test "redirects are not followed, and where to is told without secrets" {
	collector
	deliver "webhook: $at/moved"
	measure
	says "answered 302 to 'https://elsewhere.example/a' \(redirects are not followed"
	never_says SECRET
}

@test "an answer without end does not hold the run" {
	collector
	deliver "webhook: $at/huge, required: true"
	LIMIT=20 pvcbench run "$T/plan.yaml"
	exits 0
	same "$(requests_seen)" 1
}

@test "proxies of the environment" {
	collector
	deliver "webhook: http://collector.example/hook, required: true"
	http_proxy=$at pvcbench run "$T/plan.yaml"
	exits 0
	seen_so '.[0].path == "http://collector.example/hook"'
	http_proxy=$at no_proxy=.example LIMIT=5 pvcbench run "$T/plan.yaml"
	not exits 0 >/dev/null
	same "$(requests_seen)" 1
}

# --- TLS ---

# A CA and a certificate for localhost and 127.0.0.1, or NAME.
certificate() { # [NAME]
	need openssl
	local name=${1:-localhost}
	(
		cd "$T" || exit
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
			-subj /CN=test-ca -keyout ca.key -out ca.crt
		openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$name" \
			-keyout server.key -out server.csr
		openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 \
			-out server.crt -extfile <(
				echo "subjectAltName=DNS:$name$([ "$1" ] || echo ,IP:127.0.0.1)"
			)
	) >/dev/null 2>&1
}

@test "TLS by a CA of one's own: ca_file, or SSL_CERT_FILE" {
	certificate
	collector "$T/server.crt" "$T/server.key"
	deliver "webhook: $at/hook, ca_file: $T/ca.crt, required: true"
	pvcbench run "$T/plan.yaml"
	exits 0
	deliver "webhook: $at/hook, required: true"
	SSL_CERT_FILE=$T/ca.crt pvcbench run "$T/plan.yaml"
	exits 0
	same "$(requests_seen)" 2
}

@test "a certificate that is not trusted: final, and the bundle is named" {
	certificate
	collector "$T/server.crt" "$T/server.key"
	deliver "webhook: $at/hook, required: true"
	pvcbench run "$T/plan.yaml"
	exits 1
	says "the certificate of '127.0.0.1:[0-9]*' is not trusted: .*local issuer"
	says "trusted is what '/etc/ssl/certs/ca-certificates.crt' holds; .*\(tries: 1\)"
	same "$(requests_seen)" 0
	certificate other.example
	deliver "webhook: $at/hook, ca_file: $T/server.crt, required: true"
	pvcbench run "$T/plan.yaml"
	exits 1
	says "is not trusted: .*'$T/server.crt'"
}

@test "a certificate for another name is none" {
	certificate other.example
	collector "$T/server.crt" "$T/server.key"
	deliver "webhook: $at/hook, ca_file: $T/ca.crt, required: true"
	pvcbench run "$T/plan.yaml"
	exits 1
	says "the certificate of '127.0.0.1:[0-9]*' is not for that name .*\(tries: 1\)"
	same "$(requests_seen)" 0
}

# --- secrets ---

@test "no secret is told to anyone but the receiver" {
	collector
	export KEY=s3cretkey PASSWORD=s3cretpass TOKEN=s3crettoken
	echo "s3cretfile" >"$T/token"
	deliver "webhook: \"$at/echo\", headers: {Authorization: \"Key \${KEY}\"}" \
		"webhook: \"${at/:\/\//://me:\$\{PASSWORD\}@}/echo\"" \
		"webhook: \"$at/echo/\${TOKEN}\"" \
		"webhook: \"$at/echo?key=s3cretquery\"" \
		"webhook: $at/echo, authorization_file: $T/token" \
		"pushgateway: \"$at/echo/\${TOKEN}\"" \
		"webhook: \"http://\${TOKEN}.example:\${KEY}/\""
	PVCBENCH_TERMINATION_LOG=$T/termination pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 2 # the last one is no URL
	never_says 's3cret'
	sed -i '/example:/d' "$T/plan.yaml"
	PVCBENCH_TERMINATION_LOG=$T/termination pvcbench run "$T/plan.yaml" --out "$T/result.json" \
		--metrics "$T/metrics"
	exits 0
	same "$(requests_seen)" 6
	same "$(failures)" 6
	seen_so '.[0].headers.authorization == "Key s3cretkey"'
	seen_so '.[1].headers.authorization | test("^Basic ")'
	seen_so '.[2].path == "/echo/s3crettoken"'
	seen_so '.[4].headers.authorization == "Bearer s3cretfile"'
	not grep -l s3cret "$T/out" "$T/err" "$T/result.json" "$T/metrics" "$T/termination" \
		"$seen"/body.*
	pvcbench check "$T/plan.yaml"
	exits 0
	says "^deliver: webhook $at/echo$"
	never_says s3cret
}

# --- signals ---

asked() { # N: so many requests have arrived
	[ "$(requests_seen)" -ge "$1" ]
}

@test "a run that a signal ends is delivered, as interrupted" {
	collector
	RUNTIME=60s deliver "webhook: $at/ok"
	start run "$T/plan.yaml"
	await 20 grep -q 'test 1 of 1\|t: ' "$T/out"
	sleep 0.3
	kill -TERM "$pid"
	ends 20
	exits 143
	same "$(requests_seen)" 1
	holds '.interrupted == true' "$seen/body.0"
	valid "$seen/body.0"
}

@test "a delivery that lasts says so, and a signal leaves it five seconds" {
	collector
	deliver "webhook: $at/slow" "webhook: $at/slow"
	start run "$T/plan.yaml"
	await 20 asked 1
	await 14 grep -q "slow: waiting for an answer" "$T/err"
	kill -TERM "$pid"
	SECONDS=0
	ends 14
	exits 0
	same "$(failures)" 2
	says "slow: not delivered: .*\(a signal leaves 5 s for it\)"
}

@test "a DNS server that is silent holds nobody longer than his time" {
	need bwrap
	"$PYTHON" -c 'import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.53", 53))
time.sleep(100)' 3>&- &
	undo kill $!
	sleep 0.3
	kill -0 $! || skip "cannot listen on port 53"
	printf 'nameserver 127.0.0.53\noptions timeout:20 attempts:5\n' >"$T/resolv.conf"
	deliver "webhook: http://collector.example/hook"
	WRAP=(bwrap --dev-bind / / --ro-bind "$T/resolv.conf" /etc/resolv.conf)
	"${WRAP[@]}" true || skip "bubblewrap is not permitted"
	"${WRAP[@]}" "$pvcbench" run "$T/plan.yaml" >"$T/out" 2>"$T/err" 3>&- &
	pid=$!
	undo "kill -KILL $pid 2>/dev/null"
	await 20 grep -q "no address for 'collector.example:80' within" "$T/err"
	pkill -TERM -P "$pid" || kill -TERM "$pid"
	ends 20
	says "not delivered: no address for 'collector.example:80'"
}

# --- Prometheus ---

# Debian's package, unpacked only, since to install it would start a service. Prints the program.
program_of() { # PACKAGE NAME
	local program=$tools/debian/$1/usr/bin/$2

	if [ ! -x "$program" ]; then
		(
			flock 9
			mkdir -p "$tools/debian" "$T/deb" && cd "$T/deb" &&
				apt-get -q -q -o APT::Sandbox::User=root download "$1" &&
				dpkg -x "$1"_*.deb "$tools/debian/$1"
		) 9>"${TMPDIR:-/tmp}/pvcbench-tests.lock" >&2 || return
	fi
	echo "$program"
}

promtool() {
	local program

	program=$(program_of prometheus promtool) || skip "cannot fetch prometheus"
	"$program" "$@"
}

@test "--metrics: the figures, in text that promtool has nothing to say to" {
	deliver "file: $T/again.json"
	measure --metrics "$T/metrics"
	promtool check metrics <"$T/metrics" >"$T/log" 2>&1
	same "$(cat "$T/log")" ""
	line=$(grep '^pvcbench_operations_total{.*op="read"' "$T/metrics")
	same "${line##* }" "$(get '.tests[0].read.ios')"
	grep -qF "pvcbench_test_success{test=\"t\",target=\"$T/dir\"" "$T/metrics"
	cmp "$T/again.json" "$T/result.json"
	pvcbench run "$T/plan.yaml" --metrics /nothing/here
	exits 2
}

@test "promtool has nothing to say to any metrics of the goldens" {
	for file in "$repo"/tests/golden/*.metrics; do
		promtool check metrics <"$file" >"$T/log" 2>&1
		same "$(cat "$T/log")" ""
	done
}

free_port() {
	"$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

# On a free port; sets $at.
pushgateway() {
	local program port

	program=$(program_of prometheus-pushgateway prometheus-pushgateway) ||
		skip "cannot fetch prometheus-pushgateway"
	port=$(free_port)
	at=http://127.0.0.1:$port
	"$program" --web.listen-address="127.0.0.1:$port" >"$T/gateway.log" 2>&1 3>&- &
	undo kill $!
	await 20 fetch -/ready
}

fetch() { # PATH: of the server at $at, into $T/page
	"$PYTHON" -c 'import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1]).read().decode())' "$at/$1" >"$T/page" 2>/dev/null
}

@test "a Pushgateway: one group, replaced by the next run" {
	pushgateway
	export PVCBENCH_JOB=pvcbench-evs
	deliver "pushgateway: $at, required: true"
	for _ in 1 2; do
		measure
		fetch metrics
		same "$(grep -c '^pvcbench_iops{' "$T/page")" 1
		grep '^pvcbench_iops{' "$T/page" | grep -F 'instance="pvcbench-evs"' |
			grep -F 'job="pvcbench"' | grep -qF 'test="t"'
		same "$(grep -c '^pvcbench_run_info{' "$T/page")" 1
		grep '^pvcbench_run_info{' "$T/page" | grep -qF "run=\"$(get .run.id)\""
		promtool check metrics <"$T/page"
	done
	deliver "pushgateway: $at/, job: disks, required: true" \
		"pushgateway: $at/metrics/job/own/class/evs, required: true"
	measure
	fetch metrics
	grep -q '^pvcbench_iops{.*job="disks"' "$T/page"
	grep '^pvcbench_iops{.*job="own"' "$T/page" | grep -qF 'class="evs"'
}

@test "what a Pushgateway refuses is told in its words" {
	pushgateway
	deliver "pushgateway: $at/metrics/job/a/x-y/b"
	measure
	same "$(failures)" 1
	says "pushgateway $at/metrics/job/a/x-y/b: not delivered: answered 400: .*x-y"
}

# What Prometheus answers to a query of one number.
answers() { # QUERY
	fetch "api/v1/query?query=$1" && jq -er '.data.result[0].value[1]' "$T/page" >"$T/number"
}

@test "Prometheus, from the Pushgateway: the same figures" {
	local program

	pushgateway
	deliver "pushgateway: $at, required: true"
	measure
	program=$(program_of prometheus prometheus) || skip "cannot fetch prometheus"
	cat >"$T/prometheus.yml" <<-END
		global: {scrape_interval: 1s}
		scrape_configs:
		  - job_name: gateway
		    honor_labels: true
		    static_configs: [{targets: ["${at#http://}"]}]
	END
	at=http://127.0.0.1:$(free_port)
	"$program" --config.file="$T/prometheus.yml" --storage.tsdb.path="$T/tsdb" \
		--web.listen-address="${at#http://}" >"$T/prometheus.log" 2>&1 3>&- &
	undo kill $!
	await 40 answers 'pvcbench_operations_total%7Bjob=%22pvcbench%22,op=%22read%22%7D'
	same "$(<"$T/number")" "$(get '.tests[0].read.ios')"
	answers 'pvcbench_latency_seconds%7Bquantile=%221%22%7D*1e9'
	within "$(<"$T/number")" "$(get '.tests[0].read.lat_ns.max - 1')" \
		"$(get '.tests[0].read.lat_ns.max + 1')"
	answers 'pvcbench_iops%20*%20on%20(test)%20group_left%20(rw)%20pvcbench_test_info'
	within "$(<"$T/number")" "$(get '.tests[0].read.iops * 0.999')" \
		"$(get '.tests[0].read.iops * 1.001')"
}
