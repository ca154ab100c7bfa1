# SPDX-License-Identifier: MIT
"""
dropping.py SPEC: packets that the kernel throws away, each kind between sockets of its own. What the
kernel's counters have of each is printed as JSON: {kind: {counter: difference}}.
"""
import json
import os
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from counters import counters
from topology import ETHTOOL_SRXCSUM, enter, ethtool
from workload import family

SIZE = 700
# the sender's port; a receiver has the same plus 100
RCVBUF, QUEUE, RULE, CLOSED, CLOSED_HERE, TTL, CHECKSUM, CLOSED_TCP = range(5301, 5309)


def udp(spec, end, port, receive_buffer=None):
    enter(spec[end])
    s = socket.socket(family(spec), socket.SOCK_DGRAM)
    if receive_buffer:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    s.bind((spec["address"][end], port))
    return s


def send(s, to, n):
    for _ in range(n):
        try:
            s.sendto(b"x" * SIZE, to)
        except OSError:  # refused by a rule, or the answer to the one before
            pass


def to_b(spec, port):
    return spec["address"]["b"], port


def rcvbuf(spec):
    r, s = udp(spec, "b", RCVBUF + 100, 4096), udp(spec, "a", RCVBUF)
    send(s, r.getsockname(), 30)


def queue(spec):
    s = udp(spec, "a", QUEUE)
    r = udp(spec, "b", QUEUE + 100)
    enter(spec["a"])
    device = spec["devices"][spec["a"]][0]
    tc = ["tc", "qdisc", "replace", "dev", device, "root"]
    subprocess.run([*tc, "tbf", "rate", "10mbit", "burst", "2000", "limit", "3000"], check=True)
    before = counters(spec["a"], [device])[f"qdisc:{device}:drops"]
    send(s, r.getsockname(), 20)
    time.sleep(0.1)
    after = counters(spec["a"], [device])[f"qdisc:{device}:drops"]
    subprocess.run([*tc, "pfifo", "limit", "10000"], check=True)
    return {"qdisc drops": after - before}


def rule(spec):
    r, s = udp(spec, "b", RULE + 100), udp(spec, "a", RULE)
    send(s, r.getsockname(), 7)


def closed(spec):
    send(udp(spec, "a", CLOSED), to_b(spec, CLOSED + 100), 5)


def closed_here(spec):
    send(udp(spec, "a", CLOSED_HERE), (spec["address"]["a"], CLOSED_HERE + 100), 4)


def ttl(spec):
    s, r = udp(spec, "a", TTL), udp(spec, "b", TTL + 100)
    if spec["v6"]:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 1)
    else:
        s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 1)
    send(s, r.getsockname(), 6)


def checksum(spec):
    """A raw socket's UDP header is taken as it is."""
    r = udp(spec, "b", CHECKSUM + 100)
    ethtool(r, spec["b"], ETHTOOL_SRXCSUM, 0)  # veth would believe it
    enter(spec["a"])
    s = socket.socket(family(spec), socket.SOCK_RAW, socket.IPPROTO_UDP)
    for _ in range(3):
        s.sendto(struct.pack("!HHHH", CHECKSUM, CHECKSUM + 100, 8 + 100, 1) + b"c" * 100,
                 (spec["address"]["b"], 0))
    r.settimeout(0.2)
    try:
        r.recv(1000)
    except TimeoutError:  # reading tells that it is wrong
        pass


def closed_tcp(spec):
    enter(spec["a"])
    s = socket.socket(family(spec))
    s.bind((spec["address"]["a"], CLOSED_TCP))
    try:
        s.connect(to_b(spec, CLOSED_TCP + 100))
    except ConnectionRefusedError:
        pass


KINDS = (rcvbuf, queue, rule, closed, closed_here, ttl, checksum, closed_tcp)

if __name__ == "__main__":
    with open(sys.argv[1]) as f:
        SPEC = json.load(f)
    said = {}
    for kind in KINDS:
        ends = {end: SPEC[end] for end in ("a", "m", "b")}
        old = {end: counters(ns, ()) for end, ns in ends.items()}
        more = kind(SPEC)
        time.sleep(0.02)
        said[kind.__name__] = more or {}
        for end, ns in ends.items():
            said[kind.__name__].update(
                {f"{end}:{k}": v - old[end].get(k, 0) for k, v in counters(ns, ()).items()})
    print(json.dumps(said))
