# SPDX-License-Identifier: MIT
"""A connection over time: its send buffer, rate and congestion control, and one packet's way."""
from typing import List, Optional, Tuple

import numpy as np

from ..errors import NotAvailable
from ..recording import Recording
from . import select, words
from .picture import COLOURS, Picture
from .select import Array, Flow


def _written_and_acknowledged(recording: Recording, flow: Flow) -> Tuple[Array, Array, Array]:
    """Return the times of a flow's writes and arriving segments, and the offsets written and acknowledged after each.

    An event has what was acknowledged before it: the next one has what is so after it.
    """
    writes = select.of_flow(recording.events.tcp_send, flow.id)
    if not len(writes):
        raise NotAvailable(f"flow {flow.id} ({flow.kind}) has no event tcp_send: only TCP that sends has a send buffer to draw")
    writes = writes[np.argsort(writes["time"], kind="stable")]
    acks = select.of_flow(recording.events.tcp_recv, flow.other)
    acks = acks[np.argsort(acks["time"], kind="stable")]
    end = min(int(writes["offset"][-1]) + int(writes["left"][-1]), int(select.of_flow(recording.facts.flow, flow.id)["end"][0]))
    begins = np.append(writes["offset"], max(end, int(writes["offset"][-1]))).astype(np.int64)
    n = np.searchsorted(writes["time"], acks["time"], side="right")  # writes before each segment
    time = np.concatenate((writes["time"], acks["time"]))
    order = np.argsort(time, kind="stable")
    written = np.concatenate((begins[1:], begins[n]))[order]
    # in 32 bits, as TCP's numbers: the buffer is smaller than their half
    last = writes["seq"][np.maximum(n, 1) - 1]
    before = np.concatenate((begins[:-1] - (writes["seq"] - writes["snd_una"]).astype(np.uint32),
                             begins[np.maximum(n, 1) - 1] - (last - acks["snd_una"]).astype(np.int32)))[order]
    return select.seconds(recording, time[order]), written, np.append(before[1:], before[-1])


def _is_told_once_a_call(recording: Recording, flow: Flow) -> bool:
    """Return whether the event comes before a call's first byte is copied only, as on kernels without a tracepoint."""
    rows = select.of_flow(recording.events.tcp_send, flow.id)
    return bool(len(rows) and not rows["skb_len"].any() and rows["left"].max() > 1 << 18)


def _at_writes(recording: Recording, flow: Flow) -> List[Tuple[str, Array, Array]]:
    """Return the same at each call alone, before its bytes are added."""
    rows = select.of_flow(recording.events.tcp_send, flow.id)
    rows = rows[np.argsort(rows["time"], kind="stable")]
    at = select.seconds(recording, rows["time"])
    return [(name, at, (rows["seq"] - rows[c]).astype(np.uint32).astype(np.int64))
            for name, c in (("at calls: not acknowledged", "snd_una"), ("at calls: not sent", "snd_nxt"))]


def _held(recording: Recording, flow: Flow) -> List[Tuple[str, Array, Array]]:
    """Return names, times and bytes of what is in the send buffer: not acknowledged, and not sent."""
    if _is_told_once_a_call(recording, flow):
        return _at_writes(recording, flow)
    at, written, acknowledged = _written_and_acknowledged(recording, flow)
    found = [("written, not acknowledged", at, np.maximum(written - acknowledged, 0))]
    packets = select.packets(recording, flow).get("tcp")
    if packets is None:
        return found
    sent_at = select.seconds(recording, packets["time"])
    sent = np.maximum.accumulate((packets["offset"] + packets["payload"]).astype(np.int64))
    times = np.union1d(at, sent_at)
    w = np.searchsorted(at, times, side="right") - 1
    p = np.searchsorted(sent_at, times, side="right") - 1
    known = (w >= 0) & (p >= 0)
    return found + [("written, not sent", times[known], np.maximum(written[w[known]] - sent[p[known]], 0))]


def _mean(at: Array, values: Array) -> float:
    """Return the mean over time of values that hold until the next."""
    lasted = np.diff(at)
    return float((values[:-1] * lasted).sum() / lasted.sum()) if lasted.sum() > 0 else float(values.mean())


