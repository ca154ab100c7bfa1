# SPDX-License-Identifier: MIT
"""programs.py service | proxy | client: on ports 8001 and 8002 of this host, 500 messages."""
import socket
import sys
import time

MESSAGE, COUNT = 200, 500


def connected(port):
    for _ in range(100):  # until somebody listens
        try:
            s = socket.create_connection(("127.0.0.1", port))
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return s
        except ConnectionRefusedError:
            time.sleep(0.05)
    sys.exit(f"nobody listens on port {port}")


def accepted(port):
    s, _ = socket.create_server(("127.0.0.1", port)).accept()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def service():
    s = accepted(8001)
    due = time.monotonic()
    for _ in range(COUNT):
        s.sendall(bytes(MESSAGE))
        due += 0.002
        time.sleep(max(0, due - time.monotonic()))


def proxy():
    client, back = accepted(8002), connected(8001)
    while data := back.recv(16384):
        client.sendall(data)
        time.sleep(0.02)  # so that more comes together, as proxies with buffering do


def client():
    s = connected(8002)
    while s.recv(16384):
        pass


{"service": service, "proxy": proxy, "client": client}[sys.argv[1]]()
