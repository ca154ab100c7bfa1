# SPDX-License-Identifier: MIT
"""Figures of recordings, drawn by matplotlib.

Each function returns a `Picture`: `save("FILE.svg")` writes it (or .pdf, .png) and its data as
FILE.tsv; `series` is that data, `figure` matplotlib's figure. `FIGURES` is the table of all.
"""
from ..errors import MagnetError
from ..figure_table import FIGURES, Entry, draw

try:
    from .picture import Picture, Series
except ModuleNotFoundError as e:
    if (e.name or "").split(".")[0] != "matplotlib":
        raise
    raise MagnetError("matplotlib is not installed: install python3-matplotlib, or matplotlib by pip") from e
from .connection import congestion, lifeline, rate, send_buffer, tcp_state
from .processes import context_switches, process_trace, write_intervals
from .several import cpu, goodput_ratio, loss
from .statistics import contract, exchanges, idc, spectrum, waterfall
from .traffic import application_wire, ftp, mp3, size_cdf, spacing_cdf

__all__ = [
    "FIGURES", "Entry", "Picture", "Series", "application_wire", "congestion", "context_switches", "contract", "cpu",
    "draw", "exchanges", "ftp", "goodput_ratio", "idc", "lifeline", "loss", "mp3", "process_trace", "rate",
    "send_buffer", "size_cdf", "spacing_cdf", "spectrum", "tcp_state", "waterfall", "write_intervals",
]
