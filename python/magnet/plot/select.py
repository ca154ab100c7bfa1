# SPDX-License-Identifier: MIT
"""Chooses flows and rows of a recording, and units in which numbers are easy to read."""
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from ..errors import NotAvailable
from ..figures import Figures
from ..recording import Recording
from ..table import Table
from ..values import flow_key

Array = NDArray[Any]


@dataclass(frozen=True)
class Flow:
    """One direction of a socket, as the fact `flow` has it."""

    id: str
    bytes: int
    program: str
    local: str
    remote: str
    kind: str
    peer: Optional[str]

    @property
    def rx(self) -> bool:
        """Whether it is the receiving direction."""
        return self.id.endswith("/rx")

    @property
    def other(self) -> str:
        """The other direction of the socket."""
        return self.id[:-2] + ("tx" if self.rx else "rx")

    @property
    def title(self) -> str:
        """Who sends to whom."""
        way = "from" if self.rx else "to"
        return f"{self.program} {'receives' if self.rx else 'sends'} {way} {self.remote} ({self.kind}, flow {self.id})"


def flows(recording: Recording) -> List[Flow]:
    """Return the flows of a recording, those with the most bytes first."""
    t = recording.facts.flow
    columns = [t[c] for c in ("flow", "program", "local", "remote", "kind", "peer")]
    found = [
        Flow(i, int(n) if n == n else 0, p or "?", a or "?", b or "?", k or "?", peer)
        for (i, p, a, b, k, peer), n in zip(zip(*columns), t["bytes"])
    ]
    return sorted(found, key=lambda f: -f.bytes)


def choose(recording: Recording, flow: Optional[str], direction: Optional[str] = None) -> Flow:
    """Return the flow with this name, or the largest of a direction ("tx" or "rx")."""
    found = flows(recording)
    if flow:
        for f in found:
            if f.id == flow:
                return f
        raise NotAvailable(f"no flow {flow}; there are: {', '.join(f.id for f in found[:20]) or 'none'}")
    for f in found:
        if f.bytes and (not direction or f.id.endswith(direction)):
            return f
    what = {"tx": "sent", "rx": "received", None: "moved"}[direction]
    need_kernel_side(recording)
    raise NotAvailable(f"no flow of the recording has {what} bytes")


def need_kernel_side(recording: Recording) -> None:
    """Raise NotAvailable if the kernel side was not recorded."""
    if recording.figures.json["losses"] is None:
        raise NotAvailable("the kernel side was not recorded: without it neither flows nor requests are known")


def figures_of(figures: Figures, flow: Flow) -> Figures:
    """Return the report's figures of a flow."""
    for f in figures.json["flows"]:
        if f["id"] == flow.id:
            return Figures(f)
    raise NotAvailable(f"the report has no flow {flow.id}")


def of_flow(table: Table, flow: str) -> Array:
    """Return the rows of a table that belong to a flow, as stored."""
    sock, rx = flow_key(flow)
    a = table.array
    return np.asarray(a[(a["flow"] == np.uint64(sock)) & (a["flow_rx"] == rx)])


def packets(recording: Recording, flow: Flow) -> Dict[str, Array]:
    """Return the rows of `packet` of a flow by layer, in order of time."""
    rows = of_flow(recording.facts.packet, flow.id)
    words = next(c.words for c in recording.facts.packet.layout.columns if c.name == "layer")
    by_layer: Dict[str, Array] = {}
    for number in dict.fromkeys(rows["layer"].tolist()):
        these = rows[(rows["layer"] == number) & (rows["time"] != 0)]
        if len(these):
            by_layer[str(words[number])] = these[np.argsort(these["time"], kind="stable")]
    order = TX_LAYERS if not flow.rx else RX_LAYERS
    return {name: by_layer[name] for name in order if name in by_layer}


TX_LAYERS = ("call", "copy", "tcp", "ip", "queue", "device", "driver")
RX_LAYERS = ("device", "ip", "tcp", "in_order", "copy", "call")


def origin(recording: Recording) -> int:
    """Return the time of the recording's begin, ns; all plots count from it."""
    r = recording.facts.recording.array
    for column in ("begin", "first"):
        if len(r) and r[column][0]:
            return int(r[column][0])
    raise NotAvailable("the recording has no events")


def seconds(recording: Recording, times: Array) -> Array:
    """Return stored times as seconds since the recording's begin."""
    return (times.astype(np.int64) - origin(recording)) / 1e9


TIME = "time since the recording began [s]"


def known(values: Array) -> Array:
    """Return which COUNTs are known, as stored."""
    return np.asarray(values != np.uint64(2**64 - 1))


def unit_of_time(ns: Any) -> Tuple[float, str]:
    """Return a divisor and unit for nanoseconds such as these."""
    finite = np.abs(np.asarray(ns, dtype=float))
    finite = finite[np.isfinite(finite) & (finite > 0)]
    middle = float(np.median(finite)) if len(finite) else 1.0
    for size, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if middle >= size:
            return size, name
    return 1.0, "ns"


def unit_of_bytes(values: Any) -> Tuple[float, str]:
    """Return a divisor and unit for bytes such as these."""
    most = float(np.nanmax(values)) if len(values) else 0.0
    for size, name in ((1e9, "GB"), (1e6, "MB"), (1e4, "KB")):
        if most >= size:
            return (1e3 if name == "KB" else size), name
    return 1.0, "bytes"


def unit_of_rate(values: Any) -> Tuple[float, str]:
    """Return a divisor and unit for bits a second such as these."""
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite)]
    most = float(finite.max()) if len(finite) else 0.0
    for size, name in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if most >= size:
            return size, name
    return 1.0, "bit/s"


def within(times: Array, begin: Optional[float], length: Optional[float]) -> Array:
    """Return which seconds lie in a window; without begin or length all do."""
    keep = np.ones(len(times), np.bool_)
    if begin is not None:
        keep &= times >= begin
        if length is not None:
            keep &= times < begin + length
    return keep
