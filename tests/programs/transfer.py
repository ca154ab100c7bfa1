# SPDX-License-Identifier: MIT
"""
A client and a server that count for themselves. What TCP says of the connection at its end is
printed as JSON.

  transfer.py server ADDRESS PORT              receives until the end, then answers 1000 bytes
  transfer.py half ADDRESS PORT                the same, but shuts its sending side first, and answers nothing
  transfer.py client ADDRESS PORT BYTES SIZE   sends BYTES in writes of SIZE, then receives
  transfer.py after ADDRESS PORT BYTES SIZE    the same, once the server has shut its sending side
"""
import json
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from tcp_info import tcp_info


def receive_all(s):
    calls = size = 0
    while True:
        data = s.recv(65536)
        calls += 1
        if not data:
            return calls, size
        size += len(data)


role, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
family = socket.AF_INET6 if ":" in address else socket.AF_INET
if role in ("server", "half"):
    listener = socket.create_server((address, port), family=family)
    s, _ = listener.accept()
    if role == "half":
        s.shutdown(socket.SHUT_WR)
    calls, size = receive_all(s)
    if role == "server":
        s.sendall(b"y" * 1000)
        s.shutdown(socket.SHUT_WR)
    result = {"recv_calls": calls, "received": size}
else:
    total, step = int(sys.argv[4]), int(sys.argv[5])
    s = socket.socket(family)
    for refused in range(100):
        try:
            s.connect((address, port))
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if role == "after":
        receive_all(s)
    sent = sends = 0
    data = b"x" * step
    while sent < total:
        sent += s.send(data[: total - sent])
        sends += 1
    s.shutdown(socket.SHUT_WR)
    calls, size = receive_all(s)
    result = {"refused": refused, "send_calls": sends, "sent": sent, "recv_calls": calls, "received": size}
time.sleep(0.05)  # the last acknowledgements
result["tcp_info"] = tcp_info(s)
sys.stdout.write(json.dumps(result) + "\n")  # one write: the other end prints too
