# SPDX-License-Identifier: MIT
"""Figures that the report has, drawn: waterfalls and statistics on demand."""
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np
from matplotlib.ticker import FuncFormatter

from ..errors import NotAvailable
from ..recording import Recording
from . import select, words
from .picture import COLOURS, Picture


def _rows(recording: Recording, flow: Optional[str], name: str, part: str) -> Tuple[select.Flow, List[Mapping[str, Any]]]:
    f = select.choose(recording, flow)
    on_demand = select.figures_of(recording.figures_with(name), f).json["on_demand"][name]
    return f, list(on_demand[part])


def _refused(rows: List[Mapping[str, Any]], key: str) -> str:
    """Return the sentence for rows that the report refused."""
    why: Dict[str, List[str]] = {}
    for r in rows:
        if r["refused"]:
            why.setdefault(str(r["refused"]), []).append(words.plain(str(r[key])))
    return " ".join(f"Not available for {', '.join(names)}: {text}." for text, names in why.items())


def _per_layer(recording: Recording, flow: Optional[str], name: str, points: str, x: str, y: str, title: str,
               labels: Tuple[str, str], logs: Tuple[bool, bool]) -> Picture:
    """Draw a statistic with a list of points for each layer."""
    f, rows = _rows(recording, flow, name, "layers")
    p = Picture(title, f.title)
    panel = p.panels[0]
    panel.label(*labels)
    for r in rows:
        pairs = [(o[x], o[y]) for o in r[points] or [] if o[x] is not None and o[y] is not None]
        if pairs:
            panel.layer(words.plain(r["layer"]), [a for a, _ in pairs], [b for _, b in pairs], len(rows), marker="o")
    if not p.series:
        raise NotAvailable(f"flow {f.id}: {_refused(rows, 'layer') or name + ' has no values'}")
    if logs[0]:
        panel.log("x")
    if logs[1]:
        panel.log("y")
    if _refused(rows, "layer"):
        p.remark(_refused(rows, "layer"))
    return p


def idc(recording: Recording, flow: Optional[str] = None) -> Picture:
    """Draw the index of dispersion for counts against the window, by layer.

    Peuhkuri's curves (P97 Fig. 4): constant for traffic like Poisson's, rising for bursty traffic.
    """
    p = _per_layer(recording, flow, "idc", "windows", "window_ms", "idc", "Index of dispersion for counts",
                   ("window [ms]", "variance / mean of packets in a window [1]"), (True, True))
    p.panels[0].axes.axhline(1.0, color="0.5", linewidth=0.8, linestyle=":", label="Poisson")
    return p.finish()


def contract(recording: Recording, flow: Optional[str] = None) -> Picture:
    """Draw the smallest bucket that lets all packets pass against its rate, by layer (P97 3.4.1)."""
    p = _per_layer(recording, flow, "contract", "buckets", "rate_bit_s", "bucket_bytes", "Traffic contract without loss",
                   ("rate of the bucket [bit/s]", "smallest bucket [bytes]"), (True, True))
    # the data are in bit/s, the labels in what is easy to read
    size, unit = select.unit_of_rate(np.concatenate([s.x for s in p.series]))
    p.panels[0].axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v / size:,.10g}"))
    p.panels[0].axes.set_xlabel(f"rate of the bucket [{unit}]")
    return p.finish()


def spectrum(recording: Recording, flow: Optional[str] = None) -> Picture:
    """Draw the energy of the traffic by time scale at each layer, and its change from layer to layer."""
    f, layers = _rows(recording, flow, "spectrum", "layers")
    _, pairs = _rows(recording, flow, "spectrum", "pairs")
    p = Picture("Spectrum: energy by time scale", f.title, ("energy at a layer", "change between two layers"))
    p.panels[0].label("", "log2 of the energy")
    p.panels[1].label("time scale of the octave [ms]", "difference of log2")
    for r in layers:
        octaves = [o for o in r["octaves"] or [] if o["y"] is not None]
        if octaves:
            p.panels[0].layer(words.plain(r["layer"]), [o["scale_ms"] for o in octaves], [o["y"] for o in octaves], len(layers),
                              marker="o")
    for r in pairs:
        octaves = [o for o in r["octaves"] or [] if o["difference"] is not None]
        if octaves:
            p.panels[1].layer(words.plain(f"{r['from']} to {r['to']}"), [o["scale_ms"] for o in octaves],
                              [o["difference"] for o in octaves], len(pairs), marker="o")
    if not p.panels[0].axes.lines:
        raise NotAvailable(f"flow {f.id}: {_refused(layers, 'layer') or 'the spectrum has no values'}")
    if not p.panels[1].axes.lines:
        p.panels[1].note("no pair of layers has a spectrum at both")
    p.panels[1].log("x")
    p.remark(" ".join(filter(None, (f"Bins of {layers[0]['bin_ms']:g} ms.", _refused(layers, "layer")))))
    return p.finish()


