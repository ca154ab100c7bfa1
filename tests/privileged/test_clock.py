# SPDX-License-Identifier: MIT
"""
The clock: readings go on when the tracer gets little of the CPU and sleeps for long, what the report
says of them is what the trace holds, and no reading of the program contradicts the stated bound.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from clockmap import ClockMap, InsideBpf
from fixture import *

BPF_COUNTER = sys.argv[1:3]
PINGPONG = os.environ["MAGNET_BUILD"] + "/tests/bench/pingpong"
PROMISED_NS = 100_000_000


def starved():
    """Three busy threads a CPU beside it, and the rings emptied once a second."""
    hog = [PYTHON, "-c", "while True: pass"]
    hogs = [subprocess.Popen(hog) for _ in range(3 * os.cpu_count())]
    try:
        with Recording(PINGPONG, "-t", 2, "-r", 1000, options=("--kernel-only", "--drain", "1000",
                                                               "--layers", "socket")) as rec:
            events = [e for e in rec.events() if e["event"] in ("clock_sync", "clock_cpus")]
            return rec.report(), events
    finally:
        for p in hogs:
            stop(p)


def readings(report, events):
    """The points used, and the intervals between them."""
    clock = ClockMap(events)
    points, between = clock.ns, clock.between()
    check(report["clock"]["points"] == len(points), f"{len(points)} readings of the clock")
    check(report["clock"]["longest_gap_ns"] == max(between),
          f"the longest time without is told: {max(between) / 1e6:.1f} ms")
    check(report["clock"]["gaps"] == sum(b > PROMISED_NS for b in between),
          f"and that {report['clock']['gaps']} were longer than 100 ms")
    seconds = (points[-1] - points[0]) / 1e9
    check(len(between) >= 10 * seconds, f"ten a second: {len(between)} in {seconds:.2f} s")


def between_cpus(report, events):
    low, high = -10**18, 10**18
    for e in events:
        if e["event"] == "clock_cpus":
            f = {k: int(v) for k, v in e["fields"].items()}
            check(f["offset_low"] <= f["offset_high"], f"CPU {f['cpu']} is compared with CPU "
                  f"{f['ref']}: {f['offset_low']} to {f['offset_high']} cycles")
            low, high = max(low, f["offset_low"]), min(high, f["offset_high"])
    told = report["clock"]["cpu_offset_ns"]
    if low == -10**18:
        return False
    check(told is not None, f"two CPUs are known to {told:.0f} ns")
    if low <= 0 <= high:
        near(told, max(-low, high) / report["session"]["tsc_hz"] * 1e9, 0.001,
             "the farther bound of what all measurements agree on")
    return True


def never_outside():
    """The program reads counter, clock, counter; and its calls enclose their system calls."""
    with tempfile.NamedTemporaryFile("r", prefix="magnet-test-") as f:
        with Recording(PINGPONG, "-n", 1500, "-p", f.name) as rec:
            report = rec.report()
            calls, kernel, known = {}, {}, []
            for e in rec.events():
                cycles = int(e["cycles"])
                if e["event"] in ("magnet:send", "magnet:recv"):
                    calls.setdefault(e["tid"], []).append(
                        (int(e["fields"]["enter"]), int(e["fields"]["exit"])))
                elif e["event"] in ("sys_enter", "sys_exit") \
                        and e["fields"]["call"] in ("sendto", "recvfrom"):
                    kernel.setdefault(e["tid"], []).append(cycles)
                    known.append((int(e["time_ns"]), cycles))
        taken = [tuple(map(int, line.split())) for line in f]
    if report["clock"]["ns_only"]:
        print("not tested: the cycle counter is not one of constant rate here")
        return
    bound = report["clock"]["max_error_ns"] * report["session"]["tsc_hz"] / 1e9 + 1
    checked = outside = 0
    for tid, ours in calls.items():
        theirs = kernel.get(tid, [])
        if len(theirs) != 2 * len(ours):
            continue  # an event was skipped
        for (u0, u1), k0, k1 in zip(sorted(ours), theirs[::2], theirs[1::2]):
            checked += 1
            outside += k0 < u0 - bound or k1 > u1 + bound
    check(checked > 1000 and outside == 0,
          f"{checked} system calls lie within their calls, to {bound:.0f} cycles")

    known.sort()
    checked = outside = i = 0
    for a, ns, b in taken:
        while i + 2 < len(known) and known[i + 1][0] < ns:
            i += 1
        (x0, y0), (x1, y1) = known[i], known[i + 1]
        if not x0 <= ns <= x1 or x0 == x1:
            continue
        mapped = y0 + (y1 - y0) * (ns - x0) / (x1 - x0)
        checked += 1
        outside += not a - bound - 1 <= mapped <= b + bound + 1
    check(checked > 50 and outside == 0,
          f"{checked} readings of the program agree with the map, to {bound:.0f} cycles")


def inside_bpf():
    """The clock as BPF reads it at a switch, against the counter read around it at the same place."""
    with Recording(*BPF_COUNTER, options=("--kernel-only", "--layers", "none"), ok=None) as rec:
        if rec.p.returncode == 77:
            print("not tested: there is no perf event of the counter here")
            return
        check(rec.p.returncode == 0, "the counter was read inside BPF")
        report, clock = rec.report(), ClockMap(rec.events())
        theirs = InsideBpf(rec.p.stdout.splitlines())
    if report["clock"]["ns_only"]:
        print("not tested: the cycle counter is not one of constant rate here")
        return
    bound = report["clock"]["max_error_ns"] * report["session"]["tsc_hz"] / 1e9 + 1
    checked = outside = 0
    for cpu, before, ns, after in theirs.rows:
        if clock.covers(ns):
            checked += 1
            slack = bound + theirs.widths[cpu]
            outside += not before - slack <= clock(ns) <= after + slack
    check(checked > 1000 and outside == 0,
          f"{checked} switches' times lie where the counter says, to {bound:.0f} cycles and what is "
          f"not known of the counter, {max(theirs.widths.values())}")


def nanoseconds_only():
    """The same trace as if this machine's counter were not one of constant rate."""
    with Recording(PINGPONG, "-n", 300) as rec:
        usual = rec.report()
        path = rec.dir + "/session.json"
        with open(path) as f:
            session = json.load(f)
        session["counter_invariant"] = False
        with open(path, "w") as f:
            json.dump(session, f)
        report, text = rec.report(), rec.text()
        events = list(rec.events())
    check(report["clock"]["ns_only"] and report["clock"]["max_error_ns"] is None
          and report["session"]["tsc_hz"] is None, "neither frequency nor bound is told")
    check("has no constant rate on this machine" in text and "GHz" not in text, "the text says so")
    check(all(e["cycles"] == "" for e in events), "no event has cycles")
    check(report["unjoined_calls"] == usual["unjoined_calls"]
          and report["state_sum_mismatches"] == 0, "calls are joined, and their states sum to them")
    for a, b in zip(usual["calls"], report["calls"]):
        check((a["name"], a["n"], a["joined"]) == (b["name"], b["n"], b["joined"]),
              f"{a['n']} calls of {a['name']}")
        near(b["total_ns"]["mean"], a["total_ns"]["mean"], 0.01, "ns each")
        check(b["overhead_ns"]["uncertainty"] is None, "how uncertain its overhead is nobody knows")
    check([f["bytes"] for f in report["flows"]] == [f["bytes"] for f in usual["flows"]]
          and not any(f["closure_error_cycles"] for f in report["flows"]), "flows are the same")


need_kernel_side()
nanoseconds_only()
inside_bpf()
report, events = starved()
readings(report, events)
if os.cpu_count() > 1 and not report["clock"]["ns_only"]:
    # nobody promises that two busy CPUs meet
    check(between_cpus(report, events) or any(between_cpus(*starved()) for _ in range(3)),
          "the CPUs' counters were compared")
never_outside()
