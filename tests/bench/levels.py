# SPDX-License-Identifier: MIT
"""Cost of protocol state by level: per request and response, and per program that records it."""
from observers import *

SIZE, TRIPS, SECONDS = 64, 10000, duration(30)
STATISTICS_TURNS = 3
LEVELS = ["none", "light", "full"]


class AtLevel(Tracer):
    def __init__(self, pid, level):
        super().__init__(pid)
        self.name, self.options = level, ("--level", level)


class OtherBuild(Tracer):
    name = "other build"
    binary = OTHER_TRACER


NAMES = LEVELS + [OtherBuild.name] * bool(OTHER_TRACER)  # to compare what is paid at level none


def observer(pid, name):
    if name == Bare.name:
        return Bare(pid)
    return OtherBuild(pid) if name == OtherBuild.name else AtLevel(pid, name)


def loop(talker):
    series, events = {}, {}
    names = [Bare.name] + NAMES
    for n in rounds(SECONDS):
        for name in in_turn(n, names):
            with observer(talker.pid, name) as o:
                series.setdefault(name, []).append(float(talker.ask()[0]))
            if name != Bare.name:
                events[name] = (o.done["events"] - o.ready["events"]) / TRIPS
    rows = []
    for name in names:
        above_none = Figure(ratios(series[name], series["none"])).text() if name != Bare.name else ""
        rows.append((name, Figure(series[name]).text(0),
                     Figure(ratios(series[name], series[Bare.name])).text(), above_none,
                     f"{events[name]:.1f}" if name in events else ""))
    table(f"one CPU: {SIZE} bytes there and back on loopback, {len(series['bare'])} turns of "
          f"{TRIPS} round trips",
          ("level", "ns a round trip", "ratio to bare", "ratio to none", "events a trip"), rows)


def run_statistics(talker):
    samples = {name: [] for name in NAMES}
    for _ in range(STATISTICS_TURNS):
        for name in NAMES:
            wait_for_others()
            with RunStatistics(), observer(talker.pid, name) as o:
                places, before = o.places(), o.run_stats()
                talker.ask()
                after = o.run_stats()
            samples[name].append({places[p]: (after[p][0] - before[p][0],
                                              after[p][1] - before[p][1])
                                  for p in after if p in places and p in before})

    def ns_a_run(name, place):
        return Figure([s[place][1] / s[place][0] for s in samples[name]
                       if s.get(place, (0,))[0]])

    often = {p for s in samples["none"] for p, (runs, _) in s.items() if runs > TRIPS / 100}
    rows = [(p, *(ns_a_run(name, p).text(0) for name in NAMES)) for p in sorted(often)]
    rows.append(("all, ns a round trip", *(
        Figure([sum(ns for _, ns in s.values()) / TRIPS for s in samples[name]]).text(0)
        for name in NAMES)))
    table(f"run statistics, {STATISTICS_TURNS} turns of {TRIPS} round trips: ns a run",
          ("program at", *NAMES), rows)


need_kernel_side()
begin("What the levels of protocol state cost a request and response over TCP on loopback.",
      f"pingpong -s {SIZE} -c {WATCHED} -S {WATCHED}",
      "magnet-kernel-tracer -o DIR --pid PID --level none|light|full")
with Talker(*before_others(WATCHED, program("pingpong"), "-g", "-s", SIZE, "-c", WATCHED, "-S", WATCHED, "-n", TRIPS),
            first_line=False) as talker:
    talker.ask()
    loop(talker)
    run_statistics(talker)
how_to_read("""
Both ends run on one CPU, so that a round trip pays for all events of both. The run statistics leave
out the way into a program and count some of their own clock readings.
""")
