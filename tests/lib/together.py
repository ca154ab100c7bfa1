# SPDX-License-Identifier: MIT
"""Checks that a group's figures in a report are the sums of its flows' figures, weighted by bytes."""
from fixture import check, near


def in_bars(f):
    """Bytes: what came again before it was readable is complete, but in no bar."""
    return max(stage["bytes"] for stage in f["residence"])


def agree(report):
    """For a whole report in JSON: each of its groups, against the flows that are in it."""
    for g in report["together"]:
        flows = [f for f in report["flows"] if f["call_n"] and f["bytes"] and
                 all(f[k] == g[k] for k in ("comm", "proto", "direction")) and
                 (not g["server_port"] or
                  (f["local"] if g["side"] == "server" else f["remote"]).endswith(f":{g['server_port']}"))]
        of = len(flows), sum(f["bytes"] for f in flows), sum(f["complete_bytes"] for f in flows)
        told = [f for f in flows if f["residence_total_ns"] is not None]
        check(of == (g["flows"], g["bytes"], g["complete_bytes"]),
              f"{g['direction']} of {g['flows']} {g['proto']} flows together")
        if len(told) == len(flows) and g["residence_total_ns"] is not None:
            check(in_bars(g) == sum(map(in_bars, told)), f"{in_bars(g)} bytes in their bars")
            near(g["residence_total_ns"] * in_bars(g),
                 sum(f["residence_total_ns"] * in_bars(f) for f in told), 1e-9,
                 "ns their bytes took, each by itself added up")
