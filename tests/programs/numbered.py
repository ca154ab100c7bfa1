# SPDX-License-Identifier: MIT
"""
numbered.py CASE[,CASE...] [NETNS NETNS ADDRESS]: messages that carry their numbers, through sockets
of this machine. Says what it sent and received, with its own times, as JSON: by socket (its inode's
number), in order, [number, length, time before the call, time after it]. Exits with 75 if a datagram that it
waits for did not come, and a CPU's input queue, which all network namespaces share, was full meanwhile.
"""
import array
import ctypes
import faulthandler
import json
import os
import select
import socket
import struct
import sys
import threading
import time

MORE, PEEK, TRUNC, DONTWAIT = 0x8000, 2, 0x20, 0x40
UDP_CORK, UDP_SEGMENT = 1, 103
SLOWER = int(os.environ.get("MAGNET_TEST_SLOWER", "1"))
PATIENCE_S = 10 * SLOWER  # a datagram that did not come by then is lost
LOST = 75
# what else is waited for in vain: say where, and end
faulthandler.dump_traceback_later(100 * SLOWER, exit=True)
libc = ctypes.CDLL(None, use_errno=True)
now = time.monotonic_ns
log = {}
number = 0


def thrown_away():
    """Packets that found a CPU's input queue full."""
    with open("/proc/net/softnet_stat") as f:
        return sum(int(line.split()[1], 16) for line in f)


BEFORE = thrown_away()


def end_without(kind, error, where):
    """Ends this process with an exception, which is a datagram that did not come if it says EAGAIN."""
    sys.__excepthook__(kind, error, where)
    thrown = thrown_away() - BEFORE
    if issubclass(kind, BlockingIOError):
        print(f"a datagram did not come in {PATIENCE_S} s; {thrown} packets found an input queue full", file=sys.stderr)
    sys.stderr.flush()
    os._exit(LOST if issubclass(kind, BlockingIOError) and thrown else 1)


sys.excepthook = end_without
threading.excepthook = lambda e: end_without(e.exc_type, e.exc_value, e.exc_traceback)


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Msghdr(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint32), ("iov", ctypes.POINTER(Iovec)),
                ("iovlen", ctypes.c_size_t), ("control", ctypes.c_void_p),
                ("controllen", ctypes.c_size_t), ("flags", ctypes.c_int)]


class Mmsghdr(ctypes.Structure):
    _fields_ = [("hdr", Msghdr), ("len", ctypes.c_uint)]


def of(s):
    return log.setdefault(str(os.fstat(s.fileno()).st_ino), {"sent": [], "received": []})