def waterfall(recording: Recording, flow: Optional[str] = None) -> Picture:
    """Draw the mean time in each stage, and that of the bytes near quantiles of the total."""
    f = select.choose(recording, flow)
    figures = recording.figures
    ids = [i for i in ((f.id, f.peer) if flow is None and f.peer else (f.id,)) if i]
    found = [(i, x) for i in ids for x in figures.json["flows"] if x["id"] == i and x.get("residence")]
    if not found:
        raise NotAvailable(f"flow {f.id}: the report has no time in stages; no byte of it has every timestamp")
    p = Picture("Waterfall: where the bytes' time went", f.title,
                [f"{i} ({'received' if i.endswith('rx') else 'sent'})" for i, _ in found], share_x=False,
                heights=[1.1] * len(found))
    for panel, (_, figure) in zip(p.panels, found):
        _one_waterfall(panel, figure)
    return p.finish()


def _one_waterfall(panel: Any, figure: Mapping[str, Any]) -> None:
    bars = [("mean", {s["stage"]: s["mean_ns"] for s in figure["residence"]})]
    for w in figure["waterfalls"] or []:
        bars.append((f"near p{w['quantile'] * 100:g}", {s["stage"]: s["mean_ns"] for s in w["stages"]}))
    stages = [s["stage"] for s in figure["residence"]]
    size, unit = select.unit_of_time([sum(v or 0 for v in b.values()) for _, b in bars])
    panel.label(f"time [{unit}]", "")
    start = np.zeros(len(bars))
    for i, stage in enumerate(stages):
        length = np.array([(b.get(stage) or 0) / size for _, b in bars])
        panel.bars(words.stage(stage, str(figure["proto"])), np.arange(len(bars)), length, start, color=COLOURS[i % len(COLOURS)],
                   hatch="//" if i >= len(COLOURS) else None)
        start = start + length
    panel.from_zero("x")
    panel.axes.set_yticks(range(len(bars)), [name for name, _ in bars])
    panel.axes.invert_yaxis()


def exchanges(recording: Recording) -> Picture:
    """Draw the time of each request to its reply, and the parts of the median's and of the slowest."""
    t = recording.facts.exchange
    a = t.array
    answered = next(c.words for c in t.layout.columns if c.name == "answer").index("answered")
    roles = t["role"]
    a_ok = (a["answer"] == answered) & ~np.isnan(a["to_reply"])
    role = next((r for r in ("client", "server") if (a_ok & (roles == r)).any()), None)
    if role is None:
        select.need_kernel_side(recording)
        raise NotAvailable("the recording has no request with a reply")
    keep = a_ok & (roles == role)
    rows = a[keep]
    took = rows["to_reply"]
    size, unit = select.unit_of_time(took)
    p = Picture("Requests and their replies", f"{len(rows)} answered requests, as the {role} has them",
                ("time to reply", "parts, from the first byte of the request to the last of the reply"), share_x=False)
    at = select.seconds(recording, rows["request_first"])
    p.panels[0].label("begin of the request: " + select.TIME, f"time to reply [{unit}]")
    rank = np.argsort(took, kind="stable")
    slow = rank[-max(1, len(rank) // 100):]
    p.panels[0].points("request", at, took / size)
    p.panels[0].points(f"slowest {len(slow)}", at[slow], took[slow] / size, marker="o", markersize=9,
                       markerfacecolor="none", markeredgewidth=1.4)
    p.panels[0].log("y")
    bars = {"median": rank[len(rank) // 2: len(rank) // 2 + 1], f"slowest {len(slow)}, mean": slow}
    parts = [c.name for c in t.layout.columns if c.name.startswith("part_")]
    size, unit = select.unit_of_time([sum(np.nan_to_num(rows[c][i]).mean() for c in parts) for i in bars.values()])
    start = np.zeros(2)
    p.panels[1].label(f"time [{unit}]", "")
    for c in parts:
        length = np.array([np.nan_to_num(rows[c][i]).mean() / size for i in bars.values()])
        p.panels[1].bars(words.PARTS[c[len("part_"):]], np.arange(2), length, start)
        start = start + length
    p.panels[1].from_zero("x")
    p.panels[1].axes.set_yticks(range(2), list(bars))
    p.panels[1].axes.invert_yaxis()
    if role == "client" and not (rows["server_request_last"] != 0).any():
        p.remark("The server was not recorded: the way of the request is all of the time to the reply.")
    return p.finish()
