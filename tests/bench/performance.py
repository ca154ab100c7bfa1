# SPDX-License-Identifier: MIT
"""
Runs the benchmarks and prints the rows of docs/performance.md's table in Markdown, in less than
thirteen minutes where nothing else runs.

  performance.py [GROUP]...       the rows of these groups only; of all by default
  performance.py --list           the groups, with the command of each
  performance.py --write [...]    also puts the rows into docs/performance.md

It is run from the source directory after `ninja -C build`, as root. MAGNET_BENCH_OTHER=DIR names the
build directory of another version, whose figures then stand beside this one's.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("MAGNET_BUILD", ROOT + "/build"))
DOCUMENT = ROOT + "/docs/performance.md"

# group: seconds of turns, benchmark and its arguments
GROUPS = {
    "trip": (45, "kernel_event.py"),
    "bulk": (50, "bulk.py"),
    "bulk-1": (40, "bulk.py", "--one-cpu"),
    "writes-256": (40, "bulk.py", "--one-cpu", "256"),
    "writes-1024": (40, "bulk.py", "--one-cpu", "1024"),
    "gigabit": (80, "gigabit.py"),
    "nginx": (90, "nginx.py"),
    "untraced": (40, "untraced.py"),
    "true": (40, "record_true.py"),
    "calls": (30, "call_path.py", "unix", "tcp"),
    "reader": (30, "correlate.py"),
}

PEERS = ["empty programs", "empty programs, light", "empty events", "empty events, light", "tcpdump", "tcpdump -s 96",
         "perf record, same tracepoints"]
BULK = [("`magnet record`", "magnet record"), ("kernel side alone", "magnet-kernel-tracer"),
        ("`--layers light`", "light"), ("`--layers timestamps`", "timestamps"),
        ("empty programs", "empty programs at the same places"),
        ("empty programs, light", "empty programs, light"), ("empty events", "empty events"),
        ("empty events, light", "empty events, light"), ("tcpdump", "tcpdump"),
        ("tcpdump -s 96", "tcpdump -s 96"), ("other build: `magnet record`", "other build: magnet record")]
LAYERS = [("all layers", "all layers"), ("`--layers light`", "light"), ("`--layers timestamps`", "timestamps"),
          *((p, p) for p in PEERS), ("other build: all layers", "other build: all layers"),
          ("other build: light", "other build: light")]

# what is not this build of magnet stands in a column of its own
BESIDE = ("bare", "empty programs", "empty events", "tcpdump", "perf record", "strace", "a wrapper", "plain LTTng-UST",
          "that event", "`babeltrace2", "other build")

# group, what, digits, unit, and (text, name of the figure) for each part of the row
ROWS = [
    ("trip", "round trip of 64 bytes, both ends on one CPU", 2, "× bare",
     [(text, f"round trip, one CPU: {name}") for text, name in LAYERS]),
    ("trip", "kernel event, above empty programs", 0, "ns", [("", "event, one CPU")]),
    ("bulk", "saturated bulk, throughput lost", 1, "%",
     [(text, f"bulk, % lost: {name}") for text, name in BULK]),
    *((group, f"{what}, both ends on one CPU, throughput lost", 1, "%",
       [(text, f"{figure}, one CPU, % lost: {name}") for text, name in BULK])
      for group, what, figure in (("bulk-1", "the same", "bulk"),
                                  ("writes-256", "bulk in writes of 256 bytes", "writes of 256 bytes"),
                                  ("writes-1024", "bulk in writes of 1 KiB", "writes of 1024 bytes"))),
    ("gigabit", "1 Gbit/s for 10 s, CPU time", 2, "s", [("bare", "gigabit, s: bare")]),
    ("gigabit", "1 Gbit/s for 10 s, CPU time added, without the start", 2, "s",
     [(text, f"gigabit, s added: {name}") for text, name in LAYERS]),
    ("nginx", "nginx, 16 connections, requests/s kept", 2, "of bare",
     [("default", "nginx: all layers"), ("`--layers light`", "nginx: light"),
      ("`--layers timestamps`", "nginx: timestamps"),
      ("`--sample 20`", "nginx: 1 connection in 20"), ("`--sample 20 --layers light`", "nginx: 1 in 20, light"),
      ("`--sample 20 --layers timestamps`", "nginx: 1 in 20, timestamps"),
      ("`--app-only`", "nginx: application side only"), ("empty programs", "nginx: empty programs"),
      ("empty programs, light", "nginx: empty programs, light"),
      ("empty events", "nginx: empty events"),
      ("empty events, light", "nginx: empty events, light"), ("tcpdump -s 96", "nginx: tcpdump -s 96"),
      ("other build: default", "nginx: other build: all layers"),
      ("other build: light", "nginx: other build: light"),
      ("other build: `--sample 20`", "nginx: other build: 1 in 20")]),
    *(("untraced", f"{what}, above bare", 0, "ns",
       [("of a recorded program", f"not recorded, {kind}: followed itself"),
        ("of another program", f"not recorded, {kind}: another process"),
        ("of any, beside `--all --port 1`", f"not recorded, {kind}: --all --port 1"),
        ("empty programs at the two hooks of system calls", f"not recorded, {kind}: empty programs"),
        ("other build: of a recorded program", f"not recorded, {kind}: other build: followed itself"),
        ("other build: of another program", f"not recorded, {kind}: other build: another process")])
      for what, kind in (("`getppid()`", "none"), ("`write()` to /dev/null", "null"))),
    ("true", "recording `true`, start to finished trace", 3, "s",
     [("`magnet record`", "true: magnet record"), ("`--app-only`", "true: magnet record --app-only"),
      ("`--kernel-only`", "true: magnet record --kernel-only"), ("perf record", "true: perf record"),
      ("strace -f", "true: strace -f"), ("other build", "true: other build: magnet record")]),
    *(("calls", f"recorded call, {what}, above bare", 0, "ns",
       [("`magnet record`", f"call, {kind}: traced"),
        ("a wrapper that reads the counter twice", f"call, {kind}: read"),
        ("LTTng session", f"call, {kind}: lttng"), ("plain LTTng-UST event", f"call, {kind}: plain"),
        ("other build: `magnet record`", f"call, {kind}: traced_other"),
        ("other build: LTTng session", f"call, {kind}: lttng_other")])
      for what, kind in (("`write()` on a UNIX socket", "unix"), ("`send()` on TCP", "tcp"))),
    ("calls", "the same on a UNIX socket, in plain LTTng-UST events of the same fields", 2, "×",
     [("`magnet record`", "call : plain event, unix: traced"),
      ("LTTng session", "call : plain event, unix: lttng"),
      ("that event and two counter readings", "call : plain event, unix: stamped"),
      ("other build: LTTng session", "call : plain event, unix: lttng_other")]),
    ("reader", "reading a trace of a million events", 1, "M events/s",
     [(text, f"reader, M events/s: {name}") for text, name in (
         ("`magnet report`", "magnet report, direct"),
         ("through babeltrace2", "magnet report, babeltrace2"),
         ("`babeltrace2 -o dummy`", "babeltrace2 -o dummy"), ("`magnet show --tsv`", "magnet show --tsv"),
         ("other build: `magnet report`", "other build: report, direct"),
         ("other build: `show --tsv`", "other build: show --tsv"))]),
    ("reader", "facts of that trace as a table", 1, "M rows/s",
     [("`magnet show --facts packet`", "reader, M rows/s: magnet show --facts packet"),
      ("other build", "reader, M rows/s: other build: show --facts packet")]),
]


def command(group):
    seconds, *benchmark = GROUPS[group]
    return f"MAGNET_BENCH_SECONDS={seconds} python3 tests/bench/{' '.join(benchmark)}"


def measure(group):
    """Figures of a benchmark by name: [median, quartiles, number of turns]."""
    seconds, script, *args = GROUPS[group]
    with tempfile.NamedTemporaryFile("r") as f:
        env = {"MAGNET": BUILD + "/cli/magnet", "MAGNET_BUILD": BUILD, "MAGNET_TEST_KERNEL": "1",
               "MAGNET_BENCH_PROGRAMS": BUILD + "/tests/bench", **os.environ,
               "MAGNET_BENCH_RESULTS": f.name, "MAGNET_BENCH_SECONDS": str(seconds)}
        status = subprocess.run([sys.executable, f"{HERE}/{script}", *args], env=env, check=False,
                                stdout=sys.stderr).returncode
        if status:
            print(f"performance.py: {script} ends with {status}", file=sys.stderr)
        return {name: figures for name, *figures in map(json.loads, f)}


def cell(parts, figures, digits):
    """The row's figures: what is not there, as no such peer is installed, is left out."""
    said = []
    for text, name in parts:
        if name in figures:
            median, low, high, _ = (round(x, digits) for x in figures[name])
            said.append(f"{text} **{median:,.{digits}f}** [{low:,.{digits}f} {high:,.{digits}f}]"
                        .strip())
    return "; ".join(said)