def send_buffer(recording: Recording, flow: Optional[str] = None) -> Picture:
    """Draw the bytes in the send buffer over time: not acknowledged, and not sent.

    The papers' send-buffer figure (G02 Fig. 11) has write_seq less snd_una, and less snd_nxt, at each write; here they
    change at arriving segments, and as TCP sends, too.
    """
    f = select.choose(recording, flow, "tx")
    held = _held(recording, f)
    size, unit = select.unit_of_bytes(held[0][2])
    p = Picture("Send buffer", f.title)
    p.panels[0].label(select.TIME, f"bytes in the send buffer [{unit}]")
    for name, at, n in held:
        p.panels[0].steps(f"{name}\n(max {n.max() / size:.4g}, mean {_mean(at, n) / size:.4g})", at, n / size)
    p.panels[0].from_zero()
    if _is_told_once_a_call(recording, f):
        p.remark("Sampled as each call begins, before its bytes are added: this kernel tells no more of it.")
    else:
        p.remark("After each write, each arriving segment until the program closes, and each segment sent; means are over time.")
    return p.finish()


def window_rate(times: Array, sizes: Array, n: int) -> Tuple[Array, Array]:
    """Return the ends of all windows of n rows, and the rate in each, bit/s.

    A window's bytes are those of its rows but the first, which came in before it began.
    """
    total = np.cumsum(sizes.astype(float))
    lasted = times[n - 1:] - times[: len(times) - n + 1]
    moved = total[n - 1:] - total[: len(times) - n + 1]
    good = lasted > 0
    return times[n - 1:][good], moved[good] * 8 / lasted[good]


def _calls(recording: Recording, flow: Flow) -> Tuple[Array, Array]:
    """Return when calls that moved bytes of a flow ended, s, and their bytes."""
    rows = select.of_flow(recording.facts.call, flow.id)
    rows = rows[(rows["end"] != 0) & select.known(rows["bytes"]) & (rows["bytes"] > 0)]
    rows = rows[np.argsort(rows["end"], kind="stable")]
    return select.seconds(recording, rows["end"]), rows["bytes"]


