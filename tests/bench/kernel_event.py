# SPDX-License-Identifier: MIT
"""Cost of the kernel side per request and response, and per event."""
from observers import *

# where the server runs, round trips a turn, seconds of turns
PLACEMENTS = [("one CPU", WATCHED, 10000, duration(24)), ("two CPUs", WATCHING, 2500, 20)]
SLOW_TURNS = 3       # of peers that take a second or more to start and stop
STATISTICS_TURNS = 3

need_kernel_side()
if len(CPUS) < 2 or os.environ.get("MAGNET_BENCH_RESULTS"):  # the table has the first alone
    PLACEMENTS = PLACEMENTS[:1]


def turn(observer, talker):
    """ns a round trip while it watches."""
    with observer:
        return float(talker.ask()[0])


def events_of_a_trip(talker, trips, kind=Tracer):
    with kind(talker.pid) as t:
        before = t.ready["events"]
        talker.ask()
    return (t.done["events"] - before) / trips, t


def compare(name, server_cpu, trips, kinds, seconds):
    series = {o.name: [] for o in kinds}
    notes = {}
    with pingpong(server_cpu, trips) as talker:
        talker.ask()
        events, _ = events_of_a_trip(talker, trips)
        light, _ = events_of_a_trip(talker, trips, LightTracer)
        for n in rounds(seconds):
            for kind in in_turn(n, kinds):
                if kind.slow and n >= SLOW_TURNS:
                    continue
                observer = kind(talker.pid)
                series[kind.name].append(turn(observer, talker))
                notes[kind.name] = observer.note
    show(name, trips, series, notes, events, light)


def show(name, trips, series, notes, events, light):
    bare, rows = series["bare"], []
    for text, values in series.items():
        result(f"round trip, {name}: {text}", ratios(values, bare))
        per_event = ""
        count = {"all layers": events, "empty programs": events, "empty events": events,
                 "empty events, light": light, "light": light}.get(text)
        if count:
            per_event = Figure([d / count for d in differences(values, bare)]).text(0)
        rows.append((text, Figure(values).text(0), Figure(ratios(values, bare)).text(), per_event,
                     notes.get(text, "")))
    table(f"{name}: {TRIP_SIZE} bytes there and back on loopback, {len(bare)} turns of {trips} round "
          f"trips ({SLOW_TURNS} of slow peers); {events:.1f} events a trip, light {light:.1f}",
          ("", "ns a round trip", "ratio to bare", "ns above bare an event", "last turn"), rows)
    net = [d / events for d in differences(series["all layers"], series["empty programs"])]
    result(f"event, {name}", net)
    print(f"  by the loop, above empty programs at the same places: {Figure(net).text(0)} ns an "
          "event")


def run_statistics():
    server_cpu, trips = PLACEMENTS[0][1:3]
    full, empty, per_event = [], [], []
    with pingpong(server_cpu, trips) as talker:
        talker.ask()
        for _ in range(STATISTICS_TURNS):
            t = Tracer(talker.pid)
            wait_for_others()
            full.append(statistics_of(t, talker))
            events = t.done["events"] - t.ready["events"]
            per_event.append((events, sum(ns for _, ns in full[-1].values())))
            empty.append(empty_statistics(talker))

    def ns_a_run(samples, place):
        return Figure([s[place][1] / s[place][0] for s in samples if s.get(place, (0,))[0]])

    floor = Figure([ns / runs for s in empty for runs, ns in s if runs])
    rows = []
    for place in sorted(full[0], key=lambda p: -full[0][p][1]):
        runs = full[0][place][0]
        if runs > trips / 100:
            rows.append((place, f"{runs / trips:.2f}", ns_a_run(full, place).text(0)))
    rows.append(("(an empty program, by the same statistics)", "", floor.text(0)))
    table(f"run statistics, one CPU, {STATISTICS_TURNS} turns of {trips} round trips",
          ("program at", "runs a trip", "ns a run"), rows)
    mean = Figure([ns / events for events, ns in per_event])
    runs = sum(r for r, _ in full[0].values())
    per_run = Figure([sum(ns for _, ns in s.values()) / sum(r for r, _ in s.values())
                      for s in full])
    net = Figure([(sum(ns for _, ns in s.values()) - floor.median * sum(r for r, _ in s.values()))
                  / events for s, (events, _) in zip(full, per_event)])
    print(f"  mean: {per_run.text(0)} ns a run ({runs / trips:.1f} runs a trip), {mean.text(0)} ns "
          f"a recorded event, all runs included; {net.text(0)} ns an event without what the "
          "statistics find of an empty program")


def empty_statistics(talker):
    with RunStatistics(), EmptyHooks() as e:
        before = e.run_stats()
        talker.ask()
        after = e.run_stats()
    return [(a[0] - b[0], a[1] - b[1]) for a, b in zip(after, before)]


begin("What the kernel side costs a request and response over TCP on loopback, and an event.",
      f"pingpong -s {TRIP_SIZE} -c {WATCHED} -S {WATCHED}|{WATCHING}",
      "magnet-kernel-tracer -o DIR --pid PID [--layers light|timestamps]",
      "tcpdump -i lo [-s 96] -w /dev/null; perf record, bpftrace: " + ", ".join(PEER_TRACEPOINTS))
find_places()
KINDS = [Bare, EmptyHooks, EmptyEvents, EmptyLight, EmptyEventsLight, LightTracer, TimestampsTracer,
         Tracer] + OTHER_KINDS
KINDS += [peer for peer in (Tcpdump, TcpdumpShort, PerfRecord, BpftraceCount) if peer.works()]
for place, cpu, count, time_of_turns in PLACEMENTS:
    compare(place, cpu, count, KINDS, time_of_turns)
if "MAGNET_BENCH_RESULTS" not in os.environ:
    run_statistics()
how_to_read(f"""
In each turn an observer is started, sees one run of the loop with connections of its own, and is
stopped; observers are kept on CPU {WATCHING}. "Empty programs": BPF programs of two instructions at
the same places, what attaching there costs whatever the programs do; "empty events": programs that
also take a slot and write the time and the thread into it. On two CPUs a round trip is
mostly waking a sleeping CPU, which varies more than any observer costs. The run statistics leave
out the way into a program and count some of their own clock readings; the loop has both and
everything else. bpftrace and perf have {len(PEER_TRACEPOINTS)} of the places: the others are no
classic tracepoints.
""")
