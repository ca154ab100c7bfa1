# SPDX-License-Identifier: MIT
"""
Connections that wait to be accepted with something to read in them. Prints a line for each message
as JSON: kind, inodes of both ends, offset, bytes, and the program's own clock (ns) before and after
the call that sent it, and before and after the call that read it.
"""
import json
import os
import socket
import sys
import threading
import time

CLIENTS, WORKERS, BUSY = 6, 2, 0.06
MESSAGE = 200


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def inode(s):
    return os.fstat(s.fileno()).st_ino


def listener(family, kind, address):
    s = socket.socket(family, kind)
    s.bind(address)
    s.listen(CLIENTS)
    return s


def message(sender, offset):
    """Says who sends it, where in the stream, and when."""
    return json.dumps([sender, offset, now()]).encode().ljust(MESSAGE)


class Report:
    """Lines that several processes write to one pipe, each at once."""

    def __init__(self):
        self.r, self.w = os.pipe()

    def write(self, *line):
        os.write(self.w, json.dumps(line).encode() + b"\n")

    def lines(self):
        os.close(self.w)
        with os.fdopen(self.r) as f:
            return [json.loads(line) for line in f]


def read(report, s):
    before = now()
    got = s.recv(MESSAGE)
    if got:
        sender, offset, begun = json.loads(got)
        report.write("read", inode(s), sender, offset, begun, before, now())
    return got


def worker(report, server):
    """Answers one client at a time, and is busy with it."""
    while True:
        s, _ = server.accept()
        while read(report, s):
            time.sleep(BUSY)
            s.send(b"done")
        s.close()


def client(report, name, family, kind, address):
    with socket.socket(family, kind) as s:
        s.connect(address)
        me = inode(s) if family == socket.AF_UNIX else s.getsockname()[1]
        s.send(message(me, 0))
        report.write("sent", name, me, 0, now())
        s.recv(10)


def prefork(report, name, family, kind, address):
    """More clients than workers: the others wait in the listen queue."""
    server = listener(family, kind, address)
    address = server.getsockname()
    workers = []
    for _ in range(WORKERS):
        pid = os.fork()
        if pid == 0:
            worker(report, server)
        workers.append(pid)
    server.close()
    clients = [threading.Thread(target=client, args=(report, name, family, kind, address))
               for _ in range(CLIENTS)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    for pid in workers:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def closed_before(report, name, kind, address):
    """A client that is gone when it is accepted; it has sent twice."""
    server = listener(socket.AF_UNIX, kind, address)
    with socket.socket(socket.AF_UNIX, kind) as s:
        s.connect(address)
        for offset in (0, MESSAGE):
            s.send(message(inode(s), offset))
            report.write("sent", name, inode(s), offset, now())
    time.sleep(BUSY)
    s, _ = server.accept()
    while read(report, s):
        pass


def pair(report, name, kind):
    """Needs no accept()."""
    a, b = socket.socketpair(socket.AF_UNIX, kind)
    a.send(message(inode(a), 0))
    report.write("sent", name, inode(a), 0, now())
    time.sleep(BUSY)
    read(report, b)


def blocked(size):
    """A send that fills the buffer goes on after accept(). Prints the ends and the time it waited."""
    server = listener(socket.AF_UNIX, socket.SOCK_STREAM, "\0listen-queue-blocked-%d" % os.getpid())
    s = socket.socket(socket.AF_UNIX)
    s.connect(server.getsockname())
    sender = threading.Thread(target=s.sendall, args=(b"x" * size,))
    sender.start()
    time.sleep(BUSY)
    r, _ = server.accept()
    got = 0
    while got < size:
        got += len(r.recv(30000))
    sender.join()
    return [inode(s), inode(r)]


def main(top):
    report = Report()
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        name = kind.name[5:].lower()
        prefork(report, name, socket.AF_UNIX, kind, f"\0listen-queue-{name}-{os.getpid()}")
        closed_before(report, name + " closed", kind, f"{top}/{name}")
        pair(report, name + " pair", kind)
    prefork(report, "tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
    ends = blocked(500000)
    print(json.dumps({"lines": report.lines(), "blocked": ends}))


if __name__ == "__main__":
    main(sys.argv[1])
