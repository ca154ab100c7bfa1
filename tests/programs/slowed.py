# SPDX-License-Identifier: MIT
"""
slowed.py server|client CAUSE HOST PORT N: N requests on a connection, whose time has the cause that
is named. `busy` is one server with one thread for two such clients; with `kinds` most requests take middling long in the
program, which sleeps, and those that take longest wait unread and then compute; with `stopped` a signal stops the
server for 0.4 s while it waits for a request.
"""
import os
import signal
import socket
import sys
import time

REQUEST, REPLY, HEAD, LARGE = 200, 1000, 100, 600_000


def whole(s, n, pause=0):
    got = 0
    while got < n:
        time.sleep(pause)
        d = s.recv(min(65536, n - got))
        if not d:
            return False
        got += len(d)
    return True


def reply_size(cause):
    return LARGE if cause in ("reader", "rate", "streamed") else REPLY


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def answer(c, cause, number):
    if cause == "kinds" and number % 4:
        time.sleep(0.006)
    elif cause == "kinds":
        compute(0.001)
    if cause in ("sleep", "busy"):
        time.sleep(0.02)
    elif cause == "rare" and number % 20 == 19:
        time.sleep(0.2)
    if cause == "nagle":
        c.send(b"h" * HEAD)
        c.send(b"b" * (REPLY - HEAD))
    elif cause == "streamed":
        for _ in range(6):
            time.sleep(0.01)
            c.sendall(b"p" * (LARGE // 6))
    else:
        c.sendall(b"r" * reply_size(cause))


def stop_me_soon():
    me = os.getpid()
    if os.fork() == 0:
        time.sleep(0.05)
        os.kill(me, signal.SIGSTOP)
        time.sleep(0.4)
        os.kill(me, signal.SIGCONT)
        os._exit(0)


def server(cause, host, port, number):
    with socket.create_server((host, port)) as listening:
        if cause == "busy":
            two = [listening.accept()[0] for _ in range(2)]
            for _ in range(number):
                for c in two:  # the second's request waits while the first is served
                    whole(c, REQUEST)
                    answer(c, cause, 0)
            return
        c, _ = listening.accept()
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, cause != "nagle")
        for i in range(number):
            if cause == "kinds" and not i % 4:
                time.sleep(0.03)
            if cause == "stopped" and i == number // 2:
                stop_me_soon()
            whole(c, REQUEST)
            answer(c, cause, i)
        c.recv(1)


def client(cause, host, port, number):
    for _ in range(200):
        try:
            s = socket.create_connection((host, port))
            break
        except ConnectionRefusedError:
            time.sleep(0.02)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for i in range(number):
        if cause == "stopped" and i == number // 2:
            time.sleep(0.1)
        s.sendall(b"q" * REQUEST)
        whole(s, reply_size(cause), 0.01 if cause == "reader" else 0)
    s.close()


{"server": server, "client": client}[sys.argv[1]](sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
