# SPDX-License-Identifier: MIT
"""
Later hooks of a segment take over what the first has recorded of it. With a filter for an interface each hook
looks the socket up and parses the segment by itself: both ways record the same, on each way between two ends.
"""
import os
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from topology import *

TRIPS = 60
# Each message waits for its answer, so that it is a segment of its own, or the same few.
TALK = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
server = socket.create_server((sys.argv[1], 0), family=family)
c = socket.create_connection(server.getsockname()[:2])
a, _ = server.accept()
for s in (c, a):
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for n in range(%d):
    for s, r in ((c, a), (a, c)):
        left = 100 + n * 997
        s.sendall(bytes(left))
        while left:
            left -= len(r.recv(left))
""" % TRIPS
EVENTS = ("ip_out", "nf_out_end", "nf_post_begin", "ip_post", "dev_queue", "dev_xmit", "dev_done", "dev_recv",
          "ip_recv", "nf_pre_end", "nf_in_begin", "ip_in")
# numbers that differ from run to run
VARIES = ("sock", "seq", "ack", "context")


def lines_of(net, v6, options):
    command = net.inside(net.a, PYTHON, "-c", TALK, net.address(net.a, v6))
    with undisturbed(lambda: Recording(*command, options=("-q", "--kernel-only", "--layers", "+netfilter",
                                                          *(o.format(lo="lo") for o in options)))) as rec:
        return run(MAGNET, "show", "--tsv", rec.dir).stdout.splitlines()[1:]


def recorded(place, v6, *options, tries=5):
    """Returns how often each hook has recorded each kind of segment with data."""
    with Topology(place, v6) as net:
        for _ in range(tries):
            lines = lines_of(net, v6, options)
            if not any(line.split("\t")[5] == "tcp_retransmit" for line in lines):
                break  # else the machine stood still, and TCP has sent a segment twice
    kinds = Counter()
    for line in lines:
        event, fields = line.split("\t")[5], line.split("\t")[9]
        fields = dict(f.split("=", 1) for f in fields.split() if "=" in f)
        if event in EVENTS and int(fields.get("len", 0)):
            kinds[event, tuple(sorted((k, v) for k, v in fields.items() if k not in VARIES))] += 1
    return kinds


need_kernel_side()
for v6 in (False, True):
    short, alone = recorded("loopback", v6), recorded("loopback", v6, "--interface", "{lo}")
    hooks = Counter()
    for (event, _), n in short.items():
        hooks[event] += n
    check(set(hooks) == set(EVENTS), f"all hooks have seen segments: {dict(hooks)}")
    check(min(hooks.values()) >= 2 * TRIPS, "each of them each message")
    check(short == alone, f"IPv{6 if v6 else 4}: with and without what hooks take over from each other the "
          f"same is recorded; differences: {list((short - alone).items())[:3]} {list((alone - short).items())[:3]}")
