# SPDX-License-Identifier: MIT
"""
Packets between namespaces, which have no socket there, are found by their path: one that is used stays in its
table however many datagrams to other ends come, and no path is found any more once a filter refuses the connection.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from topology import *
from tracer import *

SIZE, ENDS, CONNECTIONS = 100, 60000, 3000
TALK = f"""
import socket, sys, time
if sys.argv[1] == "server":
    server = socket.create_server((sys.argv[2], 7777))
    print("ready", flush=True)
    c, _ = server.accept()
    while c.recv({SIZE}):
        pass
else:
    c = socket.create_connection((sys.argv[2], 7777))
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print("ready", flush=True)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        c.sendall(bytes({SIZE}))
        time.sleep(0.002)
"""
DATAGRAMS = f"""
import socket, sys
for _ in range(2):
    s = socket.socket(type=socket.SOCK_DGRAM)
    for port in range(1, {ENDS}):
        try:
            s.sendto(b"x", (sys.argv[1], port))
        except OSError: # an ICMP answer
            pass
    s.close()
"""


def connect_once(n=1):
    with socket.create_server(("127.0.0.1", 0)) as server:
        for _ in range(n):
            c = socket.create_connection(server.getsockname())
            a, _ = server.accept()
            c.close()
            a.close()


class Talk:
    """A connection through a router, at which each segment of 100 bytes is seen by its path."""

    def __init__(self, net):
        self.net, self.programs = net, []

    def __enter__(self):
        address = self.net.address(self.net.b, False)
        for role, ns in (("server", self.net.b), ("client", self.net.a)):
            p = subprocess.Popen(self.net.inside(ns, PYTHON, "-c", TALK, role, address), stdout=subprocess.PIPE)
            self.programs.append(p)
            p.stdout.readline()
        return self

    def __exit__(self, *unused):
        for p in self.programs[::-1]:
            stop(p)
            p.stdout.close()


def at_router(trace, since_ns=0):
    """(segments that the socket sent, the same seen on their way) of dev_xmit."""
    found = [0, 0]
    for line in run(MAGNET, "show", "--tsv", trace).stdout.splitlines()[1:]:
        row = line.split("\t")
        if row[5] == "dev_xmit" and int(row[0]) > since_ns and f"len={SIZE} " in row[9] and "proto=tcp" in row[9]:
            found["via=from" in row[9]] += 1
    return found


def kept_while_used(top):
    with Topology("routed") as net:
        with Tracer(top + "/used", "--all", "--layers", "socket,tcp,device", "--buffer", "64M").ready() as t:
            with Talk(net):
                time.sleep(0.5)
                run(*net.inside(net.a, PYTHON, "-c", DATAGRAMS, net.address(net.b, False)))
                connect_once()  # what was remembered of the tables is not believed any more
                began = time.monotonic_ns()
                time.sleep(1)
            t.end()
    own, way = at_router(top + "/used", began)
    check(own > 50 and way > 0.9 * own, f"of {own} segments after many datagrams the router's device has {way}")


def ended_by_a_filter(top):
    with Topology("routed") as net:
        with Tracer(top + "/refused", "--all", "--protocol", "tcp", "--layers", "socket,tcp,ip,device").ready() as t:
            with Talk(net):
                connect_once(CONNECTIONS)  # tables that take a moment to empty
                run(TRACER, "ctl", "--pid", t.pid, "set", "port=1")
                time.sleep(0.1)
                began = time.monotonic_ns()
                time.sleep(1)
            t.end()
    found = at_router(top + "/refused", began)
    check(found == [0, 0], f"nothing of a connection that the filter refuses: {found}")


need_kernel_side()
with tempfile.TemporaryDirectory(prefix="magnet-test-") as place:
    kept_while_used(place)
    ended_by_a_filter(place)
