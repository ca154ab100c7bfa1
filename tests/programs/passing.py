# SPDX-License-Identifier: MIT
"""
passing.py PORT: one connection written and read through descriptors that were copied, inherited, handed
to another process and used again, beside others that get the same numbers. Prints JSON: [way, process,
port, direction, offset, length] of each call, in order.
"""
import json
import os
import socket
import struct
import sys
import threading

PORT = int(sys.argv[1])
said = []


class End:
    """One direction of a connection, whoever uses it."""

    def __init__(self, port, direction):
        self.port, self.direction, self.at = port, direction, 0

    def moved(self, way, pid, n):
        said.append([way, pid, self.port, self.direction, self.at, n])
        self.at += n


def connect(port):
    listener = socket.create_server(("127.0.0.1", port))
    a = socket.create_connection(listener.getsockname())
    b, _ = listener.accept()
    listener.close()
    return a, b


def in_child(use):
    """`use` in a child; what it returns as a number."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(w, struct.pack("q", use()))
        os._exit(0)
    n = struct.unpack("q", os.read(r, 8))[0]
    os.waitpid(pid, 0)
    os.close(r)
    os.close(w)
    return pid, n


def hand_over(s, use):
    """To a process that never had it, by SCM_RIGHTS."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)

    def child():
        _, fds, _, _ = socket.recv_fds(theirs, 1, 1)
        return use(fds[0])

    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(s.fileno())
        os.write(w, struct.pack("q", child()))
        os._exit(0)
    socket.send_fds(ours, [b"x"], [s.fileno()])
    n = struct.unpack("q", os.read(r, 8))[0]
    os.waitpid(pid, 0)
    for fd in (r, w):
        os.close(fd)
    ours.close()
    theirs.close()
    return pid, n


a, b = connect(PORT)
tx, rx, me = End(PORT, "tx"), End(PORT, "rx"), os.getpid()

tx.moved("own", me, a.send(b"1" * 100))
copy = os.dup(a.fileno())
tx.moved("dup", me, os.write(copy, b"2" * 211))
os.dup2(b.fileno(), 100)
rx.moved("dup2", me, len(os.read(100, 150)))
tx.moved("fork", *in_child(lambda: a.send(b"3" * 322)))
rx.moved("fork", *in_child(lambda: len(b.recv(50))))
tx.moved("rights", *hand_over(a, lambda fd: os.write(fd, b"4" * 433)))
rx.moved("rights", *hand_over(b, lambda fd: len(os.read(fd, 60))))

# another connection gets the number, while the first one lives on by its copy
number = a.fileno()
a.detach()
os.close(number)
c, d = connect(PORT + 1)
if number not in (c.fileno(), d.fileno()):
    os.dup2(c.fileno(), number)
other = End(PORT + 1, "rx" if number == d.fileno() else "tx")
if number == d.fileno():
    c.send(b"5" * 77)
    other.moved("reused", me, len(os.read(number, 77)))
else:
    other.moved("reused", me, os.write(number, b"5" * 77))
tx.moved("copy lives", me, os.write(copy, b"6" * 544))


def threaded():
    tx.moved("thread", me, os.write(copy, b"8" * 655))


t = threading.Thread(target=threaded)
t.start()
t.join()
os.close(copy)
rx.moved("rest", me, len(b.recv(9999, socket.MSG_WAITALL)))
print(json.dumps(said))
