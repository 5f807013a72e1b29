# Relays and other servers on this machine.
# shellcheck shell=bash disable=SC2154 # lib.bash sets T and pvcbench

# NAME [ARG...]: sets url_NAME and pid_NAME
relay() {
	local port
	"$pvcbench" relay --listen 127.0.0.1:0 "${@:2}" >"$T/$1.out" 2>"$T/$1.err" 3>&- &
	printf -v "pid_$1" %s $!
	undo "kill $! 2>/dev/null"
	await 10 grep -q 'listens on port' "$T/$1.out"
	port=$(sed -n 's/.*listens on port \([0-9]*\),.*/\1/p' "$T/$1.out")
	printf -v "url_$1" 'http://127.0.0.1:%s' "$port"
}

# A server of this Python handler's methods; sets url_NAME.
server() { # NAME <<METHODS
	{
		printf 'import http.server, json, sys\n'
		printf 'class Handler(http.server.BaseHTTPRequestHandler):\n'
		printf '    protocol_version = "HTTP/1.1"\n'
		printf '    def log_message(self, *args):\n        pass\n'
		sed 's/^/    /'
		printf 'server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)\n'
		printf 'print(server.server_port, flush=True)\nserver.serve_forever()\n'
	} >"$T/$1.py"
	"$PYTHON" "$T/$1.py" >"$T/$1.port" 2>"$T/$1.err" 3>&- &
	undo "kill $! 2>/dev/null"
	await 10 test -s "$T/$1.port"
	printf -v "url_$1" 'http://127.0.0.1:%s' "$(cat "$T/$1.port")"
}

chain() { # URL...: as JSON, with ids from 1
	jq -nc '[$ARGS.positional | to_entries[] | {id: (.key + 1), url: .value}]' --args "$@"
}

# choi, as far as it answers: the url's headers are JSON in a string, without them it sends no
# content type; its answer is put in front. Sets url_choi.
choi() {
	server choi <<-'END'
		def do_POST(self):
		    import urllib.request
		    own, *rest = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
		    assert self.headers["Content-Type"] == "application/json"
		    assert own["apicalls"] == 0 and own["lognums"] == 0
		    answer = []
		    if rest:
		        call = urllib.request.Request(rest[0]["url"], json.dumps(rest).encode(),
		            json.loads(rest[0]["headers"]))
		        answer = json.load(urllib.request.urlopen(call))
		    answer.insert(0, {"id": own["id"], "url": own["url"], "code": 200,
		        "resCode": 200, "elapsed": 3, "callstatuses": [], "processenv": {}})
		    body = json.dumps(answer).encode()
		    self.send_response(200)
		    self.send_header("Content-Length", str(len(body)))
		    self.end_headers()
		    self.wfile.write(body)
	END
}
