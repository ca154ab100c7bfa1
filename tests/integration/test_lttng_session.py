# SPDX-License-Identifier: MIT
"""What a user's own LTTng session can ask for: single events, filters on their fields, contexts."""
import os
import re
import sys

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


def events(program=PROGRAM, **kw):
    with LttngSession(**kw) as session:
        run(PYTHON, "-c", program, env=dict(os.environ, LD_PRELOAD=LIBMAGNET, **session.env))
        session.end()
        return run("babeltrace2", session.trace).stdout.splitlines()


lines = events(events="'magnet:send' --filter 'ret > 1400'", more="lttng add-context -u -t procname")
check([re.search(r" ret = (\d+)", line)[1] for line in lines] == ["1401", "2000"],
      "a filter on the return value")
check(all("magnet:send" in line for line in lines), "of one event")
check(all('procname = "python3"' in line for line in lines), "with a context")
check(all(re.search(r"\berror = 0, tid = \d+, pid = \d+", line) for line in lines), "and its fields")
lines = events(events="magnet:recv", more="lttng enable-event -u -c c magnet:socketpair")
names = [re.search(r"magnet:(\w+):", line)[1] for line in lines]
check(names == ["socketpair"] + ["recv"] * 4, f"events by name: {names}")
