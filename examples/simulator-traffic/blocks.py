# SPDX-License-Identifier: MIT
"""Blocks of 10 KB every 20 ms: blocks.py receive | send"""
import socket
import sys
import time

PEER = ("10.9.8.1", 5001)

if sys.argv[1] == "receive":
    with socket.create_server(PEER) as listening:
        connection, _ = listening.accept()
        while connection.recv(1 << 16):
            pass
else:
    for _ in range(100):
        try:
            s = socket.create_connection(PEER)
            break
        except ConnectionRefusedError:  # the receiver does not listen yet
            time.sleep(0.02)
    at = time.monotonic()
    for _ in range(75):
        s.sendall(bytes(10240))
        at += 0.02
        time.sleep(max(0, at - time.monotonic()))
