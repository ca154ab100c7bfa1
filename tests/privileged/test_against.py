# SPDX-License-Identifier: MIT
"""
Two recordings side by side, with known differences: none; a server that thinks for 5 ms; Nagle's
algorithm, which keeps the second of two writes for some 40 ms; a token bucket on the path, whose delay
of each frame is known. Each is found, with its sign and size (docs/method.md, "Comparison").
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PORT = 5131
# asks and is answered: argv: writes of a request, their size, times, no delay, seconds in between, port
CLIENT = f"""
import socket, sys, time
writes, size, times, nodelay = (int(x) for x in sys.argv[1:5])
gap, port = float(sys.argv[5]), int(sys.argv[6])
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, nodelay)
for _ in range(100):
    try:
        s.connect(("{Network.B}", port))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
at = time.monotonic()
for _ in range(times):
    for _ in range(writes):
        s.sendall(b"x" * size)
    s.recv(100, socket.MSG_WAITALL)
    at = max(at + gap, time.monotonic())
    time.sleep(max(0, at - time.monotonic()))
"""
# argv: bytes of a request, seconds to think, port
SERVER = """
import socket, sys, time
size, think = int(sys.argv[1]), float(sys.argv[2])
c, _ = socket.create_server(("", int(sys.argv[3]))).accept()
while True:
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
    left = size
    while left:
        data = c.recv(left)
        if not data:
            sys.exit()
        left -= len(data)
    time.sleep(think)
    c.sendall(b"y" * 100)
"""
FRAME, BURST, RATE = 1500 + 14, 3200, 10e6


def record(net, writes=2, size=500, times=100, gap=0.01, nodelay=1, think=0, options=(), port=PORT):
    server = net.popen(net.b, PYTHON, "-c", SERVER, str(writes * size), str(think), str(port))
    try:
        return Recording(*net.inside(net.a, PYTHON, "-c", CLIENT, str(writes), str(size), str(times),
                                     str(nodelay), str(gap), str(port)), options=options)
    finally:
        stop(server)


def compared(now, before):
    p = run(MAGNET, "report", "--json", now, "--against", before)
    again = run(MAGNET, "report", "--json", now, "--against", before)
    check(p.stdout == again.stdout, "the same comparison comes out the same")
    text = run(MAGNET, "report", now, "--against", before).stdout
    check("Summary: " in text, "the text has its sentence")
    return json.loads(p.stdout)["comparison"]


def figure(comparison, figure, **match):
    for f in comparison["figures"]:
        if f["figure"] == figure and all(f[k] == v for k, v in match.items()):
            return f
    sys.exit(f"no figure {figure} {match}")


def exceeds(f, expected, share, what):
    check(f["exceeds_noise"] is True, f"{what} exceeds the noise")
    near(f["difference"], expected, share, what)
    check(f["low"] <= f["difference"] <= f["high"], f"between {f['low']} and {f['high']}")


# asks by either of two connections, by chance; argv: times, ports
BY_CHANCE = f"""
import random, socket, sys, time
socks = []
for port in sys.argv[2:]:
    s = socket.create_connection(("{Network.B}", int(port)))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    socks.append(s)
random.seed(1)
for _ in range(int(sys.argv[1])):
    s = random.choice(socks)
    s.sendall(b"x" * 1000)
    s.recv(100, socket.MSG_WAITALL)
    time.sleep(0.002)
"""
# answers both; argv: ports
BOTH = """
import select, socket, sys
listening = [socket.create_server(("", int(port))) for port in sys.argv[1:]]
socks = [s.accept()[0] for s in listening]
while True:
    for s in select.select(socks, [], [])[0]:
        if not s.recv(1000, socket.MSG_WAITALL):
            sys.exit()
        s.sendall(b"y" * 100)
