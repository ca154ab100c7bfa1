# SPDX-License-Identifier: MIT
"""echo.py CLIENT'S-CPU SERVER'S-CPU: two processes exchange 1,000 messages over loopback TCP."""
import os
import socket
import sys

listener = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    os.sched_setaffinity(0, {int(sys.argv[2])})
    s, _ = listener.accept()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while data := s.recv(200):
        s.sendall(data)
    os._exit(0)
os.sched_setaffinity(0, {int(sys.argv[1])})
s = socket.create_connection(listener.getsockname())
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(1000):
    s.sendall(b"x" * 200)
    left = 200
    while left:
        left -= len(s.recv(left))
s.close()
os.wait()
