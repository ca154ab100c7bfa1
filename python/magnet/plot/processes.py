# SPDX-License-Identifier: MIT
"""Processes on the CPU: context switches, intervals between writes, and who ran when."""
from typing import Dict, List, Optional, Tuple

import numpy as np

from ..errors import NotAvailable
from ..recording import Recording
from . import select
from .picture import COLOURS, Picture
from .select import Array


def context_switches(recording: Recording) -> Picture:
    """Draw the duration of each context switch against time, one panel for each CPU.

    The papers' context-switch figures (G02 Fig. 12-13, G03 Fig. 2-3).
    """
    rows = recording.facts.switch_cost.array
    rows = rows[select.known(rows["decide"]) & select.known(rows["reload"]) & (rows["cpu"] >= 0)]
    if not len(rows):
        raise NotAvailable("durations of context switches were not recorded: record with --layers +switch")
    took = (rows["decide"].astype(float) + rows["reload"]) / 1e3
    cpus = sorted(set(rows["cpu"].tolist()))
    kinds = (("task to task", (rows["from"] != 0) & (rows["to"] != 0)), ("to idle", rows["to"] == 0),
             ("from idle", rows["from"] == 0))
    p = Picture("Duration of context switches", f"{len(rows)} switches, from the scheduler's entry to its return",
                [f"CPU {c}" for c in cpus])
    at = select.seconds(recording, rows["time"])
    for panel, cpu in zip(p.panels, cpus):
        panel.label(select.TIME if cpu == cpus[-1] else "", "duration [µs]")
        for i, (name, of_kind) in enumerate(kinds):
            these = (rows["cpu"] == cpu) & of_kind
            if these.any():
                panel.points(f"{name} (n = {these.sum()})", at[these], took[these], color=COLOURS[i])
        panel.log("y")
    p.remark("Interrupts in between are included.")
    return p.finish()


def _writes(recording: Recording) -> Dict[Tuple[int, str], Array]:
    """Return the begins of calls that sent bytes, s, by process and program."""
    t = recording.facts.call
    a = t.array
    sends = (a["flow"] != 0) & (a["flow_rx"] == 0) & select.known(a["bytes"]) & (a["bytes"] > 0) & (a["begin"] != 0)
    programs = dict(zip(recording.facts.flow["pid"].tolist(), recording.facts.flow["program"].tolist()))
    found = {}
    for pid in sorted(set(a["pid"][sends].tolist())):
        at = np.sort(select.seconds(recording, a["begin"][sends & (a["pid"] == pid)]))
        found[(int(pid), str(programs.get(pid) or "process"))] = at
    return found


def write_intervals(recording: Recording) -> Picture:
    """Draw how often each interval between two writes of a process occurred.

    Peuhkuri's distribution of write intervals (P97 Fig. 3).
    """
    by_process = {k: np.diff(v) * 1e9 for k, v in _writes(recording).items() if len(v) > 2}
    by_process = {k: v[v > 0] for k, v in by_process.items() if (v > 0).any()}
    if not by_process:
        raise NotAvailable("no process has three calls that sent bytes")
    size, unit = select.unit_of_time(np.concatenate(list(by_process.values())))
    by_process = {k: v / size for k, v in by_process.items()}
    every = np.concatenate(list(by_process.values()))
    low, high = float(every.min()), float(every.max())
    edges = np.logspace(np.log10(low * 0.99), np.log10(max(high, low * 1.1) * 1.01), 61)
    p = Picture("Intervals between writes", "1 process" if len(by_process) == 1 else f"{len(by_process)} processes")
    p.panels[0].label("interval between the begins of two writes [" + unit + "]", "share of the process's intervals [%]")
    for (pid, program), intervals in sorted(by_process.items(), key=lambda i: -len(i[1]))[:8]:
        n = np.histogram(intervals, edges)[0] * 100 / len(intervals)
        median = float(np.median(intervals)) * size
        step, its_unit = select.unit_of_time([median])
        p.panels[0].steps(f"{program} {pid}: n = {len(intervals)},\nmedian {median / step:.3g} {its_unit}", edges,
                          np.append(n, n[-1]))
    p.panels[0].log("x")
    p.panels[0].from_zero()
    if len(by_process) > 8:
        p.remark(f"{len(by_process) - 8} more processes, with fewer writes, are not drawn.")
    return p.finish()


def _running(recording: Recording) -> Dict[int, List[Tuple[Array, Array]]]:
    """Return by CPU the times of switches, s, and the thread that ran from there on."""
    rows = recording.facts.switch.array
    rows = rows[np.argsort(rows["time"], kind="stable")]
    at = select.seconds(recording, rows["time"])
    return {int(c): [(at[rows["cpu"] == c], rows["to"][rows["cpu"] == c])] for c in sorted(set(rows["cpu"].tolist()))}


