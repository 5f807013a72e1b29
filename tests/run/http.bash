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