def numbered(size):
    global number
    number += 1
    return (struct.pack("!Q", number) * (size // 8 + 1))[:size]


def numbers(data, size):
    return [struct.unpack("!Q", data[i:i + 8])[0] for i in range(0, len(data), size)]


def send(s, size, flags=0, to=None):
    """One message; with less than eight bytes it has no number."""
    data = numbered(size)
    begin = now()
    n = s.sendto(data, flags, to) if to else s.send(data, flags)
    assert n == size
    of(s)["sent"].append([number, size, begin, now()])


def receive(s, size=65536, flags=0, whose=None):
    begin = now()
    data = s.recv(size, flags)
    n = struct.unpack("!Q", data[:8])[0] if len(data) >= 8 else 0
    (whose or of(s))["received"].append([n, len(data), begin, now()])
    return n


def in_netns(name, make):
    if not name:
        return make()
    home, there = os.open("/proc/self/ns/net", os.O_RDONLY), os.open("/run/netns/" + name, os.O_RDONLY)
    assert libc.setns(there, 0) == 0
    try:
        return make()
    finally:
        assert libc.setns(home, 0) == 0


class Place:
    """Where the internet's sockets are: loopback, or two namespaces joined by veth."""

    def __init__(self, a="", b="", address="127.0.0.1"):
        self.a, self.b, self.address = a, b, address
        self.family = socket.AF_INET6 if ":" in address else socket.AF_INET

    def receiver(self, rcvbuf=0, share=False, port=0):
        def make():
            s = socket.socket(self.family, socket.SOCK_DGRAM)
            if share:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            if rcvbuf:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
            # the kernel's own limit: a blocking call stays one call
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", PATIENCE_S, 0))
            s.bind((self.address, port))
            return s
        return in_netns(self.b, make)

    def sender(self, receiver):
        def make():
            s = socket.socket(self.family, socket.SOCK_DGRAM)
            s.connect(receiver.getsockname())
            return s
        s = in_netns(self.a, make)
        time.sleep(0.3)  # the tracer comes to know their namespaces
        return s

    def pair(self, rcvbuf=0):
        r = self.receiver(rcvbuf)
        return self.sender(r), r


def plain(place):
    s, r = place.pair()
    for burst in range(40):
        for i in range(1 + burst % 5):
            send(s, 8 * (1 + (burst + i) % 7))
        for i in range(1 + burst % 5):
            receive(r)


def cork(place):
    s, r = place.pair()
    for _ in range(20):
        for flags in (MORE, MORE, 0):
            send(s, 100, flags)
        send(s, 50)
        s.setsockopt(socket.IPPROTO_UDP, UDP_CORK, 1)
        send(s, 70)
        send(s, 30)
        s.setsockopt(socket.IPPROTO_UDP, UDP_CORK, 0)
        for _ in range(3):
            receive(r)


def segment(place):
    """Each call is several datagrams, each with a number of its own."""
    global number
    s, r = place.pair()
    s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 200)
    for last in (200, 80, 200, 8) * 5:
        data = b"".join(struct.pack("!Q", number + 1 + i) * 25 for i in range(6))[:1000 + last]
        begin = now()
        s.send(data)
        end = now()
        for i in range(6):
            number += 1
            of(s)["sent"].append([number, 200 if i < 5 else last, begin, end])
        for i in range(6):
            receive(r)


def cut(place):
    """Each call is more than the queue on the way lets pass at once: they wait there, several calls' at a time."""
    global number
    s, r = place.pair(rcvbuf=1 << 20)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 400)
    for _ in range(12):
        data = b"".join(struct.pack("!Q", number + 1 + i) * 50 for i in range(20))
        begin = now()
        s.send(data)
        end = now()
        of(s)["sent"] += [[number + 1 + i, 400, begin, end] for i in range(20)]
        number += 20
    for _ in range(240):
        receive(r)


def large(place):
    s, r = place.pair()
    for size in (4000, 9000, 100, 20000, 40000, 1473, 1472) * 3:
        send(s, size)
        receive(r)


def several(place):
    """sendmmsg() and recvmmsg(), three and more messages each."""
    global number
    s, r = place.pair()
    for count in (3, 1, 8, 5) * 5:
        out = [ctypes.create_string_buffer(struct.pack("!Q", number + 1 + i) * (i + 2)) for i in range(count)]
        back = [ctypes.create_string_buffer(2000) for _ in range(count)]
        for buffers, call, sock in ((out, libc.sendmmsg, s), (back, libc.recvmmsg, r)):
            vec = (Mmsghdr * count)()
            for i, b in enumerate(buffers):
                vec[i].hdr.iov = ctypes.pointer(Iovec(ctypes.addressof(b), len(b) - 1 if call is libc.sendmmsg else len(b)))
                vec[i].hdr.iovlen = 1
            begin = now()
            done = call(sock.fileno(), vec, count, 0, None) if call is libc.recvmmsg else \
                call(sock.fileno(), vec, count, 0)
            end = now()
            if call is libc.recvmmsg and done != count:
                raise BlockingIOError(f"{done} of {count} messages")
            assert done == count, (done, ctypes.get_errno())
            for i in range(count):
                if call is libc.sendmmsg:
                    number += 1
                    of(s)["sent"].append([number, vec[i].len, begin, end])
                else:
                    n = struct.unpack("!Q", back[i].raw[:8])[0]
                    of(r)["received"].append([n, vec[i].len, begin, end])


def full(place):
    """More than the receive buffer holds: what is dropped has no reader."""
    s, r = place.pair(rcvbuf=6000)
    r.setblocking(False)
    for _ in range(15):
        for _ in range(20):
            send(s, 600)
        try:
            while True:
                receive(r)
        except BlockingIOError:
            pass


def odd(place):
    """Looked at first, cut short, empty, or not there."""
    s, r = place.pair()
    for i in range(30):
        try:
            receive(r, flags=DONTWAIT)
        except BlockingIOError:
            pass
        send(s, 160)
        send(s, 0)
        send(s, 240)
        r.recv(100, PEEK)
        r.recv(1000, PEEK)
        receive(r)
        receive(r)
        r.recv(8, PEEK)
        receive(r, 16)


