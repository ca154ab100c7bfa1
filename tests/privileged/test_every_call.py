# SPDX-License-Identifier: MIT
"""Each wrapped call, by each name, on each family: strace, in the same run, counts as many."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from strace import WatchedRecording, magnet_counts

PROGRAM = sys.argv[1]

need_kernel_side()
need_program("strace")
with WatchedRecording(PROGRAM) as rec:
    check(rec.p.returncode == 0 and not rec.p.stdout + rec.p.stderr,
          "each call did what it should " + rec.p.stdout + rec.p.stderr)
    by_strace = rec.by_strace()
    report = rec.report()
    check(lost(report) == 0, "nothing was lost")
    by_magnet, alone = magnet_counts(report)
    for name, count in sorted(by_strace.items()):
        check(by_magnet.get(name) == count,
              f"strace counts {count[0]} {name} of {count[1]} bytes, magnet {by_magnet.get(name)}")
    check(set(by_magnet) == set(by_strace), "and no others")
    check(report["unjoined_calls"] == 0, "every call was joined to its system call")
    check(not alone, f"libmagnet.so saw every one {alone}")
