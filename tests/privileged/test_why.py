# SPDX-License-Identifier: MIT
"""
Why bytes wait in the send buffer, by programs of which it is known: Nagle's algorithm and a delayed
ACK, MSG_MORE until a timer or the next call, a reader that does not read, a congestion window that
acknowledgements open slowly, a pacing rate, a device that is slow, and a way that takes long
(docs/method.md, "Residence"). How long the queue was held is compared with the kernel's own times.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import fixture
from delay import Delay
from fixture import *

ROUNDS = 4
TICK_NS = 10e6  # at most
DELAY = 0.04  # each way
NAMES = ("nagle", "nodelay", "more", "uncork", "append", "window", "pacing", "cwnd", "tsq", "autocork",
         "halfclosed", "zero", "far_cwnd", "far_window", "far_room")
PORTS = {name: 5151 + i for i, name in enumerate(NAMES)}
COMMON = f"""
import json, socket, sys, threading, time
sys.path.insert(0, {os.path.dirname(fixture.__file__)!r})
from tcp_info import tcp_info
PORTS = {PORTS}
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
    if name in ("window", "far_window"):
        l.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
    l.bind(("", PORTS[name]))
    l.listen(1)
    c, _ = l.accept()
    got, late = 0, name in ("nagle", "halfclosed", "tsq", "autocork")
    if name == "halfclosed": # TCP tells nothing of segments from here on
        c.shutdown(socket.SHUT_WR)
    if name == "zero":
        time.sleep(2)
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
    if name == "zero": # it paces, too
        try:
            s.setsockopt(TCP, socket.TCP_CONGESTION, b"bbr")
        except OSError:
            s.setsockopt(socket.SOL_SOCKET, 47, 1 << 30)
    s.setsockopt(TCP, socket.TCP_NODELAY, nodelay)
    if name == "pacing":
        s.setsockopt(socket.SOL_SOCKET, 47, 500000) # SO_MAX_PACING_RATE
    if name.startswith("far"):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 if name == "far_room" else 1 << 20)
    for _ in range(200):
        try:
            s.connect(("{Delay.B}" if name.startswith("far") else "{Network.B}", PORTS[name]))
            return s
        except ConnectionRefusedError:
            time.sleep(0.05)
def send(name):
    s = connect(name, name not in ("nagle", "halfclosed", "more", "uncork", "append"))
    if name == "halfclosed":
        s.recv(1)
    least, most, now = [], [], time.monotonic_ns  # how long what is held was, by the program's clock
    for i in range(ROUNDS):
        began = now()
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
            sent = now()
            time.sleep(0.02)
            least.append(now() - sent)
            s.setsockopt(TCP, CORK, 0)
        elif name == "append":
            s.send(b"a" * 100, socket.MSG_MORE)
            sent = now()
            time.sleep(0.02)
            least.append(now() - sent)
            s.send(b"b" * 100)
        most.append(now() - began)
        if name == "append":
            time.sleep(0.02)
        elif name == "tsq":
            s.sendall(b"a" * 14480)
            time.sleep(0.2)
        elif name == "autocork":
            s.send(b"a" * 1000)
            s.send(b"b" * 1000)
            s.send(b"c" * 100)
            time.sleep(0.5)
    size = dict(window=500000, cwnd=400000, pacing=500000, zero=2000000, far_cwnd=60000,
                far_window=100000, far_room=300000).get(name)
    began = time.monotonic()
    if size:
        s.sendall(b"x" * size)
    sending = time.monotonic() - began
    if name == "cwnd": # all is acknowledged before it closes
        s.recv(1)
    while name == "far_cwnd" and tcp_info(s)["bytes_acked"] < 2: # its SYN is one; it closes behind the first ACKs
        time.sleep(0.005)
    s.shutdown(socket.SHUT_WR)
    while s.recv(1000):
        pass
    said = tcp_info(s)
    told = dict(name=name, sending_ns=sending * 1e9, rtt_ns=said["rtt"] * 1000,
                least_ns=min(least, default=0), most_ns=max(most))
    for field in ("busy_time", "rwnd_limited", "sndbuf_limited"):
        told[field] = said[field] * 1000 if field in said else None
    sys.stdout.write(json.dumps(told) + "\\n")
