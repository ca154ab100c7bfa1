# SPDX-License-Identifier: MIT
"""
Common parts of the benchmarks: figures with their spread, and programs that are timed in turns.

A benchmark measures A and B in turns within one run, gives the median and the quartiles of their
ratio, and never judges: how much a figure is to be trusted shows in its spread.
"""
import atexit
import ctypes
import json
import os
import platform
import random
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from fixture import MAGNET, Network, need_kernel_side, need_program, run, skip, stop

BUILD = os.environ.get("MAGNET_BUILD", "build")
PROGRAMS = os.environ.get("MAGNET_BENCH_PROGRAMS", BUILD + "/tests/bench")
LIBMAGNET = BUILD + "/preload/libmagnet.so"
# another build's directory, or its tracer alone: what is measured beside this build
OTHER = os.environ.get("MAGNET_BENCH_OTHER")
OTHER_TRACER = os.environ.get("MAGNET_BENCH_OTHER_TRACER") or (
    OTHER and OTHER + "/kernel-tracer/magnet-kernel-tracer")
CPUS = sorted(os.sched_getaffinity(0))
# what is measured runs on one CPU, who watches it on the other, where there are two
WATCHED, WATCHING = CPUS[-1], CPUS[0]

libc = ctypes.CDLL(None, use_errno=True)


def program(name):
    return f"{PROGRAMS}/{name}"


# ---- figures ----------------------------------------------------------------------------------

class Figure:
    """The median of repeated measurements with their quartiles."""

    def __init__(self, values):
        self.n = len(values)
        if self.n > 1:
            self.p25, self.median, self.p75 = statistics.quantiles(values, n=4, method="inclusive")
        else:
            self.p25 = self.median = self.p75 = values[0] if values else float("nan")

    def text(self, digits=2):
        if not self.n:
            return "-"
        return f"{self.median:,.{digits}f} [{self.p25:,.{digits}f} {self.p75:,.{digits}f}]"


def pairwise(function, *series):
    """Repetition by repetition: what disturbed one of them mostly disturbed its neighbour too."""
    return [function(*values) for values in zip(*series)]


def ratios(a, b):
    return pairwise(lambda x, y: x / y, a, b)


def differences(a, b):
    return pairwise(lambda x, y: x - y, a, b)


def table(title, columns, rows):
    """Rows of text; the first column is left-aligned."""
    widths = [max(len(str(r[i])) for r in [columns] + rows) for i in range(len(columns))]
    print(f"\n{title}")
    for r in [columns] + rows:
        cells = [str(c).ljust(w) if i == 0 else str(c).rjust(w)
                 for i, (c, w) in enumerate(zip(r, widths))]
        print("  " + "  ".join(cells).rstrip(), flush=True)


def duration(seconds):
    """Seconds of turns: as given, unless the environment says otherwise."""
    return float(os.environ.get("MAGNET_BENCH_SECONDS", seconds))


def in_turn(n, ways):
    """
    Returns the ways to measure in the order of turn `n`. Each comes after every other one now and then: a way may leave
    the machine warm, or busy, for the next.
    """
    return random.Random(n).sample(list(ways), len(ways))


def result(key, values):
    """Notes a figure for performance.py, which makes a table of several benchmarks' figures."""
    figure = Figure(values)
    if figure.n and "MAGNET_BENCH_RESULTS" in os.environ:
        with open(os.environ["MAGNET_BENCH_RESULTS"], "a") as f:
            print(json.dumps([key, figure.median, figure.p25, figure.p75, figure.n]), file=f)


def begin(what, *commands):
    """Heading: what is measured, by which commands, on what machine."""
    print(what)
    for c in commands:
        print(f"  $ {c}")
    load = ", ".join(f"{x:.2f}" for x in os.getloadavg())
    print(f"machine: {platform.machine()}, Linux {platform.release()}, {len(CPUS)} CPUs, "
          f"load {load}", flush=True)


def how_to_read(text):
    print("\nHow to read: values are medians, in brackets the quartiles over repetitions taken in "
          "turns.")
    print(text.strip(), flush=True)
    tell_others()


def rounds(seconds, at_least=3, at_most=1000):
    """Count repetitions until the time is used up; a round is not begun that will not fit."""
    used = last = 0
    for n in range(at_most):
        if n >= at_least and used + last > seconds:
            return
        wait_for_others()
        began = time.monotonic()
        yield n
        last = time.monotonic() - began
        used += last


# ---- others on the machine --------------------------------------------------------------------

PATIENCE_S = 20  # in all
OTHERS = {"disturbed": 0, "rounds": 0, "waited": 0}


