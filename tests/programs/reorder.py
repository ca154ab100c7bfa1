# SPDX-License-Identifier: MIT
"""
reorder.py NS_A ADDRESS_A NS_B ADDRESS_B EVERY DELAY_MS TWICE: the only way between two network
namespaces, a TUN device in each. Of the large packets from A every EVERY-th is held back for DELAY_MS,
and every TWICE-th is delivered twice (0: none). Prints "ready"; ends when its input does, and then
prints JSON: [[sequence number, bytes, [when it was delivered, ...]], ...] of A's segments.
"""
import ctypes
import fcntl
import heapq
import json
import os
import select
import struct
import subprocess
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454ca, 1, 0x1000


def tun(ns, address):
    with open(f"/run/netns/{ns}") as f:
        if LIBC.setns(f.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), ns)
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", b"mgtun", IFF_TUN | IFF_NO_PI))
    for args in (("addr", "add", address + "/24", "dev", "mgtun"), ("link", "set", "mgtun", "up"),
                 ("link", "set", "lo", "up")):
        subprocess.run(["ip", *args], check=True)
    return fd


def segment(packet):
    """(sequence number, payload) of TCP over IPv4."""
    ip = (packet[0] & 15) * 4
    if packet[0] >> 4 != 4 or packet[9] != 6:
        return 0, 0
    return (struct.unpack_from("!I", packet, ip + 4)[0],
            struct.unpack_from("!H", packet, 2)[0] - ip - (packet[ip + 12] >> 4) * 4)


a = tun(sys.argv[1], sys.argv[2])
b = tun(sys.argv[3], sys.argv[4])
every, delay, twice = int(sys.argv[5]), float(sys.argv[6]) / 1000, int(sys.argv[7])
held, delivered, large = [], {}, 0
print("ready", flush=True)


def deliver(packet):
    seq, size = segment(packet)
    now = time.monotonic_ns()
    os.write(b, packet)
    if size:
        delivered.setdefault((seq, size), []).append(now)


while True:
    wait = max(held[0][0] - time.monotonic(), 0) if held else None
    ready, _, _ = select.select([0, a, b], [], [], wait)
    while held and held[0][0] <= time.monotonic():
        deliver(heapq.heappop(held)[2])
    if b in ready:
        os.write(a, os.read(b, 65536))
    if a in ready:
        packet = os.read(a, 65536)
        large += len(packet) > 500
        if len(packet) > 500 and every and large % every == 0:
            heapq.heappush(held, (time.monotonic() + delay, large, packet))
        else:
            deliver(packet)
            if len(packet) > 500 and twice and large % twice == 0:
                deliver(packet)
    if 0 in ready and not os.read(0, 100):
        break
print(json.dumps([[seq, size, times] for (seq, size), times in delivered.items()]))
