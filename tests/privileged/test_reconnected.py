# SPDX-License-Identifier: MIT
"""
Connections of one socket, whose program disconnects it in between: each is a flow of its own, also with data in its
SYN. A connection that is still being opened when parts of a recording begin is announced there, and stays one.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from reconnecting import SIZE, TALK

own_network()  # starts over: nothing is made before
PORT, TRIPS, CONNECTIONS = 5731, 20, 3
# The listener's queue has room for one; the second one's SYN is heard when it is sent again.
HANGS = TALK + f"""
l = socket.socket()
l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
l.bind(("127.0.0.1", {PORT}))
l.listen(0)
first, second = socket.create_connection(l.getsockname()), socket.socket()
threading.Timer(1.5, lambda: [threading.Thread(target=answer, args=(l.accept()[0],), daemon=True).start()
                              for _ in range(2)]).start()
second.connect(l.getsockname())
trips(second, {TRIPS})
"""
EARLY = TALK + f"""
l = socket.socket()
l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
l.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5)
l.bind(("127.0.0.1", {PORT}))
l.listen()
threading.Thread(target=serve, args=(l,), daemon=True).start()
c = socket.socket()
for _ in range({CONNECTIONS}):
    c.sendto(bytes({SIZE}), socket.MSG_FASTOPEN, l.getsockname())
    c.recv({SIZE}, socket.MSG_WAITALL)
    trips(c, {TRIPS} - 1)
    disconnect(c)
"""


def of_clients(report):
    """(number of the connection, direction, bytes, whether the other end is known) of each flow of a client's."""
    return sorted((f["id"].split("/")[0].partition(".")[2], f["direction"], f["bytes"], f["peer"] is not None)
                  for f in report["flows"] if f["bytes"] and f["remote"].endswith(f":{PORT}"))


def announced_while_it_opens():
    with Recording(PYTHON, "-c", HANGS, options=("-q", "--kernel-only", "--rotate", "1s")) as rec:
        check(of_clients(rec.report()) == [("", "rx", TRIPS * SIZE, True), ("", "tx", TRIPS * SIZE, True)],
              "a connection that hangs while parts begin is one")
        parts = sorted(os.listdir(rec.dir + "/kernel"))
        check(len(parts) >= 3, f"parts: {parts}")
        for part in parts[1:]:
            alone = json.loads(run(MAGNET, "report", "--json", os.path.join(rec.dir, "kernel", part), check=False).stdout)
            check(all("." not in f["id"] and f["bytes"] <= TRIPS * SIZE for f in alone["flows"]),
                  f"part {part} alone: {of_clients(alone)}")


def data_in_the_syn():
    with open("/proc/sys/net/ipv4/tcp_fastopen", "w") as f:
        f.write("3")
    for options in ((), ("--port", PORT)):
        with Recording(PYTHON, "-c", EARLY, options=("-q", "--kernel-only", *options)) as rec:
            found = of_clients(rec.report())
        early = SIZE if options else 0  # sent before the filter could decide
        check(found == [(n, way, TRIPS * SIZE - (early if way == "tx" else 0), True) for n in ("", "2", "3")
                        for way in ("rx", "tx")],
              f"{options}: each connection has its bytes and its other end: {found}")


need_kernel_side()
announced_while_it_opens()
data_in_the_syn()
