# SPDX-License-Identifier: MIT
"""From the start of `magnet record true` to its finished trace."""
from lib import *

TURNS = 15

need_app_side()
WAYS = {"true": lambda d: ("true",),
        "magnet record": lambda d: (MAGNET, "record", "-q", "-o", d, "--", "true"),
        "magnet record --app-only": lambda d: (MAGNET, "record", "--app-only", "-q", "-o", d, "--",
                                               "true"),
        "magnet record --kernel-only": lambda d: (MAGNET, "record", "--kernel-only", "-q", "-o", d,
                                                  "--", "true"),
        "other build: magnet record": lambda d: (f"{OTHER}/cli/magnet", "record", "-q", "-o", d, "--",
                                                 "true"),
        "strace -f": lambda d: ("strace", "-f", "-o", d, "true"),
        "perf record": lambda d: ("perf", "record", "-q", "-o", d, "true")}


def works(name):
    with Place() as top:
        command, quiet = WAYS[name](top + "/t"), subprocess.DEVNULL
        return bool(shutil.which(command[0])) and Cost(*command, ok=None, stderr=quiet).status == 0


begin("Wall time of recording a program that does nothing, from start to finished trace.",
      "magnet record -q -o DIR [--app-only | --kernel-only] -- true")
names = [n for n in WAYS if works(n)]
costs = {n: [] for n in names}
for turn in rounds(duration(50), at_least=TURNS, at_most=TURNS):
    for name in in_turn(turn, names):
        with Place() as top:
            costs[name].append(Cost(*WAYS[name](top + "/t")))
bare = [c.seconds for c in costs["true"]]
for name, values in costs.items():
    result(f"true: {name}", [c.seconds for c in values])
table(f"{TURNS} turns", ("", "s", "s above bare", "slowest", "CPU s of its own"), [
    (name, Figure([c.seconds for c in values]).text(3),
     Figure(differences([c.seconds for c in values], bare)).text(3) if name != "true" else "",
     f"{max(c.seconds for c in values):.3f}", Figure([c.cpu_s for c in values]).text(3))
    for name, values in costs.items()])
absent = [n for n in WAYS if n not in names and (OTHER or not n.startswith("other"))]
if absent:
    print("  not here, or refused: " + ", ".join(absent))
how_to_read("""
The time a user waits: the collector and the BPF programs are started, the program runs, and all is
written out and ended. CPU time counts the processes that were waited for.
""")
