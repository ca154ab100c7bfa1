# SPDX-License-Identifier: MIT
"""
64 threads, children, signals, descriptors reused at once: the same as without magnet, and every
call and byte of it accounted for. MAGNET_TEST_LONG=1 takes a minute.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = os.environ["MAGNET_BUILD"] + "/tests/programs/stress"
SECONDS = 60 if os.environ.get("MAGNET_TEST_LONG") == "1" else 8
TRIES = 3


def outcome(p):
    """Returns the program's own counts, in which nothing went wrong."""
    check(p.returncode == 0 and not p.stderr.replace("magnet: ", "").startswith("stress:"),
          f"the program succeeds {p.stderr}")
    own = json.loads(p.stdout)
    check(own["wrong"] == 0, f"{own['rounds']} connections, {own['children']} children, "
          f"{own['threads']} threads and {own['signals']} signals: no byte is wrong")
    return own


def by_magnet(report):
    counts = {}
    for c in report["calls"]:
        n, size = counts.get(c["name"], (0, 0))
        counts[c["name"]] = (n + c["n"], size + c["bytes"])
    return counts


def exact(own, counts):
    for name, of_program in own["calls"].items():
        check(counts.get(name, (0, 0)) == tuple(of_program), f"{name}: {of_program}")
    check(set(counts) <= set(own["calls"]), "and no others")


def account(seconds, *options):
    """Events and told losses are together what the program did. Returns how many were lost."""
    with Recording(PROGRAM, seconds, options=("--app-only", *options)) as rec:
        own = outcome(rec.p)
        report = rec.report()
        counts, lost_calls = by_magnet(report), report["loss"]["app"]
        made, seen = (sum(n for n, _ in c.values()) for c in (own["calls"], counts))
        check(seen + lost_calls == made, f"{made} calls are {seen} events and {lost_calls} lost")
        check(sum(g["count"] for g in report["loss"]["gaps"]) == lost_calls, "each at its place")
        if not lost_calls:
            exact(own, counts)
        for name, (n, size) in counts.items():
            if n > own["calls"].get(name, (0, 0))[0] or size > own["calls"][name][1]:
                check(False, f"there are more {name} than the program made")
    return lost_calls


own_network()
outcome(run(PROGRAM, 1))
for _ in range(TRIES):  # a busy machine may keep the collector from its work
    if not account(SECONDS):
        break
else:
    check(False, "nothing is lost at a moderate rate")
for _ in range(TRIES):  # and an idle one may leave it time for all
    if account(2, "--buffer", "4K"):
        break
else:
    check(False, "with rings that are far too small something is lost")
check(True, "what found no room is told, call by call")
