# SPDX-License-Identifier: MIT
"""Requests of a user's own LTTng session: single events, filters on their fields, contexts."""
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from lttng import LttngSession

LIBMAGNET = os.environ["MAGNET_BUILD"] + "/preload/libmagnet.so"
PROGRAM = """
import socket
a, b = socket.socketpair()
for n in (1000, 1400, 1401, 2000):
    a.send(bytes(n))
    b.recv(n)
"""


EXCHANGE = os.path.join(os.path.dirname(__file__), "..", "programs", "exchange.py")


def rate_by_readings():
    """The counter's, by the two readings that a recording of magnet's own has."""
    with Recording("sleep", "0.2", options=("-q", "--app-only")) as rec:
        with open(rec.dir + "/session.json") as f:
            a, b = json.load(f)["clock"]
    return (b["cycles"] - a["cycles"]) * 1e9 / (b["mono_ns"] - a["mono_ns"])


def short_session():
    """A session of some milliseconds without counter readings and without a kernel side."""
    with LttngSession() as session:
        run(PYTHON, EXCHANGE, "20", env=dict(os.environ, LD_PRELOAD=LIBMAGNET, **session.env))
        session.end()
        report = json.loads(run(MAGNET, "report", "--json", session.trace).stdout)
        text = run(MAGNET, "report", session.trace).stdout
    clock, hz = report["clock"], rate_by_readings()
    off = abs(report["session"]["tsc_hz"] / hz - 1) * 1e6
    check(clock["source"] == "events" and clock["no_max_error"] is None and clock["max_error_ns"] > 0,
          f"calls tell the counter's rate, with a bound: {clock}")
    check(off <= clock["rate_error_ppm"] + 1,
          f"which is off by {off:.0f} ppm, known to {clock['rate_error_ppm']:.0f}")
    check("no readings of the counter" in text and re.search(r"within [\d.]+ (ppm|%)", text), "and the text says so")


def events(program=PROGRAM, **kw):
    with LttngSession(**kw) as session:
        run(PYTHON, "-c", program, env=dict(os.environ, LD_PRELOAD=LIBMAGNET, **session.env))
        session.end()
        return run("babeltrace2", session.trace).stdout.splitlines()


def payloads(line):
    return line[line.index("magnet:"):]


def whole_and_by_field():
    """A session with a filter has LTTng's own probe, which writes field by field; others have ours."""
    program = PROGRAM + """
a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 70000)
a.setblocking(False)
try:
    a.recv(5, socket.MSG_PEEK)
except BlockingIOError:
    pass
"""
    lines = events(program, subbuf="256k", more="lttng enable-channel -u filtered; "
                   "lttng enable-event -u -c filtered 'magnet:*' --filter 'tid > 1'")
    twice = sorted(map(payloads, lines))
    check(len(twice) >= 20 and twice[::2] == twice[1::2],
          f"{len(lines) // 2} calls have the same fields, written as one piece and field by field")
    check(any("value = 70000" in x for x in twice) and any("error = 11" in x for x in twice),
          "down to the rare ones")


def trigger():
    """LTTng's condition on an event, which is no recording of it."""
    with LttngSession(more="lttng add-trigger --condition=event-rule-matches --type=user "
                      "--name=magnet:socketpair --action=rotate-session t") as session:
        run(PYTHON, "-c", PROGRAM, env=dict(os.environ, LD_PRELOAD=LIBMAGNET, **session.env))
        until = time.monotonic() + 20
        while not os.path.isdir(session.trace + "/archives") and time.monotonic() < until:
            time.sleep(0.05)
        check(os.path.isdir(session.trace + "/archives"), "a trigger on a call rotates the session")
        session.end()


whole_and_by_field()
trigger()
lines = events(events="'magnet:send' --filter 'ret > 1400'", more="lttng add-context -u -t procname")
check([re.search(r" ret = (\d+)", line)[1] for line in lines] == ["1401", "2000"],
      "a filter on the return value")
check(all("magnet:send" in line for line in lines), "of one event")
check(all('procname = "python3"' in line for line in lines), "with a context")
check(all(re.search(r"\berror = 0, tid = \d+, pid = \d+", line) for line in lines), "and its fields")
lines = events(events="magnet:recv", more="lttng enable-event -u -c c magnet:socketpair")
names = [re.search(r"magnet:(\w+):", line)[1] for line in lines]
check(names == ["socketpair"] + ["recv"] * 4, f"events by name: {names}")
short_session()
