# SPDX-License-Identifier: MIT
"""
M with a known answer: 7 x 1448 bytes every 20 ms through a 10 Mbit/s bucket of two frames. It lets
two frames pass and spaces the others by (MTU+14)*8/rate, so the bytes move by J = 1.864 ms of a 20 ms
gap: M = 9.32 % (docs/method.md, "Modulation").
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PORT, WRITES = 5102, 200
SENDER = f"""
import socket, time
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(100):
    try:
        s.connect(("{Network.B}", {PORT}))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
data, at = b"x" * (7 * 1448), time.monotonic()
for _ in range({WRITES}):
    s.sendall(data)
    at += 0.02
    time.sleep(max(0, at - time.monotonic()))
s.shutdown(socket.SHUT_WR)
s.recv(1)
"""
RECEIVER = f"""
import socket
l = socket.create_server(("", {PORT}))
c, _ = l.accept()
while c.recv(65536):
    pass
"""
FRAME, BURST, RATE = 1500 + 14, 3200, 10e6


def expected_m():
    """J/tau by its definition: frame i leaves when the bucket has earned it."""
    delay = [max(0, (i + 1) * FRAME - BURST) * 8 / RATE for i in range(7)]
    median = sorted(delay)[3]
    return sum(abs(d - median) for d in delay) / 7 / 0.020


def modulation():
    with Network(rate="10mbit", burst=BURST, gso_max_segs=1) as net:
        receiver = net.popen(net.b, PYTHON, "-c", RECEIVER)
        try:
            with Recording(*net.inside(net.a, PYTHON, "-c", SENDER)) as rec:
                report = rec.report()
                tx = flow(report, "tx", PORT)
                m = tx["modulation"]
                check(tx["call_n"] == WRITES, "every write is one call")
                near(m["tau_ns"], 20e6, 0.01, "the gap between writes")
                near(m["M"], expected_m(), 0.05, "M")
                near(m["S"], 7, 0.01, "frames a write")
                check(m["blocked_share"] < 0.01, "the sender did not block")
                check(tx["coverage"] > 0.99, f"coverage {tx['coverage']}")
                check(tx["closure_error_cycles"] == 0, "every complete atom closes to 0 cycles")
                device = next(l for l in tx["layers"] if l["name"] == "device")
                check(device["mean_size"] == 1448, "frames are full")
        finally:
            stop(receiver)


need_kernel_side()
patiently(modulation)
