# SPDX-License-Identifier: MIT
"""
A kernel tracer that is refused memory says so and exits 1, or needs it not: then it has recorded the same.
What it has written can be read in any case. Tried with what each way of recording allocates of its own.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from refuse import ALL, LIBRARY
from tracer import TRACER

SENDS = os.environ.get("MAGNET_BUILD", "") + "/tests/programs/sends"
KEPT = scratch()  # programs for the next start
WAYS = {"written": [], "with kept programs": [], "in parts": ["--rotate", "64K", "--keep", "2"],
        "in memory": ["--flight", "2M", "--trigger", "retransmission", "--trigger", "latency>100ms"],
        "chosen events": ["--event", "sched:sched_process_fork", "--event", "net:netif_rx:len", "--level", "full"]}
# several of each, as threads that allocate at the same time change the order
PLACES = {"written": (1, 2, 4, 6, 10), "with kept programs": (1, 2, 4, 5, 6, 7, 8), "in parts": (1, 2, 4, 6, 60),
          "in memory": (0, 1, 2, 4, 6, 8, 20), "chosen events": (0, 1, 12, 42)}


def record(top, options, **env):
    """The tracer's end, and bytes of the flows, None without a trace."""
    p = run(TRACER, "-o", top + "/t", *options, "--", SENDS, "20", check=False, env={**os.environ, **env})
    if not os.path.exists(top + "/t"):
        return p, None
    report = run(MAGNET, "report", "--json", top + "/t", check=False)
    if report.returncode and "there is no trace in it" in report.stderr:
        return p, None
    check(report.returncode == 0, f"what it has written can be read {report.stderr}") if report.returncode else None
    return p, sorted(f["bytes"] for f in json.loads(report.stdout)["flows"])


def refused(options, place, whole):
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        p, flows = record(top, options, LD_PRELOAD=LIBRARY, REFUSE_WHAT="memory", REFUSE_ONLY=str(place),
                          REFUSE_EXPECTED="/dev/null", REFUSE_LIBRARIES="magnet-kernel-tracer")
        told = "memory" in p.stderr
        if p.returncode not in (0, 1) or (p.returncode == 1 and not told) or \
                (p.returncode == 0 and not told and flows != whole):
            check(False, f"place {place}: exit {p.returncode}, {flows} of {whole}: {p.stderr}")
        return p.returncode


need_kernel_side()
for name, options in WAYS.items():
    os.environ["MAGNET_CACHE"] = KEPT if name == "with kept programs" else ""
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        p, whole = record(top, options)
        check(p.returncode == 0 and sum(whole) > 0, f"{name}: flows of {whole} bytes")
    places = list(range(400) if ALL else PLACES[name])
    ends = [refused(options, place, whole) for place in places]
    while 1 not in ends and name != "with kept programs" and len(places) < 20:
        places.append(max(places) + 1)  # the order of threads has put others at those places
        ends.append(refused(options, places[-1], whole))
    # without memory for what is kept, libbpf does the work
    check(1 in ends or name == "with kept programs", f"{name}: memory refused at places {places}: exits {ends}")
shutil.rmtree(KEPT)
