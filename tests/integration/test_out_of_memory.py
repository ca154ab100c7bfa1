# SPDX-License-Identifier: MIT
"""
A report short of memory is none: wherever memory is refused, and under any limit, magnet prints the
whole report, or says that memory was short and exits 1. The same of open files.
"""
import os
import re
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from refuse import LIBRARY, refused_everywhere

EXCHANGE = os.path.join(os.path.dirname(__file__), "..", "programs", "exchange.py")
PLUGINS = "--plugin-path=" + os.environ.get("MAGNET_BUILD", "") + "/correlate"
SENDS = os.environ.get("MAGNET_BUILD", "") + "/tests/programs/sends"
COMMANDS = (("report",), ("report", "--json"), ("report", "--json", "--on-demand", "all"), ("show",),
            ("show", "--tsv"))


def limited(directory):
    """Address space in small steps, from what lets it start to what suffices."""
    whole = run(MAGNET, "report", "--json", directory).stdout
    ends = set()
    for reader in ("direct", "babeltrace2"):
        for mib in range(8, 40, 2):
            p = run(MAGNET, "report", "--json", directory, check=False,
                    env={**os.environ, "MAGNET_READER": reader},
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20)))
            if p.returncode == 127 and re.search("shared librar|initial thread", p.stderr):
                continue  # the loader's own words: magnet did not begin
            if p.returncode == -signal.SIGABRT and not p.stdout and "GLib (gthread-posix.c)" in p.stderr:
                continue  # nor did it here: GLib ends programs while it is loaded
            good = p.returncode == 0 and p.stdout == whole and not p.stderr
            told = p.returncode == 1 and p.stdout != whole and p.stderr.count("\n") == 1 and \
                "out of memory" in p.stderr and f"{mib} MiB" in p.stderr
            ends.add((reader, good))
            if not good and not told:
                check(False, f"{reader}, {mib} MiB: exit {p.returncode}, {len(p.stdout)} of "
                             f"{len(whole)} bytes: {p.stderr.strip()}")
    check(("babeltrace2", False) in ends and ("direct", True) in ends,
          "with each limit all is printed, or memory is named")


def few_files(directory):
    """With too few open files it says so, and how to have more; no part of a report is printed."""
    whole = run(MAGNET, "report", "--json", directory).stdout
    ends = []
    for files in range(3, 20):
        p = run(MAGNET, "report", "--json", directory, check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
        if p.returncode == 127 and re.search("shared librar|initial thread", p.stderr):
            continue
        good = p.returncode == 0 and p.stdout == whole and not p.stderr
        told = p.returncode == 1 and not p.stdout and p.stderr.count("\n") == 1 and \
            "limit on open files" in p.stderr and "ulimit -n" in p.stderr
        if not good and not told:
            check(False, f"{files} files: exit {p.returncode}, {len(p.stdout)} bytes: {p.stderr.strip()}")
        ends.append(good)
    check(ends == sorted(ends) and set(ends) == {False, True}, f"from so many files on all is read: {ends}")


def in_a_graph(directory):
    """The components tell whose graph they are in, and go on with what they need no memory for."""
    session = f'session="{directory}/session.json"'
    pretty = "--component=sink.text.pretty"
    for args in (("--component=sink.magnet.report", "--params=" + session),
                 ("--component=sink.magnet.report", '--params=format="json",on-demand="all",' + session),
                 ("--component=sink.magnet.show", '--params=format="tsv",' + session),
                 ("--component=filter.magnet.flow", "--params=pid=1," + session, pretty),
                 ("--component=filter.magnet.join", "--params=" + session, pretty)):
        refused_everywhere(f"{args[0]} {args[1][:22]}", "babeltrace2", PLUGINS, directory, *args,
                           env={"REFUSE_LIBRARIES": "babeltrace-plugin-magnet,jansson"},
                           first=10, every=1499 if "json" in args[1][:15] else 307)


def program_under_a_limit():
    """Calls of a program that has no room for a ring are lost, and counted."""
    counts = []
    for kib in range(3000, 10000, 700):
        with Recording("sh", "-c", f"ulimit -v {kib}; exec {SENDS} 50", options=("-q", "--app-only"),
                       ok=None) as rec:
            if rec.p.returncode == 0:
                j = rec.report()
                counts.append((j["events"]["app"], j["loss"]["app"]))
                lost = f"events lost: {counts[-1][1]} calls of programs whose limit on address space"
                if (lost in rec.p.stderr) != (counts[-1][1] > 0) or "larger" in rec.p.stderr:
                    check(False, f"{kib} KiB, {counts[-1]}: the cause is told: {rec.p.stderr}")
    told = counts[next((i for i, c in enumerate(counts) if c != (0, 0)), 0):]
    check(told and all(sum(c) == 101 for c in told) and (0, 101) in told and (101, 0) in told,
          f"calls recorded and lost, with more and more memory: {counts}")


def recorder():
    """A recorder that is refused memory says so, or needs it not; what it has written can be read."""
    ends = {}
    for place in (0, 1, 2, 3, 5, 8, 12, 20, 40, 80, 160, 320, 640):
        with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
            p = run(MAGNET, "record", "-o", top + "/t", "--", SENDS, "20", check=False, env={
                **os.environ, "LD_PRELOAD": LIBRARY, "REFUSE_WHAT": "memory",
                "REFUSE_ONLY": str(place), "REFUSE_EXPECTED": "/dev/null"})
            ends[place] = p.returncode
            told = p.returncode == 1 and "memory" in p.stderr
            if p.returncode and not told:
                check(False, f"place {place}: exit {p.returncode}: {p.stderr}")
            if os.path.exists(top + "/t"):
                j = json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)
                if p.returncode == 0 and j["events"]["app"] + j["loss"]["app"] != 41:
                    check(False, f"place {place}: {j['events']}, {j['loss']['app']} lost")
    check(True, f"memory refused to a recorder: {ends}")


if os.environ.get("ASAN_OPTIONS"):
    skip("a sanitizer's allocator is in the way")
own_network()
with Recording(PYTHON, EXCHANGE, "5", options=("-q",)) as rec:
    flows = sorted(rec.report()["flows"], key=lambda f: -f["bytes"])
    more = [("report", "--against", rec.dir), ("report", "--json", "--against", rec.dir)]
    if flows:
        more += [("report", "--flow", flows[0]["id"]), ("report", "--json", "--flow", flows[0]["id"]),
                 ("show", "--flow", flows[0]["id"], "--bytes", "0-9")]
    for args in (*COMMANDS, *more):
        for reader in ("direct", "babeltrace2"):
            for lasting in (False, True) if reader == "direct" else (False,):
                refused_everywhere(" ".join(args[:4]) + " by " + reader, MAGNET, args[0], rec.dir,
                                   *args[1:], lasting=lasting, env={"MAGNET_READER": reader},
                                   every=1499 if reader == "direct" else 14983)
    limited(rec.dir)
    few_files(rec.dir)
    in_a_graph(rec.dir)
program_under_a_limit()
recorder()
