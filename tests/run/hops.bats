#!/usr/bin/env bats
# kind: hops: what each way between two services takes.
# side by side

load lib
load http

# Three relays: a calls b and c, b calls c, c calls b.
three() {
	local ports
	mapfile -t ports < <("$PYTHON" -c 'import socket
s = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(*[x.getsockname()[1] for x in s], sep="\n")')
	a=http://127.0.0.1:${ports[0]} b=http://127.0.0.1:${ports[1]} c=http://127.0.0.1:${ports[2]}
	listen "${ports[0]}" --allow "$b" --allow "$c"
	listen "${ports[1]}" --allow "$c" --allow "$a"
	listen "${ports[2]}" --allow "$b" --allow "$a"
}

listen() { # PORT ARG...
	"$pvcbench" relay --listen "127.0.0.1:$1" "${@:2}" >"$T/$1.out" 2>"$T/$1.err" 3>&- &
	undo "kill $! 2>/dev/null"
	await 10 grep -q 'listens on port' "$T/$1.out"
}

# The parts of every chain add up to its total.
adds_up() {
	holds 'all(.tests[].hops.chains[];
		.total_ns.sum == .late_ns.sum + ([.hops[] | .own_ns.sum + .network_ns.sum] | add))'
}

@test "two chains in two orders, without a target: every hop has its share" {
	three
	plan <<-END
		tests:
		  - name: orders
		    kind: hops
		    requests: 40
		    chains:
		      one: [{url: "$a/"}, {url: "$b/x"}, {url: "$c/"}]
		      two: [{url: "$a/"}, {url: "$c/"}, {url: "$b/"}]
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 0
	holds '.tests[0] | .kind == "hops" and .target == null and .status == "ok"'
	holds 'all(.tests[0].hops.chains[]; .total_ns.requests == 40 and (.hops | length) == 3 and
		.warmup_ns.requests == 1 and .errors == {} and .rounded == 0)'
	holds 'all(.tests[0].hops.chains[].hops[]; .own_ns.requests == 40 and
		.network_ns.requests == 40 and .network_ns.min > 0 and .untold == 0)'
	holds '[.tests[0].hops.chains[].name] == ["one", "two"]'
	# kept open since the warm-up, as relays do too
	holds 'all(.tests[0].hops.chains[].hops[]; .new_connections == 0 and .tcp_ns.max == 0)'
	adds_up
	valid "$T/result.json"
	says '^hops: orders$'
	says '^    \[2\] .*/x$'
	says '^      .  network  mean .*p50 '
	says '2 chains of 3, 3 hops, 40 requests each'
	never_says 'IOPS'
}

@test "a new connection for each request, where that is asked for" {
	relay a
	plan <<-END
		tests:
		  - {name: fresh, kind: hops, requests: 5, warmup: 0, keepalive: false,
		     chains: {x: [{url: "$url_a/"}]}}
		  - {name: kept, kind: hops, requests: 5, warmup: 0,
		     chains: {x: [{url: "$url_a/"}]}}
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 0
	holds '[.tests[].hops.chains[0].hops[0].new_connections] == [5, 1]'
	holds '.tests[0].hops.chains[0] | .hops[0].tcp_ns.min > 0 and .warmup_ns.requests == 0'
	adds_up
}

@test "what starts cold is told apart" {
	server cold <<-'END'
		first = True
		def do_POST(self):
		    import time
		    self.rfile.read(int(self.headers["Content-Length"]))
		    if Handler.first:
		        Handler.first = False
		        time.sleep(0.4)
		    body = b'[{"id": 1, "code": 200, "resCode": 200, "elapsed_us": 10}]'
		    self.send_response(200)
		    self.send_header("Content-Length", str(len(body)))
		    self.end_headers()
		    self.wfile.write(body)
	END
	plan <<-END
		tests:
		  - {name: cold, kind: hops, requests: 3, warmup: 2,
		     chains: {x: [{url: "$url_cold/"}]}}
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 0
	holds '.tests[0].hops.chains[0] | .warmup_first_ns >= 400e6 and .total_ns.max < 400e6 and
		.warmup_ns.requests == 2 and .total_ns.requests == 3'
	says '^    warm-up: 2 requests \(not measured\), the first 4[0-9][0-9]'
}

@test "a slow hop: the time is its own, and no way's" {
	server slow <<-'END'
		def do_POST(self):
		    import time
		    self.rfile.read(int(self.headers["Content-Length"]))
		    time.sleep(0.1)
		    body = b'[{"id": 1, "code": 200, "resCode": 200, "elapsed_us": 100000}]'
		    self.send_response(200)
		    self.send_header("Content-Length", str(len(body)))
		    self.end_headers()
		    self.wfile.write(body)
	END
	relay a --allow "$url_slow"
	plan <<-END
		tests:
		  - {name: slow, kind: hops, requests: 5,
		     chains: {x: [{url: "$url_a/"}, {url: "$url_slow/"}]}}
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 0
	holds '.tests[0].hops.chains[0].hops | .[1].own_ns.min == 100e6 and
		.[0].own_ns.mean < 50e6 and .[0].network_ns.mean < 50e6'
	adds_up
}

