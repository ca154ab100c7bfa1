# SPDX-License-Identifier: MIT
"""
long_stream.py PORT BYTES: more through one connection than sequence numbers can count. Each block of
4 MiB begins with its own offset, which the receiver checks. Prints JSON: the lengths of what the calls
sent, and of what they received, in order.
"""
import json
import socket
import struct
import sys
import threading

PORT, SIZE, BLOCK = int(sys.argv[1]), int(sys.argv[2]), 4 << 20
sent, received = [], []


def receive(s):
    at, buf = 0, memoryview(bytearray(2 << 20))
    while at < SIZE:
        n = s.recv_into(buf)
        first = -at % BLOCK  # blocks are larger than reads: at most one begins here
        if first + 8 <= n and struct.unpack_from("<Q", buf, first)[0] != at + first:
            sys.exit(f"the bytes at {at + first} are others")
        received.append(n)
        at += n


listener = socket.create_server(("127.0.0.1", PORT))
s = socket.create_connection(listener.getsockname())
peer, _ = listener.accept()
reader = threading.Thread(target=receive, args=(peer,))
reader.start()
block, at = bytearray(BLOCK), 0
view = memoryview(block)
while at < SIZE:
    struct.pack_into("<Q", block, 0, at - at % BLOCK)
    n = s.send(view[at % BLOCK:][:SIZE - at])
    sent.append(n)
    at += n
reader.join()
print(json.dumps({"sent": sent, "received": received}))
