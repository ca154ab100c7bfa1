# SPDX-License-Identifier: MIT
"""
Filters refuse a connected socket, which is remembered. A socket that then gets ends which they pass is recorded, each
connection by itself, and so is a connection that new filters pass; one that they refuse again is not.
"""
import os
import re
import socket
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from reconnecting import SIZE, TALK
from tracer import TRACER, Tracer, events

own_network()  # starts over: nothing is made before
REFUSED, PASSED, LISTENED = 5721, 5722, 5723
TRIPS = 40
# One socket connects to each port in turn, then listens and accepts a connection.
REUSED = TALK + f"""
ports = {REFUSED}, {PASSED}, {REFUSED}, {PASSED}
for port in set(ports):
    threading.Thread(target=serve, args=(socket.create_server(("127.0.0.1", port)),), daemon=True).start()
c = socket.socket()
c.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
for port in ports:
    c.connect(("127.0.0.1", port))
    trips(c, {TRIPS})
    disconnect(c)
c.bind(("127.0.0.1", {LISTENED}))
c.listen()
peer = socket.create_connection(("127.0.0.1", {LISTENED}))
accepted, _ = c.accept()
threading.Thread(target=answer, args=(accepted,), daemon=True).start()
trips(peer, {TRIPS})
"""


def ports_of(flow):
    return {int(e.rsplit(":", 1)[1]) for e in (flow["local"], flow["remote"]) if e}


def one_socket(*filters, passed):
    """{port: connections} that the filters pass; each connection of the socket is one of its own."""
    with Recording(PYTHON, "-c", REUSED, options=("-q", "--kernel-only", *filters)) as rec:
        report = rec.report()
    check(lost(report) == 0, "nothing was lost")
    flows = [f for f in report["flows"] if f["bytes"]]
    check({p for f in flows for p in ports_of(f) if p in (REFUSED, PASSED, LISTENED)} == set(passed),
          f"{filters}: flows of the ports {sorted(passed)} alone")
    for port, connections in passed.items():
        mine = [f for f in flows if port in ports_of(f)]
        check(sorted((f["direction"], f["bytes"], f["coverage"]) for f in mine) ==
              [(way, TRIPS * SIZE, 1) for way in ("rx", "tx") for _ in range(2 * connections)],
              f"port {port}: both ends of {connections} connections, each byte at each boundary")
    again = {f["id"] for f in flows if "." in f["id"]}
    check(len(again) == 2 * (sum(passed.values()) - 2),
          f"of the socket's connections all but the first are numbered: {sorted(again)}")


def counted(directory, port):
    """How many of TCP's events tell of the connection to the port."""
    def number(fields):
        return re.search(r"sock = (\w+)", fields)[1]

    sockets = {number(fields) for _, _, fields in events(directory, "sock_state")
               if re.search(rf"port = {port},", fields)}
    return Counter(name for name, _, fields in events(directory, "tcp_send", "sock_copy")
                   if number(fields) in sockets)


def other_filters():
    """Connections of this process, one to each port, both open all the time, while filters change."""
    ends = {}
    for port in (REFUSED, PASSED):
        with socket.create_server(("127.0.0.1", port)) as l:
            c = socket.create_connection(l.getsockname())
            ends[port] = c, l.accept()[0]

    def talk():
        for c, s in ends.values():
            for _ in range(TRIPS):
                c.sendall(bytes(SIZE))
                s.recv(SIZE, socket.MSG_WAITALL)

    order = PASSED, REFUSED, PASSED, 1, REFUSED
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        with Tracer(top + "/t", "--pid", os.getpid(), "--port", order[0]).ready() as t:
            for n, port in enumerate(order):
                if n:
                    run(TRACER, "ctl", "--pid", t.pid, "set", f"port={port}")
                talk()
            t.end()
        for port in (PASSED, REFUSED):
            n, passes = counted(top + "/t", port), order.count(port)
            # an end that only receives is met when its program has read
            check(n["tcp_send"] == passes * TRIPS and n["sock_copy"] == passes * (TRIPS - 1),
                  f"port {port}, which {passes} of {len(order)} filters pass: {dict(n)}")


need_kernel_side()
one_socket("--port", PASSED, "--port", LISTENED, passed={PASSED: 2, LISTENED: 1})
one_socket(passed={REFUSED: 2, PASSED: 2, LISTENED: 1})
other_filters()
