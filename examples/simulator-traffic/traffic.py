# SPDX-License-Identifier: MIT
"""Writes the traffic of a recording's largest flow for a simulator: traffic.py DIR"""
import sys

import magnet
import numpy as np

RATE = 12e6 / 8  # of the simulated link, bytes a second


def traffic(recording, layer):
    """Times, s, and payload of what passed a layer, in order of time."""
    packet, flows = recording.facts.packet, recording.facts.flow
    flow = max((n, name) for n, name in zip(flows["bytes"], flows["flow"]) if name.endswith("/tx"))[1]
    mine = (packet["flow"] == flow) & (packet["layer"] == layer) & (packet["payload"] > 0)
    times = packet["time"][mine].astype(np.int64) / 1e9
    order = np.argsort(times, kind="stable")
    return times[order] - times[order[0]], packet["payload"][mine][order].astype(np.int64)


def queue_needed(times, sizes):
    """The most bytes that wait in a queue before a link of RATE."""
    waiting, most, before = 0.0, 0.0, times[0]
    for at, size in zip(times, sizes):
        waiting = max(0.0, waiting - (at - before) * RATE) + size
        most, before = max(most, waiting), at
    return most


with magnet.open(sys.argv[1]) as recording:
    for layer, name in (("call", "application"), ("device", "wire")):
        times, sizes = traffic(recording, layer)
        path = f"{sys.argv[1]}-{name}.csv"
        np.savetxt(path, np.column_stack((times, sizes)), "%.9f,%d", header="time_s,bytes", comments="")
        print(f"{name}: {len(sizes)} of {sizes.mean():.0f} bytes, every {np.diff(times).mean() * 1e3:.2f} ms: "
              f"a queue of {queue_needed(times, sizes):.0f} bytes; {path}")
