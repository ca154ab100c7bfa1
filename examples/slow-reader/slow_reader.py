# SPDX-License-Identifier: MIT
"""A server sends 4 MiB at once; the client looks at every 64 KiB for 10 ms before it reads on."""
import socket
import threading
import time

listener = socket.create_server(("127.0.0.1", 0))


def serve():
    s, _ = listener.accept()
    s.sendall(bytes(4 << 20))
    s.close()


threading.Thread(target=serve).start()
s = socket.create_connection(listener.getsockname())
while s.recv(65536):
    time.sleep(0.01)
