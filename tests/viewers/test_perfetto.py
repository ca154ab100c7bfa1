# SPDX-License-Identifier: MIT
"""
magnet export --format perfetto, read by Perfetto's own schema, and by its trace processor where that can be
fetched: calls, ranges of bytes, states, counters and switches are those of the recording's tables.
"""
from collections import Counter, defaultdict

from viewers import *

need_viewers()
import magnet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

EXCHANGE = os.path.join(HERE, "..", "programs", "exchange.py")
ROUNDS = 50


class Read:
    """A trace, by its tracks and events."""

    def __init__(self, path):
        trace = Trace()
        with open(path, "rb") as f:
            trace.ParseFromString(f.read())
        self.tracks, self.events, self.switches = {}, defaultdict(list), []
        for p in trace.packet:
            if p.HasField("track_descriptor"):
                self.tracks[p.track_descriptor.uuid] = p.track_descriptor
            elif p.HasField("track_event"):
                self.events[p.track_event.track_uuid].append((p.timestamp, p.track_event))
            for e in p.ftrace_events.event:
                s = e.sched_switch
                self.switches.append((e.timestamp, p.ftrace_events.cpu, s.prev_pid, s.next_pid))

    def of_fact(self, fact):
        """Tell the events that stand for a fact, each with its track, its time and its columns."""
        for uuid, events in self.events.items():
            for time, e in events:
                columns = {a.name: getattr(a, a.WhichOneof("value")) for a in e.debug_annotations}
                if columns.get("fact") == fact:
                    yield self.tracks[uuid], time, e, columns

    def path(self, track):
        names = []
        while track:
            names.insert(0, track.name or track.process.process_name or track.thread.thread_name)
            track = self.tracks.get(track.parent_uuid)
        return names


def calls(read, facts):
    table = facts.call.array
    found = list(read.of_fact("call"))
    check(len(found) == len(table) > 4 * ROUNDS, f"{len(found)} calls")
    expected = sum(int(b) for b in table["bytes"] if b < 2 ** 63)
    check(sum(c.get("bytes", 0) for *_, c in found) == expected, f"with {expected} bytes")
    check(Counter(t for _, t, _, _ in found) == Counter(table["begin"].tolist()), "at their times")
    threads = {read.tracks[t.parent_uuid].thread.tid for t, *_ in found}
    check(threads == set(table["tid"].tolist()), f"below their threads: {sorted(threads)}")


def ranges(read, facts):
    table = facts.range.array
    by_layer = defaultdict(lambda: [0, 0])
    for track, _, _, columns in read.of_fact("range"):
        flow = read.path(track)[-2].split(", ")[1].removeprefix("flow ")
        by_layer[flow, columns["stage"]][0] += 1
        by_layer[flow, columns["stage"]][1] += columns["length"]
    for sock, rx in {(int(r["flow"]), int(r["flow_rx"])) for r in table}:
        flow = f"{sock}/{'rx' if rx else 'tx'}"
        mine = table[(table["flow"] == sock) & (table["flow_rx"] == rx) & (table["outcome"] == 0)]
        for stage in ("call", "send_buffer", "driver") if not rx else ("ip_to_tcp", "copy", "return"):
            check(by_layer[flow, stage] == [len(mine), int(mine["length"].sum())],
                  f"{flow} at {stage}: {by_layer[flow, stage][0]} ranges, {by_layer[flow, stage][1]} bytes")


def arrows(read, facts):
    on = defaultdict(list)
    for track, time, e, columns in (*read.of_fact("call"), *read.of_fact("range")):
        for number in e.flow_ids:
            on[number].append((time, columns["fact"], columns.get("stage"), "received" in read.path(track)[-2]))
    whole = 0
    for steps in on.values():
        steps.sort(key=lambda s: s[0])
        kinds = [s[1] for s in steps]
        whole += kinds[0] == "call" and steps[-1][3] and [s[2] for s in steps if s[1] == "range" and not s[3]] == [
            "call", "send_buffer", "ip", "qdisc", "driver"]
    crossed = len(facts.crossing)
    check(whole == crossed > 0, f"{whole} arrows lead from a call down all layers and up at the other end")


def threads(read, facts):
    waits = facts.wait.array
    known = waits[(waits["begin"] != 0) & (waits["end"] != 0)]
    found = list(read.of_fact("wait"))
    check(len(found) == len(known) > 0, f"{len(found)} waits of threads")
    names = {e.name for _, _, e, _ in read.of_fact("state")} | {e.name for _, _, e, _ in found}
    check("running" in names and "waiting for a CPU" in names and any(n.startswith("blocked in") for n in names),
          f"states: {sorted(names)[:6]}")
    exchanges = list(read.of_fact("exchange"))
    check(len(exchanges) == len(facts.exchange) > ROUNDS, f"{len(exchanges)} exchanges")
    for uuid, events in read.events.items():
        depth = 0
        for _, e in sorted(events, key=lambda pair: pair[0]):
            depth += {TrackEvent.TYPE_SLICE_BEGIN: 1, TrackEvent.TYPE_SLICE_END: -1}.get(e.type, 0)
            if depth < 0:
                check(False, f"{read.path(read.tracks[uuid])}: an interval ends before it begins")
        if depth:
            check(False, f"{read.path(read.tracks[uuid])}: {depth} intervals do not end")
    check(True, "each interval ends after its begin")


