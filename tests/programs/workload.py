# SPDX-License-Identifier: MIT
"""
workload.py SPEC: both ends of many small exchanges, one kind after the other. Everybody counts for
itself; between two kinds the kernel's counters of each namespace are read. What was counted is printed
as JSON. SPEC is a JSON object: a, b, m (namespaces), address (of a and b), v6, devices, phases.
"""
import ctypes
import json
import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from counters import counters
from tcp_info import tcp_info
from topology import LIBC, enter

PORT = 5200
SOL_UDP, UDP_SEGMENT, MSG_MORE, ICMP6_FILTER = 17, 103, 0x8000, 1


class Counted:
    """A socket that counts its calls and bytes."""

    def __init__(self, s, count):
        self.s, self.count = s, count

    def _add(self, what, size):
        self.count[what + "_calls"] = self.count.get(what + "_calls", 0) + 1
        self.count[what + "_bytes"] = self.count.get(what + "_bytes", 0) + size

    def send(self, data, flags=0, to=None):
        n = self.s.sendto(data, flags, to) if to else self.s.send(data, flags)
        self._add("sent", n)

    def sendmsg(self, data, ancillary, to):
        self._add("sent", self.s.sendmsg([data], ancillary, 0, to))

    def sendmmsg(self, parts):
        """struct mmsghdr: a struct msghdr of 56 bytes, the length sent, padding."""
        buffers = [ctypes.create_string_buffer(p, len(p) or 1) for p in parts]
        vectors = [ctypes.create_string_buffer(struct.pack("PN", ctypes.addressof(b), len(p)))
                   for b, p in zip(buffers, parts)]
        heads = b"".join(struct.pack("PIxxxxPNPNixxxxIxxxx", 0, 0, ctypes.addressof(v), 1, 0, 0, 0, 0)
                         for v in vectors)
        if LIBC.sendmmsg(self.s.fileno(), heads, len(parts), 0) != len(parts):
            raise OSError("sendmmsg")
        self._add("sent", sum(map(len, parts)))
        self.count["sent_messages"] = self.count.get("sent_messages", 0) + len(parts) - 1

    def recv(self):
        data, sender = self.s.recvfrom(70000)
        self._add("received", len(data))
        return data, sender


def family(spec):
    return socket.AF_INET6 if spec["v6"] else socket.AF_INET


def icmp(spec):
    return socket.IPPROTO_ICMPV6 if spec["v6"] else socket.IPPROTO_ICMP


def udp_socket(spec, count, bind=None):
    s = socket.socket(family(spec), socket.SOCK_DGRAM)
    s.settimeout(10)
    if bind:
        s.bind(bind)
    return Counted(s, count)


# ---- TCP: two connections by two processes ----

ANSWER = 1000


def tcp_server(spec, count, ready):
    listener = socket.create_server((spec["address"]["b"], PORT), family=family(spec))
    ready()
    count["tcp_info"], open_ones = [], []
    for _ in range(2):
        s, _ = listener.accept()
        s = Counted(s, count)
        s.recv()
        s.send(b"y" * ANSWER)
        while s.recv()[0]:
            pass
        s.s.shutdown(socket.SHUT_WR)
        open_ones.append(s.s)
    time.sleep(0.05)  # the last acknowledgements
    count["tcp_info"] = [tcp_info(s) for s in open_ones]


def tcp_client(spec, count, ready, nth):
    ready()
    s = Counted(socket.create_connection((spec["address"]["b"], PORT)), count)
    s.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for size in (1, 100, 1448, 5000, 30000, 60000) if nth == 0 else (700,) * 10:
        data = b"x" * size
        while data:
            before = count.get("sent_bytes", 0)
            s.send(data)
            data = data[count["sent_bytes"] - before:]
    while count.get("received_bytes", 0) < ANSWER:
        s.recv()
    s.s.shutdown(socket.SHUT_WR)
    while s.recv()[0]:
        pass
    time.sleep(0.05)
    count["tcp_info"] = [tcp_info(s.s)]


# ---- UDP ----

SIZES = (0, 1, 100, 1000, 1400)
LARGE = (4000, 20000)
AT_ONCE = (10, 20, 30, 0, 50)


def udp_server(spec, count, ready):
    a, b = spec["address"]["a"], spec["address"]["b"]
    bound = udp_socket(spec, count, (b, PORT))
    anywhere = udp_socket(spec, count, ("", PORT + 1))
    connected = udp_socket(spec, count, (b, PORT + 2))
    connected.s.connect((a, PORT + 3))
    ready()
    for _ in range(len(SIZES) + 8):  # two clients
        sender = bound.recv()[1]
        bound.send(b"answer", 0, sender)
    for _ in range(len(AT_ONCE) + 1 + 6 + len(LARGE)):
        anywhere.recv()
    connected.recv()
    connected.send(b"z" * 300)


def udp_client(spec, count, ready, nth):
    a, b = spec["address"]["a"], spec["address"]["b"]
    ready()
    if nth == 1:  # another process to the same socket, from a socket not bound or connected
        s = udp_socket(spec, count)
        for _ in range(8):
            s.send(b"x" * 64, 0, (b, PORT))
            s.recv()
        return
    s = udp_socket(spec, count)
    for size in SIZES:
        s.send(b"x" * size, 0, (b, PORT))
        s.recv()
    c = udp_socket(spec, count)
    c.s.connect((b, PORT + 1))
    c.sendmmsg([b"m" * n for n in AT_ONCE])
    for size in (100, 200):  # corked: one datagram of 600 bytes
        c.send(b"c" * size, MSG_MORE)
    c.send(b"c" * 300)
    c.sendmsg(b"g" * 2800, [(SOL_UDP, UDP_SEGMENT, struct.pack("H", 500))], None)
    for size in LARGE:
        c.send(b"f" * size)
    d = udp_socket(spec, count, (a, PORT + 3))
    d.s.connect((b, PORT + 2))
    d.send(b"p" * 500)
    d.recv()


