# SPDX-License-Identifier: MIT
"""
Everything is dropped at the peer's ingress for a while, or for good: the retransmission timer runs
out as often as the kernel counts, also where that ends a connection, or none comes about.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tcp_info import netstat

DROP = sys.argv[1]
PORT = 5107
CLIENT = f"""
import errno, socket, subprocess, time
HOST, PORT, NS = {Network.B!r}, {PORT}, "%s"
TC = ["tc", "-n", NS, "filter"]
def drop(on):
    if on:
        subprocess.run(TC + ["add", "dev", NS, "ingress", "bpf", "da", "obj", {DROP!r}, "sec",
                       "tc/all"], check=True)
    else:
        subprocess.run(TC + ["del", "dev", NS, "ingress"], check=True)
def fails(f):
    try:
        f()
    except OSError as e:
        assert e.errno == errno.ETIMEDOUT, e
        return
    assert False
s = socket.create_connection((HOST, PORT))
s.sendall(b"a")
s.recv(1)
drop(True)
s.sendall(b"b" * 100)
time.sleep(1)
drop(False)
while True:  # answered when the timer runs out the next time
    if s.recv(1) == b"b":
        break
s.sendall(b"c")
s.recv(1)
drop(True)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000)
s.sendall(b"d")
fails(lambda: s.recv(1))
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, 1)
fails(lambda: s.connect((HOST, PORT)))
drop(False)
"""
SERVER = f"""
import socket
s, _ = socket.create_server(({Network.B!r}, {PORT})).accept()
while d := s.recv(100):
    s.sendall(d[:1])
"""

# Nobody answers these connections. As their timers run out for the first time there is no room for events.
FULL = """
import socket, time
began = time.monotonic()
socks = []
for i in range(20):
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex(("10.99.0.%d" % i, 9))
    socks.append(s)
u = socket.socket(type=socket.SOCK_DGRAM)
u.bind(("127.0.0.1", 0))
time.sleep(0.9)
while time.monotonic() - began < 1.3:
    u.sendto(b"x", u.getsockname())
time.sleep(2.2)
"""


def counters(net):
    return netstat(run(*net.inside(net.a, "cat", "/proc/net/netstat")).stdout)["TCPTimeouts"]


def record(net):
    global counted
    before = counters(net)
    server = net.popen(net.b, PYTHON, "-c", SERVER)
    try:
        rec = Recording(*net.inside(net.a, PYTHON, "-c", CLIENT % net.b))
    finally:
        stop(server)
    counted = counters(net) - before
    return rec


need_kernel_side()
counted = 0
with Network() as net:
    run("tc", "-n", net.b, "qdisc", "add", "dev", net.b, "clsact")
    p = run("tc", "-n", net.b, "filter", "add", "dev", net.b, "ingress", "bpf", "da", "obj", DROP,
            "sec", "tc/all", check=False)
    if p.returncode != 0:
        skip("tc cannot load a BPF program: " + p.stderr.strip())
    run("tc", "-n", net.b, "filter", "del", "dev", net.b, "ingress")
    for last in (0, 0, 0, 1):
        rec = undisturbed(lambda: record(net))
        seen = [e for e in rec.events() if e["event"] == "tcp_timeout"]
        # a timer that ends a connection sends nothing of which undisturbed() could miss a part
        if sum(int(e["fields"]["count"]) for e in seen) == counted or last:
            break
        print(f"{len(seen)} of {counted} timeouts: once more")
        rec.__exit__()
    with rec:
        rows = [(e["flow"], int(e["fields"]["in_row"]), int(e["fields"]["gave_up"])) for e in seen]
        total = sum(int(e["fields"]["count"]) for e in seen)
        check(total == counted, f"{total} timeouts, the kernel counts {counted}: {rows}")
        given_up = [r for r in rows if r[2]]
        check(len(given_up) == 2, "two ended their connection")
        first = rows[0][0]
        check([r[1] for r in rows if r[0] == first][:2] == [1, 2], "they are counted in a row")
        rtos = [int(e["fields"]["rto_us"]) for e in seen if e["flow"] == first]
        check(rtos[0] >= 200000, f"and have their timeout: {rtos} us")
        syn = [r for r in rows if r[0] != first]
        check([r[1] for r in syn] == [*range(1, len(syn) + 1)] and syn[-1][2],
              f"the connection that did not come about had {len(syn)}")
        tx = [f for f in rec.report()["flows"] if f["id"] == first][0]
        check(tx["tcp"]["timeouts"] == total - len(syn), "the report has the sum")


def full():
    """Timeouts that there was no room for are told with the next one of their connection."""
    def kernel():
        return netstat(open("/proc/net/netstat").read())["TCPTimeouts"]
    run("ip", "route", "replace", "10.99.0.0/16", "dev", "lo")  # no address of this host: what comes is dropped
    for _ in range(5):
        before = kernel()
        with Recording(PYTHON, "-c", FULL, options=("--kernel-only", "--buffer", "128K", "--drain", 100)) as rec:
            seen = [int(e["fields"]["count"]) for e in rec.events() if e["event"] == "tcp_timeout"]
            counted = kernel() - before
            check(sum(seen) == counted, f"{counted} timeouts are told by {len(seen)} events")
            if max(seen) > 1:  # there was no room for some
                break


patiently(full)
