# SPDX-License-Identifier: MIT
"""
All ways to send and to read a TCP stream: which bytes each call moved is what the bytes themselves
tell. Looking moves nothing, discarding does, urgent bytes have their places between what is read in
band, and neither error queues nor mapped pages shift what comes after.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

WAYS = os.path.join(os.path.dirname(__file__), "..", "programs", "ways.py")
PORT = 5150


def claims(events, flow_id):
    """Returns the data moved by the program's calls, in order: [name, offset, length]."""
    found = []
    for e in events:
        if e["flow"] != flow_id or not e["event"].startswith("magnet:") or e["length"] in ("", "0"):
            continue
        if "ranges" in e["fields"]:
            sys.exit(f"a call has several ranges: {e}")
        found.append([e["event"].removeprefix("magnet:"), int(e["offset"]), int(e["length"])])
    return found


def recorded():
    rec = Recording(PYTHON, WAYS, PORT)
    report = rec.report()
    flows = [f for f in report["flows"] if any(f":{PORT + i}" in f["remote"] + f["local"]
                                               for i in range(17))]
    rec.whole = not report["loss"]["kernel"] and all(
        f["incomplete_bytes"] == 0 and f["coverage"] in (1, None) for f in flows)
    return rec


need_kernel_side()
for _ in range(6 * SLOWER):
    rec = recorded()
    if rec.whole:
        break
    print("some bytes lack a boundary: once more")
    rec.__exit__()
with rec:
    report, events = rec.report(), list(rec.events())
    events = [e for e in events if e["flow"]]
    for said in map(json.loads, rec.p.stdout.splitlines()):
        way, port = said["way"], said["port"]
        tx, rx = flow(report, "tx", port, comm="python3"), flow(report, "rx", port, comm="python3")
        sent, read = ([c for c in said[k] if c[1] is not None] for k in ("sent", "read"))
        told = claims(events, tx["id"])
        if sent:  # another process may have sent, too
            check(told == sent, f"{way}: what {len(sent)} calls sent" + ("" if told == sent else
                                                                       f": {told}, not {sent}"))
        told = claims(events, rx["id"])
        check(told == read, f"{way}: what {len(read)} calls read" + ("" if told == read else
                                                                  f": {told}, not {read}"))
        if way == "peek":
            [one] = json.loads(run(MAGNET, "report", "--json", "--flow", rx["id"], rec.dir).stdout)["flows"][:1]
            moved = sum(c["bytes"] for c in one["calls"])
            check(moved == rx["bytes"], f"{way}: the calls on the flow moved its {moved} bytes")
        unread = 1 if way == "urgent_unread" else 0
        check(tx["bytes"] == rx["bytes"] > 0, f"{way}: {tx['bytes']} bytes in all")
        check(rx["urgent_unread_bytes"] == unread, f"{way}: {unread} urgent bytes unread")
        for f in (tx, rx):
            check(f["coverage"] == 1 and f["incomplete_bytes"] == 0, f"{way}: {f['direction']} is complete")
            check(f["closure_error_cycles"] == 0, f"{way}: and closes to 0")
        check(rx["complete_bytes"] == rx["bytes"] - unread, f"{way}: every byte was followed")
        check(rx["modulation"]["bytes"] == rx["bytes"] - unread, f"{way}: from end to end")