@test "a rate: requests are due at fixed times, and late ones count from then" {
	server slow <<-'END'
		def do_POST(self):
		    import time
		    self.rfile.read(int(self.headers["Content-Length"]))
		    time.sleep(0.1)
		    body = b'[{"id": 1, "code": 200, "resCode": 200, "elapsed_us": 100000}]'
		    self.send_response(200)
		    self.send_header("Content-Length", str(len(body)))
		    self.end_headers()
		    self.wfile.write(body)
	END
	plan <<-END
		tests:
		  - {name: open, kind: hops, rate: 50, runtime: 1s,
		     chains: {x: [{url: "$url_slow/"}]}}
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 0
	# ten a second fit, fifty are due
	holds '.tests[0].hops.chains[0] | .total_ns.requests + .unsent == 50 and .unsent >= 35 and
		.total_ns.max >= 500e6 and .late_ns.max >= 400e6'
	adds_up
	says '^    unsent: [34][0-9] requests'
}

@test "an interval is shared by the chains, so that each is asked after as long a rest" {
	relay a
	plan <<-END
		tests:
		  - {name: paced, kind: hops, requests: 4, interval: 300ms,
		     chains: {x: [{url: "$url_a/"}], y: [{url: "$url_a/"}]}}
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 0
	holds '.tests[0].runtime_ns >= 900e6 and .tests[0].runtime_ns < 5e9'
	holds '[.tests[0].hops.chains[].total_ns.requests] == [4, 4]'
}

@test "a chain that is down fails the test, and says why; the other has its figures" {
	relay a --allow http://127.0.0.1:1
	plan <<-END
		tests:
		  - name: down
		    kind: hops
		    requests: 3
		    timeout: 2s
		    chains:
		      up: [{url: "$url_a/"}]
		      second: [{url: "$url_a/"}, {url: "http://127.0.0.1:1/"}]
		      first: [{url: "http://127.0.0.1:1/"}]
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	says "chain 'second': no request came through: hop 1, '$url_a/': .*127.0.0.1:1"
	holds '[.tests[0].hops.chains[].errors] == [{}, {"hop": 3}, {"unreachable": 3}]'
	holds '.tests[0].hops.chains[0].total_ns.requests == 3'
	adds_up
	valid "$T/result.json"
}

@test "a chain that never answers is given up after ten requests, and so is the test" {
	relay a
	plan <<-END
		kind: hops
		interval: 0
		tests:
		  - {name: all, requests: 1000000, chains: {one: [{url: "http://127.0.0.1:1/"}]}}
		  - name: some
		    requests: 30
		    chains: {up: [{url: "$url_a/"}], down: [{url: "http://127.0.0.1:1/"}]}
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	holds '[.tests[].hops.chains[].errors] == [{"unreachable": 10}, {}, {"unreachable": 10}]'
	holds '.tests[1].hops.chains[0].total_ns.requests == 30'
}

# A chain that names a hop again and again is as long as it is; more than 16 are no plan.
@test "a hop that may not call, a loop that is longer than a chain may be" {
	relay a
	plan <<-END
		tests:
		  - {name: no, kind: hops, requests: 1,
		     chains: {x: [{url: "$url_a/"}, {url: "$url_a/"}]}}
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	says 'answers with status 403'
	holds '.tests[0].hops.chains[0].errors == {"status": 1}'
	{
		printf 'tests:\n  - name: loop\n    kind: hops\n    chains:\n      x:\n'
		for i in {1..17}; do
			printf '        - {url: "%s/"}\n' "$url_a"
		done
	} >"$T/plan.yaml"
	pvcbench run "$T/plan.yaml"
	exits 2
	says 'plan.yaml:6:9: chains: x: a list of 1 to 16 hops is wanted'
}

@test "answers that are none: other JSON, no JSON, too many hops, a gigabyte" {
	server odd <<-'END'
		def do_POST(self):
		    self.rfile.read(int(self.headers["Content-Length"]))
		    answers = {"/json": b'{"a": 1}', "/text": b"<html>",
		        "/many": json.dumps([{"elapsed": 0}] * 17).encode(),
		        "/two": json.dumps([{"elapsed": 0}] * 2).encode(),
		        "/nan": b'[{"elapsed": "x"}]'}
		    self.send_response(200)
		    if self.path == "/big":
		        self.send_header("Content-Length", "1000000000")
		        self.end_headers()
		        try:
		            for _ in range(1000):
		                self.wfile.write(b"x" * 1000000)
		        except OSError:
		            self.close_connection = True
		        return
		    self.send_header("Content-Length", str(len(answers[self.path])))
		    self.end_headers()
		    self.wfile.write(answers[self.path])
	END
	plan <<-END
		tests:
		  - name: odd
		    kind: hops
		    requests: 2
		    warmup: 0
		    chains:
		      json: [{url: "$url_odd/json"}]
		      text: [{url: "$url_odd/text"}]
		      many: [{url: "$url_odd/many"}]
		      nan: [{url: "$url_odd/nan"}]
		      two: [{url: "$url_odd/two"}]
		      big: [{url: "$url_odd/big"}]
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	holds '[.tests[0].hops.chains[].errors] == [{"format": 2}, {"format": 2}, {"format": 2},
		{"format": 2}, {"hop": 2}, {"too-large": 2}]'
	holds '.run.peak_rss_bytes < 100e6'
}

