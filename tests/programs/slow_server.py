# SPDX-License-Identifier: MIT
"""
Answers each request on a port slowly, for the reason that is given; the client asks so many times
and prints the server's own measure of each answer, JSON: {pid, port, backend, took: [ns]}.
usage: slow_server.py sleep|lock|fsync|backend|pool|hand|burn|hog|epoll TIMES FILE
"""
import json
import os
import queue
import selectors
import socket
import sys
import threading
import time

REASON, TIMES, FILE = sys.argv[1], int(sys.argv[2]), sys.argv[3]
PAUSE = 0.03
took = []


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def child(run, *args):
    pid = os.fork()
    if not pid:
        run(*args)
        os._exit(0)
    return pid


def answer_late(listener):
    conn = listener.accept()[0]
    while conn.recv(100):
        time.sleep(PAUSE)
        conn.sendall(b"found")


def hold(lock):
    while True:
        with lock:
            time.sleep(PAUSE)
        time.sleep(0.001)


def write_out(f):
    f.write(b"x" * 65536)
    f.flush()
    os.fsync(f.fileno())


def wait_for(backend):
    with selectors.DefaultSelector() as sel:
        sel.register(backend, selectors.EVENT_READ)
        sel.select()
    return backend.recv(100)


def ask_backend(backend):
    backend.sendall(b"find")
    return wait_for(backend) if REASON == "epoll" else backend.recv(100)


def work(jobs):
    while True:
        conn, done = jobs.get()
        burn(PAUSE)
        if done:
            done.set()
        else:
            answer(conn, lambda: None)


def answer(conn, why):
    begin = time.monotonic_ns()
    why()
    end = time.monotonic_ns()
    conn.sendall(b"reply")
    took.append(end - begin)


def served_by_pool(jobs, conn):
    done = threading.Event()
    jobs.put((conn, done))
    done.wait()


def serve(listener, backend_at):
    conn = listener.accept()[0]
    why = {"sleep": lambda: time.sleep(PAUSE), "burn": lambda: burn(PAUSE), "hog": lambda: burn(PAUSE)}.get(REASON)
    if REASON == "lock":
        lock = threading.Lock()
        threading.Thread(target=hold, args=(lock,), daemon=True).start()

        def why():
            with lock:
                pass
    elif REASON == "fsync":
        f = open(FILE, "wb")

        def why():
            write_out(f)
    elif REASON in ("backend", "epoll"):
        backend = socket.create_connection(backend_at)

        def why():
            ask_backend(backend)
    elif REASON in ("pool", "hand"):
        jobs = queue.SimpleQueue()
        threading.Thread(target=work, args=(jobs,), daemon=True).start()

        def why():
            served_by_pool(jobs, conn)
    while conn.recv(100):
        if REASON == "hand":
            jobs.put((conn, None))
        else:
            answer(conn, why)


listener, backend = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
others = [child(answer_late, backend)] if REASON in ("backend", "epoll") else []
if REASON == "hog":
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
    others.append(child(burn, 600))
    others.append(child(burn, 600))
told, tell = os.pipe()
server = os.fork()
if not server:
    serve(listener, backend.getsockname())
    os.write(tell, json.dumps(took).encode())
    os._exit(0)
with socket.create_connection(listener.getsockname()) as conn:
    for _ in range(TIMES):
        conn.sendall(b"request")
        conn.recv(100)
        time.sleep(0.002)
os.waitpid(server, 0)
for pid in others:
    os.kill(pid, 9)
    os.waitpid(pid, 0)
print(json.dumps({"pid": server, "port": listener.getsockname()[1], "backend": backend.getsockname()[1],
                  "took": json.loads(os.read(told, 1000000))}))
