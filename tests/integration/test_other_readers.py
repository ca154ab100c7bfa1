# SPDX-License-Identifier: MIT
"""
Other programs read magnet's traces: babeltrace2's other components and options, its Python
bindings, Babeltrace 1; and a copy that babeltrace2 writes has the same report.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

own_network()
need_program("babeltrace2")
EXCHANGE = (PYTHON, os.path.join(os.path.dirname(__file__), "..", "programs", "exchange.py"))
PLUGINS = "--plugin-path=" + os.environ["MAGNET_BUILD"] + "/correlate"
COUNT = """
import bt2, sys
n = 0
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is bt2._EventMessageConst:
        e = message.event
        assert e.name and str(e.payload_field) and message.default_clock_snapshot.ns_from_origin
        n += 1
print(n)
"""


def lines(*args):
    return run("babeltrace2", *args).stdout.splitlines()


def listed(rec):
    return len(list(rec.events()))


def debug_info(rec):
    """The filter makes each class of events anew, and must find them all."""
    for side in sorted(os.listdir(rec.dir)):
        if os.path.isdir(rec.dir + "/" + side):
            plain = lines(rec.dir + "/" + side)
            check(lines("--debug-info", rec.dir + "/" + side) == plain and len(plain) > 40,
                  f"{side}: the same {len(plain)} events with --debug-info")


def options(rec):
    """Moving or forwarding the whole trace changes nothing in the report."""
    last = "--component=sink.magnet.report"
    params = f'--params=format="json",session="{rec.dir}/session.json"'
    report = run("babeltrace2", PLUGINS, rec.dir, last, params).stdout
    for what in (["--debug-info"], ["--clock-offset=5"], ["--clock-offset-ns=-12345"],
                 ["--clock-force-correlate"], ["--begin=1970-01-01"],
                 ["--component=filter.utils.trimmer", '--params=begin="1970-01-01"'],
                 ["--component=filter.utils.muxer"]):
        check(run("babeltrace2", PLUGINS, *what, rec.dir, last, params).stdout == report,
              f"the same report with {' '.join(what)}")
    check(json.loads(report)["calls"], "and it is not empty")


def copied(rec):
    """sink.ctf.fs"""
    to = rec.top + "/copy"
    run("babeltrace2", rec.dir, f"--output-format=ctf", f"--output={to}")
    host = os.listdir(to)
    check(len(host) == 1, f"a copy by host: {host}")
    for name in os.listdir(f"{to}/{host[0]}"):
        os.rename(f"{to}/{host[0]}/{name}", f"{to}/{name}")
    shutil.copy(rec.dir + "/session.json", to)
    for way in (("report",), ("report", "--json"), ("show", "--tsv")):
        here, there = (" ".join(run(MAGNET, *way, d).stdout.replace(d, "DIR").split()) for d in (rec.dir, to))
        check(here == there and len(here) > 400, f"a copy's {' '.join(way)} is the same")


def others(rec, expected):
    if run(PYTHON, "-c", "import bt2", check=False).returncode:
        print("python3-bt2 is not installed")
    else:
        check(int(run(PYTHON, "-c", COUNT, rec.dir).stdout) == expected, "Python reads all events")
    if not shutil.which("babeltrace"):
        print("Babeltrace 1 is not installed")
    else:
        check(len(run("babeltrace", rec.dir).stdout.splitlines()) == expected,
              f"Babeltrace 1 reads all {expected} events")


def trimmed(rec):
    """A part cut out: what was attached is not told there, yet residences are."""
    times = [l[1:19] for l in lines(rec.dir)]
    begin, end = times[len(times) * 2 // 5], times[len(times) * 4 // 5]
    inside = [t for t in times if begin <= t <= end]
    check(len(lines("--begin", begin, "--end", end, rec.dir)) == len(inside),
          f"{len(inside)} of {len(times)} events between two times")
    report = json.loads(run("babeltrace2", PLUGINS, "--begin", begin, "--end", end, rec.dir,
                            "--component=sink.magnet.report", '--params=format="json"').stdout)
    sent = flow(report, "tx")
    bars = {s["stage"] for s in sent["residence"] if s["mean_ns"]}
    check({"call", "ip", "driver"} <= bars, f"of them the sent bytes have bars: {sorted(bars)}")


kernel = not no_kernel_side()
chosen = ("--event", "sched:sched_process_exit") if kernel else ()
with Recording(*EXCHANGE, "300", "2000", options=("-q", *chosen)) as rec:
    debug_info(rec)
    options(rec)
    copied(rec)
    others(rec, listed(rec))
    if kernel:
        trimmed(rec)
    with Recording(*EXCHANGE, "30", options=("-q", "--app-only")) as other:
        check(len(lines(rec.dir, other.dir)) == listed(rec) + listed(other), "two recordings, merged")
