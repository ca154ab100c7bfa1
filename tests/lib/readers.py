# SPDX-License-Identifier: MIT
"""Both readers of traces, magnet's own and babeltrace2: they must say the same of every trace."""
import os
import subprocess

from fixture import MAGNET, check

WAYS = (("report", "--json"), ("report",), ("show", "--tsv"), ("show",))


def read_by(reader, way, *dirs):
    p = subprocess.run([MAGNET, *way, *map(str, dirs)], capture_output=True, timeout=120,
                       env=dict(os.environ, MAGNET_READER=reader))
    return p.returncode, p.stdout, p.stderr


def first_difference(a, b):
    for n, (x, y) in enumerate(zip(a.splitlines(), b.splitlines()), 1):
        if x != y:
            return f"line {n}: {x[:200]} | {y[:200]}"
    return f"{len(a)} and {len(b)} bytes"


def same_by_both(what, *dirs, direct=True):
    """
    Reports and lists, byte by byte; `direct`: magnet's own reader takes the trace. Where it does not,
    babeltrace2 is asked, and all is the same of course.
    """
    for way in WAYS:
        ours = read_by("direct" if direct else "", way, *dirs)
        theirs = read_by("babeltrace2", way, *dirs)
        difference = "" if ours[:2] == theirs[:2] else first_difference(ours[1], theirs[1])
        check(ours == theirs, f"{what}: {' '.join(way)} by both readers, exit {ours[0]}, "
              f"{len(ours[1])} bytes {difference}{'' if ours[2] == theirs[2] else (ours[2], theirs[2])}")
