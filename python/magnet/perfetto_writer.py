# SPDX-License-Identifier: MIT
"""Writes packets of a Perfetto trace, one after the other, by Perfetto's own protobuf schema."""
from dataclasses import dataclass
from typing import Any, BinaryIO, Dict, Iterable, Optional, Sequence, Tuple

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import ClockSnapshot, TracePacket, TrackEvent

MONOTONIC = 3  # Perfetto's number of CLOCK_MONOTONIC
BOOTTIME = 6
SEQUENCE = 1
PACKET_TAG = b"\x0a"  # field 1 of a Trace, with a length
# bits of an event's sequence_flags
BEGINS = TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
BUNDLE = 1000  # events of one CPU in a packet


@dataclass(frozen=True)
class Track:
    """A line on which events stand."""

    uuid: int


def length_of(size: int) -> bytes:
    """Return a length as protobuf writes it."""
    out = bytearray()
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    out.append(size)
    return bytes(out)


class Writer:
    """Each method writes packets at once, so that a long trace takes no memory."""

    def __init__(self, to: BinaryIO) -> None:
        self._to = to
        self._uuid = 0
        self._begin()

    def _write(self, packet: Any) -> None:
        packet.trusted_packet_sequence_id = SEQUENCE
        data = packet.SerializeToString()
        self._to.write(PACKET_TAG + length_of(len(data)) + data)

    def _begin(self) -> None:
        """Declare the clock: all times are of CLOCK_MONOTONIC.

        Perfetto takes times of ftrace events for CLOCK_BOOTTIME. They are written as the others are,
        so both clocks are declared to be one.
        """
        packet = TracePacket()
        packet.sequence_flags = BEGINS
        packet.clock_snapshot.primary_trace_clock = MONOTONIC
        for clock in (MONOTONIC, BOOTTIME):
            packet.clock_snapshot.clocks.append(ClockSnapshot.Clock(clock_id=clock, timestamp=1))
        packet.trace_packet_defaults.timestamp_clock_id = MONOTONIC
        self._write(packet)

    def _descriptor(self, parent: Optional[Track]) -> Tuple[Any, Track]:
        packet = TracePacket()
        self._uuid += 1
        packet.track_descriptor.uuid = self._uuid
        if parent:
            packet.track_descriptor.parent_uuid = parent.uuid
        return packet, Track(self._uuid)

    def process(self, pid: int, name: str) -> Track:
        packet, track = self._descriptor(None)
        packet.track_descriptor.process.pid = pid
        if name:
            packet.track_descriptor.process.process_name = name
        self._write(packet)
        return track

    def thread(self, pid: int, tid: int, name: str) -> Track:
        packet, track = self._descriptor(None)
        packet.track_descriptor.thread.pid = pid
        packet.track_descriptor.thread.tid = tid
        if name:
            packet.track_descriptor.thread.thread_name = name
        self._write(packet)
        return track

    def track(self, name: str, parent: Optional[Track]) -> Track:
        packet, track = self._descriptor(parent)
        packet.track_descriptor.name = name
        self._write(packet)
        return track

    def counter(self, name: str, unit: str, parent: Optional[Track]) -> Track:
        packet, track = self._descriptor(parent)
        packet.track_descriptor.name = name
        packet.track_descriptor.counter.unit_name = unit
        self._write(packet)
        return track

    def _event(self, track: Track, kind: int, time: int) -> Any:
        packet = TracePacket()
        packet.timestamp = time
        packet.track_event.type = kind
        packet.track_event.track_uuid = track.uuid
        return packet

    @staticmethod
    def _annotate(packet: Any, more: Dict[str, Any]) -> None:
        for name, value in more.items():
            if value is None:
                continue
            one = packet.track_event.debug_annotations.add(name=name)
            if isinstance(value, bool):
                one.bool_value = value
            elif isinstance(value, int):
                one.int_value = value
            else:
                one.string_value = str(value)

    def span(self, track: Track, name: str, begin: int, end: int, more: Dict[str, Any],
             arrows: Sequence[int] = ()) -> None:
        """Write an interval; only its begin where the end is not known, which is 0."""
        if not begin:
            return
        packet = self._event(track, TrackEvent.TYPE_SLICE_BEGIN, begin)
        packet.track_event.name = name
        packet.track_event.flow_ids.extend(arrows)
        self._annotate(packet, more)
        self._write(packet)
        if end:
            self._write(self._event(track, TrackEvent.TYPE_SLICE_END, end))

    def instant(self, track: Track, name: str, time: int, more: Dict[str, Any], arrows: Sequence[int]) -> None:
        """Write a point; arrows join it with others that have one of their numbers."""
        packet = self._event(track, TrackEvent.TYPE_INSTANT, time)
        packet.track_event.name = name
        packet.track_event.flow_ids.extend(arrows)
        self._annotate(packet, more)
        self._write(packet)

    def value(self, track: Track, time: int, value: int) -> None:
        packet = self._event(track, TrackEvent.TYPE_COUNTER, time)
        packet.track_event.counter_value = value
        self._write(packet)

    def switches(self, rows: Iterable[Tuple[int, int, int, int, int]], names: Dict[int, str]) -> None:
        """Write (CPU, time, thread before, thread after, state of the one before) as ftrace has them."""
        bundles: Dict[int, Any] = {}
        for cpu, time, before, after, state in rows:
            if cpu not in bundles:
                bundles[cpu] = TracePacket()
                bundles[cpu].ftrace_events.cpu = cpu
            events = bundles[cpu].ftrace_events
            one = events.event.add(timestamp=time, pid=before)
            switch = one.sched_switch
            switch.prev_pid, switch.next_pid, switch.prev_state = before, after, state
            switch.prev_comm, switch.next_comm = (self._comm(tid, names) for tid in (before, after))
            switch.prev_prio = switch.next_prio = 120
            if len(events.event) == BUNDLE:
                self._write(bundles.pop(cpu))
        for packet in bundles.values():
            self._write(packet)

    @staticmethod
    def _comm(tid: int, names: Dict[int, str]) -> str:
        return names.get(tid, "" if tid else "swapper")
