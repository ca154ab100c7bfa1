# SPDX-License-Identifier: MIT
"""A second way between the ends of a Network, on which each packet takes a known time: two tun devices and a forwarder."""
import collections
import fcntl
import os
import select
import socket
import struct
import subprocess
import sys
import time

from fixture import PYTHON, run, skip, stop
from topology import enter

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454ca, 1, 0x1000


class Delay:
    """10.78.0.1 at the network's a, 10.78.0.2 at its b, `seconds` apart each way."""

    A, B, DEVICE = "10.78.0.1", "10.78.0.2", "delayed"

    def __init__(self, net, seconds, drops="nothing"):
        """`drops`, of what b sends: nothing, the first copy of all "segments" with data, or "acks" without."""
        self.net, self.seconds, self.drops, self.forwarder = net, seconds, drops, None

    def __enter__(self):
        self.forwarder = subprocess.Popen([PYTHON, __file__, self.net.a, self.net.b, str(self.seconds), self.drops],
                                          stdout=subprocess.PIPE, text=True)
        if self.forwarder.stdout.readline() != "ready\n":
            self.__exit__()
            skip("no tun device can be made")
        for ns, address in ((self.net.a, self.A), (self.net.b, self.B)):
            run("ip", "-n", ns, "addr", "add", address + "/24", "dev", self.DEVICE)
            run("ip", "-n", ns, "link", "set", self.DEVICE, "up")
        return self

    def __exit__(self, *unused):
        stop(self.forwarder)


def tun(ns):
    enter(ns)
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", Delay.DEVICE.encode(), IFF_TUN | IFF_NO_PI))
    return fd


def is_dropped(packet, drops, seen):
    """Whether to drop a packet from b; `seen` has the segments that were there before."""
    if drops == "nothing" or packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP:
        return False
    tcp = (packet[0] & 15) * 4
    ends_and_number, flags = packet[tcp:tcp + 8], packet[tcp + 13]
    payload = len(packet) - tcp - (packet[tcp + 12] >> 4) * 4
    if drops == "acks":
        return payload == 0 and not flags & 7  # FIN, SYN, RST
    if payload == 0 or ends_and_number in seen:
        return False
    seen.add(ends_and_number)
    return True


def forward(a, b, seconds, drops):
    a, b = tun(a), tun(b)
    print("ready", flush=True)
    other, due, seen = {a: b, b: a}, collections.deque(), set()
    while True:
        wait = max(due[0][0] - time.monotonic(), 0) if due else None
        for fd in select.select((a, b), (), (), wait)[0]:
            try:
                packet = os.read(fd, 65536)
                if fd == a or not is_dropped(packet, drops, seen):
                    due.append((time.monotonic() + seconds, other[fd], packet))
            except BlockingIOError:
                pass
        while due and due[0][0] <= time.monotonic():
            _, fd, packet = due.popleft()
            try:
                os.write(fd, packet)
            except OSError: # that end is going away
                pass


if __name__ == "__main__":
    forward(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4])
