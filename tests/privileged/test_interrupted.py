# SPDX-License-Identifier: MIT
"""
Calls that signals interrupt, of many messages, and in which their process dies: as strace counts them,
in a program that libmagnet.so sees and in a static one, of which only the kernel side knows.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from strace import WatchedRecording, magnet_counts

need_kernel_side()
need_program("strace")
for program in sys.argv[1:]:
    print("---", os.path.basename(program))
    with WatchedRecording(program) as rec:
        check(rec.p.returncode == 0 and not rec.p.stdout + rec.p.stderr,
              "each call did what it should " + rec.p.stdout + rec.p.stderr)
        report = rec.report()
        check(lost(report) == 0, "nothing was lost")
        by_strace, (by_magnet, alone) = rec.by_strace(), magnet_counts(report)
        for name in sorted(set(by_strace) | set(by_magnet)):
            check(by_magnet.get(name) == by_strace.get(name),
                  f"{name}: number and bytes by strace {by_strace.get(name)}, by magnet "
                  f"{by_magnet.get(name)}, {alone.get(name, 0)} of them kernel-only")
        check(report["state_sum_mismatches"] == 0, "every call's states sum to it")
        for c in report["calls"]:
            states = [v for v in c["states_ns"].values() if v is not None]
            if states and c["complete"] == c["n"]:
                near(sum(states), c["total_ns"]["mean"], 1e-6,
                     f"ns of {c['name']} {c['flow_kind']}, its states summed")
            if states and c["name"] == "recv" and c["flow_kind"] == "unix_stream":
                check(c["states_ns"]["signal"] > 0, "handlers' time is theirs")
                check(c["overhead_blocking_ns"]["p50"] < 0.5 * c["total_ns"]["mean"],
                      f"and not the overhead: {c['overhead_blocking_ns']['p50']:.0f} ns of "
                      f"{c['total_ns']['mean']:.0f}")
        check(report["unjoined_calls"] == 0, "every call was joined to its system call")
