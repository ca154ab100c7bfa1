# SPDX-License-Identifier: MIT
"""
The life of messages' bytes (magnet show --bytes): two programs send datagrams to one socket, where their
bytes have other places than in what they sent; and a UNIX stream, where they have the same.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PORT, TIMES = 5141, 40
SCRIPT = f"""
import socket, time
def udp():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server = udp()
server.bind(("127.0.0.1", {PORT}))
clients = [udp(), udp()]
for c in clients:
    c.connect(("127.0.0.1", {PORT}))
for i in range({TIMES}):
    clients[i % 3 == 0].send(b"x" * (100 + i))
    server.recv(4096)
    time.sleep(0.002)
a, b = socket.socketpair()
for i in range({TIMES}):
    a.send(b"y" * 300)
    b.recv(200), b.recv(100)
"""


def rows(rec, flow, begin, length):
    p = run(MAGNET, "show", rec.dir, "--tsv", "--flow", flow, "--bytes", f"{begin}+{length}")
    return list(csv.DictReader(p.stdout.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def datagrams(rec, report):
    rx = flow(report, "rx", PORT, proto="udp")
    received = [e for e in rec.events() if e["event"] == "sock_received" and e["flow"] == rx["id"]]
    senders = {e["fields"]["from"].split("@")[0] for e in received}
    check(len(received) == TIMES and len(senders) == 2, f"{TIMES} datagrams came, of two senders")
    told = rows(rec, rx["id"], 0, rx["bytes"])
    ends = set()
    for e in received:
        sender, place = e["fields"]["from"].split("@")
        mine = [r for r in told if r["offset"] == e["offset"]]
        left = [r for r in mine if r["what"] == "dev_xmit"]
        check([(r["flow"], r["unit_offset"], r["unit_length"]) for r in left] == [(sender, place, e["length"])],
              f"byte {e['offset']} left as {sender} byte {place}") if e is received[-1] or len(left) != 1 else None
        check(mine[0]["what"] == "call" and mine[0]["flow"] == sender and mine[-1]["flow"] in (sender, rx["id"]),
              "from the call") if mine[0]["what"] != "call" else None
        check({"ip_out", "dev_recv", "ip_in", "sock_received", "return"} <= {r["what"] for r in mine},
              f"byte {e['offset']}") if len(mine) < 10 else None
        # the same, as the sender numbers its bytes
        theirs = rows(rec, sender, int(place), int(e["length"]))
        ends.add([(r["what"], r["time_ns"]) for r in theirs] == [(r["what"], r["time_ns"]) for r in mine])
    check(ends == {True}, "each is the same from either end")


def stream(rec, report):
    tx = flow(report, "tx", proto="unix_stream")
    told = rows(rec, tx["id"], 0, 300 * TIMES)
    pieces = sorted({(int(r["offset"]), int(r["length"])) for r in told})
    check(pieces == [(300 * i + a, n) for i in range(TIMES) for a, n in ((0, 200), (200, 100))],
          "the stream is cut by what was read")
    check(all({"call", "sock_ready", "return"} <= {r["what"] for r in told if int(r["offset"]) == p}
              for p, _ in pieces), "and each piece has both ends")
    check({r["flow"] for r in told} == {tx["id"], tx["peer"]}, "of the two sockets")


def messages():
    with undisturbed(lambda: Recording(PYTHON, "-c", SCRIPT)) as rec:
        report = rec.report()
        datagrams(rec, report)
        stream(rec, report)


need_kernel_side()
patiently(messages)
