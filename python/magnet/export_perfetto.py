# SPDX-License-Identifier: MIT
"""`magnet export --format perfetto`: a recording as a trace for Perfetto's UI and trace processor.

Each process has its threads, with tracks of their calls and states, and its flows, each with a
track for every layer, for its exchanges and for its counters. Bytes that passed the layers together
are one instant on each layer's track, and arrows lead from one to the next, also from the sender's
last layer to the receiver's first. The CPUs' schedule is Perfetto's own, of sched_switch.
"""
import argparse
import os
import sys
from dataclasses import dataclass
from typing import Any, BinaryIO, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .errors import MagnetError
from .perfetto_writer import Track, Writer
from .recording import Recording, open_recording
from .table import Table

# stages of fact_range in the order of a byte's way, and the layer that begins with each
DOWN = (("call", "call"), ("send_buffer", "socket"), ("ip", "IP"), ("qdisc", "queue"), ("driver", "driver"))
UP = (
    ("device_to_ip", "device"), ("ip_to_tcp", "IP"), ("in_order", "TCP"), ("reader_absent", "receive queue"),
    ("wake", "wakeup"), ("run_queue", "run queue"), ("poll_return", "return of the wait"),
    ("copy", "copy"), ("return", "call"),
)
# stages of fact_timed_send in the order of a send's way
TIMED = (("send_buffer", "send buffer"), ("queue", "queue"), ("network", "network, until the ACK"))
# counters of a connection: column of fact_state, name, unit
COUNTERS = (
    ("cwnd", "congestion window", "segments"), ("ssthresh", "slow start threshold", "segments"),
    ("srtt_us", "smoothed round-trip time", "us"), ("rto_us", "retransmission timeout", "us"),
    ("snd_wnd", "window of the peer", "bytes"), ("rcv_wnd", "own window", "bytes"),
    ("pacing_rate", "pacing rate", "bytes/s"), ("notsent", "not sent in the send buffer", "bytes"),
)
# counters of bytes in consecutive stages
QUEUES = {
    "send buffer, not sent": ("send_buffer",),
    "receive queue": ("reader_absent", "wake", "run_queue", "poll_return"),
}
QUEUE_OF = {stage: name for name, stages in QUEUES.items() for stage in stages}

Key = Tuple[int, int]  # socket number, and 1 for the direction that receives


def number(table: Table, column: str) -> "np.ndarray[Any, Any]":
    """Return a column as floats: NaN is not known."""
    values = table.values(column)
    out = values.values.astype(np.float64)
    return out if values.known is None else np.where(values.known, out, np.nan)


def stored(table: Table, column: str) -> "np.ndarray[Any, Any]":
    """Return a column as it is stored: of times 0 is not known."""
    return np.asarray(table.array[column])


def keys(table: Table, column: str = "flow") -> List[Key]:
    """Return the flow of each row."""
    return list(zip(stored(table, column).tolist(), stored(table, column + "_rx").tolist()))


def annotated(table: Table, columns: Sequence[str]) -> List[Dict[str, Any]]:
    """Return these columns of each row, without what is not known."""
    rows: List[Dict[str, Any]] = [{} for _ in range(len(table))]
    for name in columns:
        values = table.values(name)
        known = np.ones(len(table), bool) if values.known is None else values.known
        if values.values.dtype.kind == "f":
            known = known & ~np.isnan(values.values)
        items: List[Any] = values.values.tolist()
        if values.categories is not None:
            items = [values.categories[i] if k else None for i, k in zip(items, known)]
        for row, item, is_known in zip(rows, items, known.tolist()):
            if is_known:
                row[name] = round(item) if isinstance(item, float) and item == item else item
    return rows


@dataclass
class Lane:
    """A track for spans that do not overlap."""

    track: Track
    until: int  # end of the last span


Lanes = Dict[Tuple[int, str], List[Lane]]  # by the track above and the name


