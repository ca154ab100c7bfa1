# SPDX-License-Identifier: MIT
"""
Two processes, a client and a server, with exchanges over TCP on several ports, datagrams, and a
socket pair in each. The client prints the numbers of both. Usage: selected.py UDP-PORT TCP-PORT...
"""
import os
import socket
import sys
import threading
import time

UDP, *PORTS = map(int, sys.argv[1:])


def serve(listening):
    connection, _ = listening.accept()
    with connection:
        while request := connection.recv(4096):
            connection.sendall(2 * request)


def ask(port, times):
    with socket.create_connection(("127.0.0.1", port)) as s:
        for _ in range(times):
            s.sendall(b"q" * 100)
            left = 200
            while left:
                left -= len(s.recv(left))
            time.sleep(0.001)


def pair(times):
    one, other = socket.socketpair()
    with one, other:
        for _ in range(times):
            one.sendall(b"u" * 50)
            other.recv(50)


def datagrams(times):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as to, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as by:
        to.bind(("127.0.0.1", UDP))
        for _ in range(times):
            by.sendto(b"d" * 100, ("127.0.0.1", UDP))
            to.recv(100)


listening = [socket.create_server(("127.0.0.1", port)) for port in PORTS]
server = os.fork()
if not server:
    threads = [threading.Thread(target=serve, args=(s,)) for s in listening]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pair(20)
    os._exit(0)
for i, port in enumerate(PORTS):
    ask(port, 20 + 5 * i)
datagrams(30)
pair(40)
os.waitpid(server, 0)
print("client", os.getpid(), "server", server)