# ---- ICMP echo: raw sockets, and sockets of type datagram ----

ECHOES = (0, 56, 1400, 3000)


def echo(spec, number, size, ident=0x4d47):
    kind = 128 if spec["v6"] else 8
    body = struct.pack("!HH", ident, number) + b"e" * size
    head = struct.pack("!BBH", kind, 0, 0)
    if spec["v6"]:
        return head + body  # the kernel sums
    data = head + body + b"\0" * (len(body) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    total = (total & 0xffff) + (total >> 16)
    return struct.pack("!BBH", kind, 0, ~total & 0xffff) + body


def raw_client(spec, count, ready, nth):
    ready()
    s = Counted(socket.socket(family(spec), socket.SOCK_RAW, icmp(spec)), count)
    s.s.settimeout(10)
    for n, size in enumerate(ECHOES):
        s.send(echo(spec, n, size), 0, (spec["address"]["b"], 0))
        for _ in range(2 if spec["a"] == spec["b"] else 1):  # also its own request
            s.recv()


def ping_client(spec, count, ready, nth):
    ready()
    s = Counted(socket.socket(family(spec), socket.SOCK_DGRAM, icmp(spec)), count)
    s.s.settimeout(10)
    for n, size in enumerate(ECHOES):
        s.send(echo(spec, n, size), 0, (spec["address"]["b"], 0))
        s.recv()


# ---- UNIX ----

def unix_stream(spec, count, ready, nth):
    ready()
    a, b = (Counted(s, count) for s in socket.socketpair())
    for size in (1, 1000, 30000):
        a.send(b"u" * size)
        left = size
        while left:
            left -= len(b.recv()[0])


def unix_listener(spec, count, ready):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(spec["unix"])
    listener.listen()
    ready()
    s = Counted(listener.accept()[0], count)
    s.send(b"hello")
    while s.recv()[0]:
        pass
    s.send(b"answer")


def unix_caller(spec, count, ready, nth):
    ready()
    s = Counted(socket.socket(socket.AF_UNIX), count)
    s.s.connect(spec["unix"])
    s.recv()
    for size in (10, 500, 0x8000):
        s.send(b"u" * size)
    s.s.shutdown(socket.SHUT_WR)
    s.recv()


def unix_dgram(spec, count, ready, nth):
    ready()
    a, b = (Counted(s, count) for s in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
    for size in (0, 1, 1000, 30000):
        a.send(b"u" * size)
        b.recv()


def unix_bound(spec, count, ready):
    s = Counted(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), count)
    s.s.bind(spec["unix"] + "d")
    ready()
    for _ in range(3):
        s.recv()


def unix_sender(spec, count, ready, nth):
    ready()
    s = Counted(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), count)
    for size in (5, 600, 7000):
        s.send(b"u" * size, 0, spec["unix"] + "d")


# phase: (function at b or None, function at a, how many processes at a)
PHASES = {
    "tcp": (tcp_server, tcp_client, 2),
    "udp": (udp_server, udp_client, 2),
    "raw": (None, raw_client, 1),
    "ping": (None, ping_client, 1),
    "unix_stream": (None, unix_stream, 1),
    "unix_stream listener": (unix_listener, unix_caller, 1),
    "unix_dgram": (None, unix_dgram, 1),
    "unix_dgram bound": (unix_bound, unix_sender, 1),
}


class Child:
    """A function in a process and namespace of its own; what it counts comes through a pipe."""

    def __init__(self, function, ns, spec, *args):
        self.read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                if ns:
                    enter(ns)
                count = {}
                function(spec, count, lambda: os.write(write, b"\n"), *args)
                os.write(write, json.dumps(count).encode())
            except BaseException as e:
                os.write(2, f"{function.__name__}: {e!r}\n".encode())
                os._exit(1)
            os._exit(0)
        os.close(write)
        if not os.read(self.read, 1):
            sys.exit("a part of the workload has failed")

    def result(self):
        with open(self.read) as f:
            said = f.read()
        if os.waitpid(self.pid, 0)[1]:
            sys.exit("a part of the workload has failed")
        return json.loads(said)


def snapshot(spec):
    return {ns: counters(ns, devices) for ns, devices in spec["devices"].items()}


def phase(spec, name):
    server, client, processes = PHASES[name]
    before = snapshot(spec)
    begin, begin_ns = time.time_ns(), time.monotonic_ns()
    b = [Child(server, spec["b"], spec)] if server else []
    a = [Child(client, spec["a"], spec, n) for n in range(processes)]
    counted = {"a": [c.result() for c in a], "b": [c.result() for c in b]}
    time.sleep(0.02)
    after = snapshot(spec)
    return {"name": name, "counted": counted, "real_ns": [begin, time.time_ns()],
            "mono_ns": [begin_ns, time.monotonic_ns()],
            "counters": {ns: {k: v - before[ns].get(k, 0) for k, v in now.items()}
                         for ns, now in after.items()}}


if __name__ == "__main__":
    with open(sys.argv[1]) as f:
        SPEC = json.load(f)
    print(json.dumps([phase(SPEC, name) for name in SPEC["phases"]]))
