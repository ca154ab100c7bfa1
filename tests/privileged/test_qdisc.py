# SPDX-License-Identifier: MIT
"""
A token bucket with a burst of two frames spaces what is queued behind it by (MTU + 14) * 8 / rate,
exactly: the trace has that spacing, and the wait in the queue that the rest of a write has.
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

TRANSFER = os.path.join(os.path.dirname(__file__), "..", "programs", "transfer.py")
PORT, MTU = 5290, 1500
FULL = MTU - 52


def xmits(rec, f, event):
    """(ns, offset) of full frames, those that come again left out."""
    seen = set()
    for e in rec.events("--flow", f["id"]):
        if e["event"] == event and e["length"] == str(FULL) and e["offset"] not in seen:
            seen.add(e["offset"])
            yield int(e["time_ns"]), int(e["offset"])


def shaped(mbit, size):
    ideal = (MTU + 14) * 8 / mbit * 1e3
    print(f"-- {mbit} Mbit/s: {ideal:.1f} ns a frame")
    with Network(rate=f"{mbit}mbit", burst=2 * (MTU + 14), gso_max_segs=1) as net:
        # its pace is its own otherwise, and not the bucket's
        run(*net.inside(net.a, "sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno"))
        script = (f"nsenter --net=/run/netns/{net.b} {PYTHON} {TRANSFER} server {net.B} {PORT} & "
                  f"nsenter --net=/run/netns/{net.a} {PYTHON} {TRANSFER} client {net.B} {PORT} {size} "
                  f"{size}; wait")
        with Recording("sh", "-c", script) as rec:
            tx = flow(rec.report(), "tx", PORT, bytes=size)
            check(tx["closure_error_cycles"] == 0, "all closes to 0")
            queued, left = list(xmits(rec, tx, "dev_queue")), list(xmits(rec, tx, "dev_xmit"))
            arrived = {offset: at for at, offset in queued}
            # the first burst is not spaced; nor is what was not queued yet when the one before left
            gaps = [b[0] - a[0] for a, b in zip(left[3:], left[4:])
                    if b[1] == a[1] + FULL and arrived.get(b[1], a[0]) < a[0]]
            check(len(gaps) > 0.8 * size / FULL - 20, f"{len(gaps)} frames had waited for their turn")
            # not their mean: where the hypervisor steals time, a gap is too long and the next too short
            near(statistics.median(gaps), ideal, 0.003, "their median spacing, ns")
            # the distance of their middle half to that one value (Wasserstein 1), for the same reason
            middle = sorted(gaps)[len(gaps) // 4:-(len(gaps) // 4)]
            w1 = sum(abs(g - ideal) for g in middle) / len(middle)
            check(w1 < 0.01 * ideal + 10_000, f"W1 of the middle half to {ideal:.1f} ns: {w1:.1f} ns")
            device = next(l for l in tx["layers"] if l["name"] == "device")
            near(device["p50_spacing_ns"], ideal, 0.005, "the report's median spacing, ns")
            waits = [at - arrived[offset] for at, offset in left if offset in arrived]
            queue = next(s for s in tx["residence"] if s["stage"] == "qdisc")
            near(queue["mean_ns"], sum(waits) / len(waits), 0.03, "the report's mean wait in the queue, ns")


need_kernel_side()
need_program("tc", "sysctl")
for rate, amount in ((10, 400_000), (27, 900_000), (3, 120_000)):
    patiently(lambda: shaped(rate, amount))