@test "a certificate that nobody trusts, and its CA named" {
	need openssl
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
		-addext 'subjectAltName = DNS:localhost' -keyout "$T/key" -out "$T/cert" 2>/dev/null
	cat >"$T/tls.py" <<-END
		import http.server, ssl
		class Handler(http.server.BaseHTTPRequestHandler):
		    def log_message(self, *args):
		        pass
		    def do_POST(self):
		        body = b'[{"code": 200, "resCode": 200, "elapsed_us": 5}]'
		        self.rfile.read(int(self.headers["Content-Length"]))
		        self.send_response(200)
		        self.send_header("Content-Length", str(len(body)))
		        self.end_headers()
		        self.wfile.write(body)
		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
		context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
		context.load_cert_chain("$T/cert", "$T/key")
		server.socket = context.wrap_socket(server.socket, server_side=True)
		print(server.server_port, flush=True)
		server.serve_forever()
	END
	"$PYTHON" "$T/tls.py" >"$T/tls.port" 2>"$T/tls.err" 3>&- &
	undo "kill $! 2>/dev/null"
	await 10 test -s "$T/tls.port"
	tls=https://localhost:$(cat "$T/tls.port")
	plan <<-END
		tests:
		  - {name: tls, kind: hops, requests: 2, keepalive: false,
		     chains: {x: [{url: "$tls/"}]}}
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 1
	holds '.tests[0].hops.chains[0] | .errors == {"untrusted": 2} and .warmup_errors == 1'
	pvcbench run "$T/plan.yaml" --set "tests.tls.ca_file=$T/cert" --out "$T/result.json"
	exits 0
	holds '.tests[0].hops.chains[0].hops[0] | .tls_ns.min > 0 and .new_connections == 2'
}

# Read of choi: whole ms, nothing of its call, headers as JSON in a string.
@test "a choi between two relays" {
	choi
	relay c
	relay a --allow "$url_choi"
	plan <<-END
		tests:
		  - {name: mixed, kind: hops, requests: 4, body_bytes: 2000,
		     chains: {x: [{url: "$url_a/"}, {url: "$url_choi/"}, {url: "$url_c/"}],
		              y: [{url: "$url_choi/"}, {url: "$url_c/"}]}}
	END
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 0
	holds '[.tests[0].hops.chains[0].hops[].untold] == [0, 4, 0]'
	holds '.tests[0].hops.chains[0].hops[2].wait_ns.requests == 0'
	says 'not told: in the network of the next'
	adds_up
}

@test "a signal ends it at once, and what was measured is printed" {
	relay a
	plan <<-END
		tests:
		  - {name: long, kind: hops, requests: 1000, interval: 100ms,
		     chains: {x: [{url: "$url_a/"}]}}
		  - {name: later, kind: hops, chains: {x: [{url: "$url_a/"}]}}
	END
	start run "$T/plan.yaml" --out "$T/result.json"
	sleep 1.5
	kill -TERM "$pid"
	ends 3
	exits 143
	says '^  x: [0-9]* requests: mean '
	holds '.interrupted and (.tests | length) == 1 and .tests[0].status == "interrupted" and
		.tests[0].hops.chains[0].total_ns.requests > 3'
	adds_up
}

@test "a signal while a hop does not answer" {
	server mute <<-'END'
		def do_POST(self):
		    import time
		    time.sleep(30)
	END
	plan <<-END
		tests:
		  - {name: mute, kind: hops, chains: {x: [{url: "$url_mute/"}]}}
	END
	start run "$T/plan.yaml"
	sleep 0.7
	kill -INT "$pid"
	ends 4
	exits 130
}

@test "check tells what would be called, peers and merge have no sum of it" {
	relay a
	plan <<-END
		tests:
		  - {name: look, kind: hops, requests: 3, chains: {x: [{url: "$url_a/"}]}}
	END
	pvcbench check "$T/plan.yaml"
	exits 0
	says '^look  *-  *1 chain of 1 hops, 3 requests each'
	pvcbench run "$T/plan.yaml" --out "$T/result.json"
	exits 0
	cp "$T/result.json" "$T/other.json"
	pvcbench merge "$T/result.json" "$T/other.json"
	exits 2
	says "its 'look' is of kind hops, which has no sum"
	pvcbench run "$T/plan.yaml" --peers 2 --index 0 --coordinator 127.0.0.1:1
	exits 2
	says 'kind hops has no sum over several peers'
}