def late(place):
    """The reader is away 10 ms each time."""
    s, r = place.pair()
    for _ in range(20):
        send(s, 400)
        time.sleep(0.01)
        receive(r)


def waits(place):
    """The reader waits in the call, the sender sends every 3 ms."""
    s, r = place.pair()
    t = threading.Thread(target=lambda: [receive(r) for _ in range(50)])
    t.start()
    for _ in range(50):
        time.sleep(0.003)
        send(s, 300)
    t.join()


def busy(place):
    """
    Sent and read at once, by two processes, as fast as they can; what does not fit is dropped. That may be
    the short messages at the end, too, if the reader does not run for a while: they come until it has one.
    """
    s, r = place.pair(rcvbuf=20000)
    has_one, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(tell)
        log.clear()
        for i in range(3000):
            send(s, 8 * (4 + i % 50))
            if i % 100 == 99:
                time.sleep(0.002)
        while not select.select([has_one], [], [], 0.05)[0]:
            send(s, 16)
        out, name = [number, log], f"/tmp/numbered.{os.getpid()}"
        with open(name, "w") as f:
            json.dump(out, f)
        os._exit(0)
    while receive(r) and of(r)["received"][-1][1] != 16:
        pass
    os.close(tell)
    os.close(has_one)
    os.waitpid(child, 0)
    r.setblocking(False)
    try:
        while True:
            receive(r)
    except BlockingIOError:
        pass
    name = f"/tmp/numbered.{child}"
    with open(name) as f:
        globals()["number"], theirs = json.load(f)
    os.unlink(name)
    for sock, lists in theirs.items():
        log.setdefault(sock, {"sent": [], "received": []})["sent"] += lists["sent"]


def crowd(place):
    """Several threads send at once, each by its own UNIX socket; one reads."""
    lock = threading.Lock()
    path = f"/tmp/numbered.{os.getpid()}"
    r = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    r.bind(path)
    writers = []
    for _ in range(3):
        w = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        w.connect(path)
        writers.append(w)
    os.unlink(path)
    threads = [threading.Thread(target=lambda: [receive(r) for _ in range(600)])]
    threads += [threading.Thread(target=send_numbered, args=(w, lock)) for w in writers]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def send_numbered(s, lock):
    global number
    for _ in range(200):
        with lock:
            number += 1
            mine = number
        data = struct.pack("!Q", mine) * (1 + mine % 30)
        s.send(data)
        of(s)["sent"].append([mine, len(data), 0, 0])


def many(place):
    """Several senders to one, one sender to several."""
    r = place.receiver()
    senders = [place.sender(r) for _ in range(3)]
    for i in range(60):
        send(senders[i * i % 3], 64)
        if i % 4 == 3:
            for _ in range(4):
                receive(r)
    readers = [place.receiver() for _ in range(3)]
    for i in range(60):
        send_to = readers[i * i % 3]
        s = senders[0]
        data = numbered(72)
        begin = now()
        s.sendto(data, send_to.getsockname())
        of(s)["sent"].append([number, 72, begin, now()])
        receive(send_to)


def shared(place):
    """Two sockets at one port, and several senders: which one gets a sender's is the kernel's choice."""
    first = place.receiver(share=True)
    both = [first, place.receiver(share=True, port=first.getsockname()[1])]
    senders = [place.sender(first) for _ in range(6)]
    for i in range(60):
        send(senders[i % 6], 88 + 8 * (i % 3))
    for r in both:
        r.setblocking(False)
        try:
            while True:
                receive(r)
        except BlockingIOError:
            pass


def readers(place):
    """Two threads read what one sends, a burst at a time: each message has one reader."""
    s, r = place.pair()
    def read():
        mine = {"received": []}
        while receive(r, whose=mine) and mine["received"][-1][1] != 16:
            pass
        lists.append(mine["received"])
    lists = []
    threads = [threading.Thread(target=read) for _ in range(2)]
    for t in threads:
        t.start()
    for i in range(60):
        send(s, 96)
        if i % 3 == 2:
            time.sleep(0.004)
    for _ in range(2):
        time.sleep(0.02)
        send(s, 16)
    for t in threads:
        t.join()
    of(r)["received"] = sorted((m for l in lists for m in l), key=lambda m: m[3])
    of(r)["unordered"] = True


def paced(place):
    """Sent as fast as the program can; a queue on the way lets them pass one by one."""
    s, r = place.pair(rcvbuf=1 << 20)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    for _ in range(60):
        send(s, 1472)
    for _ in range(60):
        receive(r)


