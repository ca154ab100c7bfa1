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
so compare trends and claims, not values. Where a sentence below says that two configurations differ,
the 95 % interval of their differences, turn by turn, leaves 0 out; else the runs do not decide it. Made on
{date} with Linux {kernel}, {cpus} CPUs, by

    tests/seeds/run.py --write docs/seeds.md [{names}]

"""
TAIL = """## Not reproduced

- G03 Table 3, throughput of a uniprocessor against a multiprocessor kernel: needs a kernel booted with
  one CPU on both sides; not run.
- G03 Fig. 4, the faulty driver of a 10-Gigabit card: needs that card. `examples/driver-poll` answers
  the same question with today's tracepoints.
- G03 Fig. 5, the lifeline of one packet through two hosts: `magnet show --flow ID --bytes A-B` prints
  the same times for a range of bytes if both ends are recorded, and `magnet plot --figure lifeline` draws them
  with the acknowledgement's way back. The paper's FTP transfer is not repeated.
- P97 Fig. 2, write intervals, buffers and the running process against time: the events are in every
  recording (`magnet show --tsv`); magnet draws no plots yet.
- P97 Fig. 3, the distribution of write intervals with two senders and with one sender and one
  background process: not run.
- P97 Fig. 4, curves of the index of dispersion for counts: not run. `magnet report --on-demand idc`
  computes the index.
- P97 3.4.1, the smallest traffic contract without loss: not run. `magnet report --on-demand contract`
  computes it for the traffic of a recording, not for ATM cells.
- Diagrams, option lists and record layouts (F01 Fig. 1-3, G02 Fig. 1-5 and 14, P97 Fig. 1 and Table 1) show no
  measurements. The fields of today's records are in magnet-events(5).
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
        print(section.markdown(), flush=True)
        text += section.markdown() + "\n"
    if a.write:
        with open(a.write, "w") as f:
            f.write(text + TAIL)


main()
