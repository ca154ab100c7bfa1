# SPDX-License-Identifier: MIT
"""
The slowest byte ranges of a stream without exchanges, and times of calls in bins, are those of the
facts.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fact_table import facts
from fixture import *

PROGRAM = os.path.join(os.path.dirname(__file__), "..", "programs", "one_way.py")
PORT, N = 5171, 5


def slowest(rec):
    report = json.loads(run(MAGNET, "report", "--json", "--slowest", N, rec.dir).stdout)
    ranges = [r for r in facts(rec, "range") if r["outcome"] == "followed"]
    check(report["slowest"] == [] and not any(g["answered"] for g in report["exchanges"]), "nothing was answered")
    # the counter's rate is known better at the end than when a fact is printed
    of_facts = sorted((r["total_ns"] for r in ranges), reverse=True)[:N]
    got = report["slowest_ranges"]
    check(len(got) == N and all(abs(g["total_ns"] / t - 1) < 1e-5 for g, t in zip(got, of_facts, strict=True)),
          f"the slowest of {len(ranges)} ranges: {[round(t / 1e6, 3) for t in of_facts]} ms")
    known = {(r["flow"], r["offset"], r["length"], r["begin_ns"]) for r in ranges}
    check(all((g["flow"], g["offset"], g["length"], g["time_ns"]) in known for g in got), "flow, bytes and time")
    check(all(abs(sum(s["ns"] for s in g["stages"]) - g["total_ns"]) < 1 for g in got), "stages sum to the total")
    check(rec.report()["slowest_ranges"] == [], "none are listed unless they are asked for")
    text = rec.text("--slowest", str(N))
    check("Slowest bytes of streams without exchanges" in text and
          all(f"{g['flow']} {g['offset']}+{g['length']}" in text for g in got), "the text names them")
    lives = run(MAGNET, "show", "--slowest", N, rec.dir).stdout
    check(all(f"bytes {g['offset']} to {g['offset'] + g['length'] - 1}, " in lives for g in got),
          "show has the life of each")


def times(rec):
    report, text = rec.report(), rec.text("--histogram", "--calls")
    calls = facts(rec, "call")
    for c in report["calls"]:
        own = [x["end_ns"] - x["begin_ns"] for x in calls
               if (x["function"], x["kind"]) == (c["name"], c["flow_kind"]) and
               (x["seen_by"] == "kernel") == c["kernel_only"]]
        bins = c["total_histogram"]
        if sum(b["n"] for b in bins) != len(own) or bins[-1]["below"] != 1:
            check(False, f"{c['name']}: {bins}, of {len(own)} calls")
        for b in bins:  # where a bin ends, times differ by a nanosecond, or by a bin of the sums
            least, most = (sum(t < b["to_ns"] * s for t in own) / len(own) for s in (0.98, 1.02))
            if not least - 1e-9 <= b["below"] <= most + 1e-9:
                check(False, f"{c['name']}: {b['below']} below {b['to_ns']} ns: {least} to {most}")
        if abs(c["total_ns"]["max"] - max(own)) > 2 + max(own) / 1000:
            check(False, f"{c['name']}: the longest is {max(own)}: {c['total_ns']}")
    check(len(report["calls"]) > 3, f"bins of {len(report['calls'])} kinds of call are those of the facts")
    check("send tcp, time of a call" in text and "CDF" in text, "the text has bins of calls")
    head = next(line for line in text.splitlines() if line.startswith("Time of a call"))
    check(head.split()[-4:] == ["p50", "p90", "p99", "max"], head)
    for row in report["scheduler"]["blocked"]:
        if row["n"] and (row["highest"] is None or row["at_highest_ns"] is None or row["at_highest_ns"] > row["max_ns"] * 1.001):
            check(False, f"{row}")
    check(True, "blocks have the largest quantile that holds")


need_kernel_side()
with undisturbed(lambda: Recording(PYTHON, PROGRAM, PORT)) as recording:
    slowest(recording)
    times(recording)