def foreign_tracers():
    """Kernel tracers that are not ours: their hooks would be measured with ours."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as f:
                if f.read().startswith("magnet-kernel-t"):
                    found.append(pid)
        except OSError:
            pass
    return found


def wait_for_others():
    """Before a round, when nothing of ours traces: give way to somebody else's tracer."""
    OTHERS["rounds"] += 1
    began = time.monotonic()
    while foreign_tracers():
        if OTHERS["waited"] + time.monotonic() - began > PATIENCE_S:
            OTHERS["disturbed"] += 1
            break
        time.sleep(0.1)
    OTHERS["waited"] += time.monotonic() - began


def tell_others():
    if OTHERS["disturbed"]:
        print(f"\nDisturbed: in {OTHERS['disturbed']} of {OTHERS['rounds']} rounds somebody else's "
              "kernel tracer was attached too.")


# ---- processes --------------------------------------------------------------------------------

STARTED, PLACES = [], []


@atexit.register
def put_away():
    """Removes files left because a signal came at the wrong moment."""
    for p in STARTED:
        stop(p)
    for d in PLACES:
        shutil.rmtree(d, ignore_errors=True)


def new_place(parent=None):
    d = tempfile.mkdtemp(prefix="magnet-bench-", dir=parent)
    PLACES.append(d)
    return d


def die_with_parent():
    libc.prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def start(*args, cpu=None, **kw):
    """A process that does not outlive this one."""
    if cpu is not None:
        args = ("taskset", "-c", cpu) + args
    p = subprocess.Popen([str(a) for a in args], preexec_fn=die_with_parent, **kw)
    STARTED.append(p)
    return p


def on_cpu(cpu, *args):
    return ("taskset", "-c", str(cpu)) + args


def before_others(cpu, *args):
    """The command on that CPU, where nobody else's work comes first while it is timed."""
    if shutil.which("chrt") and subprocess.run(["chrt", "-f", "1", "true"], check=False,
                                               stderr=subprocess.DEVNULL).returncode == 0:
        args = ("chrt", "-f", "1") + args
    return on_cpu(cpu, *args)


class Talker:
    """A program that answers a line on stdin with a line on stdout, and is otherwise asleep."""

    def __init__(self, *args, env=None, first_line=True, **kw):
        self.p = start(*args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                       env={**os.environ, **(env or {})}, **kw)
        self.pid = self.p.pid
        if first_line:
            self.hear()

    def hear(self, seconds=30):
        if not select.select([self.p.stdout], [], [], seconds)[0]:
            raise TimeoutError(f"{self.p.args} says nothing")
        line = self.p.stdout.readline()
        if not line:
            raise EOFError(f"{self.p.args} ended: {self.p.wait()}")
        return line.split()

    def ask(self, line=""):
        self.p.stdin.write(f"{line}\n")
        self.p.stdin.flush()
        return self.hear()

    def close(self, seconds=20):
        """Ends the program by closing its input."""
        self.p.stdin.close()
        try:
            self.p.wait(seconds)
        except subprocess.TimeoutExpired:
            stop(self.p)
        self.p.stdout.close()
        return self.p.returncode

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


def output(*args):
    """Returns what a command prints; an interrupted one may end in order, and is waited for."""
    p = start(*args, stdout=subprocess.PIPE, text=True)
    try:
        said, _ = p.communicate(timeout=300)
    finally:
        stop(p)
    if p.returncode != 0:
        sys.exit(f"{' '.join(map(str, args))}: exit {p.returncode}")
    return said


class Cost:
    """Returns the time and memory of a command, by measure.c."""

    def __init__(self, *args, ok=0, **kw):
        with tempfile.NamedTemporaryFile("r") as f:
            p = start(program("measure"), f.name, *args, **kw)
            try:
                p.wait()
            finally:
                stop(p)
            wall, user, system, peak, status = map(int, f.read().split())
        if ok is not None and status != ok:
            sys.exit(f"{' '.join(map(str, args))}: exit {status}")
        self.seconds, self.cpu_s = wall / 1e9, (user + system) / 1e9
        self.peak_mib, self.status = peak / 1024, status


def need_app_side():
    """Skip, decided by trying: a recording of the application side of nothing."""
    with Place() as d:
        status = Cost(MAGNET, "record", "--app-only", "-q", "-o", d + "/t", "--", "true",
                      ok=None).status
    if status != 0:
        skip("the application side cannot be recorded here")


class Place:
    """A directory that is gone at the end. By default on disk, where recordings are made."""

    def __init__(self, parent=None):
        self.parent = parent

    def __enter__(self):
        self.dir = new_place(self.parent)
        return self.dir

    def __exit__(self, *unused):
        shutil.rmtree(self.dir, ignore_errors=True)
