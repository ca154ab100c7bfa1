# SPDX-License-Identifier: MIT
"""
Cost of system calls: waiting is not work, however long it is, and more probes do not change what a
call costs, within the uncertainty that is told.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import Tracer, report as report_of

LOCKED = sys.argv[1]
ANSWERS = os.path.join(os.path.dirname(__file__), "..", "programs", "answers.py")


def call(report, name):
    return next(c for c in report["calls"]
                if (c["name"], c["flow_kind"], c["kernel_only"]) == (name, "tcp", False))


def closes(c):
    """Where nothing is missing the states are the whole time."""
    total, states = c["total_ns"]["mean"], sum(v for v in c["states_ns"].values() if v is not None)
    if c["complete"] == c["n"]:
        near(states, total, 1e-6, f"ns of {c['name']}, its states summed")


def late(ms, rounds):
    with Recording(PYTHON, ANSWERS, "late", ms, rounds) as rec:
        report = rec.report()
        told, used = (float(line) for line in rec.p.stdout.split())
    c = call(report, "recv")
    closes(c)
    check(c["complete"] > 0.8 * rounds and c["blocked_n"] >= 0.9 * c["complete"],
          f"{c['blocked_n']} of {c['complete']} calls of recv() blocked")
    # the question has to reach who answers, and to wake it
    near(c["states_ns"]["blocked"] * c["complete"] / c["blocked_n"], told, max(0.05, 3e5 / told),
         "ns blocked each, by who answers")
    check(c["waker_probes_ns"] < 1e5, f"blocked is longer by at most {c['waker_probes_ns']:.0f} ns")
    overhead = c["overhead_blocking_ns"]
    check(0 < overhead["p50"] <= used + overhead["uncertainty"],
          f"after {ms} ms overhead is {overhead['p50']:.0f} ns, no more than the {used:.0f} ns the "
          "thread used of its CPU")


def waiting_is_not_work():
    """
    Overhead itself is not the same after 2 and 25 ms: the longer the wait, the colder the caches,
    which the thread's own CPU time shows alike (4 against 20 us where 20 ms were waited longer). So
    that time is the oracle: it knows nothing of waits, and what is counted as work is within it.
    """
    for ms, rounds in ((2, 100), (10, 60), (25, 40)):
        late(ms, rounds)


def waits_for_a_lock():
    """A thread that finds the socket locked sleeps, and no signal ends that sleep."""
    with Recording(LOCKED, ok=None) as rec:
        if rec.p.returncode == 77:
            print("not tested: userfaultfd is refused")
            return
        check(rec.p.returncode == 0, "one thread had the socket's lock, and another wanted it")
        report, waited = rec.report(), [int(line) for line in rec.p.stdout.split()]
    holder, waiter = call(report, "send"), call(report, "write")
    for c in holder, waiter:
        closes(c)
    check(report["state_sum_mismatches"] == 0, "states sum to each call")
    for state, event in ("lock", "lock_got"), ("release", "backlog_end"):
        seen = any(h["hook"] == event and h["status"] == 0 for h in report["hooks"])
        check(seen or waiter["states_ns"][state] is None, f"{state} is null if it is not observed")
    # woken, it may wait for its CPU too
    states = waiter["states_ns"]
    rest = sum(states[s] or 0 for s in ("wakeup", "preempted", "irq", "softirq"))
    near(waiter["locked_out_ns"] + rest, sum(waited) / len(waited), 0.05,
         "ns locked out a call, by the program's clock")
    check(waiter["locked_out_ns"] > rest, "and no more for the CPU")
    near(waiter["locked_out_ns"], waiter["states_ns"]["blocked"], 0.01, "ns, all of the waits")
    check(holder["states_ns"]["blocked"] > 1e7 and holder["locked_out_ns"] == 0,
          "who waited with the lock held was not locked out")


def in_turns(alone, with_three):
    """The same receives with one tracer, and with three: what one says of both."""
    top = tempfile.mkdtemp(prefix="magnet-test-")
    p = subprocess.Popen([MAGNET, "record", "-q", "-o", top + "/a", "--", PYTHON, ANSWERS, "turns"],
                         text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(name, n):
        p.stdin.write(f"{name} {n}\n")
        p.stdin.flush()
        check(p.stdout.readline() == "done\n", f"{n} messages by {name}()")

    try:
        check(p.stdout.readline() == "ready\n", "it runs")
        pid = int(run("pgrep", "-P", p.pid, "-f", ANSWERS).stdout.split()[0])
        for _ in range(2):
            ask(alone, 3000)
        with Tracer(top + "/b", "--pid", pid).ready() as b, \
                Tracer(top + "/c", "--pid", pid).ready() as c:
            for _ in range(2):
                ask(with_three, 3000)
            b.end()
            c.end()
        for _ in range(2):
            ask(alone, 3000)
        p.stdin.close()
        check(p.wait(60) == 0, "and ends")
        one = report_of(top + "/a")
        others = [call(report_of(top + "/a/app", top + "/" + d), with_three) for d in "bc"]
    finally:
        stop(p)
        shutil.rmtree(top, ignore_errors=True)
    return call(one, alone), call(one, with_three), others


def more_probes_change_nothing():
    """In turn, so that what one of the two functions takes more cancels."""
    difference = bound = raw = 0
    for names in (("recv", "recvfrom"), ("recvfrom", "recv")):
        one, three, others = in_turns(*names)
        others_cost = sum(o["probes_ns"] for o in others)
        d = three["overhead_ns"]["p50"] - others_cost - one["overhead_ns"]["p50"]
        print(f"   {names[0]} {one['overhead_ns']['p50']:.0f} ns with one tracer, {names[1]} "
              f"{three['overhead_ns']['p50']:.0f} with three, {others_cost:.0f} of it others'; "
              f"own {one['probes_ns']:.0f}")
        difference += d / 2
        raw += (three["overhead_ns"]["p50"] - one["overhead_ns"]["p50"]) / 2
        # three tracers' events are each as uncertain
        bound += (one["overhead_ns"]["uncertainty"] + three["overhead_ns"]["uncertainty"]
                  + sum(o["overhead_ns"]["uncertainty"] for o in others)) / 2
    check(raw > 0, f"two more tracers cost {raw:.0f} ns a call")
    check(abs(difference) <= bound, "compensated, one and three agree within 2u: "
          f"{difference:.0f} ns of {bound:.0f}")


need_kernel_side()
patiently(waiting_is_not_work)
patiently(waits_for_a_lock)
patiently(more_probes_change_nothing)
