# SPDX-License-Identifier: MIT
"""
A writer fills a reader that does not read, three times: each time the window closes and opens is an
event at both ends, and the kernel's own count agrees.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import fixture
from fixture import *
from tcp_info import netstat

PROGRAM = os.path.join(os.path.dirname(__file__), "..", "programs", "tcp_state.py")
TIMES = 3


def record():
    global counted
    before = netstat()
    rec = Recording(PYTHON, PROGRAM, "windows", TIMES)
    after = netstat()
    counted = {name: after[f"TCP{name}ZeroWindowAdv"] - before[f"TCP{name}ZeroWindowAdv"]
               for name in ("To", "From", "Want")}
    return rec


need_kernel_side()
counted = {}
with undisturbed(record) as rec:
    if not hooked(rec, "ip_out"):
        skip("no hook sees what leaves TCP here, and so what window it offers")
    seen, times = {}, {}
    for e in rec.events():
        if e["event"] == "tcp_window":
            closed = e["fields"]["closed"]
            seen.setdefault((e["fields"]["own"], e["flow"]), []).append(closed)
            times.setdefault(e["flow"], []).append((closed, int(e["time_ns"])))
    own = [closed for (which, _), closed in seen.items() if which == "1"]
    peer = [closed for (which, _), closed in seen.items() if which == "0"]
    check(len(own) == len(peer) == 1, f"one reader closed its window: {seen}")
    check(own[0] == ["1", "0"] * counted["To"] and counted["To"] == counted["From"],
          f"the reader's window closed and opened as often as the kernel counts: {counted}")
    check(counted["To"] >= TIMES, "at least once each time")
    check(peer[0] == own[0], "and the writer was told as often")
    report = rec.report()
    by_end = {(f["direction"], f["tcp"]["zero_windows"]) for f in report["flows"]}
    check(by_end == {("tx", counted["To"]), ("rx", counted["To"])},
          f"the report has them: {by_end}")
    for f in report["flows"]:
        waited = f["tcp"]["zero_window_ns"]
        closed = sum(t if e == "0" else -t for e, t in times[f["id"]])
        check(abs(waited - closed) < 1000, f"and how long they lasted: {waited} ns, {closed} ns")

# the writer has shut down before the reader begins: TCP tells nothing of the ACKs it gets then
AFTER_SHUTDOWN = """
import socket, sys, time
sys.path.insert(0, %r)
from tcp_info import netstat
l = socket.socket()
l.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
l.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1400)
l.bind(("127.0.0.1", 0))
l.listen(1)
s = socket.create_connection(l.getsockname())
c, _ = l.accept()
before = netstat()
s.send(b"x" * 40000)
s.shutdown(socket.SHUT_WR)
time.sleep(0.1)
while c.recv(4000):
    time.sleep(0.05)
after = netstat()
print(after["TCPToZeroWindowAdv"] - before["TCPToZeroWindowAdv"])
""" % os.path.dirname(os.path.abspath(fixture.__file__))
with undisturbed(lambda: Recording(PYTHON, "-c", AFTER_SHUTDOWN)) as rec:
    counted, report = int(rec.p.stdout), rec.report()
    tx, rx = flow(report, "tx")["tcp"], flow(report, "rx")["tcp"]
    check(counted >= 3, f"the kernel counts {counted} after the writer has shut down")
    check(rx["zero_windows"] == tx["zero_windows"] == counted,
          f"so do both ends: {tx['zero_windows']}, {rx['zero_windows']}")
    near(tx["zero_window_ns"], rx["zero_window_ns"], 0.05, "and how long they lasted, ns")
