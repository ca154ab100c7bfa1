# SPDX-License-Identifier: MIT
"""Programs that are refused memory, files or threads, at one place after the other (refuse.c)."""
import os
import re
import subprocess
import tempfile

from fixture import check

LIBRARY = os.path.join(os.environ.get("MAGNET_BUILD", ""), "tests/programs/librefuse.so")
# Set: every place is tried, which takes some minutes.
ALL = bool(os.environ.get("MAGNET_TEST_ALL_PLACES"))


def refused_everywhere(name, *args, what="memory", first=100, every=997, lasting=False, env={}):
    """
    Run a command that prints something, once; at its `first` places one by one, then at each
    `every`-th, a child of it is refused `what`. Each prints the same and exits 0, or exits 1 with a
    line on stderr that names it.
    """
    env = {**os.environ, "LC_ALL": "C.UTF-8", **env}
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top, \
            open(top + "/expected", "wb") as expected, open(top + "/out", "w+b") as out:
        p = subprocess.run(args, stdout=expected, stderr=subprocess.PIPE, env=env, timeout=60)
        check(p.returncode == 0 and not p.stderr, f"{name}: nothing refused: {p.stderr.decode()}")
        p = subprocess.run(args, stdout=out, stderr=subprocess.PIPE, timeout=3000, env={
            **env, "LD_PRELOAD": LIBRARY, "REFUSE_WHAT": what, "REFUSE_EXPECTED": expected.name,
            "REFUSE_RESULT": top + "/result", "REFUSE_FIRST": str(10**9 if ALL else first),
            "REFUSE_EVERY": str(every), **({"REFUSE_LASTING": "1"} if lasting else {})})
        with open(top + "/result") as f:
            *bad, last = f.read().splitlines() or ["", ""]
        counts = {k: int(v) for k, v in re.findall(r"(\w+) (\d+)", last)}
        check(p.returncode == 0 and counts.get("tried", 0) > 0 and not counts["bad"],
              f"{name}: {what} refused{' from there on' if lasting else ''}: {last}" +
              "".join("\n  " + line for line in bad[:20]))
    return counts
