# SPDX-License-Identifier: MIT
"""
A side of a recording that ends before the recording does, or begins late, is told: in the first lines,
in JSON, in the figures' coverage, and by `magnet record` at once. Nothing then says that all is there.
--long tries each at twenty moments.
"""
import os
import random
import re
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from sides import *
from tracer import *

own_network()
KERNEL = not no_kernel_side()
LONG = "--long" in sys.argv
TOP = scratch()
# calls for a second and more, and their number
PROGRAM = """
import socket, sys, time
a, b = socket.socketpair()
n, until = 0, time.monotonic() + float(sys.argv[1])
while time.monotonic() < until:
    a.send(b"x" * 100)
    b.recv(100)
    n += 2
    time.sleep(0.0005)
print(n)
"""


def recording(name, do, *options, seconds=0.7):
    """Returns the directory, record's exit status and messages, and the calls the program reports."""
    d = f"{TOP}/{name}"
    record = subprocess.Popen([MAGNET, "record", "-o", d, *options, "--", PYTHON, "-c", PROGRAM, str(seconds)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    do(record)
    out, err = record.communicate(timeout=120)
    return d, record.returncode, err, int(out)


def kill_collector(after):
    def do(record):
        p = recorder(record, "magnet")
        time.sleep(after)
        os.kill(p, signal.SIGKILL)
    return do


def end_tracer(after, how):
    def do(record):
        p = recorder(record, "magnet-kernel-t")
        time.sleep(after)
        os.kill(p, how)
    return do


def told(d, side, what, edge="ends", length_known=True):
    """The text's line and the JSON agree that this side is not whole."""
    text, r = run(MAGNET, "report", d).stdout, report(d)
    head = "\n".join(text.split("\n")[:6])
    s = r["session"]["sides"]["app" if side == "application" else "kernel"]
    when = r"ends at \S+ s" if edge == "ends" else r"begins \S+ s after the recording did"
    check(re.search(f"INCOMPLETE: the {side} side {when}", head) and what in head and
          "nothing lost:" not in text, f"{os.path.basename(d)}: {side} side {edge}: told in the head\n{head}")
    gaps = [g for g in r["loss"]["gaps"] if g["reason"] == "not_covered"]
    check(not s["complete"] and (s["coverage"] < 1 and gaps if length_known else s["coverage"] is None),
          f"and in JSON: {s}")
    return r, s


def collector_killed(options, tries):
    for n in range(tries):
        d, status, err, calls = recording(f"collector{len(options)}{n}", kill_collector(random.uniform(0, 0.5)), *options)
        check(status == 1 and "killed by signal 9 (KILL)" in err and "not recorded" in err,
              "record tells what was killed, and that calls are missing: " + err.strip())
        r, s = told(d, "application", "killed by signal 9")
        seen = sum(c["n"] for c in r["calls"] if c["name"] in ("send", "recv") and not c["kernel_only"])
        check(seen < calls and not s["ended_in_order"],
              f"of {calls} calls {seen} are there")


def collector_stopped():
    """The collector is stopped for half a second: calls are lost then, and only then."""
    def do(record):
        p = recorder(record, "magnet")
        time.sleep(0.2)
        os.kill(p, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(p, signal.SIGCONT)
    d, status, _, calls = recording("stopped", do, "--app-only", "--buffer", "4K", seconds=1.2)
    r = report(d)
    seen = sum(c["n"] for c in r["calls"] if c["name"] in ("send", "recv"))
    gaps = [g for g in r["loss"]["gaps"] if g["layers"] == ["app"]]
    check(status == 0 and seen + r["loss"]["app"] == calls, f"{seen} seen and {r['loss']['app']} lost are all {calls}")
    check(gaps and all(g["from_ns"] < g["to_ns"] for g in gaps), f"all {len(gaps)} gaps have a length")
    longest = max(g["to_ns"] - g["from_ns"] for g in gaps)
    check(longest > 4e8, f"one is as long as nobody read: {longest / 1e6:.0f} ms")
    app = [c["coverage"] for c in r["loss"]["time_coverage"] if c["layer"] == "app"]
    check(app and all(c < 1 - 4e8 / r["session"]["duration_ns"] for c in app), f"and so is the time's coverage: {app[:1]}")


def whole(*options):
    d, status, err, calls = recording(f"whole{len(options)}", lambda record: None, *options, seconds=0.3)
    text, r = run(MAGNET, "report", d).stdout, report(d)
    check(status == 0 and "INCOMPLETE" not in text and "nothing lost:" in text, "a recording that ended in order says nothing of it")
    for side in ("app", "kernel"):
        s = r["session"]["sides"][side]
        check(s is None if side == "kernel" and options else s["complete"] and s["ended_in_order"] and
              s["coverage"] == 1 and s["ended"] is None, f"{side}: {s}")
    check(r["session"]["ended_in_order"], "so did the recording, if it has but one side")
    seen = sum(c["n"] for c in r["calls"] if c["name"] in ("send", "recv"))
    check(seen + r["loss"]["app"] == calls, f"told and seen are all {calls} calls")


def tracer_ended():
    hows = (signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP)
    for n, how in enumerate(hows * 20 if LONG else hows[:2]):
        d, status, err, _ = recording(f"tracer{n}", end_tracer(random.uniform(0.1, 0.5), how), seconds=1.2)
        check(status == 1 and f"signal {int(how)}" in err and "not recorded" in err,
              "record names the signal: " + err.strip())
        r, s = told(d, "kernel", f"signal {int(how)}")
        calls = [c for c in r["calls"] if c["name"] in ("send", "recv") and not c["kernel_only"]]
        check(calls and all((c["coverage"] or 0) < 1 for c in calls), "the calls' coverage tells it, too")
        check(s["ended_in_order"] == (how != signal.SIGKILL), f"whether it ended in order: {s}")


def stopped():
    def stop_it(record):
        p = recorder(record, "magnet-kernel-t")
        time.sleep(0.3)
        run(TRACER, "ctl", "--pid", p, "stop")
    d, status, err, _ = recording("ctl", stop_it)
    check(status == 0 and "stopped by ctl" in err, "ctl stop is said: " + err.strip())
    told(d, "kernel", "stopped by ctl")
    d, status, err, _ = recording("max", lambda record: None, "--max-size", "256K")
    check(status == 0 and "--max-size" in err, "--max-size is said at once: " + err.strip())
    told(d, "kernel", "--max-size")
    d, status, err, _ = recording("both", lambda record: None, "--max-size", "64K", seconds=2)
    check(status == 0 and "application side: it has reached --max-size" in err, "of both sides: " + err.strip())
    told(d, "kernel", "--max-size")
    told(d, "application", "--max-size")


def begins_late():
    d, *_ = recording("keep", lambda record: None, "--rotate", "64K", "--keep", "2", seconds=2)
    r, _ = told(d, "kernel", "earlier events were not kept", "begins")
    told(d, "application", "earlier events were not kept", "begins")
    check(all(c["coverage"] < 0.9 for c in r["calls"] if c["name"] in ("send", "recv") and not c["kernel_only"]),
          "the calls' coverage tells it, too")
    d, *_ = recording("flight", lambda record: None, "--flight", "1s", seconds=2)
    told(d, "kernel", "earlier events were not kept", "begins")


def dumped():
    """The application side's part at a dump is kept with the dump, and the last part with the end."""
    def dump(record):
        p = recorder(record, "magnet-kernel-t")
        time.sleep(2)
        os.kill(p, signal.SIGUSR1)
    d, *_ = recording("dump", dump, "--flight", "1s", seconds=5)
    check(sorted(os.listdir(d + "/kernel")) == ["0001", "0002"], "the kernel side has a dump, and its end")
    parts = [int(n) for n in sorted(os.listdir(d + "/app"))]
    jumps = [(a, b) for a, b in zip(parts, parts[1:]) if b != a + 1]
    r, s = told(d, "application", "earlier events were not kept", "begins")
    gaps = [g for g in r["loss"]["gaps"] if g["reason"] == "not_kept" and g["layers"] == ["app"]]
    check(len(jumps) == len(gaps) == 1 and gaps[0]["to_ns"] - gaps[0]["from_ns"] > 5e8,
          f"of the application side parts {parts} are there, and the gap between them is told: {gaps}")
    check(gaps[0]["from_ns"] - s["from_ns"] >= 9e8, "what was a second before the dump is there")


def record_killed():
    for n in range(20 if LONG else 1):
        d = f"{TOP}/record{n}"
        record = subprocess.Popen([MAGNET, "record", "-o", d, "--", PYTHON, "-c", PROGRAM, "0.5"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        helpers = [recorder(record, "magnet"), recorder(record, "magnet-kernel-t")]
        time.sleep(random.uniform(0, 0.3))
        record.kill()
        record.wait()
        wait_until_gone(helpers)
        text = run(MAGNET, "report", d).stdout
        check("INCOMPLETE: magnet record was killed" in text and "nothing lost:" not in text,
              "a killed record is told: " + "\n".join(text.split("\n")[:3]))


def full_disk():
    top = TOP + "/small"
    os.mkdir(top)
    if run("mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", top, check=False).returncode:
        print("no tmpfs can be mounted: not tried")
        return
    try:
        d, status, err, calls = recording("small/t", lambda record: None, "--app-only", seconds=3)
        check(status == 1 and "no space left" in err and "not recorded" in err, "record tells a full disk: " + err.strip())
        told(d, "application", "the collector was killed or could not write", length_known=False)
    finally:
        run("umount", top)


random.seed()
try:
    whole("--app-only")
    collector_killed(("--app-only",), 20 if LONG else 2)
    collector_stopped()
    full_disk()
    if KERNEL:
        whole()
        collector_killed((), 20 if LONG else 1)
        tracer_ended()
        stopped()
        begins_late()
        dumped()
        record_killed()
finally:
    shutil.rmtree(TOP)
