"""A server that takes results, and misbehaves as its paths say.

collector.py DIR [CERTIFICATE KEY]: listens on 127.0.0.1, port in DIR/port; each request is a line
of JSON in DIR/requests, its body DIR/body.N. With a certificate it speaks TLS. Also the client of
a proxy is answered: the path of an absolute URL counts.
"""
import http.server
import json
import ssl
import sys
import time
import urllib.parse

DIR = sys.argv[1]
seen = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def take(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        number = len(seen_all)
        seen_all.append(self.path)
        with open(f"{DIR}/body.{number}", "wb") as file:
            file.write(body)
        with open(f"{DIR}/requests", "a", encoding="utf-8") as file:
            print(json.dumps({
                "at": time.monotonic(), "method": self.command, "path": self.path,
                "headers": {name.lower(): value for name, value in self.headers.items()},
            }), file=file)

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.take()
        path = urllib.parse.urlsplit(self.path).path
        word, _, argument = path[1:].partition("/")
        times = seen[path] = seen.get(path, 0) + 1
        if word == "status":
            self.answer(int(argument), b"the reason\nmore\n")
        elif word == "flaky":
            self.answer(500 if times <= int(argument) else 200)
        elif word == "after":
            self.answer(503 if times == 1 else 200, Retry_After=argument)
        elif word == "slow":
            time.sleep(60)
        elif word == "moved":
            self.answer(302, Location="https://me:SECRET@elsewhere.example/a?SECRET")
        elif word == "echo":
            self.answer(400, f"{self.path} {self.headers}".replace("\n", " ").encode())
        elif word == "huge":
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(b"x" * 65536)
        else:
            self.answer(201)

    do_PUT = do_POST


seen_all = []
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
server.handle_error = lambda *_: None
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
with open(f"{DIR}/port", "w", encoding="utf-8") as port:
    print(server.server_address[1], file=port)
server.serve_forever()