in_threads(send)
"""


class Why:
    """The labels of a sent flow."""

    def __init__(self, report, name, kernel):
        self.kernel = kernel[name]
        self.name, self.flow = name, flow(report, "tx", PORTS[name])
        check(self.flow["send_buffer_why"] is not None, f"{name}: enough bytes have every boundary")
        self.rows = {(w["reason"], w["released_by"]): w for w in self.flow["send_buffer_why"]}
        print(name, {k: (w["n"], w["bytes"], w["wait_share"], w["mean_ns"])
                     for k, w in self.rows.items()})
        check(sum(w["bytes"] for w in self.rows.values()) == self.flow["complete_bytes"],
              f"{name}: each byte has one label")
        self.held = {h["reason"]: h for h in self.flow["send_buffer_held"]}
        print(name, {k: (h["bytes"], h["wait_share"], h["held_ns"]) for k, h in self.held.items()},
              self.kernel)
        if self.flow["withheld"]: # too short to tell from magnet's own events
            return
        bar = next(s for s in self.flow["residence"] if s["stage"] == "send_buffer")
        waited = sum(w["mean_ns"] * w["bytes"] for w in self.rows.values())
        near(waited, bar["mean_ns"] * bar["bytes"], 1e-6, f"{name}: their waits are the bar")
        near(sum(h["mean_ns"] for h in self.held.values()), bar["mean_ns"], 1e-6,
             f"{name}: so are the times it was held for each reason")

    def bytes(self, reason, released_by):
        return self.rows.get((reason, released_by), {"bytes": 0})["bytes"]

    def held_share(self, reason):
        return self.held[reason]["wait_share"] if reason in self.held else 0

    def held_ns(self, *reasons):
        return sum(self.held[r]["held_ns"] for r in reasons if r in self.held)

    def check_wait(self, label, least_ns, what):
        """Check how long the bytes of a label waited: at most as the program's clock says."""
        took = self.rows[label]["mean_ns"]
        check(least_ns <= took <= self.kernel["most_ns"],
              f"{what}: {took} ns, {least_ns} to {self.kernel['most_ns']} by the program")

    def wait_share(self, reason):
        return sum(w["wait_share"] for (r, _), w in self.rows.items() if r == reason)


def recorded(net, *names):
    receiver = net.popen(net.b, PYTHON, "-c", RECEIVER, *names)
    try:
        with Recording(*net.inside(net.a, PYTHON, "-c", SENDER, *names)) as rec:
            if not hooked(rec, "softirq_entry"):
                skip("no hook tells in which softirq a segment is sent")
            report = rec.report()
            kernel = {k["name"]: k for k in map(json.loads, rec.p.stdout.splitlines())}
            return [Why(report, name, kernel) for name in names]
    finally:
        stop(receiver)


def agree(held_ns, kernel_ns, what):
    """The kernel's times are in ticks, of which each period may miss one at either end."""
    check(kernel_ns is None or abs(held_ns - kernel_ns) <= 2 * TICK_NS + 0.03 * kernel_ns,
          f"{what}: {held_ns / 1e6:.1f} ms, the kernel says {kernel_ns and kernel_ns / 1e6:.0f} ms")


def programs():
    """Waits that the program's own calls cause."""
    with Network() as net:
        nagle, halfclosed, nodelay, more, uncork, append = recorded(
            net, "nagle", "halfclosed", "nodelay", "more", "uncork", "append")
    for w in (nagle, halfclosed):
        # a connection's first segments are acknowledged at once, those after a pause of a timeout too, and
        # any if the program is held up between its two writes
        held = w.bytes("nagle", "ack")
        check(100 <= held <= 100 * ROUNDS,
              f"{w.name}: the second of two small writes waits by Nagle")
        check(w.bytes("immediate", "own_call") == 200 * ROUNDS - held, "the first does not")
        w.check_wait(("nagle", "ack"), 30e6, "as long as ACKs are delayed, 40 ms less a tick")
        near(w.held_ns("nagle"), w.rows["nagle", "ack"]["mean_ns"] * held / 100, 0.01,
             "that is how long the queue was held")
        check(w.held_share("nagle") > 0.95, "by nothing else")
    check(nodelay.bytes("immediate", "own_call") == 200 * ROUNDS, "with TCP_NODELAY neither waits")
    check(set(nodelay.held) == {"immediate"}, "nothing held it")
    corked = more.rows.get(("cork", "timer"))
    check(corked and corked["bytes"] >= 100 * (ROUNDS - 1), "what is corked leaves by a timer")
    more.check_wait(("cork", "timer"), 190e6, "that of the least timeout, 200 ms less a tick")
    check(uncork.bytes("cork", "later_call") == 100 * ROUNDS, "or as the cork is taken out")
    uncork.check_wait(("cork", "later_call"), uncork.kernel["least_ns"], "when the program does so")
    check(append.bytes("cork", "later_call") == 100 * ROUNDS, "or with the bytes of the next call")
    append.check_wait(("cork", "later_call"), append.kernel["least_ns"], "after 20 ms")
    check(append.bytes("immediate", "own_call") == 100 * ROUNDS, "which did not wait")
    for w in (more, uncork, append):
        check(w.held_share("cork") > 0.95, f"{w.name}: the cork held it until then")


