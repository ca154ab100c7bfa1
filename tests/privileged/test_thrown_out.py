# SPDX-License-Identifier: MIT
"""
The tables of requests to connect and of fragmented datagrams throw out their oldest entries where they are full.
What arrives for one of those is not recorded: it is counted as lost, each event, at each layer.
"""
import os
import socket
import struct
import sys
import time
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import *

HERE, FRAGMENTS, REQUESTS, ENDS = "10.97.0.1", 9000, 40000, 2000
SERVER = f"""
import socket, sys
l, u = socket.create_server(({HERE!r}, 0), backlog=100), socket.socket(type=socket.SOCK_DGRAM)
u.bind(({HERE!r}, 0))
print(l.getsockname()[1], u.getsockname()[1], flush=True)
sys.stdin.readline()
"""


def checksum(data):
    n = sum(struct.unpack(f">{len(data) // 2}H", data))
    while n >> 16:
        n = (n & 0xffff) + (n >> 16)
    return ~n & 0xffff


class Packets:
    """Sends to this host, from any source."""

    def __init__(self):
        self.s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)

    def send(self, source, proto, what, ident=7, offset=0):
        self.s.sendto(struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(what), ident, offset, 64, proto, 0, source,
                                  socket.inet_aton(HERE)) + what, (HERE, 0))

    def segment(self, source, sport, dport, flags, data=b""):
        tcp = struct.pack(">HHIIBBHHH", sport, dport, 1000, 2000, 0x50, flags, 9, 0, 0) + data
        sum_ = checksum(source + socket.inet_aton(HERE) + struct.pack(">BBH", 0, 6, len(tcp)) + tcp + b"\0" * (len(tcp) & 1))
        self.send(source, 6, tcp[:16] + struct.pack(">H", sum_) + tcp[18:])


def record(layers, traffic):
    """Returns what was recorded while `traffic` went to a server's two ports, and how many events were lost."""
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        server = subprocess.Popen([TRACER, "-o", top + "/t", "--layers", layers, "--buffer", "64M", "--", PYTHON, "-c",
                                   SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
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


need_kernel_side()
need_program("babeltrace2")
run("ip", "addr", "add", HERE + "/32", "dev", "lo")
run("ip", "route", "add", "10.98.0.0/16", "dev", "lo")  # answers to made-up sources come back, and nobody has them
fragments()
requests()