def unix_stream(place):
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    stream(a, b)
    path = f"/tmp/numbered.{os.getpid()}"
    l = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    l.bind(path)
    l.listen(1)
    c = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    c.connect(path)
    s, _ = l.accept()
    os.unlink(path)
    stream(c, s)
    stream(s, c)


def stream(a, b):
    """Written and read in other parts: all bytes in order."""
    at, got, sizes = 0, 0, (100, 7, 4000, 1, 60, 90000, 13)
    of(a)["stream"] = of(b)["stream"] = True
    b.setblocking(True)
    for i in range(35):
        size = sizes[i % 7]
        a.sendall(b"x" * size)
        of(a)["sent"].append([at, size, 0, 0])
        at += size
        while at - got > 50 * (i % 3):
            data = b.recv(min(at - got, (10, 3000, 65536, 120)[i % 4]), PEEK) if i % 5 == 0 else b""
            data = b.recv((10, 3000, 65536, 120)[i % 4])
            of(b)["received"].append([got, len(data), 0, 0])
            got += len(data)


def early(place):
    """Written as soon as it is connected, before it is accepted; and more afterwards."""
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        path = f"/tmp/numbered.{os.getpid()}"
        l, c = socket.socket(socket.AF_UNIX, kind), socket.socket(socket.AF_UNIX, kind)
        l.bind(path)
        l.listen(1)
        c.connect(path)
        os.unlink(path)
        if kind == socket.SOCK_SEQPACKET:
            for size in (80, 4000, 8):
                send(c, size)
            s, _ = l.accept()
            send(c, 16)
            for _ in range(4):
                receive(s)
            continue
        of(c)["stream"], at, got = True, 0, 0
        for size in (100, 70000, 3, 500):
            if size == 500:
                s, _ = l.accept()
                of(s)["stream"] = True
            c.sendall(b"x" * size)
            of(c)["sent"].append([at, size, 0, 0])
            at += size
        while got < at:
            data = s.recv(9000)
            of(s)["received"].append([got, len(data), 0, 0])
            got += len(data)


def unix_dgram(place):
    for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        a, b = socket.socketpair(socket.AF_UNIX, kind)
        for burst in range(20):
            for i in range(1 + burst % 4):
                send(a, 8 * (1 + (burst + i) % 9))
            b.recv(100, PEEK)
            for i in range(1 + burst % 4):
                receive(b)
    path = f"/tmp/numbered.{os.getpid()}"
    r = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    r.bind(path)
    writers = [socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(3)]
    for i in range(60):
        send(writers[i * i % 3], 64, to=path)
        if i % 4 == 3:
            for _ in range(4):
                receive(r)
    os.unlink(path)


def passed(place):
    """A descriptor that is dup'ed, inherited, sent to another process, and used again by another."""
    s, r = place.pair()
    d = s.dup()
    for i in range(20):
        send((s, d)[i % 2], 80)
        receive(r)
    fd = d.fileno()
    d.close()
    again, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    if again.fileno() != fd:
        os.dup2(again.fileno(), fd)
        again = socket.socket(fileno=fd)
    for i in range(10):
        send(again, 88)
        receive(other)
    way, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    back, told = os.pipe()
    child = os.fork()
    if child == 0:
        log.clear()
        r.close()
        for i in range(10):
            send(s, 96)
        _, fds, _, _ = socket.recv_fds(end, 8, 1)
        mine = socket.socket(fileno=fds[0])
        for i in range(10):
            receive(mine)
        os.write(told, json.dumps([number, log]).encode())
        os._exit(0)
    of(way), of(end)
    socket.send_fds(way, [b"take it"], [r.fileno()])
    _, status = os.waitpid(child, 0)
    if status:  # it has said why
        os._exit(os.waitstatus_to_exitcode(status) & 255)
    globals()["number"], theirs = json.loads(os.read(back, 1 << 20))
    for sock, lists in theirs.items():
        for what in lists:
            log.setdefault(sock, {"sent": [], "received": []})[what] += lists[what]
    del log[str(os.fstat(way.fileno()).st_ino)], log[str(os.fstat(end.fileno()).st_ino)]
    for i in range(10):
        send(s, 104)
        receive(r)


if __name__ == "__main__":
    for case in sys.argv[1].split(","):
        globals()[case](Place(*sys.argv[2:]))
    print(json.dumps(log))