def windows():
    """Waits that the other end, and the rate, cause."""
    with Network() as net:
        window, pacing, zero = recorded(net, "window", "pacing", "zero")
    check(window.wait_share("window") > 0.85, "a reader that does not read: its window")
    check(window.held_share("window") > 0.95, "all the time")
    agree(window.held_ns("window"), window.kernel["rwnd_limited"], "limited by it")
    check(pacing.wait_share("pacing") > 0.95, "a pacing rate: pacing")
    check(("pacing", "pacing_timer") in pacing.rows, "by its timer")
    check(pacing.held_share("pacing") > 0.95, "all the time")
    agree(pacing.held_ns("pacing"), pacing.kernel["busy_time"], "as long as there was data to send")
    agree(pacing.held_ns("window"), pacing.kernel["rwnd_limited"], "and not by the peer's window")
    # byte b leaves b / rate after the call; the average byte after half the time
    near(pacing.flow["residence_total_ns"], 500000 / 500000 / 2 * 1e9, 0.1, "as slow as the rate is")
    check(zero.held_share("window") > 0.98,
          "a reader that sleeps for 2 s: its window, whatever lets the last of the bytes go")
    near(zero.held_ns("window"), 2e9, 0.2, "for 2 s")
    agree(zero.held_ns("window"), zero.kernel["rwnd_limited"], "limited by it")


def congestion():
    """ACKs come back through 64 kbit/s: the congestion window opens as slowly."""
    with Network() as net:
        run("tc", "-n", net.b, "qdisc", "add", "dev", net.b, "root", "tbf", "rate", "64kbit",
            "burst", "200", "latency", "2s")
        cwnd, = recorded(net, "cwnd")
    check(cwnd.bytes("cwnd", "ack") > 0, "the congestion window, until an ACK")
    check(cwnd.held_share("cwnd") + cwnd.held_share("window") > 0.9,
          "slow start behind a slow link: one window or the other")
    agree(cwnd.held_ns("window"), cwnd.kernel["rwnd_limited"], "of it, the peer's")


def far():
    """A way that takes long: what may be in flight, by the congestion window, the peer's, and the buffer."""
    with Network() as net, Delay(net, DELAY):
        cwnd, window, room = recorded(net, "far_cwnd", "far_window", "far_room")
    check(cwnd.held_share("cwnd") > 0.95, "slow start: the congestion window")
    # 10, then 20 segments, then the rest
    near(cwnd.held_ns("cwnd"), 2 * cwnd.kernel["rtt_ns"], 0.2, "for two round trips")
    agree(cwnd.held_ns("window"), cwnd.kernel["rwnd_limited"], "and not by the peer's window")
    check(window.held_share("window") > 0.5, "a small window, which is never zero, and not told by tcp_recv")
    for w in (cwnd, window): # the forwarder's write() to the tun device processes the ACK
        check(not any(by == "not_known" for _, by in w.rows), f"{w.name}: what let each segment go is known")
    agree(window.held_ns("window"), window.kernel["rwnd_limited"], "limited by it")
    held = room.held_ns(*(set(room.held) - {"immediate"}))
    check(room.kernel["sndbuf_limited"] is None or
          room.kernel["sndbuf_limited"] <= room.kernel["sending_ns"] - held + 2 * TICK_NS,
          "a writer that waits for room does so besides: then there is nothing unsent")


def devices():
    """A device that is slow, and acknowledgements that come later than it is done."""
    with Network(rate="1mbit", burst=3200, gso_max_segs=1) as net:
        tsq, = recorded(net, "tsq")
    check(tsq.bytes("tsq", "tx_completion") > 1448 * ROUNDS, "full segments wait for the device")
    # of a segment whose hold no event shows the reason is not known: one of some forty, now and then
    check(tsq.held_share("tsq") > 0.7 and tsq.held_share("tsq") + tsq.held_share("not_known") > 0.99,
          "nothing else holds them")
    with Network(rate="100kbit", burst=1600) as net:
        autocork, = recorded(net, "autocork")
    check(autocork.bytes("autocork", "tx_completion") >= 100, "a small one is autocorked")
    check(autocork.held_share("autocork") > 0, "until then")
    check(not autocork.bytes("nagle", "ack"), "and not held by Nagle's algorithm, which is off")
    check("nagle" not in autocork.held, "not for a moment")


need_kernel_side()
for part in (programs, windows, congestion, devices, far):
    patiently(part)
