# SPDX-License-Identifier: MIT
"""
Connections and datagrams whose addresses or ports their own host translates: to a service's address,
by a redirection where they arrive, and in what leaves. All their bytes are at every layer.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from fixture import *
from once import PORT, TCP, UDP, UDP_BACK, exchange, whole
from topology import Topology

BIG_ANSWERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "big_answers.py")
SERVICE = {False: "10.77.9.9", True: "fd77:9::9"}


def rules(t, ns, v6, hook, rule):
    family, kind = "ip6" if v6 else "ip", "dstnat" if hook != "postrouting" else "srcnat"
    priority = -100 if kind == "dstnat" else 100
    p = run(*t.inside(ns, "nft", f"table {family} t {{ chain c {{ type nat hook {hook} priority {priority}; "
                      f"{rule.format(family=family)}; }}; }}"), check=False)
    if p.returncode:
        skip("no addresses can be translated: " + p.stderr.strip())


def to_service(t, v6):
    """Connections to the service end at b."""
    t.ip(t.a, "route", "add", SERVICE[v6], "via", t.address(t.b, v6))
    b = t.address(t.b, v6)
    return f"{{family}} daddr {SERVICE[v6]} dnat to " + (f"[{b}]" if v6 else b)


def opened(t, v6):
    rules(t, t.a, v6, "output", to_service(t, v6))
    return SERVICE[v6]


def arrived(t, v6):
    rules(t, t.b, v6, "prerouting", to_service(t, v6))
    return SERVICE[v6]


def left(t, v6):
    ports = f"meta l4proto {{{{ tcp, udp }}}} th dport {PORT}-{PORT + 1}"
    rules(t, t.a, v6, "postrouting", f"{ports} masquerade to :20000-20999")
    return t.address(t.b, v6)


def fragments(t):
    """Fragments whose buffers are noted in one slot do not hide each other."""
    n, size = 600, 3000
    address = opened(t, False)
    with undisturbed(lambda: Recording(PYTHON, BIG_ANSWERS, t.a, t.b, t.address(t.b, False), address, n, size,
                                       options=("--kernel-only",))) as rec:
        whole(rec.report(), "in fragments", 5280, "remote", "rx", n * size)


need_kernel_side()
need_program("nft")
for translate, v6 in ((opened, False), (arrived, False), (left, False), (arrived, True)):
    with Topology("veth", v6) as t:
        exchange(t.a, t.b, t.address(t.b, v6), translate(t, v6), TCP + UDP + UDP_BACK,
                 f"translated as {translate.__name__}, IPv{6 if v6 else 4}")
with Topology("veth", False) as t:
    fragments(t)
