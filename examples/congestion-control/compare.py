# SPDX-License-Identifier: MIT
"""Compares how TCP fared in recordings of one transfer each: compare.py DIR..."""
import sys

import magnet
import numpy as np


def row(recording):
    """A row of the table, by the report and the facts, of the largest flow that sends."""
    flow = max((f.bytes, f.id) for f in recording.figures.flows if f.direction == "tx")[1]
    figures = next(f for f in recording.figures_with("goodput").flows if f.id == flow)
    state = recording.facts.state
    mine = state["flow"] == flow
    srtt, cwnd = (state[c][mine] for c in ("srtt_us", "cwnd"))
    goodput = figures.on_demand.goodput.rate_bit_s
    return (recording.directory.name.rsplit("-")[-1],
            "n/a" if goodput is None else f"{goodput / 1e6:.2f}",
            f"{figures.retransmits}",
            f"{np.nanmean(srtt) / 1e3:.2f}", f"{np.nanmax(srtt) / 1e3:.2f}",
            f"{np.nanmean(cwnd):.0f}", f"{np.nanmax(cwnd):.0f}")


print("%-8s %14s %12s %13s %12s %12s %11s" % ("control", "goodput Mbit/s", "sent again", "srtt mean ms", "srtt max ms",
                                              "cwnd mean", "cwnd max"))
for directory in sys.argv[1:]:
    with magnet.open(directory) as recording:
        print("%-8s %14s %12s %13s %12s %12s %11s" % row(recording))
        picture, _ = magnet.plot.tcp_state(recording).save(directory + ".svg")
        print(f"         over time: {picture}")
