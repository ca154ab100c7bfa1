# SPDX-License-Identifier: MIT
"""
A stream longer than 4 GiB: sequence numbers wrap, offsets do not. Every call's range is where its bytes
are, at both ends.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = os.path.join(os.path.dirname(__file__), "..", "programs", "long_stream.py")
PORT, SIZE = 5240, (1 << 32) + (200 << 20)


def claims(rec, f, names):
    return [(int(e["offset"]), int(e["length"])) for e in rec.events("--flow", f["id"])
            if e["event"] in names and e["length"] not in ("", "0")]


def whole():
    with Recording(PYTHON, PROGRAM, PORT, SIZE, options=("--buffer", "16M")) as rec:
        said, report = json.loads(rec.p.stdout), rec.report()
        check(lost(report) == 0, "nothing was lost")
        for direction, calls, names in (("tx", said["sent"], ("magnet:send",)),
                                        ("rx", said["received"], ("magnet:recv",))):
            f, at, expected = flow(report, direction, PORT), 0, []
            for n in calls:
                expected.append((at, n))
                at += n
            told = claims(rec, f, names)
            wrong = [(a, b) for a, b in zip(told, expected) if a != b]
            check(told == expected, f"{direction}: all {len(calls)} calls' ranges, the last at "
                  f"{expected[-1][0]}: {wrong[:3]}")
            check(f["bytes"] == SIZE, f"{direction}: {SIZE} bytes in all")
            need_coverage(f, report, 0.99)
            check(f["closure_error_cycles"] == 0, f"{direction}: closes to 0")
        check(flow(report, "rx", PORT)["modulation"]["bytes"] > 0.99 * SIZE, "followed from end to end")


need_kernel_side()
if SLOWER > 1:
    skip("it would take too long here")
patiently(whole)
