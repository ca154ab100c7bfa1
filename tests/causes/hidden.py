# SPDX-License-Identifier: MIT
"""
hidden.py ROLE CAUSE HOST PORT N: servers and clients whose time has one cause that their code does not
name: a lock, a queue for workers, a log that is synced, a name server.
"""
import concurrent.futures
import os
import socket
import struct
import sys
import tempfile
import threading
import time

ROLE, CAUSE, HOST = sys.argv[1:4]
PORT, N = int(sys.argv[4]), int(sys.argv[5])
REQUEST, REPLY, LARGE = 200, 1000, 300_000
SOME = 60_000  # so many bytes are many times a small receive buffer


def whole(s, n):
    got = 0
    while got < n and (d := s.recv(min(65536, n - got))):
        got += len(d)
    return got == n


def reply_size():
    return LARGE if CAUSE in ("loss", "reorder") else SOME if CAUSE == "rcvbuf" else REPLY


# ---- servers ----

LOCK = threading.Lock()


def keep_locked():
    """Work that other requests do not need, under the lock that they do."""
    while True:
        with LOCK:
            time.sleep(0.03)
        time.sleep(0.001)


def work(log):
    if CAUSE == "lock":
        with LOCK:
            pass
    elif CAUSE == "fsync":
        for _ in range(20):
            log.write(b"x" * 4096)
            log.flush()
            os.fsync(log.fileno())
    elif CAUSE == "cpu":
        end = time.thread_time() + 0.01
        while time.thread_time() < end:
            pass
    elif CAUSE == "pool":
        time.sleep(0.02)


def serve(c):
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with tempfile.TemporaryFile(dir=os.environ.get("TMPDIR", "/var/tmp")) as log:
        while whole(c, REQUEST):
            work(log)
            c.sendall(b"r" * reply_size())
    c.close()


def server():
    if CAUSE == "lock":
        threading.Thread(target=keep_locked, daemon=True).start()
    backlog = 1 if CAUSE == "backlog" else 64
    with socket.create_server((HOST, PORT), backlog=backlog) as listening:
        if CAUSE == "pool":
            pool = concurrent.futures.ThreadPoolExecutor(2)
            for c in [listening.accept()[0] for _ in range(6)]:
                pool.submit(one_by_one, pool, c)
            time.sleep(60)
        if CAUSE == "backlog":
            while True:
                time.sleep(0.05)
                c, _ = listening.accept()
                if whole(c, REQUEST):
                    c.sendall(b"r" * reply_size())
                c.close()
        threads = []
        while True:
            c, _ = listening.accept()
            threads.append(threading.Thread(target=serve, args=(c,), daemon=True))
            threads[-1].start()


def one_by_one(pool, c):
    """A request, then the connection goes to the end of the queue again."""
    if whole(c, REQUEST):
        work(None)
        c.sendall(b"r" * reply_size())
        pool.submit(one_by_one, pool, c)


def name_server():
    """Answers each question after 50 ms: its name is 127.0.0.1."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((HOST, PORT))
    while True:
        q, peer = s.recvfrom(512)
        end = q.index(b"\0", 12) + 5
        time.sleep(0.05)
        answer = b"\xc0\x0c" + struct.pack(">HHIH4s", 1, 1, 0, 4, socket.inet_aton("127.0.0.1"))
        is_a = q[end - 4:end - 2] == b"\0\1"
        s.sendto(q[:2] + b"\x81\x80" + q[4:6] + (b"\0\1" if is_a else b"\0\0") + b"\0\0\0\0" + q[12:end]
                 + (answer if is_a else b""), peer)


# ---- clients ----


def connected():
    for _ in range(300):
        s = socket.socket()
        if CAUSE == "rcvbuf":
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            s.connect((HOST, PORT))
            return s
        except ConnectionRefusedError:
            s.close()
            time.sleep(0.02)
    sys.exit("nobody listens")


def before_reading():
    """Lets a client do something else while the reply is there."""
    if CAUSE == "late":
        time.sleep(0.01)
    elif CAUSE == "late-cpu":
        end = time.monotonic() + 0.01
        while time.monotonic() < end:
            pass


def client(number=N):
    s = connected()
    for _ in range(number):
        if CAUSE == "backlog":
            s.close()
            s = connected()
        s.sendall(b"q" * REQUEST)
        before_reading()
        if not whole(s, reply_size()):
            break
    s.close()


def clients():
    count = {"pool": 6, "backlog": 8}.get(CAUSE, 1)
    threads = [threading.Thread(target=client) for _ in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


{"server": server, "client": clients, "names": name_server}[ROLE]()
