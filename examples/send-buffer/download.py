# SPDX-License-Identifier: MIT
"""
download.py send ADDRESS [BYTES-PER-SECOND] | receive ADDRESS [SECONDS]: 4 MiB over one connection.
The sender may pace itself, the receiver may take its time for each 64 KiB.
"""
import socket
import sys
import time

what, address = sys.argv[1:3]
slow = float(sys.argv[3]) if len(sys.argv) > 3 else 0
if what == "send":
    listener = socket.create_server((address, 8000))
    s, _ = listener.accept()
    if slow:
        s.setsockopt(socket.SOL_SOCKET, 47, int(slow))  # SO_MAX_PACING_RATE
    s.sendall(bytes(4 << 20))
else:
    for _ in range(100):  # until the sender listens
        try:
            s = socket.create_connection((address, 8000))
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    while s.recv(65536):
        time.sleep(slow)
