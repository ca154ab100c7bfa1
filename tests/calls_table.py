#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
calls_table.py [--fast] [--write FILE] [PROGRAM...]

Real programs under `magnet record` while strace watches them: is every call on a socket there, and
every byte? Prints what differs, writes the Markdown table on request, and fails if anything differs.
--fast leaves out what takes long to install or to run. Needs root; leaves nothing behind.
"""
import argparse
import os
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from fixture import *
from kernel_only import explain
from programs import ALL, Surroundings, path, script_of
from strace import WatchedRecording, magnet_counts


class Result:
    """Counts by both sides in one run of one program."""

    def __init__(self, program, rec):
        self.program, self.version = program, program.version_text()
        self.strace = rec.by_strace()
        report = rec.report()
        self.magnet, self.alone = magnet_counts(report)
        self.lost, self.unjoined = lost(report), report["unjoined_calls"]
        self.losses = report["loss"]
        self.why = explain(rec.log, {(c["name"], c["flow_kind"]): c["n"] for c in report["calls"]
                                     if c["kernel_only"]})

    def differences(self):
        found = []
        for name in sorted(set(self.strace) | set(self.magnet)):
            by_strace, by_magnet = self.strace.get(name, (0, 0)), self.magnet.get(name, (0, 0))
            if by_strace != by_magnet:
                found.append(f"{name}: strace has {by_strace[0]} of {by_strace[1]} bytes, "
                             f"magnet {by_magnet[0]} of {by_magnet[1]}")
        for why, calls in self.why:
            # another C library asks in other ways: that its calls are counted is what matters there
            if not why and "--fast" not in sys.argv:
                found.append(f"kernel-only, and not known why: {listed(calls)}")
        if self.unjoined:
            found.append(f"{self.unjoined} calls without their system call")
        if self.lost:
            found.append(f"{self.lost} events were lost: {self.losses}")
        return found

    def totals(self):
        """Calls by strace, application events, kernel-only calls, bytes by strace."""
        by_magnet, alone = sum(n for n, _ in self.magnet.values()), sum(self.alone.values())
        return (sum(n for n, _ in self.strace.values()), by_magnet - alone, alone,
                sum(size for _, size in self.strace.values()))


def listed(calls):
    return ", ".join(f"{n:,} {name}" for name, n in sorted(calls.items(), key=lambda c: (-c[1], c[0])))


def record(program, top):
    env = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": top, "GIT_CONFIG_NOSYSTEM": "1"}
    return WatchedRecording("sh", "-c", script_of(program, top), env=env, timeout=program.timeout)


def measure(program, top):
    started = time.monotonic()
    with record(program, top) as rec:
        if rec.p.returncode:
            print(f"FAILED: {program.name}: exit {rec.p.returncode}\n{rec.p.stdout}{rec.p.stderr}")
            return None
        took = time.monotonic() - started
        result = Result(program, rec)
    print("    {:,} calls by strace, {:,} application events, {:,} kernel-only; {:,} bytes; {:.1f} s"
          .format(*result.totals(), took))
    for why, calls in result.why:
        print(f"    {listed(calls)}: {why}")
    for difference in result.differences():
        print(f"FAILED: {program.name}: {difference}", flush=True)
    return result


HEAD = """<!-- made by tests/calls_table.py --write docs/calls.md: do not edit -->
# Every call, counted twice

Real programs do a small piece of work on loopback under `magnet record` while `strace -f` traces the
same run. For each system call that takes a socket, the number of calls and of bytes that strace counts
must be those of magnet's report: the application events that `libmagnet.so` wrote, plus the calls that
only the kernel side recorded (kernel-only). Each system call is compared separately; a row has the sums.

Made on {date} with magnet {magnet}, Linux {kernel} and strace {strace} by

    {command}

which fails if anything differs. The programs and their work are in `tests/lib/programs.py`.

| program | version | work | calls by strace | application events | kernel-only | bytes | equal? |
| --- | --- | --- | ---: | ---: | ---: | ---: | --- |
"""


def table(results, missing, args):
    yield HEAD.format(command=" ".join(["tests/calls_table.py", *args]),
                      date=time.strftime("%Y-%m-%d"), magnet=run(MAGNET, "--version").stdout.split()[-1],
                      kernel=os.uname().release.split("-")[0], strace=run("strace", "-V").stdout.split()[3])
    for r in results:
        yield "| {} | {} | {} | {:,} | {:,} | {:,} | {:,} | {} |\n".format(
            r.program.name, r.version, r.program.what, *r.totals(),
            "no" if r.differences() else "yes")
    for program in missing:
        yield "| {} | | not installed: `apt-get install {}` | | | | | |\n".format(
            program.name, " ".join(missing[program]))
    yield "\n## Kernel-only, and why\n\n"
    reasons = {}
    for r in results:
        for why, calls in r.why:
            reasons.setdefault(why or "not known", []).append(f"{r.program.name} ({listed(calls)})")
    for why, programs in reasons.items():
        yield f"- {why}: {'; '.join(programs)}.\n"
    yield "\n## Call by call\n\n`a + k` are application events and kernel-only calls.\n\n"
    for r in results:
        parts = []
        for name, (n, size) in sorted(r.magnet.items(), key=lambda c: (-c[1][0], c[0])):
            alone = r.alone.get(name, 0)
            parts.append(f"{name} {n - alone:,}" + (f" + {alone:,}" if alone else "")
                         + (f" ({size:,} B)" if size else ""))
        yield f"- {r.program.name}: {', '.join(parts)}.\n"
        yield "".join(f"  - **unequal**: {d}\n" for d in r.differences())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("program", nargs="*")
    args = parser.parse_args()
    need_kernel_side()
    need_program("strace", "ss")
    os.environ["PATH"] = path()
    chosen = [p for p in ALL if p.name.split()[0] in args.program or p.name in args.program
              or not args.program and (p.fast or not args.fast)]
    missing = {p: p.missing() for p in chosen}
    here = [p for p in chosen if not missing[p]]
    for p in chosen:
        if missing[p]:
            print(f"{p.name}: not installed; apt-get install {' '.join(missing[p])}")
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(1))  # so that all is cleaned up
    top = tempfile.mkdtemp(prefix="magnet-test-")
    results = []
    try:
        with Surroundings(top, here):
            for p in here:
                print("---", p.name, flush=True)
                results.append(measure(p, top))
    finally:
        if not os.environ.get("MAGNET_TEST_KEEP"):
            shutil.rmtree(top, ignore_errors=True)
    if not results:
        skip("none of the programs is installed")
    if args.write:
        with open(args.write, "w") as f:
            f.writelines(table(list(filter(None, results)), {p: m for p, m in missing.items() if m},
                               sys.argv[1:]))
    sys.exit(any(not r or r.differences() for r in results))


if __name__ == "__main__":
    main()
