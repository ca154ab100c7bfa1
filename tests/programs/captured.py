# SPDX-License-Identifier: MIT
"""
Talks over TCP and UDP for captures: `captured.py server ADDR`, `captured.py client ADDR`, or both ends in
one process, `captured.py both ADDR`. Ports 7001 (TCP) and 7002 (UDP). Prints how many bytes it sent and received.
"""
import socket
import sys
import threading

ROUNDS, ASKED, ANSWERED, BULK, DATAGRAMS = 20, 4000, 50, 300000, 20
role, address = sys.argv[1:3]
family = socket.AF_INET6 if ":" in address else socket.AF_INET


def read(s, count):
    while count:
        count -= len(s.recv(count))


def server(ready=lambda: print("ready", flush=True)):
    listener = socket.create_server((address, 7001), family=family)
    datagrams = socket.socket(family, socket.SOCK_DGRAM)
    datagrams.bind((address, 7002))
    ready()
    s, _ = listener.accept()
    for _ in range(ROUNDS):
        read(s, ASKED)
        s.sendall(b"k" * ANSWERED)
    read(s, BULK)
    for i in range(DATAGRAMS):
        _, peer = datagrams.recvfrom(65536)
        datagrams.sendto(b"u" * (100 + i), peer)
    s.recv(1)
    s.close()


def client():
    s = socket.create_connection((address, 7001))
    for _ in range(ROUNDS):
        s.sendall(b"x" * ASKED)
        read(s, ANSWERED)
    s.sendall(b"y" * BULK)
    datagrams = socket.socket(family, socket.SOCK_DGRAM)
    datagrams.connect((address, 7002))
    for i in range(DATAGRAMS):
        datagrams.send(b"z" * (200 + i))
        datagrams.recv(65536)
    s.shutdown(socket.SHUT_WR)
    s.recv(1)
    s.close()


if role == "both":
    began = threading.Event()
    t = threading.Thread(target=server, args=(began.set,))
    t.start()
    began.wait()
    client()
    t.join()
else:
    {"server": server, "client": client}[role]()
