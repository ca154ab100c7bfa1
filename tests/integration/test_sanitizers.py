# SPDX-License-Identifier: MIT
"""libmagnet.so's sources in one program with the stress test, under sanitizers: no report."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAMS = os.environ["MAGNET_BUILD"] + "/tests/programs/stress-"

own_network()
found = [name for name in ("thread", "address") if os.path.exists(PROGRAMS + name)]
if not found:
    skip("the sanitizers' run-time libraries are not here")
for name in found:
    # it has the wrappers in itself, and finds the rings by MAGNET_RINGS
    with Recording("env", "-u", "LD_PRELOAD", PROGRAMS + name, 4, 25,
                   options=("--app-only", "-q"), ok=None) as rec:
        check(rec.p.returncode == 0 and not rec.p.stderr, f"{name}: no report {rec.p.stderr[:4000]}")
        own = json.loads(rec.p.stdout)
        check(own["wrong"] == 0 and own["children"] > 0, "and nothing wrong")
        made = sum(n for n, _ in own["calls"].values())
        report = rec.report()
        seen = sum(c["n"] for c in report["calls"]) + report["loss"]["app"]
        check(seen == made, f"{made} calls, all accounted for: {seen}")
