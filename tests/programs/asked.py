# SPDX-License-Identifier: MIT
"""
A server and a client that time themselves. Usage: asked.py server|client|both SCENE PORT ROUNDS

The server reads the clock after the call that read a request's last byte and before the one that
writes the reply's first, the client before it writes and after it has read. At their end each prints a
line "server READ WRITTEN TID TID" or "client WRITTEN READ" for each request, CLOCK_MONOTONIC in ns.
Both are processes of their own. A scene is a function below whose name begins with `serve_`.
"""
import http.server
import os
import queue
import random
import socket
import sys
import threading
import time

HERE, HEAD = "127.0.0.1", 16
UNTIL_S = 60  # no process lives longer


def now():
    return time.monotonic_ns()


def work(us):
    """Take this long: a busy loop if it is odd, a sleep if it is even."""
    end = now() + us * 1000
    if us % 2 == 0:
        time.sleep(us / 1e6)
    while now() < end:
        pass


class Log:
    """Lines are printed at the end only, so that no output is part of what is timed."""

    def __init__(self, who):
        self.who, self.rows = who, []

    def add(self, *row):
        self.rows.append(row)

    def end(self):
        sys.stdout.write("".join(f"{self.who} {' '.join(map(str, row))}\n" for row in self.rows))
        sys.stdout.flush()


def read(s, size):
    """Read so many bytes, whatever the number of calls."""
    data = b""
    while len(data) < size:
        more = s.recv(size - len(data))
        if not more:
            return data
        data += more
    return data


def request(us, size, answer):
    """`size` bytes that ask for an answer of `answer` bytes after `us`."""
    return f"{us:5} {answer:9} ".encode().ljust(size, b"q")


def asked_for(head):
    return [int(n) for n in head[:HEAD].split()[:2]]


def plan(rounds):
    """Requests to make, the same in both processes: (us, request's size, answer's size)."""
    chance = random.Random(rounds)
    return [(chance.choice((0, 1, 50, 301, 1000, 2501, 4000, chance.randrange(8000))),
             chance.choice((HEAD, 100, 3000, 40000)), chance.choice((1, 100, 20000)))
            for _ in range(rounds)]


def connected(port):
    s, end = None, now() + UNTIL_S * 1e9
    while s is None:
        try:
            s = socket.create_connection((HERE, port))
        except ConnectionRefusedError:  # the server has not begun
            if now() > end:
                raise
            time.sleep(0.01)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def accepted(listener):
    s, _ = listener.accept()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


# ---- one request after the other on one connection; answers of several writes ----

