# SPDX-License-Identifier: MIT
"""Logging on request: some functions only, waits, the begin of calls; and wrong requests."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = """
import select, socket, threading
a, b = socket.socketpair()
threading.Timer(0.2, lambda: a.send(b"late")).start()
select.select([b], [], [])
p = select.epoll(); p.register(b, select.EPOLLIN); p.poll()
b.recv(10)
b.settimeout(None)
threading.Timer(0.2, lambda: a.send(b"later")).start()
b.recv(10)
"""


def names(options, **env):
    with Recording(PYTHON, "-c", PROGRAM, options=("--app-only", *options),
                   env=dict(os.environ, **env)) as rec:
        events = [e for e in rec.events() if e["event"].startswith("magnet:")]
        return [e["event"][7:] for e in events], events, rec.p.stderr


plain, _, _ = names(())
check(plain.count("send") == 2 and plain.count("recv") == 2, "calls are logged")
check(not {"select", "epoll_wait", "entry"} & set(plain), "waits and entries only on request")

waits, _, _ = names(("--waits",))
check(waits.count("select") == 1 and waits.count("epoll_wait") == 1, "--waits logs them")
check(waits.index("select") < waits.index("epoll_wait") < waits.index("recv"), "in their place")

some, events, _ = names(("--calls", "recv", "--entries"))
check(set(some) == {"recv", "entry"}, "--calls takes what is named")
begin = [e for e in events if e["event"] == "magnet:entry"]
end = [e for e in events if e["event"] == "magnet:recv"]
check(len(begin) == len(end) == 2, "each has an entry")
for b, e in zip(begin, end):
    check(b["fields"]["ret"] == "recv" and b["fields"]["fd"] == e["fields"]["fd"], "of its function")
    check(int(b["fields"]["enter"]) <= int(e["fields"]["enter"]), "before it")
check(int(end[1]["time_ns"]) - int(begin[1]["time_ns"]) > 100_000_000,
      "a call that blocks is seen when it begins")

wrong, _, said = names((), MAGNET_WAITS="maybe", MAGNET_CALLS="send,nonsense")
check(sorted(wrong) == sorted(plain), "what cannot be understood is ignored")
for variable in ("MAGNET_WAITS=maybe", "MAGNET_CALLS=send,nonsense"):
    check(said.count("libmagnet: " + variable) == 1, "and named once: " + variable)
p = run(MAGNET, "record", "--calls", "nonsense", "--", "true", check=False)
check(p.returncode == 2 and "nonsense" in p.stderr, "the recorder refuses it")
