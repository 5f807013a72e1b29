#!/usr/bin/env bats
# pvcbench relay: a hop that answers, and calls the next one.
# side by side

load lib
load http

# BODY or @FILE to a URL; the body in $T/answer, sets code
post() { # URL BODY
	code=$(curl -sS -m 20 -o "$T/answer" -w '%{http_code}' --noproxy '*' \
		-H 'Content-Type: application/json' --data-binary "$2" "$1")
}

answer() { # JQ-EXPRESSION that holds
	if ! jq -e "$1" "$T/answer" >/dev/null; then
		cat "$T/answer"
		echo "does not hold: $1"
		return 1
	fi
}

@test "each hop says how long it took, and how the next one was called" {
	relay c
	relay b --allow "$url_c"
	relay a --allow "$url_b"
	for round in 1 2; do
		post "$url_a" "$(chain "$url_a" "$url_b" "$url_c/any/path?x=1")"
		same "$code" 200
		answer 'length == 3 and [.[].id] == [1, 2, 3] and
			all(.code == 200 and .resCode == 200)'
		answer '.[0].elapsed_us >= .[0].next_us.total and
			.[0].next_us.total >= .[1].elapsed_us and .[1].elapsed_us > .[2].elapsed_us'
		answer 'all(.error == null) and (.[2] | has("next_us") | not)'
	done
	# the second time on the connection of the first
	answer '.[0].next_us | .new_connections == 0 and .tcp == 0'
	same "$(cat "$T/a.err")" ""
}

@test "without a body it says that it is there, whatever the path" {
	relay a
	for path in / /healthz /v1.0/x; do
		same "$(curl -sS "$url_a$path")" ok
	done
	grep -q 'may call nobody' "$T/a.out"
}

@test "it calls nobody that was not allowed, and logs it" {
	local allowed bad
	server b <<-'END'
		def do_POST(self):
		    self.rfile.read(int(self.headers["Content-Length"]))
		    open(sys.argv[0] + ".called", "a").write(self.path + "\n")
		    self.send_response(200)
		    self.send_header("Content-Length", "2")
		    self.end_headers()
		    self.wfile.write(b"[]")
	END
	relay a --allow "$url_b/in"
	allowed=${url_b#http://}
	for bad in "$url_b/" "$url_b/inner" "$url_b/in/../out" "$url_b/in/%2e%2e/out" \
		"http://127.0.0.1:1/in" "https://$allowed/in" "http://$allowed@127.0.0.1:1/in" \
		"file:///etc/passwd" "HTTP://$allowed/in"; do
		post "$url_a" "$(chain "$url_a" "$bad")"
		same "$code" 403
		answer 'length == 1 and .[0].code == 403 and (.[0].error | test("may not call"))'
		grep -qF "refused to call '$bad'" "$T/a.err"
	done
	[ ! -e "$T/b.py.called" ]
	for good in "$url_b/in" "$url_b/in/side" "$url_b/in?x"; do
		post "$url_a" "$(chain "$url_a" "$good")"
		same "$code" 200
	done
	same "$(wc -l <"$T/b.py.called")" 3
}

@test "a hop that is down, that is no hop, that is slow: the chain ends with why" {
	server page <<-'END'
		def do_POST(self):
		    self.rfile.read(int(self.headers["Content-Length"]))
		    self.send_response(302)
		    self.send_header("Location", "/elsewhere")
		    self.send_header("Content-Length", "6")
		    self.end_headers()
		    self.wfile.write(b"<html>")
	END
	relay slow
	relay a --allow http://127.0.0.1:1 --allow "$url_page" --allow "$url_slow" --timeout 400ms
	post "$url_a" "$(chain "$url_a" http://127.0.0.1:1)"
	same "$code" 200
	answer 'length == 1 and .[0].resCode == 0 and (.[0].error | test("127.0.0.1:1"))'
	post "$url_a" "$(chain "$url_a" "$url_page")"
	same "$code" 200
	answer 'length == 1 and .[0].resCode == 302 and (.[0].error | test("no array of hops"))'
	post "$url_a" "$(chain "$url_a" "$url_slow" | jq -c '.[1].delay = 3000')"
	same "$code" 200
	# libcurl's own clock may be a little ahead
	answer '.[0].elapsed >= 399 and .[0].elapsed < 2500 and
		(.[0].error | test("no whole answer"))'
	post "$url_slow" "$(chain "$url_slow" | jq -c '.[0].delay = 150')"
	answer '.[0].elapsed >= 150'
}

@test "bodies that are no chain, and bodies without end" {
	relay a
	for bad in nonsense '{}' '[]' '[1]' '[{}, {}]' "$(chain {1..17})"; do
		post "$url_a" "$bad"
		same "$code" 400
		grep -q '^not a chain of hops: ' "$T/answer"
	done
	head -c 1200000 /dev/zero | tr '\0' ' ' >"$T/large"
	post "$url_a" "@$T/large"
	same "$code" 413
	# 1 GB of it: the answer comes long before its end
	head -c 1000000000 /dev/zero | timeout 20 curl -sS -o "$T/answer" -w '%{http_code}' -T - \
		-X POST "$url_a" >"$T/code" 2>"$T/curl.err" || true
	grep -q 413 "$T/code" || grep -Eqi 'reset|broken|fail' "$T/curl.err"
	# shellcheck disable=SC2154 # relay sets it
	within "$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$pid_a/status")" 1 60000
	same "$(curl -sS "$url_a")" ok
}

