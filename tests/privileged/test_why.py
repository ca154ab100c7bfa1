# SPDX-License-Identifier: MIT
"""
Why bytes wait in the send buffer, by programs of which it is known: Nagle's algorithm and a delayed
ACK, MSG_MORE until a timer or the next call, a reader that does not read, a congestion window that
acknowledgements open slowly, a pacing rate, and a device that is slow (docs/method.md, "Residence").
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

ROUNDS = 6
COMMON = f"""
import socket, sys, threading, time
PORTS = dict(nagle=5151, nodelay=5152, more=5153, uncork=5154, append=5155, window=5156, pacing=5157,
             cwnd=5158, tsq=5159, autocork=5160, halfclosed=5161)
TCP, CORK, QUICKACK = socket.IPPROTO_TCP, socket.TCP_CORK, socket.TCP_QUICKACK
ROUNDS, names = {ROUNDS}, sys.argv[1:]
def in_threads(do):
    threads = [threading.Thread(target=do, args=(name,)) for name in names]
    [t.start() for t in threads]
    [t.join() for t in threads]
"""
RECEIVER = COMMON + """
def serve(name):
    l = socket.socket()
    l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if name == "window":
        l.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
    l.bind(("", PORTS[name]))
    l.listen(1)
    c, _ = l.accept()
    got, late = 0, name in ("nagle", "halfclosed", "tsq", "autocork")
    if name == "halfclosed": # TCP tells nothing of segments from here on
        c.shutdown(socket.SHUT_WR)
    while True:
        if late: # acknowledge late
            c.setsockopt(TCP, QUICKACK, 0)
        if name == "window" and got < 200000:
            time.sleep(0.01)
        data = c.recv(8000)
        if not data:
            break
        got += len(data)
        if name == "cwnd" and got == 400000:
            c.send(b"!")
in_threads(serve)
"""
SENDER = COMMON + f"""
def connect(name, nodelay):
    s = socket.socket()
    s.setsockopt(TCP, socket.TCP_CONGESTION, b"cubic")
    s.setsockopt(TCP, socket.TCP_NODELAY, nodelay)
    if name == "pacing":
        s.setsockopt(socket.SOL_SOCKET, 47, 500000) # SO_MAX_PACING_RATE
    for _ in range(200):
        try:
            s.connect(("{Network.B}", PORTS[name]))
            return s
        except ConnectionRefusedError:
            time.sleep(0.05)
def send(name):
    s = connect(name, name not in ("nagle", "halfclosed", "more", "uncork", "append"))
    if name == "halfclosed":
        s.recv(1)
    for i in range(ROUNDS):
        if name in ("nagle", "halfclosed", "nodelay"):
            s.send(b"a" * 100)
            s.send(b"b" * 100)
            time.sleep(0.15)
        elif name == "more":
            s.send(b"a" * 100, socket.MSG_MORE)
            time.sleep(0.4)
        elif name == "uncork":
            s.setsockopt(TCP, CORK, 1)
            s.send(b"a" * 100)
            time.sleep(0.02)
            s.setsockopt(TCP, CORK, 0)
        elif name == "append":
            s.send(b"a" * 100, socket.MSG_MORE)
            time.sleep(0.02)
            s.send(b"b" * 100)
            time.sleep(0.02)
        elif name == "tsq":
            s.sendall(b"a" * 14480)
            time.sleep(0.2)
        elif name == "autocork":
            s.send(b"a" * 1000)
            s.send(b"b" * 1000)
            s.send(b"c" * 100)
            time.sleep(0.5)
    size = dict(window=500000, cwnd=400000, pacing=500000).get(name)
    if size:
        s.sendall(b"x" * size)
    if name == "cwnd": # all is acknowledged before it closes
        s.recv(1)
    s.shutdown(socket.SHUT_WR)
    while s.recv(1000):
        pass
