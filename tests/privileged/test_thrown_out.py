# SPDX-License-Identifier: MIT
"""
The tables of requests to connect, of fragmented datagrams and of what passes other namespaces throw out their
oldest entries where they are full. What arrives for one of those is not recorded: it is counted as lost, each event,
at each layer.
"""
import os
import socket
import struct
import sys
import time
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from topology import CLONE_NEWNET, LIBC, Topology, enter
from tracer import *

HERE, FRAGMENTS, REQUESTS, WAYS, ENDS = "10.97.0.1", 9000, 40000, 45000, 2000
SERVER = f"""
import socket, sys
l, u = socket.create_server(({HERE!r}, 0), backlog=100), socket.socket(type=socket.SOCK_DGRAM)
u.bind(({HERE!r}, 0))
print(l.getsockname()[1], u.getsockname()[1], flush=True)
sys.stdin.readline()
"""
# Sends to so many addresses, each of which is a way through another namespace, and takes what comes back.
CLIENT = f"""
import socket, sys
u = socket.socket(type=socket.SOCK_DGRAM)
for i in range({WAYS}):
    u.sendto(b"x", (f"10.99.{{i >> 8}}.{{i & 255}}", 9))
print(u.getsockname()[1], flush=True)
sys.stdin.readline()
"""


def checksum(data):
    n = sum(struct.unpack(f">{len(data) // 2}H", data))
    while n >> 16:
        n = (n & 0xffff) + (n >> 16)
    return ~n & 0xffff


class Packets:
    """Sends to a host, from any source."""

    def __init__(self, to=HERE):
        self.to = to
        self.s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)

    def send(self, source, proto, what, ident=7, offset=0):
        self.s.sendto(struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(what), ident, offset, 64, proto, 0, source,
                                  socket.inet_aton(self.to)) + what, (self.to, 0))

    def segment(self, source, sport, dport, flags, data=b""):
        tcp = struct.pack(">HHIIBBHHH", sport, dport, 1000, 2000, 0x50, flags, 9, 0, 0) + data
        sum_ = checksum(source + socket.inet_aton(HERE) + struct.pack(">BBH", 0, 6, len(tcp)) + tcp + b"\0" * (len(tcp) & 1))
        self.send(source, 6, tcp[:16] + struct.pack(">H", sum_) + tcp[18:])


def record(layers, traffic, command=(PYTHON, "-c", SERVER)):
    """Returns what was recorded while `traffic` went to a program's ports, and how many events were lost."""
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        server = subprocess.Popen([TRACER, "-o", top + "/t", "--layers", layers, "--buffer", "64M", "--", *command],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            traffic(*map(int, server.stdout.readline().split()))
            server.communicate("\n", timeout=60 * SLOWER)
        finally:
            stop(server)
        found = list(events(top + "/t"))
    return found, sum(int(f.split("count = ")[1].split(",")[0]) for name, _, f in found if name == "lost")


def field(f, name):
    return int(f.split(f" {name} = ")[1].split(",")[0].split(" ")[0])


def fragments():
    def traffic(_, port):
        p = Packets()
        for i in range(FRAGMENTS):  # the first of each
            p.send(b"\x0a\x61\0\2", 17, struct.pack(">HHHH", 9, port, 24, 0) + b"x" * 8, i, 0x2000)
        for i in range(FRAGMENTS):
            p.send(b"\x0a\x61\0\2", 17, b"y" * 8, i, 2)
    found, lost = record("device", traffic)
    # first or other, by whether more follow
    parts = [1 if field(f, "frag") == 0x2000 else 2 for name, _, f in found
             if name == "dev_recv" and field(f, "frag")]
    check(parts.count(1) == FRAGMENTS, f"the first fragments of {parts.count(1)} datagrams are seen")
    # keys that share their slots with others are not remembered
    check(lost > 1000 and 0 <= FRAGMENTS - parts.count(2) - lost < FRAGMENTS / 500,
          f"and the others of {parts.count(2)}; {lost} events are lost")


def requests():
    def source(i):
        return b"\x0a\x62" + struct.pack(">H", i)
    def traffic(port, _):
        p = Packets()
        for i in range(REQUESTS):
            p.segment(source(i), 1000 + i % 7, port, 2)
        for i in (*range(ENDS), *range(REQUESTS - ENDS, REQUESTS)):
            p.segment(source(i), 1000 + i % 7, port, 0x18, b"x")
    found, lost = record("ip,device", traffic)
    seen = Counter(name for name, _, f in found if name in ("dev_recv", "ip_in") and field(f, "len") == 1)
    check(seen["dev_recv"] == seen["ip_in"] >= ENDS, f"of {2 * ENDS} segments {dict(seen)} are seen")
    missing = 2 * (2 * ENDS - seen["ip_in"])
    check(0 < missing * 0.99 <= lost <= 3 * missing,
          f"{missing} are missing, {lost} are told (with the drops of such segments)")


def ways():
    """Answers pass a router, who knows them by what they answer."""
    def traffic(port):
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        enter(net.b)
        p = Packets(net.address(net.a, False))
        LIBC.setns(home, CLONE_NEWNET)
        os.close(home)
        for i in (*range(ENDS), *range(WAYS - ENDS, WAYS)):
            p.send(struct.pack(">BBH", 10, 99, i), 17, struct.pack(">HHHH", 9, port, 9, 0) + b"y")
    with Topology("routed") as net:
        net.ip(net.m, "route", "add", "10.99.0.0/16", "via", net.address(net.b, False))
        net.ip(net.b, "route", "add", "blackhole", "10.99.0.0/16")
        found, lost = record("device", traffic, net.inside(net.a, PYTHON, "-c", CLIENT))
    sent = Counter(name for name, _, f in found if name.startswith("dev_") and "to_socket" not in f and "from_socket" not in f)
    seen = Counter(name for name, _, f in found if "to_socket" in f)
    check(sent["dev_xmit"] == WAYS and sent["dev_recv"] == 2 * ENDS, f"the ends have all datagrams: {sent}")
    missing = sum(2 * ENDS - seen[name] for name in ("dev_recv", "dev_queue", "dev_xmit", "dev_done"))
    check(ENDS <= seen["dev_recv"] < 2 * ENDS, f"of {2 * ENDS} answers on their way {seen} are seen")
    # keys that share their slots with others are not remembered; of those here there are two to each way
    check(0 < missing * 0.97 <= lost <= missing, f"{missing} are missing, {lost} are told")


need_kernel_side()
need_program("babeltrace2")
run("ip", "addr", "add", HERE + "/32", "dev", "lo")
run("ip", "route", "add", "10.98.0.0/16", "dev", "lo")  # answers to made-up sources come back, and nobody has them
fragments()
requests()
ways()
