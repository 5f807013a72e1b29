"""A Table service as Azure's, as far as kind table asks it, that misbehaves on command.

tables.py DIR [CERTIFICATE KEY]: listens on 127.0.0.1, port in DIR/port; with a certificate it
speaks TLS. It checks signatures by KEY of account ACCOUNT, and tokens by their text. Lines of
DIR/rules are OP FROM COUNT WHAT: from the FROM-th request (1 is the first) of that OP on (query,
batch, delete, put, drop, create, get, any), COUNT of them, do WHAT. DIR/page, if it is there, is
the length of a page. GET /state answers the rows that there are and the requests there were.
"""
import base64
import hashlib
import hmac
import http.server
import json
import os
import re
import ssl
import sys
import threading
import time
import urllib.parse
from email.utils import formatdate

DIR = sys.argv[1]
ACCOUNT = "testaccount"
KEY = base64.b64encode(b"a key that is no secret").decode()
SAS = "sv=2019-02-02&ss=t&sp=raud&sig=a%2Bb%3D"
lock = threading.RLock()
tables = {}
counts = {}


class Refused(Exception):
    def __init__(self, status, code, xml=False, **headers):
        super().__init__(code)
        self.status, self.code, self.xml, self.headers = status, code, xml, headers


def rule_for(op):
    number = counts[op] = counts.get(op, 0) + 1
    every = counts["any"] = counts.get("any", 0) + 1
    if os.path.exists(f"{DIR}/rules"):
        for line in open(f"{DIR}/rules", encoding="utf-8"):
            on, first, times, what = line.split()
            at = {"any": every, op: number}.get(on, -1)
            if int(first) <= at < int(first) + int(times):
                return what
    return ""


def keys_of(path):
    found = re.search(r"/(\w+)\(PartitionKey='([^']*)',RowKey='([^']*)'\)", path)
    return found[1], (urllib.parse.unquote(found[2]), urllib.parse.unquote(found[3]))


