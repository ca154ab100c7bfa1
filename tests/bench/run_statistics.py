# SPDX-License-Identifier: MIT
"""
run_statistics.py [--server | --bulk] [OPTION...]: ns a run of each BPF program, by the kernel's run statistics, of this
build and of the one that MAGNET_BENCH_OTHER names, both with these options of the tracer, in alternating short turns:
round trips, requests to a web server, or bulk transfers whose sender is recorded. What others do makes all programs of
a turn slower, so each program's ratio is divided by that of the program in the middle of the same pair of turns.
"""
import statistics

import bulk_transfer
from observers import *
from web_server import CONNECTIONS, TURN_S, Server

TRIPS, PORT = 4000, 5482
RARE = 0.05  # runs a trip below which a program is left out


class Trips:
    """Round trips on one CPU."""

    turns, unit = 24, "trip"
    says = f"pingpong -s {TRIP_SIZE} -c {WATCHED} -S {WATCHED} -n {TRIPS}"

    def __enter__(self):
        self.talker = pingpong(WATCHED, TRIPS)
        self.talker.__enter__()
        self.talker.ask()
        self.pid = self.talker.pid
        return self

    def __exit__(self, *unused):
        self.talker.__exit__(*unused)

    def ask(self):
        self.done = TRIPS
        self.talker.ask()


class Requests(Server):
    """Requests to a server that is recorded; whoever asks is not."""

    turns, unit = 10, "request"
    says = f"wrk -t1 -c{CONNECTIONS} -d{TURN_S}s http://127.0.0.1:{PORT}/"

    def __init__(self):
        super().__init__(PORT)

    def ask(self):
        super().ask()
        self.done = self.requests


class Bulk:
    """Transfers through a pair of veth devices, each by a process of its own that is recorded."""

    turns, unit = 10, "64 KiB"
    says = f"iperf3 -c {Network.B} -t {bulk_transfer.SECONDS}"
    next = None  # the transfer that is about to begin

    def __enter__(self):
        self.network = Network()
        self.network.__enter__()
        self.server = bulk_transfer.start_server(self.network)
        EmptyHooks.inside = [tuple(self.network.inside(ns)) for ns in (self.network.a, self.network.b)]
        return self

    def __exit__(self, *unused):
        if self.next:
            stop(self.next.p)
        stop(self.server)
        self.network.__exit__()

    @property
    def pid(self):
        self.next = self.next or bulk_transfer.Transfer(self.network)
        return self.next.pid

    def ask(self):
        transfer = self.next or bulk_transfer.Transfer(self.network)
        self.next = None
        transfer.go()
        self.done = transfer.bytes / 65536


need_kernel_side()
if not OTHER_KINDS:
    sys.exit("MAGNET_BENCH_OTHER=DIR is missing: the build directory of another version")
OPTIONS = sys.argv[1:]
if "--server" in OPTIONS:
    need_program("nginx")
    need_program("wrk")
    OPTIONS.remove("--server")
    Tracer.always = ()  # the server listens already
    load = Requests()
elif "--bulk" in OPTIONS:
    need_program("iperf3", "ip", "nsenter")
    OPTIONS.remove("--bulk")
    load = Bulk()
else:
    load = Trips()


class This(Tracer):
    options = OPTIONS


class Other(OtherTracer):
    options = OPTIONS


class Turn:
    """One turn: what each program took in it; `runs` is place -> (runs, ns)."""

    def __init__(self, runs, events=0):
        self.runs, self.events, self.done = runs, events, load.done
        self.us = sum(ns for _, ns in runs.values()) / self.done / 1e3  # of all, for a trip or request

    def ns(self, place):
        return self.runs[place][1] / self.runs[place][0]

    def runs_of(self, place):
        return self.runs.get(place, (0, 0))[0] / self.done


def turn(kind):
    tracer = kind(load.pid)
    runs = statistics_of(tracer, load)
    return Turn(runs, tracer.done["events"] - tracer.ready["events"])


def empty_turn():
    with RunStatistics(), EmptyHooks() as e:
        before = e.run_stats()
        load.ask()
        runs = dict.fromkeys(e.places, (0, 0))
        for place, b, a in zip(e.attached, before, e.run_stats()):
            runs[place] = (runs[place][0] + a[0] - b[0], runs[place][1] + a[1] - b[1])
        return Turn(runs)


begin("What each BPF program costs a run, in this build and in another.", load.says,
      " ".join(("magnet-kernel-tracer -o DIR --pid PID", *OPTIONS)))
builds = {"this": This, "other": Other}
found, empty = {name: [] for name in builds}, []
with load:
    with This(load.pid) as t:
        EmptyHooks.places = sorted(set(t.places().values()))
    for n in range(load.turns):
        empty.append(empty_turn())
        for name in sorted(builds, reverse=n % 2):
            found[name].append(turn(builds[name]))

both = [t for turns in found.values() for t in turns]
places = sorted((p for p in both[0].runs if all(t.runs_of(p) > RARE for t in both) and all(e.runs_of(p) for e in empty)),
                key=lambda p: -found["other"][0].runs[p][1])
ratios = {p: [a.ns(p) / b.ns(p) for a, b in zip(*found.values())] for p in places}
middle = [statistics.median(r[n] for r in ratios.values()) for n in range(load.turns)]
rows = [(p, f"{found['other'][0].runs_of(p):.2f}", Figure([e.ns(p) for e in empty]).text(0),
         *(Figure([t.ns(p) for t in turns]).text(0) for turns in found.values()),
         Figure([r / m for r, m in zip(ratios[p], middle)]).text()) for p in places]
rows.append((f"all programs, us a {load.unit}", "", Figure([e.us for e in empty]).text(2),
             *(Figure([t.us for t in turns]).text(2) for turns in found.values()), ""))
table(f"ns a run, {load.turns} turns",
      ("program at", f"runs a {load.unit}", "empty program", "this build", "other build",
       "ratio to the middle program's"), rows)
print(f"  all programs took {Figure([a.us / b.us for a, b in zip(*found.values())]).text(3)} of the other build's time, "
      "not divided by anything")
if all(t.events > t.done for t in both):
    print("  ns an event, all runs included: " + ", in the other build ".join(
        Figure([t.us * 1e3 * t.done / t.events for t in turns]).text(0) for turns in found.values()))
    above = [[(t.us - e.us) * 1e3 * t.done / t.events for t, e in zip(turns, empty)] for turns in found.values()]
    print("  ns an event above empty programs: " + ", in the other build ".join(Figure(a).text(0) for a in above) +
          f", ratio {Figure([a / b for a, b in zip(*above)]).text()}")
how_to_read("""
The last column is the ratio of the two builds, turn by turn, divided by that of the program in the
middle: a program that is the same in both has 1. The statistics count some of their own clock
readings, as those of an empty program show.
""")
