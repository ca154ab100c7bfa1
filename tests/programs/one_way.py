# SPDX-License-Identifier: MIT
"""A stream in one direction to a reader that pauses now and then. Usage: one_way.py PORT"""
import socket
import sys
import threading
import time


def read(listening):
    connection, _ = listening.accept()
    with connection:
        seen = 0
        while data := connection.recv(65536):
            seen += len(data)
            if seen > 400_000:
                time.sleep(0.01)
                seen = 0


listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
reader = threading.Thread(target=read, args=(listening,))
reader.start()
with socket.create_connection(listening.getsockname()) as s:
    for _ in range(40):
        s.sendall(b"x" * 50_000)
reader.join()
