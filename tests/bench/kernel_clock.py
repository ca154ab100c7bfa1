# SPDX-License-Identifier: MIT
"""The kernel's stamps against the cycle counter, read inside BPF and by ftrace at the same events."""
import statistics

from lib import *
from clockmap import ClockMap, InsideBpf
from fixture import Recording
from ftrace import Ftrace, matched

COUNTER = [f"{BUILD}/tests/programs/bpf_counter", f"{BUILD}/tests/programs/bpf_counter.bpf.o"]
TRIPS = 10000
TURNS = 3


def quantiles(name, values, hz):
    values = sorted(values)
    return (name, f"{len(values):,}") + tuple(
        f"{values[min(len(values) - 1, int(len(values) * q))] / hz * 1e9:,.1f}"
        for q in (0, 0.5, 0.99, 1))


def inside_bpf():
    with Recording(*COUNTER, options=("--kernel-only", "--layers", "none"), ok=None) as rec:
        if rec.p.returncode:
            print("  there is no perf event of the counter here")
            return
        report, clock = rec.report(), ClockMap(rec.events())
        theirs = InsideBpf(rec.p.stdout.splitlines())
    hz = report["session"]["tsc_hz"]
    bound = report["clock"]["max_error_ns"] * hz / 1e9
    rows = [r for r in theirs.rows if clock.covers(r[2])]
    narrow = sorted(r[3] - r[1] for r in rows)[len(rows) // 10]
    off, outside = {}, 0
    for cpu, before, ns, after in rows:
        slack = bound + theirs.widths[cpu]
        mapped = clock(ns)
        outside += not before - slack <= mapped <= after + slack
        if after - before <= narrow:  # the others were disturbed, and say that much less
            off.setdefault(cpu, []).append(mapped - (before + after) / 2)
    about = {cpu: statistics.median(values) for cpu, values in off.items()}
    table(f"the counter read inside BPF before and after the clock, at each switch, ns; stated bound "
          f"{bound / hz * 1e9:.1f} ns", ("", "n", "min", "p50", "p99", "max"), [
              quantiles("from reading to reading", [r[3] - r[1] for r in rows], hz),
              quantiles("|map - middle|, less its median on the CPU",
                        [abs(v - about[cpu]) for cpu in off for v in off[cpu]], hz)])
    print("  outside the readings by more than the bound and what is not known of the counter "
          f"({max(theirs.widths.values()) / hz * 1e9:.0f} ns): {outside} of {len(rows):,}; medians "
          + ", ".join(f"{v / hz * 1e9:.1f}" for v in about.values()) + " ns")


def beside_ftrace():
    with Ftrace("sched/sched_switch") as theirs:
        with Recording("sh", "-c", theirs.follow_me() + f"exec {program('pingpong')} -n {TRIPS}",
                       options=("--kernel-only", "--layers", "sched")) as rec:
            report, events = rec.report(), list(rec.events())
        traced = {int(e["fields"]["child_tid"]) for e in events if e["event"] == "task_fork"}
        ours = [e for e in events if e["event"] == "sched_switch"]
        pairs, alone = matched([s for s in theirs.switches() if {s.prev, s.next} & traced], ours)
    hz = report["session"]["tsc_hz"]
    table(f"magnet's stamp of a switch less ftrace's, ns ({len(alone)} of theirs alone)",
          ("", "n", "min", "p50", "p99", "max"),
          [quantiles("delay", [p.ours - p.theirs for p in pairs], hz)])


need_kernel_side()
Ftrace.need()
begin("The kernel's stamps against the cycle counter at the same events.",
      "magnet record --kernel-only --layers none -- bpf_counter bpf_counter.bpf.o",
      f"magnet record --kernel-only --layers sched -- pingpong -n {TRIPS}; trace_clock x86-tsc")
for _ in rounds(50, at_least=TURNS, at_most=TURNS):
    inside_bpf()
    beside_ftrace()
how_to_read("""
Inside BPF the clock is read as magnet's programs do it, between two readings of the counter. Where
the counter of a perf event starts is known to some width only, the same for all readings on a CPU:
so a constant difference says nothing, and what is left beside it is the map's error and the readings'
jitter; the narrowest tenth of the readings is used for it. ftrace stamps with the counter itself, and its probe runs before magnet's: the delay is the
time between both probes, a check of plausibility.
""")
