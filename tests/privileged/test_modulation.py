# SPDX-License-Identifier: MIT
"""
M with a known answer: bursts of full segments through a bucket of two frames. It lets two frames pass and
spaces the others by (MTU+14)*8/rate. So 7 x 1448 bytes every 20 ms through 10 Mbit/s move by J = 1.864 ms
of a 20 ms gap: M = 9.32 %; others likewise (docs/method.md, "Modulation"). And the papers' workloads,
which nothing holds up: an MP3 stream of 418 bytes every 21 or 26.12 ms, and a file of 10 KB every 20 ms,
whose 8 segments leave at once.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PORT, SEGMENT = 5102, 1448
SENDER = f"""
import socket, sys, threading, time
def send(port, size, gap, writes):
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(100):
        try:
            s.connect(("{Network.B}", port))
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    data, at = b"x" * size, time.monotonic()
    for _ in range(writes):
        s.sendall(data)
        at += gap
        time.sleep(max(0, at - time.monotonic()))
    s.shutdown(socket.SHUT_WR)
    s.recv(1)
flows = [arg.split(",") for arg in sys.argv[1:]]
threads = [threading.Thread(target=send, args=({PORT} + i, int(size), float(gap), int(n)))
           for i, (size, gap, n) in enumerate(flows)]
[t.start() for t in threads]
[t.join() for t in threads]
"""
RECEIVER = f"""
import socket, sys, threading
def receive(l):
    c, _ = l.accept()
    while c.recv(65536):
        pass
for i in range(int(sys.argv[1])):
    l = socket.create_server(("", {PORT} + i))
    threading.Thread(target=receive, args=(l,)).start()
"""
FRAME, BURST = SEGMENT + 52 + 14, 3200


def expected_m(frames, gap, rate):
    """J/tau by its definition: frame i leaves when the bucket has earned it."""
    delay = [max(0, (i + 1) * FRAME - BURST) * 8 / rate for i in range(frames)]
    median = sorted(delay)[(frames - 1) // 2]
    return sum(abs(d - median) for d in delay) / frames / gap


def recorded(net, *flows):
    """Returns the figures of flows with this many bytes per this many seconds, this many times."""
    receiver = net.popen(net.b, PYTHON, "-c", RECEIVER, len(flows))
    try:
        with Recording(*net.inside(net.a, PYTHON, "-c", SENDER,
                                   *(f"{size},{gap},{n}" for size, gap, n in flows))) as rec:
            report = rec.report()
            sent = [flow(report, "tx", PORT + i) for i in range(len(flows))]
    finally:
        stop(receiver)
    for tx, (size, gap, n) in zip(sent, flows):
        check(tx["call_n"] == n, "every write is one call")
        near(tx["modulation"]["tau_ns"], gap * 1e9, 0.01, "the gap between writes")
        need_coverage(tx, report, 0.99)
        check(tx["closure_error_cycles"] == 0, "every complete atom closes to 0 cycles")
    return sent


def layer(tx, name):
    return next(l for l in tx["layers"] if l["name"] == name)


def modulation(frames, gap, rate, writes):
    with Network(rate=f"{rate // 1000}kbit", burst=BURST, gso_max_segs=1) as net:
        tx, = recorded(net, (frames * SEGMENT, gap, writes))
    m = tx["modulation"]
    near(m["M"], expected_m(frames, gap, rate), 0.05, f"M of {frames} frames at {rate} bit/s")
    near(m["S"], frames, 0.01, "frames a write")
    check(m["blocked_share"] < 0.01, "the sender did not block")
    check(layer(tx, "device")["mean_size"] == SEGMENT, "frames are full")


def papers():
    with Network(gso_max_segs=1) as net:
        mp3, slower, ftp = recorded(net, (418, 0.021, 100), (418, 0.02612, 80), (10240, 0.02, 100))
    for tx, gap in ((mp3, 0.021), (slower, 0.02612)):
        device = layer(tx, "device")
        check(device["mean_size"] == 418 and device["cov_size"] == 0, "each write is a segment")
        near(device["mean_spacing_ns"], gap * 1e9, 0.01, "as far apart as the writes")
        check(tx["modulation"]["S"] == 1, "S is 1")
        check(tx["modulation"]["M"] < 0.01, f"and nothing is moved: M = {tx['modulation']['M']}")
    device = layer(ftp, "device")
    check(device["n"] == 8 * 100, "10 KB are 8 segments")
    near(device["mean_size"], 1280, 1e-9, "of 1,448 bytes, the last one less")
    check(ftp["modulation"]["S"] == 8, "S is 8")
    check(ftp["modulation"]["M"] < 0.01, f"split, but not spread: M = {ftp['modulation']['M']}")


need_kernel_side()
patiently(lambda: modulation(7, 0.020, 10_000_000, 200))
patiently(lambda: modulation(4, 0.025, 4_000_000, 100))
patiently(papers)
