# SPDX-License-Identifier: MIT
"""The table of figures that `magnet plot` and `magnet.plot` draw; reading it needs no matplotlib."""
import importlib
from dataclasses import dataclass
from typing import Any, Callable, Dict

# endings of the names of pictures
FORMATS = ("svg", "pdf", "png")


@dataclass(frozen=True)
class Entry:
    """A figure: its name, the module of `magnet.plot` with its function, its needs, and what it shows.

    `takes_flow`: a flow may be chosen; `several`: it compares recordings.
    """

    name: str
    module: str
    needs: str
    doc: str
    takes_flow: bool = True
    several: bool = False

    @property
    def draw(self) -> Callable[..., Any]:
        """The function, which takes a recording, or a list of them, and returns a Picture."""
        module = importlib.import_module(f"magnet.plot.{self.module}")
        function: Callable[..., Any] = getattr(module, self.name.replace("-", "_"))
        return function


_ENTRIES = (
    Entry("ftp", "traffic", "a flow that sends", "size of writes and of packets over time (FTP)"),
    Entry("mp3", "traffic", "a flow that receives", "size of packets and of reads over time (MP3)"),
    Entry("loss", "several", "recordings with different --buffer, --drain",
          "lost events against buffer and drain interval", False, True),
    Entry("cpu", "several", "recordings with different --buffer, --drain",
          "CPU time against buffer and drain interval", False, True),
    Entry("send-buffer", "connection", "TCP that sends", "bytes in the send buffer over time"),
    Entry("context-switches", "processes", "--layers +switch", "duration of context switches, per CPU, over time", False),
    Entry("lifeline", "connection", "a flow", "when a range of bytes passed each layer, at both ends, and its ACK"),
    Entry("rate", "connection", "calls that moved bytes", "rate over a sliding window of calls"),
    Entry("congestion", "connection", "packets; --level for cwnd", "rates of flows that share the network, cwnd, losses"),
    Entry("tcp-state", "connection", "TCP that sends, --level", "windows, round-trip time and timeout over time"),
    Entry("write-intervals", "processes", "calls that send", "distribution of intervals between writes", False),
    Entry("process-trace", "processes", "context switches", "intervals, send queues, and who ran", False),
    Entry("idc", "statistics", "a flow", "index of dispersion for counts by window"),
    Entry("contract", "statistics", "a flow", "smallest bucket without loss by rate"),
    Entry("goodput-ratio", "several", "recordings with different numbers of processes",
          "goodput against the share of senders", False, True),
    Entry("size-cdf", "traffic", "a flow", "distribution of sizes at each layer"),
    Entry("spacing-cdf", "traffic", "a flow", "distribution of spacings at each layer"),
    Entry("application-wire", "traffic", "a flow", "bytes passed by application and wire over time"),
    Entry("spectrum", "statistics", "a flow", "energy by time scale at each layer"),
    Entry("waterfall", "statistics", "a flow", "time in each stage: mean, and near quantiles"),
    Entry("exchanges", "statistics", "requests with replies", "time to reply over time, and its parts", False),
)
FIGURES: Dict[str, Entry] = {e.name: e for e in _ENTRIES}


def listing() -> str:
    """Return the table as text."""
    wide = max(map(len, FIGURES))
    return "\n".join(f"{name.ljust(wide)}  {e.doc}; needs {e.needs}" for name, e in FIGURES.items())


def draw(name: str, recordings: Any, **options: Any) -> Any:
    """Draw a figure by its name, of one recording or, for those that compare, of a list."""
    entry = FIGURES[name]
    if not entry.several and isinstance(recordings, (list, tuple)):
        recordings = recordings[0]
    return entry.draw(recordings, **options)
