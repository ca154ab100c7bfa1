# SPDX-License-Identifier: MIT
"""one_socket.py ROUNDS: two threads send on one TCP socket at the same time, a third one receives."""
import socket
import sys
import threading

ROUNDS, SIZE = int(sys.argv[1]), 200_000
listener = socket.create_server(("127.0.0.1", 0))
s = socket.create_connection(listener.getsockname())
r, _ = listener.accept()


def send():
    for _ in range(ROUNDS):
        s.sendall(b"x" * SIZE)


threads = [threading.Thread(target=send) for _ in range(2)]
for t in threads:
    t.start()
left = 2 * ROUNDS * SIZE
while left:
    left -= len(r.recv(65536))
for t in threads:
    t.join()
