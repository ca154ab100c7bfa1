# SPDX-License-Identifier: MIT
"""
Segments behind IPv6 extension headers, and those that tc sends through ifb on their way in: each is at
every layer of its connection, once.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from topology import Topology

SIZE = 40_000
PROGRAM = """
import os, socket, sys
sys.path.insert(0, sys.argv[1])
from topology import enter
here, there, address, size = *sys.argv[2:5], int(sys.argv[5])
IPV6_DSTOPTS, PADDING = 59, b"\\0\\0\\1\\4\\0\\0\\0\\0"
r, w = os.pipe()
if os.fork() == 0:
    enter(there)
    l = socket.create_server((address, 5270), family=socket.AF_INET6)
    os.write(w, b"x")
    c, _ = l.accept()
    c.settimeout(10)
    while c.recv(65536):
        pass
    os._exit(0)
enter(here)
os.read(r, 1)
s = socket.socket(socket.AF_INET6)
s.settimeout(10)
s.setsockopt(socket.IPPROTO_IPV6, IPV6_DSTOPTS, PADDING)
s.connect((address, 5270))
s.sendall(b"x" * size)
s.close()
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def shaped(t):
    """Packets received at the second end pass another device first."""
    ns = t.b
    t.ip(ns, "link", "add", "name", "ifb0", "type", "ifb")
    t.ip(ns, "link", "set", "dev", "ifb0", "up")
    run("tc", "-n", ns, "qdisc", "add", "dev", ns, "ingress")
    run("tc", "-n", ns, "filter", "add", "dev", ns, "parent", "ffff:", "protocol", "all", "u32",
        "match", "u32", "0", "0", "action", "mirred", "egress", "redirect", "dev", "ifb0")


def recorded(t):
    """On a busy machine TCP may send something again, which then passes twice."""
    lib = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib")
    for _ in range(5):
        rec = undisturbed(lambda: Recording(PYTHON, "-c", PROGRAM, lib, t.a, t.b, t.address(t.b, True),
                                            SIZE, options=("--kernel-only",)))
        again = flow(rec.report(), "tx", 5270)["retransmitted_bytes"]
        if not again:
            return rec
        print(f"{again} bytes were sent again: once more")
        rec.__exit__()
    sys.exit("TCP sent something again in each of 5 recordings")


def exchange(t, what):
    with recorded(t) as rec:
        report = rec.report()
        for direction in ("tx", "rx"):
            f = flow(report, direction, 5270)
            check(f["bytes"] == SIZE and f["coverage"] == 1,
                  f"{what}: all of {direction}'s bytes were at every layer")
        check(f["ambiguous_bytes"] == 0 and f["layers"][0]["repeated_bytes"] == 0,
              f"{what}: once at the device")


need_kernel_side()
need_program("tc")
with Topology("veth", True) as t:
    exchange(t, "extension headers")
    try:
        shaped(t)
    except SystemExit as e:
        skip(f"there is no ifb: {e}")
    exchange(t, "through ifb")
