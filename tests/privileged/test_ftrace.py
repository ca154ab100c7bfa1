# SPDX-License-Identifier: MIT
"""
The kernel's clock against ftrace, which stamps the same sched_switch events with the cycle counter
itself: one to one, in the same order, and magnet's a plausible time later.
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from ftrace import Ftrace, matched
from fixture import *

PINGPONG = os.environ["MAGNET_BUILD"] + "/tests/bench/pingpong"
TRIPS = 3000
LATE_NS = 10_000  # of the median: loose, it says that both mean the same instant


def recording():
    """Both record; None if the machine kept magnet's programs from running at some switch."""
    with Ftrace("sched/sched_switch") as theirs:
        with Recording("sh", "-c", theirs.follow_me() + f"exec {PINGPONG} -n {TRIPS}",
                       options=("--kernel-only", "--layers", "sched")) as rec:
            report = rec.report()
            events = list(rec.events())
        traced = {int(e["fields"]["child_tid"]) for e in events if e["event"] == "task_fork"}
        ours = [e for e in events if e["event"] == "sched_switch"]
        # ftrace lets some of others through
        pairs, alone = matched([s for s in theirs.switches() if {s.prev, s.next} & traced], ours)
    if alone or report["loss"]["kernel"]:
        print(f"{len(alone)} switches were not seen by magnet: once more")
        return None
    return report, pairs


need_kernel_side()
Ftrace.need()
for _ in range(5):
    found = recording()
    if found:
        break
else:
    sys.exit("magnet missed switches in each of 5 recordings")
report, pairs = found
if report["clock"]["ns_only"]:
    skip("the cycle counter is not one of constant rate here")
check(len(pairs) > TRIPS, f"{len(pairs)} switches of the traced threads, each recorded by both")
for cpu in sorted({p.cpu for p in pairs}):
    times = [p.ours for p in pairs if p.cpu == cpu]
    check(times == sorted(times), f"in the same order on CPU {cpu}")
hz = report["session"]["tsc_hz"]
bound = report["clock"]["max_error_ns"] * hz / 1e9
delays = sorted(p.ours - p.theirs for p in pairs)
check(delays[0] > -bound, f"magnet's is never the earlier: at least {delays[0]} cycles later")
median = statistics.median(delays) * 1e9 / hz
check(median < LATE_NS, f"half of them by less than {median:.0f} ns, "
      f"99 % by less than {delays[len(delays) * 99 // 100] * 1e9 / hz:.0f} ns")
