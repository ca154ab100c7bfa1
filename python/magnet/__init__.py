# SPDX-License-Identifier: MIT
"""Recordings of magnet as tables, figures and plots.

    import magnet

    with magnet.open("trace") as recording:
        calls = recording.facts.call.to_pandas()
        print(recording.figures.flows[0].modulation.M)
        magnet.plot.ftp(recording).save("ftp.svg")

`recording.facts` has a table for each fact of magnet-facts(5), `recording.events` one for each event
of magnet-events(5), and `recording.figures` the figures of magnet-figures(5).
"""
import importlib
from typing import Any

from .errors import MagnetError, NotAvailable
from .figures import Figures
from .recording import Recording, Tables
from .recording import open_recording as open  # noqa: A004
from .table import Table

__version__ = "0.1.0"
__all__ = ["Figures", "MagnetError", "NotAvailable", "Recording", "Table", "Tables", "open", "plot"]


def __getattr__(name: str) -> Any:
    # matplotlib takes most of a second to import: only those wait who plot
    if name == "plot":
        return importlib.import_module(".plot", __name__)
    raise AttributeError(f"module magnet has no attribute {name}")