@test "200 at once, each with its own" {
	relay b
	relay a --allow "$url_b"
	cat >"$T/many.py" <<-'END'
		import concurrent.futures, json, sys, urllib.request
		a, b = sys.argv[1:]
		def ask(i):
		    hops = [{"id": i, "url": a, "delay": 100}, {"id": -i, "url": b}]
		    request = urllib.request.Request(a, json.dumps(hops).encode())
		    with urllib.request.urlopen(request, timeout=20) as answer:
		        return [hop["id"] for hop in json.load(answer)] == [i, -i]
		with concurrent.futures.ThreadPoolExecutor(200) as pool:
		    print(sum(pool.map(ask, range(1, 201))))
	END
	same "$(no_proxy='*' "$PYTHON" "$T/many.py" "$url_a" "$url_b")" 200
}

@test "it and choi pass chains on to each other" {
	choi
	relay c
	relay a --allow "$url_choi"
	post "$url_a" "$(chain "$url_a" "$url_choi" "$url_c" | jq -c '.[] |= (.apicalls = 0 |
		.lognums = 0 | .headers = "{\"Content-Type\":\"application/json\"}")')"
	same "$code" 200
	answer 'length == 3 and [.[].id] == [1, 2, 3] and .[1].elapsed == 3 and
		.[2].elapsed_us > 0 and all(.error == null)'
}

@test "it tells nothing of its environment, and is not told to end" {
	PVCBENCH_SECRET=a-secret-value relay a
	post "$url_a" "$(chain "$url_a" | jq -c '.[0].shutdown = true | .[0].error = true')"
	same "$code" 200
	not grep -q 'a-secret-value\|PATH' "$T/answer"
	same "$(curl -sS "$url_a")" ok
}

@test "a certificate that is not valid is an error of that call" {
	need openssl
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
		-addext 'subjectAltName = DNS:localhost' -keyout "$T/key" -out "$T/cert" 2>/dev/null
	cat >"$T/tls.py" <<-END
		import http.server, ssl
		class Handler(http.server.BaseHTTPRequestHandler):
		    def do_POST(self):
		        self.send_response(200)
		        self.end_headers()
		        self.wfile.write(b"[]")
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
	relay a --allow "$tls"
	post "$url_a" "$(chain "$url_a" "$tls")"
	answer '.[0].resCode == 0 and (.[0].error | test("certificate"))'
	relay b --allow "$tls" --ca-file "$T/cert"
	# shellcheck disable=SC2154 # relay sets it
	post "$url_b" "$(chain "$url_b" "$tls")"
	answer '.[0].resCode == 200 and .[0].error == null and .[0].next_us.tls > 0'
}

@test "SIGTERM ends it, with a request under way" {
	relay a
	post "$url_a" "$(chain "$url_a" | jq -c '.[0].delay = 9000')" &
	undo "kill $! 2>/dev/null"
	sleep 0.3
	kill -TERM "$pid_a"
	timeout 3 tail --pid="$pid_a" -f /dev/null
	wait "$pid_a"
}

@test "what is asked of it wrongly is told with the remedy" {
	pvcbench relay
	exits 2
	says 'usage: pvcbench relay --listen ADDR:PORT'
	pvcbench relay --listen nonsense
	exits 2
	says "relay: .*'nonsense'"
	pvcbench relay --listen 127.0.0.1:0 --allow example.com
	exits 2
	says "relay: --allow, number 1: "
	pvcbench relay --listen 127.0.0.1:0 --timeout soon
	exits 2
	says "--timeout 'soon': no time"
	relay a
	pvcbench relay --listen "${url_a#http://}"
	exits 2
	says 'relay: .*[Aa]ddress already in use'
}
