# SPDX-License-Identifier: MIT
"""How long the kernel holds the pages of sends with MSG_ZEROCOPY, against the program's own clock."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

need_kernel_side()
PROGRAM = os.path.join(os.path.dirname(__file__), "..", "programs", "zerocopy.py")
FIGURES = ("zerocopy_sends", "zerocopy_hold_ns", "zerocopy_copied", "zerocopy_pending",
           "zerocopy_unsure")


def sent(net, kind, n, size, delay=0, *plain):
    """Returns magnet's and the program's figures of n sends to a reader that reads after a delay."""
    sink = net.popen(net.b, PYTHON, PROGRAM, "sink", kind, net.B, delay, stdout=subprocess.PIPE)
    try:
        port = int(sink.stdout.readline())
        rec = Recording(*net.inside(net.a, PYTHON, PROGRAM, "send", kind, net.B, port, n, size,
                                    *plain), options=("-q",))
        with rec:
            if not hooked(rec, "zerocopy_done"):
                skip("this kernel does not tell when something is in an error queue")
            r = rec.report()
            if lost(r):
                sys.exit("events were lost")
            f = flow(r, "tx", port)
            oracle = json.loads(rec.p.stdout.splitlines()[-1])
            print(f"{kind} {n} x {size} after {delay} s: {oracle}", {k: f[k] for k in FIGURES})
            return f, oracle, rec.text()
    finally:
        sink.kill()
        sink.wait()


def agree(f, oracle, n, at_least_ns):
    hold, copied = f["zerocopy_hold_ns"], f["zerocopy_copied"]
    # on some machines no tracing program runs while certain tasks are current
    missing = f["zerocopy_pending"] + f["zerocopy_unsure"]
    check(f["zerocopy_sends"] == hold["n"] + missing == oracle["n"] == n,
          f"each of {n} sends is told, and how {hold['n']} of them ended")
    check(missing <= n / 10, f"nearly all of them: {missing} are not")
    check(copied <= oracle["copied"] <= copied + missing,
          f"{oracle['copied']} were copied all the same")
    # the program reads a notification some time after it came
    for figure in ("mean", "max"):
        late = oracle[figure] - hold[figure]
        check(-0.02 * oracle[figure] < late < 5e6 + 0.05 * oracle[figure],
              f"{figure}: held for {hold[figure]:.0f} ns, as the program saw {oracle[figure]:.0f}")
    check(hold["max"] > at_least_ns, "and as long as the experiment made it last")


def slow_reader(net):
    """More than the receiver's window, of which nothing is read for a while."""
    f, oracle, text = sent(net, "tcp", 40, 50000, 0.3)
    agree(f, oracle, 40, 0.25e9)
    check("sent with MSG_ZEROCOPY: 40; the kernel held the pages for: mean " in text, "in words")


def slow_link(net):
    """Each datagram waits for those before it: 100 of 1042 bytes with headers at 10 Mbit/s."""
    f, oracle, _ = sent(net, "udp", 100, 1000)
    wire = 100 * (1000 + 42) * 8 / 10e6
    agree(f, oracle, 100, 0.8e9 * wire)
    near(f["zerocopy_hold_ns"]["max"], 1e9 * (wire - 3028 * 8 / 10e6), 0.1, "as the link lets them go")


def not_zerocopy(net):
    f, oracle, text = sent(net, "tcp", 10, 5000, 0, "plain")
    check([f[k] for k in FIGURES] == [0, None, None, None, None] and "ZEROCOPY" not in text,
          "without SO_ZEROCOPY the flag says nothing")


with Network() as net:
    patiently(lambda: slow_reader(net))
    not_zerocopy(net)
with Network(rate="10mbit", burst="3028", gso_max_segs=1) as net:
    patiently(lambda: slow_link(net))