class Export:
    """The tracks of a recording, and what is written on them."""

    def __init__(self, recording: Recording, out: Writer) -> None:
        self.facts = recording.facts
        self.events = recording.events
        self.out = out
        self.names: Dict[int, str] = {}  # of threads
        self.processes: Dict[int, Track] = {}
        self.threads: Dict[int, Track] = {}
        self.flows: Dict[Key, Track] = {}
        self.process_of: Dict[int, int] = {}

    def write(self) -> None:
        self._threads()
        self._flow_tracks()
        self._calls()
        self._states()
        self._exchanges()
        self._ranges()
        self._timed_sends()
        self._counters()
        self._acknowledged()
        self._marks()
        self._switches()

    def _threads(self) -> None:
        for table, names in ((self.facts.wait, "program"), (self.facts.call, None)):
            tids, pids = stored(table, "tid").tolist(), stored(table, "pid").tolist()
            programs: List[Optional[str]] = table[names].tolist() if names else [None] * len(table)
            for tid, pid, program in zip(tids, pids, programs):
                self.process_of[tid] = pid
                if program:
                    self.names[tid] = program
        flows = self.facts.flow
        for pid, program in zip(stored(flows, "pid").tolist(), flows["program"].tolist()):
            if program:
                self.names.setdefault(pid, program)

    def process(self, pid: int) -> Optional[Track]:
        if pid >= 1 << 31 or not pid:
            return None
        if pid not in self.processes:
            self.processes[pid] = self.out.process(pid, self.names.get(pid, ""))
        return self.processes[pid]

    def thread(self, tid: int) -> Track:
        if tid not in self.threads:
            pid = self.process_of.get(tid, tid)
            self.process(pid)
            self.threads[tid] = self.out.thread(pid, tid, self.names.get(tid, ""))
        return self.threads[tid]

    def _flow_tracks(self) -> None:
        flows = self.facts.flow
        rows = annotated(flows, ("kind", "local", "remote", "program", "bytes"))
        for key, pid, row in zip(keys(flows), stored(flows, "pid").tolist(), rows):
            way = "received" if key[1] else "sent"
            ends = f"{row.get('local', '')} {'from' if key[1] else 'to'} {row.get('remote', '')}"
            name = f"{way}, flow {key[0]}/{'rx' if key[1] else 'tx'}, {row.get('kind', '')} {ends}"
            self.flows[key] = self.out.track(name, self.process(pid))

    def flow(self, key: Key) -> Track:
        if key not in self.flows:
            self.flows[key] = self.out.track(f"flow {key[0]}/{'rx' if key[1] else 'tx'}", None)
        return self.flows[key]

    def _sending(self) -> Dict[Tuple[Key, int], List[int]]:
        """Return the arrows that begin at a call, by its flow and begin: the ranges that it sent."""
        ranges = self.facts.range
        arrows: Dict[Tuple[Key, int], List[int]] = {}
        for i, (key, begin) in enumerate(zip(keys(ranges), stored(ranges, "begin").tolist())):
            if not key[1]:
                arrows.setdefault((key, begin), []).append(i + 1)
        return arrows

    def _calls(self) -> None:
        calls = self.facts.call
        sending = self._sending()
        shown = ["flow", "offset", "bytes", "result", "seen_by", "complete"]
        states = [c for c in calls.columns if c.startswith("state_")]
        rows = annotated(calls, shown + states)
        names = calls["function"].tolist()
        tracks: Dict[int, Track] = {}
        begins = stored(calls, "begin")
        found = list(zip(keys(calls), stored(calls, "tid").tolist(), names, begins.tolist(),
                         stored(calls, "end").tolist(), rows))
        for key, tid, name, begin, end, row in (found[i] for i in np.argsort(begins, kind="stable")):
            if tid not in tracks:
                tracks[tid] = self.out.track("calls", self.thread(tid))
            for state in states:
                if row.get(state) is not None:
                    row[state + "_ns"] = row[state]
                row.pop(state, None)
            arrows = sending.get((key, begin), [])
            self.out.span(tracks[tid], name or "call", begin, end, {"fact": "call", **row}, arrows)

    def _states(self) -> None:
        """Write what each thread did: between two waits it ran."""
        waits = self.facts.wait
        rows = annotated(waits, ("why", "blocked_in", "call", "remote", "waker", "io", "descriptor"))
        times = [stored(waits, name).tolist() for name in ("begin", "woken", "end")]
        of_thread: Dict[int, List[Tuple[int, int, int, Dict[str, Any]]]] = {}
        for tid, begin, woken, end, row in zip(stored(waits, "tid").tolist(), *times, rows):
            of_thread.setdefault(tid, []).append((begin, woken, end, row))
        for tid, intervals in of_thread.items():
            track = self.out.track("state", self.thread(tid))
            ran_since = 0
            for begin, woken, end, row in sorted(intervals, key=lambda i: i[0] or i[2]):
                if ran_since and begin > ran_since:
                    self.out.span(track, "running", ran_since, begin, {"fact": "state"})
                self._wait(track, begin, woken, end, row)
                ran_since = end

    def _wait(self, track: Track, begin: int, woken: int, end: int, row: Dict[str, Any]) -> None:
        row = {"fact": "wait", **row}
        if not begin or not end:
            return
        if row.get("why") in ("preempted", "throttled"):
            self.out.span(track, f"waiting for a CPU ({row['why']})", begin, end, row)
            return
        what = row.get("call") or row.get("blocked_in") or "a reason that was not recorded"
        where = f" {row['remote']}" if row.get("remote") else ""
        if not woken:
            self.out.span(track, f"off the CPU in {what}{where}, wakeup not recorded", begin, end, row)
            return
        self.out.span(track, f"blocked in {what}{where}", begin, woken, row)
        self.out.span(track, "waiting for a CPU", woken, end, {"fact": "state"})

    def _exchanges(self) -> None:
        table = self.facts.exchange
        shown = ("role", "answer", "ordinal", "local", "remote", "request_bytes", "reply_bytes", "in_program", "to_reply",
                 "request_tid", "reply_tid", "pipelined", "overlaps")
        rows = annotated(table, shown)
        parts = {"request": "request_last", "program or way": "reply_first", "reply": "reply_last"}
        times = [stored(table, name).tolist() for name in ("request_first", *parts.values())]
        found = zip(keys(table, "request"), keys(table, "reply"), stored(table, "request_tid").tolist(), rows, *times)
        lanes: Lanes = {}
        for request, reply, tid, row, *at in sorted(found, key=lambda f: min((t for t in f[4:] if t), default=0)):
            known = [t for t in at if t]
            if not known:
                continue
            under = self.thread(tid) if tid < 1 << 31 else self.flow(request if request[0] else reply)
            name = f"exchanges as {row.get('role', '?')}"
            track = self._lane(lanes, under, name, known[0], known[-1])
            title = f"exchange {row.get('ordinal', '?')} with {row.get('remote', '?')}"
            self.out.span(track, title, known[0], known[-1], {"fact": "exchange", **row})
            for part, begin, end in zip(parts, at, at[1:]):
                if begin and end:
                    self.out.span(track, part, begin, end, {})

    def _lane(self, lanes: Lanes, under: Track, name: str, begin: int, end: int) -> Track:
        """Return a track of this name below another one that nothing else is on between these times."""
        all_lanes = lanes.setdefault((under.uuid, name), [])
        for lane in all_lanes:
            if lane.until <= begin:
                lane.until = end
                return lane.track
        all_lanes.append(Lane(self.out.track(name, under), end))
        return all_lanes[-1].track

    def _timed_sends(self) -> None:
        """Write sends by the kernel's timestamps, from the call to the acknowledgement, with their stages."""
        sends = self.facts.timed_send
        shown = annotated(sends, ("end", "outcome", "queued"))
        begins, bounds = stored(sends, "begin").tolist(), stored(sends, "at_most").tolist()
        spans = [stored(sends, "stage_" + stage).tolist() for stage, _ in TIMED]
        lanes: Lanes = {}
        for key, begin, bound, row, *stages in zip(keys(sends), begins, bounds, shown, *spans):
            known = [s for s in stages if s == s]
            until = begin + (bound if bound == bound else sum(known))
            if not begin or until <= begin:
                continue
            track = self._lane(lanes, self.flow(key), "sends by the kernel's timestamps", begin, round(until))
            self.out.span(track, f"send up to {row.get('end', '?')}", begin, round(until), {"fact": "timed_send", **row})
            at = float(begin)
            for (_, label), span in zip(TIMED, stages):
                if span != span:
                    break
                self.out.span(track, label, round(at), round(at + span), {})
                at += span

    def _ranges(self) -> None:
        """Write ranges of bytes at each layer, with arrows between the layers."""
        ranges = self.facts.range
        shown = annotated(ranges, ("offset", "length", "outcome", "why", "released_by"))
        begins, flows = stored(ranges, "begin").tolist(), keys(ranges)
        spans = {name: stored(ranges, "stage_" + name) for name, _ in DOWN + UP}
        crossed = self._crossed(ranges, flows)
        tracks: Dict[Tuple[Key, str], Track] = {}
        queues: Dict[Tuple[Key, str], List[Tuple[int, int]]] = {}
        for i, (key, begin, row) in enumerate(zip(flows, begins, shown)):
            at = float(begin)
            inside: Dict[str, Tuple[int, int]] = {}
            if not begin:
                continue
            for stage, layer in UP if key[1] else DOWN:
                if (key, layer) not in tracks:
                    tracks[key, layer] = self.out.track(f"{layer}", self.flow(key))
                span = float(spans[stage][i])
                name = f"{row.get('length', '?')} B at {row.get('offset', '?')}"
                more = {"stage_ns": round(span)} if span == span else {}
                arrows = [i + 1, *(crossed.get(i, []) if at == begin else [])]
                self.out.instant(
                    tracks[key, layer], name, int(at), {"fact": "range", "stage": stage, **more, **row}, arrows
                )
                if span != span:
                    break
                if stage in QUEUE_OF:
                    since = inside.get(QUEUE_OF[stage], (int(at), 0))[0]
                    inside[QUEUE_OF[stage]] = since, int(at + span)
                at += span
            for queue, (since, until) in inside.items():
                length = int(row.get("length", 0))
                queues.setdefault((key, queue), []).extend(((since, length), (until, -length)))
        for (key, name), changes in queues.items():
            track = self.out.counter(name, "bytes", self.flow(key))
            level = 0
            for time, change in sorted(changes, key=lambda c: (c[0], -c[1])):
                level += change
                self.out.value(track, time, level)

    def _crossed(self, ranges: Table, flows: List[Key]) -> Dict[int, List[int]]:
        """Return the arrows that lead to received ranges: the number of what the sender's end sent."""
        arrows: Dict[int, List[int]] = {}
        sent = {}
        for i, (key, begin, transmitted) in enumerate(
            zip(flows, stored(ranges, "begin").tolist(), stored(ranges, "transmitted").tolist())
        ):
            if not key[1] and transmitted:
                sent[key, begin, transmitted] = i
        received = {
            (key, offset): i for i, (key, offset) in enumerate(zip(flows, stored(ranges, "offset").tolist())) if key[1]
        }
        crossings = self.facts.crossing
        for flow, sender, offset, begin, transmitted in zip(
            keys(crossings), keys(crossings, "sender"), *(stored(crossings, c).tolist() for c in
                                                          ("offset", "begin", "transmitted"))
        ):
            down, up = sent.get((sender, begin, transmitted)), received.get((flow, offset))
            if down is not None and up is not None:
                arrows.setdefault(up, []).append(down + 1)
        return arrows

    def _counters(self) -> None:
        states = self.facts.state
        flows, times = keys(states), stored(states, "time").tolist()
        for column, name, unit in COUNTERS:
            tracks: Dict[Key, Track] = {}
            for key, time, value in zip(flows, times, number(states, column).tolist()):
                if value != value:
                    continue
                if key not in tracks:
                    tracks[key] = self.out.counter(name, unit, self.flow(key))
                self.out.value(tracks[key], time, int(value))

    def _acknowledged(self) -> None:
        """Write how many bytes were acknowledged, from when the sender's host had it in the highest layer recorded."""
        acks = self.facts.ack
        tracks: Dict[Key, Track] = {}
        for key, offset, *times in zip(
            keys(acks), *(stored(acks, c).tolist() for c in ("offset", "tcp", "ip", "device"))
        ):
            time = next((t for t in times if t), 0)
            if key[1] or not time:
                continue
            if key not in tracks:
                tracks[key] = self.out.counter("acknowledged", "bytes", self.flow(key))
            self.out.value(tracks[key], time, offset)

    def _marks(self) -> None:
        marks = self.facts.mark
        rows = annotated(marks, ("id", "value"))
        for tid, time, name, row in zip(
            stored(marks, "tid").tolist(), stored(marks, "time").tolist(), marks["name"].tolist(), rows
        ):
            self.out.instant(self.out.track("marks", self.thread(tid)), name or "mark", time, {"fact": "mark", **row}, [])

    def _switches(self) -> None:
        if "sched_switch" not in self.events:
            return
        table = self.events["sched_switch"]
        columns = ("cpu", "time", "prev_tid", "next_tid", "prev_state")
        rows = zip(*(stored(table, c).tolist() for c in columns))
        self.out.switches(((cpu, time, before, after, state) for cpu, time, before, after, state in rows), self.names)


def export(records: str, to: BinaryIO) -> None:
    """Write the records of `magnet export --format records` as a trace of Perfetto."""
    with open_recording(records) as recording:
        Export(recording, Writer(to)).write()


def write_file(records: str, output: str) -> None:
    """Write the trace to a file, of which nothing is left if it cannot be whole."""
    try:
        with open(output, "wb") as f:
            export(records, f)
    except BaseException:
        if os.path.isfile(output):
            os.unlink(output)
        raise


def main(args: Optional[Sequence[str]] = None) -> None:
    parser = argparse.ArgumentParser(prog="magnet export --format perfetto")
    parser.add_argument("records")
    parser.add_argument("-o", "--output", required=True)
    o = parser.parse_args(args)
    try:
        if o.output == "-":
            export(o.records, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            write_file(o.records, o.output)
    except OSError as e:
        sys.exit(f"magnet: cannot write {o.output}: {e.strerror}")
    except MagnetError as e:
        sys.exit(f"magnet: {e}")


if __name__ == "__main__":
    main()
