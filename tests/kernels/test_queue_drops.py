# SPDX-License-Identifier: MIT
"""Packets that a queue has no room for are recorded as dropped, wherever the kernel is loaded."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from fixture import *

SENDER = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
s.connect((sys.argv[1], 5280))
for _ in range(60):
    try:
        s.send(b"x" * 700)
    except OSError: # the queue is full, or the answer to one before
        pass
"""

need_kernel_side()
need_program("tc")
with Network() as n:
    run("tc", "-n", n.a, "qdisc", "add", "dev", n.a, "root", "tbf", "rate", "100kbit", "burst",
        "2000", "limit", "4000")
    with Recording(*n.inside(n.a, PYTHON, "-c", SENDER, n.B), options=("--kernel-only",)) as rec:
        told = sum(d["n"] for f in rec.report()["flows"] if f["direction"] == "tx"
                   for d in f["drops"] if d["layer"] == "qdisc" or
                   d["location"] == "kfree_skb_list")  # all that older kernels tell
        counted = json.loads(run("tc", "-n", n.a, "-s", "-j", "qdisc", "show", "dev", n.a).stdout)[0]["drops"]
        check(20 < told <= counted, f"{told} drops are told of {counted}")
