# SPDX-License-Identifier: MIT
"""Sizes and times of what the application and the network see."""
from typing import Optional, Tuple

import numpy as np

from ..errors import NotAvailable
from ..recording import Recording
from . import select, words
from .picture import Picture
from .select import Flow

def _window(recording: Recording, flow: Flow, begin: Optional[float], length: float) -> Tuple[float, float]:
    """Return begin and length: by default from the middle of the flow, or all of it if that is shorter."""
    times = np.concatenate([select.seconds(recording, p["time"]) for p in select.packets(recording, flow).values()])
    first, last = float(times.min()), float(times.max())
    if begin is None:
        begin = first if last - first <= length else (first + last - length) / 2
    return begin, min(length, max(last - begin, 1e-6) * 1.0001)


def _sizes(recording: Recording, flow: Flow, layers: Tuple[str, str], begin: Optional[float], length: float,
           title: str) -> Picture:
    by_layer = select.packets(recording, flow)
    if not by_layer:
        raise NotAvailable(f"flow {flow.id}: no packet of it was recorded at any layer")
    begin, length = _window(recording, flow, begin, length)
    p = Picture(title, flow.title)
    panel = p.panels[0]
    panel.label(select.TIME, "size [bytes]")
    missing = []
    stands = 0
    for layer in layers:
        if layer not in by_layer:
            missing.append(layer)
            continue
        rows = by_layer[layer]
        rows = rows[rows["payload"] > 0]
        at = select.seconds(recording, rows["time"])
        rows, at = rows[select.within(at, begin, length)], at[select.within(at, begin, length)]
        if layer != "call" and len(rows):
            stands = max(stands, int(rows["packets"].max()))
        panel.points(words.LAYERS[layer], at, rows["payload"])
    panel.axes.set_xlim(begin - 0.01 * length, begin + 1.01 * length)
    panel.from_zero()
    panel.plain("y")
    remarks = ["Sizes are payload, without headers."]
    if stands > 1:
        remarks.append(f"The kernel hands on up to {stands} segments as one packet (GSO, GRO): that is one mark.")
    if missing:
        remarks.append(f"Not recorded: {', '.join(missing)}.")
    p.remark(" ".join(remarks))
    return p.finish()


def ftp(recording: Recording, flow: Optional[str] = None, begin: Optional[float] = None,
        length: float = 1.0) -> Picture:
    """Draw sizes of the application's writes and of the packets on the network against time.

    The FTP figure of the papers (F01 Fig. 8, L01 Fig. 3, G02 Fig. 9): `length` seconds of a sent flow.
    """
    f = select.choose(recording, flow, "tx")
    layers = ("call", "device") if not f.rx else ("device", "call")
    return _sizes(recording, f, layers, begin, length, "Application against network: size over time")


def mp3(recording: Recording, flow: Optional[str] = None, begin: Optional[float] = None,
        length: float = 1.0) -> Picture:
    """Draw sizes of what IP gets from the device and of what the application reads against time.

    The MP3 figure of the papers (G02 Fig. 10): `length` seconds of a received flow.
    """
    f = select.choose(recording, flow, "rx")
    layers = ("ip", "call") if f.rx else ("call", "ip")
    return _sizes(recording, f, layers, begin, length, "Network against application: size over time")


def application_wire(recording: Recording, flow: Optional[str] = None) -> Picture:
    """Draw the bytes that had passed the application and the device by each time, and the lag between.

    J, M and S of the subtitle are the report's.
    """
    f = select.choose(recording, flow)
    by_layer = select.packets(recording, f)
    ends = ("call", "device")
    for layer in ends:
        if layer not in by_layer:
            raise NotAvailable(f"flow {f.id}: the layer {layer} was not recorded")
    m = select.figures_of(recording.figures, f).modulation
    said = "modulation is not available"
    if m and None not in (m.M, m.J_ns, m.tau_ns, m.S):
        said = f"M\u00a0=\u00a0{m.M:.4g}, J\u00a0=\u00a0{m.J_ns / 1e6:.4g}\u00a0ms, τ\u00a0=\u00a0{m.tau_ns / 1e6:.4g}\u00a0ms, S\u00a0=\u00a0{m.S:.4g}"
    p = Picture("Application against wire: bytes over time", f"{f.title}; {said}", ("bytes so far", "spacing"),
                heights=(1.4, 1.0))
    total = max(int(rows["fresh"].astype(np.int64)[select.known(rows["fresh"])].sum()) for rows in by_layer.values())
    size, unit = select.unit_of_bytes([total])
    p.panels[0].label("", f"bytes passed [{unit}]")
    p.panels[1].label(select.TIME, "spacing [ms]")
    for layer in ends:
        rows = by_layer[layer]
        fresh = np.where(select.known(rows["fresh"]), rows["fresh"], 0).astype(np.int64)
        at = select.seconds(recording, rows["time"])
        p.panels[0].steps(words.LAYERS[layer], at, np.cumsum(fresh) / size)
        p.panels[1].points(words.LAYERS[layer], at[1:], np.diff(at) * 1e3)
    if any((p.panels[1].axes.lines[i].get_ydata() > 0).any() for i in range(2)):
        p.panels[1].log("y")
    p.remark("Bytes count when they pass a layer for the first time: what is sent again counts once.")
    return p.finish()


def _cdf(recording: Recording, flow: Optional[str], what: str) -> Picture:
    f = select.choose(recording, flow)
    by_layer = select.packets(recording, f)
    figures = {str(x["name"]): x for x in select.figures_of(recording.figures, f).json["layers"]}
    is_size = what == "size"
    title = "Sizes by layer" if is_size else "Spacings by layer"
    p = Picture(f"{title}: cumulative distribution", f.title)
    panel = p.panels[0]
    panel.label("payload of a packet or call [bytes]" if is_size else "time since the one before [ms]",
                "share that is not larger" if is_size else "share that is not longer")
    least = np.inf
    for layer, rows in by_layer.items():
        rows = rows[rows["payload"] > 0]
        values = np.sort(rows["payload"].astype(float) if is_size else np.diff(rows["time"].astype(np.int64)) / 1e6)
        if not len(values):
            continue
        mean = figures.get(layer, {}).get("mean_size" if is_size else "mean_spacing_ns")
        said = "mean n/a" if mean is None else f"mean {mean:.0f} B" if is_size else f"mean {mean / 1e6:.4g} ms"
        panel.layer(f"{words.plain(layer)}: {said}, n = {len(values)}", values, np.arange(1, len(values) + 1) / len(values),
                    len(by_layer), drawstyle="steps-post")
        least = min(least, float(values[values > 0].min()) if (values > 0).any() else np.inf)
    if not p.series:
        raise NotAvailable(f"flow {f.id} has fewer than two packets or calls with payload at each layer")
    if np.isfinite(least):
        panel.log("x")
    panel.axes.set_ylim(0, 1.02)
    p.remark("Means are the report's, over the same packets and calls; it leaves out intervals in which events are "
             "missing.")
    return p.finish()


def size_cdf(recording: Recording, flow: Optional[str] = None) -> Picture:
    """Draw the distribution of sizes at each layer of a flow."""
    return _cdf(recording, flow, "size")


def spacing_cdf(recording: Recording, flow: Optional[str] = None) -> Picture:
    """Draw the distribution of spacings at each layer of a flow."""
    return _cdf(recording, flow, "spacing")
