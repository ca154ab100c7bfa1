# SPDX-License-Identifier: MIT
"""
Connections in states that can be compared: what TCP says of them is printed as JSON, a line each.

  tcp_state.py checkpoints       stops where nothing moves, and where the peer reads nothing
  tcp_state.py windows TIMES     fills a reader that does not read, then lets it read, TIMES times
  tcp_state.py resets            a port nobody listens on; a close that resets; a close with data left
"""
import errno
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from tcp_info import tcp_info

FIRST = 1001  # checkpoints are found in the trace by the size of the send that ends them


def pair(rcvbuf=None):
    listener = socket.create_server(("127.0.0.1", 0))
    if rcvbuf:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
    client = socket.create_connection(listener.getsockname())
    server, _ = listener.accept()
    listener.close()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client, server


def algorithm(s):
    return s.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).split(b"\0")[0].decode()


def say(**what):
    print(json.dumps(what), flush=True)


def receive(s, size):
    while size:
        size -= len(s.recv(min(size, 65536)))


def of_ss(s):
    """The same socket's line of ss, if that is here."""
    try:
        said = subprocess.run(["ss", "-tinH", "sport", "=", f":{s.getsockname()[1]}"],
                              capture_output=True, text=True).stdout
    except FileNotFoundError:
        return {}
    words = said.split()
    found = dict(w.split(":", 1) for w in words if ":" in w)
    found["words"] = words
    return found


def checkpoint(s, n):
    ss = of_ss(s)
    before = tcp_info(s)
    try:
        s.send(b"x" * (FIRST + n), socket.MSG_DONTWAIT)
    except BlockingIOError:
        pass
    say(size=FIRST + n, before=before, after=tcp_info(s), algorithm=algorithm(s), ss=ss)


def checkpoints():
    client, server = pair()
    n = 0
    for name in (b"", b"cubic", b"reno"):
        if name:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name)
        for size in (1, 5000, 300000):
            reader = threading.Thread(target=receive, args=(server, size))
            reader.start()
            client.sendall(b"x" * size)
            reader.join()
            time.sleep(0.15)  # the last acknowledgements
            checkpoint(client, n)
            receive(server, FIRST + n)
            time.sleep(0.05)
            n += 1
    # the peer reads nothing: what is left waits in the send queue
    try:
        while True:
            client.send(b"x" * 100000, socket.MSG_DONTWAIT)
    except BlockingIOError:
        time.sleep(0.15)
    for _ in range(2):
        checkpoint(client, n)
        n += 1


def windows(times):
    client, server = pair(rcvbuf=30000)
    for _ in range(times):
        sent = 0
        try:
            while True:
                sent += client.send(b"x" * 10000, socket.MSG_DONTWAIT)
        except BlockingIOError:
            time.sleep(0.3)
        receive(server, sent)
        time.sleep(0.1)
    client.close()
    server.close()


def resets():
    try:
        socket.create_connection(("127.0.0.1", 1))
    except OSError as e:
        assert e.errno == errno.ECONNREFUSED
    for linger in (True, False):
        client, server = pair()
        server.sendall(b"x" * 100)
        time.sleep(0.05)
        if linger:
            client.recv(100)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        say(linger=linger, port=client.getsockname()[1], peer=server.getsockname()[1])
        client.close()
        time.sleep(0.05)
        try:
            server.recv(1)
        except ConnectionResetError:
            pass
        server.close()


what, *rest = sys.argv[1:]
{"checkpoints": checkpoints, "windows": windows, "resets": resets}[what](*map(int, rest))