in_threads(send)
"""
PORTS = dict(nagle=5151, nodelay=5152, more=5153, uncork=5154, append=5155, window=5156, pacing=5157,
             cwnd=5158, tsq=5159, autocork=5160, halfclosed=5161)


class Why:
    """The labels of a sent flow."""

    def __init__(self, report, name):
        self.name, self.flow = name, flow(report, "tx", PORTS[name])
        check(self.flow["send_buffer_why"] is not None, f"{name}: enough bytes have every boundary")
        self.rows = {(w["reason"], w["released_by"]): w for w in self.flow["send_buffer_why"]}
        print(name, {k: (w["n"], w["bytes"], w["wait_share"], w["mean_ns"])
                     for k, w in self.rows.items()})
        check(sum(w["bytes"] for w in self.rows.values()) == self.flow["complete_bytes"],
              f"{name}: each byte has one label")
        if self.flow["withheld"]: # too short to tell from magnet's own events
            return
        bar = next(s for s in self.flow["residence"] if s["stage"] == "send_buffer")
        waited = sum(w["mean_ns"] * w["bytes"] for w in self.rows.values())
        near(waited, bar["mean_ns"] * bar["bytes"], 1e-6, f"{name}: their waits are the bar")

    def bytes(self, reason, released_by):
        return self.rows.get((reason, released_by), {"bytes": 0})["bytes"]

    def wait_share(self, reason):
        return sum(w["wait_share"] for (r, _), w in self.rows.items() if r == reason)


def recorded(net, *names):
    receiver = net.popen(net.b, PYTHON, "-c", RECEIVER, *names)
    try:
        with Recording(*net.inside(net.a, PYTHON, "-c", SENDER, *names)) as rec:
            if not hooked(rec, "softirq_entry"):
                skip("no hook tells in which softirq a segment is sent")
            report = rec.report()
            return [Why(report, name) for name in names]
    finally:
        stop(receiver)


def programs():
    """What a program's own calls decide."""
    with Network() as net:
        nagle, halfclosed, nodelay, more, uncork, append = recorded(
            net, "nagle", "halfclosed", "nodelay", "more", "uncork", "append")
    for w in (nagle, halfclosed):
        # a connection's first segments are acknowledged at once, and those after a pause of a timeout
        held = w.bytes("nagle", "ack")
        check(100 * ROUNDS / 2 <= held <= 100 * ROUNDS,
              f"{w.name}: the second of two small writes waits by Nagle")
        check(w.bytes("immediate", "own_call") == 200 * ROUNDS - held, "the first does not")
        near(w.rows["nagle", "ack"]["mean_ns"], 40e6, 0.25, "as long as ACKs are delayed")
    check(nodelay.bytes("immediate", "own_call") == 200 * ROUNDS, "with TCP_NODELAY neither waits")
    corked = more.rows.get(("cork", "timer"))
    check(corked and corked["bytes"] >= 100 * (ROUNDS - 1), "what is corked leaves by a timer")
    near(corked["mean_ns"], 205e6, 0.1, "that of the least timeout, 200 ms, and a tick")
    check(uncork.bytes("cork", "later_call") == 100 * ROUNDS, "or as the cork is taken out")
    near(uncork.rows["cork", "later_call"]["mean_ns"], 20e6, 0.25, "when the program does so")
    check(append.bytes("cork", "later_call") == 100 * ROUNDS, "or with the bytes of the next call")
    near(append.rows["cork", "later_call"]["mean_ns"], 20e6, 0.25, "after 20 ms")
    check(append.bytes("immediate", "own_call") == 100 * ROUNDS, "which did not wait")


def windows():
    """What the other end, and the rate, allow."""
    with Network() as net:
        window, pacing = recorded(net, "window", "pacing")
    check(window.wait_share("window") > 0.85, "a reader that does not read: its window")
    check(pacing.wait_share("pacing") > 0.95, "a pacing rate: pacing")
    check(("pacing", "pacing_timer") in pacing.rows, "by its timer")
    # byte b leaves b / rate after the call; the average byte after half the time
    near(pacing.flow["residence_total_ns"], 500000 / 500000 / 2 * 1e9, 0.1, "as slow as the rate is")


def congestion():
    """ACKs come back through 64 kbit/s: the congestion window opens as slowly."""
    with Network() as net:
        run("tc", "-n", net.b, "qdisc", "add", "dev", net.b, "root", "tbf", "rate", "64kbit",
            "burst", "200", "latency", "2s")
        cwnd, = recorded(net, "cwnd")
    check(cwnd.wait_share("cwnd") > 0.7, "slow start behind a slow link: the congestion window")
    check(cwnd.bytes("cwnd", "ack") > 0, "until an ACK")


def devices():
    """A device that is slow, and acknowledgements that come later than it is done."""
    with Network(rate="1mbit", burst=3200, gso_max_segs=1) as net:
        tsq, = recorded(net, "tsq")
    check(tsq.bytes("tsq", "tx_completion") > 1448 * ROUNDS, "full segments wait for the device")
    with Network(rate="100kbit", burst=1600) as net:
        autocork, = recorded(net, "autocork")
    check(autocork.bytes("autocork", "tx_completion") >= 100, "a small one is autocorked")
    check(not autocork.bytes("nagle", "ack"), "and not held by Nagle's algorithm, which is off")


need_kernel_side()
for part in (programs, windows, congestion, devices):
    patiently(part)
