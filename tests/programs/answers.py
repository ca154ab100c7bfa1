# SPDX-License-Identifier: MIT
"""
Calls whose waits and work are known. Usage: answers.py late MS ROUNDS | turns

late: a process asks another over TCP, which answers after so many milliseconds; the asker uses
recv(), the other read(). Prints how long the other took on average, ns, and what the asker's thread
used of its CPU around each recv(), the median, ns.

turns: a connection to itself, on which nothing ever waits. A line on stdin "NAME N" asks for N
messages, received by recv or recvfrom; it says "done" after each.
"""
import os
import socket
import statistics
import sys
import time


def connection():
    listener = socket.create_server(("127.0.0.1", 0))
    a = socket.create_connection(listener.getsockname())
    b, _ = listener.accept()
    for s in (a, b):
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return a, b


def late(ms, rounds):
    asks, answers = connection()
    if os.fork() == 0:
        asks.close()
        took = 0
        for _ in range(rounds):
            os.read(answers.fileno(), 1)
            began = time.monotonic_ns()
            time.sleep(ms / 1000)
            took += time.monotonic_ns() - began
            os.write(answers.fileno(), b"a")
        print(took / rounds, flush=True)
        os._exit(0)
    answers.close()
    used = []
    for _ in range(rounds):
        asks.send(b"q")
        began = time.thread_time_ns()
        asks.recv(1)
        used.append(time.thread_time_ns() - began)
    os.wait()
    print(statistics.median(used))


def turns():
    a, b = connection()
    ways = {"recv": b.recv, "recvfrom": b.recvfrom}
    print("ready", flush=True)
    for line in sys.stdin:
        name, n = line.split()
        receive = ways[name]
        for _ in range(int(n)):
            a.send(b"x" * 64)
            receive(64)
        print("done", flush=True)


if sys.argv[1] == "late":
    late(int(sys.argv[2]), int(sys.argv[3]))
else:
    turns()
