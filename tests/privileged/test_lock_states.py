# SPDX-License-Identifier: MIT
"""
A call's time at its socket's lock: reported where functions can be hooked, null where not.
"""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

TRANSFER = os.path.join(os.path.dirname(__file__), "..", "programs", "transfer.py")
ONE_SOCKET = os.path.join(os.path.dirname(TRANSFER), "one_socket.py")
PORT, BYTES = 5217, 20_000_000 // SLOWER


def call(report, name):
    return next(c for c in report["calls"] if c["name"] == name and c["flow_kind"] == "tcp")


def closes(c):
    total = c["total_ns"]["mean"]
    print(f"{c['name']}: {c['n']} calls, {c['joined']} joined, {c['complete']} complete")
    if c["complete"] == c["n"]:  # the states are those of the complete ones
        near(sum(v for v in c["states_ns"].values() if v), total, 1e-6, f"ns: {c['name']}'s states sum up")


def told(rec, begin, end):
    """Returns the times between begins and ends, which alternate."""
    open_at, times = {}, []
    for e in rec.events():
        if e["event"] == begin:
            if open_at.setdefault(e["tid"], e) is not e:
                check(False, f"{begin} after {begin}")
        elif e["event"] == end and e["tid"] in open_at:
            times.append(int(e["time_ns"]) - int(open_at.pop(e["tid"])["time_ns"]))
    check(not open_at, f"{len(times)} times {begin} and {end}")
    return times


def backlog():
    """On loopback the sender's own acknowledgements come while it has the lock."""
    script = (f"{PYTHON} {TRANSFER} server 127.0.0.1 {PORT} & "
              f"{PYTHON} {TRANSFER} client 127.0.0.1 {PORT} {BYTES} 300000; wait")
    with Recording("sh", "-c", script) as rec:
        report = rec.report()
        send = call(report, "send")
        closes(send)
        check(report["state_sum_mismatches"] == 0, "states sum to each call")
        if not hooked(rec, "backlog_end"):
            check(send["states_ns"]["release"] is None, "what is not observed is null")
            return False
        times = told(rec, "backlog_begin", "backlog_end")
        release = sum(c["states_ns"]["release"] * c["complete"] for c in report["calls"]
                      if c["complete"] and c["states_ns"]["release"])
        check(times and 0 < release <= sum(times) * 1.01,
              f"{release:.0f} ns of the {sum(times)} ns from begin to end are the calls' own")
    return True


def lock():
    """Two threads want one socket's lock; a wait for it is blocked but for the way into and out of it."""
    with Recording(PYTHON, ONE_SOCKET, 100 if SLOWER == 1 else 30) as rec:
        report = rec.report()
        closes(call(report, "send"))
        check(report["state_sum_mismatches"] == 0, "states sum to each call")
        times = told(rec, "lock_wait", "lock_got")
        lock = sum(c["states_ns"]["lock"] * c["complete"] for c in report["calls"]
                   if c["complete"] and c["states_ns"]["lock"])
        check(times and 0 < lock <= sum(times) * 1.01,
              f"{lock:.0f} ns of the {sum(times)} ns of waiting were on the CPU")


def without():
    with Recording("true", options=("--without", "fentry")) as rec:
        check(not hooked(rec, "backlog_begin"), "no fentry, no begin")


need_kernel_side()
if backlog():
    lock()
if SLOWER == 1:
    without()
