# SPDX-License-Identifier: MIT
"""service.py code|link ADDRESS: replies to each request; `code` is slow itself, `link` sends 64 KiB."""
import hashlib
import socket
import sys
import threading
import time

lock = threading.Lock()


def holds_lock():
    while True:
        with lock:
            time.sleep(0.02)
        time.sleep(0.001)


def compute():
    end = time.monotonic() + 0.01
    while time.monotonic() < end:
        hashlib.sha256(b"x" * 4096).digest()


slow = sys.argv[1] == "code"
if slow:
    threading.Thread(target=holds_lock, daemon=True).start()
listener = socket.create_server((sys.argv[2], 8000))
s, _ = listener.accept()
while s.recv(100):
    if slow:
        compute()
        with lock:
            pass
    s.sendall(bytes(100 if slow else 65536))