"""


def nothing():
    """
    A program that uses two connections by chance, recorded twice at once, by port: it finds the machine
    the same in both, which two runs do not.
    """
    ports = [PORT, PORT + 1]
    with Network() as net, tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        server = net.popen(net.b, PYTHON, "-c", BOTH, *ports)
        try:
            time.sleep(1)
            program = net.inside(net.a, PYTHON, "-c", BY_CHANCE, "600", *ports)
            for port in ports:
                program = [MAGNET, "record", "-q", "--kernel-only", "--port", port, "-o", f"{top}/{port}", "--",
                           *program]
            run(*program)
        finally:
            stop(server)
        c = compared(*(f"{top}/{port}" for port in ports))
        # the outer recording's threads are also those of the inner recorder
        told = [f for f in c["figures"] if f["subject"] != "scheduler" and f["exceeds_noise"] is not None]
        differ = [(f["name"], f["figure"], f["stage"], f["before"], f["now"]) for f in told
                  if f["exceeds_noise"]]
        print(differ)
        check({f["direction"] for f in c["figures"] if f["subject"] == "flow"} == {"tx", "rx"},
              "both directions have their counterparts, though the ports differ")
        check(len(told) > 20, f"{len(told)} figures are compared")
        # one in twenty by chance; several hang together
        check(len(differ) <= 0.25 * len(told), f"{len(differ)} of them differ")


def one_side(before, now):
    c = compared(now.dir, before.dir)
    check({f["subject"] for f in c["figures"]} == {"call"}, "without the kernel side calls are left")
    check({f["figure"] for f in c["figures"]} == {"total"}, "and of them the total")
    check(figure(c, "total", call="send")["exceeds_noise"] is not None, "which is enough to tell")
    check(all(f["subject"] in ("flow", "requests") for f in c["only_before"]), "flows are those of the other")


def thinking():
    with Network() as net, record(net) as before, record(net, think=0.005) as now, \
            record(net, options=["--app-only"]) as app:
        one_side(before, app)
        c = compared(now.dir, before.dir)
        exceeds(figure(c, "total", call="recv", subject="call"), 5e6, 0.15, "the answer's wait, ns")
        sent = figure(c, "residence", stage="qdisc", direction="tx", side="client")
        check(abs(sent["difference"]) < 20e3, "what leaves waits no longer in the queue")


def nagle():
    with Network() as net, record(net, times=30, gap=0.05) as before, \
            record(net, times=30, gap=0.05, nodelay=0) as now:
        c = compared(now.dir, before.dir)
        # the second write waits for the acknowledgement of the first, which waits for 40 ms
        exceeds(figure(c, "residence", stage="send_buffer", direction="tx", side="client"), 20e6, 0.25,
                "half of the bytes' wait in the send buffer, ns")
        exceeds(figure(c, "residence", reason="nagle", direction="tx", side="client"), 20e6, 0.25,
                "all of it for Nagle's algorithm, ns")
        exceeds(figure(c, "residence_total", direction="tx", side="client"), 20e6, 0.25,
                "and so the whole, ns")
        tx = flow(now.report(), "tx", PORT, bytes=2 * 500 * 30)
        told = run(MAGNET, "show", now.dir, "--flow", tx["id"], "--byte", "10500").stdout
        check("waited for: Nagle's algorithm" in told, "the life of one of these bytes says so")


def bucket():
    delay = [max(0, (i + 1) * FRAME - BURST) * 8 / RATE for i in range(7)]
    median = sorted(delay)[3]
    wait, m = sum(delay) / 7, sum(abs(d - median) for d in delay) / 7 / 0.020
    traffic = {"writes": 1, "size": 7 * 1448, "gap": 0.02}
    with Network(gso_max_segs=1) as net:
        before = record(net, **traffic)
    with Network(rate="10mbit", burst=BURST, gso_max_segs=1) as net, before, \
            record(net, **traffic) as now:
        c = compared(now.dir, before.dir)
        exceeds(figure(c, "residence", stage="qdisc", direction="tx", side="client"), wait * 1e9, 0.1,
                "the wait in the bucket, ns")
        exceeds(figure(c, "M", direction="tx", side="client"), m, 0.1, "M")
        exceeds(figure(c, "J", direction="tx", side="client"), m * 20e6, 0.1, "J, ns")


need_kernel_side()
for test in (nothing, thinking, nagle, bucket):
    print(test.__name__)
    patiently(test)
