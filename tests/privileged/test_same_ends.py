# SPDX-License-Identifier: MIT
"""
Hooks remember a packet's socket no longer than it is followed: connections that take turns at the same two ends, and
at the same places in memory, each have their own packets, and so have connections that have the same ends in different
namespaces at one time; and a filter that is set while a connection lasts ends its packets, until it is taken back.
"""
import os
import shlex
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import *

TURNS, STEP = 40, 700
# Both ends are reset at the end of a turn: the next connection may have the same ports at once. Of the other
# connections, which last, as many packets come in between.
TAKE_TURNS = f"""
import socket, struct
server = socket.create_server(("127.0.0.1", 0))
others = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
others = [(socket.create_connection(s.getsockname()), s.accept()[0]) for s in others]
port = None
for turn in range({TURNS}):
    c = socket.socket()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    c.bind(("127.0.0.1", port or 0))
    port = c.getsockname()[1]
    c.connect(server.getsockname())
    s, _ = server.accept()
    for a, b in [(c, s)] + others + [(s, c)]:
        left = {STEP} * (turn + 1)
        a.sendall(bytes(left))
        while left:
            left -= len(b.recv(left))
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    c.close()
    s.close()
print(server.getsockname()[1])
"""


PORT, FROM, TRIPS, SIZES = 5721, 5722, 400, (100, 130)
ANSWER = f"""
import socket
server = socket.create_server(("{Network.B}", {PORT}))
print(flush=True)
c, _ = server.accept()
while data := c.recv(1000):
    c.sendall(b"x")
"""
ASK = f"""
import socket, sys
c = socket.socket()
c.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
c.bind(("", {FROM}))
c.connect(("{Network.B}", {PORT}))
for n in range({TRIPS}):
    c.sendall(bytes(int(sys.argv[1])))
    c.recv(1)
"""


def set_filter(t, value):
    run(TRACER, "ctl", "--pid", t.pid, "set", value)


def turns():
    with undisturbed(lambda: Recording(PYTHON, "-c", TAKE_TURNS, options=("-q",))) as rec:
        port = rec.p.stdout.strip()
        flows = [f for f in rec.report()["flows"] if f["proto"] == "tcp"
                 and (f["local"].endswith(f":{port}") or f["remote"].endswith(f":{port}"))]
    check(len({f["local"] for f in flows}) == 2, "all connections have the same two ends")
    sizes = [STEP * (turn + 1) for turn in range(TURNS)]
    for direction in ("tx", "rx"):
        ours = [f for f in flows if f["direction"] == direction]
        check(sorted(f["bytes"] for f in ours) == sorted(sizes * 2),
              f"{direction}: each of {len(ours)} sockets has its bytes")
        check(all(f["complete_bytes"] == f["bytes"] for f in ours), f"{direction}: all were followed")
        check(all(layer["bytes"] == f["bytes"] for f in ours for layer in f["layers"]),
              f"{direction}: in each layer they are the socket's own")


def sent_from_two_namespaces(networks):
    """Bytes that each of the two recorded clients sent, as the devices of the others received them; None: again."""
    servers = [net.popen(net.b, PYTHON, "-c", ANSWER, stdout=subprocess.PIPE) for net in networks]
    try:
        for server in servers:
            server.stdout.readline()
        clients = [shlex.join(net.inside(net.a, PYTHON, "-c", ASK, size)) for net, size in zip(networks, SIZES)]
        with Recording("sh", "-c", " & ".join(clients) + " & wait", options=("-q", "--kernel-only")) as rec:
            events = list(rec.events())
    finally:
        for server in servers:
            stop(server)
            server.stdout.close()
    if any(e["event"] == "tcp_retransmit" for e in events):
        return None
    sent = Counter()
    for e in events:
        if e["event"] == "dev_recv" and e["fields"]["via"] == "from_socket":
            sent[e["flow"]] += int(e["fields"]["len"])
    return sorted(sent.values())


def at_one_time():
    with Network(name="x") as one, Network(name="y") as other:
        for _ in range(5):
            sent = sent_from_two_namespaces((one, other))
            if sent:
                break
    check(sent == [TRIPS * size for size in SIZES],
          f"the same ends in two namespaces: each socket has its bytes at the peer's device, {sent}")


def filters():
    with tempfile.TemporaryDirectory() as top, Talker() as load, \
            Tracer(top + "/t", "--pid", load.pid).ready() as t:
        load.ask(50)
        set_filter(t, "port=1")
        load.ask(1000)
        set_filter(t, "port=any")
        load.ask(50)
        said = t.end()
        n = counts(top + "/t")
    check(said["lost"] == 0, "nothing was lost")
    for name in ("ip_out", "ip_post", "dev_queue", "dev_xmit", "dev_recv", "ip_in", "tcp_ready", "sock_copy"):
        # a filter may be set in the middle of what was answered; some acknowledgements have packets of their own
        check(190 <= n.get(name, 0) <= 420, f"{name}: {n.get(name, 0)} events of 100 round trips, none of 1000")


need_kernel_side()
turns()
at_one_time()
filters()
