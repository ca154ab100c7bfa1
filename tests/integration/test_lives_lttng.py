# SPDX-License-Identifier: MIT
"""The most important lives in an LTTng session of the user's own, whose threads are in the program."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from lives import *
from lttng import LttngSession

CLOSED = times(3, SINK)
GROUPS = (
    {"brief": [SINK, {"send": 3}], "end _exit": [SINK, {"send": 4}], "end abort": [SINK, {"send": 4}],
     "exec_chain 10": [times(10, plus(SINK, {"send": 1, "close": 1}))]},
    {"fork": [SINK, {"send": 6}], "storm 50": [SINK, {"send": 250}],
     "vfork": [SINK, {"send": 4, "write": 1, "close": 1}], "spawn": [SINK, {"write": 2, "send": 1}]},
    {"threads 50": [SINK, {"send": 250}],
     "cancel": [times(2, SINK), {"send": 2, "recv": 2, "close": 2}]},
    {"daemon loop": [CLOSED, {"send": 5, "close": 2}], "daemon raw": [CLOSED, {"send": 5, "close": 2}],
     "daemon dup2": [CLOSED, {"send": 5, "close": 1}]},
    {f"daemon {how}": [CLOSED, {"send": 5, "close": 1}]
     for how in ("close_range", "raw_range", "closefrom", "all")},
)
KILLS = 60
DEADLINE = 30


def in_session(session, *command):
    env = dict(os.environ, LD_PRELOAD=LIBMAGNET, LTTNG_UST_REGISTER_TIMEOUT="-1", **session.env)
    return subprocess.run([LIVES, *command], env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=DEADLINE)


def recorded(session):
    """{name: number} of all events, once the session has ended."""
    before = time.monotonic()
    session.end()
    check(time.monotonic() - before < DEADLINE, "the session ends in time")
    counts = Counter()
    for line in run("babeltrace2", session.trace, check=False).stdout.splitlines():
        m = re.search(r" magnet:(\w+): ", line)
        counts[m[1] if m else "?"] += 1
    return dict(counts)


def lives(cases):
    """Each runs as without magnet, and together they have made the calls that each should."""
    with LttngSession() as session:
        for case in cases:
            without, p = bare(LIVES, *case.split()), in_session(session, *case.split())
            same = all(getattr(p, k) == getattr(without, k) for k in ("returncode", "stdout", "stderr"))
            check(same, f"{case}: exit status and output as without" + ("" if same else f", not {p}"))
        counts, expected = recorded(session), plus(*sum(cases.values(), []))
        check(counts == expected, f"the calls are {expected}, {counts}")


def killed():
    """LTTng's daemons may wait for the dead for ever; no program does."""
    with LttngSession() as session:
        check(in_session(session, "killed", str(KILLS)).returncode == 0, f"{KILLS} programs are killed")
        check(in_session(session, "brief").returncode == 0, "another one runs")
        session.kill()


own_network()
for group in GROUPS:
    lives(group)
killed()
