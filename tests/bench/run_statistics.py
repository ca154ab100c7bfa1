# SPDX-License-Identifier: MIT
"""
ns a run of each BPF program, by the kernel's run statistics, of this build and of the one that MAGNET_BENCH_OTHER
names, in alternating short turns. What others do makes all programs of a turn slower, so each program's ratio is
divided by that of the program in the middle of the same pair of turns.
"""
import statistics

from observers import *

TURNS, TRIPS = 24, 4000
RARE = 0.05  # runs a trip below which a program is left out

need_kernel_side()
if not OTHER_KINDS:
    sys.exit("MAGNET_BENCH_OTHER=DIR is missing: the build directory of another version")


def turn(kind, talker):
    """Place -> (runs, ns), and events, of one run of the loop."""
    tracer = kind(talker.pid)
    runs = statistics_of(tracer, talker)
    return runs, tracer.done["events"] - tracer.ready["events"]


begin("What each BPF program costs a run, in this build and in another.",
      f"pingpong -s {TRIP_SIZE} -c {WATCHED} -S {WATCHED} -n {TRIPS}", "magnet-kernel-tracer -o DIR --pid PID")
find_places()
builds = {"this": Tracer, "other": OTHER_KINDS[0]}
found = {name: [] for name in builds}
with pingpong(WATCHED, TRIPS) as talker:
    talker.ask()
    for n in range(TURNS):
        for name in sorted(builds, reverse=n % 2):
            found[name].append(turn(builds[name], talker))

places = [place for place, (runs, _) in sorted(found["other"][0][0].items(), key=lambda one: -one[1][1])
          if runs > RARE * TRIPS]
ns = {name: {p: [s[p][1] / s[p][0] for s, _ in turns] for p in places} for name, turns in found.items()}
ratios = {p: [a / b for a, b in zip(ns["this"][p], ns["other"][p])] for p in places}
middle = [statistics.median(ratios[p][n] for p in places) for n in range(TURNS)]
rows = [(p, f"{found['other'][0][0][p][0] / TRIPS:.2f}", Figure(ns["this"][p]).text(0), Figure(ns["other"][p]).text(0),
         Figure([r / m for r, m in zip(ratios[p], middle)]).text()) for p in places]
event = {name: [sum(ns for _, ns in s.values()) / events for s, events in turns] for name, turns in found.items()}
rows.append(("an event, all runs included", "", Figure(event["this"]).text(0), Figure(event["other"]).text(0),
             Figure([a / b / m for a, b, m in zip(event["this"], event["other"], middle)]).text()))
table(f"ns a run, {TURNS} turns of {TRIPS} round trips",
      ("program at", "runs a trip", "this build", "other build", "ratio to the middle program's"), rows)
print(f"  an event took {Figure([a / b for a, b in zip(event['this'], event['other'])]).text(3)} of the other build's "
      "time, not divided by anything")
how_to_read("""
The last column is the ratio of the two builds, turn by turn, divided by that of the program in the
middle: a program that is the same in both has 1. The statistics count some of their own clock
readings: an empty program has 60 to 90 ns by them.
""")