def rate(recording: Recording, flow: Optional[str] = None, window: int = 1000) -> Picture:
    """Draw the rate over a sliding window of calls, and the report's rate of the whole flow.

    The papers' rate figure (G03 Fig. 6): there windows of 1000 receives. Of a flow with fewer than
    five windows of that size they are a tenth of its calls.
    """
    f = select.choose(recording, flow, None if flow else "rx" if any(
        x.rx and x.bytes for x in select.flows(recording)[:1]) else "tx")
    at, sizes = _calls(recording, f)
    if len(at) < 3:
        raise NotAvailable(f"flow {f.id} has {len(at)} calls that moved bytes: a rate takes three")
    n = window if len(at) >= 5 * window else max(2, len(at) // 10)
    ends, rates = window_rate(at, sizes, n)
    whole = select.figures_of(recording.figures_with("goodput"), f).on_demand.goodput
    size, unit = select.unit_of_rate(rates)
    p = Picture(f"Rate over a sliding window of {n} calls", f.title)
    p.panels[0].label(select.TIME, f"rate [{unit}]")
    p.panels[0].line(f"window of {n} calls", ends, rates / size)
    if whole.rate_bit_s is None:
        p.remark(f"The rate of the whole flow is not available: {whole.refused}.")
    else:
        p.panels[0].level(f"whole flow: {whole.rate_bit_s / size:.4g} {unit}", whole.rate_bit_s / size)
    p.panels[0].from_zero()
    return p.finish()


def congestion(recording: Recording, flow: Optional[str] = None, window: float = 0.1, most: int = 6) -> Picture:
    """Draw the rates of flows that share the network, and the congestion windows of those that send.

    The papers' congestion figure (G03 Fig. 7). Rates are over windows of `window` seconds, at the
    lowest layer that was recorded.
    """
    all_flows = select.flows(recording)
    direction = select.choose(recording, flow).id[-2:]
    chosen = [f for f in all_flows if f.bytes and f.id.endswith(direction) and (not flow or f.id == flow)]
    p = Picture("Congestion: flows that share the network",
                f"{min(len(chosen), most)} of {len(chosen)} flows, those with the most bytes; rate in windows of "
                f"{window * 1e3:g} ms", ("rate", "congestion window", "smoothed round-trip time"))
    drawn: List[Tuple[Flow, str, Array, Array]] = []
    for f in chosen[:most]:
        by_layer = select.packets(recording, f)
        layer = next((x for x in ("device", "ip", "call") if x in by_layer), None)
        if layer is None:
            continue
        rows = by_layer[layer]
        at = select.seconds(recording, rows["time"])
        edges = np.arange(np.floor(at[0] / window), np.ceil(at[-1] / window) + 1) * window
        if len(edges) > 1:
            bits = np.histogram(at, edges, weights=rows["payload"].astype(float))[0] * 8 / window
            drawn.append((f, layer, edges, bits))
    if not drawn:
        raise NotAvailable("no packets of these flows were recorded")
    size, unit = select.unit_of_rate(np.concatenate([bits for *_, bits in drawn]))
    p.panels[0].label("", f"rate [{unit}]")
    p.panels[1].label("", "cwnd [segments]")
    p.panels[2].label(select.TIME, "srtt [ms]")
    for i, (f, layer, edges, bits) in enumerate(drawn):
        colour = COLOURS[i % len(COLOURS)]
        p.panels[0].steps(f"{f.id} {f.remote}", edges, np.append(bits, bits[-1]) / size, color=colour)
        _state(recording, p, f, colour)
    for panel in p.panels:
        if not panel.axes.lines:
            panel.note("not recorded: samples of TCP's state need magnet record --level light, or full")
    p.panels[0].from_zero()
    p.remark(f"Rates count payload at: {', '.join(dict.fromkeys(layer for _, layer, *_ in drawn))}. "
             "Vertical marks: segments that TCP sent again.")
    return p.finish()


def _state(recording: Recording, p: Picture, f: Flow, colour: str) -> None:
    """Draw the congestion window, round-trip time and retransmissions of a connection."""
    sends = f.id if not f.rx else f.other
    rows = select.of_flow(recording.facts.state, sends)
    rows = rows[np.argsort(rows["time"], kind="stable")]
    for panel, column, divisor in ((p.panels[1], "cwnd", 1.0), (p.panels[2], "srtt_us", 1e3)):
        has = select.known(rows[column])
        if has.any():
            panel.steps(sends, select.seconds(recording, rows["time"][has]), rows[column][has] / divisor, color=colour)
    again = select.of_flow(recording.facts.retransmit, sends)
    if len(again):
        at = select.seconds(recording, again["time"])
        base = np.zeros(len(at))
        p.panels[1].points(f"{sends} sent again ({int(again['segments'].sum())} segments)", at, base, color=colour,
                           marker="|", markersize=9, markeredgewidth=1.2)


def tcp_state(recording: Recording, flow: Optional[str] = None) -> Picture:
    """Draw what TCP knows of a connection: windows, round-trip time, timeout and unsent bytes."""
    f = select.choose(recording, flow, None if flow else "tx")
    sends = f.id if not f.rx else f.other
    rows = select.of_flow(recording.facts.state, sends)
    rows = rows[np.argsort(rows["time"], kind="stable")]
    if not len(rows):
        raise NotAvailable(f"flow {f.id} ({f.kind}) has no sample of TCP's state: record TCP with --level light, or full")
    panels = (
        ("windows", "segments", 1.0, (("cwnd", "congestion window"), ("ssthresh", "slow start threshold"))),
        ("peer's window and unsent bytes", "KB", 1e3, (("snd_wnd", "window the peer offers"), ("notsent", "not sent"))),
        ("times", "ms", 1e3, (("srtt_us", "smoothed round-trip time"), ("rto_us", "retransmission timeout"))),
    )
    p = Picture("State of a TCP connection", f.title, [name for name, *_ in panels])
    for panel, (name, unit, divisor, columns) in zip(p.panels, panels):
        panel.label(select.TIME if panel is p.panels[-1] else "", f"{name} [{unit}]" if name != panels[1][0]
                    else f"bytes [{unit}]")
        for column, text in columns:
            # the kernel's greatest threshold means that there is none yet
            has = select.known(rows[column]) & ((rows[column] < 2**31 - 1) if column == "ssthresh" else True)
            if has.any():
                panel.steps(text, select.seconds(recording, rows["time"][has]), rows[column][has] / divisor)
        if not panel.axes.lines:
            panel.note("not recorded")
    p.panels[2].log("y")
    return p.finish()


TX_STAGES = ("call", "send_buffer", "ip", "qdisc", "driver")
RX_STAGES = ("device_to_ip", "ip_to_tcp", "in_order", "reader_absent", "wake", "run_queue", "poll_return", "copy", "return")


def _passed(row: Array, stages: Tuple[str, ...]) -> Tuple[Array, List[str]]:
    """Return when a range had passed each stage, ns, from its begin on, and the stages' names."""
    times, names = [float(row["begin"])], ["begin"]
    for s in stages:
        spent = float(row["stage_" + s])
        if spent == spent:
            times.append(times[-1] + spent)
            names.append(s)
    return np.array(times), names


def _acknowledged(recording: Recording, ends: List[Tuple[str, Array]]) -> Tuple[Array, List[str], int]:
    """Return when the first ACK of a range passed each layer, ns, what these are, and up to where it acknowledges.

    `ends` are the flows of the range, and its row in each; the receiver sends the ACK, and the sender gets it.
    """
    times: List[float] = []
    names: List[str] = []
    upto = 0
    for name, row in reversed(ends):
        received = name.endswith("rx")
        rows = select.of_flow(recording.facts.ack, name)
        rows = rows[rows["offset"] >= row["offset"] + row["length"]]
        if not len(rows):
            continue
        first = rows[np.argsort(rows["offset"], kind="stable")[0]]
        upto = int(first["offset"])
        steps = (("ip", "ACK to IP"), ("device", "ACK at the driver")) if received else (
            ("device", "ACK at the device"), ("ip", "ACK from IP to TCP"), ("tcp", "ACK processed by TCP"))
        for column, what in steps:
            if first[column]:
                times.append(float(first[column]))
                names.append(f"{'received' if received else 'sent'}: {what}")
    return np.array(times), names, upto


def lifeline(recording: Recording, flow: Optional[str] = None, offset: Optional[int] = None) -> Picture:
    """Draw when one range of bytes passed each layer, at both ends where both were recorded, and its ACK's way back.

    The packet lifeline of the papers (G03 Fig. 5). Without `offset` the range with the median time.
    """
    f = select.choose(recording, flow)
    rows = select.of_flow(recording.facts.range, f.id)
    outcomes = next(c.words for c in recording.facts.range.layout.columns if c.name == "outcome")
    whole = rows[(rows["outcome"] == outcomes.index("followed")) & (rows["begin"] != 0)]
    if offset is not None:
        whole = whole[(whole["offset"] <= offset) & (whole["offset"] + whole["length"] > offset)]
    if not len(whole):
        raise NotAvailable(f"flow {f.id} has no range of bytes with every timestamp"
                           + (f" at offset {offset}" if offset is not None else ""))
    row = whole[np.argsort(whole["total"], kind="stable")[len(whole) // 2]]
    ends = [(f.id, row)]
    if f.peer:
        there = select.of_flow(recording.facts.range, f.peer)
        at = there[(there["offset"] <= row["offset"]) & (there["offset"] + there["length"] > row["offset"])
                   & (there["begin"] != 0)]
        if len(at):
            ends.append((f.peer, at[0]))
    ends.sort(key=lambda e: e[0].endswith("rx"))
    start = float(ends[0][1]["begin"])
    passed = [_passed(e, RX_STAGES if name.endswith("rx") else TX_STAGES) for name, e in ends]
    acked, steps, upto = _acknowledged(recording, ends)
    size, unit = select.unit_of_time([max([passed[-1][0][-1], *acked]) - start])
    p = Picture("Life of a range of bytes",
                f"{f.title}: {int(row['length'])} bytes from offset {int(row['offset'])}")
    panel = p.panels[0]
    panel.label(f"time since the first of these timestamps [{unit}]", "")
    ticks: List[str] = []
    for (name, _), (times, stages) in zip(ends, passed):
        side = "received" if name.endswith("rx") else "sent"
        labels = [f"{side}: {'call' if side == 'sent' else 'device'}"]
        for stage, took in zip(stages[1:], np.diff(times)):
            step, its_unit = select.unit_of_time([took])
            labels.append(f"{side}: after {words.stage(stage, f.kind)}, +{took / step:.3g} {its_unit}")
        y = np.arange(len(ticks), len(ticks) + len(labels))
        ticks += labels
        panel.line(f"{side} ({name})", (times - start) / size, y, marker="o", markersize=5)
    if len(acked):
        panel.line(f"acknowledged (up to {upto})", (acked - start) / size,
                   np.arange(len(ticks), len(ticks) + len(acked)), marker="o", markersize=5)
        for what, took in zip(steps, np.diff(acked, prepend=acked[0])):
            step, its_unit = select.unit_of_time([took])
            ticks.append(f"{what}, +{took / step:.3g} {its_unit}" if what != steps[0] else what)
    panel.axes.set_yticks(range(len(ticks)), ticks, fontsize="small")
    panel.axes.invert_yaxis()
    if len(ends) == 1:
        p.remark("The other end was not recorded: its part of the way is not known.")
    if not len(acked):
        p.remark("No acknowledgement of these bytes was recorded." if f.kind == "tcp"
                 else f"{f.kind} has no acknowledgements.")
    return p.finish()
