# SPDX-License-Identifier: MIT
"""A transfer of 1.5 s: transfer.py receive | send CONGESTION-CONTROL"""
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
        s = socket.socket()
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[2].encode())
        try:
            s.connect(PEER)
            break
        except ConnectionRefusedError:  # the receiver does not listen yet
            time.sleep(0.02)
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        s.sendall(bytes(32768))
