# SPDX-License-Identifier: MIT
"""Common parts of the experiments: a section of the document, and the programs they run."""
import math
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from fixture import *
from tracer import TRACER

PORT = 5300


class Section:
    """A heading, what was done, and a table: what the papers say, what this machine shows."""

    def __init__(self, title, text, columns, rows, says):
        self.title, self.text, self.columns, self.rows, self.says = title, text, columns, rows, says

    def markdown(self):
        cells = [self.columns] + [[str(c) for c in r] for r in self.rows]
        lines = ["| " + " | ".join(r) + " |" for r in cells]
        lines.insert(1, "|" + " --- |" * len(self.columns))
        return f"## {self.title}\n\n{self.text.strip()}\n\n" + "\n".join(lines) + \
            f"\n\n{self.says.strip()}\n"


def interval(values):
    """Return the mean and half the width of its 95 % confidence interval (Student's t)."""
    t = {1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
    n = len(values)
    half = t[n - 1] * statistics.stdev(values) / math.sqrt(n) if n > 1 else math.inf
    return statistics.mean(values), half


def mean_ci(values, digits=2):
    """Format mean and interval as the papers print them."""
    mean, half = interval(values)
    return f"{mean:,.{digits}f} ± {half:,.{digits}f}"


def settled(values):
    """Return whether the 95 % interval of these differences leaves 0 out."""
    mean, half = interval(values)
    return abs(mean) > half


def listed(words):
    """Join words as a sentence does: a, b and c; "none" without any."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "none"


def talk(net, sender, receiver, *arguments, options=(), shaped=True):
    """A recording of a sender in A that talks to a receiver in B, both Python programs."""
    other = net.popen(net.b, PYTHON, "-c", receiver, *arguments, stdout=subprocess.PIPE)
    try:
        other.stdout.readline()  # it listens
        return Recording(*net.inside(net.a, PYTHON, "-c", sender, net.B, *arguments),
                         options=options)
    finally:
        try:
            other.wait(10)
        except subprocess.TimeoutExpired:
            stop(other)


def layer(f, name):
    return next(l for l in f["layers"] if l["name"] == name)


def ms(ns):
    return "n/a" if ns is None else f"{ns / 1e6:.3f} ms"
