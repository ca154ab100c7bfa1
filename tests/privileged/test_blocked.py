# SPDX-License-Identifier: MIT
"""
Compares what threads are blocked in with the program's own clock around its calls, and with
what strace -T says of each call.
"""
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

BLOCKS = os.path.join(os.path.dirname(__file__), "..", "programs", "blocks.py")
CALLS = {"sleep": ("clock_nanosleep",), "lock": ("futex",), "recv": ("recvfrom",),
         "epoll": ("epoll_wait", "epoll_pwait"), "fsync": ("fsync",)}
LEAST = {"clock_nanosleep": 99e6, "select": 299e6, "pselect6": 299e6}  # as the program asks
SELECT = ("select", "pselect6")


def waits(rec):
    lines = run(MAGNET, "show", "--facts", "wait", rec.dir).stdout.splitlines()
    names = [n.partition(":")[0] for n in lines[0].split("\t")]
    return [dict(zip(names, line.split("\t"))) for line in lines[1:]]


def around_calls(top):
    with Recording(PYTHON, BLOCKS, f"{top}/file", options=("--kernel-only",)) as rec:
        said = json.loads(rec.p.stdout)
        report, all_waits, text = rec.report(), waits(rec), rec.text()
    rows = [b for b in report["scheduler"]["blocked"] if b["pid"] == said["pid"]]
    own = [w for w in all_waits if w["pid"] == str(said["pid"]) and w["why"] == "blocked"]
    for kind, took in said["took"].items():
        names = CALLS[kind]
        blocked = sum(b["total_ns"] for b in rows if b["call"] in names)
        blocked_or_queued = blocked + sum(b["undivided_ns"] for b in rows if b["call"] in names)
        away = sum(int(w["end_ns"]) - int(w["begin_ns"]) for w in own
                   if w["call"] in names and w["begin_ns"] and w["end_ns"])
        # other blocks in futex are those of the interpreter's own lock, and of the holder
        check(kind == "lock" or blocked_or_queued <= took * 1.001,
              f"{kind}: blocked in {names[0]} {blocked / 1e6:.3f} ms, its calls took {took / 1e6:.3f} ms")
        check(kind == "fsync" or away >= 0.8 * took,
              f"{kind}: off the CPU in {names[0]} {away / 1e6:.3f} ms of {took / 1e6:.3f} ms")
    peer = f"127.0.0.1:{said['port']}"
    for kind in "recv", "epoll":
        named = sum(b["total_ns"] + b["undivided_ns"] for b in rows if b["call"] in CALLS[kind] and b["remote"] == peer)
        check(named >= 0.8 * 10 * 20e6, f"{kind}: {named / 1e6:.1f} ms of it waiting for {peer}")
        check(re.search(rf"{CALLS[kind][0]}\w* {peer} ", text), f"the text says {CALLS[kind][0]} {peer}")
    order = [b["total_ns"] for b in report["scheduler"]["blocked"]]
    check(order == sorted(order, reverse=True), f"the largest of {len(order)} comes first")
    total = report["scheduler"]["blocked_total_ns"]
    check(abs(sum(order) - total) < 1e-6 * total, f"the rows sum to {total / 1e9:.3f} s")
    check(all(b["in"] for b in rows), "what it was in is known for each")
    on = {w["descriptor"] for w in own if w["call"] in ("recvfrom", "fsync")}
    check(all(on) and len(on) <= 3, f"descriptors: {sorted(on)}")


def as_strace_says(top):
    log = f"{top}/log"
    with Recording("strace", "-f", "-T", "-o", log, PYTHON, BLOCKS, f"{top}/file",
                   options=("--kernel-only",)) as rec:
        said = json.loads(rec.p.stdout)
        report = rec.report()
    rows = [b for b in report["scheduler"]["blocked"] if b["program"] != "strace"]
    by_call = {}
    # the call of a line, of a call with two lines the second
    for line in open(log, errors="replace"):
        m = re.match(r"\d+ +(?:<\.\.\. )?(\w+).*<(\d+\.\d+)>$", line)
        if m:
            by_call[m[1]] = by_call.get(m[1], 0) + float(m[2]) * 1e9
    for name in [n for names in (*CALLS.values(), SELECT) for n in names]:
        took, blocked = by_call.get(name, 0), sum(b["total_ns"] for b in rows if b["call"] == name)
        if took < 50e6:
            continue
        check(blocked <= took * 1.001, f"{name}: blocked {blocked / 1e6:.3f} ms, strace -T {took / 1e6:.3f} ms")
        # the rest of strace's time is that of its own stops
        # a thread that is preempted before it sleeps is not blocked meanwhile
        least = 0.8 * LEAST.get(name, 0)
        blocked += sum(b["undivided_ns"] for b in rows if b["call"] == name)
        check(blocked >= least, f"{name}: at least {least / 1e6:.0f} ms off the CPU of {blocked / 1e6:.3f} ms")
    check(any(b["in"] == "stopped" for b in rows), "where strace stopped it, it is stopped")
    check(said["took"], "and it ran to its end")


need_kernel_side()
os.system("ip link set lo up")
with tempfile.TemporaryDirectory(dir=os.environ["MAGNET_BUILD"]) as directory:
    patiently(lambda: around_calls(directory))
    if shutil.which("strace"):
        patiently(lambda: as_strace_says(directory))
