# SPDX-License-Identifier: MIT
"""
Descriptors that are copied, inherited, handed over and used again: each call's bytes are those of its
connection, by whichever number and process.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = os.path.join(os.path.dirname(__file__), "..", "programs", "passing.py")
PORT = 5260

need_kernel_side()
with undisturbed(lambda: Recording(PYTHON, PROGRAM, PORT)) as rec:
    report, events = rec.report(), [e for e in rec.events() if e["event"].startswith("magnet:")]
    for way, pid, port, direction, offset, length in json.loads(rec.p.stdout):
        f = next(f for f in report["flows"] if f["direction"] == direction and f["bytes"]
                 and any(end.endswith(f":{port}") for end in (f["local"], f["remote"])))
        told = [e for e in events if e["flow"] == f["id"] and e["offset"] == str(offset)
                and int(e["pid"]) == pid]
        check(len(told) == 1 and told[0]["length"] == str(length),
              f"{way}: process {pid} moved {length} bytes at {offset} of {f['id']}")
    for direction in ("tx", "rx"):
        f = flow(report, direction, PORT)
        check(f["coverage"] == 1 and f["kernel_only_bytes"] == 0, f"{direction}: every byte by a known call")
    check(flow(report, "tx", PORT)["bytes"] == flow(report, "rx", PORT)["bytes"], "as many as arrived")