def process_trace(recording: Recording, begin: Optional[float] = None, length: float = 1.0) -> Picture:
    """Draw frame and write intervals, memory of the send queues, and the running process over time.

    Peuhkuri's process trace (P97 Fig. 2): `length` seconds, by default from the recording's middle.
    """
    switches = recording.facts.switch.array
    if not len(switches):
        raise NotAvailable("context switches were not recorded: record with the layer sched")
    writes = _writes(recording)
    if begin is None:
        at = np.concatenate(list(writes.values())) if writes else select.seconds(recording, switches["time"])
        first, last = float(at.min()), float(at.max())
        begin = max(first, (first + last - length) / 2)
    p = Picture("Process trace", "intervals between frames and between writes, send queues, and who ran",
                ("intervals", "memory in send queues", "running thread"), heights=(1.2, 0.8, 1.4))
    last = select.seconds(recording, switches["time"]).max()
    length = min(length, max(float(last) - begin, 1e-6))
    _intervals(recording, p, writes, begin, length)
    _queues(recording, p, begin, length)
    _threads(recording, p, writes, begin, length)
    p.panels[2].axes.set_xlim(begin, begin + length)
    return p.finish()


def _intervals(recording: Recording, p: Picture, writes: Dict[Tuple[int, str], Array], begin: float,
               length: float) -> None:
    panel = p.panels[0]
    panel.label("", "interval [ms]")
    flows = [f for f in select.flows(recording) if f.bytes and not f.rx][:4]
    for i, f in enumerate(flows):
        rows = select.packets(recording, f).get("device")
        if rows is None or len(rows) < 2:
            continue
        at = select.seconds(recording, rows["time"])
        keep = select.within(at[1:], begin, length)
        panel.points(f"frames of {f.id}", at[1:][keep], (np.diff(at) * 1e3)[keep], color=COLOURS[i], marker=".")
    for i, ((pid, _), at) in enumerate(list(writes.items())[:4]):
        keep = select.within(at[1:], begin, length)
        if keep.any():
            panel.points(f"writes of {pid}", at[1:][keep], (np.diff(at) * 1e3)[keep], color=COLOURS[4 + i], marker="x",
                         markeredgewidth=0.8)
    if panel.axes.lines:
        panel.log("y")
    else:
        panel.note("no frames and writes in this window")


def _queues(recording: Recording, p: Picture, begin: float, length: float) -> None:
    panel = p.panels[1]
    panel.label("", "memory at writes [KB]")
    for f in [f for f in select.flows(recording) if f.bytes and not f.rx][:4]:
        rows = select.of_flow(recording.events.tcp_send, f.id)
        rows = rows[np.argsort(rows["time"], kind="stable")]
        at = select.seconds(recording, rows["time"])
        keep = select.within(at, begin, length)
        if keep.any():
            panel.points(f.id, at[keep], rows["wmem_queued"][keep] / 1e3)
    panel.from_zero()
    if not panel.axes.lines:
        panel.note("no event tcp_send in this window")


def _threads(recording: Recording, p: Picture, writes: Dict[Tuple[int, str], Array], begin: float,
             length: float) -> None:
    panel = p.panels[2]
    panel.label(select.TIME, "thread")
    running = _running(recording)
    traced = set(recording.facts.wait.array["tid"].tolist())
    seen: List[int] = sorted({int(t) for per in running.values() for at, to in per
                              for t in to[select.within(at, begin, length)] if int(t) in traced})[:12]
    row = {t: i + 2 for i, t in enumerate(seen)}
    names = dict(zip(recording.facts.wait["tid"].tolist(), recording.facts.wait["program"].tolist()))
    for i, (cpu, per) in enumerate(running.items()):
        at, to = per[0]
        y = np.array([0 if t == 0 else row.get(int(t), 1) for t in to])
        keep = select.within(at, begin, length)
        if keep.any():
            panel.steps(f"runs on CPU {cpu}", at[keep], y[keep] + i * 0.12, color=COLOURS[i % len(COLOURS)], linewidth=0.5)
    tids = {}
    calls = recording.facts.call.array
    for pid, _ in writes:
        tids[pid] = calls["tid"][calls["pid"] == pid]
    for pid, at in ((pid, at) for (pid, _), at in writes.items()):
        for t in sorted(set(tids[pid].tolist())):
            if int(t) in row:
                mine = np.sort(select.seconds(recording, calls["begin"][(calls["tid"] == t) & (calls["flow"] != 0)
                                                                        & (calls["flow_rx"] == 0)]))
                mine = mine[select.within(mine, begin, length)]
                panel.points(f"writes of {t}", mine, np.full(len(mine), row[int(t)] + 0.4), color="black", marker="o",
                             markersize=4, zorder=3)
    panel.axes.set_yticks(range(len(seen) + 2),
                          ["idle", "not traced", *(f"{names.get(t) or 'thread'} {t}" for t in seen)], fontsize="small")
