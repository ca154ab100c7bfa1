#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
run.py [--write FILE] [NAME...]

Repeats the experiments of the papers that magnet goes back to, as far as one machine can, and sets
what they found beside what it finds. Needs root; leaves nothing behind; takes some minutes.
"""
import argparse
import platform

from common import *
import losses
import scheduling
import throughput
import traffic

ALL = {**throughput.EXPERIMENTS, **losses.EXPERIMENTS, **traffic.EXPERIMENTS,
       **scheduling.EXPERIMENTS}
HEAD = """<!-- made by tests/seeds/run.py --write docs/seeds.md: do not edit -->
# The papers' figures, again

magnet goes back to five papers: F01 (Feng, Hay & Gardner, IC3N 2001), L01 (the LANL flyer
LALP-01-246, 2001), G02 (Gardner, Feng & Hay, PAM 2002), G03 (Gardner and others, MAGNET, 2003) and P97
(Peuhkuri's toolbox, 1997). Here is each of their figures and tables that one machine can reproduce: what
they found, what is found here, and how. Machines, networks and kernels are twenty years and more apart,
so values are not to be compared but trends and claims. Made on {date} with Linux {kernel}, {cpus} CPUs, by

    tests/seeds/run.py --write docs/seeds.md [{names}]

"""
TAIL = """## Not reproduced

- G03 Fig. 4, the faulty driver of a 10-Gigabit card: needs that card. `examples/driver-poll` does with
  today's tracepoints what was done there.
- G03 Fig. 5, the lifeline of a packet through two hosts: `magnet show --flow ID --bytes A-B` prints it
  for any range of bytes whose ends are both recorded.
- P97 Fig. 2 (write intervals, buffers and the running process against time): the events are in every
  recording (`magnet show --tsv`); it is a plot, and plots are not there yet.
- Diagrams and record layouts (G02 Fig. 3 and 14): the fields are those of `--level full`.
"""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--write", metavar="FILE")
    p.add_argument("names", nargs="*", metavar="NAME", help=" ".join(ALL))
    a = p.parse_args()
    unknown = set(a.names) - set(ALL)
    if unknown:
        p.error(f"no experiment {' '.join(sorted(unknown))}: {' '.join(ALL)}")
    need_kernel_side()
    text = HEAD.format(date=time.strftime("%Y-%m-%d"), kernel=platform.release().split("-")[0],
                       cpus=len(os.sched_getaffinity(0)), names="NAME...")
    for name in a.names or ALL:
        section = ALL[name]()
        if section:
            print(section.markdown(), flush=True)
            text += section.markdown() + "\n"
    if a.write:
        with open(a.write, "w") as f:
            f.write(text + TAIL)


main()
