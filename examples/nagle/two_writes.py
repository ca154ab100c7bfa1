# SPDX-License-Identifier: MIT
"""
Twenty requests of two 100-byte writes each; the answer comes when both are there. The server
acknowledges late, as receivers do that wait for data to carry the acknowledgement.
"""
import socket
import sys
import threading

listener = socket.create_server(("127.0.0.1", 0))


def serve():
    s, _ = listener.accept()
    while True:
        got = 0
        while got < 200:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
            data = s.recv(200)
            if not data:
                return
            got += len(data)
        s.sendall(b"a")


threading.Thread(target=serve, daemon=True).start()
s = socket.create_connection(listener.getsockname())
if sys.argv[1] == "nodelay":
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(20):
    s.send(b"x" * 100)
    s.send(b"y" * 100)
    s.recv(1)
