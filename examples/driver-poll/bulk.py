# SPDX-License-Identifier: MIT
"""32 MiB from one socket to another, over loopback."""
import socket
import threading

listener = socket.create_server(("127.0.0.1", 0))


def serve():
    s, _ = listener.accept()
    for _ in range(512):
        s.sendall(bytes(65536))
    s.close()


threading.Thread(target=serve).start()
s = socket.create_connection(listener.getsockname())
while s.recv(262144):
    pass
