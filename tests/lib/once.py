# SPDX-License-Identifier: MIT
"""Checks that the data of both_ways.py passed every layer of its sockets, and each of them once."""
import os
import sys

from fixture import *

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "programs", "both_ways.py")
sys.path.insert(0, os.path.join(HERE, "..", "programs"))
from both_ways import ANSWER, ANSWERS, BACK_SIZES, PORT, SENT, SIZES

THERE = SENT + ANSWERS * ANSWER
BACK = ANSWERS * ANSWER + 1
# (port, of whom, direction, bytes); of the server's socket the port is the local one
TCP = ((PORT, "remote", "tx", THERE), (PORT, "local", "rx", THERE),
       (PORT, "local", "tx", BACK), (PORT, "remote", "rx", BACK))
UDP = ((PORT + 1, "remote", "tx", sum(SIZES)), (PORT + 1, "local", "rx", sum(SIZES)))
UDP_BACK = ((PORT + 1, "local", "tx", sum(BACK_SIZES)), (PORT + 1, "remote", "rx", sum(BACK_SIZES)))


def whole(report, what, port, end, direction, size):
    found = [f for f in report["flows"]
             if f["direction"] == direction and (f[end] or "").endswith(f":{port}") and f["bytes"]]
    what = f"{what}, {direction} with the {end} port {port}"
    check(len(found) == 1, f"{what}: there is one flow")
    f = found[0]
    check(f["bytes"] == size and f["coverage"] == 1,
          f"{what}: {f['bytes']} of {size} bytes, coverage {f['coverage']}")
    below = ("ip", "queue", "device", "driver") if direction == "tx" else ("device", "ip")
    layers = {l["name"]: l for l in f["layers"]}
    check(all(name in layers for name in below), f"{what}: all layers were there")
    for name in below:
        # what TCP itself sends again passes each once more
        check(layers[name]["bytes"] == size and
              layers[name]["repeated_bytes"] == layers["ip"]["repeated_bytes"],
              f"{what}: no more and no less at {name}")


def exchange(here, there, bind, address, flows, what):
    datagrams = len(SIZES) if UDP[0] in flows else 0
    back = len(BACK_SIZES) if UDP_BACK[0] in flows else 0
    with undisturbed(lambda: Recording(PYTHON, PROGRAM, here, there, bind, address, datagrams, back,
                                       options=("--kernel-only",))) as rec:
        report = rec.report()
        for f in flows:
            whole(report, what, *f)
