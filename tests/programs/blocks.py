# SPDX-License-Identifier: MIT
"""
Blocks in calls of different kinds, and prints how long each kind took by its own clock, as JSON:
{kind: ns}. The back end is a process of its own, and answers each byte 20 ms later.
"""
import json
import os
import select
import socket
import sys
import threading
import time

TIMES, ANSWER = 10, 0.02
took = {}


def timed(kind, call, *args):
    begin = time.monotonic_ns()
    call(*args)
    took[kind] = took.get(kind, 0) + time.monotonic_ns() - begin


def answer(listener):
    conn = listener.accept()[0]
    while conn.recv(1):
        select.select([], [], [], ANSWER)
        conn.send(b"y")


def ask(conn, poll=None):
    for _ in range(TIMES):
        conn.send(b"x")
        if poll:
            timed("epoll", poll.poll)
            conn.recv(1)
        else:
            timed("recv", conn.recv, 1)


def hold(lock, held):
    with lock:
        held.set()
        select.select([], [], [], 0.1)


listener = socket.create_server(("127.0.0.1", 0))
child = os.fork()
if not child:
    answer(listener)
    os._exit(0)
for _ in range(TIMES):
    timed("sleep", time.sleep, 0.01)
lock, held = threading.Lock(), threading.Event()
holder = threading.Thread(target=hold, args=(lock, held))
holder.start()
held.wait()
timed("lock", lock.acquire)
holder.join()
with socket.create_connection(listener.getsockname()) as conn:
    ask(conn)
    with select.epoll() as poll:
        poll.register(conn, select.EPOLLIN)
        ask(conn, poll)
os.waitpid(child, 0)
with open(sys.argv[1], "wb") as f:
    for _ in range(TIMES):
        f.write(b"x" * 1000000)
        f.flush()
        timed("fsync", os.fsync, f.fileno())
os.unlink(sys.argv[1])
print(json.dumps({"pid": os.getpid(), "port": listener.getsockname()[1], "took": took}))
