# SPDX-License-Identifier: MIT
"""client.py ADDRESS SIZE: asks 20 times, and reads a reply of SIZE bytes each time."""
import socket
import sys
import time

for _ in range(100):  # until the service listens
    try:
        s = socket.create_connection((sys.argv[1], 8000))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
for _ in range(20):
    s.sendall(b"q" * 100)
    left = int(sys.argv[2])
    while left:
        left -= len(s.recv(left))
