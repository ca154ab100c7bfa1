# SPDX-License-Identifier: MIT
"""
Sends whose times are known beforehand.

  timed.py sink ADDRESS PORT [CONNECTIONS]  reads all that connections send
  timed.py answer ADDRESS PORT              answers each request of 200 bytes
  timed.py apart ADDRESS PORT N SIZE GAP    N sends of SIZE bytes, GAP seconds apart
  timed.py burst ADDRESS PORT N SIZE        N sends of SIZE bytes, one after the other
  timed.py split ADDRESS PORT N             N requests, each in two sends of 100 bytes
  timed.py many ADDRESS PORT N              N connections, each with two sends and its end
  timed.py later ADDRESS PORT N             as split, but waits for a line when it is connected, and at the end
  timed.py flood ADDRESS PORT N             N sends of more than the send buffer takes, without blocking

The client prints how often it called send().
"""
import select
import socket
import sys
import time

role, address, port, *rest = sys.argv[1:]
family = socket.AF_INET6 if ":" in address else socket.AF_INET


def read_all(c):
    while c.recv(1 << 16):
        pass


def serve():
    with socket.create_server((address, int(port)), family=family) as listener:
        print("listening", flush=True)
        for _ in range(int(rest[0]) if rest else 1):
            c, _ = listener.accept()
            if role == "sink":
                read_all(c)
            else:
                while c.recv(200, socket.MSG_WAITALL):
                    c.sendall(b"r" * 10)
            c.close()


def connect():
    for _ in range(100):
        try:
            return socket.create_connection((address, int(port)))
        except ConnectionRefusedError:
            time.sleep(0.05)
    sys.exit("nobody listens")


def client():
    n, sends = int(rest[0]), 0
    size = int(rest[1]) if len(rest) > 1 else 100
    if role == "many":
        for _ in range(n):
            with connect() as s:
                sends += s.send(b"x" * 100) == 100
                sends += s.send(b"y" * 100) == 100
        return sends
    with connect() as s:
        if role == "later":
            print("connected", flush=True)
            sys.stdin.readline()
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(role == "apart"))
        if role == "flood":
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            s.setblocking(False)
            while sends < n:
                select.select([], [s], [])
                sends += s.send(b"x" * 200000) > 0
            return sends
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        for _ in range(n):
            for _ in range(2 if role in ("split", "later") else 1):
                if s.send(b"x" * size) != size:
                    sys.exit("a send was cut")
                sends += 1
            if role in ("split", "later"):
                s.recv(10, socket.MSG_WAITALL)
            if role == "apart":
                time.sleep(float(rest[2]))
        if role == "later":
            print("done", flush=True)
            sys.stdin.readline()
        s.shutdown(socket.SHUT_WR)
        s.recv(1)
    return sends


if role in ("sink", "answer"):
    serve()
else:
    print(client())
