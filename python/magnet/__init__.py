# SPDX-License-Identifier: MIT
"""Recordings of magnet as tables and figures.

    import magnet

    with magnet.open("trace") as recording:
        calls = recording.facts.call.to_pandas()
        print(recording.figures.flows[0].modulation.M)

`recording.facts` has a table for each fact of magnet-facts(5), `recording.events` one for each event
of magnet-events(5), and `recording.figures` the figures of magnet-figures(5).
"""
from .errors import MagnetError, NotAvailable
from .figures import Figures
from .recording import Recording, Tables
from .recording import open_recording as open  # noqa: A004
from .table import Table

__version__ = "0.1.0"
__all__ = ["Figures", "MagnetError", "NotAvailable", "Recording", "Table", "Tables", "open"]
