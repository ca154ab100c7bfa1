# SPDX-License-Identifier: MIT
"""exchange.py COUNT [SIZE]: two threads exchange messages over loopback TCP, back and forth."""
import socket
import sys
import threading

count, size = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100
listener = socket.create_server(("127.0.0.1", 0))


def echo():
    s, _ = listener.accept()
    while data := s.recv(65536):
        s.sendall(data)


thread = threading.Thread(target=echo)
thread.start()
s = socket.create_connection(listener.getsockname())
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(count):
    s.sendall(b"x" * size)
    got = 0
    while got < size:
        got += len(s.recv(65536))
s.close()
thread.join()
