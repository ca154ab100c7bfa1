# SPDX-License-Identifier: MIT
"""
Every message that sockets of any family but TCP's send or receive has an event, with what the call
returned; whatever hooks this kernel has for it.
"""
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = os.path.join(os.path.dirname(__file__), "..", "programs", "messages.py")


def told(rec):
    """By socket: what its events say."""
    found = {}
    for e in rec.events():
        if e["event"] in ("sock_sent", "sock_received") and e["flow"]:
            sock = e["flow"].split("/")[0].removeprefix("ino:")
            what = e["event"].removeprefix("sock_")
            found.setdefault(sock, {"sent": [], "received": []})[what].append(
                [int(e["fields"]["ret"]), int(e["fields"]["flags"], 16)])
    return found


def looked(said, report):
    """The bytes of calls are those that were received: MSG_PEEK leaves them in the queue."""
    kinds = {"udp": ("AF_INET SOCK_DGRAM", "AF_INET6 SOCK_DGRAM"), "unix_dgram": ("AF_UNIX SOCK_DGRAM",),
             "unix_stream": ("AF_UNIX SOCK_STREAM",)}
    for kind, of in kinds.items():
        calls = [c for s in said.values() if s["kind"] in of for c in s["received"] if c[0] > 0]
        moved = sum(ret for ret, flags in calls if not flags & socket.MSG_PEEK)
        rows = [c for c in report["calls"] if c["flow_kind"] == kind and c["name"] in ("recv", "read")]
        check(sum(c["bytes"] for c in rows) == moved < sum(ret for ret, _ in calls),
              f"{kind}: recv and read moved {moved} bytes: {[(c['name'], c['n'], c['bytes']) for c in rows]}")


def every_message():
    with Recording(PYTHON, PROGRAM) as rec:
        for name in ("sock_sent", "sock_received"):
            if not hooked(rec, name):
                skip(f"this kernel has no hook for {name}")
        said, found = json.loads(rec.p.stdout), told(rec)
        looked(said, rec.report())
    for sock, calls in said.items():
        kind = calls["kind"]
        events = found.get(sock, {"sent": [], "received": []})
        if calls["pages"]:
            n = len(calls["sent"])
            more = sum(ret for ret, _ in events["sent"][n:])
            check(more == calls["pages"], f"{kind}: sendfile() of {calls['pages']} bytes: {more}")
            events["sent"] = events["sent"][:n]
        for what in ("sent", "received"):
            check(events[what] == calls[what], f"{kind}: {len(calls[what])} {what}, "
                  f"{sum(ret for ret, _ in calls[what] if ret > 0)} bytes: {len(events[what])} events")


def left_waiting():
    """Who waits in a call that is hooked as the hooks go, comes back from it all the same."""
    s, r = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    u.bind(("127.0.0.1", 0))
    got = []
    waiters = [threading.Thread(target=lambda w=w: got.append(w.recv(100)), daemon=True) for w in (r, u)]
    with tempfile.TemporaryDirectory() as top:
        def wait_inside():
            while not os.path.exists(top + "/begun"):
                time.sleep(0.01)
            for w in waiters:
                w.start()
        starter = threading.Thread(target=wait_inside)
        starter.start()
        with Recording("sh", "-c", f"touch {top}/begun; sleep {0.3 * min(SLOWER, 4)}"):
            starter.join()
    check(not got, "two threads wait")
    time.sleep(0.2)
    s.send(b"1")
    u.sendto(b"2", u.getsockname())
    for w in waiters:
        w.join(10)
    check(sorted(got) == [b"1", b"2"], "and get what is sent to them when nothing is hooked any more")


need_kernel_side()
patiently(every_message)
left_waiting()
