# SPDX-License-Identifier: MIT
"""
ways.py PORT: the ways in which a program can send and read a TCP stream, each in a connection of its
own, from PORT on, over loopback. The stream is made of 8-byte counters, so that what was read tells
where it was. Prints a JSON object a way: {"way", "port", "sent", "read"}, lists of [call, offset,
length] in order; a call that moved no byte has no offset.
"""
import ctypes
import json
import mmap
import os
import socket
import struct
import sys
import tempfile
import time

LIBC = ctypes.CDLL(None, use_errno=True)
MSG_ZEROCOPY, SO_ZEROCOPY = 0x4000000, 60
TCP_ZEROCOPY_RECEIVE = 35
SIZE = 1 << 20
STREAM = memoryview(b"".join(struct.pack("<Q", n) for n in range(SIZE // 8)))


class Sender:
    def __init__(self, s):
        self.s, self.at, self.calls = s, 0, []

    def took(self, call, n):
        self.calls.append([call, self.at, n])
        self.at += n

    def next(self, n):
        return STREAM[self.at:self.at + n]

    def send(self, n, flags=0):
        self.took("send", self.s.send(self.next(n), flags))


class Reader:
    def __init__(self, s):
        self.s, self.at, self.calls = s, 0, []

    def got(self, call, data, moves=True):
        """Checks that the data read are the next ones in the stream; PEEK only looks."""
        if STREAM[self.at:self.at + len(data)] != data:
            sys.exit(f"{call} at {self.at} gave other bytes")
        self.calls.append([call, self.at, len(data)] if moves else [call, None, len(data)])
        self.at += len(data) if moves else 0

    def recv(self, n, flags=0):
        self.got("recv", self.s.recv(n, flags), not flags & socket.MSG_PEEK)

    def discarded(self, call, n):
        self.calls.append([call, self.at, n])
        self.at += n


def settle():
    time.sleep(0.02)


def peek(tx, rx):
    tx.send(5000)
    settle()
    rx.recv(3000, socket.MSG_PEEK)
    rx.recv(1000)
    rx.recv(9999, socket.MSG_PEEK)
    rx.recv(9999)


def trunc(tx, rx):
    tx.send(5000)
    settle()
    rx.recv(700)
    rx.discarded("recv", len(rx.s.recv(2000, socket.MSG_TRUNC)))
    rx.recv(9999)


def splice(tx, rx):
    a, b = os.pipe()
    tx.send(3000)
    settle()
    rx.recv(500)
    n = os.splice(rx.s.fileno(), b, 2000)
    data = os.read(a, 9999)
    assert len(data) == n
    rx.got("splice_in", data)
    rx.recv(9999)


def splice_end(tx, rx):
    """The last bytes, with the end of the stream behind them."""
    a, b = os.pipe()
    tx.send(3000)
    tx.s.shutdown(socket.SHUT_WR)
    settle()
    rx.recv(500)
    n = os.splice(rx.s.fileno(), b, 9999)
    data = os.read(a, 9999)
    assert len(data) == n
    rx.got("splice_in", data)


def trunc_end(tx, rx):
    tx.send(3000)
    tx.s.shutdown(socket.SHUT_WR)
    settle()
    rx.recv(700)
    rx.discarded("recv", len(rx.s.recv(9999, socket.MSG_TRUNC)))


def low_water(tx, rx):
    """Read before there is as much as the reader would be told of."""
    rx.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 3000)
    for n in (1000, 700, 300):
        tx.send(n)
        settle()
        rx.recv(n + 100, socket.MSG_DONTWAIT)


def splice_out(tx, rx):
    a, b = os.pipe()
    left = 40000
    while left:
        os.write(b, tx.next(min(left, 30000)))
        n = os.splice(a, tx.s.fileno(), 65536)
        tx.took("splice", n)
        left -= n
    read_all(rx, 40000)


def read_all(rx, upto, size=65536):
    while rx.at < upto:
        rx.recv(size)


def sendfile(tx, rx):
    """More than its pipe holds: one call is several sends."""
    with tempfile.TemporaryFile() as f:
        f.write(STREAM)
        f.flush()
        tx.send(100)
        while tx.at < 600000:
            tx.took("sendfile", os.sendfile(tx.s.fileno(), f.fileno(), tx.at, 600000 - tx.at))
            while rx.at < tx.at:
                rx.recv(30000)


def waitall(tx, rx):
    pid = os.fork()
    if pid == 0:
        for n in (1000, 2000, 3000):
            time.sleep(0.01)
            tx.s.send(STREAM[tx.at:tx.at + n])
            tx.at += n
        os._exit(0)
    tx.at += 6000
    rx.recv(5000, socket.MSG_WAITALL)
    rx.recv(9999)
    os.waitpid(pid, 0)


def vectors(tx, rx):
    n = tx.s.sendmsg([tx.next(10), STREAM[tx.at + 10:tx.at + 3010]])
    tx.took("sendmsg", n)
    tx.took("writev", os.writev(tx.s.fileno(), [tx.next(700), STREAM[tx.at + 700:tx.at + 1000]]))
    settle()
    into = [bytearray(100), bytearray(1000)]
    n, _, _, _ = rx.s.recvmsg_into(into)
    rx.got("recvmsg", b"".join(into)[:n])
    into = [bytearray(77), bytearray(500)]
    n = os.readv(rx.s.fileno(), into)
    rx.got("readv", b"".join(into)[:n])
    rx.got("read", os.read(rx.s.fileno(), 9999))


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Mmsghdr(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint32),
                ("iov", ctypes.POINTER(Iovec)), ("iovlen", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t),
                ("flags", ctypes.c_int), ("pad", ctypes.c_int), ("len", ctypes.c_uint32)]


def messages(tx, rx):
    """Several messages in one call, each with a range of its own."""
    sizes = (900, 10, 4000)
    buffers = [ctypes.create_string_buffer(bytes(STREAM[sum(sizes[:i]):sum(sizes[:i + 1])]), n)
               for i, n in enumerate(sizes)]
    iov = [Iovec(ctypes.addressof(b), n) for b, n in zip(buffers, sizes)]
    vector = (Mmsghdr * 3)(*(Mmsghdr(iov=ctypes.pointer(v), iovlen=1) for v in iov))
    assert LIBC.sendmmsg(tx.s.fileno(), vector, 3, 0) == 3
    tx.took("sendmmsg", sum(sizes))
    settle()
    for b in buffers:
        b[:] = b"\0" * len(b)
    assert LIBC.recvmmsg(rx.s.fileno(), vector, 3, 0x10000, None) == 3  # MSG_WAITFORONE
    rx.got("recvmmsg", b"".join(b.raw[:v.len] for b, v in zip(buffers, vector)))
    if rx.at < sum(sizes):
        rx.recv(9999)


def urgent(tx, rx):
    """Read out of band, before the rest: its place is between what is read in band."""
    tx.send(100)
    tx.send(1, socket.MSG_OOB)
    tx.send(99)
    settle()
    assert rx.s.recv(1, socket.MSG_OOB) == STREAM[100:101]
    rx.calls.append(["recv", None, 1])
    rx.recv(999)
    rx.at = 101
    rx.recv(999)


def urgent_end(tx, rx):
    """The last byte: only the end of the stream is read behind it."""
    tx.send(50)
    tx.send(3, socket.MSG_OOB)
    settle()
    rx.recv(999)
    assert rx.s.recv(1, socket.MSG_OOB) == STREAM[52:53]
    rx.calls.append(["recv", None, 1])
    tx.s.shutdown(socket.SHUT_WR)
    assert rx.s.recv(999) == b""
    rx.calls.append(["recv", None, 0])


def urgent_unread(tx, rx):
    tx.send(100)
    tx.send(1, socket.MSG_OOB)
    tx.send(99)
    settle()
    rx.recv(999)
    rx.at = 101
    rx.recv(999)


def urgent_inline(tx, rx):
    rx.s.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    tx.send(100)
    tx.send(1, socket.MSG_OOB)
    tx.send(99)
    settle()
    read_all(rx, 200, 999)


def errors(tx, rx):
    """MSG_ZEROCOPY is read to end in the error queue, which is no part of the stream."""
    tx.s.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    for n in (10000, 20000, 5000):
        tx.send(n, MSG_ZEROCOPY)
        read_all(rx, tx.at)
    settle()
    ended = -1
    while ended < 2:
        _, (control, *_), _, _ = tx.s.recvmsg(0, 512, socket.MSG_ERRQUEUE)
        ended = struct.unpack_from("I", control[2], 12)[0]
        tx.calls.append(["recvmsg", None, 0])
    rx.s.send(b"answer")  # the other direction is not touched by that
    assert tx.s.recv(99) == b"answer"


class ZerocopyReceive(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("length", ctypes.c_uint32),
                ("recv_skip_hint", ctypes.c_uint32), ("inq", ctypes.c_uint32),
                ("err", ctypes.c_int32), ("copybuf_address", ctypes.c_uint64),
                ("copybuf_len", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("msg_control", ctypes.c_uint64), ("msg_controllen", ctypes.c_uint64),
                ("msg_flags", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


def zerocopy_receive(tx, rx):
    """Pages that cannot be mapped are copied, within the same call."""
    tx.send(3000)
    settle()
    rx.recv(500)
    buf = ctypes.create_string_buffer(32768)
    LIBC.mmap.restype, LIBC.mmap.argtypes = ctypes.c_void_p, [
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    where = LIBC.mmap(None, 65536, mmap.PROT_READ, mmap.MAP_SHARED, rx.s.fileno(), 0)
    z = ZerocopyReceive(address=where, length=65536, copybuf_address=ctypes.addressof(buf),
                        copybuf_len=len(buf))
    size = ctypes.c_uint32(ctypes.sizeof(z))
    assert LIBC.getsockopt(rx.s.fileno(), socket.IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE,
                           ctypes.byref(z), ctypes.byref(size)) == 0, ctypes.get_errno()
    n = max(z.copybuf_len, 0)
    rx.got("getsockopt", buf.raw[:n])
    tx.send(1000)
    read_all(rx, 4000)


WAYS = (peek, trunc, splice, splice_out, sendfile, waitall, vectors, messages, urgent, urgent_end,
        urgent_unread, urgent_inline, errors, zerocopy_receive, splice_end, trunc_end, low_water)

if __name__ == "__main__":
    for i, way in enumerate(WAYS):
        port = int(sys.argv[1]) + i
        listener = socket.create_server(("127.0.0.1", port))
        a = socket.create_connection(listener.getsockname())
        a.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        b, _ = listener.accept()
        listener.close()
        tx, rx = Sender(a), Reader(b)
        way(tx, rx)
        print(json.dumps({"way": way.__name__, "port": port, "sent": tx.calls, "read": rx.calls}),
              flush=True)
        a.close()
        b.close()
