# SPDX-License-Identifier: MIT
"""
A server is recorded, its client is not. Segments for the client are known by their path, which each CPU remembers;
new connections with the same addresses and ports open while it does, and their requests are found all the same. Both
on loopback and through a pair of veth devices, where a segment still has its socket when it is received.
"""
import os
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

HERE = "127.0.0.1"
PORT, FROM, CONNECTIONS, TRIPS = 5711, 5712, 5, 50
SERVER = f"""
import socket, sys
server = socket.create_server((sys.argv[1], {PORT}))
open(sys.argv[2], "w").close()
for n in range({CONNECTIONS}):
    c, _ = server.accept()
    try:
        while data := c.recv(1000):
            c.sendall(data)
    except ConnectionResetError:
        pass
"""
# Resets each connection, so that the next one may have the same port. Waits until the server listens: a SYN that came
# before would be refused, and seen at some hooks.
CLIENT = f"""
import os, socket, struct, sys, time
done, until = 0, time.monotonic() + 30
while not os.path.exists(sys.argv[2]) and time.monotonic() < until:
    time.sleep(0.02)
while done < {CONNECTIONS} and time.monotonic() < until:
    with socket.socket() as c:
        c.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        c.bind(("", {FROM}))
        c.connect((sys.argv[1], {PORT}))
        for n in range({TRIPS}):
            c.sendall(bytes(100))
            c.recv(100, socket.MSG_WAITALL)
        done += 1
"""


def record(net, namespace, address):
    """
    (event, where it is seen, kind of segment) -> how often it is recorded, of a server in this namespace at this
    address
    """
    ready = scratch() + "/listens"
    with net.popen(net.a, PYTHON, "-c", CLIENT, address, ready) as client:
        try:
            server = net.inside(namespace, PYTHON, "-c", SERVER, address, ready)
            with Recording(*server, options=("-q", "--kernel-only")) as rec:
                events = [e for e in rec.events() if "tcp_flags" in e["fields"] or e["event"] == "tcp_retransmit"]
        finally:
            stop(client)
    found = Counter()
    for e in events:
        f = e["fields"]
        kind = "retransmitted" if e["event"] == "tcp_retransmit" else \
            "SYN" if int(f["tcp_flags"], 0) & 2 else \
            "data" if f["len"] != "0" else "other"
        found[e["event"], f.get("via"), kind] += 1
    return found


def check_far_end(net, namespace, address):
    for _ in range(5):
        counts = record(net, namespace, address)
        if not any(kind == "retransmitted" for _, _, kind in counts):
            break
    if os.environ.get("MAGNET_TEST_KEEP"):
        print(counts)
    for event, kind, each in (("dev_recv", "SYN", 1), ("ip_in", "SYN", 1), ("dev_recv", "data", TRIPS),
                              ("ip_in", "data", TRIPS)):
        n = counts[event, "own", kind]
        check(n == CONNECTIONS * each, f"{address}: {event}, to the server, {kind}: {n} in {CONNECTIONS} connections")
    n = sum(v for (event, via, kind), v in counts.items() if (event, kind) == ("dev_recv", "data") and via != "own")
    check(n == CONNECTIONS * TRIPS, f"{address}: dev_recv, to the client, data: {n} in {CONNECTIONS} connections")
    n = sum(v for (event, via, kind), v in counts.items() if (event, kind) == ("ip_in", "data") and via != "own")
    check(n == 0, f"{address}: the client's own IP is not recorded")


need_kernel_side()
with Network() as network:
    run("ip", "-n", network.a, "link", "set", "lo", "up")
    check_far_end(network, network.a, HERE)
    check_far_end(network, network.b, network.B)
