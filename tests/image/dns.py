"""A DNS server that knows one name: dns.py ADDRESS NAME, at port 53; prints a line when it is up.

The name has the address 127.0.0.1 and no other record; what is not known does not exist.
"""
import socket
import struct
import sys

NAME = sys.argv[2].encode().lower()
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind((sys.argv[1], 53))
print("up", flush=True)
while True:
    query, client = server.recvfrom(512)
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]])
        at += 1 + query[at]
    question = query[12:at + 5]
    kind = struct.unpack(">H", query[at + 1:at + 3])[0]
    known = b".".join(labels).lower() == NAME
    answers = known and kind == 1
    header = query[:2] + struct.pack(">HHHHH", 0x8580 | (0 if known else 3), 1, answers, 0, 0)
    record = b"\xc0\x0c" + struct.pack(">HHIH4B", 1, 1, 60, 4, 127, 0, 0, 1) if answers else b""
    server.sendto(header + question + record, client)
