# SPDX-License-Identifier: MIT
"""
lossy.py server|client HOST PORT: short connections, some of whose requests are lost on the way, and
what else connections and datagrams lose: resets, and what finds no room at a UDP socket. The client
prints as JSON how long each request took, ns.
"""
import json
import socket
import struct
import sys
import threading
import time

CONNECTIONS, THREADS = 400, 8
REQUEST, REPLY = 600, 100
RESETS = 3  # sent by the client
REFUSED = 2  # connections to a port where nobody listens
DATAGRAMS = 30


def whole(s, n):
    got = 0
    while got < n and (d := s.recv(n)):
        got += len(d)
    return got


def answer(c):
    if whole(c, REQUEST) == REQUEST:
        c.sendall(b"r" * REPLY)
    try:
        c.recv(1)
    except ConnectionResetError:
        pass
    c.close()


def server(host, port):
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    u.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    u.bind((host, port))
    with socket.create_server((host, port), backlog=100) as l:
        print("listening", flush=True)
        for _ in range(CONNECTIONS + RESETS):
            threading.Thread(target=answer, args=(l.accept()[0],)).start()
        u.recv(1)  # the first one found room


def request(to):
    began = time.monotonic_ns()
    s = socket.create_connection(to)
    s.sendall(b"q" * REQUEST)
    assert whole(s, REPLY) == REPLY
    return s, time.monotonic_ns() - began


def client(host, port):
    took = []

    def some():
        for _ in range(CONNECTIONS // THREADS):
            s, ns = request((host, port))
            took.append(ns)
            s.close()

    threads = [threading.Thread(target=some) for _ in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as u:
        for _ in range(DATAGRAMS):
            u.sendto(b"d" * 400, (host, port))
    for _ in range(REFUSED):
        try:
            socket.create_connection((host, port + 1))
        except ConnectionRefusedError:
            pass
    for _ in range(RESETS):
        s, ns = request((host, port))
        took.append(ns)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
    print(json.dumps(took))


if __name__ == "__main__":
    {"server": server, "client": client}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