def rows(group, figures):
    found = []
    for of, what, digits, unit, parts in ROWS:
        own = cell([p for p in parts if not p[0].startswith(BESIDE)], figures, digits)
        beside = cell([p for p in parts if p[0].startswith(BESIDE)], figures, digits)
        if of == group and (own or beside):
            found.append(f"| {what} | {unit} | {own} | {beside} | {group} |")
    return found


def write(group, lines):
    """Puts a group's rows in the place of those that the document has."""
    with open(DOCUMENT) as f:
        old = f.read()
    new = re.sub(rf"(?:^\| .* \| {group} \|\n)+", lambda _: "\n".join(lines) + "\n", old, count=1,
                 flags=re.M)
    with open(DOCUMENT, "w") as f:
        f.write(new)


def main(args):
    writes = "--write" in args
    chosen = [a for a in args if a not in ("--write", "--list")] or list(GROUPS)
    unknown = [g for g in chosen if g not in GROUPS]
    if unknown:
        sys.exit(f"performance.py: no such group: {', '.join(unknown)}")
    if "--list" in args:
        for group in chosen:
            print(f"{group:12} {command(group)}")
        return
    began = time.monotonic()
    print("| what | unit | magnet | beside it | group |\n|---|---|---|---|---|", flush=True)
    for group in chosen:
        lines = rows(group, measure(group))
        print("\n".join(lines), flush=True)
        if writes and lines:
            write(group, lines)
    print(f"performance.py: {time.monotonic() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
