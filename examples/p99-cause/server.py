# SPDX-License-Identifier: MIT
"""A server that sleeps in every fiftieth request, and a client that asks it 400 times."""
import os
import socket
import time

listening = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    connection, _ = listening.accept()
    for i in range(400):
        connection.recv(200)
        sum(range(2000))
        if i % 50 == 49:
            time.sleep(0.02)
        connection.sendall(bytes(1000))
    os._exit(0)
with socket.create_connection(listening.getsockname()) as asks:
    for _ in range(400):
        asks.sendall(bytes(200))
        asks.recv(1000, socket.MSG_WAITALL)
os.wait()