def table_of(name):
    if name not in tables:
        raise Refused(404, "TableNotFound")
    return tables[name]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return formatdate(time.time() - getattr(self, "behind", 0), usegmt=True)

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if getattr(self, "cuts", False):
            body = body[:len(body) // 2]
            self.close_connection = True
        self.wfile.write(body)

    def check_who(self, path, query):
        if "sig=" in query:
            if not query.endswith(SAS):
                raise Refused(403, "AuthenticationFailed", xml=True)
            return
        text = f"{self.headers['x-ms-date']}\n/{ACCOUNT}{path}"
        mac = hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()
        if self.headers["Authorization"] != \
                f"SharedKeyLite {ACCOUNT}:{base64.b64encode(mac).decode()}":
            raise Refused(403, "AuthenticationFailed", xml=True)

    def op_of(self, path):
        if path.endswith("/$batch"):
            return "batch"
        if "/Tables" in path:
            return "create" if self.command == "POST" else "drop"
        if "PartitionKey=" in path:
            return {"GET": "get", "PUT": "put", "DELETE": "delete"}[self.command]
        return "query"

    def handle_any(self):
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if path == "/state":
            with lock:
                rows = sum(len(rows) for rows in tables.values())
                self.answer(200, json.dumps(
                    {"rows": rows, "tables": list(tables), "counts": counts}).encode())
            return
        op = self.op_of(path)
        with lock:
            what = rule_for(op)
        self.cuts = what == "cut"
        try:
            self.check_who(path, query)
            self.before(what, op, body)
            with lock:
                answer = getattr(self, op)(path, query, body)
            if what == "lost":
                self.close_connection = True
                return
            if what == "late":
                time.sleep(2)
            self.answer(*answer[:2], **answer[2])
        except Refused as no:
            if no.xml:
                text = f'<?xml version="1.0"?><Error><Code>{no.code}</Code></Error>'
            else:
                text = json.dumps({"odata.error": {"code": no.code}}, separators=(",", ":"))
            self.answer(no.status, text.encode(), **no.headers)

    do_GET = do_POST = do_PUT = do_DELETE = handle_any

    def before(self, what, op, body):
        if what == "busy":
            raise Refused(503, "ServerBusy")
        if what == "busy-after":
            raise Refused(503, "ServerBusy", Retry_After="1")
        if what == "429":
            raise Refused(429, "TooManyRequests")
        if what == "timeout":
            raise Refused(500, "OperationTimedOut")
        if what == "forbidden":
            raise Refused(403, "AuthorizationPermissionMismatch", xml=True)
        if what == "skew":
            self.behind = 3600
            raise Refused(403, "AuthenticationFailed", xml=True)
        if what == "break":
            self.close_connection = True
            self.connection.close()
            raise ConnectionAbortedError
        if what == "gone" and op == "batch":  # by another hand
            name, keys = keys_of(re.findall(r"DELETE (\S+)", body.decode())[1])
            with lock:
                del tables[name][keys]
        self.inner = {"inner-429": (429, "TooManyRequests"), "inner-busy": (503, "ServerBusy"),
                      "inner-400": (400, "InvalidInput")}.get(what)
        self.is_empty = what == "empty"

    def create(self, _path, _query, body):
        name = json.loads(body)["TableName"]
        if name in tables:
            raise Refused(409, "TableAlreadyExists")
        tables[name] = {}
        return 204, b"", {}

    def drop(self, path, _query, _body):
        name = re.search(r"Tables\('(\w+)'\)", path)[1]
        table_of(name)
        del tables[name]
        return 204, b"", {}

    def get(self, path, _query, _body):
        name, keys = keys_of(path)
        if keys not in table_of(name):
            raise Refused(404, "ResourceNotFound")
        return 200, json.dumps(tables[name][keys]).encode(), {}

    def put(self, path, _query, body):
        name, keys = keys_of(path)
        table_of(name)[keys] = json.loads(body)
        return 204, b"", {}

    def delete(self, path, _query, _body):
        name, keys = keys_of(path)
        if keys not in table_of(name):
            raise Refused(404, "ResourceNotFound")
        assert self.headers["If-Match"] == "*"
        del tables[name][keys]
        return 204, b"", {}

    def query(self, path, query, _body):
        rows = table_of(re.search(r"/(\w+)\(\)$", path)[1])
        asked = dict(urllib.parse.parse_qsl(query))
        size = min(int(asked["$top"]), 1000)
        if os.path.exists(f"{DIR}/page"):
            size = min(size, int(open(f"{DIR}/page", encoding="utf-8").read()))
        keys = sorted(rows)
        if "$filter" in asked:
            partition, below = re.fullmatch(
                r"PartitionKey eq '(.*)' and RowKey lt '(.*)'", asked["$filter"]).groups()
            keys = [key for key in keys if key[0] == partition and key[1] < below]
        start = (asked.get("NextPartitionKey", "")[2:], asked.get("NextRowKey", "")[2:])
        keys = [key for key in keys if key >= start]
        page, rest = keys[:size], keys[size:]
        if self.is_empty:
            page, rest = [], keys or [start]
        more = {"x_ms_continuation_NextPartitionKey": "1!" + rest[0][0],
                "x_ms_continuation_NextRowKey": "1!" + rest[0][1]} if rest else {}
        whole = {} if "$select" in asked else None
        value = [{"PartitionKey": p, "RowKey": r,
                  **(rows[p, r] if whole is None else {})} for p, r in page]
        return 200, json.dumps({"value": value}).encode(), more

    def batch(self, _path, _query, body):
        text = body.decode()
        operations = re.findall(r"^(DELETE|PUT) (\S+) HTTP/1.1\r\n.*?\r\n\r\n(.*?)\r\n--changeset",
                                text, re.M | re.S)
        operations = [(method, keys_of(url), data) for method, url, data in operations]
        assert 0 < len(operations) <= 100 and len({keys[0] for _, (_, keys), _ in operations}) == 1
        answers = b""
        failed = self.inner and (0, *self.inner)
        for i, (method, (name, keys), _) in enumerate(operations):
            if method == "DELETE" and keys not in table_of(name):
                failed = failed or (i, 404, "ResourceNotFound")
        for method, (name, keys), data in operations if not failed else ():
            if method == "DELETE":
                del tables[name][keys]
            else:
                table_of(name)[keys] = json.loads(data)
            answers += self.part(204, "No Content")
        if failed:
            answers = self.part(failed[1], "Failed", json.dumps({"odata.error": {
                "code": failed[2], "message": {"lang": "en-US", "value": f"{failed[0]}:It failed."}
            }}, separators=(",", ":")))
        return 202, b"--batchresponse_1\r\nContent-Type: multipart/mixed; " \
            b"boundary=changesetresponse_1\r\n\r\n" + answers + \
            b"--changesetresponse_1--\r\n--batchresponse_1--\r\n", \
            {"Content_Type": "multipart/mixed; boundary=batchresponse_1"}

    def part(self, status, words, text=""):
        return ("--changesetresponse_1\r\nContent-Type: application/http\r\n"
                "Content-Transfer-Encoding: binary\r\n\r\n"
                f"HTTP/1.1 {status} {words}\r\nDataServiceVersion: 3.0;\r\n\r\n{text}\r\n").encode()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (ConnectionError, ValueError)):
            super().handle_error(request, client_address)


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(f"{DIR}/port.new", "w", encoding="utf-8") as out:
    out.write(str(server.server_address[1]))
os.rename(f"{DIR}/port.new", f"{DIR}/port")
server.serve_forever()