def serve_one(listener, rounds, log):
    with accepted(listener) as s:
        for _, size, _ in plan(rounds):
            data = read(s, size)
            begin = now()
            us, answer = asked_for(data)
            work(us)
            end = now()
            s.send(b"a" * (answer - answer // 2))
            if answer > 1:
                s.sendall(b"a" * (answer // 2))
            log.add(begin, end, threading.get_native_id(), threading.get_native_id())


def ask_one(port, rounds, log):
    with connected(port) as s:
        for us, size, answer in plan(rounds):
            time.sleep(us % 7 / 1e4)
            data = request(us, size, answer)
            begin = now()
            if s.send(data) != size:
                sys.exit("a request does not fit the send buffer")
            first = s.recv(answer)
            end = now()
            read(s, answer - len(first))
            log.add(begin, end)


# ---- a connection for each request, which ends with the client's direction ----

def serve_half(listener, rounds, log):
    for _ in range(rounds):
        with accepted(listener) as s:
            data = b""
            while more := s.recv(65536):
                data += more
            begin = now()
            us, answer = asked_for(data)
            work(us)
            end = now()
            s.sendall(b"a" * answer)
            log.add(begin, end, threading.get_native_id(), threading.get_native_id())


def ask_half(port, rounds, log):
    for us, size, answer in plan(rounds):
        with connected(port) as s:
            s.send(request(us, size, answer))
            begin = now()
            s.shutdown(socket.SHUT_WR)
            first = s.recv(answer)
            end = now()
            read(s, answer - len(first))
            log.add(begin, end)


# ---- requests that are written together, and read and answered one after the other ----

TOGETHER = 4


def serve_pipelined(listener, rounds, log):
    with accepted(listener) as s:
        for us, size, answer in plan(rounds):
            data = read(s, HEAD)
            begin = now()
            work(asked_for(data)[0])
            end = now()
            s.send(b"a" * HEAD)
            log.add(begin, end, threading.get_native_id(), threading.get_native_id())


def ask_pipelined(port, rounds, log):
    asked = [request(us, HEAD, HEAD) for us, _, _ in plan(rounds)]
    with connected(port) as s:
        for at in range(0, rounds, TOGETHER):
            some = b"".join(asked[at:at + TOGETHER])
            begin = now()
            s.send(some)
            s.recv(HEAD)
            log.add(begin, now())
            read(s, len(some) - HEAD)


# ---- one thread reads, others answer; several connections at a time ----

THREADS = 3


def serve_pool(listener, rounds, log):
    todo = queue.Queue()

    def answer():
        while job := todo.get():
            s, data, begin, reader = job
            us, size = asked_for(data)
            work(us & ~1)  # a busy loop would keep the others from running
            end = now()
            s.send(b"a" * size)
            log.add(begin, end, reader, threading.get_native_id())

    def reader(s):
        with s:
            while data := read(s, HEAD):
                begin = now()
                todo.put((s, data, begin, threading.get_native_id()))
    workers = [threading.Thread(target=answer) for _ in range(THREADS)]
    readers = [threading.Thread(target=reader, args=(accepted(listener),)) for _ in range(THREADS)]
    for t in workers + readers:
        t.start()
    for t in readers:
        t.join()
    for t in workers:
        todo.put(None)
    for t in workers:
        t.join()


def ask_pool(port, rounds, log):
    def one(s):
        with s:
            for us, _, _ in plan(rounds // THREADS):
                s.send(request(us, HEAD, 100))
                read(s, 100)
    askers = [threading.Thread(target=one, args=(connected(port),)) for _ in range(THREADS)]
    for t in askers:
        t.start()
    for t in askers:
        t.join()


# ---- datagrams: each request one, as a resolver asks ----

def serve_datagrams(listener, rounds, log):
    for _ in range(rounds):
        data, who = listener.recvfrom(2000)
        begin = now()
        us, answer = asked_for(data)
        work(us)
        end = now()
        listener.sendto(b"a" * answer, who)
        log.add(begin, end, threading.get_native_id(), threading.get_native_id())


def ask_datagrams(port, rounds, log):
    asked = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    for s in asked:
        s.connect((HERE, port))
        s.settimeout(UNTIL_S)
    for n, (us, _, _) in enumerate(plan(rounds)):
        s = asked[n % 2]
        data = request(us, 50, 120)
        begin = now()
        s.send(data)
        s.recv(2000)
        log.add(begin, now())


# ---- a server of Python's library, with a thread for each connection ----

def serve_http(listener, rounds, log):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def parse_request(self):
            self.begin = now()  # the last line of the headers is read later, from the same buffer
            return super().parse_request()

        def do_GET(self):
            work(int(self.path[1:]) & ~1)
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.close_connection = False

        def end_headers(self):
            tid = threading.get_native_id()
            self._headers_buffer.append(b"\r\nhello")
            self.end = now()
            self.flush_headers()
            log.add(self.begin, self.end, tid, tid)

        def log_message(self, *unused):
            pass
    server = http.server.ThreadingHTTPServer(listener.getsockname(), Handler, False)
    server.socket.close()
    server.socket, server.daemon_threads = listener, False
    server.handle_request()
    server.server_close()  # waits for its threads


def ask_http(port, rounds, log):
    with connected(port) as s:
        for us, _, _ in plan(rounds):
            data = f"GET /{us} HTTP/1.1\r\nHost: here\r\n\r\n".encode()
            begin = now()
            s.send(data)
            got = s.recv(4096)
            log.add(begin, now())
            if not got.endswith(b"hello"):
                sys.exit("the answer has several parts")


# ---- bytes in one direction only ----

def serve_one_way(listener, rounds, log):
    with accepted(listener) as s:
        while s.recv(65536):
            pass
    with accepted(listener) as s:
        for _ in range(rounds):
            s.send(b"n" * 100)
            time.sleep(0.001)


def ask_one_way(port, rounds, log):
    with connected(port) as s:
        for _ in range(rounds):
            s.send(b"l" * 1000)
    with connected(port) as s:
        while s.recv(65536):
            pass


def run(who, scene, rounds, *where):
    log = Log(who)
    globals()[f"{'serve' if who == 'server' else 'ask'}_{scene}"](*where, rounds, log)
    log.end()


who, scene, port, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
listener = None
if who != "client" and scene == "datagrams":
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind((HERE, port))
elif who != "client":
    listener = socket.create_server((HERE, port))
child = os.fork() if who == "both" else None
threading.Timer(UNTIL_S, os._exit, (1,)).start()
if who == "server" or child == 0:
    if who == "server":
        print("ready", flush=True)
    run("server", scene, rounds, listener)
    os._exit(0)
if listener:
    listener.close()
run("client", scene, rounds, port)
if child and os.waitpid(child, 0)[1]:
    os._exit(1)
os._exit(0)