def counters(read, facts):
    values = defaultdict(list)
    for uuid, events in read.events.items():
        if read.tracks[uuid].HasField("counter"):
            values[read.tracks[uuid].name] += [(t, e.counter_value) for t, e in events]
    state = facts.state.array
    for column, name in (("cwnd", "congestion window"), ("srtt_us", "smoothed round-trip time")):
        mine = state[state[column] < 2 ** 63]
        check(Counter(values[name]) == Counter(zip(mine["time"].tolist(), mine[column].tolist())) and len(mine),
              f"{name}: {len(mine)} values")
    acks = facts.ack.array[facts.ack.array["flow_rx"] == 0]
    check(Counter(v for _, v in values["acknowledged"]) == Counter(acks["offset"].tolist()) and len(acks),
          f"acknowledged: {len(acks)} values")
    for name in ("send buffer, not sent", "receive queue"):
        check(values[name] and min(v for _, v in values[name]) == 0, f"{name}: up to {max(v for _, v in values[name])} bytes")


def timed_sends(top):
    """Sends by the kernel's timestamps, where this kernel has them: each from its begin on, with its stages."""
    run(MAGNET, "record", "-q", "--layers", "timestamps", "-o", top + "/timed", "--", PYTHON, EXCHANGE, ROUNDS)
    run(MAGNET, "export", top + "/timed", "--format", "perfetto", "-o", top + "/timed.pftrace")
    read = Read(top + "/timed.pftrace")
    with magnet.open(top + "/timed") as recording:
        table = recording.facts.timed_send.array
    if not len(table):
        print("not tried: this kernel has no timestamps of sends")
        return
    whole = table[table["outcome"] == 0]  # acknowledged: all their times are known
    found = [(t, read.path(track)[-2]) for track, t, _, columns in read.of_fact("timed_send")
             if columns["outcome"] == "acknowledged"]
    check(Counter(t for t, _ in found) == Counter(whole["begin"].tolist()) and len(whole) > ROUNDS,
          f"{len(found)} sends by the kernel's timestamps")
    check(all("sent, flow" in under for _, under in found), "below their flows")
    stages = Counter(e.name for events in read.events.values() for _, e in events)
    for name, column in (("send buffer", "stage_send_buffer"), ("queue", "stage_queue"),
                         ("network, until the ACK", "stage_network")):
        known = int((table[column] == table[column]).sum())
        check(len(whole) <= stages[name] <= known, f"{name}: {stages[name]} of {known} stages")
    return read


def by_trace_processor(path, read):
    from perfetto.trace_processor import TraceProcessor
    try:
        processor = TraceProcessor(trace=path)
    except Exception as e:  # it is fetched when it is first used
        print(f"the trace processor cannot be used here ({type(e).__name__}): its schema alone was")
        return
    with processor as tp:
        n = {name: next(iter(tp.query(f"select count(*) as n from {name}"))).n for name in ("slice", "flow", "counter")}
        kinds = Counter(e.type for events in read.events.values() for _, e in events)
        check(n["slice"] == kinds[TrackEvent.TYPE_SLICE_BEGIN] + kinds[TrackEvent.TYPE_INSTANT],
              f"the trace processor has {n}")
        bad = [f"{r.name}={r.value}" for r in tp.query(
            "select name, value from stats where severity = 'error' and value > 0")]
        check(not bad, f"and reports no errors: {bad}")


need_kernel_side()
with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
    run(MAGNET, "record", "-q", "--level", "full", "-o", top + "/t", "--", PYTHON, EXCHANGE, ROUNDS)
    run(MAGNET, "export", top + "/t", "--format", "perfetto", "-o", top + "/trace.pftrace")
    read = Read(top + "/trace.pftrace")
    with magnet.open(top + "/t") as recording:
        facts = recording.facts
        for part in (calls, ranges, arrows, threads, counters):
            part(read, facts)
        table = recording.events.sched_switch.array
        check(Counter(read.switches) == Counter(zip(*(table[c].tolist() for c in ("time", "cpu", "prev_tid", "next_tid")))),
              f"{len(table)} switches")
    by_trace_processor(top + "/trace.pftrace", read)
    timed = timed_sends(top)
    if timed:
        by_trace_processor(top + "/timed.pftrace", timed)
    p = run(MAGNET, "export", top + "/t", "--format", "perfetto", "-o", "/dev/full", check=False)
    check(p.returncode == 1 and "cannot write" in p.stderr and p.stderr.count("\n") == 1, p.stderr.strip())
