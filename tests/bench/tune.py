# SPDX-License-Identifier: MIT
"""
magnet doctor --tune: the buffer and the interval that it finds keep losses below the limit in its own curve,
and nothing smaller or longer does.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

LIMIT = 20  # percent


def tuned():
    p = run(MAGNET, "doctor", "--tune", f"{LIMIT}%", "--json", check=False)
    tune = json.loads(p.stdout)["tune"]
    curve = {(c["buffer_bytes"], c["drain_ms"]): c for c in tune["curve"]}
    check(len(curve) == 25 and all(c["events"] > 0 for c in curve.values()),
          f"25 points, up to {tune['events_per_s']:,} events/s")
    check(all(abs(c["lost_percent"] - 100 * c["lost"] / (c["lost"] + c["events"])) < 1e-6 for c in curve.values()),
          "losses are a share of all events")
    check(curve[64 << 10, 300]["lost_percent"] > LIMIT > curve[16 << LIMIT, 1]["lost_percent"],
          f"the least buffer at the longest interval loses {curve[64 << 10, 300]['lost_percent']:.1f} %, the largest "
          f"at the shortest {curve[16 << LIMIT, 1]['lost_percent']:.1f} %")
    for key in ("smallest_buffer", "longest_interval"):
        c = curve[tune[key]["buffer_bytes"], tune[key]["drain_ms"]]
        check(c["lost_percent"] < LIMIT and c["recordings"] >= tune["confirmed_by"] == 3, f"{key}: {c}")
    good = [k for k, c in curve.items() if c["lost_percent"] < LIMIT]
    check(tune["smallest_buffer"]["buffer_bytes"] == min(good)[0], "no smaller buffer is below the limit")
    check(tune["longest_interval"]["drain_ms"] == max(d for _, d in good), "no longer interval is below the limit")
    check(p.returncode == 0, "found: exit status 0")


need_kernel_side()
tuned()
